//! A made-up system that answers experiments, so that a problem can be run on its own.

use crate::expr::Expr;
use crate::intervention::Intervention;
use crate::noise::{Noise, sticks};

use super::Problem;

/// The mechanism of one node: a formula per component, and the noise that the formulas do not draw themselves. Or how probable every
/// name but the last is if it is none before.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mechanism {
    pub(crate) formulas: Vec<Expr>,
    pub(crate) noise: Noise,
    /// Whether it picks a name.
    pub(crate) picks: bool,
}

/// One random mechanism per node and component, over the inputs of the node.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulator {
    mechanisms: Vec<Mechanism>,
}

impl Simulator {
    pub(crate) fn new(mechanisms: Vec<Mechanism>) -> Self {
        Self { mechanisms }
    }

    /// Draws a component of a node at inputs: its formula, and the noise that the formula does not draw itself.
    pub fn draw(&self, node: usize, component: usize, inputs: &[f64], rng: &mut dyn rand::Rng) -> f64 {
        let Mechanism { formulas, noise, picks } = &self.mechanisms[node];
        if *picks {
            return sticks::place(&eval_all(formulas, inputs), Noise::Uniform([0.0, 1.0]).draw(rng));
        }
        formulas[component].sample(inputs, rng) + noise.draw(rng)
    }

    /// How probable each name of a node is at inputs, where its formula picks one by weights; not finite where a weight is negative or
    /// all are 0.
    pub fn shares(&self, node: usize, inputs: &[f64]) -> Option<Vec<f64>> {
        let Mechanism { formulas, picks, .. } = &self.mechanisms[node];
        picks.then(|| sticks::shares(&eval_all(formulas, inputs)))
    }

    /// Whether two experiments of the same may differ in a node.
    pub fn is_random(&self, node: usize) -> bool {
        let Mechanism { formulas, noise, picks } = &self.mechanisms[node];
        *picks || !matches!(noise, Noise::None | Noise::Learn) || formulas.iter().any(Expr::is_random)
    }

    /// The formulas of a node, one per component; of one whose name is picked as [`Expr::parse_pick`] has them.
    pub fn formulas(&self, node: usize) -> &[Expr] {
        &self.mechanisms[node].formulas
    }

    /// The formulas of a node as they were written: one per component, or the one that picks a name.
    pub fn texts(&self, node: usize) -> Vec<&str> {
        let Mechanism { formulas, picks, .. } = &self.mechanisms[node];
        formulas.iter().take(if *picks { 1 } else { usize::MAX }).map(Expr::text).collect()
    }

    /// Runs one experiment: the values of all nodes, at the places given by [`Problem::slot`].
    ///
    /// Nodes are drawn in topological order and read the realised values of their parents; hard targets take the
    /// value they are set to and draw nothing. Values need not be finite where a formula is not.
    ///
    /// # Panics
    /// When the simulator or the intervention is not one of `problem`: fewer nodes or actions, or a target with
    /// another number of components.
    pub fn sample(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        rng: &mut dyn rand::Rng,
    ) -> Vec<f64> {
        self.sample_knowing(problem, intervention, |_| None, rng)
    }

    /// The same where some nodes, such as contexts, have values already; they draw nothing.
    ///
    /// # Panics
    /// As [`Self::sample`].
    pub fn sample_knowing<'k>(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        known: impl Fn(usize) -> Option<&'k [f64]>,
        rng: &mut dyn rand::Rng,
    ) -> Vec<f64> {
        let mut values = vec![0.0; problem.slots()];
        let mut inputs = Vec::new();
        for &node in problem.graph().order() {
            let slot = problem.slot(node);
            if let Some(set) = intervention.target(node).or_else(|| known(node)) {
                values[slot].copy_from_slice(set);
                continue;
            }
            problem.gather_inputs(node, &values, &intervention.actions, &mut inputs);
            for (component, at) in slot.enumerate() {
                values[at] = self.draw(node, component, &inputs, rng);
            }
        }
        values
    }
}

fn eval_all(formulas: &[Expr], inputs: &[f64]) -> Vec<f64> {
    formulas.iter().map(|formula| formula.eval(inputs)).collect()
}
