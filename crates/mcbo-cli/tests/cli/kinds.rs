//! Steps, choices and requirements through the commands.

use serde_json::Value;

use crate::{mcbo_in, with_file};

const PROCESS: &str = r#"
name = "process"
maximize = "titer"
[nodes.growth]
actions = ["strain", "cycles"]
noise = { gaussian = 0.05 }
[nodes.heat]
do = [24, 38]
step = 0.5
[nodes.titer]
parents = ["growth", "heat"]
actions = ["dose", "feed"]
[actions.strain]
choices = ["wild", "mutant", "hybrid"]
[actions.cycles]
range = [0, 1.2]
step = 0.3
[actions.dose]
range = [0, 90]
[actions.feed]
range = [0, 90]
[constraints]
require = ["dose + feed <= 120"]
[simulator]
growth = "(strain == 'hybrid') - (cycles - 0.6)^2 + normal(0, 0.05)"
heat = "30 + normal(0, 0.5)"
titer = "growth * (1 + dose / 90) + feed / 90 - (heat - 33)^2 / 20 + normal(0, 0.05)"
"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[track_caller]
fn is_allowed(intervention: &Value) {
    let actions = &intervention["actions"];
    assert!(["wild", "mutant", "hybrid"].iter().any(|name| actions["strain"] == *name), "{actions}");
    assert!([0.0, 0.3, 0.6, 0.9, 1.2].iter().any(|value| actions["cycles"] == *value), "{actions}");
    let sum = actions["dose"].as_f64().expect("a number") + actions["feed"].as_f64().expect("a number");
    assert!(sum <= 120.0, "{actions}");
    if let Some(heat) = intervention["values"]["heat"].as_f64() {
        assert_eq!((2.0 * heat).fract(), 0.0);
    }
}

#[test]
fn check_shows_them() {
    let directory = with_file("p.toml", PROCESS);
    let done = mcbo_in(directory.path(), &["check", "p.toml"]).with_code(0);
    for text in [
        "wild, mutant, hybrid",
        "0 to 1.2 by 0.3",
        "24 to 38 by 0.5",
        "Required in every trial: dose + feed <= 120.",
    ] {
        assert!(done.stdout.contains(text), "{text}: {}", done.stdout);
    }
    let found = json(&mcbo_in(directory.path(), &["check", "p.toml", "--json"]).with_code(0).stdout);
    assert_eq!(found["actions"][0]["choices"], serde_json::json!(["wild", "mutant", "hybrid"]));
    assert_eq!(
        (&found["actions"][0]["neutral"], &found["actions"][0]["range"]),
        (&"wild".into(), &Value::Null)
    );
    assert_eq!((&found["actions"][1]["step"], &found["nodes"][1]["step"]), (&0.3.into(), &0.5.into()));
    assert_eq!(found["require"][0], "dose + feed <= 120");
}

#[test]
fn runs_speak_in_names() {
    let directory = with_file("p.toml", PROCESS);
    let done = mcbo_in(directory.path(), &["run", "p.toml", "--rounds", "6", "--json"]).with_code(0);
    let lines: Vec<Value> = done.stdout.lines().map(json).collect();
    let (last, trials) = lines.split_last().expect("lines");
    assert!(trials.len() >= 6);
    trials.iter().for_each(|trial| is_allowed(&trial["intervention"]));
    is_allowed(&last["recommendation"]["intervention"]);
    for strategy in ["random", "ucb", "ei", "eifn", "cbo"] {
        let arguments = ["run", "p.toml", "--rounds", "2", "--json", "--strategy", strategy];
        let done = mcbo_in(directory.path(), &arguments).with_code(0);
        for trial in done.stdout.lines().map(json).filter(|line| line["trial"].is_number()) {
            is_allowed(&trial["intervention"]);
        }
    }
    let shown = mcbo_in(directory.path(), &["run", "p.toml", "--rounds", "1"]).with_code(0).stdout;
    assert!(shown.contains("one of wild, mutant, hybrid") && shown.contains("in 0 to 1.2 by 0.3"), "{shown}");
}

