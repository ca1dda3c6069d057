//! Nodes whose values are names: given from outside, known before deciding, or set.

use mcbo_core::{
    Context, Data, DataError, Given, Intervention, Mcbo, Memory, ModelSettings, Network, Noise, Observation,
    Problem, ProblemError, Strategy,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TEXT: &str = r#"
maximize = "y"
[nodes.supplier]
choices = ["north", "south", "east"]
context = true
[nodes.y]
parents = ["supplier"]
actions = ["dose"]
noise = { gaussian = 0.05 }
[actions.dose]
range = [0, 1]
[simulator]
y = "1 - 4 * (dose - 0.2 - 0.5 * (supplier == 'south'))^2 - 0.5 * (supplier == 'east') + normal(0, 0.05)"
"#;

fn fitted(problem: &Problem, rows: usize) -> (Data, Network) {
    let (mut rng, mut data) = (ChaCha8Rng::seed_from_u64(5), Data::new());
    let simulator = problem.simulator().expect("one is there");
    for _ in 0..rows {
        let intervention = Intervention { targets: Vec::new(), actions: vec![rng.random()] };
        let values = simulator.sample(problem, &intervention, &mut rng).into_iter().map(Some).collect();
        data.push(problem, Observation { intervention, values }).expect("it fits");
    }
    let network = Network::fit(problem, &data, &Default::default(), &ModelSettings::default(), &mut rng);
    (data, network.expect("a fit"))
}

fn given(problem: &Problem, name: &str) -> Given {
    let value = problem.nodes()[0].value_of(name).expect("a name");
    Given::new(problem, [("supplier", vec![value])]).expect("it is known")
}

/// What is best depends on the name that is known, and without one it is the expectation over how often each came.
#[test]
fn what_is_known_decides() {
    let problem = Problem::from_toml(TEXT).expect("a problem");
    let (data, mut network) = fitted(&problem, 60);
    for (name, dose, reward) in [("north", 0.2, 1.0), ("south", 0.7, 1.0), ("east", 0.2, 0.5)] {
        network.given(&given(&problem, name));
        let at = |dose: f64| Intervention { targets: Vec::new(), actions: vec![dose] };
        let forecast = network.forecast(&problem, &at(dose), 1);
        assert_eq!(forecast.len(), 1, "names have no expectation: {forecast:?}");
        assert!((forecast[0].mean - reward).abs() < 0.06, "{name}: {forecast:?}");
        let memory = Memory::default();
        let mut context = Context::new(&problem, &data, &memory);
        let known = given(&problem, name);
        context.given = &known;
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let best = Mcbo::default().recommended(&context, &mut rng);
        let best = best.expect("a recommendation").actions[0];
        assert!((best - dose).abs() < 0.08, "{name}: {best}");
    }
    network.given(Given::NONE);
    let came = |k: usize| data.observations().iter().filter(|o| o.values[0] == Some(k as f64)).count();
    // Exactly: the reward of every name at this dose, weighed by how often it came.
    let dose = 0.4;
    let reward = |k: usize| {
        let best = if k == 1 { 0.7 } else { 0.2 };
        1.0 - 4.0 * (dose - best) * (dose - best) - if k == 2 { 0.5 } else { 0.0 }
    };
    let share = |k: usize| (came(k) as f64 + 0.5) / (data.len() as f64 + 1.5);
    let exact: f64 = (0..3).map(|k| share(k) * reward(k)).sum();
    let doing = Intervention { targets: Vec::new(), actions: vec![dose] };
    let mean = network.forecast(&problem, &doing, 1)[0].mean;
    assert!((mean - exact).abs() < 0.04, "{mean} where it is {exact}");
}

/// A name that can be set is searched like any other choice, and what nobody sets is drawn.
#[test]
fn names_can_be_set() {
    let text = TEXT.replace("context = true", "do = true");
    let problem = Problem::from_toml(&text).expect("a problem");
    assert_eq!(problem.settable(), [0]);
    let (data, _) = fitted(&problem, 40);
    let memory = Memory::default();
    let context = Context::new(&problem, &data, &memory);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let best = Mcbo::default().recommended(&context, &mut rng).expect("a recommendation");
    let (set, dose) = (best.target(0).expect("setting it is best")[0], best.actions[0]);
    assert!([(0.0, 0.2), (1.0, 0.7)].iter().any(|(name, at)| set == *name && (dose - at).abs() < 0.1));
    for seed in 0..5 {
        let proposal = Mcbo::default().suggest(&context, &mut ChaCha8Rng::seed_from_u64(seed));
        let doing = proposal.expect("a proposal").suggestion.intervention;
        let name = doing.target(0).map(|values| values[0]);
        assert!(name.is_none_or(|name| [0.0, 1.0, 2.0].contains(&name)), "{doing:?}");
    }
}

#[test]
fn what_is_no_name_is_refused() {
    let problem = Problem::from_toml(TEXT).expect("a problem");
    let mut data = Data::new();
    for wrong in [0.5, 3.0, -1.0] {
        let observation = Observation {
            intervention: problem.neutral_intervention(),
            values: vec![Some(wrong), Some(1.0)],
        };
        let refused = data.push(&problem, observation);
        assert!(matches!(refused, Err(DataError::NotAChoice { .. })), "{refused:?}");
        assert!(Given::new(&problem, [("supplier", vec![wrong])]).is_err());
    }
    assert!(data.is_empty());
}

#[test]
fn mistakes_are_named() {
    let first = |from: &str, to: &str| {
        let text = TEXT.split("[simulator]").next().expect("what comes before");
        assert!(text.contains(from));
        let errors = Problem::from_toml(&text.replacen(from, to, 1)).expect_err("a mistake");
        errors.errors().first().map(|diagnostic| diagnostic.error.clone()).expect("one")
    };
    let context = "context = true";
    assert!(matches!(first(context, "formula = '0'"), ProblemError::WithChoices { key: "formula", .. }));
    assert!(matches!(first(context, "do = [0, 2]"), ProblemError::DoWithNumbers { .. }));
    assert!(matches!(first(context, "noise = 'none'"), ProblemError::WithChoices { key: "noise", .. }));
    assert!(matches!(first(context, "range = [0, 2]"), ProblemError::WithChoices { key: "range", .. }));
    assert!(matches!(first(", \"south\", \"east\"", ""), ProblemError::TooFewChoices { found: 1, .. }));
    assert!(matches!(first("\"south\"", "\"north\""), ProblemError::Repeated { .. }));
    assert!(matches!(first("\"south\"", "\"a,b\""), ProblemError::BadChoice { .. }));
    let many: Vec<String> = (0..33).map(|k| format!("\"s{k}\"")).collect();
    let many = first("\"north\", \"south\", \"east\"", &many.join(", "));
    assert!(matches!(many, ProblemError::TooManyChoices { found: 33, most: 32, .. }), "{many:?}");
    assert!(matches!(first("[0, 1]", "[0, 1]\n[nodes.z]\ndo = true"), ProblemError::DoWithoutChoices { .. }));
    let reward = first("noise = { gaussian = 0.05 }", "choices = ['a', 'b']");
    assert!(matches!(reward, ProblemError::RewardIsChoice { .. }), "{reward:?}");
    let built = Problem::builder("p")
        .action("a", [0.0, 1.0])
        .node("s", |n| n.choices(["x", "z"]).hard_choices())
        .node("y", |n| n.parents(["s"]).actions(["a"]).noise(Noise::None))
        .maximize("y")
        .build()
        .expect("a problem");
    assert_eq!((built.nodes()[0].choice(1.0), built.settable().len()), (Some("z"), 1));
}
