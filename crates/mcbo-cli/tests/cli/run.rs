//! `mcbo run` on simulators.

use serde_json::{Value, json};

use crate::{examples, mcbo, mcbo_in, with_file};

#[test]
fn every_example_runs() {
    let mut count = 0;
    for entry in std::fs::read_dir(examples()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".toml") {
            continue;
        }
        count += 1;
        let done = mcbo(&["run", &name, "--rounds", "3", "--json"]).with_code(0);
        assert!(!done.stderr.contains("failed"), "{name}: {}", done.stderr);
        let lines = done.json();
        let (last, trials) = lines.split_last().unwrap();
        let rounds = trials.iter().filter(|trial| trial["strategy"] == "mcbo").count();
        assert_eq!(rounds, 3, "{name}");
        for (at, trial) in trials.iter().enumerate() {
            assert_eq!((&trial["trial"], &trial["state"]), (&json!(at + 1), &json!("complete")), "{name}");
            assert!(trial["reward"].is_f64() && trial["intervention"]["actions"].is_object(), "{name}");
            assert!(trial["strategy"] == "design" || trial["acquisition"].is_f64(), "{name}");
        }
        assert_eq!(last["end"], "done", "{name}");
        let reward = &last["recommendation"]["reward"];
        let [mean, lower, upper] = ["mean", "lower", "upper"].map(|key| reward[key].as_f64().unwrap());
        assert!(lower <= mean && mean <= upper, "{name}: {reward}");
        let best = trials.iter().map(|trial| trial["reward"].as_f64().unwrap()).fold(f64::MIN, f64::max);
        assert_eq!(last["best"]["reward"], json!(best), "{name}");
        assert!(!last["nodes"].as_array().unwrap().is_empty(), "{name}");
    }
    assert!(count >= 5, "the examples are there");
}

#[test]
fn rewards_are_in_the_direction_of_improvement() {
    let done = mcbo(&["run", "clinic.toml", "--rounds", "1", "--json"]).with_code(0);
    let lines = done.json();
    for trial in &lines[..lines.len() - 1] {
        assert_eq!(trial["reward"].as_f64().unwrap(), -trial["values"]["psa"].as_f64().unwrap());
    }
    let recommendation = &lines.last().unwrap()["recommendation"];
    let (reward, psa) = (&recommendation["reward"], &recommendation["predicted"]["psa"]);
    assert_eq!(reward["lower"].as_f64().unwrap(), -psa["upper"].as_f64().unwrap());
    let done = mcbo(&["run", "clinic.toml", "--rounds", "1"]).with_code(0);
    assert!(done.stdout.contains("reward (= -psa)  best so far\n"), "{}", done.stdout);
}

#[test]
fn vector_nodes_are_arrays() {
    let done = mcbo(&["run", "vector.toml", "--rounds", "1", "--beta", "0.5", "--json"]).with_code(0);
    let lines = done.json();
    let trial = &lines[lines.len() - 2];
    let pair = |value: &Value| value.as_array().map(Vec::len) == Some(2);
    assert!(pair(&trial["values"]["bath"]) && pair(&trial["predicted"]["cloth"]), "{trial}");
    assert!(pair(&trial["optimistic"]["bath"]) && trial["predicted"]["cloth"][1]["mean"].is_f64(), "{trial}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let run = |more: &[&str]| {
        let arguments = [&["run", "mixed.toml", "--rounds", "4", "--json"], more].concat();
        mcbo(&arguments).with_code(0).stdout
    };
    let first = run(&["--seed", "7"]);
    assert_eq!(first, run(&["--seed", "7"]));
    assert_eq!(first, run(&["--seed", "7", "--threads", "1"]));
    assert_eq!(first, run(&["--seed", "7", "--threads", "2"]));
    assert_ne!(first, run(&["--seed", "8"]));
}

#[test]
fn presets_betas_and_strategies_are_obeyed() {
    let betas = |more: &[&str]| -> Vec<Value> {
        let arguments =
            [&["run", "nitrogen.toml", "--rounds", "2", "--initial", "4", "--json"], more].concat();
        let lines = mcbo(&arguments).with_code(0).json();
        assert_eq!(lines.len(), 4 + 2 + 1);
        lines[4..6].iter().map(|trial| trial["beta"].clone()).collect()
    };
    assert_eq!(betas(&["--beta", "1.25"]), [1.25, 1.25]);
    assert_eq!(betas(&["--preset", "paper"]), [0.5, 0.5]);
    assert_eq!(betas(&["--preset", "paper", "--beta", "2"]), [2.0, 2.0]);
    assert_eq!(betas(&["--strategy", "random"]), [Value::Null, Value::Null]);
    let done = mcbo(&["run", "nitrogen.toml", "--strategy", "random", "--beta", "1"]).with_code(2);
    assert!(done.stderr.starts_with("error: --beta means nothing to this strategy\nhint: "));
}

