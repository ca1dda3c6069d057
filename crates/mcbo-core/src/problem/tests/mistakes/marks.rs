//! Units, contexts, limits and costs.

use super::replaced;
use crate::problem::*;

const REMOVE: &str = "remove it, or draw the arrows that are missing";

#[test]
fn units() {
    replaced(
        "actions = [\"a1\"]",
        "actions = [\"a1\"]\nunit = ' '",
        &[
            "11: [ ] `unit` of node `n1` is empty | write what its values are counted in, as in `unit = \"g/l\"`, or leave it out",
        ],
    );
    replaced(
        "neutral",
        "unit = \"g\\tl\"\nneutral",
        &[
            "18: [\"g\\tl\"] the unit of action `a1` \"g\\tl\" has a line break or another control character | give one that fits in one line",
        ],
    );
    replaced("neutral", "unit = 3\nneutral", &["18: [3] `unit` of action `a1` must be a string, found 3"]);
}

#[test]
fn contexts() {
    replaced(
        "parents = [\"soil\"]",
        "context = true\nparents = [\"soil\"]",
        &[
            "9: [true] node `n1` is a context and has a `do` range | what can be set is decided, not known beforehand; remove one of the two",
            "11: [a1] node `n1` is a context, but reads the action `a1` | a context is known before anything is decided: it reads other contexts only; remove one of the two",
        ],
    );
    let text = "maximize = 'y'\n[nodes.x]\n[nodes.c]\nparents = ['x']\ncontext = true\ndo = [0, 1]\n[nodes.y]\nparents = ['c']\n";
    assert_eq!(
        super::complaints(text),
        [
            "4: [x] node `c` is a context, but reads the node `x` | a context is known before anything is decided: it reads other contexts only; remove one of the two",
            "5: [true] node `c` is a context and has a `do` range | what can be set is decided, not known beforehand; remove one of the two",
        ]
    );
    let text = "maximize = 'y'\n[nodes.x]\ndo = [0, 1]\n[nodes.y]\ncontext = true\n";
    assert_eq!(
        super::complaints(text),
        [
            "5: [true] the reward `y` is a context | what is optimised is not known beforehand; remove `context`"
        ]
    );
    replaced(
        "actions = [\"a1\"]",
        "actions = [\"a1\"]\ncontext = 'yes'",
        &["11: ['yes'] `context` of node `n1` must be true or false, found \"yes\""],
    );
    // Contexts may read contexts.
    let text = "maximize = 'y'\n[nodes.w]\ncontext = true\n[nodes.c]\nparents = ['w']\ncontext = true\n[nodes.y]\nparents = ['c']\nactions = ['a']\n[actions.a]\nrange = [0, 1]\n";
    let problem = Problem::from_toml(text).expect("it is fine");
    assert_eq!(problem.contexts().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn limits() {
    let limited = |limit: &str, expected: &[&str]| {
        replaced("actions = [\"a1\"]", &format!("actions = [\"a1\"]\nlimit = {limit}"), expected);
    };
    let forms = "{ below = LEVEL }, { above = LEVEL } or both, with a `probability` if it is not 0.9";
    limited("4", &[&format!("11: [4] `limit` of node `n1` must be {forms}, found 4")]);
    limited(
        "{ probability = 0.5 }",
        &[&format!("11: [{{ probability = 0.5 }}] `limit` of node `n1` must be {forms}, found a table")],
    );
    limited(
        "{ below = 0, above = 0 }",
        &[
            "11: [{ below = 0, above = 0 }] the limit of node `n1` wants values above 0 and below 0 | `above` must be smaller than `below`: outcomes are to lie between them",
        ],
    );
    limited(
        "{ under = 4 }",
        &["11: [under] unknown key `under` in `limit` of node `n1` | known here: below, above, probability"],
    );
    limited("{ below = 'four' }", &["11: ['four'] `below` must be a number, found \"four\""]);
    limited(
        "{ below = inf }",
        &[
            "11: [{ below = inf }] `below` of the limit of node `n1` is inf, which is not a finite number | write a number that bounds what can happen",
        ],
    );
    for probability in ["0", "1", "1.5", "-0.1", "nan"] {
        let limit = format!("{{ above = 2, probability = {probability} }}");
        let found = probability.parse::<f64>().expect("a number");
        limited(
            &limit,
            &[&format!(
                "11: [{limit}] `probability` of the limit of node `n1` is {found}, which is not between 0 and 1 | write a number such as 0.95: nothing noisy is ever certain"
            )],
        );
    }
    let unmoved = |what: &str| {
        format!(
            "node `soil` has a `limit`, but {what} | limits are for what actions or set nodes act on; {REMOVE}"
        )
    };
    replaced(
        "noise = { gaussian = 0.2 }",
        "limit = { below = 6 }",
        &[&format!("6: [{{ below = 6 }}] {}", unmoved("nothing that is chosen can change it"))],
    );
    replaced(
        "noise = { gaussian = 0.2 }",
        "noise = 'none'\nlimit = { below = 6 }",
        &[&format!("7: [{{ below = 6 }}] {}", unmoved("it is a constant"))],
    );
    let both = super::NITROGEN.replace("max_interventions = 2", "possibly_optimal = true");
    let both =
        both.replace("sets = [[], [\"n1\"]]", "").replace("do = [0.0", "limit = { below = 9 }\ndo = [0.0");
    assert_eq!(
        super::complaints(&both),
        [
            "22: [true] `possibly_optimal` cannot be combined with `limit` | the sets it leaves out can be the best ones of those that are allowed; remove one of the two",
        ]
    );
}

#[test]
fn costs() {
    let priced = |cost: &str, expected: &[&str]| {
        replaced("neutral", &format!("cost = {cost}\nneutral"), expected);
    };
    let forms = "{ fixed = COST }, { per_unit = COST } or both";
    priced("3", &[&format!("18: [3] `cost` of action `a1` must be {forms}, found 3")]);
    priced("{}", &[&format!("18: [{{}}] `cost` of action `a1` must be {forms}, found a table")]);
    priced(
        "{ each = 1 }",
        &["18: [each] unknown key `each` in `cost` of action `a1` | known here: fixed, per_unit"],
    );
    priced(
        "{ fixed = -1 }",
        &["18: [{ fixed = -1 }] `fixed` of the cost of action `a1` is -1 | write a finite number, 0 or more"],
    );
    priced(
        "{ per_unit = inf }",
        &[
            "18: [{ per_unit = inf }] `per_unit` of the cost of action `a1` is inf | write a finite number, 0 or more",
        ],
    );
    replaced(
        "do = [0.0, 10.0]",
        "cost = { fixed = 2 }",
        &[
            "11: [{ fixed = 2 }] node `n1` has a `cost`, but cannot be set | add `do = [LOW, HIGH]` to node `n1`, or give the cost to an action",
            "22: [n1] `sets` names node `n1`, which cannot be set | add `do = [LOW, HIGH]` to node `n1`",
        ],
    );
    replaced(
        "do = [0.0, 10.0]",
        "do = [0, 9]\ncost = { per_unit = 2 }",
        &[
            "12: [{ per_unit = 2 }] the cost of setting node `n1` is per unit, but a node has no neutral value to count from | write `cost = { fixed = COST }`",
        ],
    );
}

/// Everything that is wrong is said at once.
#[test]
fn all_at_once() {
    let text = "maximize = 'y'\n[nodes.c]\ncontext = true\nlimit = { below = 1 }\n[nodes.y]\nparents = ['c']\nactions = ['a']\nunit = ''\n\
                [actions.a]\nrange = [0, 1]\ncost = { fixed = -2 }\n";
    let found = super::complaints(text);
    assert_eq!(found.len(), 3, "{found:#?}");
}