#[test]
fn studies_take_and_give_names() {
    let directory = with_file("p.toml", PROCESS);
    let at = directory.path();
    let store = format!("sqlite://{}", at.join("s.db").display());
    let mcbo = |arguments: &[&str]| mcbo_in(at, &[arguments, &["--storage", &store]].concat());
    mcbo(&["new", "s", "--problem", "p.toml"]).with_code(0);
    let csv = "strain,cycles,dose,feed,do(heat),growth,titer\n\
               hybrid,0.6,10,80,,1.02,1.9\nwild,0.45,70,60,30.2,0.1,0.7\nmutant,0.3,10,20,,-0.1,0.2\n";
    std::fs::write(at.join("past.csv"), csv).unwrap();
    // What was done need not be what is allowed now: the second lies between steps, and beyond what is required.
    mcbo(&["add", "s", "--csv", "past.csv"]).with_code(0);
    std::fs::write(at.join("bad.csv"), csv.replace("mutant", "mutent")).unwrap();
    let done = mcbo(&["add", "s", "--csv", "bad.csv"]).with_code(2);
    assert!(done.stderr.contains("strain is \"mutent\", which is not one of its choices"), "{}", done.stderr);
    let asked = json(&mcbo(&["ask", "s", "--json"]).with_code(0).stdout);
    is_allowed(&asked["intervention"]);
    let number = asked["trial"].to_string();
    mcbo(&["tell", "s", &number, "growth=0.4", "heat=30.1", "titer=1.1"]).with_code(0);
    // What was really done is told by name too, and put right by name.
    let other = if asked["intervention"]["actions"]["strain"] == "wild" { "mutant" } else { "wild" };
    let done = mcbo(&["correct", "s", &number, &format!("strain={other}")]).with_code(0);
    assert!(done.stderr.contains(other), "{}", done.stderr);
    let done = mcbo(&["correct", "s", &number, "strain=wold"]).with_code(2);
    assert!(done.stderr.contains("strain is \"wold\", which is not one of its choices"), "{}", done.stderr);
    let next = json(&mcbo(&["ask", "s", "--json"]).with_code(0).stdout)["trial"].to_string();
    std::fs::write(
        at.join("told.json"),
        format!("{{\"strain\": \"{other}\", \"growth\": 0.3, \"titer\": 1.0}}"),
    )
    .unwrap();
    mcbo(&["tell", "s", &next, "--json", "told.json"]).with_code(0);
    let log = mcbo(&["log", "s"]).with_code(0).stdout;
    assert!(log.contains(&format!("strain={other}")), "{log}");
    let exported = mcbo(&["export", "s", "--format", "csv"]).with_code(0).stdout;
    assert!(exported.contains(",hybrid,0.6,10.0,80.0,"), "{exported}");
    let log = mcbo(&["log", "s"]).with_code(0).stdout;
    assert!(["strain=wild", "strain=mutant", "strain=hybrid"].iter().any(|name| log.contains(name)), "{log}");
    let predicted =
        json(&mcbo(&["predict", "s", "strain=hybrid", "cycles=0.6", "--json"]).with_code(0).stdout);
    assert_eq!(predicted["intervention"]["actions"]["strain"], "hybrid");
    let done = mcbo(&["predict", "s", "strain=wold"]).with_code(2);
    assert!(done.stderr.contains("hint: they are wild, mutant, hybrid"), "{}", done.stderr);
    let best = json(&mcbo(&["best", "s", "--json"]).with_code(0).stdout);
    is_allowed(&best["recommendation"]["intervention"]);
    // Names keep their places: new ones come behind them.
    std::fs::write(at.join("q.toml"), PROCESS.replace("\"hybrid\"]", "\"hybrid\", \"native\"]")).unwrap();
    mcbo(&["update", "s", "--problem", "q.toml"]).with_code(0);
    std::fs::write(at.join("q.toml"), PROCESS.replace("\"wild\", \"mutant\"", "\"mutant\", \"wild\""))
        .unwrap();
    let done = mcbo(&["update", "s", "--problem", "q.toml"]).with_code(2);
    assert!(done.stderr.contains("name new choices behind it"), "{}", done.stderr);
}

