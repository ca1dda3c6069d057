//! Mistakes of steps, lists, scales and choices.

use super::complaints;
use crate::{Problem, Scale};

pub(super) const PROCESS: &str = r#"maximize = "y"
[nodes.x]
actions = ["strain", "cycles"]
do = [0, 1]
step = 0.25
[nodes.y]
parents = ["x"]
actions = ["dose", "feed"]
[actions.strain]
choices = ["wild", "mutant"]
neutral = "wild"
[actions.cycles]
range = [0, 12]
step = 3
[actions.dose]
range = [0, 90]
[actions.feed]
range = [10, 90]
neutral = 10
[constraints]
require = ["dose + 2 * feed <= 120", "feed >= dose - 50"]
"#;

#[track_caller]
fn replaced(from: &str, to: &str, expected: &[&str]) {
    assert!(PROCESS.contains(from), "{from}");
    assert_eq!(complaints(&PROCESS.replacen(from, to, 1)), expected);
}

#[test]
fn what_is_written_is_what_is_read() {
    let problem = Problem::from_toml(PROCESS).expect("a problem");
    let [strain, cycles, ..] = problem.actions() else { panic!("two actions at least") };
    assert_eq!(
        (strain.choices.as_slice(), strain.neutral, strain.range),
        (&["wild".into(), "mutant".into()][..], 0.0, [0.0, 1.0])
    );
    assert_eq!(
        (strain.choice(1.0), strain.value_of("mutant"), strain.choice(0.5)),
        (Some("mutant"), Some(1.0), None)
    );
    assert_eq!(cycles.grid.as_ref().expect("steps").values().collect::<Vec<_>>(), [0.0, 3.0, 6.0, 9.0, 12.0]);
    assert_eq!(problem.nodes()[0].grid.as_ref().expect("steps")[0].count(), 5);
    let [sum, more] = problem.requirements() else { panic!("two requirements") };
    assert_eq!((sum.terms(), sum.most()), (&[(2, 1.0), (3, 2.0)][..], 120.0));
    assert_eq!((more.terms(), more.most()), (&[(2, 1.0), (3, -1.0)][..], 50.0));
    assert_eq!(sum.excess(&[0.0, 0.0, 100.0, 20.0]), 20.0);
    assert_eq!(sum.excess(&[0.0, 0.0, 80.0, 20.0]), 0.0);
    // In code the same.
    let built = Problem::builder("problem")
        .choice_with_neutral("strain", ["wild", "mutant"], "wild")
        .action_in_steps("cycles", [0.0, 12.0], 3.0)
        .action("dose", [0.0, 90.0])
        .action_with_neutral("feed", [10.0, 90.0], 10.0)
        .node("x", |n| n.actions(["strain", "cycles"]).hard([0.0, 1.0]).step(0.25))
        .node("y", |n| n.parents(["x"]).actions(["dose", "feed"]))
        .maximize("y")
        .require("dose + 2 * feed <= 120")
        .require("feed >= dose - 50")
        .build()
        .expect("a problem");
    assert_eq!(built, problem);
    let like = problem.actions().iter().fold(Problem::builder("problem"), |b, action| b.action_like(action));
    let like = like.node("y", |n| n.actions(["strain", "cycles", "dose", "feed"])).maximize("y").build();
    assert_eq!(like.expect("a problem").actions(), problem.actions());
}

#[test]
fn steps() {
    replaced(
        "step = 3",
        "step = 13",
        &[
            "14: [13] `step` of action `cycles` is 13, wider than the range, 12 | a step leads from one value to the next; make it smaller or the range wider",
        ],
    );
    for step in ["0", "-1.5"] {
        let expected = format!(
            "14: [{step}] `step` of action `cycles` is {step}, which is not a positive number | write the distance from one value to the next, or leave it out"
        );
        replaced("step = 3", &format!("step = {step}"), &[&expected]);
    }
    replaced(
        "step = 3",
        "step = 'three'",
        &["14: ['three'] `step` of action `cycles` must be a number, found \"three\""],
    );
    replaced(
        "do = [0, 1]\n",
        "",
        &[
            "4: [0.25] node `x` has a `step`, but cannot be set | add `do = [LOW, HIGH]` to node `x`, or remove `step`",
        ],
    );
    replaced(
        "step = 0.25",
        "step = 2",
        &[
            "5: [2] `step` of node `x` is 2, wider than the range, 1 | a step leads from one value to the next; make it smaller or the range wider",
        ],
    );
}

