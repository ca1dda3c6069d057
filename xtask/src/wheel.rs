//! `cargo xtask wheel`: the Python package as others install it.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::python::environment;
use crate::run::{Step, root};

const FOLDER: &str = "crates/mcbo-py";
const ENVIRONMENT: &str = "target/wheel";
const WHEELS: &str = "target/wheels";
/// The oldest C library that a wheel for Linux runs with: that of the systems of 2018. The machine that builds it is newer, so that Zig
/// links against the symbols of that time.
const OLDEST: &str = "manylinux_2_28";

/// Builds the wheel for this machine's kind of processor, installs it and asks it for a suggestion.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    if let [other, ..] = arguments {
        return Err(Failure::Usage(format!("wheel has no option {other:?}\nhint: it takes none")));
    }
    let python = environment(ENVIRONMENT, &Path::new(FOLDER).join("requirements-wheel.txt"))?;
    let folder = root().join(FOLDER);
    let wheels = root().join(WHEELS);
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels)
            .map_err(|error| Failure::Failed(format!("{} cannot be emptied: {error}", wheels.display())))?;
    }
    let wheels = wheels.display().to_string();
    let mut build = Command::new(&python);
    build.args(["-m", "maturin", "build", "--release", "--strip", "--out", &wheels]).current_dir(&folder);
    if cfg!(target_os = "linux") {
        build.args(["--zig", "--compatibility", OLDEST]);
    }
    // Zig is looked for among the programs of the environment.
    let own = python.parent().map(Path::to_path_buf);
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(own.into_iter().chain(env::split_paths(&others)));
    build.env("PATH", path.map_err(|error| Failure::Failed(format!("PATH: {error}")))?);
    let mut install = Command::new(&python);
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
        "--no-deps",
    ]);
    install.args(["--force-reinstall", "--find-links", &wheels, "mcbo"]);
    let mut look = Command::new(&python);
    look.args(["-c", TRIED]);
    let hint = "the wheel must work where it was built";
    let build = Step { name: "wheel", command: build, hint: "mend what the compiler or maturin names above" };
    for step in [
        build,
        Step { name: "install", command: install, hint },
        Step { name: "suggest", command: look, hint },
    ] {
        step.run(false)?;
    }
    for wheel in std::fs::read_dir(&wheels).into_iter().flatten().flatten() {
        let megabytes = wheel.metadata().map_or(0.0, |data| data.len() as f64 / 1e6);
        println!("{WHEELS}/{}: {megabytes:.1} MB", wheel.file_name().to_string_lossy());
    }
    Ok(())
}

/// A study of one node, two trials measured, the third proposed by the model.
const TRIED: &str = r#"
import mcbo
problem = mcbo.Problem(nodes={"y": {"actions": ["a"]}}, actions={"a": (0, 1)}, maximize="y")
study = mcbo.create_study(problem, seed=1, initial=2)
study.optimize(lambda trial: {"y": -((trial.actions["a"] - 0.3) ** 2)}, n_trials=3)
assert study.trials[2].predicted
"#;
