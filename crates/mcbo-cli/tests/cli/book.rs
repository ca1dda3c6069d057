//! The book of a study: `predict` and what keeps its records.

use std::path::Path;

use serde_json::Value;

use crate::study::{asked, lab, tell};
use crate::{command, finish, mcbo_in};

/// A study with some trials.
fn told(trials: usize) -> tempfile::TempDir {
    let directory = lab();
    for _ in 0..trials {
        let trial = asked(directory.path(), &[]).remove(0);
        tell(directory.path(), &trial).with_code(0);
    }
    directory
}

/// One JSON object.
fn object(at: &Path, arguments: &[&str]) -> Value {
    mcbo_in(at, arguments).with_code(0).json().remove(0)
}

#[test]
fn predictions_are_those_of_best() {
    let directory = told(8);
    let at = directory.path();
    let best = object(at, &["best", "lab", "--json"]);
    let recommended = &best["recommendation"]["intervention"];
    let mut words: Vec<String> = vec![format!("a={}", recommended["actions"]["a"])];
    words.extend(recommended["values"]["z"].as_f64().map(|z| format!("do(z)={z:?}")));
    let mut arguments = vec!["predict", "lab", "--json"];
    arguments.extend(words.iter().map(String::as_str));
    let prediction = object(at, &arguments);
    assert_eq!(prediction["intervention"], *recommended);
    assert_eq!((&prediction["study"], &prediction["given"]), (&"lab".into(), &serde_json::json!({})));
    let expected = best["recommendation"]["predicted"].as_object().unwrap();
    assert!(expected.len() >= 3, "{expected:?}");
    for (node, expected) in expected {
        let found = &prediction["predicted"][node];
        // A vector node has a list.
        let pairs: Vec<(&Value, &Value)> = match expected.as_array() {
            Some(all) => all.iter().zip(found.as_array().unwrap()).collect(),
            None => vec![(expected, found)],
        };
        for (expected, found) in pairs {
            for key in ["mean", "lower", "upper"] {
                assert_eq!(found[key], expected[key], "{node} {key}");
            }
            let outcome = [0, 1].map(|end| found["outcome"][end].as_f64().unwrap());
            assert!(outcome[0] <= outcome[1], "{node}: {outcome:?}");
        }
    }
    // On other threads the same.
    arguments.extend(["--threads", "1"]);
    assert_eq!(object(at, &arguments), prediction);
}

