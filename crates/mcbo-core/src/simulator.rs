//! A made-up system that answers experiments, so that a problem can be run on its own.

use rand::distr::{Distribution, StandardUniform};
use rand_distr::StandardNormal;

use crate::expr::Expr;
use crate::intervention::Intervention;
use crate::problem::{Noise, Problem};

/// The mechanism of one node: a formula per component, and the noise that the formulas do not draw themselves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mechanism {
    pub(crate) formulas: Vec<Expr>,
    pub(crate) noise: Noise,
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

    /// The formulas of a node, one per component.
    pub fn formulas(&self, node: usize) -> &[Expr] {
        &self.mechanisms[node].formulas
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
        let mut values = vec![0.0; problem.slots()];
        let mut inputs = Vec::new();
        for &node in problem.graph().order() {
            let slot = problem.slot(node);
            if let Some(set) = intervention.target(node) {
                values[slot].copy_from_slice(set);
                continue;
            }
            problem.gather_inputs(node, &values, &intervention.actions, &mut inputs);
            let Mechanism { formulas, noise } = &self.mechanisms[node];
            for (at, formula) in slot.zip(formulas) {
                values[at] = formula.sample(&inputs, rng) + draw(*noise, rng);
            }
        }
        values
    }
}

fn draw(noise: Noise, rng: &mut dyn rand::Rng) -> f64 {
    match noise {
        Noise::None | Noise::Learn => 0.0,
        Noise::Gaussian(std) => {
            let z: f64 = StandardNormal.sample(rng);
            std * z
        }
        Noise::Uniform([lo, hi]) => {
            let u: f64 = StandardUniform.sample(rng);
            lo + (hi - lo) * u
        }
    }
}
