//! Trials of which something is still missing, and what a study may propose.

use std::sync::{Arc, Mutex};

use mcbo_core::{
    Components, Context, Data, Intervention, Mcbo, Network, Noise, Observation, Problem, Proposal, Random,
    Strategy, StrategyName, StrategyOptions, StrategySettings, Study, StudyError, SuggestError, TrialState,
    check_intervention, design_point,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn chain() -> Problem {
    Problem::builder("chain")
        .action("a", [0.0, 1.0])
        .node("x", |n| n.actions(["a"]).noise(Noise::None))
        .node("y", |n| n.parents(["x"]).noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem")
}

/// Keeps what it was shown, and proposes at random.
#[derive(Default)]
struct Watching {
    pending: Mutex<Vec<Observation>>,
}

impl Strategy for Watching {
    fn name(&self) -> &str {
        "watching"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        *self.pending.lock().expect("one thread") = context.pending.to_vec();
        Random.suggest(context, rng)
    }
}

#[test]
fn a_trial_is_under_way_until_its_reward_is_known() {
    let watching = Arc::new(Watching::default());
    let seen = || watching.pending.lock().expect("one thread").clone();
    let mut study = Study::with_strategy(chain(), watching.clone(), 1).initial(0);
    let first = study.ask().expect("a trial").suggestion.intervention.clone();
    study.tell(1, vec![Some(0.5), None]).expect("half of it");
    study.ask().expect("a trial");
    assert_eq!(seen(), [Observation { intervention: first.clone(), values: vec![Some(0.5), None] }]);
    // Both are waited for, whether something was told of them or nothing.
    study.ask().expect("a trial");
    assert_eq!(seen().iter().map(|one| &one.values[0]).collect::<Vec<_>>(), [&Some(0.5), &None]);
    study.amend(1, &[None, Some(2.0)]).expect("the rest");
    study.tell(2, vec![None, Some(1.0)]).expect("the reward alone");
    study.ask().expect("a trial");
    assert_eq!(seen().len(), 1, "{:?}", seen());
    // A row from outside with a gap is not waited for.
    study.add(Observation { intervention: first, values: vec![Some(0.5), None] }).expect("a row");
    study.ask().expect("a trial");
    assert_eq!(seen().len(), 2, "{:?}", seen());
}

#[test]
fn a_reward_that_will_not_come_is_given_up() {
    let mut study = Study::with_strategy(chain(), Arc::new(Watching::default()), 1).initial(0);
    study.ask().expect("a trial");
    study.tell(1, vec![Some(0.5), None]).expect("half of it");
    study.fail(1).expect("it is waited for");
    assert_eq!(study.trials()[0].state, TrialState::Failed);
    assert_eq!(study.data().len(), 1, "what was told stays");
    // It came after all.
    assert!(study.take(1, vec![None, Some(3.0)]).expect("the rest"));
    assert_eq!(study.trials()[0].values.as_deref(), Some(&[Some(0.5), Some(3.0)][..]));
    assert_eq!((study.trials()[0].state, study.data().len()), (TrialState::Complete, 1));
    let error = study.fail(1).expect_err("it is complete");
    assert!(matches!(error, StudyError::NotPending { state: TrialState::Complete, .. }), "{error}");
}

/// Without the condition the model would propose the same again: nothing was learned of the reward.
#[test]
fn half_a_trial_is_not_proposed_again() {
    let mut study = Study::new(chain(), 3);
    for _ in 0..6 {
        let trial = study.ask().expect("a trial");
        let (number, a) = (trial.number, trial.suggestion.intervention.actions[0]);
        study.tell(number, vec![Some(a), Some(-(a - 0.4).powi(2))]).expect("values");
    }
    let mut asked: Vec<f64> = Vec::new();
    for _ in 0..4 {
        let trial = study.ask().expect("a trial");
        let (number, a) = (trial.number, trial.suggestion.intervention.actions[0]);
        assert!(asked.iter().all(|other| (a - other).abs() > 1e-3), "{a} again after {asked:?}");
        study.tell(number, vec![Some(a), None]).expect("half of it");
        asked.push(a);
    }
}

#[test]
fn pending_trials_of_coregionalised_nodes_have_their_noise() {
    let deviation = 0.5;
    let problem = Problem::builder("pair")
        .action("a", [0.0, 1.0])
        .node("x", |n| {
            n.actions(["a"]).dim(2).components(Components::Coregionalised).noise(Noise::Gaussian(deviation))
        })
        .node("y", |n| n.parents(["x"]).noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    let mut data = Data::new();
    for k in 0..4 {
        let a = f64::from(k) / 10.0;
        let values = vec![Some(3.0 * a), Some(2.0 - a), Some(a)];
        let intervention = Intervention { targets: Vec::new(), actions: vec![a] };
        data.push(&problem, Observation { intervention, values }).expect("an observation");
    }
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let settings = Mcbo::paper().model;
    let mut network = Network::fit(&problem, &data, &Default::default(), &settings, rng).expect("a fit");
    let unsure = |network: &Network| network.predict(&problem, 0, &[0.9], 1)[0][0].1.powi(2);
    let before = unsure(&network);
    let intervention = Intervention { targets: Vec::new(), actions: vec![0.9] };
    let pending = Observation { intervention, values: vec![None; 3] };
    network.condition_on_pending(&problem, &pending).expect("it is taken");
    let after = unsure(&network);
    // Two measurements with noise, one of each component, cannot say more than two of this one.
    let least = 1.0 / (1.0 / before + 2.0 / deviation.powi(2));
    assert!(after > 0.99 * least && after < before, "{before} {after} {least}");
}

#[test]
fn recommendations_do_not_depend_on_who_proposed() {
    for name in StrategyName::ALL {
        let options = StrategyOptions::named(name.as_str());
        let strategy = StrategySettings::try_from(&options).expect("known").build();
        let mut proposed = Study::with_strategy(chain(), strategy.into(), 5).initial(4);
        let mut added = Study::new(chain(), 5);
        for _ in 0..12 {
            let trial = proposed.ask().expect("a trial");
            let (number, doing) = (trial.number, trial.suggestion.intervention.clone());
            let a = doing.actions[0];
            let values = vec![Some(a * a), Some((3.0 * a).sin())];
            proposed.tell(number, values.clone()).expect("values");
            added.add(Observation { intervention: doing, values }).expect("a row");
        }
        let [one, other] = [proposed, added].map(|study| study.recommend().expect("a recommendation"));
        assert_eq!(one.intervention, other.intervention, "{name:?}");
        assert_eq!(one.predicted, other.predicted, "{name:?}");
    }
}

/// `x` cannot matter once `z` is set, but the user lists both: every strategy keeps to it, with so many switches that choices
/// are not listed.
#[test]
fn listed_sets_are_kept_where_choices_are_too_many() {
    let mut builder = Problem::builder("sets");
    for k in 0..9 {
        builder = builder.action_with_neutral(format!("s{k}"), [1.0, 2.0], 0.0);
    }
    let problem = builder
        .node("x", |n| n.hard([0.0, 1.0]).noise(Noise::None))
        .node("z", |n| n.parents(["x"]).hard([0.0, 1.0]).noise(Noise::None))
        .node("y", |n| n.parents(["z"]).actions((0..9).map(|k| format!("s{k}"))).noise(Noise::None))
        .sets([["x", "z"]])
        .maximize("y")
        .build()
        .expect("a problem");
    for strategy in [Arc::new(Random) as Arc<dyn Strategy>, Arc::new(Mcbo::paper())] {
        let mut study = Study::with_strategy(problem.clone(), strategy, 2).initial(4);
        for _ in 0..6 {
            let trial = study.ask().expect("a trial");
            let (number, doing) = (trial.number, trial.suggestion.intervention.clone());
            let set: Vec<usize> = doing.targets.iter().map(|(node, _)| *node).collect();
            assert_eq!(set, [0, 1], "{doing:?}");
            check_intervention(&problem, &doing).expect("it is allowed");
            let y: f64 = doing.actions.iter().sum();
            study.tell(number, vec![None, None, Some(y)]).expect("values");
        }
        // What the user asks for by hand is held to it too; to look is always allowed.
        let mut other = problem.neutral_intervention();
        study.enqueue(other.clone()).expect("nothing is done");
        other.targets.push((1, vec![0.5]));
        let error = study.enqueue(other).expect_err("z alone is not listed");
        assert_eq!(error.to_string(), "the set {z} is not allowed; hint: the problem file allows {x, z}");
    }
}

#[test]
fn no_more_at_once_than_allowed() {
    let problem = Problem::builder("few")
        .action("a", [0.0, 1.0])
        .action("b", [0.0, 1.0])
        .node("y", |n| n.actions(["a", "b"]))
        .maximize("y")
        .max_interventions(1)
        .build()
        .expect("a problem");
    let mut study = Study::new(problem, 1);
    let both = Intervention { targets: Vec::new(), actions: vec![0.5, 0.5] };
    let error = study.enqueue(both.clone()).expect_err("two at once");
    assert_eq!(error.to_string(), "2 interventions at once are too many; hint: the problem file allows 1");
    // What was done before counts all the same.
    study.add(Observation { intervention: both, values: vec![Some(1.0)] }).expect("a row");
}

/// The first eight points of every choice fall into eight equal parts of its range, one into each.
#[test]
fn the_design_spreads_over_every_choice() {
    let problem = Problem::builder("three")
        .node("x", |n| n.hard([0.0, 1.0]))
        .node("z", |n| n.hard([0.0, 1.0]))
        .node("w", |n| n.hard([0.0, 1.0]))
        .node("y", |n| n.parents(["x", "z", "w"]))
        .sets([["x"], ["z"], ["w"]])
        .maximize("y")
        .build()
        .expect("a problem");
    for seed in 0..5 {
        for node in 0..3 {
            let mut cells: Vec<usize> = (0..24)
                .filter_map(|index| {
                    let point = design_point(&problem, index, seed);
                    point.target(node).map(|values| (8.0 * values[0]) as usize)
                })
                .collect();
            cells.sort_unstable();
            assert_eq!(cells, [0, 1, 2, 3, 4, 5, 6, 7], "seed {seed}, node {node}");
        }
    }
}
