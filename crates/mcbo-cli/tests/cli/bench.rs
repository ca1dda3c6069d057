//! `mcbo bench`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::{mcbo, mcbo_in};

#[test]
fn tasks_are_listed_with_their_optima() {
    let tasks = mcbo(&["bench", "list", "--json"]).with_code(0).json().remove(0);
    let tasks = tasks.as_array().expect("an array").clone();
    let names: Vec<&str> = tasks.iter().filter_map(|task| task["name"].as_str()).collect();
    assert_eq!(
        names.join(" "),
        "toygraph psagraph dropwave alpine2 rosenbrock ackley dropwave-noisy alpine2-noisy rosenbrock-noisy \
         dropwave-noisy-reference molasses thermostat toygraph-limit acetate health-limit psagraph-costs furnaces \
         ackley-mixed strains doses solvents defects modes"
    );
    assert_eq!(tasks[0]["optimum"], 2.171806);
    assert_eq!(tasks[1]["sets"], serde_json::json!([[], ["aspirin"], ["statin"], ["aspirin", "statin"]]));
    assert_eq!(tasks[3]["actions"].as_array().map(Vec::len), Some(6));
    let table = mcbo(&["bench", "list"]).with_code(0).stdout;
    assert!(table.contains("dropwave-noisy-reference"), "{table}");
}

#[test]
fn expected_rewards_are_those_of_the_table() {
    let reward = |arguments: &[&str]| {
        let all: Vec<&str> = ["bench", "eval", "--json"].iter().chain(arguments).copied().collect();
        mcbo(&all).with_code(0).json()[0]["expected_reward"].as_f64().expect("a number")
    };
    for (arguments, expected) in [
        (&["--task", "dropwave", "--actions", "0.5,0.5"][..], 1.0),
        (&["--task", "dropwave-noisy", "--actions", "a0=0.5,a1=0.5"], 0.742398),
        (&["--task", "toygraph"], 0.720150),
        (&["--task", "modes", "--actions", "feed=0.45,mode=boost"], 1.44),
        (&["--task", "toygraph", "--actions", "X1=-3.200303"], 2.171806),
        (
            &["--task", "psagraph", "--targets", "aspirin,statin", "--actions", "aspirin=0,statin=1"],
            -5.155287,
        ),
        (&["--task", "psagraph", "--targets", "statin", "--actions", "statin=1"], -5.344343),
    ] {
        assert!((reward(arguments) - expected).abs() < 1e-5, "{arguments:?}");
    }
}

#[test]
fn a_run_prints_one_line_per_round_whatever_the_threads() {
    let run = |threads: &str| {
        let done = mcbo(&[
            "bench",
            "run",
            "--task",
            "dropwave,toygraph",
            "--strategy",
            "mcbo,random",
            "--beta",
            "0.5",
            "--rounds",
            "2",
            "--seeds",
            "3..5",
            "--threads",
            threads,
            "--json",
        ]);
        let mut lines = done.with_code(0).json();
        for line in &mut lines {
            line["suggest_seconds"] = Value::Null;
        }
        lines
    };
    let lines = run("1");
    assert_eq!(lines.len(), 2 * 2 * 2 * 3);
    assert_eq!(lines, run("2"));
    assert_eq!(lines[1]["task"], "dropwave");
    assert_eq!(
        (&lines[1]["seed"], &lines[1]["round"], &lines[1]["beta"]),
        (&3.into(), &1.into(), &0.5.into())
    );
    assert!(lines[1]["best_reward"].as_f64() >= lines[1]["average_reward"].as_f64());
}

