//! The book of a study: `predict` and what keeps its records.

use std::path::Path;

use serde_json::Value;

use crate::study::{asked, lab, tell};
use crate::{command, finish, mcbo_in, with_file};

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
fn effects_are_ranked_and_the_same_on_any_number_of_threads() {
    let directory = told(12);
    let at = directory.path();
    let effects = object(at, &["effects", "lab", "--json"]);
    let of = |list: &str, key: &str| -> Vec<f64> {
        effects[list].as_array().unwrap().iter().map(|one| one[key].as_f64().unwrap()).collect()
    };
    for list in ["actions", "arrows"] {
        let found = of(list, "effect");
        assert!(found.is_sorted_by(|a, b| a >= b), "{list}: {found:?}");
        for (lower, upper) in of(list, "lower").into_iter().zip(of(list, "upper")) {
            assert!(lower <= upper, "{list}: {lower} {upper}");
        }
    }
    // y falls by up to 36 along z, and by 2 along what a does otherwise.
    assert_eq!(effects["actions"][0]["name"], "do(z)");
    assert_eq!((&effects["arrows"][0]["from"], &effects["arrows"][0]["to"]), (&"z".into(), &"y".into()));
    assert_eq!(object(at, &["effects", "lab", "--json", "--threads", "1"]), effects);
    let table = mcbo_in(at, &["effects", "lab"]).with_code(0).stdout;
    assert!(table.contains("z → y") && table.contains("do(z)"), "{table}");
    let empty = lab();
    let refused = mcbo_in(empty.path(), &["effects", "lab"]).with_code(2);
    assert!(refused.stderr.contains("no trial has been measured yet"), "{}", refused.stderr);
}

#[test]
fn doctor_looks_at_a_study() {
    let directory = told(6);
    let at = directory.path();
    let found = object(at, &["doctor", "lab", "--json"]);
    assert_eq!((&found["rows"], &found["doubts"]), (&6.into(), &serde_json::json!([])));
    let text = mcbo_in(at, &["doctor", "lab"]).with_code(0).stdout;
    assert!(text.contains("say nothing against its graph"), "{text}");
    mcbo_in(at, &["doctor", "nobody"]).with_code(2);
    assert!(mcbo_in(at, &["doctor"]).with_code(0).stdout.contains("storage"));
}

#[test]
fn why_contradicts_nothing() {
    let directory = told(8);
    let at = directory.path();
    let all = asked(at, &["--count", "3", "--why"]);
    for one in &all {
        let text: Vec<String> = one["why"]["text"].as_array().unwrap().iter().map(Value::to_string).collect();
        assert!(text.iter().any(|sentence| sentence.contains("Teaches")), "{text:?}");
        assert!(
            one["why"]["best"]["trial"].is_number()
                && one["why"]["nearest"]["apart"].as_f64().unwrap() >= 0.0
        );
    }
    let text = mcbo_in(at, &["ask", "lab", "--count", "3", "--why"]).with_code(0).stdout;
    assert!(!text.contains("no other") && !text.contains("promises more"), "{text}");
    assert_eq!(text.matches("Best known:").count(), 3, "{text}");
    // Asked plainly it is the same without them.
    assert!(asked(at, &["--count", "3"]).iter().all(|one| one["why"].is_null()));
}

#[test]
fn the_report_is_one_page() {
    let directory = told(9);
    let at = directory.path();
    asked(at, &[]);
    mcbo_in(at, &["void", "lab", "2", "--reason", "a <b>slip</b>"]).with_code(0);
    let done = mcbo_in(at, &["report", "lab", "--out", "page.html"]).with_code(0);
    assert!(
        done.stdout.is_empty() && done.stderr.contains("page.html: one page about lab"),
        "{}",
        done.stderr
    );
    let page = std::fs::read_to_string(at.join("page.html")).unwrap();
    for words in [
        "What to do next",
        "When to stop",
        "What matters",
        "What was learned",
        "How it went",
        "All trials",
        "<svg",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // Self-contained, and what users wrote is text.
    assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("<link"));
    assert!(page.contains("a &lt;b&gt;slip&lt;/b&gt;") && !page.contains("<b>slip"));
    let printed = mcbo_in(at, &["report", "lab", "--out", "-"]).with_code(0).stdout;
    assert_eq!(printed, page);
    let empty = lab();
    mcbo_in(empty.path(), &["report", "lab", "--out", "page.html"]).with_code(0);
}

/// A page about many trials has a model of a share of them, and grows by no more than their rows: 10,000 fit in 5 MB.
#[test]
fn the_report_of_a_long_study_stays_small() {
    let problem = "maximize = \"y\"\n[nodes.y]\nactions = [\"a\"]\n[actions.a]\nrange = [0, 1]\n";
    let directory = with_file("p.toml", problem);
    let at = directory.path();
    mcbo_in(at, &["new", "long", "--problem", "p.toml"]).with_code(0);
    let page = |first: u32, last: u32| {
        let mut table = String::from("a,y\n");
        for k in first..last {
            let a = f64::from(k * 7919 % 10_007) / 10_007.0;
            let y = 1.0 - (a - 0.3).powi(2) + 0.01 * f64::from(k % 17);
            table.push_str(&format!("{a},{y}\n"));
        }
        std::fs::write(at.join("rows.csv"), table).unwrap();
        mcbo_in(at, &["add", "long", "--csv", "rows.csv"]).with_code(0);
        mcbo_in(at, &["report", "long", "--out", "-"]).with_code(0).stdout
    };
    let (some, more) = (page(0, 800), page(800, 2800));
    assert!(some.contains("fitted to 200 of the 800 measured trials"), "it says what was used");
    assert!(more.contains("fitted to 200 of the 2800") && more.contains("What was learned"));
    let grown = (more.len() - some.len()) / 2000;
    assert!(some.len() < 400_000 && grown < 300, "{} and {grown} a trial", some.len());
}

#[test]
fn a_drawn_graph_begins_a_problem() {
    let directory = lab();
    let at = directory.path();
    std::fs::write(at.join("g.dot"), "digraph { sugar -> mash -> taste; hops -> taste }").unwrap();
    let done = mcbo_in(at, &["init", "drawn.toml", "--from", "g.dot"]).with_code(0);
    assert!(done.stderr.contains("Wrote drawn.toml"), "{}", done.stderr);
    let checked = object(at, &["check", "drawn.toml", "--json"]);
    assert_eq!(checked["nodes"].as_array().unwrap().len(), 4);
    mcbo_in(at, &["init", "drawn.toml", "--from", "g.dot"]).with_code(2);
    std::fs::write(at.join("circle.dot"), "digraph { a -> b -> a }").unwrap();
    let refused = mcbo_in(at, &["init", "c.toml", "--from", "circle.dot"]).with_code(2);
    assert!(refused.stderr.contains("circle.dot") && refused.stderr.contains("hint:"), "{}", refused.stderr);
    assert!(!at.join("c.toml").exists());
    mcbo_in(at, &["init", "d.toml", "--from", "nothing.dot"]).with_code(2);
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