/// Listed values are a grid whose values are those of the list, in order.
#[test]
fn values_of_a_list() {
    let listed = PROCESS
        .replace("range = [0, 12]\nstep = 3", "values = [12, 1, 2.5]\nneutral = 1")
        .replace("do = [0, 1]\nstep = 0.25", "do = { values = [0.5, 0, 2] }");
    let problem = Problem::from_toml(&listed).expect("a problem");
    let cycles = &problem.actions()[1];
    assert_eq!(cycles.grid.as_ref().and_then(|grid| grid.list()), Some(&[1.0, 2.5, 12.0][..]));
    assert_eq!((cycles.range, cycles.neutral), ([1.0, 12.0], 1.0));
    assert!(cycles.can_take(2.5) && !cycles.can_take(2.0) && !cycles.can_take(0.0));
    let x = &problem.nodes()[0];
    assert_eq!(x.hard, Some(vec![[0.0, 2.0]]));
    assert_eq!(x.grid.as_ref().map(|grids| grids[0].list()), Some(Some(&[0.0, 0.5, 2.0][..])));
    // In code the same.
    let built = Problem::builder("problem")
        .choice_with_neutral("strain", ["wild", "mutant"], "wild")
        .action_of_values("cycles", [2.5, 12.0, 1.0])
        .action("dose", [0.0, 90.0])
        .action_with_neutral("feed", [10.0, 90.0], 10.0)
        .node("x", |n| n.actions(["strain", "cycles"]).hard_values([0.0, 0.5, 2.0]))
        .node("y", |n| n.parents(["x"]).actions(["dose", "feed"]))
        .maximize("y")
        .require("dose + 2 * feed <= 120")
        .require("feed >= dose - 50")
        .build()
        .expect("a problem");
    assert_eq!(built, problem);
    let like = problem.actions().iter().fold(Problem::builder("problem"), |b, action| b.action_like(action));
    let like = like.node("y", |n| n.actions(["strain", "cycles", "dose", "feed"])).maximize("y").build();
    assert_eq!(like.expect("a problem").actions(), problem.actions());
}

#[test]
fn mistakes_of_lists() {
    let steps = "range = [0, 12]\nstep = 3\n";
    for (values, expected) in [
        (
            "values = []",
            "13: [[]] action `cycles` has no value | list at least two, as in `values = [20, 30, 45]`; what is always the same needs no action",
        ),
        (
            "values = [3]",
            "13: [[3]] action `cycles` has one value only | list at least two, as in `values = [20, 30, 45]`; what is always the same needs no action",
        ),
        ("values = [3, 1, 3]", "13: [[3, 1, 3]] `values` of action `cycles` names `3` twice | name it once"),
        (
            "values = [3, inf]",
            "13: [[3, inf]] `values` of action `cycles` is inf, which is not a finite number | write a number that bounds what can happen",
        ),
        (
            "values = [3, 'many']",
            "13: ['many'] every entry of `values` of action `cycles` must be a number, found \"many\"",
        ),
        ("values = 3", "13: [3] `values` of action `cycles` must be an array of numbers, found 3"),
        (
            "choices = [1, 2]",
            "13: [[1, 2]] `choices` of action `cycles` must be an array of names (numbers are listed under `values`), found an array of 2",
        ),
    ] {
        replaced(steps, &format!("{values}\n"), &[expected]);
    }
    replaced(
        "step = 3",
        "values = [1, 2]",
        &[
            "13: [[0, 12]] action `cycles` has both `values` and a `range` | it takes the listed values and no others; remove `range` or `values`",
        ],
    );
    replaced(
        "do = [0, 1]",
        "do = { values = [0, 1] }",
        &[
            "5: [0.25] `do` of node `x` has both `values` and a `step` | it takes the listed values and no others; remove `step` or `values`",
        ],
    );
    for (hard, expected) in [
        (
            "{ values = [1] }",
            "4: [[1]] `do` of node `x` has one value only | list at least two, as in `values = [20, 30, 45]`; what is always the same needs no action",
        ),
        (
            "{ value = [1, 2] }",
            "4: [{ value = [1, 2] }] `do` of node `x` must be a pair [LOW, HIGH], or { values = [...] }, found a table",
        ),
    ] {
        replaced("do = [0, 1]\nstep = 0.25", &format!("do = {hard}"), &[expected]);
    }
}

