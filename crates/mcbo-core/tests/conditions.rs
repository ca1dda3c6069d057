//! What is required under some names only, kept by everything that proposes something.

use std::sync::Arc;

use mcbo_core::{
    Aim, Cbo, Eifn, ExpectedImprovement, Intervention, Mcbo, Observation, Problem, Random, Strategy, Study,
    Ucb, check_intervention,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What is required under some names only, names that do not go together, and an end on a scale of ratios.
fn reaction(weights: [f64; 6]) -> Problem {
    let [a, b, c, d, e, f] = weights;
    let text = format!(
        r#"
maximize = "yield"
[nodes.yield]
actions = ["solvent", "catalyst", "temperature", "time", "dose"]
noise = "none"
formula = "{a} * (solvent == 'ethanol') + {b} * (solvent == 'dmf') + {c} * (solvent == 'thf') + {d} * (catalyst == 'pd') + {e} * (catalyst == 'ni') + {f} * dose - ((temperature - 90) / 40)^2 - (log(time / 20))^2 / 4 - (dose - 6)^2 / 40"
[actions.solvent]
choices = ["water", "ethanol", "dmf", "thf"]
[actions.catalyst]
choices = ["none", "pd", "ni"]
[actions.temperature]
range = [20, 120]
[actions.time]
range = [0.1, 60]
scale = "log"
[actions.dose]
range = [0, 10]
step = 1
[constraints]
require = [
  "temperature <= 78 if solvent == 'ethanol'",
  "temperature <= 66 if solvent == 'thf' and catalyst != 'none'",
  "catalyst != 'pd' if solvent == 'water'",
  "catalyst == 'none' if solvent == 'dmf'",
  "time <= 5 if catalyst == 'pd'",
  "10 * dose + temperature <= 120 if solvent != 'water'",
  "dose <= 4 if catalyst == 'ni'",
]
[simulator]
yield = "0"
"#
    );
    Problem::from_toml(&text).expect("a problem")
}

/// What the requirements of [`reaction`] say, written down once more.
fn may_react([solvent, catalyst, temperature, time, dose]: [f64; 5]) -> bool {
    let [water, ethanol, dmf, thf] = [0.0, 1.0, 2.0, 3.0].map(|name| solvent == name);
    let [none, pd, ni] = [0.0, 1.0, 2.0].map(|name| catalyst == name);
    let slack = 1e-6;
    let broken = [
        ethanol && temperature > 78.0 + slack,
        thf && !none && temperature > 66.0 + slack,
        water && pd,
        dmf && !none,
        pd && time > 5.0 + slack,
        !water && 10.0 * dose + temperature > 120.0 + slack,
        ni && dose > 4.0,
    ];
    !broken.contains(&true)
}

#[test]
fn what_names_require_is_kept_by_every_strategy() {
    let text = reaction([0.3, 0.5, 0.6, 0.4, 0.35, 0.05]);
    let learned = |n: mcbo_core::NodeBuilder| {
        n.actions(["solvent", "catalyst", "temperature", "time", "dose"])
            .noise(mcbo_core::Noise::Gaussian(0.05))
    };
    let mut builder = Problem::builder("reaction").node("yield", learned).maximize("yield");
    for action in text.actions() {
        builder = builder.action_like(action);
    }
    for requirement in text.requirements() {
        builder = builder.require(requirement.text());
    }
    let problem = Arc::new(builder.build().expect("a problem"));
    assert_eq!(problem.requirements(), text.requirements());
    let strategies: [Arc<dyn Strategy>; 7] = [
        Arc::new(Mcbo::default()),
        Arc::new(Mcbo::default().with_aim(Aim::Find)),
        Arc::new(Eifn::default()),
        Arc::new(Cbo::default()),
        Arc::new(Ucb::default()),
        Arc::new(ExpectedImprovement::default()),
        Arc::new(Random),
    ];
    for strategy in strategies {
        let mut study = Study::with_strategy(problem.clone(), strategy, 3).initial(10);
        let (mut solvents, mut catalysts) = ([0; 4], [0; 3]);
        for _ in 0..22 {
            let trial = study.ask().expect("a suggestion").clone();
            let done = &trial.suggestion.intervention;
            check_intervention(&problem, done).expect("it is allowed");
            let values: [f64; 5] = done.actions.clone().try_into().expect("five");
            assert!(may_react(values), "{values:?}");
            solvents[values[0] as usize] += 1;
            catalysts[values[1] as usize] += 1;
            let simulated = text.nodes()[0].formula_texts().expect("a formula").len() as f64;
            let y = simulated * (values[2] / 60.0 - values[3].ln().abs() + values[4] / 9.0).sin();
            study.tell(trial.number, vec![Some(y)]).expect("it is taken");
        }
        assert!(solvents.iter().all(|count| *count > 0), "{solvents:?}");
        assert!(catalysts.iter().all(|count| *count > 0), "{catalysts:?}");
    }
}

/// Where the formula is known what is recommended is the optimum, found by going through everything.
#[test]
fn what_names_require_bounds_the_optimum() {
    let mut bounded = 0;
    for i in 0..12_u8 {
        let weights: [f64; 6] = std::array::from_fn(|k| {
            0.8 * (f64::from(i) * 7.3 + k as f64 * 3.1).sin() * if k == 5 { 0.2 } else { 1.0 }
        });
        let problem = Arc::new(reaction(weights));
        let value = |[solvent, catalyst, temperature, time, dose]: [f64; 5]| {
            let [a, b, c, d, e, f] = weights;
            let is = |named: bool, weight: f64| if named { weight } else { 0.0 };
            is(solvent == 1.0, a)
                + is(solvent == 2.0, b)
                + is(solvent == 3.0, c)
                + is(catalyst == 1.0, d)
                + is(catalyst == 2.0, e)
                + f * dose
                - ((temperature - 90.0) / 40.0).powi(2)
                - (time / 20.0).ln().powi(2) / 4.0
                - (dose - 6.0).powi(2) / 40.0
        };
        let (mut best, mut anywhere) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for solvent in 0..4_u8 {
            for catalyst in 0..3_u8 {
                for dose in 0..=10_u8 {
                    for temperature in 20..=120_u8 {
                        for time in [5.0, 20.0] {
                            let at = [solvent, catalyst, temperature, 0, dose].map(f64::from);
                            let at = [at[0], at[1], at[2], time, at[4]];
                            anywhere = anywhere.max(value(at));
                            if may_react(at) {
                                best = best.max(value(at));
                            }
                        }
                    }
                }
            }
        }
        bounded += u8::from(anywhere > best + 1e-3);
        let mut study = Study::new(problem.clone(), 1);
        for _ in 0..2 {
            let trial = study.ask().expect("a suggestion").clone();
            let done: [f64; 5] = trial.suggestion.intervention.actions.clone().try_into().expect("five");
            study.tell(trial.number, vec![Some(value(done))]).expect("it is taken");
        }
        let advice = study.recommend().expect("advice").intervention;
        check_intervention(&problem, &advice).expect("it is allowed");
        let found = value(advice.actions.clone().try_into().expect("five"));
        assert!(found > best - 1e-6, "{weights:?}: {found} instead of {best} at {advice:?}");
    }
    assert!(bounded > 8, "{bounded}");
}

/// Numbers far smaller than their range are told apart where ratios count, and zero is none of them.
#[test]
fn rounding_is_relative_where_ratios_count() {
    let text = r#"
maximize = "y"
[nodes.y]
actions = ["amount", "solvent"]
[actions.amount]
range = [1e-12, 1e-3]
scale = "log"
neutral = 0
[actions.solvent]
choices = ["a", "b"]
[constraints]
require = ["amount >= 1e-11 if solvent == 'b'"]
[simulator]
y = "(solvent == 'b') - log(amount + 1e-12)^2 / 1000 + normal(0, 0.1)"
"#;
    let problem = Arc::new(Problem::from_toml(text).expect("a problem"));
    let done = |amount: f64| Intervention { targets: vec![], actions: vec![amount, 1.0] };
    for (amount, allowed) in [(0.0, false), (9e-12, false), (1e-11, true), (1e-5, true)] {
        assert_eq!(check_intervention(&problem, &done(amount)).is_ok(), allowed, "{amount}");
    }
    let mut study = Study::new(problem.clone(), 1);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..14 {
        let trial = study.ask().expect("a suggestion").clone();
        let done = &trial.suggestion.intervention;
        assert!(done.actions[1] == 0.0 || done.actions[0] >= 1e-11, "{done:?}");
        let values = problem.simulator().expect("one").sample(&problem, done, &mut rng);
        study.tell(trial.number, values.into_iter().map(Some).collect()).expect("it is taken");
    }
}

/// Every name is in the design, also where next to nothing of the box is allowed under it.
#[test]
fn names_under_which_shares_add_up_are_in_the_design() {
    let text = r#"
maximize = "y"
[nodes.y]
actions = ["kind", "a", "b", "c"]
[actions]
kind = { choices = ["plain", "blend", "pair"] }
a = { range = [0, 100] }
b = { range = [0, 100] }
c = { range = [0, 100] }
[constraints]
require = ["a + b + c = 100 if kind == 'blend'", "a + b + c <= 3 if kind == 'pair'"]
[simulator]
y = "a + normal(0, 1)"
"#;
    let problem = Problem::from_toml(text).expect("a problem");
    let mut counts = [0; 3];
    for index in 0..12 {
        let point = mcbo_core::design_point(&problem, index, 5);
        check_intervention(&problem, &point).expect("it is allowed");
        counts[point.actions[0] as usize] += 1;
    }
    assert!(counts.iter().all(|count| *count >= 3), "{counts:?}");
}

/// An action that reaches nothing when a node is set is free all the same where it makes room for another.
#[test]
fn what_makes_room_is_free() {
    let text = r#"
maximize = "y"
[nodes.m]
actions = ["vent"]
do = [0, 3]
noise = "none"
formula = "vent / 10"
[nodes.y]
parents = ["m"]
actions = ["s"]
noise = "none"
formula = "2 * m + 3 * (s == 'b')"
[actions]
s = { choices = ["a", "b"] }
vent = { range = [0, 10] }
[constraints]
require = ["vent >= 3 if s == 'b'"]
"#;
    let problem = Arc::new(Problem::from_toml(text).expect("a problem"));
    let mut study = Study::new(problem.clone(), 1);
    let add = |study: &mut Study, m: f64| {
        let intervention = Intervention { targets: vec![(0, vec![m])], actions: vec![0.0, 0.0] };
        study.add(Observation { intervention, values: vec![Some(m), Some(2.0 * m)] }).expect("it is taken");
    };
    [0.5, 2.0].into_iter().for_each(|m| add(&mut study, m));
    let advice = study.recommend().expect("advice").intervention;
    check_intervention(&problem, &advice).expect("it is allowed");
    assert!(advice.target(0).is_some_and(|m| (m[0] - 3.0).abs() < 1e-6), "{advice:?}");
    assert!(advice.actions[0] == 1.0 && advice.actions[1] >= 3.0, "{advice:?}");
}
