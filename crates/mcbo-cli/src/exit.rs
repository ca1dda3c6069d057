//! With which code a command ends.

/// The code. Unlike the one of the standard library it can be looked at, by whoever calls the command as a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl ExitCode {
    /// All is well.
    pub const SUCCESS: Self = Self(0);
    /// It did not work.
    pub const FAILURE: Self = Self(1);
    /// What was asked for makes no sense; the user can mend it.
    pub const BAD_INPUT: Self = Self(2);
    /// Ctrl-C.
    pub const INTERRUPTED: Self = Self(130);
}
