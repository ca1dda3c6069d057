//! Model-based causal Bayesian optimisation: Algorithms 1 and 2 of the paper.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::acquisition::{Acquisition, Best, NetworkImprovement, OptimisticReward, SharedOptimism};
use crate::decision::DecisionSpace;
use crate::network::{Counting, Drawn, Draws, ModelSettings, Network, NoiseSamples, Plan, Workspace};
use crate::optimism::Optimism;
use crate::quasi::normal_sobol;
use crate::search::{Ascent, AscentBudget, Candidate, SearchPhase, SearchSettings, SearchTask, maximize};
use crate::{Aim, Choice, Given, Intervention, Problem};

use super::costs::{enough_for_cost, is_worth_it, per_cost};
use super::excursion::Excursions;
use super::limits::{self, Guard, about, keeping_ones, within};
use super::{
    Context, Criterion, Memory, Pick, Proposal, Put, Strategy, SuggestError, Suggestion, Warning,
    best_observed, first_free, first_of_each_choice, warm_starts,
};

/// How far a suggestion may trust its luck.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Exploration {
    /// By what the experiments are for, with no number to choose: the given aim, or the problem's.
    Aim(Option<Aim>),
    /// A width `β` of the confidence band in standard deviations, the same in every round, as in the paper's experiments.
    Width(f64),
    /// The width of the paper's theorem, from the information gain of the data so far; see [`Network::theoretical_width`].
    Theory,
}

/// How the luck that a confidence band allows is shared out, with the band's width in standard deviations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Luck {
    /// Every node may be as lucky as the band allows (Eq. reparam_acquisition).
    Each(f64),
    /// All nodes have one budget together.
    Shared(f64),
}

impl Luck {
    /// The width of the band.
    pub fn width(self) -> f64 {
        match self {
            Luck::Each(width) | Luck::Shared(width) => width,
        }
    }
}

/// What is believed best is proposed as it is.
const NO_LUCK: Luck = Luck::Each(0.0);

/// The width of the expected reward that is trusted to luck when rewards are earned.
const EARNING_WIDTH: f64 = 0.35;

/// Model-based causal Bayesian optimisation.
///
/// Fits a process to every node, then proposes the intervention whose reward is highest in the most
/// optimistic model that is still plausible.
#[derive(Debug, Clone, PartialEq)]
pub struct Mcbo {
    /// The model of the nodes.
    pub model: ModelSettings,
    /// How suggestions explore.
    pub exploration: Exploration,
    /// The family of `η`.
    pub optimism: Optimism,
    /// Budget of the search.
    pub search: SearchSettings,
}

impl Default for Mcbo {
    fn default() -> Self {
        Self {
            model: ModelSettings::default(),
            exploration: Exploration::Aim(None),
            optimism: Optimism::Constant,
            search: SearchSettings::default(),
        }
    }
}

impl Mcbo {
    /// The settings of the paper's experiments: the authors' priors, MAP, a constant `β` of 0.5.
    pub fn paper() -> Self {
        Self { model: ModelSettings::paper(), exploration: Exploration::Width(0.5), ..Self::default() }
    }

    /// The same with a constant `β`.
    #[must_use]
    pub fn with_beta(self, beta: f64) -> Self {
        Self { exploration: Exploration::Width(beta), ..self }
    }

    /// The same with an aim of its own, whatever the problem says.
    #[must_use]
    pub fn with_aim(self, aim: Aim) -> Self {
        Self { exploration: Exploration::Aim(Some(aim)), ..self }
    }

    /// Maximises the optimistic reward of a fitted network.
    pub fn search(
        &self,
        context: &Context<'_>,
        network: &Network,
        luck: Luck,
        seed: u64,
        on_phase: &(dyn Fn(SearchPhase) + Sync),
    ) -> Vec<Candidate> {
        search(context, network, self.optimism, luck, &self.search, seed, on_phase)
    }

