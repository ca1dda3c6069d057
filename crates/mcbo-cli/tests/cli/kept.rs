//! `mcbo run` on a study that is kept.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::{command, mcbo_in, with_file};

/// What can be measured over and over, and is the same for all who keep it.
pub const PROBLEM: &str = r#"
name = "well"
maximize = "y"
[nodes.x]
actions = ["a", "b"]
noise = { gaussian = 0.1 }
[nodes.y]
parents = ["x"]
[actions.a]
range = [0, 1]
[actions.b]
range = [0, 1]
[simulator]
x = "a + b + normal(0, 0.1)"
y = "-(x - 1.2)^2 + normal(0, 0.05)"
"#;

/// A trial without what depends on the clock.
fn told(trial: &Value) -> Value {
    let mut trial = trial.clone();
    let object = trial.as_object_mut().unwrap();
    for key in ["worker", "asked", "told", "suggest_seconds", "program", "missing"] {
        object.remove(key);
    }
    trial
}

fn trials(at: &Path, study: &str) -> Vec<Value> {
    let document = mcbo_in(at, &["export", study, "--format", "json"]).with_code(0).json().remove(0);
    document["trials"].as_array().unwrap().iter().map(told).collect()
}

#[test]
fn resumed_at_every_round_it_proposes_the_same() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    // In memory, in one go.
    let memory =
        mcbo_in(at, &["run", "p.toml", "--rounds", "6", "--seed", "3", "--json"]).with_code(0).json();
    // Kept, a round at a time, each in a program of its own.
    for round in 0..=6 {
        let round = round.to_string();
        mcbo_in(at, &["run", "p.toml", "--study", "s", "--seed", "3", "--rounds", &round, "-q"]).with_code(0);
    }
    let kept = trials(at, "s");
    assert_eq!(kept, memory[..memory.len() - 1].iter().map(told).collect::<Vec<_>>());
    // Asked and told by hand: the same again.
    mcbo_in(at, &["new", "hand", "--problem", "p.toml", "--seed", "3"]).with_code(0);
    for trial in &kept {
        let asked = mcbo_in(at, &["ask", "hand", "--json"]).with_code(0).json().remove(0);
        assert_eq!(asked["intervention"], trial["intervention"]);
        assert_eq!(
            (&asked["acquisition"], &asked["predicted"]),
            (&trial["acquisition"], &trial["predicted"])
        );
        let number = asked["trial"].to_string();
        let [x, y] = ["x", "y"].map(|name| format!("{name}={}", trial["values"][name]));
        // One value now, the other later.
        mcbo_in(at, &["tell", "hand", &number, &x]).with_code(0);
        mcbo_in(at, &["tell", "hand", &number, &y]).with_code(0);
    }
    assert_eq!(trials(at, "hand"), kept);
    // What a finished run prints is the same, whether it was interrupted or not.
    let again = mcbo_in(at, &["run", "--study", "s", "--rounds", "6", "--json"]).with_code(0).json();
    assert_eq!(again.iter().map(told).collect::<Vec<_>>(), memory.iter().map(told).collect::<Vec<_>>());
}

#[test]
fn a_command_that_is_repeated_does_not_measure_again() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    let program = "echo once >> calls; echo '{\"x\": 1, \"y\": 2}'";
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "p.toml", "--exec", program, "--initial", "2", "--json"];
        arguments.extend(more);
        mcbo_in(at, &arguments).with_code(0)
    };
    let calls = || std::fs::read_to_string(at.join("calls")).unwrap().lines().count();
    let first = run(&["--rounds", "1"]);
    assert_eq!(calls(), 3);
    assert_eq!(run(&["--rounds", "1"]).stdout, first.stdout);
    assert_eq!(calls(), 3, "nothing is measured twice");
    run(&["--rounds", "2"]);
    assert_eq!(calls(), 4, "more rounds go on");
    run(&["--rounds", "1", "--fresh"]);
    assert_eq!(calls(), 7, "and a fresh run begins anew");
    run(&["--rounds", "1"]);
    assert_eq!(calls(), 7, "which is then the one to go on with");
    let hidden = mcbo_in(at, &["studies"]).with_code(0);
    assert!(hidden.stderr.contains("2 of `mcbo run --exec` not shown"), "{}", hidden.stderr);
    assert!(mcbo_in(at, &["studies", "--all"]).with_code(0).stdout.contains("run/well/"));
}

#[cfg(unix)]
#[test]
fn killed_at_any_moment_it_goes_on() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    // A program that is slow enough to be killed in the middle of, and that notes what it has measured.
    let program = "read line; sleep 0.05; echo x >> calls; echo '{\"x\": 1.5, \"y\": 2.5}'";
    let arguments = ["run", "p.toml", "--exec", program, "--initial", "3", "--rounds", "3", "--json"];
    for delay in [20, 60, 110, 150, 190, 240, 300] {
        let mut run =
            command(at).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        run.kill().unwrap();
        run.wait().unwrap();
    }
    let done = mcbo_in(at, &arguments).with_code(0).json();
    assert_eq!(done.len(), 7);
    let numbers: Vec<&Value> = done[..6].iter().map(|trial| &trial["trial"]).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    assert!(done[..6].iter().all(|trial| trial["state"] == "complete"));
    let calls = std::fs::read_to_string(at.join("calls")).unwrap().lines().count();
    assert!((6..=13).contains(&calls), "{calls} measurements: at most one is repeated for every kill");
    // An undisturbed run in memory chooses the same.
    let other = with_file("p.toml", PROBLEM);
    let quiet = program.replace("echo x >> calls; ", "");
    let mut arguments = arguments.to_vec();
    arguments[3] = &quiet;
    let undisturbed = mcbo_in(other.path(), &arguments).with_code(0).json();
    assert_eq!(done, undisturbed);
}

