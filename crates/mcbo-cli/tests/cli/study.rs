//! Studies that are kept: `new`, `ask`, `tell`, `add`, `best`, `status`, `export` and the rest.

use std::path::Path;

use serde_json::Value;

use crate::{Done, command, finish, mcbo_in, with_file};

const PROBLEM: &str = r#"
name = "lab"
maximize = "y"
[nodes.x]
parents = []
actions = ["a"]
noise = "none"
[nodes.leaf]
parents = ["x"]
dim = 2
noise = "none"
[nodes.z]
parents = ["x"]
do = [0, 10]
range = [-100, 100]
noise = "none"
[nodes.y]
parents = ["leaf", "z"]
noise = "none"
[actions.a]
range = [0, 1]
"#;

/// A directory with a problem and a study of it.
pub fn lab() -> tempfile::TempDir {
    let directory = with_file("p.toml", PROBLEM);
    mcbo_in(directory.path(), &["new", "lab", "--problem", "p.toml"]).with_code(0);
    directory
}

pub fn asked(at: &Path, more: &[&str]) -> Vec<Value> {
    let mut arguments = vec!["ask", "lab", "--json"];
    arguments.extend(more);
    mcbo_in(at, &arguments).with_code(0).json()
}

pub fn export(at: &Path) -> Value {
    mcbo_in(at, &["export", "lab", "--format", "json"]).with_code(0).json().remove(0)
}

/// What the process gives.
fn values(trial: &Value) -> Vec<String> {
    let a = trial["intervention"]["actions"]["a"].as_f64().unwrap();
    let x = 2.0 * a;
    let set = trial["intervention"]["values"]["z"].as_f64();
    let z = set.unwrap_or(3.0 * x);
    let (l0, l1) = (x.sin(), x * x);
    let y = l0 + l1 - (z - 4.0) * (z - 4.0);
    let mut words = vec![format!("x={x:?}"), format!("leaf={l0:?},{l1:?}"), format!("y={y:?}")];
    if set.is_none() {
        words.push(format!("z={z:?}"));
    }
    words
}

pub fn tell(at: &Path, trial: &Value) -> Done {
    let (number, words) = (trial["trial"].to_string(), values(trial));
    let mut arguments = vec!["tell", "lab", &number];
    arguments.extend(words.iter().map(String::as_str));
    mcbo_in(at, &arguments)
}

#[test]
fn what_stands_behind_a_new_name_is_its_problem() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    mcbo_in(at, &["new", "lab", "p.toml"]).with_code(0);
    mcbo_in(at, &["update", "lab", "p.toml"]).with_code(0);
    let missing = mcbo_in(at, &["new", "other"]).with_code(2);
    assert!(missing.stderr.contains("--problem <FILE>"), "{}", missing.stderr);
    let twice = mcbo_in(at, &["new", "other", "p.toml", "--problem", "p.toml"]).with_code(2);
    assert!(twice.stderr.contains("cannot be used with"), "{}", twice.stderr);
}

#[test]
fn asking_again_gives_the_same_until_it_is_told() {
    let directory = lab();
    let at = directory.path();
    let first = asked(at, &[]);
    assert_eq!(asked(at, &[]), first);
    let again = mcbo_in(at, &["ask", "lab"]).with_code(0);
    assert!(again.stderr.contains("trial 1 is under way already"), "{}", again.stderr);
    assert!(again.stdout.contains("mcbo tell lab 1 x=… leaf=…,…"), "{}", again.stdout);
    // Somebody else gets another one, and so does who wants more.
    let other = asked(at, &["--worker", "eva"]);
    assert_eq!(other[0]["trial"], 2);
    let more = asked(at, &["--count", "3"]);
    let numbers: Vec<&Value> = more.iter().map(|trial| &trial["trial"]).collect();
    assert_eq!(numbers, [1, 3, 4]);
    tell(at, &first[0]).with_code(0);
    // The same again is accepted silently; something else is refused, and both are shown.
    tell(at, &first[0]).with_code(0);
    let conflict = mcbo_in(at, &["tell", "lab", "1", "y=77.25"]).with_code(2);
    assert!(conflict.stderr.contains("cannot become 77.25"), "{}", conflict.stderr);
    let stored = export(at)["trials"][0]["values"]["y"].to_string();
    assert!(conflict.stderr.contains(&format!("y is {stored} already")), "{}", conflict.stderr);
    let numbers: Vec<Value> =
        asked(at, &["--count", "2"]).iter().map(|trial| trial["trial"].clone()).collect();
    assert_eq!(numbers, [3, 4]);
}