    /// The luck that a suggestion trusts by the rule of exploration; none where it goes by improvements.
    fn luck(&self, problem: &Problem, network: &Network) -> Option<Luck> {
        match self.exploration {
            Exploration::Width(beta) => Some(Luck::Each(beta)),
            Exploration::Theory => Some(Luck::Each(network.theoretical_width())),
            Exploration::Aim(aim) => match aim.unwrap_or(problem.aim()) {
                // What it costs is weighed against what it gains.
                Aim::Earn if problem.has_costs() => None,
                // Between names there is nothing to climb, and at a limit a little luck climbs no further: it never leaves the first
                // place that was good.
                Aim::Earn if problem.decides_names() || problem.has_limits() => None,
                Aim::Earn => Some(Luck::Shared(EARNING_WIDTH)),
                Aim::Find => None,
            },
        }
    }

    /// Maximises the expected improvement of the expected reward over what the model believes to be the best so far.
    ///
    /// Mechanisms are drawn, noise is averaged out, and the best so far is what would be recommended now, not the luckiest
    /// measurement: what counts in the end is the recommendation.
    ///
    /// Where there are names, what may be tried is compared with the best in the same draws: trying that again and again is no
    /// improvement. `excursions` is brought up to date.
    fn improve(
        &self,
        context: &Context<'_>,
        network: &Network,
        excursions: &mut Excursions,
        seed: u64,
    ) -> Found {
        let problem = context.problem;
        let means = self.search(context, network, NO_LUCK, seed, &|_| {});
        let observed =
            keeping_ones(problem, network, Counting::Cautious, best_observed(problem, context.data, 4));
        let mut warm = warm_starts(context);
        warm.extend(first_of_each_choice(&means));
        let worth = |intervention: &Intervention| {
            let draws = network.reward_draws(problem, intervention, seed);
            draws.iter().sum::<f64>() / draws.len() as f64
        };
        let believed = means.first().map(|found| found.intervention.clone());
        let candidates = believed.into_iter().chain(observed);
        let known = candidates.map(|intervention| (worth(&intervention), intervention));
        let known = known.filter(|(worth, _)| worth.is_finite());
        let known = known.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let best = known.as_ref().map_or(0.0, |(worth, _)| *worth);
        let has_names = problem.decides_names();
        let settings = SearchSettings {
            screened: self.search.screened / 2,
            starts: self.search.starts / 2,
            screening_samples: 8,
            samples: 16,
            ranking_samples: 64,
            ..self.search
        };
        let at_any_cost = problem.at_any_cost();
        let search = |for_cost: bool| {
            within(context, network, Counting::Plausible, seed, |guard, near| {
                let factory = |choice: &Choice, count: usize, seed: u64| {
                    let noise = |plan: &Plan| NoiseSamples::new(plan, IMPROVING_NOISE, seed);
                    let draws = Draws::new(problem, network, choice, count, seed, noise);
                    let best = match &known {
                        Some((_, known)) if has_names && choice.includes(problem, known) => {
                            let mut drawn = Drawn::default();
                            draws.evaluate(
                                &draws.plan().space().point(known),
                                false,
                                &mut Workspace::default(),
                                &mut drawn,
                            );
                            Best::InDraws(drawn.rewards)
                        }
                        _ => best.into(),
                    };
                    let gain: Box<dyn Acquisition> = Box::new(NetworkImprovement { draws, best });
                    let gain = if for_cost { per_cost(problem, choice, gain) } else { gain };
                    guard.over(choice, count, gain)
                };
                let warm: Vec<Intervention> = warm.iter().chain(near).cloned().collect();
                let problem = if for_cost { problem } else { at_any_cost.as_ref().unwrap_or(problem) };
                let task = SearchTask { problem, factory: &factory, warm: &warm, seed, on_phase: &|_| {} };
                maximize(&task, &about(&settings, near))
            })
        };
        let mut found = search(true);
        if problem.has_costs() {
            found = enough_for_cost(context, network, best, search(false), found, seed);
        }
        if self.earns(problem) {
            // What is not worth it by the model is tried now and then all the same: of one name others tell little.
            let due = has_names && excursions.is_due(context, means.first());
            let is_worth_it = is_worth_it(context, network, best, &found, seed);
            excursions.begin(due && !is_worth_it, context.data.len());
            if !due && !is_worth_it && means.iter().any(|found| !context.is_taken(&found.intervention)) {
                return Found { places: means, luck: Some(NO_LUCK) };
            }
        }
        Found { places: found, luck: None }
    }

