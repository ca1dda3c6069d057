//! Ctrl-C: the first one ends the run after the step under way, the second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use anyhow::{Context, Result};

use crate::console::Console;
use crate::exit::ExitCode;

/// Whether Ctrl-C was pressed, and which program to stop when it is pressed again.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    program: Arc<AtomicU32>,
}

impl Interrupt {
    /// Takes over Ctrl-C, which is answered with a line.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn install(console: &Console, answer: &'static str) -> Result<Self> {
        let interrupt = Self::default();
        let (shared, console) = (interrupt.clone(), console.clone());
        let handler = move || {
            if shared.ask() {
                shared.abort();
            }
            console.note(answer);
        };
        ctrlc::set_handler(handler).context("cannot listen for Ctrl-C")?;
        Ok(interrupt)
    }

    /// Asks for the end of the run; says whether it was asked for before.
    pub fn ask(&self) -> bool {
        self.asked.swap(true, Ordering::SeqCst)
    }

    /// Whether Ctrl-C was pressed.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Names the program (its process group) that runs for us now, 0 for none.
    pub fn set_program(&self, id: u32) {
        self.program.store(id, Ordering::SeqCst);
    }

    fn abort(&self) -> ! {
        match self.program.load(Ordering::SeqCst) {
            0 => {}
            id => stop_group(id, false),
        }
        std::process::exit(ExitCode::INTERRUPTED.0.into())
    }
}

/// Asks a process group to end, or makes it.
#[cfg(unix)]
pub fn stop_group(id: u32, force: bool) {
    use nix::sys::signal::{Signal, killpg};
    let signal = if force { Signal::SIGKILL } else { Signal::SIGTERM };
    if let Ok(id) = i32::try_from(id) {
        // It may be gone already.
        let _ = killpg(nix::unistd::Pid::from_raw(id), signal);
    }
}

/// Process groups are a Unix matter; elsewhere the program is left to end by itself.
#[cfg(not(unix))]
pub fn stop_group(_id: u32, _force: bool) {}
