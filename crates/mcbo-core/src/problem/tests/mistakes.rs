//! One test for every mistake, with the words a user sees.

mod kinds;
mod marks;
mod mechanisms;
mod requirements;

use super::NITROGEN;
use crate::problem::*;

/// The messages and hints for a file, each with its line.
fn complaints(text: &str) -> Vec<String> {
    let errors = Problem::from_toml(text).expect_err("a mistake");
    assert!(!errors.errors().is_empty());
    errors
        .errors()
        .iter()
        .map(|diagnostic| {
            let line = match &diagnostic.span {
                Some(span) => format!("{}: ", render::position(text, span.start).0),
                None => String::new(),
            };
            let words = diagnostic.span.clone().map(|span| text.get(span).expect("a span inside the file"));
            let words = words.map(|words| format!("[{words}] ")).unwrap_or_default();
            let hint = diagnostic.hint().map(|hint| format!(" | {hint}")).unwrap_or_default();
            format!("{line}{words}{}{hint}", diagnostic.message())
        })
        .collect()
}

/// The example with `from` replaced by `to` has exactly these mistakes.
#[track_caller]
fn replaced(from: &str, to: &str, expected: &[&str]) {
    assert!(NITROGEN.contains(from), "{from}");
    assert_eq!(complaints(&NITROGEN.replacen(from, to, 1)), expected);
}

#[test]
fn toml_itself() {
    let found = complaints("maximize = 'y'\n[nodes.y\n");
    assert!(found[0].contains("not valid TOML") && found[0].starts_with("2: "), "{found:?}");
    assert_eq!(
        complaints(""),
        [
            "the problem file is empty | start from a template; `maximize` and one `[nodes.NAME]` table are the least"
        ]
    );
    assert_eq!(complaints("# only words\n").len(), 1);
    replaced(
        "[nodes.yield]",
        "[nodes.soil]\n[nodes.yield]",
        &["13: [soil] `soil` is given twice | remove or rename one of them"],
    );
    replaced(
        "noise = { gaussian = 0.2 }",
        "noise = 'none'\nnoise = 'learn'\n",
        &["7: [noise] `noise` is given twice | remove or rename one of them"],
    );
}

#[test]
fn keys() {
    replaced(
        "parents = [\"n1\"]",
        "parnets = [\"n1\"]",
        &["14: [parnets] unknown key `parnets` in node `yield` | did you mean `parents`?"],
    );
    replaced(
        "maximize",
        "maximise",
        &["3: [maximise] unknown key `maximise` in the problem | did you mean `maximize`?"],
    );
    replaced(
        "[nodes.soil]",
        "[node.soil]",
        &["5: [node] unknown key `node` in the problem | did you mean `nodes`?"],
    );
    replaced(
        "neutral",
        "zero",
        &[
            "18: [zero] unknown key `zero` in action `a1` | known here: range, scale, neutral, step, values, choices, retired, unit, cost",
        ],
    );
    replaced(
        "max_interventions",
        "limit",
        &[
            "21: [limit] unknown key `limit` in `constraints` | known here: max_interventions, sets, possibly_optimal, require",
        ],
    );
    replaced(
        "gaussian",
        "normal",
        &["6: [normal] unknown key `normal` in `noise` of node `soil` | known here: gaussian, uniform"],
    );
}

#[test]
fn types() {
    replaced("\"nitrogen\"", "3", &["2: [3] `name` must be a string, found 3"]);
    replaced(
        "\"nitrogen\"",
        "''",
        &["2: [''] the problem's name is empty | write `name = \"...\"` or leave it out"],
    );
    replaced("\"yield\"", "['yield']", &["3: [['yield']] `maximize` must be a string, found an array of 1"]);
    replaced(
        "[\"soil\"]",
        "\"soil\"",
        &["9: [\"soil\"] `parents` of node `n1` must be an array of node names, found \"soil\""],
    );
    replaced(
        "[\"soil\"]",
        "[1]",
        &["9: [1] every entry of `parents` of node `n1` must be a string, found 1"],
    );
    replaced("[0.0, 10.0]", "5", &["11: [5] `do` of node `n1` must be a pair [LOW, HIGH], found 5"]);
    replaced(
        "[0.0, 10.0]",
        "[1, 2, 3]",
        &["11: [[1, 2, 3]] `do` of node `n1` must be a pair [LOW, HIGH], found an array of 3"],
    );
    replaced(
        "[0.0, 50.0]",
        "[0, 'x']",
        &["17: ['x'] every end of `range` of action `a1` must be a number, found \"x\""],
    );
    replaced(
        "{ gaussian = 0.2 }",
        "0.2",
        &[
            "6: [0.2] `noise` of node `soil` must be \"learn\", \"none\", { gaussian = STD } or { uniform = [LOW, HIGH] }, found 0.2",
        ],
    );
    replaced(
        "max_interventions = 2",
        "max_interventions = 2.5",
        &["21: [2.5] `max_interventions` must be a whole number, found 2.5"],
    );
    replaced(
        "sets = [[], [\"n1\"]]",
        "sets = ['n1']",
        &["22: ['n1'] every set of `sets` must be an array of node names, found \"n1\""],
    );
    replaced(
        "sets = [[], [\"n1\"]]",
        "possibly_optimal = 1",
        &["22: [1] `possibly_optimal` must be true or false, found 1"],
    );
    replaced(
        "parents = [\"n1\"]",
        "parents = [\"n1\"]\ncomponents = 'both'",
        &[
            "15: ['both'] `components` of node `yield` must be \"independent\" or \"coregionalised\", found \"both\"",
        ],
    );
    replaced(
        "\"normal(5, 0.2)\"",
        "true",
        &[
            "25: [true] the simulator of node `soil` must be a formula in quotes, or an array of them, found true",
        ],
    );
    let text = "maximize = 'y'\nnodes = 3\nactions = 4\nconstraints = 5\nsimulator = 6\n";
    assert_eq!(
        complaints(text),
        [
            "2: [3] `nodes` must be a table, found 3",
            "3: [4] `actions` must be a table, found 4",
            "4: [5] `constraints` must be a table, found 5",
            "5: [6] `simulator` must be a table, found 6",
        ]
    );
    assert_eq!(complaints("maximize = 'y'\nnodes.y = 3\n"), ["2: [3] node `y` must be a table, found 3"]);
}

