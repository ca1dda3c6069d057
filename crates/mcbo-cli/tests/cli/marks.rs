//! Units, contexts, limits and costs from the terminal.

use serde_json::Value;

use crate::{mcbo_in, with_file};

const PROBLEM: &str = r#"
name = "mill"
maximize = "y"
[nodes.quality]
context = true
[nodes.dust]
actions = ["dose"]
unit = "mg"
limit = { below = 0.6, probability = 0.9 }
noise = { gaussian = 0.05 }
[nodes.y]
parents = ["quality"]
actions = ["dose"]
noise = { gaussian = 0.05 }
[actions.dose]
range = [0, 1]
unit = "g"
cost = { fixed = 2, per_unit = 1 }
[simulator]
quality = "uniform(0, 1)"
dust = "dose + normal(0, 0.05)"
y = "dose * (1 + quality) + normal(0, 0.05)"
"#;

#[test]
fn check_shows_them() {
    let directory = with_file("p.toml", PROBLEM);
    let done = mcbo_in(directory.path(), &["check", "p.toml"]).with_code(0);
    for text in [
        "dust (mg)",
        "dose (g)",
        "context, known before deciding",
        "Limit: a single outcome of dust is to be below 0.6 mg with a probability of 0.9.",
        "2 + 1 per unit",
    ] {
        assert!(done.stdout.contains(text), "{text}: {}", done.stdout);
    }
    assert!(!done.stderr.contains("warning"), "a limit makes its node matter: {}", done.stderr);
    let json = mcbo_in(directory.path(), &["check", "p.toml", "--json"]).with_code(0).json().remove(0);
    assert_eq!(json["nodes"][0]["context"], true);
    assert_eq!(json["nodes"][1]["unit"], "mg");
    assert_eq!(json["nodes"][1]["limit"]["below"], 0.6);
    assert_eq!(json["actions"][0]["cost"]["per_unit"], 1.0);
}

#[test]
fn limits_may_have_two_sides() {
    let window = PROBLEM.replace("{ below = 0.6, probability = 0.9 }", "{ above = 0.2, below = 0.6 }");
    let directory = with_file("p.toml", &window);
    let done = mcbo_in(directory.path(), &["check", "p.toml"]).with_code(0).stdout;
    let text = "Limit: a single outcome of dust is to be between 0.2 and 0.6 mg with a probability of 0.9.";
    assert!(done.contains(text), "{done}");
    let json = mcbo_in(directory.path(), &["check", "p.toml", "--json"]).with_code(0).json().remove(0);
    let limit = &json["nodes"][1]["limit"];
    assert_eq!(
        (&limit["above"], &limit["below"], &limit["probability"]),
        (&0.2.into(), &0.6.into(), &0.9.into())
    );
    let run =
        mcbo_in(directory.path(), &["run", "p.toml", "--rounds", "6", "--seed", "1"]).with_code(0).stdout;
    assert!(run.contains("dust between 0.2 and 0.6 mg"), "{run}");
}

