//! Everything a change must pass.

use std::env;
use std::time::Instant;

use crate::Failure;
use crate::package;
use crate::python::is_usable;
use crate::run::{Step, cargo, has_cargo};

/// Runs the checks in order and stops at the first that fails.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (mut fast, mut verbose) = (false, false);
    for argument in arguments {
        match argument.as_str() {
            "--fast" => fast = true,
            "--verbose" => verbose = true,
            other => {
                return Err(Failure::Usage(format!(
                    "test has no option {other:?}\nhint: it knows --fast and --verbose"
                )));
            }
        }
    }
    let start = Instant::now();
    for step in steps(fast) {
        step.run(verbose)?;
    }
    if !fast {
        if is_usable() || env::var_os("MCBO_REQUIRE_PYTHON").is_some() {
            package::check(verbose)?;
        } else {
            eprintln!(
                "\n*** NOT TESTED: the Python package needs python3 with venv and pip; hint: install the packages \
                 `python3` and `python3-venv` ***\n"
            );
        }
    }
    eprintln!("all passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn steps(fast: bool) -> Vec<Step> {
    let mut steps = vec![Step {
        name: "format",
        command: cargo(&["fmt", "--all", "--", "--check"]),
        hint: "run `cargo fmt --all`; if rustfmt is missing, `rustup component add rustfmt`",
    }];
    if !fast {
        steps.push(Step {
            name: "clippy",
            command: cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
            hint: "mend what clippy names above; if clippy is missing, `rustup component add clippy`",
        });
        let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
        doc.env("RUSTDOCFLAGS", "-D warnings");
        steps.push(Step { name: "docs", command: doc, hint: "mend the doc comments named above" });
    }
    // Neither line runs doctests, and nextest could not: they are a step of their own.
    let tests = if has_cargo("nextest") {
        cargo(&["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests=pass"])
    } else {
        cargo(&["test", "--workspace", "--tests", "--no-fail-fast"])
    };
    steps.extend([
        Step {
            name: "tests",
            command: tests,
            hint: "run one again with `cargo test --workspace <part of its name>`",
        },
        Step {
            name: "doctests",
            command: cargo(&["test", "--workspace", "--doc"]),
            hint: "an example in a doc comment no longer holds: mend it, or what it shows",
        },
        Step {
            name: "examples",
            command: cargo(&["test", "--workspace", "--examples"]),
            hint: "the programs in examples/ must build with the public interface",
        },
        Step {
            name: "library",
            command: cargo(&["run", "--package", "mcbo-core", "--example", "library"]),
            hint: "examples/library.rs must find the optimum it asserts",
        },
    ]);
    steps
}
