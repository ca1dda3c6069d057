//! `mcbo serve`: the studies in a browser.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use mcbo_server::{Options, ServeError, Server};

use crate::cli::Serve;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::failure::BadInput;
use crate::store;

/// Serves until it is interrupted.
pub fn run(arguments: &Serve) -> Result<ExitCode> {
    few_heaps();
    // Who only looks makes no store.
    let storage = &arguments.storage;
    let store = if arguments.read_only { store::existing(storage) } else { store::open(storage) }?;
    let shown = store.address().to_owned();
    let options = Options {
        host: arguments.host.clone(),
        port: arguments.port,
        token: arguments.token.clone().filter(|token| !token.is_empty()),
        read_only: arguments.read_only,
        author: store::author(std::env::var("MCBO_WORKER").ok()),
        names: whoami::hostname().into_iter().collect(),
    };
    let server = Server::bind(store, options).map_err(mendable)?;
    let (url, stop) = (server.url(), server.stopper());
    ctrlc::set_handler(move || stop.stop()).context("cannot listen for Ctrl-C")?;
    let console = Console::new(storage.quiet);
    let only = if arguments.read_only { ", to look at and not to change" } else { "" };
    console.note(&format!("The studies of {shown}{only}:"));
    anstream::println!("{url}");
    if !server.address().ip().is_loopback() {
        console.warning(
            "others can reach this address, and what they see and send is not encrypted; hint: tell the token only to those who may \
             change your studies",
        );
    }
    console.note("Ctrl-C ends it; nothing is lost.");
    if arguments.open && !open(&url) {
        console.note("no browser was found; open the address yourself");
    }
    server.run().map_err(mendable)?;
    Ok(ExitCode::SUCCESS)
}

/// Lets threads share one heap for every core. By itself the C library of GNU makes up to eight for each, and every one of them keeps the
/// room for the largest answer that was ever made on it: three times the memory under load (`docs/performance.md`).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no other way to say it from within")]
fn few_heaps() {
    use nix::libc::{M_ARENA_MAX, mallopt};
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 64));
    // SAFETY: it sets a number of the allocator's own and touches nothing else; no other thread runs yet.
    unsafe { mallopt(M_ARENA_MAX, cores as i32) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn few_heaps() {}

/// What the user can mend is bad input.
fn mendable(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::System(error) => error.into(),
        error => {
            let text = error.to_string();
            let (message, hint) = text.split_once("; hint: ").unwrap_or((&text, "check --host and --port"));
            BadInput::new(message, hint).into()
        }
    }
}

/// Opens an address in the user's browser; says whether there is one.
fn open(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