/// Names that are retired keep their places, and are on no grid.
#[test]
fn retired_names() {
    let retired = PROCESS
        .replace(
            "choices = [\"wild\", \"mutant\"]\nneutral = \"wild\"",
            "choices = [\"wild\", \"mutant\", \"hybrid\", \"native\"]\nretired = [\"hybrid\", \"wild\"]",
        )
        .replace(
            "[nodes.y]",
            "[nodes.oven]\nchoices = [\"old\", \"new\"]\ndo = true\nretired = [\"old\"]\n[nodes.y]",
        );
    let problem = Problem::from_toml(&retired).expect("a problem");
    let strain = &problem.actions()[0];
    assert_eq!((strain.retired(), strain.choices.len()), (vec!["wild", "hybrid"], 4));
    let places: Vec<f64> = strain.grid.as_ref().expect("names").values().collect();
    assert_eq!((places, strain.neutral, strain.range), (vec![1.0, 3.0], 1.0, [0.0, 3.0]));
    let oven = &problem.nodes()[1];
    assert_eq!((oven.retired(), oven.hard.as_deref()), (vec!["old"], Some(&[[0.0, 1.0]][..])));
    assert_eq!(oven.grid.as_ref().expect("names")[0].values().collect::<Vec<_>>(), [1.0]);
    // In code the same.
    let built = Problem::builder("problem")
        .choice("strain", ["wild", "mutant", "hybrid", "native"])
        .action_retired("strain", ["hybrid", "wild"])
        .node("oven", |n| n.choices(["old", "new"]).hard_choices().retired(["old"]))
        .node("y", |n| n.parents(["oven"]).actions(["strain"]))
        .maximize("y")
        .build()
        .expect("a problem");
    assert_eq!((&built.actions()[0], &built.nodes()[0].grid), (strain, &oven.grid));
    let like =
        Problem::builder("problem").action_like(strain).node("y", |n| n.actions(["strain"])).maximize("y");
    assert_eq!(like.build().expect("a problem").actions()[0], *strain);
}

#[test]
fn mistakes_of_retired_names() {
    let choices = "choices = [\"wild\", \"mutant\"]\nneutral = \"wild\"";
    let with = |retired: &str| format!("choices = [\"wild\", \"mutant\"]\n{retired}");
    for (retired, expected) in [
        (
            "retired = [\"mutent\"]",
            "11: [mutent] `retired` of action `strain` is \"mutent\", which is not one of its choices | did you mean `mutant`?",
        ),
        (
            "retired = [\"mutant\", \"mutant\"]",
            "11: [mutant] `retired` of action `strain` names `mutant` twice | name it once",
        ),
        (
            "retired = [\"mutant\", \"wild\"]",
            "11: [[\"mutant\", \"wild\"]] all choices of action `strain` are retired | leave at least one that may be proposed",
        ),
        (
            "retired = [\"wild\"]\nneutral = \"wild\"",
            "12: [wild] `neutral` of action `strain` is \"wild\", which is retired | choose another `neutral`, one of those that are left",
        ),
    ] {
        replaced(choices, &with(retired), &[expected]);
    }
    replaced(
        "range = [0, 12]",
        "range = [0, 12]\nretired = [\"3\"]",
        &[
            "14: [[\"3\"]] action `cycles` has `retired`, but no `choices` | only names are retired; make the range narrower, or take values from the list",
        ],
    );
    replaced(
        "[nodes.y]\n",
        "[nodes.z]\nchoices = [\"a\", \"b\"]\nretired = [\"a\"]\n[nodes.y]\n",
        &[
            "8: [[\"a\"]] node `z` has `retired`, but cannot be set | nothing proposes its names; remove `retired`",
        ],
    );
    replaced(
        "[nodes.y]\n",
        "[nodes.y]\nretired = [\"a\"]\n",
        &[
            "7: [[\"a\"]] node `y` has `retired`, but no `choices` | only names are retired; make the range narrower, or take values from the list",
        ],
    );
}