#[test]
fn mistakes_get_an_answer() {
    for (arguments, message) in [
        (&["eval", "--task", "dropwav"][..], "there is no task \"dropwav\""),
        (&["eval", "--task", "dropwave", "--actions", "0.5"], "1 values for 2 actions"),
        (&["eval", "--task", "dropwave", "--actions", "0.5,x"], "\"x\" is not a number"),
        (&["eval", "--task", "dropwave", "--actions", "0.5,7"], "a1 is 7, outside its range 0 to 1"),
        (&["eval", "--task", "toygraph", "--actions", "Y=1"], "Y cannot be set"),
        (&["eval", "--task", "toygraph", "--actions", "Z=1"], "there is no action or settable node \"Z\""),
        (&["eval", "--task", "toygraph", "--targets", "X0"], "--targets and the names in --actions differ"),
        (&["run", "--task", "dropwave", "--seeds", "5..5"], "a range such as 0..20 is needed"),
    ] {
        let all: Vec<&str> = ["bench"].iter().chain(arguments).copied().collect();
        let done = mcbo(&all).with_code(2);
        assert!(done.stderr.contains(message), "{}", done.stderr);
        assert_eq!(done.stdout, "");
    }
}

/// The runs in a folder of `--out`, the seconds left out.
fn saved(folder: &Path) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.join("runs")];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let mut run: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                for round in run["run"]["rounds"].as_array_mut().unwrap() {
                    round["suggest_seconds"] = Value::Null;
                }
                run["run"]["recommended"]["seconds"] = Value::Null;
                all.insert(path.strip_prefix(folder).unwrap().display().to_string(), run);
            }
        }
    }
    all
}

const GRID: [&str; 12] = [
    "bench",
    "run",
    "--task",
    "dropwave,toygraph,rosenbrock-noisy",
    "--strategy",
    "mcbo,ucb,random,cbo,cbo-noisy",
    "--preset",
    "paper",
    "--rounds",
    "4",
    "--seeds",
    "0..6",
];

#[test]
fn killed_twenty_times_the_results_are_those_of_an_undisturbed_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name);
    let with = |name: &str, more: &[&str]| {
        let out = out(name).display().to_string();
        GRID.iter().copied().chain(["--out", &out]).chain(more.iter().copied()).map(str::to_owned).collect()
    };
    let calm: Vec<String> = with("calm", &[]);
    let began = Instant::now();
    mcbo(&calm.iter().map(String::as_str).collect::<Vec<_>>()).with_code(0);
    let whole = began.elapsed();
    let calm = saved(&out("calm"));
    // 3 strategies on all tasks, the other two on the one whose nodes can be set.
    assert_eq!(calm.len(), 6 * (3 * 3 + 2));

    // Moments that differ from kill to kill and between machines; what must come out does not depend on them.
    let mut killed = 0;
    for turn in 0u32..20 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcbo"))
            .args::<Vec<String>, _>(with("killed", &["--threads", if turn % 2 == 0 { "1" } else { "2" }]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole * (1 + (turn * 7) % 20) / 60);
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        // What is there is whole, and as it should be.
        if out("killed").join("runs").is_dir() {
            for (name, run) in saved(&out("killed")) {
                assert_eq!(run, calm[&name], "{name}");
            }
        }
    }
    assert!(killed > 3, "the program ended before it was killed");
    let last: Vec<String> = with("killed", &[]);
    mcbo(&last.iter().map(String::as_str).collect::<Vec<_>>()).with_code(0);
    assert_eq!(saved(&out("killed")), calm);

    // The same in three parts, in a folder each.
    let mut parts = BTreeMap::new();
    for part in ["1/3", "2/3", "3/3"] {
        let name = part.replace('/', "of");
        let arguments: Vec<String> = with(&name, &["--shard", part]);
        mcbo(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).with_code(0);
        let runs = saved(&out(&name));
        assert!(runs.len() >= 66 / 3 - 6, "{}", runs.len());
        parts.extend(runs);
    }
    assert_eq!(parts, calm);
}