#[test]
fn tasks_of_these_kinds_are_listed_and_evaluated() {
    let directory = with_file("p.toml", PROCESS);
    let all = json(&mcbo_in(directory.path(), &["bench", "list", "--json"]).with_code(0).stdout);
    let strains =
        all.as_array().expect("a list").iter().find(|task| task["name"] == "strains").expect("it is there");
    assert_eq!(strains["actions"][0]["choices"][2], "hybrid");
    let values = "strain=hybrid,medium=glycerol,cycles=3,temperature=36.5";
    let arguments = ["bench", "eval", "--task", "strains", "--actions", values, "--json"];
    let found = json(&mcbo_in(directory.path(), &arguments).with_code(0).stdout);
    assert!((found["expected_reward"].as_f64().expect("a number") - 2.535).abs() < 1e-9, "{found}");
}

/// What a suggestion warns of is said while a run goes on, once.
#[test]
fn a_run_says_what_its_suggestions_warn_of() {
    let problem = r#"
        name = "hopeless"
        maximize = "y"
        [nodes.x]
        actions = ["a"]
        noise = { gaussian = 0.1 }
        limit = { below = -5, probability = 0.9 }
        [nodes.y]
        parents = ["x"]
        noise = { gaussian = 0.1 }
        [actions.a]
        range = [0, 1]
        [simulator]
        x = "a + normal(0, 0.1)"
        y = "x + normal(0, 0.1)"
    "#;
    let directory = with_file("p.toml", problem);
    let count = |text: &str, of: &str| text.matches(of).count();
    let done = mcbo_in(directory.path(), &["run", "p.toml", "--rounds", "3"]);
    // The first of three suggestions, and the recommendation.
    assert_eq!(count(&done.stderr, "trial 4: nothing is likely to keep the limits"), 1, "{}", done.stderr);
    assert_eq!(count(&done.stderr, "nothing is likely to keep the limits"), 2, "{}", done.stderr);
    let arguments = ["run", "p.toml", "--rounds", "3", "--strategy", "random"];
    let done = mcbo_in(directory.path(), &arguments);
    assert_eq!(count(&done.stderr, "does not look at limits"), 1, "{}", done.stderr);
}

