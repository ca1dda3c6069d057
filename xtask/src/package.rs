//! The Python package: built as a wheel, installed, checked and tested as users have it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::python::environment;
use crate::run::{Step, root};

const FOLDER: &str = "crates/mcbo-py";
/// The environment, and the folder of the wheel in it.
const ENVIRONMENT: &str = "target/python";
const WHEELS: &str = "target/python/wheels";

/// Makes a virtual environment with the pinned tools and runs all checks in it.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let verbose = match arguments {
        [] => false,
        [option] if option == "--verbose" => true,
        [other, ..] => {
            return Err(Failure::Usage(format!("python has no option {other:?}\nhint: it knows --verbose")));
        }
    };
    check(verbose)
}

/// Builds, installs and tests the package. The command `mcbo` must have been built before: the tests compare with it.
pub fn check(verbose: bool) -> Result<(), Failure> {
    let python = environment(ENVIRONMENT, &Path::new(FOLDER).join("requirements-test.txt"))?;
    for step in steps(&python)? {
        step.run(verbose)?;
    }
    Ok(())
}

/// Where cargo puts what it builds.
fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

fn steps(python: &Path) -> Result<Vec<Step>, Failure> {
    let folder = root().join(FOLDER);
    let tool = |arguments: &[&str]| {
        let mut command = Command::new(python);
        command.arg("-m").args(arguments).current_dir(&folder);
        command
    };
    let wheels = root().join(WHEELS);
    // An older version's wheel would be installed beside the new one.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels)
            .map_err(|error| Failure::Failed(format!("{} cannot be emptied: {error}", wheels.display())))?;
    }
    let wheels = wheels.display().to_string();
    let mut build = tool(&["maturin", "build", "--profile", "dev", "--features", "as-in-workspace"]);
    build.args(["--out", &wheels, "--interpreter"]).arg(python);
    let mut install = tool(&["pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    install.args(["--no-deps", "--force-reinstall", "--find-links", &wheels, "mcbo"]);
    // It looks for libraries where it is told to, and not where it is installed.
    let mut pyright = tool(&["pyright", "--pythonpath"]);
    pyright.arg(python);
    let mut tests = tool(&["pytest", "--quiet"]);
    tests.env("MCBO_COMMAND", target().join("debug").join(if cfg!(windows) { "mcbo.exe" } else { "mcbo" }));
    Ok(vec![
        Step { name: "wheel", command: build, hint: "mend what the compiler or maturin names above" },
        Step {
            name: "install",
            command: install,
            hint: "the wheel must install beside the pinned libraries",
        },
        Step {
            name: "ruff",
            command: tool(&["ruff", "check", "."]),
            hint: "run `ruff check --fix` in crates/mcbo-py",
        },
        Step {
            name: "layout",
            command: tool(&["ruff", "format", "--check", "."]),
            hint: "run `ruff format` in crates/mcbo-py",
        },
        Step { name: "mypy", command: tool(&["mypy"]), hint: "mend the types named above" },
        Step { name: "pyright", command: pyright, hint: "mend the types named above" },
        Step {
            name: "stubs",
            command: tool(&["mypy.stubtest", "mcbo._mcbo"]),
            hint: "python/mcbo/_mcbo.pyi must say what src/ does",
        },
        Step {
            name: "pytest",
            command: tests,
            hint: "run one again with `target/python/bin/python -m pytest -k <part of its name>` in crates/mcbo-py",
        },
    ])
}
