//! Mistakes in components, kernels, formulas, the simulator and constraints.

use super::super::NITROGEN;
use super::{complaints, replaced};
use crate::Problem;

#[test]
fn components_and_kernels() {
    replaced(
        "[nodes.soil]",
        "[nodes.soil]\ndim = 0",
        &[
            "6: [0] `dim` of node `soil` is 0, which is not between 1 and 1000 | leave `dim` out for a plain number",
        ],
    );
    replaced(
        "[nodes.soil]",
        "[nodes.soil]\ndim = 9999999999",
        &[
            "6: [9999999999] `dim` of node `soil` is 9999999999, which is not between 1 and 1000 | leave `dim` out for a plain number",
        ],
    );
    replaced(
        "[nodes.soil]",
        "[nodes.soil]\ndim = 1.5",
        &["6: [1.5] `dim` of node `soil` must be a whole number, found 1.5"],
    );
    replaced(
        "[nodes.soil]",
        "[nodes.soil]\nkernel = \"matern5\"",
        &[
            "6: [matern5] `kernel` of node `soil`: `matern5` is not a kernel | join matern52, matern32, se, linear and cosine with + and *, as in se(dose) * linear(soil)",
        ],
    );
    replaced(
        "[nodes.soil]",
        "[nodes.soil]\nkernel = \"se(rain)\"",
        &[
            "6: [se(rain)] `kernel` of node `soil`: `rain` is not an input of it | there are no inputs with names",
        ],
    );
    replaced(
        "[nodes.soil]",
        "[nodes.soil]\nkernel = \"se\"\nformula = \"5\"",
        &[
            "6: [se] node `soil` has both a `formula` and a `kernel` | a formula is used as it is and not learned; remove one of the two",
        ],
    );
    replaced(
        "[nodes.soil]",
        "[nodes.soil]\nformula = ['1', '2']",
        &[
            "6: [['1', '2']] `formula` of node `soil` has 2 entries, but node `soil` has 1 component(s) | write it without the array, or set `dim`",
        ],
    );
    replaced(
        "[nodes.soil]",
        "[nodes.soil]\ndim = 2",
        &[
            "26: [\"normal(5, 0.2)\"] the simulator of node `soil` has 1 entries, but node `soil` has 2 component(s) | write an array of 2, one for each component",
            "27: [soil] the simulator of node `n1`: `soil` has 2 components | write one of them: `soil[0]`, `soil[1]`",
        ],
    );
}

#[test]
fn formulas() {
    replaced(
        "[nodes.yield]",
        "[nodes.yield]\nformula = \"n1 + * 2\"",
        &[
            "14: [*] `formula` of node `yield`: expected a number, a name or `(`, found `*` | powers are written with `^`",
        ],
    );
    replaced(
        "[nodes.yield]",
        "[nodes.yield]\nformula = \"2 * nn1\"",
        &["14: [nn1] `formula` of node `yield`: unknown name `nn1` | did you mean `n1`?"],
    );
    replaced(
        "[nodes.yield]",
        "[nodes.yield]\nformula = \"n1 + soil\"",
        &[
            "14: [soil] `formula` of node `yield` reads `soil`, which is not a parent of node `yield` | add `soil` to `parents` of node `yield`",
        ],
    );
    replaced(
        "[nodes.yield]",
        "[nodes.yield]\nformula = \"n1 + a1\"",
        &[
            "14: [a1] `formula` of node `yield` reads `a1`, which is not an action of node `yield` | add `a1` to `actions` of node `yield`",
        ],
    );
    replaced(
        "[nodes.yield]",
        "[nodes.yield]\nformula = \"yield\"",
        &[
            "14: [yield] `formula` of node `yield` reads `yield`, which is not a parent of node `yield` | a node cannot read itself",
        ],
    );
    replaced(
        "[nodes.yield]",
        "[nodes.yield]\nformula = \"n1 + normal(0, 1)\"",
        &[
            "14: [normal] `formula` of node `yield`: `normal` draws a random number, which is not allowed here | write the fixed part here and the randomness as the node's `noise`",
        ],
    );
    // Written with an escape, the formula is marked as a whole.
    replaced(
        "[nodes.yield]",
        "[nodes.yield]\nformula = \"n1 +\\t* 2\"",
        &[
            "14: [\"n1 +\\t* 2\"] `formula` of node `yield`: expected a number, a name or `(`, found `*` | powers are written with `^`",
        ],
    );
}

