//! Nodes whose names have causes: what is learned of them, what is expected, what is proposed.

use mcbo_core::{
    Aim, Context, Data, DataError, ExprErrorKind, Intervention, Mcbo, Memory, ModelSettings, Network,
    Observation, Preset, Problem, ProblemError, Strategy, StrategyName, StrategySettings, Study,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What defect a piece has depends on speed and pressure, and decides what it is worth.
const TEXT: &str = r#"
maximize = "worth"
[nodes.kind]
actions = ["speed", "pressure"]
choices = ["none", "crack", "chip"]
[nodes.worth]
parents = ["kind"]
actions = ["speed"]
noise = { gaussian = 0.05 }
[actions.speed]
range = [0, 1]
[actions.pressure]
range = [0, 1]
[simulator]
kind = "pick('none', 1, 'crack', exp(9 * (speed - 0.6)), 'chip', exp(8 * (0.4 - pressure)) + exp(8 * (pressure - 0.9)))"
worth = "speed * (1 - 0.8 * (kind == 'crack') - 0.5 * (kind == 'chip')) + normal(0, 0.05)"
"#;

fn problem() -> Problem {
    Problem::from_toml(TEXT).expect("a problem")
}

fn doing(speed: f64, pressure: f64) -> Intervention {
    Intervention { targets: Vec::new(), actions: vec![speed, pressure] }
}

/// By the formulas, written here once more.
fn exact(speed: f64, pressure: f64) -> ([f64; 3], f64) {
    let chip = f64::exp(8.0 * (0.4 - pressure)) + f64::exp(8.0 * (pressure - 0.9));
    let weights = [1.0, f64::exp(9.0 * (speed - 0.6)), chip];
    let shares = weights.map(|weight| weight / weights.iter().sum::<f64>());
    (shares, speed * (1.0 - 0.8 * shares[1] - 0.5 * shares[2]))
}

fn simulated(problem: &Problem, rows: usize, seed: u64) -> Data {
    let (mut rng, mut data) = (ChaCha8Rng::seed_from_u64(seed), Data::new());
    let simulator = problem.simulator().expect("one is there");
    for _ in 0..rows {
        let intervention = doing(rng.random(), rng.random());
        let values = simulator.sample(problem, &intervention, &mut rng).into_iter().map(Some).collect();
        data.push(problem, Observation { intervention, values }).expect("it fits");
    }
    data
}

fn fit(problem: &Problem, data: &Data) -> Network {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let network = Network::fit(problem, data, &Default::default(), &ModelSettings::default(), &mut rng);
    network.expect("a fit")
}

/// With many rows probabilities and expectations are those of the system.
#[test]
fn what_causes_a_name_is_learned() {
    let problem = problem();
    let network = fit(&problem, &simulated(&problem, 500, 5));
    let mut squares = [0.0; 2];
    for place in 0..25 {
        let (speed, pressure) = (0.1 + 0.2 * f64::from(place % 5), 0.1 + 0.2 * f64::from(place / 5));
        let (shares, worth) = exact(speed, pressure);
        let forecasts = network.forecast(&problem, &doing(speed, pressure), 1);
        let (names, last) = (&forecasts[..3], &forecasts[3]);
        let called: Vec<&str> = names.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(called, ["kind=none", "kind=crack", "kind=chip"]);
        assert!((names.iter().map(|f| f.mean).sum::<f64>() - 1.0).abs() < 1e-9, "{forecasts:?}");
        for (forecast, share) in names.iter().zip(shares) {
            squares[0] += (forecast.mean - share).powi(2) / 75.0;
        }
        squares[1] += (last.mean - worth).powi(2) / 25.0;
    }
    let off = squares.map(f64::sqrt);
    assert!(off[0] < 0.08 && off[1] < 0.04, "{off:?}");
}

/// What the search finds in a fitted model is what trying everything in the same model finds.
#[test]
fn the_search_finds_the_best_of_the_model() {
    let problem = problem();
    for seed in 0..2 {
        let data = simulated(&problem, 60, seed);
        let memory = Memory::default();
        let context = Context::new(&problem, &data, &memory);
        let best = Mcbo::default().recommended(&context, &mut ChaCha8Rng::seed_from_u64(2));
        let best = best.expect("a recommendation");
        let network = fit(&problem, &data);
        let worth = |at: &Intervention| {
            let draws = network.reward_draws(&problem, at, 7);
            draws.iter().sum::<f64>() / draws.len() as f64
        };
        let grid =
            (0..=14).flat_map(|i| (0..=14).map(move |k| doing(f64::from(i) / 14.0, f64::from(k) / 14.0)));
        let highest = grid.map(|at| worth(&at)).fold(f64::NEG_INFINITY, f64::max);
        // Hyper-parameters of two fits differ by their random numbers.
        assert!(worth(&best) > highest - 0.02, "{seed}: {best:?} {} {highest}", worth(&best));
    }
}

/// Names of which only one has come say that it is frequent, not that there is no other.
#[test]
fn a_name_that_has_not_come_is_not_impossible() {
    let problem = problem();
    let mut data = Data::new();
    for k in 0..6 {
        let intervention = doing(0.1 + 0.05 * f64::from(k), 0.5);
        data.push(&problem, Observation { intervention, values: vec![Some(0.0), Some(0.2)] })
            .expect("it fits");
    }
    let network = fit(&problem, &data);
    assert!(
        network.warnings().iter().all(|warning| !warning.to_string().contains("kind")),
        "{:?}",
        network.warnings()
    );
    for at in [doing(0.2, 0.5), doing(1.0, 0.0)] {
        let forecasts = network.forecast(&problem, &at, 1);
        assert!(forecasts[..3].iter().all(|f| f.mean > 0.01), "{forecasts:?}");
        assert!(forecasts[0].mean > 0.5 && forecasts[0].upper - forecasts[0].lower > 0.01, "{forecasts:?}");
    }
    // Where nothing was tried less is known.
    let width = |at: Intervention| {
        let found = network.forecast(&problem, &at, 1);
        found[0].upper - found[0].lower
    };
    assert!(width(doing(1.0, 0.0)) > 1.5 * width(doing(0.2, 0.5)));
}

#[test]
fn every_strategy_suggests_what_is_allowed() {
    for text in [TEXT.to_owned(), TEXT.replace("choices = [", "do = true\nchoices = [")] {
        let problem = Problem::from_toml(&text).expect("a problem");
        let data = simulated(&problem, 12, 4);
        for name in StrategyName::ALL {
            if name.needs_targets() && problem.settable().is_empty() {
                continue;
            }
            let strategy = StrategySettings::new(name, Preset::Default, None).build();
            let memory = Memory::default();
            let context = Context::new(&problem, &data, &memory);
            let twice = [(); 2].map(|()| {
                let proposal =
                    strategy.suggest(&context, &mut ChaCha8Rng::seed_from_u64(4)).expect("a suggestion");
                mcbo_core::check_intervention(&problem, &proposal.suggestion.intervention)
                    .expect("it is allowed");
                proposal.suggestion
            });
            assert_eq!(twice[0], twice[1], "{name:?}");
        }
        let find = Mcbo::default().with_aim(Aim::Find);
        let memory = Memory::default();
        let context = Context::new(&problem, &data, &memory);
        let found =
            find.suggest(&context, &mut ChaCha8Rng::seed_from_u64(4)).expect("a suggestion").suggestion;
        assert!(found.acquisition.is_some_and(|gain| gain > 0.0), "{found:?}");
    }
}

/// A study goes through with names told, corrected and missing, and says what it can of them.
#[test]
fn a_study_with_a_name_that_has_causes() {
    let problem = problem();
    let mut study = Study::new(problem.clone(), 3);
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for round in 0..14 {
        let trial = study.ask().expect("a suggestion").clone();
        let simulator = problem.simulator().expect("one");
        let values = simulator.sample(&problem, trial.intervention(), &mut rng);
        let mut told: Vec<Option<f64>> = values.into_iter().map(Some).collect();
        if round % 5 == 4 {
            told[0] = None;
        }
        study.tell(trial.number, told).expect("it fits");
    }
    let advice = study.recommend().expect("a recommendation");
    let predicted = study.predict(&advice, &advice.intervention.clone()).expect("a prediction");
    let names: Vec<_> = predicted.nodes.iter().filter(|o| o.forecast.node == 0).collect();
    assert_eq!(names.len(), 3);
    for outlook in names {
        let [low, high] = outlook.outcome;
        assert!([0.0, 1.0].contains(&low) && [0.0, 1.0].contains(&high), "{outlook:?}");
        assert!(
            (0.0..=1.0).contains(&outlook.forecast.lower) && (0.0..=1.0).contains(&outlook.forecast.upper)
        );
    }
    let network = &advice.network;
    let summaries = network.summaries(&problem);
    let named: Vec<&str> = summaries.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(named, ["kind=none", "kind=crack", "worth"]);
    assert!(summaries.iter().all(|s| s.uncertainty.is_finite() && s.noise.is_finite() && !s.form.is_empty()));
    let effects = network.effects(&problem, study.data(), &advice.intervention, 1);
    assert!(effects.arrows.iter().any(|(from, to, _)| (*from, *to) == (0, 1)), "{effects:?}");
    assert!(network.doubts(&problem, study.data(), 1).is_empty());
    assert!(network.left_out(&problem, study.data(), 0).is_empty());
}

#[test]
fn what_is_no_name_is_refused() {
    let problem = problem();
    let mut data = Data::new();
    for wrong in [0.5, 3.0, -1.0] {
        let observation = Observation { intervention: doing(0.5, 0.5), values: vec![Some(wrong), Some(1.0)] };
        let refused = data.push(&problem, observation);
        assert!(matches!(refused, Err(DataError::NotAChoice { .. })), "{refused:?}");
    }
    assert!(data.is_empty());
}

fn first(from: &str, to: &str) -> ProblemError {
    assert!(TEXT.contains(from), "{from}");
    let errors = Problem::from_toml(&TEXT.replacen(from, to, 1)).expect_err("a mistake");
    let diagnostic = errors.errors().first().expect("one");
    assert!(diagnostic.hint().is_some(), "{}", diagnostic.message());
    diagnostic.error.clone()
}

#[test]
fn mistakes_are_named() {
    let choices = "choices = [\"none\", \"crack\", \"chip\"]";
    for key in ["range = [0, 2]", "noise = 'none'", "dim = 2", "limit = { below = 1.0 }", "unit = 'mm'"] {
        let found = first(choices, &format!("{choices}\n{key}"));
        assert!(matches!(found, ProblemError::WithChoices { .. }), "{key}: {found:?}");
    }
    assert!(matches!(first(choices, "choices = []"), ProblemError::TooFewChoices { found: 0, .. }));
    assert!(matches!(first(choices, "choices = ['none']"), ProblemError::TooFewChoices { found: 1, .. }));
    assert!(matches!(
        first("maximize = \"worth\"", "maximize = \"kind\""),
        ProblemError::RewardIsChoice { .. }
    ));
    assert!(matches!(first(choices, &format!("{choices}\ndo = [0, 2]")), ProblemError::DoWithNumbers { .. }));
    assert!(matches!(
        first(choices, &format!("{choices}\nkernel = 'se(sped)'")),
        ProblemError::BadKernel { .. }
    ));
    assert!(matches!(first(choices, &format!("{choices}\nformula = 'speed'")), ProblemError::Formula { .. }));
    let formula = |text: &str| {
        let found = first("pick('none', 1, ", text);
        let ProblemError::Formula { error, .. } = found else { panic!("{found:?}") };
        error.kind
    };
    assert!(matches!(formula("pick('nome', 1, "), ExprErrorKind::NotAChoice { .. }));
    assert!(matches!(formula("pick('none', -1, "), ExprErrorKind::NegativeWeight { .. }));
    assert!(matches!(formula("pick('none', 1, 'none', 2, "), ExprErrorKind::PickedTwice { .. }));
    assert!(matches!(formula("1 + pick('none', 1, "), ExprErrorKind::PickNotAlone));
    assert!(matches!(formula("pick('none', normal(1, 1), "), ExprErrorKind::RandomNotAllowed { .. }));
    assert!(matches!(formula("pick(speed, 1, "), ExprErrorKind::Unexpected { .. }));
    let none = first(
        "kind = \"pick('none', 1, 'crack', exp(9 * (speed - 0.6)), 'chip', exp(8 * (0.4 - pressure)) + exp(8 * (pressure - 0.9)))\"",
        "kind = \"pick('none', 0)\"",
    );
    assert!(matches!(none, ProblemError::Formula { error, .. } if error.kind == ExprErrorKind::NoWeights));
    let without =
        TEXT.lines().filter(|line| !line.starts_with("kind = \"pick")).collect::<Vec<_>>().join("\n");
    let errors = Problem::from_toml(&without).expect_err("no formula");
    assert!(matches!(errors.errors()[0].error, ProblemError::NotSimulated { .. }), "{errors:?}");
}

/// A mechanism that is known gives its very probabilities, and what is negative gives no value.
#[test]
fn a_known_formula_is_used() {
    let known = TEXT.replace(
        "choices = [",
        "formula = \"pick('none', 1, 'crack', speed - 0.3, 'chip', pressure)\"\nchoices = [",
    );
    let problem = Problem::from_toml(&known).expect("a problem");
    let network = fit(&problem, &simulated(&problem, 30, 1));
    let forecasts = network.forecast(&problem, &doing(0.8, 0.5), 1);
    for (forecast, share) in forecasts.iter().zip([0.5, 0.25, 0.25]) {
        assert!((forecast.mean - share).abs() < 1e-12 && forecast.lower == forecast.upper, "{forecasts:?}");
    }
    let forecasts = network.forecast(&problem, &doing(0.1, 0.5), 1);
    assert!(forecasts.is_empty(), "{forecasts:?}");
}
