//! Project chores: `cargo xtask <chore>`.

mod bench;
mod fuzz;
mod oracle;
mod package;
mod peers;
mod python;
mod run;
mod soak;
mod test;
mod wheel;

use std::process::ExitCode;

/// A chore: its name, its options, what it does, and how. `Err` holds what to tell.
struct Chore {
    name: &'static str,
    options: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), Failure>,
}

/// Why a chore ended early.
enum Failure {
    /// The chore was asked for something it cannot do: exit code 2.
    Usage(String),
    /// A command of the chore failed: exit code 1.
    Failed(String),
}

const CHORES: [Chore; 8] = [
    Chore {
        name: "test",
        options: "[--fast] [--verbose]",
        about: "everything a change must pass; --fast leaves out clippy, the docs and Python",
        run: test::run,
    },
    Chore {
        name: "python",
        options: "[--verbose]",
        about: "the Python package: its wheel, its types and its tests, in target/python",
        run: package::run,
    },
    Chore {
        name: "wheel",
        options: "",
        about: "the Python package as others install it, in target/wheels; on Linux for C libraries from 2.28 on",
        run: wheel::run,
    },
    Chore {
        name: "bench",
        options: "[ARGS...]",
        about: "the benchmarks of mcbo-core; ARGS go to `cargo bench`",
        run: bench::run,
    },
    Chore {
        name: "fuzz",
        options: "[--minutes M] [--only K]",
        about: "feeds every reader of files and answers with anything at all, on stable Rust",
        run: fuzz::run,
    },
    Chore {
        name: "soak",
        options: "[--minutes M]",
        about: "workers on a PostgreSQL server, with kills and restarts at random moments",
        run: soak::run,
    },
    Chore {
        name: "oracle",
        options: "[--check]",
        about: "makes the reference figures of mcbo-gp again, with Python in .venv; --check only compares",
        run: oracle::run,
    },
    Chore {
        name: "peers",
        options: "[--only PART] [--seeds N] [--rounds N] [--minutes N]",
        about: "times and rewards beside BoTorch, Optuna and egobox, with Python in .venv-peers; PART is paper (20 minutes) or choices (hours; N minutes, and the next time it goes on)",
        run: peers::run,
    },
];

fn chores() -> String {
    let line = |chore: &Chore| {
        let call = format!("{} {}", chore.name, chore.options);
        format!("  {call:<30} {}\n", chore.about)
    };
    format!("usage: cargo xtask CHORE\n\n{}", CHORES.iter().map(line).collect::<String>())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        None => {
            print!("{}", chores());
            Ok(())
        }
        Some((name, _)) if ["help", "--help", "-h"].contains(&name.as_str()) => {
            print!("{}", chores());
            Ok(())
        }
        Some((name, rest)) => match CHORES.iter().find(|chore| chore.name == name) {
            Some(chore) => (chore.run)(rest),
            None => Err(Failure::Usage(format!("there is no chore {name:?}\n\n{}", chores().trim_end()))),
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Failed(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(1)
        }
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