#[test]
fn the_simulator() {
    replaced(
        "soil = \"normal(5, 0.2)\"",
        "",
        &[
            "5: [soil] the simulator says nothing about node `soil` | add `soil = \"...\"` under `[simulator]`",
        ],
    );
    replaced(
        "[simulator]",
        "[simulator]\nrain = \"1\"",
        &[
            "25: [rain] the simulator names `rain`, which is not a node | add a table `[nodes.rain]` or remove the name",
        ],
    );
    replaced(
        "0.8 * soil",
        "0.8 * yield",
        &[
            "26: [yield] the simulator of node `n1` reads `yield`, which is not a parent of node `n1` | add `yield` to `parents` of node `n1`",
        ],
    );
    replaced(
        "exp(-(n1",
        "exp(-(n1))",
        &[
            "27: [)] the simulator of node `yield`: expected an operator, found `)` | there is no `(` that it closes",
        ],
    );
    let text = NITROGEN.replace("[nodes.yield]", "[nodes.yield]\nformula = \"n1\"");
    let text: String =
        text.lines().filter(|line| !line.starts_with("yield =")).collect::<Vec<_>>().join("\n");
    assert_eq!(
        complaints(&text),
        [
            "13: [yield] the simulator says nothing about node `yield` | write its formula and noise under `[simulator]`, or give node `yield` a known `noise`"
        ]
    );
    let known = text.replace("formula = \"n1\"", "formula = \"n1\"\nnoise = { gaussian = 0.3 }");
    assert!(Problem::from_toml(&known).unwrap().simulator().is_some());
}

#[test]
fn constraints() {
    for wrong in ["0", "-1"] {
        let text = format!("max_interventions = {wrong}");
        let expected = format!(
            "21: [{wrong}] `max_interventions` is {wrong}, so no intervention is allowed | write at least 1, or leave it out for no limit"
        );
        replaced("max_interventions = 2", &text, &[&expected]);
    }
    replaced(
        "[[], [\"n1\"]]",
        "[[], [\"n2\"]]",
        &["22: [n2] `sets` names `n2`, which is not a node | did you mean `n1`?"],
    );
    replaced(
        "[[], [\"n1\"]]",
        "[[], [\"soil\"]]",
        &["22: [soil] `sets` names node `soil`, which cannot be set | add `do = [LOW, HIGH]` to node `soil`"],
    );
    replaced(
        "[[], [\"n1\"]]",
        "[[\"n1\", \"n1\"]]",
        &["22: [n1] one of the `sets` names `n1` twice | name it once"],
    );
    replaced(
        "[[], [\"n1\"]]",
        "[]",
        &[
            "22: [[]] `sets` is empty, so nothing is allowed | write `sets = [[]]` to set no node, or leave it out",
        ],
    );
    let text = NITROGEN
        .replace("noise = { gaussian = 0.2 }", "do = [0, 9]")
        .replace("max_interventions = 2", "max_interventions = 1")
        .replace("[[], [\"n1\"]]", "[[], [\"n1\", \"soil\"]]");
    assert_eq!(
        complaints(&text),
        [
            "22: [[\"n1\", \"soil\"]] the set {soil, n1} has 2 targets, but `max_interventions` is 1 | raise the limit or remove the set"
        ]
    );
    let hint = "the sets it leaves out can be the best ones of those that are allowed; remove one of the two";
    replaced(
        "[constraints]",
        "[constraints]\npossibly_optimal = true",
        &[
            &format!("21: [true] `possibly_optimal` cannot be combined with `max_interventions` | {hint}"),
            &format!("21: [true] `possibly_optimal` cannot be combined with `sets` | {hint}"),
        ],
    );
}