#[test]
fn given_goes_in_and_comes_out() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    mcbo_in(at, &["new", "mill", "--problem", "p.toml", "--initial", "3"]).with_code(0);
    let ask = |given: &str| mcbo_in(at, &["ask", "mill", "--given", given, "--json"]);
    for number in 1..=5 {
        let quality = 0.15 * f64::from(number);
        let trial = ask(&format!("quality={quality}")).with_code(0).json().remove(0);
        assert_eq!(
            (trial["trial"].as_i64(), trial["given"]["quality"].as_f64()),
            (Some(number.into()), Some(quality))
        );
        let dose = trial["intervention"]["actions"]["dose"].as_f64().unwrap();
        assert_eq!(trial["cost"].as_f64(), Some(if dose == 0.0 { 0.0 } else { 2.0 + dose }));
        if number > 3 {
            assert!(trial["limits"]["dust"]["probability"].as_f64().is_some(), "{trial}");
        }
        let number = number.to_string();
        let wrong = mcbo_in(at, &["tell", "mill", &number, "quality=3", "y=1"]).with_code(2);
        assert!(
            wrong.stderr.contains("when the trial was asked for but is reported as 3"),
            "{}",
            wrong.stderr
        );
        let (y, dust) = (dose * (1.0 + quality), dose + 0.01);
        mcbo_in(at, &["tell", "mill", &number, &format!("y={y}"), &format!("dust={dust}")]).with_code(0);
    }
    let shown = mcbo_in(at, &["ask", "mill", "--given", "quality=0.8"]).with_code(0);
    for text in [
        "given  quality = 0.8",
        "cost  ",
        "dust below 0.6 mg",
        "dust (mg)",
        "Measured? mcbo tell mill 6 dust=… y=…",
    ] {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    let best =
        mcbo_in(at, &["best", "mill", "--given", "quality=0.8", "--json"]).with_code(0).json().remove(0);
    let advice = &best["recommendation"];
    assert_eq!(advice["given"]["quality"], 0.8);
    assert!(advice["limits"]["dust"]["probability"].as_f64().unwrap() >= 0.9, "{advice}");
    assert!(advice["cost"].as_f64().is_some());
    let unsaid = mcbo_in(at, &["best", "mill", "--json"]).with_code(0);
    assert!(unsaid.stderr.contains("quality is not given: what counts is the average"), "{}", unsaid.stderr);
    let predicted =
        mcbo_in(at, &["predict", "mill", "dose=0.5", "--given", "quality=1", "--json"]).with_code(0);
    let predicted = predicted.json().remove(0);
    assert_eq!(
        (predicted["given"]["quality"].as_f64(), predicted["predicted"]["quality"]["mean"].as_f64()),
        (Some(1.0), Some(1.0))
    );
    // What matters, and the page, where something is known: y = dose (1 + quality) moves by 1.8 with the dose there, by 1.1 elsewhere.
    // Five trials do not show it; the corners do.
    let corners =
        "dose,quality,dust,y\n0,0,0.01,0\n0,1,0,0.01\n1,0,1,1\n1,1,1.01,2\n0.5,0,0.51,0.5\n0.5,1,0.5,1\n";
    std::fs::write(at.join("corners.csv"), corners).unwrap();
    mcbo_in(at, &["add", "mill", "corners.csv"]).with_code(0);
    let moved = |quality: &str| {
        let given = format!("quality={quality}");
        let effects =
            mcbo_in(at, &["effects", "mill", "--given", &given, "--json"]).with_code(0).json().remove(0);
        assert_eq!(effects["given"]["quality"].as_f64(), quality.parse().ok());
        effects["actions"][0]["effect"].as_f64().unwrap()
    };
    assert!(moved("0.8") > moved("0.1"));
    let page = mcbo_in(at, &["report", "mill", "--out", "-", "--given", "quality=0.8"]).with_code(0).stdout;
    assert!(page.contains("Known before deciding: quality = 0.8"), "{page}");
    let status = mcbo_in(at, &["status", "mill", "--json"]).with_code(0).json().remove(0);
    assert!(status["spent"].as_f64().unwrap() > 0.0);
    let export = mcbo_in(at, &["export", "mill"]).with_code(0);
    assert!(export.stdout.lines().next().unwrap().contains(",cost"), "{}", export.stdout);
    // What was exported goes into another study.
    std::fs::write(at.join("rows.csv"), &export.stdout).unwrap();
    mcbo_in(at, &["new", "other", "--problem", "p.toml"]).with_code(0);
    mcbo_in(at, &["add", "other", "--csv", "rows.csv"]).with_code(0);
    for (given, message) in [
        ("dose=1", "\"dose\" is no context; hint: the contexts are quality"),
        ("quality", "\"quality\" is not NAME=VALUE"),
        ("quality=x", "\"x\" is not a number"),
        (
            "quality=1,2",
            "quality has 2 values where the problem has 1; hint: numbers have a decimal point, as in quality=1.2",
        ),
    ] {
        let refused = ask(given).with_code(2);
        assert!(refused.stderr.replace("\nhint: ", "; hint: ").contains(message), "{}", refused.stderr);
    }
}

#[test]
fn runs_draw_contexts_first_and_keep_to_a_budget() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    let run = |budget: &str| {
        mcbo_in(at, &["run", "p.toml", "--rounds", "40", "--budget", budget, "--initial", "3", "--json"])
    };
    let lines = run("20").with_code(0).json();
    let (last, trials) = lines.split_last().unwrap();
    assert_eq!(last["end"], "budget");
    let cost: f64 = trials.iter().map(|trial| trial["cost"].as_f64().unwrap()).sum();
    assert!(cost <= 20.0 && cost > 14.0, "{cost}");
    assert!((last["spent"].as_f64().unwrap() - cost).abs() < 1e-9);
    for trial in trials {
        let Value::Number(given) = &trial["given"]["quality"] else { panic!("{trial}") };
        assert_eq!(&trial["values"]["quality"].as_f64(), &given.as_f64());
    }
    let refused = mcbo_in(at, &["run", "p.toml", "--budget=-3"]).with_code(2);
    assert!(refused.stderr.contains("--budget"), "{}", refused.stderr);
    std::fs::write(at.join("free.toml"), PROBLEM.replace("cost = { fixed = 2, per_unit = 1 }\n", ""))
        .unwrap();
    let refused = mcbo_in(at, &["run", "free.toml", "--budget", "3"]).with_code(2);
    assert!(refused.stderr.contains("nothing in the problem file has a cost"), "{}", refused.stderr);
}

