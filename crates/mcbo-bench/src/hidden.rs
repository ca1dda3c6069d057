//! A problem that keeps something to itself: what a strategy is not told.

use mcbo_core::{Direction, Noise, Problem, ProblemErrors, input_names};

/// What a strategy is not told of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// The noise of every node, which has to be learned.
    Noise,
    /// What actions and set nodes cost.
    Costs,
}

/// The same problem without what is hidden.
pub(crate) fn without(problem: &Problem, hidden: Hidden) -> Result<Problem, ProblemErrors> {
    let name = |node: usize| problem.nodes()[node].name.clone();
    let reward = name(problem.reward());
    let builder =
        Problem::builder(problem.name()).possibly_optimal(problem.possibly_optimal()).aim(problem.aim());
    let mut builder = match problem.direction() {
        Direction::Maximize => builder.maximize(reward),
        Direction::Minimize => builder.minimize(reward),
    };
    for action in problem.actions() {
        builder = builder.action_like(action);
        if let Some(unit) = &action.unit {
            builder = builder.action_unit(&action.name, unit);
        }
        if let Some(cost) = action.cost.filter(|_| hidden != Hidden::Costs) {
            builder = builder.action_cost(&action.name, cost);
        }
    }
    for (index, node) in problem.nodes().iter().enumerate() {
        builder = builder.node(&node.name, |mut copy| {
            copy = copy.parents(node.parents.iter().map(|&parent| name(parent)));
            copy = copy.actions(node.actions.iter().map(|&action| problem.actions()[action].name.clone()));
            if node.is_choice() {
                copy = copy.choices(node.choices.iter().cloned());
                copy = if node.hard.is_some() { copy.hard_choices() } else { copy };
            } else {
                copy = copy.dim(node.dim).components(node.components);
                copy = copy.noise(if hidden == Hidden::Noise { Noise::Learn } else { node.noise });
                // One step, or one list, is written for all components.
                let grid = node.grid.as_ref().and_then(|grids| grids.first());
                copy = match (&node.hard, grid.and_then(|grid| grid.list())) {
                    (_, Some(values)) => copy.hard_values(values.iter().copied()),
                    (Some(ranges), None) => copy.hard_each(ranges.iter().copied()),
                    (None, None) => copy,
                };
                if let Some(step) = grid.and_then(|grid| grid.step()) {
                    copy = copy.step(step);
                }
            }
            if let Some(formulas) = node.formula_texts() {
                copy = copy.formula(owned(formulas));
            }
            if let Some(kernel) = &node.kernel {
                copy = copy.kernel(kernel.to_text(&input_names(problem, index)));
            }
            if let Some(unit) = &node.unit {
                copy = copy.unit(unit);
            }
            if node.context {
                copy = copy.context();
            }
            if let Some(limit) = node.limit {
                copy = copy.limit(limit);
            }
            if let Some(cost) = node.cost.filter(|_| hidden != Hidden::Costs) {
                copy = copy.cost(cost.fixed);
            }
            match node.range {
                Some(range) => copy.range(range),
                None => copy,
            }
        });
        if let Some(simulator) = problem.simulator() {
            builder = builder.simulate(&node.name, owned(simulator.texts(index)));
        }
    }
    for requirement in problem.requirements() {
        builder = builder.require(requirement.text());
    }
    if let Some(limit) = problem.max_interventions() {
        builder = builder.max_interventions(limit);
    }
    if let Some(sets) = problem.sets() {
        builder = builder.sets(sets.iter().map(|set| set.iter().map(|&node| name(node))));
    }
    builder.build()
}

fn owned(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use mcbo_core::{Action, Node};

    use super::*;
    use crate::Task;

    /// Takes what is hidden off nodes and actions.
    type Off = (fn(&mut Node), fn(&mut Action));

    #[test]
    fn nothing_but_what_is_hidden_is_another() {
        let scm = ["scm-soft-1", "scm-hard-0", "scm-hard-3", "scm-mixed-2"];
        let names = Task::names().chain(scm).chain(Task::practice_names()).chain(Task::kinds());
        for (name, hidden) in names.flat_map(|name| [(name, Hidden::Noise), (name, Hidden::Costs)]) {
            let task = Task::named(name).unwrap();
            let (problem, copy) = (task.problem(), without(task.problem(), hidden).unwrap());
            let (node, action): Off = match hidden {
                Hidden::Noise => {
                    assert!(copy.nodes().iter().all(|node| node.noise == Noise::Learn), "{name}");
                    (|node| node.noise = Noise::None, |_| {})
                }
                Hidden::Costs => {
                    assert!(!copy.has_costs(), "{name}");
                    (|node| node.cost = None, |action| action.cost = None)
                }
            };
            let nodes = |problem: &Problem| {
                let mut nodes = problem.nodes().to_vec();
                nodes.iter_mut().for_each(node);
                nodes
            };
            let actions = |problem: &Problem| {
                let mut actions = problem.actions().to_vec();
                actions.iter_mut().for_each(action);
                actions
            };
            assert_eq!(nodes(problem), nodes(&copy), "{name}");
            assert_eq!(actions(problem), actions(&copy), "{name}");
            assert_eq!(problem.simulator(), copy.simulator());
            assert_eq!(problem.sets(), copy.sets());
            assert_eq!(problem.requirements(), copy.requirements());
            assert_eq!(
                (problem.name(), problem.reward(), problem.direction(), problem.max_interventions()),
                (copy.name(), copy.reward(), copy.direction(), copy.max_interventions())
            );
            assert_eq!(problem.possibly_optimal(), copy.possibly_optimal());
        }
    }
}
