//! The mcbo command.
fn main() {}
