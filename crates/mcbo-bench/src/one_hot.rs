//! What one would do without steps and choices: names as numbers, one for each, and everything rounded.

use std::sync::Arc;

use mcbo_core::{
    Context, Data, Direction, Intervention, Mcbo, Observation, Problem, ProblemErrors, Proposal, Strategy,
    SuggestError,
};
use rand::Rng;

use crate::design::allowed;

/// The default strategy on a problem of ranges alone: a choice of `k` names is `k` numbers from 0 to 1, the largest of which is
/// meant, and steps are taken for ranges. What it suggests is rounded to what is allowed, and it is told what was done.
///
/// Something to compare with: problems without formulas, kernels, nodes that can be set, contexts and limits.
#[derive(Debug)]
pub struct OneHot {
    relaxed: Arc<Problem>,
}

impl OneHot {
    /// For a problem.
    ///
    /// # Errors
    /// If the problem has what this cannot do.
    pub fn new(problem: &Problem) -> Result<Self, ProblemErrors> {
        let name = |node: usize| problem.nodes()[node].name.clone();
        let reward = name(problem.reward());
        let mut builder = match problem.direction() {
            Direction::Maximize => Problem::builder(problem.name()).maximize(reward),
            Direction::Minimize => Problem::builder(problem.name()).minimize(reward),
        };
        let places = |action: usize| {
            let action = &problem.actions()[action];
            match action.is_choice() {
                true => (0..action.choices.len()).map(|k| format!("{}_{k}", action.name)).collect(),
                false => vec![action.name.clone()],
            }
        };
        for (index, action) in problem.actions().iter().enumerate() {
            match action.is_choice() {
                true => {
                    builder = places(index).into_iter().fold(builder, |b, name| b.action(name, [0.0, 1.0]))
                }
                false => {
                    builder = builder
                        .action_with_neutral(&action.name, action.range, action.neutral)
                        .action_scale(&action.name, action.scale);
                }
            }
        }
        for node in problem.nodes() {
            builder = builder.node(&node.name, |copy| {
                copy.parents(node.parents.iter().map(|&parent| name(parent)))
                    .actions(node.actions.iter().flat_map(|&action| places(action)))
                    .noise(node.noise)
            });
        }
        // What holds under some names only is kept where names are: by rounding.
        for requirement in problem.requirements().iter().filter(|one| one.conditions().is_empty()) {
            builder = builder.require(requirement.text());
        }
        Ok(Self { relaxed: Arc::new(builder.build()?) })
    }

    /// An intervention in numbers.
    fn relax(problem: &Problem, intervention: &Intervention) -> Intervention {
        let values = problem.actions().iter().zip(&intervention.actions);
        let actions = values.flat_map(|(action, &value)| match action.is_choice() {
            true => (0..action.choices.len()).map(|k| f64::from(u8::from(k as f64 == value))).collect(),
            false => vec![value],
        });
        Intervention { targets: Vec::new(), actions: actions.collect() }
    }

    /// The intervention that numbers are rounded to.
    fn round(problem: &Problem, relaxed: &Intervention) -> Intervention {
        let mut rest = relaxed.actions.as_slice();
        let actions = problem.actions().iter().map(|action| {
            let (own, behind) = rest.split_at(action.choices.len().max(1));
            rest = behind;
            match (action.is_choice(), &action.grid) {
                // Of equals the first.
                (true, _) => {
                    (0..own.len()).fold(0, |best, k| if own[k] > own[best] { k } else { best }) as f64
                }
                (false, Some(grid)) => grid.value(grid.nearest(own[0])),
                (false, None) => own[0],
            }
        });
        let actions: Vec<f64> = actions.collect();
        allowed(problem, Intervention { targets: Vec::new(), actions })
    }

    /// What is known, in numbers.
    fn known(&self, context: &Context<'_>) -> Data {
        let mut data = Data::new();
        for row in context.data.observations() {
            let intervention = Self::relax(context.problem, &row.intervention);
            // What was measured of the problem can be told of its like.
            let _ = data.push(&self.relaxed, Observation { intervention, values: row.values.clone() });
        }
        data
    }
}

impl Strategy for OneHot {
    fn name(&self) -> &str {
        "one-hot"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        let data = self.known(context);
        let relaxed = Context::new(&self.relaxed, &data, context.memory);
        let mut proposal = Mcbo::default().suggest(&relaxed, rng)?;
        proposal.suggestion.intervention = Self::round(context.problem, &proposal.suggestion.intervention);
        Ok(proposal)
    }

    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        let data = self.known(context);
        let relaxed = Context::new(&self.relaxed, &data, context.memory);
        Ok(Self::round(context.problem, &Mcbo::default().recommended(&relaxed, rng)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Task, run};

    #[test]
    fn names_are_numbers_and_back() {
        let task = Task::named("strains").expect("a task");
        let (problem, one_hot) = (task.problem(), OneHot::new(task.problem()).expect("a problem"));
        assert_eq!(one_hot.relaxed.actions().len(), 4 + 3 + 2);
        let done = Intervention { targets: Vec::new(), actions: vec![2.0, 1.0, 9.0, 36.5] };
        let relaxed = OneHot::relax(problem, &done);
        assert_eq!(relaxed.actions, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 9.0, 36.5]);
        let near = [0.1, 0.4, 0.9, 0.2, 0.3, 0.6, 0.59, 8.1, 36.6];
        let near = Intervention { targets: Vec::new(), actions: near.to_vec() };
        assert_eq!((OneHot::round(problem, &relaxed), OneHot::round(problem, &near)), (done.clone(), done));
        let result = run(&task, &one_hot, 0, 2).expect("a run");
        assert_eq!(result.rounds.len(), 2);
    }
}
