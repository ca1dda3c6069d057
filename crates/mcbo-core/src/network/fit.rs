//! Fitting the model of one node: scaling, noise, processes.

use mcbo_gp::{Earlier, Form, GpError, GpSet, GpSpec, Noise as GpNoise, Rows};
use rand_chacha::ChaCha8Rng;

use crate::noise::Shares;
use crate::problem::Curve;
use crate::{Components, Data, Expr, Noise, Problem};

use super::{
    Affine, Group, GroupMemory, Mechanism, ModelSettings, ModelWarning, NodeModel, ParentScaling, Scaling,
    Sticks, answers, form, slot_name,
};

/// The model of one node, with what the user should know about it.
pub(super) fn fit_node(
    problem: &Problem,
    data: &Data,
    index: usize,
    earlier: &[GroupMemory<'_>],
    settings: &ModelSettings,
    rng: &mut ChaCha8Rng,
) -> Result<(NodeModel, Vec<ModelWarning>), GpError> {
    let node = &problem.nodes()[index];
    let dim = problem.input_dim(index);
    if let Some(formulas) = node.formula.as_ref().filter(|_| node.is_choice()) {
        let model = NodeModel {
            inputs: vec![Scaling::IDENTITY; dim],
            outputs: vec![Affine::IDENTITY; node.outputs()],
            noise: vec![UNIT],
            mechanism: Mechanism::Formula(formulas.clone()),
            sticks: Some(Sticks::Known),
        };
        return Ok((model, Vec::new()));
    }
    if let Some(formulas) = &node.formula {
        let noise = match node.noise {
            Noise::Learn => Noise::Gaussian(residual_deviation(problem, data, index, formulas)),
            declared => declared,
        };
        // As a learned mechanism does, it takes up the mean of the noise.
        let output = Affine { shift: noise.mean(), ..Affine::IDENTITY };
        let model = NodeModel {
            inputs: vec![Scaling::IDENTITY; dim],
            outputs: vec![output; node.dim],
            noise: vec![noise.centred(); node.dim],
            mechanism: Mechanism::Formula(formulas.clone()),
            sticks: None,
        };
        return Ok((model, Vec::new()));
    }
    if node.is_choice() && !node.is_caused_choice() {
        let mut counts = vec![0; node.choices.len()];
        data.training_rows(problem, index, 0).for_each(|(_, value)| counts[value as usize] += 1);
        let model = NodeModel {
            inputs: Vec::new(),
            outputs: vec![Affine::IDENTITY],
            noise: vec![Noise::Names(Shares::of_counts(&counts))],
            mechanism: Mechanism::Formula(vec![Expr::zero()]),
            sticks: None,
        };
        return Ok((model, Vec::new()));
    }
    let components: Vec<Vec<(Vec<f64>, f64)>> =
        (0..node.outputs()).map(|output| data.training_rows(problem, index, output).collect()).collect();
    let inputs = scale_inputs(problem, index, &components, settings.scaling);
    let values = |rows: &[(Vec<f64>, f64)]| rows.iter().map(|(_, value)| *value).collect::<Vec<_>>();
    let scale = if node.is_choice() { Affine::of_answers } else { Affine::standard };
    let outputs: Vec<Affine> = components.iter().map(|rows| scale(&values(rows))).collect();
    let mut warnings = Vec::new();
    // That one name has come so far, or that it was never asked which of the last ones, is nothing to look into.
    let told = if node.is_choice() { &components[..1] } else { &components[..] };
    for (component, rows) in told.iter().enumerate() {
        let name = slot_name(problem, index, component);
        if rows.is_empty() {
            warnings.push(ModelWarning::NoRows { node: name });
        } else if !node.is_choice() && rows.len() > 2 && rows.iter().all(|(_, value)| *value == rows[0].1) {
            warnings.push(ModelWarning::Constant { node: name, rows: rows.len(), value: rows[0].1 });
        }
    }
    let together = node.components == Components::Coregionalised && node.dim > 1;
    let width = if together { node.dim } else { 1 };
    let mut fitted = Vec::new();
    let parents = dim - node.actions.len();
    let kinds = form::Inputs {
        parents,
        actions: node.actions.len(),
        named: problem.named_inputs(index),
        ratios: (0..dim).filter(|&k| inputs[k].curve != Curve::Straight).collect(),
    };
    for (g, first) in (0..node.outputs()).step_by(width).enumerate() {
        let range = first..first + width;
        let noise_variance = |component: usize| {
            let scale = outputs[component].scale;
            let variance = match node.noise {
                Noise::None => 0.0,
                Noise::Gaussian(deviation) => (deviation / scale).powi(2),
                Noise::Uniform([low, high]) => ((high - low) / scale).powi(2) / 12.0,
                Noise::Learn | Noise::Names(_) => 0.0,
            };
            variance.clamp(settings.noise_floor, 1e6)
        };
        let noise = match node.noise {
            _ if node.is_choice() => GpNoise::PerRow,
            Noise::Learn => GpNoise::Learned,
            Noise::None if settings.learn_misfit => GpNoise::Misfit,
            _ if range.len() == 1 => GpNoise::Fixed(noise_variance(range.start)),
            _ => GpNoise::PerRow,
        };
        let mut rows = Rows::new(dim);
        for component in range.clone() {
            for (input, value) in &components[component] {
                let scaled: Vec<f64> = input.iter().zip(&inputs).map(|(x, s)| s.apply(*x)).collect();
                rows.push_full(
                    &scaled,
                    if node.is_choice() { *value } else { outputs[component].apply(*value) },
                    component - range.start,
                    noise_variance(component),
                )?;
            }
        }
        let spec = GpSpec {
            kernel: node.kernel.clone().unwrap_or_else(|| kinds.kernel()),
            dim,
            components: range.len(),
            noise,
            mean: settings.mean(),
            priors: settings.priors(),
            origins: inputs.iter().map(|scaling| scaling.apply(0.0)).collect(),
        };
        // A kernel that the user chose is kept.
        let forms: Vec<Form> = match &node.kernel {
            Some(_) => Vec::new(),
            None => kinds.forms(),
        };
        let scales: Vec<f64> =
            scales_of(&inputs).chain(outputs[range.clone()].iter().map(|output| output.scale)).collect();
        let memory = earlier.get(g).map_or_else(Earlier::default, |memory| memory.under(&scales));
        let set = match node.is_choice() {
            true => {
                answers::fit(&spec, &forms, &rows, outputs[range.start], memory, &settings.inference, rng)?
            }
            false => GpSet::fit(&spec, &forms, &rows, memory, &settings.inference, rng)?,
        };
        if set.jitter() > 0.0 {
            warnings.push(ModelWarning::Jitter { node: node.name.clone(), jitter: set.jitter() });
        }
        let row_noise = match node.is_choice() {
            true => vec![answers::noise(outputs[range.start])],
            false => range.clone().map(noise_variance).collect(),
        };
        fitted.push(Group { set, first: range.start, rows: rows.len(), row_noise, scales });
    }
    if node.is_choice() {
        let sticks = Some(Sticks::Learned);
        let mechanism = Mechanism::Learned(fitted);
        return Ok((NodeModel { inputs, outputs, noise: vec![UNIT], mechanism, sticks }, warnings));
    }
    let noise = (0..node.dim)
        .map(|component| match node.noise {
            Noise::Learn => {
                let group = fitted.iter().rev().find(|g| g.first <= component);
                let variance = group.map_or(0.0, |g| g.set.noise_variance());
                Noise::Gaussian(variance.sqrt() * outputs[component].scale)
            }
            // The learned mechanism absorbs the mean of the noise.
            declared => declared.centred(),
        })
        .collect();
    let mechanism = Mechanism::Learned(fitted);
    Ok((NodeModel { inputs, outputs, noise, mechanism, sticks: None }, warnings))
}

/// The luck of a name that has causes.
const UNIT: Noise = Noise::Uniform([0.0, 1.0]);

/// The deviation of a node's values from its known formula.
fn residual_deviation(problem: &Problem, data: &Data, node: usize, formulas: &[Expr]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0_f64);
    for (component, formula) in formulas.iter().enumerate() {
        for (inputs, value) in data.training_rows(problem, node, component) {
            let residual = value - formula.eval(&inputs);
            if residual.is_finite() {
                sum += residual * residual;
                count += 1.0;
            }
        }
    }
    (sum / count.max(1.0)).sqrt()
}