#[test]
fn leases_run_out() {
    let directory = lab();
    let at = directory.path();
    let first = asked(at, &["--worker", "adam", "--lease", "0.0000001"]);
    let second = asked(at, &["--worker", "eva"]);
    assert_eq!(first[0], second[0], "what adam did not tell in time goes to eva");
    // Adam is late, but what he measured counts.
    tell(at, &first[0]).with_code(0);
    assert_eq!(asked(at, &["--worker", "eva"])[0]["trial"], 2);
}

#[test]
fn measurements_come_in_pieces_and_numbers_stay_exact() {
    let directory = lab();
    let at = directory.path();
    asked(at, &[]);
    let odd = ["0.1", "5e-324", "9.999999999999999e59", "-0.30000000000000004"];
    mcbo_in(at, &["tell", "lab", "1", &format!("x={}", odd[0])]).with_code(0);
    let status = mcbo_in(at, &["status", "lab", "--json"]).with_code(0).json().remove(0);
    let missing = &status["incomplete"][0]["missing"];
    assert!(missing.as_array().unwrap().iter().any(|name| name == "y"), "{missing}");
    mcbo_in(at, &["tell", "lab", "1", &format!("leaf[1]={}", odd[3])]).with_code(0);
    let all = format!("leaf={},{}", odd[1], odd[3]);
    mcbo_in(at, &["tell", "lab", "1", &all]).with_code(0);
    std::fs::write(at.join("rest.json"), format!("{{\"y\": {}, \"z\": null}}", odd[2])).unwrap();
    mcbo_in(at, &["tell", "lab", "1", "--json", "rest.json"]).with_code(0);
    let trial = &export(at)["trials"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(number(&trial["values"]["x"]), odd[0].parse::<f64>().unwrap());
    assert_eq!(number(&trial["values"]["leaf"][0]), odd[1].parse::<f64>().unwrap());
    assert_eq!(number(&trial["values"]["leaf"][1]), odd[3].parse::<f64>().unwrap());
    assert_eq!(number(&trial["values"]["y"]), odd[2].parse::<f64>().unwrap());
    assert_eq!(trial["state"], "complete");
}

#[test]
fn bad_values_change_nothing() {
    let directory = lab();
    let at = directory.path();
    // The first that leaves z alone.
    let trial = asked(at, &["--count", "5"]);
    let free = trial.iter().find(|t| t["intervention"]["targets"].as_array().unwrap().is_empty()).unwrap();
    let set = trial.iter().find(|t| !t["intervention"]["targets"].as_array().unwrap().is_empty()).unwrap();
    let (free, set) = (free["trial"].to_string(), set["trial"].to_string());
    let before = export(at);
    let bad: [(&[&str], &str); 12] = [
        (&["x=nan"], "x is NaN"),
        (&["x=inf"], "x is inf"),
        (&["x=many"], "\"many\" is not a number"),
        (&["x=1,5"], "x has 2 values where the problem has 1"),
        (&["x"], "\"x\" is not NAME=VALUE"),
        (&["q=1"], "there is no node \"q\""),
        (&["leaf=1"], "leaf has 1 values where the problem has 2"),
        (&["leaf[2]=1"], "there is no node \"leaf[2]\""),
        (&["x=1", "x=1"], "\"x\" is given twice"),
        (&[], "no values are given"),
        (&["--json", "nowhere.json"], "cannot read nowhere.json"),
        (&["--failed", "x", "y=1"], "cannot be used with"),
    ];
    for (words, message) in bad {
        let arguments: Vec<&str> = ["tell", "lab", &free].into_iter().chain(words.iter().copied()).collect();
        let done = mcbo_in(at, &arguments).with_code(2);
        assert!(done.stderr.contains(message), "{words:?}: {}", done.stderr);
        assert_eq!(done.stdout, "");
        assert_eq!(export(at), before, "{words:?}");
    }
    let done = mcbo_in(at, &["tell", "lab", &set, "z=nan", "y=1"]).with_code(2);
    assert!(done.stderr.contains("z is NaN"), "{}", done.stderr);
    let bad = [
        ("[1]", "not a JSON object"),
        ("{", "not JSON"),
        ("{\"x\": \"1\"}", "is not a number"),
        ("{\"x\": 1, \"x\": 2}", "stands there twice"),
        ("{\"leaf\": [1, 2], \"leaf[0]\": 3}", "is given twice"),
    ];
    for (text, message) in bad {
        std::fs::write(at.join("bad.json"), text).unwrap();
        let done = mcbo_in(at, &["tell", "lab", &free, "--json", "bad.json"]).with_code(2);
        assert!(done.stderr.contains(message), "{text}: {}", done.stderr);
    }
    for trial in ["0", "6", "18446744073709551615"] {
        let done = mcbo_in(at, &["tell", "lab", trial, "x=1"]).with_code(2);
        assert!(done.stderr.contains("there is no trial"), "{}", done.stderr);
    }
    mcbo_in(at, &["tell", "lab", "-1", "x=1"]).with_code(2);
    assert_eq!(export(at), before);
}

#[test]
fn failed_trials_are_not_proposed_again() {
    let directory = lab();
    let at = directory.path();
    let first = asked(at, &[]);
    mcbo_in(at, &["tell", "lab", "1", "--failed", "the pump broke"]).with_code(0);
    mcbo_in(at, &["tell", "lab", "1", "--failed"]).with_code(0);
    let trial = export(at)["trials"][0].clone();
    assert_eq!((&trial["state"], &trial["error"]), (&"failed".into(), &"the pump broke".into()));
    let next = asked(at, &[]);
    assert_eq!(next[0]["trial"], 2);
    assert_ne!(next[0]["intervention"], first[0]["intervention"]);
    // A range that leaves out what could not be done is a natural consequence.
    let a = first[0]["intervention"]["actions"]["a"].as_f64().unwrap();
    let narrow = if a > 0.5 { format!("[0, {}]", a / 2.0) } else { format!("[{}, 1]", (1.0 + a) / 2.0) };
    let changed = PROBLEM.replace("range = [0, 1]", &format!("range = {narrow}"));
    std::fs::write(at.join("narrow.toml"), changed).unwrap();
    mcbo_in(at, &["tell", "lab", "2", "--failed"]).with_code(0);
    mcbo_in(at, &["update", "lab", "--problem", "narrow.toml"]).with_code(0);
    mcbo_in(at, &["update", "lab", "--problem", "p.toml"]).with_code(0);
    // It gave something after all.
    tell(at, &first[0]).with_code(0);
    let trial = export(at)["trials"][0].clone();
    assert_eq!((&trial["state"], &trial["error"]), (&"complete".into(), &Value::Null));
    let done = mcbo_in(at, &["tell", "lab", "1", "--failed"]).with_code(2);
    assert!(
        done.stderr.contains("what was told stays, and what is missing can still be told"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_study_from_the_first_trial_to_the_recommendation() {
    let directory = lab();
    let at = directory.path();
    assert!(mcbo_in(at, &["best", "lab"]).with_code(2).stderr.contains("no measurements yet"));
    for _ in 0..12 {
        let trial = asked(at, &[]).remove(0);
        tell(at, &trial).with_code(0);
    }
    let best = mcbo_in(at, &["best", "lab", "--json"]).with_code(0).json().remove(0);
    let reward = best["recommendation"]["reward"]["mean"].as_f64().unwrap();
    // z = 4 and a = 1 are best: sin 2 + 4.
    assert!((reward - (2.0_f64.sin() + 4.0)).abs() < 0.3, "{best}");
    let certificate = &best["certificate"];
    let number = |value: &Value| value.as_f64().unwrap();
    let gap = number(&certificate["upper"]) - number(&certificate["lower"]);
    assert!((number(&certificate["gap"]) - gap.max(0.0)).abs() < 1e-12, "{certificate}");
    assert!(number(&certificate["upper"]) >= reward && number(&certificate["lower"]) <= reward + 1e-9);
    let lower = mcbo_in(at, &["best", "lab", "--json", "--by", "lower"]).with_code(0).json().remove(0);
    assert_eq!(lower["recommendation"]["by"], "lower");
    let wide = mcbo_in(at, &["best", "lab", "--json", "--width", "4"]).with_code(0).json().remove(0);
    assert!(number(&wide["certificate"]["gap"]) > gap);
    let text = mcbo_in(at, &["best", "lab"]).with_code(0).stdout;
    assert!(text.contains("What may be left to gain") && text.contains("Recommended intervention"), "{text}");
    let status = mcbo_in(at, &["status", "lab", "--json"]).with_code(0).json().remove(0);
    assert_eq!((&status["complete"], &status["certificate"]), (&12.into(), certificate));
    let text = mcbo_in(at, &["status", "lab"]).with_code(0).stdout;
    assert!(text.contains("left to gain  at most"), "{text}");
}

#[test]
fn problems_can_be_mended() {
    let directory = lab();
    let at = directory.path();
    let trial = asked(at, &[]).remove(0);
    tell(at, &trial).with_code(0);
    std::fs::write(at.join("wide.toml"), PROBLEM.replace("range = [0, 1]", "range = [0, 2]")).unwrap();
    mcbo_in(at, &["update", "lab", "--problem", "wide.toml"]).with_code(0);
    let again = mcbo_in(at, &["update", "lab", "--problem", "wide.toml"]).with_code(0);
    assert!(again.stderr.contains("has already"), "{}", again.stderr);
    std::fs::write(at.join("wide.toml"), PROBLEM.replace("range = [0, 1]", "# more\nrange = [0, 2]"))
        .unwrap();
    let again = mcbo_in(at, &["update", "lab", "--problem", "wide.toml"]).with_code(0);
    assert!(again.stderr.contains("the changed file, which says the same"), "{}", again.stderr);
    assert!(export(at)["problem"].as_str().unwrap().contains("[0, 2]"));
    std::fs::write(at.join("bad.toml"), PROBLEM.replace("[nodes.x]", "[nodes.w]")).unwrap();
    let before = export(at);
    mcbo_in(at, &["update", "lab", "--problem", "bad.toml"]).with_code(2);
    std::fs::write(at.join("less.toml"), PROBLEM.replace("range = [0, 1]", "range = [0, 0.0001]")).unwrap();
    assert_eq!(export(at), before);
    // Ranges may be narrowed: what was done outside stays.
    let pending = asked(at, &[]).remove(0);
    assert!(pending["intervention"]["actions"]["a"].as_f64().unwrap() > 0.0001, "{pending}");
    let done = mcbo_in(at, &["update", "lab", "--problem", "less.toml"]).with_code(0);
    assert!(done.stderr.contains("values of a: in 0 to 0.0001 (was in 0 to 2)"), "{}", done.stderr);
    // What is under way and what was done outside stay, and both are said.
    assert!(
        done.stderr.contains("warning: trial 2 is under way, and would not be proposed"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("mcbo void lab 2"), "{}", done.stderr);
    let done = mcbo_in(at, &["ask", "lab"]).with_code(0);
    assert!(done.stderr.contains("warning: the problem has changed since"), "{}", done.stderr);
    assert_eq!(export(at)["trials"][0], before["trials"][0]);
    let log = mcbo_in(at, &["log", "lab", "--json"]).with_code(0).json();
    let changes: Vec<_> = log
        .iter()
        .filter(|line| line["kind"] == "problem-changed")
        .map(|line| line["changes"].clone())
        .collect();
    assert_eq!(
        changes,
        [
            serde_json::json!(["values of a: in 0 to 2 (was in 0 to 1)"]),
            serde_json::json!([]),
            serde_json::json!(["values of a: in 0 to 0.0001 (was in 0 to 2)"]),
        ]
    );
    mcbo_in(at, &["void", "lab", "2"]).with_code(0);
    let next = asked(at, &[]).remove(0);
    assert!(next["intervention"]["actions"]["a"].as_f64().unwrap() <= 0.0001, "{next}");
}

#[test]
fn names_and_addresses_that_do_not_work() {
    let directory = lab();
    let at = directory.path();
    let there = mcbo_in(at, &["new", "lab", "--problem", "p.toml"]).with_code(2);
    assert!(there.stderr.contains("there is a study \"lab\" already"), "{}", there.stderr);
    let missing = mcbo_in(at, &["ask", "lob"]).with_code(2);
    assert!(missing.stderr.contains("hint: the studies are lab"), "{}", missing.stderr);
    mcbo_in(at, &["new", " x", "--problem", "p.toml"]).with_code(2);
    mcbo_in(at, &["new", "y", "--problem", "nowhere.toml"]).with_code(2);
    mcbo_in(at, &["new", "y", "--problem", "p.toml", "--strategy", "random", "--beta", "1"]).with_code(2);
    mcbo_in(at, &["studies", "--storage", "mysql://x"]).with_code(2);
    for call in [["status", "lab"], ["ask", "lab"], ["studies", "--json"]] {
        let nowhere = mcbo_in(at, &[&call[..], &["--storage", "sqlite://typo.sqlite"]].concat()).with_code(2);
        assert!(
            nowhere.stderr.contains("there are no studies at sqlite://typo.sqlite"),
            "{}",
            nowhere.stderr
        );
    }
    assert!(!at.join("typo.sqlite").exists());
    mcbo_in(at, &["new", "-x", "--problem", "p.toml"]).with_code(2);
    mcbo_in(at, &["new", "run/x", "--problem", "p.toml"]).with_code(2);
    let url = format!("sqlite://{}/p.toml", at.display());
    let not_ours = mcbo_in(at, &["studies", "--storage", &url]).with_code(2);
    assert!(not_ours.stderr.contains("is not an SQLite database"), "{}", not_ours.stderr);
    let list = mcbo_in(at, &["studies", "--json"]).with_code(0).json().remove(0);
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
}

#[test]
fn the_default_store_is_in_the_data_directory() {
    let directory = with_file("p.toml", PROBLEM);
    let call = |arguments: &[&str]| {
        let mut command = command(directory.path());
        command.env_remove("MCBO_STORAGE").env("HOME", directory.path());
        command.env("XDG_DATA_HOME", directory.path().join("da ta#?%20")).args(arguments);
        finish(command)
    };
    call(&["new", "lab", "--problem", "p.toml"]).with_code(0);
    assert!(call(&["studies"]).with_code(0).stdout.contains("lab"));
    if cfg!(target_os = "linux") {
        assert!(directory.path().join("da ta#?%20/mcbo/studies.sqlite").is_file());
    }
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let directory = lab();
    let at = directory.path();
    let fine = mcbo_in(at, &["doctor"]).with_code(0);
    assert!(fine.stdout.contains("ok    storage"), "{}", fine.stdout);
    asked(at, &["--lease", "0.0000001"]);
    let late = mcbo_in(at, &["doctor"]).with_code(0);
    assert!(late.stdout.contains("look  study: lab: 1 trial under way for longer"), "{}", late.stdout);
    let nowhere = mcbo_in(at, &["doctor", "--storage", "sqlite:///no/such/folder/s.sqlite"]).with_code(1);
    assert!(nowhere.stdout.contains("bad   storage"), "{}", nowhere.stdout);
    let list = mcbo_in(at, &["doctor", "--json"]).with_code(0).json().remove(0);
    assert!(list.as_array().unwrap().iter().all(|check| check["state"] != "bad"), "{list}");
}

/// The limits are for a machine that has nothing else to do: 300 ms to ask, a second for the others. A machine that runs
/// other tests beside takes longer, so that what is held here is ten times that.
#[test]
fn large_studies_answer_soon() {
    let six = r#"
maximize = "y"
[nodes.x1]
actions = ["a"]
[nodes.x2]
parents = ["x1"]
actions = ["b"]
[nodes.x3]
parents = ["x1"]
[nodes.x4]
parents = ["x2", "x3"]
[nodes.x5]
parents = ["x4"]
[nodes.y]
parents = ["x5", "x2"]
[actions.a]
range = [0, 1]
[actions.b]
range = [0, 1]
"#;
    let directory = with_file("p.toml", six);
    let at = directory.path();
    let row = |place: usize| {
        let wave = |k: f64| (place as f64 * k).sin();
        let (a, b) = (0.5 + 0.5 * wave(1.7), 0.5 + 0.5 * wave(2.9));
        let x1 = (3.0 * a).sin() + 0.05 * wave(7.1);
        let (x2, x3) = (x1 * b + 0.05 * wave(5.3), x1 * x1 + 0.05 * wave(11.9));
        let x4 = x2 - x3 + 0.05 * wave(13.7);
        let x5 = (2.0 * x4).cos() + 0.05 * wave(17.3);
        format!("{a},{b},{x1},{x2},{x3},{x4},{x5},{}\n", x5 * x2 + 0.05 * wave(19.1))
    };
    for (name, rows) in [("ask", 300), ("big", 10_000)] {
        let table: String = (1..=rows).map(row).collect();
        std::fs::write(at.join("t.csv"), format!("a,b,x1,x2,x3,x4,x5,y\n{table}")).unwrap();
        mcbo_in(at, &["new", name, "--problem", "p.toml"]).with_code(0);
        mcbo_in(at, &["add", name, "--csv", "t.csv"]).with_code(0);
    }
    // None of them needs a second: a minute is for busy machines.
    let calls: [&[&str]; 4] =
        [&["ask", "ask"], &["status", "big"], &["export", "big"], &["export", "big", "--format", "json"]];
    for arguments in calls {
        let start = std::time::Instant::now();
        mcbo_in(at, arguments).with_code(0);
        let took = start.elapsed();
        assert!(took.as_secs() < 60, "{arguments:?} took {took:?}");
    }
}

#[test]
fn what_cannot_be_computed_is_said() {
    let text = "maximize = \"y\"\n[nodes.x]\nactions = [\"a\"]\nnoise = { gaussian = 1 }\n[nodes.y]\nparents = [\"x\"]\nformula = \"sqrt(x)\"\n[actions.a]\nrange = [0, 1]\n";
    let directory = with_file("p.toml", text);
    let at = directory.path();
    mcbo_in(at, &["new", "lab", "--problem", "p.toml", "--initial", "1"]).with_code(0);
    for x in ["x=1", "x=0.2", "x=0.7"] {
        let asked = mcbo_in(at, &["ask", "lab", "--json"]).with_code(0).json().remove(0);
        mcbo_in(at, &["tell", "lab", &asked["trial"].to_string(), x, "y=1"]).with_code(0);
    }
    let best = mcbo_in(at, &["best", "lab"]).with_code(0);
    assert!(best.stderr.contains("y: its formula has no value"), "{}", best.stderr);
    assert!(
        best.stdout.contains("Nothing can be said yet") && !best.stdout.contains("NaN"),
        "{}",
        best.stdout
    );
    let best = mcbo_in(at, &["best", "lab", "--json"]).with_code(0).json().remove(0);
    assert_eq!(best["certificate"]["gap"], Value::Null);
    assert!(mcbo_in(at, &["status", "lab"]).with_code(0).stdout.contains("left to gain  nobody knows"));
}