/// Scales of ratios.
#[test]
fn logarithmic_scales() {
    let log = PROCESS.replace(
        "[actions.feed]",
        "[actions.salt]\nrange = [0.01, 100]\nscale = \"log\"\nneutral = 0\n[actions.feed]",
    );
    let problem = Problem::from_toml(&log.replace("\"feed\"]", "\"feed\", \"salt\"]")).expect("a problem");
    let salt = &problem.actions()[3];
    assert_eq!((salt.scale, salt.range, salt.neutral), (Scale::Log, [0.01, 100.0], 0.0));
    for (value, share) in [(0.01, 0.0), (0.1, 0.25), (1.0, 0.5), (100.0, 1.0)] {
        assert!(
            (salt.share(value) - share).abs() < 1e-12 && (salt.at_share(share) / value - 1.0).abs() < 1e-12
        );
    }
    let built = Problem::builder("problem")
        .action_with_neutral("salt", [0.01, 100.0], 0.0)
        .action_scale("salt", Scale::Log);
    let built = built.node("y", |n| n.actions(["salt"])).maximize("y").build().expect("a problem");
    assert_eq!(built.actions()[0], *salt);
    let like = Problem::builder("problem").action_like(salt).node("y", |n| n.actions(["salt"])).maximize("y");
    assert_eq!(like.build().expect("a problem"), built);
    for (from, to, expected) in [
        (
            "range = [10, 90]",
            "range = [10, 90]\nscale = \"logarithmic\"",
            "19: [\"logarithmic\"] `scale` of action `feed` must be \"log\" or \"linear\", found \"logarithmic\"",
        ),
        (
            "range = [0, 12]\nstep = 3",
            "range = [1, 13]\nscale = \"log\"\nneutral = -1",
            "15: [-1] action `cycles` has a logarithmic scale, but its `neutral` is -1 | ratios have no values below 0; write `neutral = 0` for none at all",
        ),
        (
            "range = [0, 12]",
            "range = [1, 13]\nscale = \"log\"",
            "15: [3] action `cycles` has both a `step` and a logarithmic scale | list the values, as in `values = [1, 3, 10, 30]`, or remove one of the two",
        ),
        (
            "neutral = \"wild\"",
            "scale = \"log\"",
            "11: [\"log\"] action `strain` has both `choices` and a `scale` | choices have names and no numbers; remove `scale` or `choices`",
        ),
    ] {
        replaced(from, to, &[expected]);
    }
    replaced(
        "range = [10, 90]",
        "range = [10, 90]\nscale = \"log\"",
        &[
            "22: [dose + 2 * feed <= 120] `require` \"dose + 2 * feed <= 120\": `feed` has a logarithmic scale, on which nothing is added | remove its `scale`, or require something of it alone",
            "22: [feed >= dose - 50] `require` \"feed >= dose - 50\": `feed` has a logarithmic scale, on which nothing is added | remove its `scale`, or require something of it alone",
        ],
    );
    let zero = PROCESS.replace("range = [0, 12]\nstep = 3", "range = [0, 12]\nscale = \"log\"");
    assert_eq!(
        complaints(&zero),
        [
            "14: [\"log\"] action `cycles` has a logarithmic scale, but its range begins at 0 | ratios need values above 0; begin the range above it, and write `neutral = 0` if not acting means none"
        ]
    );
}