#[test]
fn names() {
    let names = "names are made of letters a-z, digits and underscores, and do not start with a digit";
    let with = |name: &str| {
        format!(
            "maximize = 'y'\n[nodes.y]\nactions = ['a']\n[nodes.{name}]\nparents = ['y']\n[actions.a]\nrange = [0, 1]\n"
        )
    };
    assert_eq!(
        complaints(&with("my-node")),
        [format!("4: [my-node] `my-node` cannot be the name of a node | {names}")]
    );
    assert_eq!(complaints(&with("2x")), [format!("4: [2x] `2x` cannot be the name of a node | {names}")]);
    assert_eq!(complaints(&with("\"\"")), [format!("4: [\"\"] `` cannot be the name of a node | {names}")]);
    assert_eq!(complaints(&with("\"größe\"")).len(), 1);
    for reserved in ["sin", "pi", "e", "normal"] {
        assert_eq!(
            complaints(&with(reserved)),
            [format!(
                "4: [{reserved}] `{reserved}` cannot be the name of a node | formulas use this name already; choose another"
            )]
        );
    }
    assert_eq!(
        complaints(&with("a")),
        [
            "6: [a] action `a` has the name of a node | names are shared by nodes and actions; rename one of them"
        ]
    );
}

#[test]
fn parents_and_actions() {
    replaced(
        "[\"soil\"]",
        "[\"sol\"]",
        &["9: [sol] `parents` of node `n1` names `sol`, which is not a node | did you mean `soil`?"],
    );
    replaced(
        "[\"soil\"]",
        "[\"soil\", \"rain\"]",
        &[
            "9: [rain] `parents` of node `n1` names `rain`, which is not a node | add a table `[nodes.rain]` or remove the name",
        ],
    );
    replaced(
        "[\"soil\"]",
        "[\"soil\", \"a1\"]",
        &[
            "9: [a1] `parents` of node `n1` names `a1`, which is not a node | `a1` is an action; actions are listed under `actions` of the nodes they feed",
        ],
    );
    replaced(
        "[\"soil\"]",
        "[\"soil\", \"soil\"]",
        &["9: [soil] `parents` of node `n1` names `soil` twice | name it once"],
    );
    replaced(
        "[\"a1\"]",
        "[\"a1\", \"a2\"]",
        &["10: [a2] `actions` of node `n1` names `a2`, which is not an action | did you mean `a1`?"],
    );
    replaced(
        "[\"a1\"]",
        "[\"a1\", \"dose\"]",
        &[
            "10: [dose] `actions` of node `n1` names `dose`, which is not an action | add a table `[actions.dose]` with a `range`, or remove the name",
        ],
    );
    replaced(
        "[\"a1\"]",
        "[\"a1\", \"soil\"]",
        &[
            "10: [soil] `actions` of node `n1` names `soil`, which is not an action | `soil` is a node; nodes are listed under `parents`",
        ],
    );
    replaced(
        "[\"a1\"]",
        "[\"a1\", \"a1\"]",
        &["10: [a1] `actions` of node `n1` names `a1` twice | name it once"],
    );
    replaced(
        "actions = [\"a1\"]",
        "",
        &[
            "16: [a1] no node reads action `a1` | add `actions = [\"a1\"]` to the nodes it feeds, or remove it",
            "26: [a1] the simulator of node `n1` reads `a1`, which is not an action of node `n1` | add `a1` to `actions` of node `n1`",
        ],
    );
}

#[test]
fn cycles() {
    replaced(
        "[\"soil\"]",
        "[\"soil\", \"n1\"]",
        &[
            "9: [n1] node `n1` is its own parent | a value that depends on its own past is two nodes, before and after",
        ],
    );
    replaced(
        "noise = { gaussian = 0.2 }",
        "parents = [\"yield\"]",
        &[
            "6: [yield] the nodes form a cycle: `soil` -> `n1` -> `yield` -> `soil` | remove one of these parents; causes come before their effects",
        ],
    );
}

