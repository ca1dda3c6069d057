//! The reward straight from what is decided, the graph left out: one process per target set.

use mcbo_gp::{Earlier, GpSet, GpSpec, Noise as GpNoise, Rows};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::decision::{DecisionSpace, Variable};
use crate::problem::Curve;
use crate::{Choice, Data, Given, Intervention, Noise, Problem};

use super::{
    Affine, Batch, FitError, Group, GroupMemory, Mechanism, ModelMemory, ModelSettings, ModelWarning,
    Network, NodeModel, NoiseSamples, Plan, Scaling, Workspace, form,
};

/// Below this share of the rewards' scale a deviation counts as this share.
pub(crate) const SMALLEST_DEVIATION: f64 = 1e-10;

/// One process per target set, from the values of the set and the actions to the reward.
///
/// All sets share one scaling of the reward, so that a set of few trials, or of none, is as uncertain as the rewards differ.
#[derive(Debug)]
pub(crate) struct RewardModel {
    sets: Vec<Vec<usize>>,
    networks: Vec<Network>,
    rewards: Affine,
}

impl RewardModel {
    /// Fits a process to every target set: all of them where they are few, else those that were tried.
    pub fn fit(
        problem: &Problem,
        data: &Data,
        memory: &ModelMemory,
        settings: &ModelSettings,
        rng: &mut dyn Rng,
    ) -> Result<Self, FitError> {
        let sets = problem.target_sets().map(<[_]>::to_vec).unwrap_or_else(|| {
            let mut sets: Vec<Vec<usize>> = Vec::new();
            for observation in data.observations() {
                let set = observation.intervention.target_set();
                if !sets.contains(&set) {
                    sets.push(set);
                }
            }
            sets
        });
        let seed: u64 = rng.random();
        let all: Vec<f64> = data.rewards(problem).map(|(_, reward)| problem.sign() * reward).collect();
        let rewards = Affine::standard(&all);
        let networks = sets
            .par_iter()
            .enumerate()
            .map(|(index, set)| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(index as u64 + 1);
                let earlier = memory.groups(index).first().copied();
                fit_set(problem, data, set, rewards, earlier, settings, &mut rng)
            })
            .collect::<Result<Vec<Network>, FitError>>()?;
        Ok(Self { sets, networks, rewards })
    }

    /// The model of a target set; `None` for a set that was never tried where there are too many to list.
    pub fn network(&self, set: &[usize]) -> Option<&Network> {
        self.sets.iter().position(|other| other == set).map(|index| &self.networks[index])
    }

    /// The plan that computes the reward of a choice.
    pub fn plan(problem: &Problem, choice: &Choice) -> Plan {
        Plan::direct(problem, choice)
    }

    /// The hyper-parameters, to begin the next round from.
    pub fn memory(&self, problem: &Problem) -> ModelMemory {
        let models = self.networks.iter().map(|network| network.nodes[problem.reward()].as_ref());
        ModelMemory::of(models.map(|model| model.map_or(&[][..], NodeModel::groups)))
    }

    /// What the user should know about the fit.
    pub fn warnings(&self) -> impl Iterator<Item = &ModelWarning> {
        self.networks.iter().flat_map(|network| &network.warnings)
    }

    /// Mean and deviation of the expected reward of an intervention, in the direction of improvement.
    pub fn predict(&self, problem: &Problem, intervention: &Intervention) -> (f64, f64) {
        let choice = Choice::of(problem, intervention);
        let Some(network) = self.network(&choice.targets) else { return self.prior(problem) };
        let plan = Self::plan(problem, &choice);
        let points: Vec<f64> = plan.space.units(intervention).collect();
        let noise = NoiseSamples::silent(&plan);
        let (mut workspace, mut values) = (Workspace::default(), Vec::new());
        let mut at = |beta: f64| {
            let batch = Batch { points: &points, beta, noise: &noise };
            network.rollout(&plan, batch, &mut workspace, &mut values, &mut []);
            values[0]
        };
        let mean = at(0.0);
        (mean, at(1.0) - mean)
    }

    /// Mean and deviation of the reward of a target set that was never tried.
    pub fn prior(&self, problem: &Problem) -> (f64, f64) {
        (problem.sign() * self.rewards.shift, self.rewards.scale)
    }

    /// The scale of the rewards.
    pub fn scale(&self) -> f64 {
        self.rewards.scale
    }

    /// Conditions on a trial that is under way as if its reward came out as predicted.
    ///
    /// # Errors
    /// If the process refuses it.
    pub fn condition_on_pending(
        &mut self,
        problem: &Problem,
        intervention: &Intervention,
    ) -> Result<(), FitError> {
        let mean = problem.sign() * self.predict(problem, intervention).0;
        let set = intervention.target_set();
        let Some(index) = self.sets.iter().position(|other| *other == set) else { return Ok(()) };
        let inputs = inputs_of(problem, intervention);
        let Some(model) = &mut self.networks[index].nodes[problem.reward()] else { return Ok(()) };
        let scaled: Vec<f64> =
            inputs.iter().zip(&model.inputs).map(|(x, scaling)| scaling.apply(*x)).collect();
        let output = model.outputs[0].apply(mean);
        if let Mechanism::Learned(groups) = &mut model.mechanism {
            let refused = |source| FitError::of_node(problem, problem.reward(), source);
            groups.iter_mut().try_for_each(|group| group.append(&scaled, output, 0)).map_err(refused)?;
        }
        Ok(())
    }
}

