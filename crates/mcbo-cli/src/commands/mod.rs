//! One module per command: `run` does it and says with which code to end.

pub mod bench;
pub mod check;
pub mod completions;
pub mod init;
pub mod run;
