//! Trials on a model in the making, so that every mechanism of a form gets unit variance where its inputs lie.

use mcbo_core::Expr;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::draft::Draft;
use super::mechanism::Inputs;

/// Random interventions that scales are measured on.
const COUNT: usize = 300;
/// A mechanism that hardly varies is not blown up beyond this.
const LEAST_DEVIATION: f64 = 1e-3;

/// The values of actions and nodes so far in some random interventions.
pub(super) struct Trials {
    actions: Vec<Vec<f64>>,
    nodes: Vec<Vec<f64>>,
    /// The inputs of the node that is drawn, trial by trial.
    inputs: Vec<Vec<f64>>,
}

impl Trials {
    /// No trials: for models that are not scaled by them.
    pub(super) fn none() -> Self {
        Self { actions: Vec::new(), nodes: Vec::new(), inputs: Vec::new() }
    }

    /// Random actions.
    pub(super) fn random(draft: &Draft, rng: &mut ChaCha8Rng) -> Self {
        let mut row = || (0..draft.action_count).map(|_| rng.random()).collect();
        let actions: Vec<Vec<f64>> = (0..COUNT).map(|_| row()).collect();
        Self { actions, nodes: vec![Vec::new(); COUNT], inputs: Vec::new() }
    }

    /// Looks at the inputs of the next node.
    pub(super) fn begin(&mut self, draft: &Draft, node: usize) {
        let seen = |(values, actions): (&Vec<f64>, &Vec<f64>)| {
            let parents = draft.parents[node].iter().map(|&parent| values[parent]);
            parents.chain(draft.actions[node].iter().map(|&action| actions[action])).collect()
        };
        self.inputs = self.nodes.iter().zip(&self.actions).map(seen).collect();
    }

    /// Runs the node's mechanism, with noise of this standard deviation.
    pub(super) fn end(&mut self, formula: &str, inputs: Inputs<'_>, std: f64, rng: &mut ChaCha8Rng) {
        for (values, mean) in self.nodes.iter_mut().zip(evaluate(formula, inputs, &self.inputs)) {
            let z: f64 = StandardNormal.sample(rng);
            values.push(mean + std * z);
        }
    }

    /// The formula with mean 0 and variance 1.
    pub(super) fn standardised(&self, formula: &str, inputs: Inputs<'_>) -> String {
        let (mean, deviation) = self.moments(formula, inputs);
        format!("{:.5} * ({formula}) + {:.5}", 1.0 / deviation, -mean / deviation)
    }

    /// The formula with variance 1, of the sign it had.
    pub(super) fn scaled(&self, formula: &str, inputs: Inputs<'_>) -> String {
        format!("{:.5} * {formula}", 1.0 / self.moments(formula, inputs).1)
    }

    fn moments(&self, formula: &str, inputs: Inputs<'_>) -> (f64, f64) {
        let values = evaluate(formula, inputs, &self.inputs);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        (mean, variance.sqrt().max(LEAST_DEVIATION))
    }
}

/// The values of a formula. One that cannot be read has the value 0; the problem says so when it is built.
fn evaluate(formula: &str, inputs: Inputs<'_>, rows: &[Vec<f64>]) -> Vec<f64> {
    let names: Vec<(&str, usize)> = inputs.names().map(|name| (name.as_str(), 1)).collect();
    let expr = Expr::parse(formula, &names, false);
    rows.iter().map(|row| expr.as_ref().map_or(0.0, |expr| expr.eval(row))).collect()
}