#[test]
fn the_paper_in_small_parts_and_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let part = |shard: &str, more: &[&str]| {
        let usual = ["bench", "paper", "--seeds", "0..1", "--rounds", "1", "--shard", shard];
        mcbo_in(at, &usual.iter().chain(more).copied().collect::<Vec<_>>()).with_code(0)
    };
    let first = part("1/2", &["--out", "here"]);
    assert!(first.stderr.contains("48 runs of other parts are not in here yet"), "{}", first.stderr);
    assert_eq!(first.stdout, "");
    let second = part("2/2", &["--out", "there"]);
    assert!(second.stderr.contains("48 runs of other parts"), "{}", second.stderr);
    let report = mcbo_in(at, &["bench", "report", "here", "there", "--out", "all"]).with_code(0);
    assert!(report.stdout.contains("rosenbrock-noisy") && report.stdout.contains("mcbo-paper-0.05"));
    let page = std::fs::read_to_string(at.join("all/report.html")).unwrap();
    assert!(page.contains("mcbo bench paper --seeds 0..1 --rounds 1 --shard 1/2 --out here"));
    for file in
        ["runs.csv", "curves.csv", "summary.csv", "beta.csv", "paired.csv", "figures/average-reward.png"]
    {
        assert!(std::fs::metadata(at.join("all").join(file)).unwrap().len() > 500, "{file}");
    }
    let runs = std::fs::read_to_string(at.join("all/runs.csv")).unwrap();
    assert_eq!(runs.lines().count(), 1 + 96);
    // Done already: nothing is run, and the report of the whole comes without being asked for.
    let copied = std::process::Command::new("cp").args(["-r", "there/runs", "here"]).current_dir(at).status();
    assert!(copied.unwrap().success());
    let again = part("1/2", &["--out", "here"]);
    assert!(again.stderr.contains("48 of 48 runs are there already"), "{}", again.stderr);
    assert!(again.stderr.contains("report.html"), "{}", again.stderr);
    let diff = mcbo_in(at, &["bench", "diff", "here", "there"]).with_code(0);
    assert!(diff.stdout.contains("0 ± 0"), "{}", diff.stdout);
    let nothing = mcbo_in(at, &["bench", "report", "nowhere"]).with_code(2);
    assert!(nothing.stderr.contains("nowhere has no runs"), "{}", nothing.stderr);
}

#[test]
fn a_file_of_ones_own_is_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let file = |optimum: &str| {
        let text = format!(
            "name = \"mine\"\nmaximize = \"y\"\n[nodes.x]\nactions = [\"a\"]\nnoise = \"none\"\n[nodes.y]\nparents = [\"x\"]\n\
             [actions.a]\nrange = [0, 1]\n[simulator]\nx = \"2 * a\"\ny = \"3 - (x - {optimum})^2 + normal(0, 0.1)\"\n"
        );
        std::fs::write(at.join("mine.toml"), text).unwrap();
    };
    file("1");
    let reward = |a: &str| {
        let all = ["bench", "eval", "--task", "mine.toml", "--actions", a, "--json"];
        let answer = mcbo_in(at, &all).with_code(0).json().remove(0);
        assert_eq!(answer["method"], "samples");
        answer["expected_reward"].as_f64().unwrap()
    };
    // The noise has mean 0 and 100,000 samples: an error of 0.0003.
    assert!((reward("0.5") - 3.0).abs() < 2e-3 && (reward("1") - 2.0).abs() < 2e-3);
    let run = ["bench", "run", "--task", "mine.toml", "--rounds", "3", "--seeds", "0..2", "--out", "out"];
    let table = mcbo_in(at, &run).with_code(0);
    assert!(table.stdout.contains("mine"), "{}", table.stdout);
    // The file is kept: the report needs it no more. Changed, its runs are made again.
    std::fs::remove_file(at.join("mine.toml")).unwrap();
    mcbo_in(at, &["bench", "report", "out"]).with_code(0);
    file("0.5");
    let again = mcbo_in(at, &run).with_code(0);
    assert!(again.stderr.contains("other settings, and 1 more"), "{}", again.stderr);
    let same = mcbo_in(at, &run).with_code(0);
    assert!(same.stderr.contains("2 of 2 runs are there already"), "{}", same.stderr);
}