#[test]
fn every_node_is_predicted_and_what_is_not_named_is_neutral() {
    let directory = told(8);
    let at = directory.path();
    let neutral = object(at, &["predict", "lab", "--json"]);
    assert_eq!(neutral["intervention"]["actions"]["a"], 0.0);
    assert_eq!(neutral["intervention"]["targets"], serde_json::json!([]));
    let names: Vec<&String> = neutral["predicted"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    let set = object(at, &["predict", "lab", "a=0.5", "do(z)=4", "--json"]);
    let z = serde_json::json!({ "mean": 4.0, "lower": 4.0, "upper": 4.0, "outcome": [4.0, 4.0] });
    assert_eq!(set["predicted"]["z"], z);
    assert_eq!(set["predicted"]["leaf"].as_array().unwrap().len(), 2);
    // What the process gives at a = 0.5, without noise: every value lies where it is said to lie.
    let far = object(at, &["predict", "lab", "a=0.5", "do(z)=10", "--json"]);
    for (prediction, z) in [(&set, 4.0_f64), (&far, 10.0)] {
        let predicted = &prediction["predicted"];
        let y = 1.0_f64.sin() + 1.0 - (z - 4.0).powi(2);
        let exact = [(&predicted["x"], 1.0), (&predicted["leaf"][1], 1.0), (&predicted["y"], y)];
        for (node, exact) in exact {
            let [lower, upper] = ["lower", "upper"].map(|end| node[end].as_f64().unwrap());
            assert!(lower < exact && exact < upper, "{exact}: {node}");
        }
    }
    let table = mcbo_in(at, &["predict", "lab", "a=0.5", "do(z)=4"]).with_code(0).stdout;
    for words in ["do(z)", "a single outcome", "leaf[1]", "set"] {
        assert!(table.contains(words), "{words}: {table}");
    }
}

#[test]
fn what_cannot_be_predicted_is_said_with_a_hint() {
    let directory = lab();
    let at = directory.path();
    let empty = mcbo_in(at, &["predict", "lab", "a=0.5"]).with_code(2).stderr;
    assert!(empty.contains("no trial has been measured yet") && empty.contains("hint:"), "{empty}");
    let trial = asked(at, &[]).remove(0);
    tell(at, &trial).with_code(0);
    for (words, message, hint) in [
        (&["b=1"][..], "called \"b\"", "there is a, do(z)"),
        (&["do(b)=1"], "called \"do(b)\"", "there is a, do(z)"),
        (&["z=1"], "z is a node, not an action", "write 'do(z)=...' to set it"),
        (&["x=1"], "x is a node, not an action", "give it a `do` range"),
        (&["do(x)=1"], "x cannot be set", "give it a `do` range"),
        (&["do(leaf)=1,2"], "leaf cannot be set", "give it a `do` range"),
        (&["do(leaf[0])=1"], "leaf is set in part", "give all its components"),
        (&["a=2"], "a is 2, outside its range 0 to 1", "widen the range"),
        (&["do(z)=-1"], "z is -1, outside its range 0 to 10", "widen the range"),
        (&["do(z)=1,2"], "has 2 values where the problem has 1", ""),
        (&["a=nan"], "a is NaN", "give a finite number"),
        (&["do(z)=inf"], "do(z) is inf", "give a finite number"),
        (&["a=much"], "\"much\" is not a number", "decimal point"),
        (&["a=1,2"], "a has 2 values", "one value"),
        (&["a"], "\"a\" is not NAME=VALUE", "dose=30"),
        (&["a=0.1", "a=0.2"], "a is given twice", "every name once"),
        (&["do(z)=1", "do(z)=1"], "do(z) is given twice", "every name once"),
    ] {
        let mut arguments = vec!["predict", "lab"];
        arguments.extend(words);
        let refused = mcbo_in(at, &arguments).with_code(2);
        assert!(refused.stdout.is_empty(), "{words:?}: {}", refused.stdout);
        for part in [message, hint] {
            assert!(refused.stderr.contains(part), "{words:?}: {}", refused.stderr);
        }
    }
    mcbo_in(at, &["predict", "nobody"]).with_code(2);
}

#[test]
fn studies_are_copied_renamed_and_deleted() {
    let directory = told(7);
    let at = directory.path();
    let copied = mcbo_in(at, &["copy", "lab", "twin"]).with_code(0);
    assert!(copied.stdout.is_empty() && copied.stderr.contains("twin is a copy of lab, with its 7 trials"));
    let next = |study: &str| object(at, &["ask", study, "--json"]);
    let proposed = next("lab");
    assert_eq!(proposed["trial"], 8);
    assert_eq!(next("twin"), proposed);
    mcbo_in(at, &["rename", "twin", "other twin"]).with_code(0);
    assert_eq!(next("other twin"), proposed);
    for arguments in [["copy", "lab", "other twin"], ["rename", "lab", "other twin"], ["copy", "twin", "t"]] {
        let refused = mcbo_in(at, &arguments).with_code(2);
        assert!(refused.stderr.contains("hint:"), "{}", refused.stderr);
    }
    // Nobody is there to be asked.
    let refused = mcbo_in(at, &["delete", "other twin"]).with_code(2);
    assert!(refused.stderr.contains("say --yes"), "{}", refused.stderr);
    assert_eq!(next("other twin"), proposed);
    mcbo_in(at, &["delete", "other twin", "--yes"]).with_code(0);
    mcbo_in(at, &["ask", "other twin"]).with_code(2);
    mcbo_in(at, &["delete", "other twin", "--yes"]).with_code(2);
    assert_eq!(next("lab"), proposed);
}

#[test]
fn the_log_says_who_did_what() {
    let directory = lab();
    let at = directory.path();
    let call = |arguments: &[&str]| {
        let mut command = command(at);
        command.env("MCBO_WORKER", "eva").args(arguments);
        finish(command).with_code(0)
    };
    call(&["ask", "lab", "--worker", "adam"]);
    call(&["tell", "lab", "1", "x=0.25", "leaf=0.5,0.75"]);
    std::fs::write(at.join("past.csv"), "a,x,y\n0.5,1,2\n0.25,0.5,1\n").unwrap();
    call(&["add", "lab", "--csv", "past.csv"]);
    call(&["ask", "lab"]);
    call(&["tell", "lab", "4", "--failed", "the pump broke"]);
    let log = call(&["log", "lab", "--json"]).json();
    let of = |key: &str| -> Vec<Value> { log.iter().map(|event| event[key].clone()).collect() };
    assert_eq!(of("kind"), ["created", "asked", "told", "added", "asked", "failed"]);
    assert_eq!(of("who")[1..], ["adam", "eva", "eva", "eva", "eva"]);
    assert_eq!(of("event"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(log[2]["values"], serde_json::json!({ "x": 0.25, "leaf": [0.5, 0.75] }));
    assert_eq!(log[3]["trials"], serde_json::json!([2, 3]));
    assert_eq!(log[4]["intervention"], asked_intervention(at, 4));
    assert_eq!(log[5]["reason"], "the pump broke");
    let table = call(&["log", "lab"]).stdout;
    for words in [
        "told of trial 1: leaf=0.5,0.75 x=0.25",
        "added trials 2 to 3",
        "marked trial 4 as failed: the pump broke",
        "asked for trial 1, by design",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    mcbo_in(at, &["log", "nobody"]).with_code(2);
}

/// What a trial does, as `export` has it.
fn asked_intervention(at: &Path, trial: usize) -> Value {
    crate::study::export(at)["trials"][trial - 1]["intervention"].clone()
}

#[test]
fn values_are_put_right_and_the_log_keeps_both() {
    let directory = told(6);
    let at = directory.path();
    let before = crate::study::export(at)["trials"][2]["values"].clone();
    let done =
        mcbo_in(at, &["correct", "lab", "3", "y=-77.25", "leaf[1]=0.5", "--reason", "a slip"]).with_code(0);
    assert!(
        done.stderr.contains("y = -77.25, was") && done.stderr.contains("leaf[1] = 0.5, was"),
        "{}",
        done.stderr
    );
    let export = crate::study::export(at);
    assert_eq!(export["trials"][2]["values"]["y"], -77.25);
    assert_eq!(export["trials"][2]["values"]["leaf"], serde_json::json!([before["leaf"][0], 0.5]));
    assert!(export["trials"][2]["corrected"].is_string() && export["trials"][1]["corrected"].is_null());
    assert_eq!(object(at, &["status", "lab", "--json"])["corrected"], 1);
    assert!(mcbo_in(at, &["status", "lab"]).with_code(0).stdout.contains("6 (6 complete, 1 corrected)"));
    let log = mcbo_in(at, &["log", "lab", "--json"]).with_code(0).json();
    let last = log.last().unwrap();
    assert_eq!(
        (&last["kind"], &last["trial"], &last["reason"]),
        (&"corrected".into(), &3.into(), &"a slip".into())
    );
    let table = mcbo_in(at, &["log", "lab"]).with_code(0).stdout;
    assert!(table.contains("corrected trial 3: leaf[1]=0.5 y=-77.25 (a slip)"), "{table}");
    // Again it is nothing new; back it is as it was.
    let again = mcbo_in(at, &["correct", "lab", "3", "y=-77.25"]).with_code(0);
    assert!(again.stderr.contains("has these values already"), "{}", again.stderr);
    assert_eq!(mcbo_in(at, &["log", "lab", "--json"]).json().len(), log.len());
    let (y, leaf) = (format!("y={}", before["y"]), format!("leaf[1]={}", before["leaf"][1]));
    mcbo_in(at, &["correct", "lab", "3", &y, &leaf]).with_code(0);
    assert_eq!(crate::study::export(at)["trials"][2]["values"], before);
    for (words, message) in [
        (&["9", "y=1"][..], "there is no trial 9"),
        (&["3", "y=nan"], "y is NaN"),
        (&["3", "w=1"], "there is no node \"w\""),
        (&["3", "y"], "is not NAME=VALUE"),
        (&["3"], "required"),
    ] {
        let mut arguments = vec!["correct", "lab"];
        arguments.extend(words);
        let refused = mcbo_in(at, &arguments).with_code(2);
        assert!(refused.stderr.contains(message), "{words:?}: {}", refused.stderr);
    }
    asked(at, &[]);
    let refused = mcbo_in(at, &["correct", "lab", "7", "y=1"]).with_code(2);
    assert!(refused.stderr.contains("trial 7 is pending"), "{}", refused.stderr);
    mcbo_in(at, &["tell", "lab", "7", "x=0.5"]).with_code(0);
    let refused = mcbo_in(at, &["correct", "lab", "7", "y=1"]).with_code(2);
    assert!(refused.stderr.contains("y has no value to correct") && refused.stderr.contains("hint: tell it"));
}