/// Nodes whose values are names, known before deciding, measured, or set: through the commands and back.
#[test]
fn nodes_may_have_names() {
    let problem = r#"
        maximize = "gloss"
        [nodes.supplier]
        choices = ["north", "south", "east"]
        context = true
        [nodes.operator]
        choices = ["ann", "bob"]
        [nodes.resin]
        choices = ["epoxy", "acrylic"]
        do = true
        cost = { fixed = 2 }
        [nodes.viscosity]
        parents = ["supplier", "resin"]
        actions = ["heat"]
        limit = { below = 60, probability = 0.9 }
        [nodes.gloss]
        parents = ["viscosity", "resin", "operator"]
        [actions.heat]
        range = [20, 60]
        [simulator]
        viscosity = "55 - 0.5 * (heat - 20) + 10 * (supplier == 'south') + 8 * (resin == 'acrylic') + normal(0, 1)"
        gloss = "80 - 0.05 * (viscosity - 40)^2 + 6 * (resin == 'acrylic') + 2 * (operator == 'bob') + normal(0, 1)"
    "#;
    let directory = with_file("p.toml", problem);
    let at = directory.path();
    let store = format!("sqlite://{}", at.join("s.db").display());
    let mcbo = |arguments: &[&str]| mcbo_in(at, &[arguments, &["--storage", &store]].concat());
    let shown = mcbo_in(at, &["check", "p.toml"]).with_code(0).stdout;
    assert!(shown.contains("epoxy, acrylic") && shown.contains("ann, bob"), "{shown}");
    let checked = json(&mcbo_in(at, &["check", "p.toml", "--json"]).with_code(0).stdout);
    assert_eq!(checked["nodes"][2]["choices"], serde_json::json!(["epoxy", "acrylic"]));
    assert_eq!((&checked["nodes"][2]["do"], &checked["nodes"][1]["do"]), (&true.into(), &Value::Null));
    mcbo(&["run", "p.toml", "--study", "s", "--rounds", "8"]).with_code(0);
    // Every choice is searched by plans of their own that share memory: what is known makes them short and long.
    for (supplier, resin) in [("north", "acrylic"), ("south", "epoxy"), ("east", "acrylic")] {
        let given = format!("supplier={supplier}");
        let best = json(&mcbo(&["best", "s", "--json", "--given", &given]).with_code(0).stdout);
        let best = &best["recommendation"];
        assert_eq!(best["given"]["supplier"], supplier);
        assert!(
            best["intervention"]["values"]["resin"].is_null()
                || supplier == "south"
                || best["intervention"]["values"]["resin"] == resin,
            "{best}"
        );
        assert!(best["predicted"]["operator"].is_null(), "names have no expectation: {best}");
    }
    let asked = json(&mcbo(&["ask", "s", "--json", "--given", "supplier=south"]).with_code(0).stdout);
    let number = asked["trial"].to_string();
    let done = mcbo(&["tell", "s", &number, "operator=carl", "viscosity=50", "gloss=70"]).with_code(2);
    assert!(done.stderr.contains("hint: they are ann, bob"), "{}", done.stderr);
    let done = mcbo(&["ask", "s", "--given", "supplier=1"]).with_code(2);
    assert!(done.stderr.contains("they are north, south, east"), "{}", done.stderr);
    mcbo(&["tell", "s", &number, "operator=bob", "viscosity=50", "gloss=70"]).with_code(0);
    mcbo(&["correct", "s", &number, "operator=ann"]).with_code(0);
    let log = mcbo(&["log", "s"]).with_code(0).stdout;
    assert!(log.contains("operator=bob") && log.contains("operator=ann"), "{log}");
    let exported = mcbo(&["export", "s"]).with_code(0).stdout;
    let last = exported.lines().last().expect("a line");
    assert!(last.contains(",south,ann,"), "{last}");
    std::fs::write(at.join("e.csv"), &exported).unwrap();
    mcbo(&["new", "t", "--problem", "p.toml"]).with_code(0);
    mcbo(&["add", "t", "--csv", "e.csv"]).with_code(0);
    let again = json(&mcbo(&["export", "t", "--format", "json"]).with_code(0).stdout);
    let before = json(&mcbo(&["export", "s", "--format", "json"]).with_code(0).stdout);
    let values = |all: &Value| -> Vec<Value> {
        all["trials"].as_array().expect("trials").iter().map(|trial| trial["values"].clone()).collect()
    };
    assert_eq!(values(&again), values(&before));
    assert_eq!(
        values(&again)[0]["resin"].as_str().map(|name| name == "epoxy" || name == "acrylic"),
        Some(true)
    );
    std::fs::write(at.join("e.csv"), exported.replace(",ann,", ",anne,")).unwrap();
    let done = mcbo(&["add", "t", "--csv", "e.csv"]).with_code(2);
    assert!(done.stderr.contains("operator is \"anne\", which is not one of its choices"), "{}", done.stderr);
    let predicted = ["predict", "s", "do(resin)=acrylic", "heat=60", "--given", "supplier=north", "--json"];
    let predicted = json(&mcbo(&predicted).with_code(0).stdout);
    assert_eq!(predicted["intervention"]["values"]["resin"], "acrylic");
    assert!((predicted["predicted"]["viscosity"]["mean"].as_f64().expect("a number") - 43.0).abs() < 2.0);
    let effects = mcbo(&["effects", "s"]).with_code(0).stdout;
    assert!(effects.contains("supplier → viscosity"), "{effects}");
    mcbo(&["doctor", "s"]).with_code(0);
    mcbo(&["report", "s", "--out", "r.html"]).with_code(0);
    std::fs::write(at.join("q.toml"), problem.replace("\"ann\", \"bob\"", "\"bob\", \"ann\"")).unwrap();
    let done = mcbo(&["update", "s", "--problem", "q.toml"]).with_code(2);
    assert!(done.stderr.contains("name new choices behind it"), "{}", done.stderr);
}

