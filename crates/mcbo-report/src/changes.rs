//! What a changed problem says otherwise.

use mcbo_core::{Components, Problem, input_names};

use crate::describe::{self, levers};

/// Something that a problem says.
struct Fact {
    /// The node or action that it is said of; none if it is said of the problem.
    owner: Option<String>,
    about: String,
    what: String,
}

/// Everything that a problem says, in its order. What it does not say is empty.
fn facts(problem: &Problem) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut say = |owner: Option<&str>, about: &str, what: String| {
        let about = owner.map_or_else(|| about.to_owned(), |owner| format!("{about} of {owner}"));
        facts.push(Fact { owner: owner.map(str::to_owned), about, what });
    };
    say(None, "name", problem.name().into());
    say(None, "objective", describe::objective(problem));
    say(None, "aim", problem.aim().name().into());
    let values = |label: &str| {
        let values: Vec<String> =
            levers(problem).iter().filter(|lever| lever.label == label).map(|lever| lever.values()).collect();
        values.join(", ")
    };
    for (index, node) in problem.nodes().iter().enumerate() {
        let mut of = |key: &str, what: String| say(Some(&node.name), key, what);
        let parents: Vec<&str> = node.parents.iter().map(|&p| problem.nodes()[p].name.as_str()).collect();
        let actions: Vec<&str> = node.actions.iter().map(|&a| problem.actions()[a].name.as_str()).collect();
        let optional = |text: Option<String>| text.unwrap_or_default();
        of("parents", parents.join(", "));
        of("actions", actions.join(", "));
        of("choices", node.choices.join(", "));
        let components =
            (0..node.dim).map(|c| values(&format!("do({})", mcbo_core::slot_name(problem, index, c))));
        of("settings", components.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; "));
        of("noise", if node.is_choice() { String::new() } else { describe::noise(node.noise) });
        of("formula", optional(node.formula_texts().map(|texts| texts.join(", "))));
        of(
            "kernel",
            optional(node.kernel.as_ref().map(|kernel| kernel.to_text(&input_names(problem, index)))),
        );
        let together = node.components == Components::Coregionalised;
        of("components", if together { "learned together".into() } else { String::new() });
        of(
            "range",
            optional(node.range.map(|range| describe::values(range, None, &[], mcbo_core::Scale::Linear))),
        );
        of("unit", optional(node.unit.clone()));
        of("context", if node.context { "known beforehand".into() } else { String::new() });
        of("limit", optional(describe::limit(node)));
        of("cost", optional(node.cost.map(describe::cost)));
    }
    for action in problem.actions() {
        let mut of = |key: &str, what: String| say(Some(&action.name), key, what);
        of("values", values(&action.name));
        of("neutral value", describe::chosen_value(problem, &action.name, action.neutral));
        of("unit", action.unit.clone().unwrap_or_default());
        of("cost", action.cost.map(describe::cost).unwrap_or_default());
    }
    for requirement in problem.requirements() {
        say(None, "requirement", requirement.text().into());
    }
    say(
        None,
        "most interventions at once",
        problem.max_interventions().map(|most| most.to_string()).unwrap_or_default(),
    );
    for set in problem.sets().unwrap_or_default() {
        say(None, "set to be set", describe::set(problem, set));
    }
    say(
        None,
        "only sets that can be best",
        if problem.possibly_optimal() { "yes".into() } else { String::new() },
    );
    for (index, node) in problem.nodes().iter().enumerate() {
        let text = problem.simulator().map(|simulator| simulator.texts(index).join(", "));
        say(Some(&node.name), "simulator", text.unwrap_or_default());
    }
    facts
}