#[test]
fn a_run_stops_when_little_is_left_to_gain() {
    let directory = with_file("p.toml", &PROBLEM.replace("normal(0, 0.05)", "0"));
    let at = directory.path();
    let run = |gap: &str, rounds: &str| {
        let arguments = ["run", "p.toml", "--rounds", rounds, "--until-gap", gap, "--beta", "2", "--json"];
        mcbo_in(at, &arguments).with_code(0).json()
    };
    let (wide, narrow) = (run("1000", "30"), run("0.2", "40"));
    let last = |lines: &[Value]| lines.last().unwrap().clone();
    assert_eq!((&last(&wide)["end"], wide.len()), (&"gap".into(), 6), "only the design is needed");
    assert_eq!(last(&narrow)["end"], "gap", "{}", last(&narrow));
    assert!(last(&narrow)["certificate"]["gap"].as_f64().unwrap() <= 0.2);
    assert!(narrow.len() > wide.len() && narrow.len() < 46, "{}", narrow.len());
}

#[test]
fn what_does_not_agree_with_the_study_is_refused() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "p.toml", "--study", "s", "--rounds", "0", "-q"];
        arguments.extend(more);
        mcbo_in(at, &arguments)
    };
    let missing = mcbo_in(at, &["run", "--study", "s"]).with_code(2);
    assert!(missing.stderr.contains("there is no study \"s\""), "{}", missing.stderr);
    mcbo_in(at, &["run"]).with_code(2);
    run(&["--seed", "4"]).with_code(0);
    run(&[]).with_code(0);
    for more in [
        ["--seed", "5"],
        ["--strategy", "random"],
        ["--initial", "9"],
        ["--preset", "paper"],
        ["--beta", "1"],
    ] {
        let refused = run(&more).with_code(2);
        assert!(refused.stderr.contains("was made with another --"), "{more:?}: {}", refused.stderr);
    }
    std::fs::write(at.join("p.toml"), PROBLEM.replace("name = \"well\"", "name = \"spring\"")).unwrap();
    assert!(run(&[]).with_code(2).stderr.contains("mcbo update s --problem p.toml"));
}

#[cfg(unix)]
#[test]
fn programs_beside_one_another_lose_nothing() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    // A slow one that measures, and one that breaks, under the same name.
    let run = |program: &str| {
        let arguments =
            ["run", "p.toml", "--study", "s", "--initial", "1", "--rounds", "0", "-q", "--exec", program];
        command(at).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut slow = run("touch started; until [ -e go ]; do sleep 0.01; done; echo '{\"x\": 1, \"y\": 7}'");
    while !at.join("started").exists() {
        assert!(slow.try_wait().unwrap().is_none(), "the slow one measures");
        std::thread::sleep(Duration::from_millis(10));
    }
    run("exit 9").wait().unwrap();
    std::fs::write(at.join("go"), "").unwrap();
    slow.wait().unwrap();
    let first = trials(at, "s").remove(0);
    assert_eq!((&first["state"], &first["values"]["y"]), (&"complete".into(), &Value::from(7.0)));
    // Two broken ones come to an end, each after five failures of its own.
    let broken = ["run", "p.toml", "--study", "b", "--exec", "exit 3", "-q", "--worker"];
    let run = |worker: &str| {
        command(at).args(broken).arg(worker).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut both = [run("a"), run("b")];
    assert!(both.iter_mut().all(|run| run.wait().unwrap().code() == Some(1)));
    assert!(trials(at, "b").len() <= 10);
    // What somebody has asked for by hand is left to them.
    mcbo_in(at, &["new", "h", "--problem", "p.toml", "--initial", "2"]).with_code(0);
    mcbo_in(at, &["ask", "h"]).with_code(0);
    mcbo_in(at, &["run", "--study", "h", "--rounds", "0", "-q"]).with_code(0);
    mcbo_in(at, &["tell", "h", "1", "x=1", "y=1"]).with_code(0);
}

/// Two runs of one name would measure the same trials.
#[cfg(unix)]
#[test]
fn one_run_at_a_time_under_a_name() {
    let directory = crate::with_file(
        "p.toml",
        "maximize = 'y'\n[nodes.y]\nactions = ['a']\n[actions.a]\nrange = [0, 1]\n",
    );
    let at = directory.path();
    let program = r#"touch begun; while [ ! -e go ]; do sleep 0.05; done; echo '{"y": 1}'"#;
    let arguments = ["run", "p.toml", "--study", "s", "--initial", "1", "--rounds", "1", "--exec", program];
    let mut first = crate::command(at).args(arguments).spawn().unwrap();
    while !at.join("begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = crate::mcbo_in(at, &arguments).with_code(2);
    assert!(second.stderr.contains("another run works on study \"s\""), "{}", second.stderr);
    assert!(second.stderr.contains("hint: give each a name of its own"), "{}", second.stderr);
    std::fs::write(at.join("go"), "").unwrap();
    assert!(first.wait().unwrap().success());
    crate::mcbo_in(at, &[&arguments[..], &["--worker", "other"]].concat()).with_code(0);
}