#[test]
fn without_data_from_a_design_a_run_starts_from_the_prior() {
    let lines =
        mcbo(&["run", "nitrogen.toml", "--initial", "0", "--rounds", "2", "--json"]).with_code(0).json();
    assert_eq!(lines.len(), 3);
    let done = mcbo(&["run", "nitrogen.toml", "--initial", "0", "--rounds", "0", "--json"]).with_code(0);
    let nothing =
        json!({ "recommendation": null, "best": null, "certificate": null, "nodes": [], "end": "done" });
    assert_eq!(done.json(), [nothing]);
    mcbo(&["run", "nitrogen.toml", "--initial", "2", "--rounds", "0"]).with_code(0);
}

#[test]
fn long_runs_are_shortened_unless_asked_for() {
    let arguments = ["run", "clinic.toml", "--strategy", "random", "--rounds", "60", "-q"];
    let short = mcbo(&arguments).with_code(0);
    assert_eq!(short.stderr, "");
    assert!(short.stdout.contains("\n  ...\n") && short.stdout.contains("--all shows every one."));
    let all = mcbo(&[&arguments[..], &["--all"]].concat()).with_code(0);
    assert!(!all.stdout.contains("..."), "{}", all.stdout);
    let rows = |text: &str| {
        let (trials, _) = text.split_once("Recommended").unwrap();
        trials.lines().filter(|line| line.trim_start().starts_with(char::is_numeric)).count()
    };
    assert_eq!(rows(&all.stdout), 65);
    assert!(rows(&short.stdout) < 30);
}

#[test]
fn a_problem_without_a_simulator_needs_a_program() {
    let text = "maximize = 'y'\n[nodes.y]\nactions = ['a']\n[actions.a]\nrange = [0, 1]\n";
    let directory = with_file("p.toml", text);
    let done = mcbo_in(directory.path(), &["run", "p.toml"]).with_code(2);
    assert!(done.stderr.starts_with("error: p.toml has no [simulator]"), "{}", done.stderr);
    assert!(
        done.stderr.contains("\nhint: measure with a program of yours, as in --exec "),
        "{}",
        done.stderr
    );
}

#[test]
fn a_simulator_that_gives_no_number_fails_its_trials() {
    let text = "maximize = 'y'\n[nodes.y]\nactions = ['a']\n[actions.a]\nrange = [0, 1]\n\
                [simulator]\ny = 'log(a - 0.5)'\n";
    let directory = with_file("p.toml", text);
    let done = mcbo_in(directory.path(), &["run", "p.toml", "--rounds", "2"]);
    assert!(done.stderr.contains("failed and is left out: y is NaN\nhint: "), "{}", done.stderr);
    assert!(done.stdout.contains("failed"), "{}", done.stdout);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (option, value) in [("--threads", "0"), ("--beta", "-1"), ("--rounds", "x"), ("--preset", "none")] {
        let done = mcbo(&["run", "clinic.toml", option, value]).with_code(2);
        assert!(done.stderr.contains("invalid value"), "{}", done.stderr);
    }
    let done = mcbo(&["run", "clinic.toml", "--timeout", "1"]).with_code(2);
    assert!(done.stderr.contains("--exec <CMD>"), "{}", done.stderr);
}

#[test]
fn what_experiments_are_for_is_said_without_a_number() {
    let beta = |options: &[&str]| {
        let done =
            mcbo(&[&["run", "nitrogen.toml", "--rounds", "1", "--json"], options].concat()).with_code(0);
        let trials = done.json();
        let trial = trials.iter().rev().find(|line| line["strategy"] == "mcbo").cloned();
        trial.expect("a round of mcbo")["beta"].clone()
    };
    assert_eq!(beta(&[]), beta(&["--aim", "earn"]));
    assert_eq!(beta(&["--aim", "find"]), Value::Null, "improvements have no width");
    assert!(beta(&["--beta", "theory"]).as_f64().is_some_and(|beta| beta > 1.0));
    assert_eq!(beta(&["--beta", "0.7"]), json!(0.7));
    mcbo(&["run", "nitrogen.toml", "--aim", "find", "--beta", "1"]).with_code(2);
    let done = mcbo(&["run", "nitrogen.toml", "--aim", "find", "--strategy", "random"]).with_code(2);
    assert!(done.stderr.contains("hint: leave out --aim"), "{}", done.stderr);
}

/// The first command of the README ends near the best that can be had, which is 8.36 tonnes.
#[test]
fn the_showcase_settles_near_its_optimum() {
    let end = mcbo(&["run", "nitrogen.toml", "--json"]).with_code(0).json().pop().unwrap();
    let actions = end["recommendation"]["intervention"]["actions"].as_object().unwrap();
    let doses: Vec<String> = actions.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let eval = ["bench", "eval", "--task", "nitrogen.toml", "--json", "--actions", &doses.join(",")];
    let expected = mcbo(&eval).with_code(0).json()[0]["expected_reward"].as_f64().unwrap();
    assert!(expected > 8.25, "{doses:?} gives {expected}");
}