/// What the new problem says otherwise than the old one, a line each: `values of oven: one of 1, 2, 5 (was in 0 to 12)`.
pub fn changes(old: &Problem, new: &Problem) -> Vec<String> {
    let has = |problem: &Problem, name: &str| {
        problem.node_index(name).is_some() || problem.action_index(name).is_some()
    };
    let names = |problem: &Problem| -> Vec<String> {
        let nodes = problem.nodes().iter().map(|node| node.name.clone());
        nodes.chain(problem.actions().iter().map(|action| action.name.clone())).collect()
    };
    let mut lines: Vec<String> = Vec::new();
    lines.extend(names(new).into_iter().filter(|name| !has(old, name)).map(|name| format!("{name} is new")));
    lines.extend(names(old).into_iter().filter(|name| !has(new, name)).map(|name| format!("{name} is gone")));
    // What is said of both. Several facts may be about the same: requirements, sets.
    let of_both = |fact: &Fact| fact.owner.as_ref().is_none_or(|name| has(old, name) && has(new, name));
    let of = |problem: &Problem| facts(problem).into_iter().filter(of_both).collect::<Vec<Fact>>();
    let (before, after) = (of(old), of(new));
    let missing = |of: &[Fact], from: &[Fact]| -> Vec<(String, String)> {
        let there = |fact: &&Fact| !from.iter().any(|f| f.about == fact.about && f.what == fact.what);
        of.iter().filter(there).map(|fact| (fact.about.clone(), fact.what.clone())).collect()
    };
    let (mut gone, come) = (missing(&before, &after), missing(&after, &before));
    for (about, now) in come {
        let was = gone.iter().position(|(other, _)| *other == about).map(|place| gone.remove(place).1);
        lines.push(match (now.is_empty(), was.filter(|was| !was.is_empty())) {
            (false, None) => format!("{about}: {now} (new)"),
            (false, Some(was)) => format!("{about}: {now} (was {was})"),
            (true, was) => format!("{about}: none (was {})", was.unwrap_or_default()),
        });
    }
    lines.extend(
        gone.into_iter()
            .filter(|(_, was)| !was.is_empty())
            .map(|(about, was)| format!("{about}: none (was {was})")),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "maximize = 'y'\n[nodes.x]\nactions = ['a', 'b']\ndo = [0, 1]\n[nodes.y]\nparents = ['x']\nlimit = { below = 3 }\n\
        [actions.a]\nrange = [0, 12]\n[actions.b]\nrange = [0, 1]\nunit = 'mg'\n[constraints]\nrequire = ['a + b <= 5', 'a >= b']\n";

    fn changed(replacements: &[(&str, &str)]) -> Vec<String> {
        let text = replacements.iter().fold(OLD.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        changes(&Problem::from_toml(OLD).expect("a problem"), &Problem::from_toml(&text).expect("a problem"))
    }

    #[test]
    fn every_change_has_its_line() {
        assert_eq!(changed(&[]), [""; 0]);
        assert_eq!(
            changed(&[("range = [0, 12]", "values = [0, 5, 12]")]),
            ["values of a: one of 0, 5, 12 (was in 0 to 12)"]
        );
        assert_eq!(
            changed(&[
                ("limit = { below = 3 }\n", ""),
                ("unit = 'mg'", "unit = 'g'"),
                ("do = [0, 1]", "noise = 'none'")
            ]),
            [
                "settings of x: none (was in 0 to 1)",
                "noise of x: none (was learned)",
                "limit of y: none (was below 3 with a probability of 0.9)",
                "unit of b: g (was mg)",
            ]
        );
        assert_eq!(changed(&[("'a + b <= 5', ", "")]), ["requirement: none (was a + b <= 5)"]);
        assert_eq!(changed(&[("'a >= b'", "'a >= b', 'b <= 2'")]), ["requirement: b <= 2 (new)"]);
        assert_eq!(
            changed(&[("'a + b <= 5'", "'a + b <= 6'")]),
            ["requirement: a + b <= 6 (was a + b <= 5)"]
        );
        assert_eq!(
            changed(&[
                ("parents = ['x']", "parents = ['x', 'w']"),
                ("[nodes.y]", "[nodes.w]\nactions = ['a']\n[nodes.y]")
            ]),
            ["w is new", "parents of y: x, w (was x)"]
        );
        assert_eq!(changed(&[("maximize", "aim = 'find'\nmaximize")]), ["aim: find (was earn)"]);
    }
}
