//! What keeps the records of a study right: `copy`, `rename`, `delete`, `log`, `correct`, `void`.

use std::path::Path;

use serde_json::Value;

use crate::insight::{object, told};
use crate::study::{asked, lab};
use crate::{command, finish, mcbo_in};

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

#[test]
fn trials_are_taken_out_and_put_back() {
    let directory = told(7);
    let at = directory.path();
    let best = object(at, &["best", "lab", "--json"]);
    let done = mcbo_in(at, &["void", "lab", "2", "5", "--reason", "the wrong jar"]).with_code(0);
    assert!(
        done.stdout.is_empty() && done.stderr.contains("trials 2 and 5 of lab: taken out"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("mcbo void lab 2 5 --undo"), "{}", done.stderr);
    let again = mcbo_in(at, &["void", "lab", "5"]).with_code(0);
    assert!(again.stderr.contains("trial 5 of lab: out already"), "{}", again.stderr);
    let export = crate::study::export(at);
    let trial = &export["trials"][4];
    assert_eq!((&trial["state"], &trial["void_reason"]), (&"voided".into(), &"the wrong jar".into()));
    assert!(trial["voided"].is_string() && trial["values"]["y"].is_number(), "{trial}");
    let status = object(at, &["status", "lab", "--json"]);
    assert_eq!(
        (&status["complete"], &status["voided"], &status["trials"]),
        (&5.into(), &2.into(), &7.into())
    );
    let text = mcbo_in(at, &["status", "lab"]).with_code(0).stdout;
    assert!(text.contains("7 (5 complete, 2 taken out)"), "{text}");
    // Another study gets what counts.
    let csv = mcbo_in(at, &["export", "lab"]).with_code(0).stdout;
    assert_eq!(csv.lines().filter(|line| line.contains(",voided,")).count(), 2, "{csv}");
    std::fs::write(at.join("all.csv"), csv).unwrap();
    mcbo_in(at, &["new", "twin", "--problem", "p.toml"]).with_code(0);
    let added = mcbo_in(at, &["add", "twin", "--csv", "all.csv"]).with_code(0);
    assert!(added.stderr.contains("5 rows added"), "{}", added.stderr);
    let [one, other] =
        ["lab", "twin"].map(|study| object(at, &["best", study, "--json"])["recommendation"].clone());
    assert_eq!(one, other);
    // The log has it all, and so does a study that is put back.
    let table = mcbo_in(at, &["log", "lab"]).with_code(0).stdout;
    assert!(table.contains("took out trials 2 and 5 (the wrong jar)"), "{table}");
    mcbo_in(at, &["void", "lab", "5", "2", "--undo"]).with_code(0);
    let log = mcbo_in(at, &["log", "lab", "--json"]).with_code(0).json();
    assert_eq!(
        (&log.last().unwrap()["kind"], &log.last().unwrap()["trials"]),
        (&"restored".into(), &serde_json::json!([5, 2]))
    );
    assert_eq!(object(at, &["best", "lab", "--json"]), best);
    for (words, message) in [
        (&["9"][..], "there is no trial 9"),
        (&["1", "0"], "there is no trial 0"),
        (&["x"], "invalid"),
        (&[], "required"),
    ] {
        let mut arguments = vec!["void", "lab"];
        arguments.extend(words);
        let refused = mcbo_in(at, &arguments).with_code(2);
        assert!(refused.stderr.contains(message), "{words:?}: {}", refused.stderr);
    }
    assert_eq!(crate::study::export(at)["trials"][0]["state"], "complete", "all of them or none");
    // One that is under way is nobody's then, and what comes of it is kept.
    assert_eq!(asked(at, &[]).remove(0)["trial"], 8);
    mcbo_in(at, &["void", "lab", "8"]).with_code(0);
    assert_eq!(asked(at, &[]).remove(0)["trial"], 9);
    let told = mcbo_in(at, &["tell", "lab", "8", "y=0.5"]).with_code(0);
    assert!(told.stderr.contains("it is taken out, and counts when it is put back"), "{}", told.stderr);
}

#[test]
fn what_was_really_done_stands_beside_what_was_asked() {
    let directory = told(2);
    let at = directory.path();
    let trial = asked(at, &[]).remove(0);
    let suggested = trial["intervention"]["actions"]["a"].as_f64().unwrap();
    let really = if suggested > 0.5 { 0.25 } else { 0.75 };
    let told = mcbo_in(at, &["tell", "lab", "3", &format!("a={really}"), "x=0.5", "y=1.5"]).with_code(0);
    assert!(told.stderr.contains(&format!("a = {really} instead of")), "{}", told.stderr);
    let export = crate::study::export(at);
    assert_eq!(export["trials"][2]["intervention"], trial["intervention"]);
    assert_eq!(export["trials"][2]["done"]["actions"]["a"], really);
    assert!(export["trials"][1]["done"].is_null());
    let csv = mcbo_in(at, &["export", "lab"]).with_code(0).stdout;
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let third: Vec<&str> = csv.lines().nth(3).unwrap().split(',').collect();
    let cell =
        |name: &str| third[header.iter().position(|column| *column == name).unwrap()].parse::<f64>().unwrap();
    assert_eq!((cell("a"), cell("#suggested(a)")), (really, suggested));
    assert_eq!(object(at, &["status", "lab", "--json"])["done_otherwise"], serde_json::json!([3]));
    let refused = mcbo_in(at, &["tell", "lab", "3", "a=0.5"]).with_code(2);
    assert!(
        refused.stderr.contains("cannot become 0.5") && refused.stderr.contains("until it is corrected"),
        "{}",
        refused.stderr
    );
    let refused = mcbo_in(at, &["tell", "lab", "3", "a=7"]).with_code(2);
    assert!(refused.stderr.contains("a is"), "{}", refused.stderr);
    let right = mcbo_in(at, &["correct", "lab", "3", "a=0.5"]).with_code(0);
    assert!(right.stderr.contains(&format!("a = 0.5, was {really}")), "{}", right.stderr);
    // From a file as well, and of a row that was added.
    std::fs::write(at.join("r.json"), "{\"a\": 0.125, \"x\": 0.5, \"y\": 2.5}").unwrap();
    asked(at, &[]);
    mcbo_in(at, &["tell", "lab", "4", "--json", "r.json"]).with_code(0);
    assert_eq!(crate::study::export(at)["trials"][3]["done"]["actions"]["a"], 0.125);
    std::fs::write(at.join("past.csv"), "a,x,y\n0.5,1,2\n").unwrap();
    mcbo_in(at, &["add", "lab", "--csv", "past.csv"]).with_code(0);
    mcbo_in(at, &["correct", "lab", "5", "a=0.25"]).with_code(0);
    assert_eq!(crate::study::export(at)["trials"][4]["done"]["actions"]["a"], 0.25);
}

#[test]
fn a_slip_is_said_when_it_is_told_and_listed_afterwards() {
    let directory = told(14);
    let at = directory.path();
    let mut trial = asked(at, &[]).remove(0);
    let number = trial["trial"].to_string();
    // x is twice a: ten more is a slip.
    let a = trial["intervention"]["actions"]["a"].take().as_f64().unwrap();
    let told = mcbo_in(at, &["tell", "lab", &number, &format!("x={}", 2.0 * a + 10.0)]).with_code(0);
    assert!(
        told.stderr.contains("warning") && told.stderr.contains(&format!("trial {number}")),
        "{}",
        told.stderr
    );
    let status = object(at, &["status", "lab", "--json"]);
    let listed = status["suspicions"].as_array().unwrap();
    assert!(listed.iter().any(|odd| odd["trials"] == serde_json::json!([15])), "{status}");
    mcbo_in(at, &["correct", "lab", &number, &format!("x={}", 2.0 * a)]).with_code(0);
    let status = object(at, &["status", "lab", "--json"]);
    let listed = status["suspicions"].as_array().unwrap();
    assert!(!listed.iter().any(|odd| odd["trials"] == serde_json::json!([15])), "{status}");
}
