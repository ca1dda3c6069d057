//! A problem that keeps its noise to itself.

use mcbo_core::{Direction, Noise, Problem, ProblemErrors, input_names};

/// The same problem with the noise of every node to be learned.
pub(crate) fn learned(problem: &Problem) -> Result<Problem, ProblemErrors> {
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
    }
    for (index, node) in problem.nodes().iter().enumerate() {
        builder = builder.node(&node.name, |mut copy| {
            copy = copy.parents(node.parents.iter().map(|&parent| name(parent)));
            copy = copy.actions(node.actions.iter().map(|&action| problem.actions()[action].name.clone()));
            copy = copy.dim(node.dim).components(node.components).noise(Noise::Learn);
            if let Some(ranges) = &node.hard {
                copy = copy.hard_each(ranges.iter().copied());
            }
            // One step is written for all components.
            if let Some(grid) = node.grid.as_ref().and_then(|grids| grids.first()) {
                copy = copy.step(grid.step());
            }
            if let Some(formulas) = &node.formula {
                copy = copy.formula(texts(formulas));
            }
            if let Some(kernel) = &node.kernel {
                copy = copy.kernel(kernel.to_text(&input_names(problem, index)));
            }
            match node.range {
                Some(range) => copy.range(range),
                None => copy,
            }
        });
        if let Some(simulator) = problem.simulator() {
            builder = builder.simulate(&node.name, texts(simulator.formulas(index)));
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

fn texts(formulas: &[mcbo_core::Expr]) -> Vec<String> {
    formulas.iter().map(|formula| formula.text().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use mcbo_core::Node;

    use super::*;
    use crate::Task;

    #[test]
    fn nothing_but_the_noise_is_another() {
        let names = Task::names().chain(["scm-soft-1", "scm-hard-0", "scm-hard-3", "scm-mixed-2"]);
        for name in names {
            let task = Task::named(name).unwrap();
            let (problem, copy) = (task.problem(), learned(task.problem()).unwrap());
            assert!(copy.nodes().iter().all(|node| node.noise == Noise::Learn), "{name}");
            let silent = |node: &Node| Node { noise: Noise::None, ..node.clone() };
            let [before, after] =
                [problem.nodes(), copy.nodes()].map(|nodes| nodes.iter().map(silent).collect::<Vec<_>>());
            assert_eq!(before, after, "{name}");
            assert_eq!(problem.actions(), copy.actions());
            assert_eq!(problem.simulator(), copy.simulator());
            assert_eq!(problem.sets(), copy.sets());
            assert_eq!(
                (problem.name(), problem.reward(), problem.direction(), problem.max_interventions()),
                (copy.name(), copy.reward(), copy.direction(), copy.max_interventions())
            );
            assert_eq!(problem.possibly_optimal(), copy.possibly_optimal());
        }
    }
}
