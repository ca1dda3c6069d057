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

/// The processes that a program leaves behind: those that have left its group come to us when their parents end, where the system
/// allows it (Linux).
#[derive(Debug)]
pub struct Offspring {
    /// Children that were there before.
    before: Vec<i32>,
}

impl Offspring {
    /// To be called before a program is started.
    pub fn expected() -> Self {
        #[cfg(target_os = "linux")]
        let _ = nix::sys::prctl::set_child_subreaper(true);
        Self { before: children() }
    }

    /// Ends whatever has come to us since, and what comes to us by that.
    pub fn end(self) {
        for _ in 0..100 {
            let left: Vec<i32> = children().into_iter().filter(|id| !self.before.contains(id)).collect();
            if left.is_empty() {
                return;
            }
            left.into_iter().for_each(end);
        }
    }
}

/// Ends a child and takes note of its end, so that no trace of it stays.
#[cfg(target_os = "linux")]
fn end(id: i32) {
    let id = nix::unistd::Pid::from_raw(id);
    let _ = nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGKILL);
    let _ = nix::sys::wait::waitpid(id, None);
}

#[cfg(not(target_os = "linux"))]
fn end(_id: i32) {}

/// The processes whose parent we are, by what the system says of all.
#[cfg(target_os = "linux")]
fn children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let parent = |id: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name in parentheses may have blanks and parentheses of its own.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned)
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| parent(*id).as_deref() == Some(&own)).collect()
}

#[cfg(not(target_os = "linux"))]
fn children() -> Vec<i32> {
    Vec::new()
}