    /// Whether the rewards of all trials count.
    fn earns(&self, problem: &Problem) -> bool {
        matches!(self.exploration, Exploration::Aim(aim) if aim.unwrap_or(problem.aim()) == Aim::Earn)
    }
}

/// Maximises the optimistic reward of a fitted network from the usual starts, within the limits.
pub(super) fn search(
    context: &Context<'_>,
    network: &Network,
    optimism: Optimism,
    luck: Luck,
    settings: &SearchSettings,
    seed: u64,
    on_phase: &(dyn Fn(SearchPhase) + Sync),
) -> Vec<Candidate> {
    let counting = if luck.width() > 0.0 { Counting::Plausible } else { Counting::Cautious };
    within(context, network, counting, seed, |guard, near| {
        search_under(guard, context, near, optimism, luck, settings, seed, on_phase)
    })
}

/// The same under one guard, about places that are near to what is wanted if there are any.
#[expect(clippy::too_many_arguments, reason = "those of a search, and what guides it")]
pub(super) fn search_under(
    guard: Guard<'_>,
    context: &Context<'_>,
    near: &[Intervention],
    optimism: Optimism,
    luck: Luck,
    settings: &SearchSettings,
    seed: u64,
    on_phase: &(dyn Fn(SearchPhase) + Sync),
) -> Vec<Candidate> {
    let (problem, network) = (context.problem, guard.network());
    let mut warm = warm_starts(context);
    warm.extend_from_slice(near);
    let factory = |choice: &Choice, samples: usize, seed: u64| -> Box<dyn Acquisition> {
        let optimistic: Box<dyn Acquisition> = match luck {
            Luck::Each(beta) => {
                Box::new(OptimisticReward::new(problem, network, choice, optimism, beta, samples, seed))
            }
            Luck::Shared(beta) => {
                Box::new(SharedOptimism::new(problem, network, choice, beta, samples, seed))
            }
        };
        guard.over(choice, samples, optimistic)
    };
    let at_any_cost = problem.at_any_cost();
    let problem = at_any_cost.as_ref().unwrap_or(problem);
    let task = SearchTask { problem, factory: &factory, warm: &warm, seed, on_phase };
    maximize(&task, &about(settings, near))
}

/// Realisations of the noise for every draw of the mechanisms while improvements are sought.
const IMPROVING_NOISE: usize = 4;

impl Strategy for Mcbo {
    fn name(&self) -> &str {
        "mcbo"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        let (network, mut memory) = context.fit(&self.model, rng)?;
        let seed = rng.random();
        let models = Models { exact: &network, quick: &network.for_searching() };
        let found = self.find(context, models, &mut memory, seed);
        Ok(self.conclude(context, models, memory, found, seed, rng))
    }