/// What can be known before the first trial is said before it.
#[test]
fn strategies_that_keep_no_limits_are_refused_at_once() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    for strategy in ["ucb", "ei"] {
        for command in [&["new", "s", "p.toml"][..], &["run", "p.toml", "--rounds", "1"]] {
            let done = mcbo_in(at, &[command, &["--strategy", strategy]].concat()).with_code(2);
            let said = "it cannot keep limits; hint: `mcbo` and `eifn` can";
            assert!(
                done.stderr.contains(&said.replace("; hint: ", "\nhint: ")) || done.stderr.contains(said),
                "{}",
                done.stderr
            );
        }
    }
    assert!(!mcbo_in(at, &["studies"]).with_code(0).stdout.contains("ucb"));
}

/// Names are told as names: a number is the name that reads like it, never its place.
#[test]
fn numbers_in_json_are_no_places_of_names() {
    let problem = "maximize = 'y'\n[nodes.m]\nchoices = ['1', '2', '3']\n[nodes.y]\nparents = ['m']\nactions = ['c']\n\
                   [actions.c]\nchoices = ['low', 'high']\n";
    let directory = with_file("p.toml", problem);
    let at = directory.path();
    std::fs::write(at.join("told.json"), r#"{"m": 1, "y": 2.5}"#).expect("a file");
    std::fs::write(at.join("wrong.json"), r#"{"m": "1", "c": 1, "y": 2.5}"#).expect("a file");
    mcbo_in(at, &["new", "s", "p.toml"]).with_code(0);
    mcbo_in(at, &["ask", "s"]).with_code(0);
    let wrong = mcbo_in(at, &["tell", "s", "1", "--json", "wrong.json"]).with_code(2);
    assert!(wrong.stderr.contains("c is \"1\", which is not one of its choices"), "{}", wrong.stderr);
    mcbo_in(at, &["tell", "s", "1", "--json", "told.json"]).with_code(0);
    let trials = mcbo_in(at, &["export", "s", "--format", "json"]).with_code(0).json().remove(0);
    assert_eq!(trials["trials"][0]["values"]["m"], "1", "{trials}");
    let again = mcbo_in(at, &["tell", "s", "1", "m=2"]).with_code(2);
    assert!(again.stderr.contains("m is 1 already and cannot become 2"), "{}", again.stderr);
    // Nothing was done yet in another: its problem may become any.
    mcbo_in(at, &["new", "t", "p.toml"]).with_code(0);
    std::fs::write(at.join("q.toml"), problem.replace("['low', 'high']", "['high', 'higher']"))
        .expect("a file");
    mcbo_in(at, &["update", "t", "q.toml"]).with_code(0);
    mcbo_in(at, &["update", "s", "q.toml"]).with_code(2);
}

/// What was done where nothing would be proposed is learned from, and pointed out.
#[test]
fn what_would_not_be_proposed_is_pointed_out_when_it_is_told() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    mcbo_in(at, &["new", "s", "p.toml"]).with_code(0);
    mcbo_in(at, &["ask", "s", "--given", "quality=0.5"]).with_code(0);
    let told = mcbo_in(at, &["tell", "s", "1", "dose=3", "y=1"]).with_code(0);
    assert!(
        told.stderr.contains("warning: dose") && told.stderr.contains("slip of the pen"),
        "{}",
        told.stderr
    );
    assert!(!told.stderr.contains("quality"), "what is given is not missing: {}", told.stderr);
}

#[test]
fn rows_outside_the_range_are_added_with_a_warning() {
    let directory = with_file("p.toml", PROBLEM);
    let at = directory.path();
    mcbo_in(at, &["new", "mill", "--problem", "p.toml"]).with_code(0);
    std::fs::write(at.join("past.csv"), "dose,quality,dust,y\n0.5,0.5,0.5,0.8\n3,0.5,3,4\n0.2,0.4,0.2,0.3\n")
        .unwrap();
    let added = mcbo_in(at, &["add", "mill", "--csv", "past.csv"]).with_code(0);
    assert!(added.stderr.contains("dose was 3 g in 1 trial, outside its range 0 to 1 g"), "{}", added.stderr);
    let best = mcbo_in(at, &["best", "mill", "--given", "quality=0.5", "--json"]).with_code(0);
    assert!(best.stderr.contains("outside its range 0 to 1"), "{}", best.stderr);
    let dose = best.json()[0]["recommendation"]["intervention"]["actions"]["dose"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&dose));
    std::fs::write(at.join("narrow.toml"), PROBLEM.replace("range = [0, 1]", "range = [0, 0.3]")).unwrap();
    mcbo_in(at, &["update", "mill", "--problem", "narrow.toml"]).with_code(0);
    let asked = mcbo_in(at, &["ask", "mill", "--given", "quality=0.5", "--json"]).with_code(0).json();
    assert!(asked[0]["intervention"]["actions"]["dose"].as_f64().unwrap() <= 0.3);
}