#[test]
fn choices() {
    replaced(
        r#"neutral = "wild""#,
        r#"neutral = "wold""#,
        &[
            "11: [wold] `neutral` of action `strain` is \"wold\", which is not one of its choices | did you mean `wild`?",
        ],
    );
    replaced(
        r#"neutral = "wild""#,
        "neutral = 3",
        &[
            "11: [3] `neutral` of action `strain` is \"3\", which is not one of its choices | its choices are wild, mutant",
        ],
    );
    replaced(
        r#"choices = ["wild", "mutant"]"#,
        r#"choices = ["wild"]"#,
        &[
            "10: [[\"wild\"]] action `strain` has one choice only | name at least two, as in `choices = [\"wild\", \"mutant\"]`",
        ],
    );
    replaced(
        r#"choices = ["wild", "mutant"]"#,
        r#"choices = ["wild", "mutant", "wild", "a,b"]"#,
        &[
            "10: [wild] `choices` of action `strain` names `wild` twice | name it once",
            "10: [a,b] \"a,b\" cannot be a choice of action `strain` | a name is not empty, does not begin or end with space, and has no commas, quotes or equal signs",
        ],
    );
    replaced(
        "[actions.strain]\n",
        "[actions.strain]\nrange = [0, 1]\nstep = 1\n",
        &[
            "10: [[0, 1]] action `strain` has both `choices` and a `range` | choices have names and no numbers; remove `range` or `choices`",
            "11: [1] action `strain` has both `choices` and a `step` | choices have names and no numbers; remove `step` or `choices`",
        ],
    );
    replaced(
        "neutral = \"wild\"",
        "cost = { fixed = 1, per_unit = 2 }",
        &[
            "11: [{ fixed = 1, per_unit = 2 }] the cost of action `strain` is per unit, but its values are names, which lie no distance apart | write `cost = { fixed = COST }`",
        ],
    );
    replaced(
        "range = [0, 90]",
        "range = [0, 90]\nneutral = \"wild\"",
        &["17: [wild] `neutral` of action `dose` must be a number, found \"wild\""],
    );
    replaced(
        "[nodes.x]\n",
        "[nodes.x]\nkernel = \"se(strain)\"\n",
        &[
            "3: [se(strain)] `kernel` of node `x`: `strain` is a choice, which has no numbers | write choice(strain), as in se(dose) * choice(strain)",
        ],
    );
    replaced(
        "[nodes.x]\n",
        "[nodes.x]\nkernel = \"choice(cycles)\"\n",
        &[
            "3: [choice(cycles)] `kernel` of node `x`: `cycles` is a number, not a choice | write se(cycles) or another kernel of numbers",
        ],
    );
    replaced(
        "[nodes.x]\n",
        "[nodes.x]\nformula = \"strain + cycles\"\n",
        &[
            "3: [strain] `formula` of node `x`: `strain` is a choice, whose values are names | `strain == 'wild'` is 1 where it is that one and 0 elsewhere",
        ],
    );
    replaced(
        "[nodes.x]\n",
        "[nodes.x]\nchoices = [\"p\", \"q\"]\n",
        &[
            "5: [[0, 1]] `do` of node `x` has numbers, but its values are names | write `do = true`: it may be set to any of its names",
            "6: [0.25] node `x` has both `choices` and a `step` | choices have names and no numbers; remove `step` or `choices`",
        ],
    );
    let kernel = PROCESS.replacen("[nodes.x]\n", "[nodes.x]\nkernel = \"se\"\n", 1);
    let problem = Problem::from_toml(&kernel).expect("a problem");
    let kernel = problem.nodes()[0].kernel.as_ref().expect("a kernel");
    assert_eq!(kernel.to_text(&["strain", "cycles"]), "se(cycles) * choice(strain)");
}

#[test]
fn nodes_that_break_their_own_limit() {
    let warnings = |marks: &str| -> Vec<String> {
        let text = format!("maximize = 'y'\n[nodes.x]\n{marks}\n[nodes.y]\nparents = ['x']\n");
        Problem::from_toml(&text).expect("a problem").warnings().iter().map(ToString::to_string).collect()
    };
    let breaks = "node `x` breaks its own `limit` whatever it is set to: it will not be set";
    for (marks, expected) in [
        ("do = [0, 10]\nlimit = { below = -5 }", &[breaks][..]),
        ("do = [0, 10]\nlimit = { above = 11, below = 12 }", &[breaks]),
        ("do = [0, 10]\nlimit = { above = 5 }", &[]),
        ("do = [-6, 10]\nlimit = { below = -5 }", &[]),
    ] {
        assert_eq!(warnings(marks), expected, "{marks}");
    }
}