    /// The model is fitted once, and what is found beside others is sought near what was found without them.
    fn suggest_beside(
        &self,
        context: &Context<'_>,
        rng: &mut dyn Rng,
        put: &mut Put<'_>,
    ) -> Result<(), SuggestError> {
        let (mut network, memory) = context.fit(&self.model, rng)?;
        let seed = rng.random();
        let mut alone = memory.clone();
        let models = Models { exact: &network, quick: &network.for_searching() };
        let found = self.find(context, models, &mut alone, seed);
        let mut near: Vec<Intervention> = Vec::new();
        for Candidate { intervention, .. } in &found.places {
            if near.len() < NEARBY && !near.iter().any(|other| other.is_close(context.problem, intervention))
            {
                near.push(intervention.clone());
            }
        }
        let mut others = put(None);
        if others.is_none() {
            others = put(Some(self.conclude(context, models, alone, found, seed, rng)));
        }
        let (nearby, mut known) = (self.nearby(), 0);
        while let Some(beside) = others {
            // What is known of this trial is not what was known of those.
            network.given(Given::NONE);
            for other in beside.iter().skip(known) {
                network.condition_on_pending(context.problem, other)?;
            }
            network.given(context.given);
            known = beside.len();
            let pending = [context.pending, &beside].concat();
            let context = Context { near: &near, ..context.with_pending(&pending) };
            let mut memory = memory.clone();
            let models = Models { exact: &network, quick: &network.for_searching() };
            let found = nearby.find(&context, models, &mut memory, seed);
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            others = put(Some(nearby.conclude(&context, models, memory, found, seed, rng)));
        }
        Ok(())
    }

    /// See [`Mcbo::recommend`].
    fn recommended(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Intervention, SuggestError> {
        Ok(self.recommend(context, Criterion::default(), rng)?.intervention)
    }
}

/// The best places by a fitted network, best first, and the luck that they trust; none where they go by gains.
struct Found {
    places: Vec<Candidate>,
    luck: Option<Luck>,
}

/// A fitted network, and the same for very many predictions.
#[derive(Clone, Copy)]
struct Models<'a> {
    exact: &'a Network,
    quick: &'a Network,
}

/// What is found beside others is sought from so many of the best places.
const NEARBY: usize = 4;

/// Close to the best place, where all that were found are taken: what earns most earns most again.
fn beside_taken(context: &Context<'_>, found: &[Candidate], seed: u64) -> Option<Candidate> {
    /// The first is so far off, as a share of the ranges, and each one further than the one before.
    const CLOSEST: f64 = 0.003;
    const FURTHER: f64 = 1.3;
    const TRIED: i32 = 16;
    if found.iter().any(|found| !context.is_taken(&found.intervention)) {
        return None;
    }
    let best = found.first()?;
    let space = DecisionSpace::new(context.problem, &best.choice);
    let decisions = space.variables().len();
    (0..TRIED).find_map(|i| {
        let mut point = best.point.clone();
        for (k, at) in point.iter_mut().take(decisions).enumerate() {
            let offset = CLOSEST * FURTHER.powi(i) * normal_sobol(i as usize, k, seed);
            *at = (*at + offset).clamp(0.0, 1.0);
        }
        let mut decided = point[..decisions].to_vec();
        let allowed = space.allow(&mut decided);
        point[..decisions].copy_from_slice(&decided);
        let intervention = space.intervention(context.problem, &point);
        let free = allowed && !context.is_taken(&intervention);
        free.then(|| Candidate { intervention, point, ..best.clone() })
    })
}

impl Mcbo {
    /// The same with a search that looks no further than where it begins.
    fn nearby(&self) -> Self {
        let ascent = match self.search.ascent {
            Ascent::QuasiNewton(_) => {
                Ascent::QuasiNewton(AscentBudget { first: 4, finalists: 1, second: 10 })
            }
            stochastic => stochastic,
        };
        let search = SearchSettings { screened: 2, starts: 1, ranking_samples: 32, ascent, ..self.search };
        Self { search, ..self.clone() }
    }

    /// The best places by a fitted network.
    fn find(&self, context: &Context<'_>, models: Models<'_>, memory: &mut Memory, seed: u64) -> Found {
        match self.luck(context.problem, models.exact) {
            Some(luck) => {
                Found { places: self.search(context, models.quick, luck, seed, &|_| {}), luck: Some(luck) }
            }
            None => self.improve(context, models.quick, &mut memory.excursions, seed),
        }
    }