#[test]
fn every_view_has_contexts_limits_costs_and_units() {
    let problem =
        PROBLEM.replace("[actions.dose]", "[actions.mill]\nchoices = [\"old\", \"new\"]\n[actions.dose]");
    let problem = problem.replace("[nodes.y]", "[nodes.y]\nunit = \"kg\"").replace(
        "parents = [\"quality\"]\nactions = [\"dose\"]",
        "parents = [\"quality\"]\nactions = [\"dose\", \"mill\"]",
    );
    let directory = with_file("p.toml", &problem);
    let at = directory.path();
    std::fs::write(
        at.join("past.csv"),
        "dose,mill,quality,dust,y\n0.2,old,0.5,0.21,0.3\n0.7,old,0.9,0.72,1.3\n0.4,old,0.1,0.38,0.45\n0.5,old,0.3,0.5,0.66\n",
    )
    .expect("a file");
    mcbo_in(at, &["new", "mill", "p.toml", "--initial", "3"]).with_code(0);
    // As `new` takes the problem, `add` takes the data.
    mcbo_in(at, &["add", "mill", "past.csv"]).with_code(0);
    mcbo_in(at, &["ask", "mill", "--given", "quality=0.8"]).with_code(0);
    let log = mcbo_in(at, &["log", "mill"]).with_code(0).stdout;
    assert!(log.contains("asked for trial 5 given quality=0.8, by"), "{log}");
    let events = mcbo_in(at, &["log", "mill", "--json"]).with_code(0).json();
    assert_eq!(events.last().expect("an event")["given"]["quality"], 0.8);
    assert!(events[0].get("given").is_none());

    let status = mcbo_in(at, &["status", "mill"]).with_code(0).stdout;
    for text in [
        "its limit     dust below 0.6 mg is kept with a probability of",
        "90 % is wanted",
        "its cost",
        " kg in trial",
    ] {
        assert!(status.contains(text), "{text}: {status}");
    }
    // A choice is always one of its names, also where that is the neutral one.
    assert!(status.contains("mill=old") || status.contains("mill=new"), "{status}");
    let best = mcbo_in(at, &["best", "mill", "--given", "quality=0.2"]).with_code(0).stdout;
    let flat = best.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in ["y (kg)", " kg on average", " with quality = ", " with what is given."] {
        assert!(flat.contains(text), "{text}: {best}");
    }
    mcbo_in(at, &["report", "mill", "--out", "page.html"]).with_code(0);
    let page = std::fs::read_to_string(at.join("page.html")).expect("a page");
    let settle = page.find("id=\"settle\"").expect("a section");
    let (next, settle) = page.split_at(settle);
    for part in [next, &settle[..settle.find("id=\"matters\"").expect("a section")]] {
        for text in
            ["dust below 0.6 mg is kept with a probability of ", "It costs ", "mill = ", ", dose = ", " g<"]
        {
            assert!(part.contains(text), "{text}: {part}");
        }
    }
    assert!(next.contains("Known before deciding: quality = 0.8."), "{next}");
    assert!(page.contains("<th>dose (g)") && page.contains("<th>y (kg)"), "{page}");
    assert!(page.contains("limit: below 0.6 mg") && !page.contains("no path to the reward"), "{page}");
    let effects = mcbo_in(at, &["effects", "mill"]).with_code(0).stdout;
    assert!(effects.contains("the limits is not looked at"), "{effects}");
}