/// Numbers of a list: in the design, by the model, from hand, in tables, and in another list afterwards.
#[test]
fn lists_of_values_go_through_all_commands() {
    let process = PROCESS
        .replace("range = [0, 1.2]\nstep = 0.3", "values = [1.2, 0, 0.1, 0.6]")
        .replace("do = [24, 38]\nstep = 0.5", "do = { values = [24, 31, 32.5, 38] }");
    let directory = with_file("p.toml", &process);
    let at = directory.path();
    let check = mcbo_in(at, &["check", "p.toml"]).with_code(0).stdout;
    assert!(check.contains("0, 0.1, 0.6, 1.2") && check.contains("24, 31, 32.5, 38"), "{check}");
    let document = json(&mcbo_in(at, &["check", "p.toml", "--json"]).with_code(0).stdout);
    let cycles =
        document["actions"].as_array().expect("actions").iter().find(|action| action["name"] == "cycles");
    let cycles = cycles.expect("the action");
    assert_eq!(
        (&cycles["values"], &cycles["step"]),
        (&serde_json::json!([0.0, 0.1, 0.6, 1.2]), &Value::Null)
    );
    let run = ["run", "p.toml", "--rounds", "12", "--seed", "1", "--study", "s"];
    mcbo_in(at, &run).with_code(0);
    let trials = json(&mcbo_in(at, &["export", "s", "--format", "json"]).with_code(0).stdout);
    let trials = trials["trials"].as_array().expect("trials").clone();
    assert!(trials.len() > 15);
    let of_list = |intervention: &Value| {
        let cycles = &intervention["actions"]["cycles"];
        assert!([0.0, 0.1, 0.6, 1.2].iter().any(|value| cycles == *value), "{intervention}");
        let heat = &intervention["values"]["heat"];
        assert!(
            heat.is_null() || [24.0, 31.0, 32.5, 38.0].iter().any(|value| heat == *value),
            "{intervention}"
        );
    };
    trials.iter().for_each(|trial| of_list(&trial["intervention"]));
    let best = json(&mcbo_in(at, &["best", "s", "--json"]).with_code(0).stdout);
    of_list(&best["recommendation"]["intervention"]);
    assert_eq!(best["recommendation"]["intervention"]["actions"]["strain"], "hybrid", "{best}");
    // What is put in by hand is one of them; rows of the past and what was really done may be anything.
    let done = mcbo_in(at, &["predict", "s", "cycles=0.3"]).with_code(0);
    assert!(done.stdout.contains("cycles"), "{}", done.stdout);
    std::fs::write(at.join("t.csv"), "strain,cycles,dose,feed,growth,heat,titer\nwild,0.3,0,0,0.1,30,0.2\n")
        .expect("a file");
    mcbo_in(at, &["add", "s", "--csv", "t.csv"]).with_code(0);
    let asked = json(&mcbo_in(at, &["ask", "s", "--json"]).with_code(0).stdout);
    let number = asked["trial"].to_string();
    let done =
        mcbo_in(at, &["tell", "s", &number, "cycles=0.2", "growth=0.1", "heat=31", "titer=0.5"]).with_code(0);
    assert!(done.stderr.contains("cycles is 0.2, but can only be what is listed"), "{}", done.stderr);
    // From the list to a range and back to another list.
    for (changed, said) in [
        ("range = [0, 1.2]", "values of cycles: in 0 to 1.2 (was one of 0, 0.1, 0.6, 1.2)"),
        ("values = [0.5, 0.7]", "values of cycles: one of 0.5, 0.7 (was in 0 to 1.2)"),
    ] {
        std::fs::write(at.join("q.toml"), process.replace("values = [1.2, 0, 0.1, 0.6]", changed))
            .expect("a file");
        let done = mcbo_in(at, &["update", "s", "q.toml"]).with_code(0);
        assert!(done.stderr.contains(said), "{}", done.stderr);
    }
    let asked = json(&mcbo_in(at, &["ask", "s", "--json"]).with_code(0).stdout);
    assert!([0.5, 0.7].iter().any(|value| asked["intervention"]["actions"]["cycles"] == *value), "{asked}");
}