#[test]
fn the_reward() {
    replaced(
        "maximize = \"yield\"",
        "",
        &[
            "the problem does not say what to optimise | write `maximize = \"NODE\"` or `minimize = \"NODE\"` at the top",
        ],
    );
    replaced(
        "maximize = \"yield\"",
        "maximize = \"yield\"\nminimize = \"soil\"",
        &["4: [soil] both `maximize` and `minimize` are given | keep one of them"],
    );
    replaced(
        "\"yield\"",
        "\"yeild\"",
        &["3: [yeild] `maximize` names `yeild`, which is not a node | did you mean `yield`?"],
    );
    replaced(
        "\"yield\"",
        "\"a1\"",
        &[
            "3: [a1] `maximize` names `a1`, which is not a node | `a1` is an action; actions are listed under `actions` of the nodes they feed",
        ],
    );
    replaced(
        "[nodes.yield]",
        "[nodes.yield]\ndo = [0, 1]",
        &["14: [[0, 1]] the reward `yield` has a `do` range | what is optimised cannot be set; remove `do`"],
    );
    assert_eq!(
        complaints("maximize = 'y'\n[nodes.y]\ndim = 2\nactions = ['a']\n[actions.a]\nrange = [0, 1]\n"),
        [
            "1: [y] the reward `y` has 2 components | add a scalar node that reads it, with a `formula` that says what is good"
        ]
    );
    assert_eq!(
        complaints("maximize = 'y'\n[nodes.y]\n"),
        [
            "there is nothing to choose: no actions, and no node can be set | give a node `do = [LOW, HIGH]`, or add an action under `[actions.NAME]` and to a node's `actions`"
        ]
    );
    assert_eq!(
        complaints("maximize = 'y'\n"),
        [
            "1: [y] `maximize` names `y`, which is not a node | add a table `[nodes.y]` or remove the name",
            "the problem has no nodes | add a table `[nodes.NAME]` for every variable",
        ]
    );
}

#[test]
fn ranges() {
    let finite = "write a number that bounds what can happen";
    replaced(
        "[0.0, 50.0]",
        "[50, 0]",
        &["17: [[50, 0]] `range` of action `a1` goes from 50 to 0 | write [0, 50], the smaller end first"],
    );
    replaced(
        "[0.0, 50.0]",
        "[5, 5]",
        &[
            "17: [[5, 5]] `range` of action `a1` goes from 5 to 5 | the second end must be larger than the first",
        ],
    );
    for (written, value) in [("inf", "inf"), ("nan", "NaN"), ("1e999", "inf")] {
        let expected = format!(
            "17: [[0, {written}]] an end of `range` of action `a1` is {value}, which is not a finite number | {finite}"
        );
        replaced("[0.0, 50.0]", &format!("[0, {written}]"), &[&expected]);
    }
    replaced(
        "[0.0, 50.0]",
        "[-1e308, 1e308]",
        &[
            "17: [[-1e308, 1e308]] an end of `range` of action `a1` is -1e308, more than the 1e60 that can be computed with | give it in a larger unit",
        ],
    );
    replaced(
        "range = [0.0, 50.0]",
        "",
        &["16: [a1] action `a1` has no `range` | write `range = [LOW, HIGH]`"],
    );
    replaced(
        "neutral = 0.0",
        "neutral = nan",
        &[&format!("18: [nan] `neutral` of action `a1` is NaN, which is not a finite number | {finite}")],
    );
    replaced(
        "[0.0, 10.0]",
        "[10, 0]",
        &["11: [[10, 0]] `do` of node `n1` goes from 10 to 0 | write [0, 10], the smaller end first"],
    );
    replaced(
        "[0.0, 10.0]",
        "[[0, 1], [0, 2]]",
        &[
            "11: [[[0, 1], [0, 2]]] `do` of node `n1` has 2 entries, but node `n1` has 1 component(s) | write it without the array, or set `dim`",
        ],
    );
    replaced(
        "[0.0, 10.0]",
        "[0, 10]\nrange = [1, 0]",
        &["12: [[1, 0]] `range` of node `n1` goes from 1 to 0 | write [0, 1], the smaller end first"],
    );
    replaced(
        "gaussian = 0.2",
        "gaussian = 0",
        &[
            "6: [{ gaussian = 0 }] the standard deviation of the noise of node `soil` is 0 | write `noise = \"none\"`",
        ],
    );
    replaced(
        "gaussian = 0.2",
        "gaussian = -1",
        &[
            "6: [{ gaussian = -1 }] the standard deviation of the noise of node `soil` is -1 | a standard deviation is a positive number",
        ],
    );
    replaced(
        "gaussian = 0.2",
        "gaussian = inf",
        &[&format!(
            "6: [{{ gaussian = inf }}] the noise of node `soil` is inf, which is not a finite number | {finite}"
        )],
    );
    replaced(
        "gaussian = 0.2",
        "uniform = [1, -1]",
        &[
            "6: [{ uniform = [1, -1] }] the noise of node `soil` goes from 1 to -1 | write [-1, 1], the smaller end first",
        ],
    );
}
