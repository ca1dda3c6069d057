//! What matters, about the recommended intervention.

use super::{Study, StudyError};
use crate::network::{Doubt, Effects};
use crate::strategy::Recommendation;

impl Study {
    /// What every action and every arrow does to the expected reward about a recommended intervention, and which nodes are to
    /// blame for what is not known of it: see [`Network::effects`](crate::Network::effects).
    ///
    /// # Errors
    /// If nothing was measured yet.
    pub fn effects(&self, recommendation: &Recommendation) -> Result<Effects, StudyError> {
        if self.data.is_empty() {
            return Err(StudyError::NoData);
        }
        let Recommendation { network, intervention, .. } = recommendation;
        Ok(network.effects(&self.problem, &self.data, intervention, self.seed))
    }

    /// What the data say against the graph, the formulas and single values, the weightiest first; nothing is said for lack of
    /// rows. See [`Doubt`].
    ///
    /// # Errors
    /// If nothing was measured yet.
    pub fn doubts(&self, recommendation: &Recommendation) -> Result<Vec<Doubt>, StudyError> {
        if self.data.is_empty() {
            return Err(StudyError::NoData);
        }
        Ok(recommendation.network.doubts(&self.problem, &self.data, self.seed))
    }
}