/// A scale of ratios and a name that is retired under way: check, run, best, predict, update, and data from before.
#[test]
fn ratios_and_retired_names_go_through_all_commands() {
    let process =
        PROCESS.replace("range = [0, 1.2]\nstep = 0.3", "range = [0.001, 1.2]\nscale = \"log\"\nneutral = 0");
    let process = process.replace(
        "require = [\"dose + feed <= 120\"]",
        "require = [\"dose + feed <= 120\", \"cycles <= 0.5 if strain == 'hybrid'\"]",
    );
    let directory = with_file("p.toml", &process);
    let at = directory.path();
    let check = mcbo_in(at, &["check", "p.toml"]).with_code(0).stdout;
    assert!(check.contains("0.001 to 1.2 (log)"), "{check}");
    let document = json(&mcbo_in(at, &["check", "p.toml", "--json"]).with_code(0).stdout);
    let of = |document: &Value, name: &str| {
        document["actions"].as_array().expect("actions").iter().find(|one| one["name"] == name).cloned()
    };
    assert_eq!(of(&document, "cycles").expect("the action")["scale"], "log");
    assert!(of(&document, "dose").expect("the action").get("scale").is_none());
    let run = ["run", "p.toml", "--rounds", "12", "--seed", "1", "--study", "s"];
    mcbo_in(at, &run).with_code(0);
    let trials = json(&mcbo_in(at, &["export", "s", "--format", "json"]).with_code(0).stdout);
    for trial in trials["trials"].as_array().expect("trials") {
        let cycles = trial["intervention"]["actions"]["cycles"].as_f64().expect("a number");
        assert!(cycles == 0.0 || (0.001..=1.2).contains(&cycles), "{cycles}");
        assert!(cycles <= 0.5 || trial["intervention"]["actions"]["strain"] != "hybrid", "{trial}");
    }
    mcbo_in(at, &["plot", "s", "--out", "pictures"]).with_code(0);
    mcbo_in(at, &["predict", "s", "cycles=0.02"]).with_code(0);
    // The strain that is best dies.
    let best = json(&mcbo_in(at, &["best", "s", "--json"]).with_code(0).stdout);
    assert_eq!(best["recommendation"]["intervention"]["actions"]["strain"], "hybrid", "{best}");
    let line =
        process.lines().find(|line| line.starts_with("choices") && line.contains("hybrid")).expect("names");
    std::fs::write(at.join("q.toml"), process.replace(line, &format!("{line}\nretired = [\"hybrid\"]")))
        .expect("a file");
    let done = mcbo_in(at, &["update", "s", "q.toml"]).with_code(0);
    assert!(
        done.stderr.contains("values of strain: one of wild, mutant (was one of wild, mutant, hybrid)"),
        "{}",
        done.stderr
    );
    for _ in 0..2 {
        let asked = json(&mcbo_in(at, &["ask", "s", "--json"]).with_code(0).stdout);
        assert_ne!(asked["intervention"]["actions"]["strain"], "hybrid", "{asked}");
    }
    let best = json(&mcbo_in(at, &["best", "s", "--json"]).with_code(0).stdout);
    assert_ne!(best["recommendation"]["intervention"]["actions"]["strain"], "hybrid", "{best}");
    // It may still be asked about, and rows with it are data; it is not put under way.
    mcbo_in(at, &["predict", "s", "strain=hybrid"]).with_code(0);
    let check = mcbo_in(at, &["check", "q.toml"]).with_code(0).stdout;
    assert!(check.contains("wild, mutant (retired: hybrid)"), "{check}");
    std::fs::write(
        at.join("t.csv"),
        "strain,cycles,dose,feed,growth,heat,titer\nhybrid,0.3,0,0,0.1,30,0.2\n",
    )
    .expect("a file");
    mcbo_in(at, &["add", "s", "--csv", "t.csv"]).with_code(0);
}
