//! Trials that are under way: their means stand for what is not known of them yet.

use crate::{Intervention, Noise, Observation, Problem};

use super::{FitError, Mechanism, Network};

impl Network {
    /// Conditions on a trial that is under way as if what is still missing came out as predicted, hyper-parameters unchanged,
    /// so that several suggestions can be made before the first is measured. What was measured already is among the data.
    ///
    /// # Errors
    /// If a process refuses the row.
    pub fn condition_on_pending(&mut self, problem: &Problem, pending: &Observation) -> Result<(), FitError> {
        let intervention = &pending.intervention;
        let values = self.mean_values_given(problem, intervention, &pending.values);
        let mut inputs = Vec::new();
        for (node, model) in self.nodes.iter_mut().enumerate() {
            let Some(model) = model else { continue };
            if intervention.target(node).is_some() {
                continue;
            }
            problem.gather_inputs(node, &values, &intervention.actions, &mut inputs);
            inputs.iter_mut().zip(&model.inputs).for_each(|(x, scaling)| *x = scaling.apply(*x));
            let missing = pending.values[problem.slot(node).start].is_none();
            if model.sticks.is_some() {
                if let Mechanism::Learned(groups) = &mut model.mechanism
                    && missing
                    && inputs.iter().all(|x| x.is_finite())
                {
                    // Whichever name comes: what is not known shrinks, and what is expected stays.
                    let mut at = mcbo_gp::Prediction::default();
                    for group in groups {
                        group.set.predict(&inputs, 1, false, &mut mcbo_gp::Scratch::default(), &mut at);
                        let appended = group.append(&inputs, at.mean[0], 0);
                        appended.map_err(|source| FitError::of_node(problem, node, source))?;
                    }
                }
                continue;
            }
            if let Mechanism::Learned(groups) = &mut model.mechanism {
                for group in groups {
                    for component in 0..group.set.components() {
                        let at = group.first + component;
                        let slot = problem.slot(node).start + at;
                        let output = model.outputs[at].apply(values[slot]);
                        // A formula without a value there leaves nothing to condition on.
                        if pending.values[slot].is_none()
                            && output.is_finite()
                            && inputs.iter().all(|x| x.is_finite())
                        {
                            let appended = group.append(&inputs, output, component);
                            appended.map_err(|source| FitError::of_node(problem, node, source))?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The values of all nodes when every mechanism gives its mean and there is no noise; nodes without a path to the
    /// reward are 0.
    pub fn mean_values(&self, problem: &Problem, intervention: &Intervention) -> Vec<f64> {
        self.mean_values_given(problem, intervention, &[])
    }

    /// The same where some values were measured: those stay, and what follows from them does.
    fn mean_values_given(
        &self,
        problem: &Problem,
        intervention: &Intervention,
        measured: &[Option<f64>],
    ) -> Vec<f64> {
        let mut values = vec![0.0; problem.slots()];
        let (mut inputs, mut scratch) = (Vec::new(), mcbo_gp::Scratch::default());
        let mut prediction = mcbo_gp::Prediction::default();
        for &node in problem.graph().order() {
            let slot = problem.slot(node);
            if let Some(set) = intervention.target(node).or(self.given.of(node)) {
                values[slot].copy_from_slice(set);
                continue;
            }
            let Some(model) = &self.nodes[node] else { continue };
            problem.gather_inputs(node, &values, &intervention.actions, &mut inputs);
            if model.sticks.is_some() {
                // Of names there is no mean: the most probable one, if it can be said.
                let names = self.predict_names(problem, node, &inputs, 1);
                let most = (0..names.len()).rev().max_by(|&a, &b| names[a][0].0.total_cmp(&names[b][0].0));
                values[slot.start] =
                    most.filter(|&k| names[k][0].0.is_finite()).map_or(f64::NAN, |k| k as f64);
                values[slot.start] =
                    measured.get(slot.start).copied().flatten().unwrap_or(values[slot.start]);
                continue;
            }
            match &model.mechanism {
                Mechanism::Formula(formulas) => {
                    for ((at, formula), output) in slot.zip(formulas).zip(&model.outputs) {
                        values[at] = output.shift + formula.eval(&inputs);
                    }
                    // Of names there is no mean.
                    if let [Noise::Names(shares)] = model.noise[..] {
                        values[problem.slot(node).start] = shares.commonest() as f64;
                    }
                }
                Mechanism::Learned(groups) => {
                    inputs.iter_mut().zip(&model.inputs).for_each(|(x, scaling)| *x = scaling.apply(*x));
                    for group in groups {
                        group.set.predict(&inputs, 1, false, &mut scratch, &mut prediction);
                        for (component, mean) in prediction.mean.iter().enumerate() {
                            let output = model.outputs[group.first + component];
                            values[slot.start + group.first + component] = output.shift + output.scale * mean;
                        }
                    }
                }
            }
            for at in problem.slot(node) {
                values[at] = measured.get(at).copied().flatten().unwrap_or(values[at]);
            }
        }
        values
    }
}