    /// What is proposed of the places that were found, and what is to be said of it.
    fn conclude(
        &self,
        context: &Context<'_>,
        Models { exact, quick: network }: Models<'_>,
        mut memory: Memory,
        Found { places: mut found, mut luck }: Found,
        seed: u64,
        rng: &mut dyn Rng,
    ) -> Proposal {
        let problem = context.problem;
        let mut excursion = luck.is_none() && memory.excursions.under_way();
        // Beside others there is no comparison: they have made it.
        if let Some(Luck::Shared(beta)) = luck
            && context.near.is_empty()
            && let Some(mut other) = self.excursion(context, exact, &found, &mut memory.excursions, seed)
        {
            excursion = memory.excursions.under_way();
            if excursion {
                luck = None;
            } else {
                let samples = self.search.ranking_samples;
                let shared = SharedOptimism::new(problem, network, &other.choice, beta, samples, seed);
                (other.point, other.value) = shared.luckiest(&other.point);
            }
            found = vec![other];
        }
        if luck.is_some() && !context.near.is_empty() {
            found.extend(beside_taken(context, &found, seed));
        }
        let mut warnings: Vec<Warning> = exact.warnings().iter().cloned().map(Warning::Model).collect();
        let Pick { intervention, candidate, warning } = first_free(context, &found, rng);
        warnings.extend(warning);
        let predicted = network.forecast(problem, &intervention, seed);
        let limits = network.keeping(problem, &intervention);
        warnings.extend(limits::warning(&limits, Counting::Plausible));
        let Some(chosen) = candidate else {
            let suggestion =
                Suggestion { predicted, warnings, limits, ..Suggestion::new(self.name(), intervention) };
            return Proposal { suggestion, memory };
        };
        memory.last = Some(intervention.clone());
        warnings.extend(network.undefined(problem, &intervention, &predicted).map(Warning::Model));
        // Where luck was trusted, what it would bring at every node.
        let optimistic = match luck {
            Some(Luck::Shared(beta)) => {
                let shared = SharedOptimism::new(problem, network, &chosen.choice, beta, 1, seed);
                let point = shared.inside(&chosen.point);
                network.optimistic_values(problem, shared.plan(), &point, beta, seed)
            }
            Some(Luck::Each(beta)) => {
                let plan = Plan::new(problem, network, &chosen.choice, self.optimism);
                network.optimistic_values(problem, &plan, &chosen.point, beta, seed)
            }
            None => Vec::new(),
        };
        let suggestion = Suggestion {
            intervention,
            strategy: self.name().into(),
            acquisition: Some(chosen.value).filter(|value| value.is_finite()),
            beta: luck.map(Luck::width),
            predicted,
            optimistic,
            warnings,
            excursion,
            given: context.given.clone(),
            fixed: crate::Fixed::default(),
            limits,
        };
        Proposal { suggestion, memory }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Noise;
    use crate::testing::system;

    #[test]
    fn every_rule_suggests_and_says_its_width() {
        let (problem, data) = system(Noise::Gaussian(0.1));
        let memory = Memory::default();
        let context = Context::new(&problem, &data, &memory);
        let suggest = |mcbo: Mcbo| {
            let proposal = mcbo.suggest(&context, &mut ChaCha8Rng::seed_from_u64(4)).expect("a suggestion");
            let suggestion = proposal.suggestion;
            crate::check_intervention(&problem, &suggestion.intervention).expect("it is allowed");
            suggestion
        };
        let earn = suggest(Mcbo::default());
        assert_eq!(earn, suggest(Mcbo::default().with_aim(Aim::Earn)));
        assert_eq!(earn.beta, Some(EARNING_WIDTH));
        assert!(!earn.optimistic.is_empty());
        let find = suggest(Mcbo::default().with_aim(Aim::Find));
        assert!(find.beta.is_none() && find.acquisition.is_some_and(|gain| gain > 0.0), "{find:?}");
        let theory = suggest(Mcbo { exploration: Exploration::Theory, ..Mcbo::default() });
        assert!(theory.beta.is_some_and(|beta| beta > 1.0 && beta.is_finite()), "{:?}", theory.beta);
        assert_eq!(suggest(Mcbo::default().with_beta(2.0)).beta, Some(2.0));
    }

    /// Where nothing is worth what it loses, what is believed best is proposed again, and that is not called a gain.
    #[test]
    fn what_is_believed_best_is_no_gain() {
        let problem = Problem::builder("p")
            .choice("kind", ["bad", "good"])
            .action("a", [0.0, 1.0])
            .node("y", |n| n.actions(["kind", "a"]).noise(Noise::Gaussian(0.01)))
            .maximize("y")
            .build()
            .expect("a problem");
        let mut data = crate::Data::new();
        // One name is known well. Of the other there is one trial, far below: it may be better elsewhere, and hardly is.
        let good = (0..21).map(|i| (1.0, f64::from(i) / 20.0));
        for (i, (kind, a)) in good.chain([(0.0, 0.9)]).enumerate() {
            let y = 2.0 * kind - (a - 0.4).powi(2) + 0.01 * (1.7 * i as f64).sin();
            let intervention = Intervention { targets: Vec::new(), actions: vec![kind, a] };
            let observation = crate::Observation { intervention, values: vec![Some(y)] };
            data.push(&problem, observation).expect("an observation");
        }
        let memory = Memory::default();
        let context = Context::new(&problem, &data, &memory);
        let proposal = Mcbo::default().suggest(&context, &mut ChaCha8Rng::seed_from_u64(2));
        let suggestion = proposal.expect("a suggestion").suggestion;
        let [kind, a] = suggestion.intervention.actions[..] else { panic!("two actions") };
        assert!(kind == 1.0 && (a - 0.4).abs() < 0.1, "{suggestion:?}");
        assert_eq!((suggestion.beta, suggestion.excursion), (Some(0.0), false), "{suggestion:?}");
        assert!(suggestion.acquisition.is_some_and(|reward| (reward - 2.0).abs() < 0.05), "{suggestion:?}");
    }

    /// Names are not climbed, whether an action has them or a node that can be set; a node that only has them decides nothing.
    #[test]
    fn names_are_gone_through_by_gains() {
        let problem = |settable: bool| {
            let supplier = move |n: crate::NodeBuilder| {
                let named = n.choices(["north", "south"]);
                if settable { named.hard_choices() } else { named }
            };
            let built = Problem::builder("p")
                .action("a", [0.0, 1.0])
                .node("supplier", supplier)
                .node("y", |n| n.parents(["supplier"]).actions(["a"]))
                .maximize("y")
                .build();
            built.expect("a problem")
        };
        for settable in [true, false] {
            let (problem, data, memory) = (problem(settable), crate::Data::new(), Memory::default());
            assert_eq!(problem.decides_names(), settable);
            let context = Context::new(&problem, &data, &memory);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let (network, _) = context.fit(&ModelSettings::default(), &mut rng).expect("a fit");
            assert_eq!(Mcbo::default().luck(&problem, &network).is_none(), settable);
        }
    }

    #[test]
    fn limits_are_gone_about_by_gains() {
        for limited in [true, false] {
            let side = |n: crate::NodeBuilder| {
                if limited { n.actions(["a"]).limit(crate::Limit::below(2.0, 0.9)) } else { n.actions(["a"]) }
            };
            let problem = Problem::builder("p")
                .action("a", [0.0, 1.0])
                .node("side", side)
                .node("y", |n| n.parents(["side"]).actions(["a"]))
                .maximize("y")
                .build()
                .expect("a problem");
            let (data, memory) = (crate::Data::new(), Memory::default());
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let context = Context::new(&problem, &data, &memory);
            let (network, _) = context.fit(&ModelSettings::default(), &mut rng).expect("a fit");
            assert_eq!(Mcbo::default().luck(&problem, &network).is_none(), limited);
        }
    }
}
