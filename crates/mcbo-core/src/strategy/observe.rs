//! Doing nothing, and looking.

use rand::Rng;

use super::{Context, Proposal, Strategy, SuggestError, Suggestion};

/// The neutral intervention in every round: no target is set and every action is at its neutral value.
///
/// What is gained over it is gained by intervening. It repeats itself by its nature, pending trials or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Observe;

impl Strategy for Observe {
    fn name(&self) -> &str {
        "observe"
    }

    fn suggest(&self, context: &Context<'_>, _: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        let suggestion = Suggestion::new(self.name(), context.problem.neutral_intervention());
        Ok(Proposal { suggestion, memory: context.memory.clone() })
    }
}
