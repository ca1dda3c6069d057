//! The numbers that people read: the same wherever they stand, of what they say, and with a word where they cannot be right.

use serde_json::Value;

use crate::{examples, mcbo_in, with_file};

fn one(at: &std::path::Path, arguments: &[&str]) -> Value {
    mcbo_in(at, arguments).with_code(0).json().pop().expect("a line")
}

/// The digits of a number as pictures write it: four of them.
fn short(value: f64) -> String {
    let decimals = (3 - value.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}").replace('-', "−");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[test]
fn the_recommendation_is_the_same_wherever_it_is_shown() {
    // One to be made large, one to be made small.
    for (file, node) in [("nitrogen.toml", "yield"), ("clinic.toml", "psa")] {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        std::fs::copy(examples().join(file), at.join("p.toml")).unwrap();
        let run =
            one(at, &["run", "p.toml", "--study", "s", "--rounds", "4", "--seed", "3", "--json", "--quiet"]);
        let best = one(at, &["best", "s", "--json"]);
        let status = one(at, &["status", "s", "--json"]);
        let shown = &best["recommendation"];
        assert!(shown["reward"]["mean"].is_f64() && shown["predicted"][node]["lower"].is_f64(), "{shown}");
        for key in ["recommendation", "best", "nodes"] {
            assert_eq!(run[key], best[key], "run and best, {key}");
            assert_eq!(status[key], best[key], "status and best, {key}");
        }
        assert_eq!(status["certificate"], best["certificate"]);

        // The same digits in words.
        let text = mcbo_in(at, &["best", "s"]).with_code(0).stdout;
        let row = text.lines().find(|line| line.starts_with("recommended ")).expect("a row");
        let [_, _, mean, low, "to", high] = row.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let text = mcbo_in(at, &["status", "s"]).with_code(0).stdout;
        for line in [
            format!("recommended   {node} = {mean} expected: "),
            format!("its bounds    {low} to {high} (90 %, of the expected value)\n"),
        ] {
            assert!(text.contains(&line), "{line}\n{text}");
        }

        // And in the picture, in the user's own sign.
        mcbo_in(at, &["plot", "s", "--out", "pictures"]).with_code(0);
        let svg = std::fs::read_to_string(at.join("pictures/history.svg")).unwrap();
        let reward =
            ["mean", "lower", "upper"].map(|key| short(shown["predicted"][node][key].as_f64().unwrap()));
        for (number, sign) in reward.iter().zip(["", "(", ""]) {
            assert!(svg.contains(&format!("{sign}{number}")), "{number}\n{svg}");
        }

        // The same trials in another study, all at once.
        let table = mcbo_in(at, &["export", "s"]).with_code(0).stdout;
        std::fs::write(at.join("s.csv"), table).unwrap();
        mcbo_in(at, &["new", "again", "--problem", "p.toml", "--seed", "3"]).with_code(0);
        mcbo_in(at, &["add", "again", "--csv", "s.csv"]).with_code(0);
        let again = one(at, &["best", "again", "--json"]);
        for key in ["recommendation", "certificate", "nodes"] {
            assert_eq!(again[key], best[key], "told and added, {key}");
        }
    }
}

const LAB: &str = r#"
name = "lab"
maximize = "y"
[nodes.x]
actions = ["a"]
[nodes.double]
parents = ["x"]
formula = "2 * x"
noise = { gaussian = 0.1 }
[nodes.y]
parents = ["double"]
[actions.a]
range = [0, 1]
"#;

/// A table of so many rows; `double` is `times` x, and in row `slip` the decimal point of y is lost.
fn table(rows: usize, times: f64, slip: Option<usize>) -> String {
    let mut text = String::from("a,x,double,y\n");
    for row in 0..rows {
        let a = (row * 7 % rows) as f64 / rows as f64;
        // A scatter that is none by chance.
        let wobble = |k: f64| 0.05 * (k * (row as f64 + 0.5)).sin();
        let x = 3.0 + a + wobble(12.9);
        let double = times * x + wobble(78.2);
        let y = 5.0 + (3.0 * a).sin() + wobble(37.7);
        let y = if slip == Some(row + 1) { 10.0 * y } else { y };
        text.push_str(&format!("{a},{x},{double},{y}\n"));
    }
    text
}

#[test]
fn what_cannot_be_right_is_said() {
    for (table, words) in [
        (table(20, 2.0, None), None),
        (table(20, 2.0, Some(12)), Some("in trial 12 is far outside all its other values")),
        (table(20, 2.5, None), Some("double: its 20 values contradict its formula: they miss it by")),
    ] {
        let directory = with_file("p.toml", LAB);
        let at = directory.path();
        std::fs::write(at.join("t.csv"), table).unwrap();
        mcbo_in(at, &["new", "lab", "--problem", "p.toml"]).with_code(0);
        mcbo_in(at, &["add", "lab", "--csv", "t.csv"]).with_code(0);
        for call in [["best", "lab"], ["status", "lab"], ["ask", "lab"], ["ask", "lab"]] {
            let done = mcbo_in(at, &call).with_code(0);
            match words {
                Some(words) => {
                    assert!(done.stderr.contains(words) && done.stderr.contains("hint: "), "{}", done.stderr);
                }
                None => assert!(!done.stderr.contains("warning"), "{call:?}: {}", done.stderr),
            }
            let json = one(at, &[&call[..], &["--json"]].concat());
            let warnings =
                if call[0] == "ask" { &json["warnings"] } else { &json["recommendation"]["warnings"] };
            let warnings = warnings.as_array().expect("a list");
            assert_eq!(warnings.len(), usize::from(words.is_some()), "{warnings:?}");
        }
    }
}

#[test]
fn bounds_say_what_they_are_of() {
    let directory = with_file("p.toml", LAB);
    let at = directory.path();
    std::fs::write(at.join("t.csv"), table(8, 2.0, None)).unwrap();
    mcbo_in(at, &["new", "lab", "--problem", "p.toml"]).with_code(0);
    mcbo_in(at, &["add", "lab", "--csv", "t.csv"]).with_code(0);
    for call in ["ask", "best"] {
        let text = mcbo_in(at, &[call, "lab"]).with_code(0).stdout;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("expected its 90 % bounds"), "{text}");
        assert!(
            text.contains("within its bounds with a probability of 90 %; a single outcome scatters"),
            "{text}"
        );
    }
}