/// What the process of a target set reads, in the order of [`Plan::direct`] and in the user's units.
fn inputs_of(problem: &Problem, intervention: &Intervention) -> Vec<f64> {
    DecisionSpace::of_targets(problem, intervention.target_set()).values(intervention)
}

/// Whether the reward is a fixed function of what is decided when this set is the target.
fn is_certain(problem: &Problem, set: &[usize]) -> bool {
    let relevant = problem.graph().ancestors_cut(problem.reward(), set);
    let certain = |(node, declared): (usize, &crate::Node)| {
        !relevant[node] || set.contains(&node) || declared.noise == Noise::None
    };
    problem.nodes().iter().enumerate().all(certain)
}

/// The scale of a decided variable; names are counted, which needs none.
fn scaling_of(variable: &Variable) -> Scaling {
    if variable.named { Scaling::IDENTITY } else { Scaling::of_range(variable.range, variable.curve) }
}

fn fit_set(
    problem: &Problem,
    data: &Data,
    set: &[usize],
    rewards: Affine,
    earlier: Option<GroupMemory<'_>>,
    settings: &ModelSettings,
    rng: &mut ChaCha8Rng,
) -> Result<Network, FitError> {
    let reward = problem.reward();
    let failed = |source| FitError::of_node(problem, reward, source);
    let space = DecisionSpace::of_targets(problem, set.to_vec());
    let inputs: Vec<Scaling> = space.variables().iter().map(scaling_of).collect();
    let mut rows = Rows::new(inputs.len());
    for (trial, value) in data.rewards(problem) {
        let intervention = &data.observations()[trial].intervention;
        if intervention.target_set() == set {
            let decided = space.values(intervention);
            let scaled: Vec<f64> = decided.iter().zip(&inputs).map(|(x, s)| s.apply(*x)).collect();
            rows.push(&scaled, rewards.apply(problem.sign() * value)).map_err(failed)?;
        }
    }
    let dim = inputs.len();
    let named = (0..dim).filter(|&k| space.variables()[k].named).collect();
    let curved = |k: &usize| space.variables()[*k].curve != Curve::Straight;
    let ratios = (0..dim).filter(curved).collect();
    let kinds = form::Inputs { parents: 0, actions: dim, named, ratios };
    let certain = is_certain(problem, set);
    let spec = GpSpec {
        noise: if certain { GpNoise::Fixed(settings.noise_floor) } else { GpNoise::Learned },
        mean: settings.mean(),
        priors: settings.priors(),
        origins: inputs.iter().map(|scaling| scaling.apply(0.0)).collect(),
        kernel: kinds.kernel(),
        ..GpSpec::new(dim, GpNoise::Learned)
    };
    let scales: Vec<f64> = super::fit::scales_of(&inputs).chain([rewards.scale]).collect();
    let earlier = earlier.map_or_else(Earlier::default, |memory| memory.under(&scales));
    let fitted =
        GpSet::fit(&spec, &kinds.forms(), &rows, earlier, &settings.inference, rng).map_err(failed)?;
    let jitter = fitted.jitter();
    let warning =
        (jitter > 0.0).then(|| ModelWarning::Jitter { node: problem.nodes()[reward].name.clone(), jitter });
    let mut nodes: Vec<Option<NodeModel>> = problem.nodes().iter().map(|_| None).collect();
    nodes[reward] = Some(NodeModel {
        inputs,
        outputs: vec![rewards],
        // The reward's noise is never realised: nothing reads it.
        noise: vec![Noise::None],
        mechanism: Mechanism::Learned(vec![Group {
            set: fitted,
            first: 0,
            rows: rows.len(),
            row_noise: vec![settings.noise_floor],
            scales,
        }]),
        sticks: None,
    });
    let warnings = warning.into_iter().collect();
    Ok(Network { nodes, trials: Vec::new(), warnings, given: Given::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design_point;
    use crate::testing::system;
    use rand::SeedableRng;

    #[test]
    fn a_trial_without_noise_is_remembered() {
        let (problem, data) = system(Noise::None);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let model = RewardModel::fit(&problem, &data, &Default::default(), &ModelSettings::paper(), &mut rng);
        let mut model = model.expect("a fit");
        for (trial, reward) in data.rewards(&problem) {
            let (mean, deviation) = model.predict(&problem, &data.observations()[trial].intervention);
            assert!((mean - reward).abs() < 0.02 && deviation < 0.05, "{reward}: {mean} ± {deviation}");
        }
        // A pending trial changes no mean and takes the doubt away.
        let pending = design_point(&problem, 99, 7);
        let (mean, before) = model.predict(&problem, &pending);
        model.condition_on_pending(&problem, &pending).expect("it is taken");
        let (imagined, after) = model.predict(&problem, &pending);
        assert!((imagined - mean).abs() < 1e-2 * before && after < 0.1 * before, "{before} {after}");
    }
}
