//! What is learned from a study: `predict`, `effects`, `doctor`, `report`, and problems from drawn graphs.

use std::path::Path;

use serde_json::Value;

use crate::study::{asked, lab, tell};
use crate::{mcbo_in, with_file};

/// A study with some trials.
pub fn told(trials: usize) -> tempfile::TempDir {
    let directory = lab();
    for _ in 0..trials {
        let trial = asked(directory.path(), &[]).remove(0);
        tell(directory.path(), &trial).with_code(0);
    }
    directory
}

/// One JSON object.
pub fn object(at: &Path, arguments: &[&str]) -> Value {
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

/// Of more than 300 trials a model of 200 looks for what does not fit, and every command that looks says so.
#[test]
fn long_studies_are_looked_at_by_a_share() {
    let problem = "maximize = \"y\"\n[nodes.y]\nactions = [\"a\"]\n[actions.a]\nrange = [0, 1]\n";
    let directory = with_file("p.toml", problem);
    let at = directory.path();
    mcbo_in(at, &["new", "long", "--problem", "p.toml"]).with_code(0);
    let add = |rows: &[(f64, f64)]| {
        let table: String = rows.iter().map(|(a, y)| format!("{a},{y}\n")).collect();
        std::fs::write(at.join("rows.csv"), format!("a,y\n{table}")).unwrap();
        mcbo_in(at, &["add", "long", "--csv", "rows.csv"]).with_code(0).stderr
    };
    let row = |k: u32| {
        let a = f64::from(k * 7919 % 10_007) / 10_007.0;
        (a, 1.0 - (a - 0.3).powi(2) + 0.01 * f64::from(k % 17))
    };
    let said = add(&(0..340).map(row).collect::<Vec<_>>());
    assert!(!said.contains("warning"), "nothing is odd: {said}");
    assert!(!mcbo_in(at, &["status", "long"]).with_code(0).stdout.contains("does not fit"));
    let said = add(&[(0.5, 40.0)]);
    assert!(said.contains("by a model of 200 of 341 trials") && said.contains("trial 341"), "{said}");
    let status = mcbo_in(at, &["status", "long"]).with_code(0).stdout;
    assert!(status.contains("does not fit, by a model of 200 of 341 trials"), "{status}");
    assert!(status.contains("trial 341"), "{status}");
    let told = object(at, &["status", "long", "--json"]);
    assert!(told["suspicions"].to_string().contains("341"), "{told}");
    // What is told is looked at in the same way.
    mcbo_in(at, &["ask", "long"]).with_code(0);
    let said = mcbo_in(at, &["tell", "long", "342", "y=-35"]).with_code(0).stderr;
    assert!(said.contains("by a model of 200 of 342 trials") && said.contains("trial 342"), "{said}");
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