#[test]
fn a_share_of_two_rows_is_none() {
    let directory = with_file("p.toml", LAB);
    let at = directory.path();
    mcbo_in(at, &["new", "lab", "--problem", "p.toml"]).with_code(0);
    std::fs::write(at.join("t.csv"), table(2, 2.0, None)).unwrap();
    mcbo_in(at, &["add", "lab", "--csv", "t.csv"]).with_code(0);
    let best = one(at, &["best", "lab", "--json"]);
    let explained = |best: &Value| -> Vec<Value> {
        best["nodes"].as_array().unwrap().iter().map(|node| node["explained"].clone()).collect()
    };
    assert_eq!(explained(&best), [Value::Null, Value::Null]);
    assert!(best["nodes"].as_array().unwrap().iter().all(|node| node["form"].is_string()), "{best}");
    let text = mcbo_in(at, &["best", "lab"]).with_code(0).stdout;
    let row = text.lines().find(|line| line.starts_with("x ")).expect("a row");
    assert_eq!(row.split_whitespace().nth(2), Some("-"), "{row}");
    std::fs::write(at.join("t.csv"), table(12, 2.0, None)).unwrap();
    mcbo_in(at, &["add", "lab", "--csv", "t.csv", "--only-new"]).with_code(0);
    let shares = explained(&one(at, &["best", "lab", "--json"]));
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(&share.as_f64().unwrap())), "{shares:?}");
}