fn scale_inputs(
    problem: &Problem,
    index: usize,
    components: &[Vec<(Vec<f64>, f64)>],
    scaling: ParentScaling,
) -> Vec<Scaling> {
    let node = &problem.nodes()[index];
    let mut inputs = Vec::with_capacity(problem.input_dim(index));
    for &parent in &node.parents {
        let parent = &problem.nodes()[parent];
        if parent.is_choice() {
            inputs.push(Scaling::IDENTITY);
            continue;
        }
        for component in 0..parent.dim {
            let declared = parent.range.or_else(|| parent.hard.as_ref().map(|ranges| ranges[component]));
            let seen = || {
                let k = inputs.len();
                components.iter().flatten().map(|(input, _)| input[k]).collect::<Vec<f64>>()
            };
            let affine = match declared {
                Some(range) if scaling == ParentScaling::Declared => Affine::of_range(range),
                // One value says nothing of the range but its size: with a unit of 1 the next one could lie hundreds of units away.
                None if scaling == ParentScaling::Declared && is_constant(&seen()) => {
                    Affine::standard(&seen())
                }
                _ => Affine::min_max(&seen()),
            };
            inputs.push(affine.into());
        }
    }
    inputs.extend(node.actions.iter().map(|&action| {
        let action = &problem.actions()[action];
        // Names are counted, which needs no scale.
        if action.is_choice() { Scaling::IDENTITY } else { Scaling::of_range(action.range, action.curve()) }
    }));
    inputs
}

/// What a unit of every input is, as far as hyper-parameters are relative to it.
pub(super) fn scales_of(inputs: &[Scaling]) -> impl Iterator<Item = f64> + '_ {
    inputs.iter().map(|input| input.affine.scale)
}

fn is_constant(values: &[f64]) -> bool {
    values.first().is_some_and(|first| values.iter().all(|value| value == first))
}

#[cfg(test)]
mod tests;
