//! Initial designs, records and reproducibility of runs.

mod common;

use common::{hard, mean_and_error, soft, task};
use mcbo_bench::{Design, Entrant, Feedback, Job, RunResult, Task, run, run_all, run_told};
use mcbo_core::{
    Context, Intervention, Mcbo, Noise, Observation, Problem, Proposal, Random, Strategy, SuggestError,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Does the same in every round.
struct Always(Intervention);

impl Strategy for Always {
    fn name(&self) -> &str {
        "always"
    }

    fn suggest(&self, context: &Context<'_>, rng: &mut dyn Rng) -> Result<Proposal, SuggestError> {
        let mut proposal = Random.suggest(context, rng)?;
        proposal.suggestion.intervention = self.0.clone();
        Ok(proposal)
    }
}

#[test]
fn initial_designs_follow_the_protocol() {
    for name in Task::names() {
        let task = task(name);
        let (actions, design) = (task.problem().actions().len(), task.initial_design(3));
        let rows = |names: &[&str]| {
            let set: Vec<usize> = names.iter().map(|n| task.problem().node_index(n).unwrap()).collect();
            let same = |row: &&mcbo_core::Observation| {
                row.intervention.targets.iter().map(|(node, _)| *node).eq(set.iter().copied())
            };
            design.iter().filter(same).count()
        };
        match name {
            "toygraph" => {
                assert_eq!((design.len(), rows(&[]), rows(&["X0"]), rows(&["X1"])), (14, 10, 2, 2));
            }
            "psagraph" => {
                let sets = [rows(&["aspirin"]), rows(&["statin"]), rows(&["aspirin", "statin"])];
                assert_eq!((design.len(), rows(&[]), sets), (16, 10, [2, 2, 2]));
            }
            _ => assert_eq!((design.len(), rows(&[])), (2 * actions + 1, design.len()), "{name}"),
        }
        assert!(design.iter().all(|row| row.values.iter().all(Option::is_some)));
        assert_eq!(design, task.initial_design(3), "{name}");
        assert_ne!(design, task.initial_design(4), "{name}");
    }
}

#[test]
fn designs_of_mixed_models_have_both_kinds() {
    let task = task("scm-mixed-0");
    let design = task.initial_design(0);
    let observed = design.iter().filter(|row| row.intervention.targets.is_empty()).count();
    assert_eq!(observed, 2 * task.problem().actions().len() + 1);
    assert!(design.len() > observed);
}

/// How many groups there are if each row joins the first row that is within 0.5 in every action.
fn groups<'a>(rows: impl IntoIterator<Item = &'a Observation>) -> usize {
    let mut first: Vec<&[f64]> = Vec::new();
    for row in rows {
        let actions = &row.intervention.actions;
        let close = |other: &&[f64]| actions.iter().zip(*other).all(|(a, b)| (a - b).abs() < 0.5);
        if !first.iter().any(close) {
            first.push(actions);
        }
    }
    first.len()
}

#[test]
fn past_rows_are_habitual_and_have_gaps() {
    let (mut cells, mut missing) = (0, 0);
    for k in 0..6 {
        let task = task(&format!("scm-past-{k}"));
        assert!(task.problem().nodes().iter().all(|node| node.noise == Noise::Learn));
        let design = task.initial_design(k);
        assert_eq!(design, task.initial_design(k));
        assert_eq!(design.len(), 40);
        assert!(design.iter().all(|row| row.values.iter().any(Option::is_some)));
        cells += design.iter().map(|row| row.values.len()).sum::<usize>();
        missing += design.iter().flat_map(|row| &row.values).filter(|value| value.is_none()).count();
        let habitual = design.iter().enumerate().filter(|(place, _)| place % 7 != 6).map(|(_, row)| row);
        assert!(groups(habitual) <= 3, "{k}");
        if task.problem().actions().len() > 2 {
            assert!(groups(&task.rows(Design::Scattered { rows: 40 }, k)) > 3, "{k}");
        }
        let result = run(&task, &Random, k, 2).unwrap();
        let expected: Vec<f64> = design.iter().map(|row| task.expected_reward(&row.intervention)).collect();
        assert_eq!(result.initial, expected);
        assert_eq!(result.data.observations()[..40], design);
    }
    // 12 % of some 1300 cells, give or take three standard errors.
    let share = missing as f64 / cells as f64;
    assert!(cells > 900 && (share - 0.12).abs() < 0.033, "{missing} of {cells}");
}

#[test]
fn no_row_of_the_past_is_empty() {
    let task = task("scm-past-0");
    for missing in [0.9, 0.999_999] {
        let rows = task.rows(Design::Past { rows: 200, missing }, 1);
        assert!(rows.iter().all(|row| row.values.iter().any(Option::is_some)));
    }
    let whole = task.rows(Design::Past { rows: 20, missing: 0.0 }, 1);
    assert!(whole.iter().all(|row| row.values.iter().all(Option::is_some)));
}

#[test]
fn past_rows_of_settable_nodes_keep_to_what_is_allowed() {
    for name in ["psagraph", "scm-hard-0", "scm-hard-3", "scm-mixed-1"] {
        let task = task(name);
        for design in [Design::Past { rows: 50, missing: 0.2 }, Design::Scattered { rows: 50 }] {
            let mut data = mcbo_core::Data::new();
            for row in task.rows(design, 3) {
                data.push(task.problem(), row).unwrap();
            }
            assert_eq!(data.len(), 50);
        }
    }
}

#[test]
fn noise_that_is_not_told_is_there_all_the_same() {
    for name in ["scm-past-1", "scm-past-2"] {
        let task = task(name);
        let row = &task.initial_design(0)[0].intervention;
        let reward = task.problem().slot(task.problem().reward()).start;
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let outcomes: Vec<f64> = (0..40_000).map(|_| task.sample(row, &mut rng)[reward]).collect();
        let (mean, error) = mean_and_error(&outcomes);
        // The other side is a mean of 1024 samples.
        let tolerance = 4.0 * error * (1.0 + 40_000f64 / 1024.0).sqrt();
        assert!((mean - task.expected_reward(row)).abs() < tolerance, "{name} {mean} {error}");
        let Noise::Gaussian(std) = task.noise(task.problem().reward()) else { panic!("{name} has no noise") };
        assert!(error * 200.0 > 0.97 * std, "{name}: {error} {std}");
    }
    for name in ["toygraph", "dropwave-noisy-reference", "scm-soft-1", "scm-hard-2"] {
        let (told, hidden) = (task(name), task(name).with_learned_noise().unwrap());
        assert!(hidden.problem().nodes().iter().all(|node| node.noise == Noise::Learn));
        let rows = told.initial_design(7);
        assert_eq!(rows, hidden.initial_design(7), "{name}");
        let doing = &rows.last().unwrap().intervention;
        assert_eq!(told.expected_reward(doing), hidden.expected_reward(doing), "{name}");
    }
}

#[test]
fn runs_are_the_same_to_the_bit_whatever_the_threads() {
    for name in ["dropwave", "toygraph", "alpine2-noisy", "scm-hard-5", "scm-past-0"] {
        let task = task(name);
        let strategy = Mcbo::default();
        let once = run(&task, &strategy, 5, 4).unwrap().without_seconds();
        assert_eq!(once, run(&task, &strategy, 5, 4).unwrap().without_seconds(), "{name}");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let result = pool.install(|| run(&task, &strategy, 5, 4)).unwrap();
            assert_eq!(once, result.without_seconds(), "{name} on {threads} threads");
        }
        let other = run(&task, &strategy, 6, 4).unwrap().without_seconds();
        assert_ne!(once.initial, other.initial, "{name}");
    }
}

#[test]
fn many_runs_are_the_runs_one_by_one() {
    let tasks = [task("psagraph"), task("rosenbrock-noisy")];
    let entrant = Entrant::own("random", Box::new(Random));
    let mut jobs = Vec::new();
    for task in &tasks {
        jobs.extend((0..3).map(|seed| Job { task, entrant: &entrant, seed, rounds: 5 }));
    }
    let mut results = vec![None; jobs.len()];
    run_all(&jobs, 2, &|| false, |place, result| results[place] = Some(result));
    for (job, result) in jobs.iter().zip(results) {
        let alone = run(job.task, &Random, job.seed, 5).unwrap();
        assert_eq!(alone.method, "random");
        assert_eq!(alone.without_seconds(), result.unwrap().unwrap().without_seconds());
    }
    run_all(&[], 2, &|| false, |_, _| panic!("no job has a result"));
    run_all(&jobs, 2, &|| true, |_, _| panic!("stopped before it began"));
}

#[test]
fn strategies_meet_the_same_noise() {
    let task = task("toygraph");
    let observing = run(&task, &Always(hard(&task, &[])), 0, 20).unwrap();
    let setting = run(&task, &Always(hard(&task, &[("X0", 1.0)])), 0, 20).unwrap();
    let noise = |result: &RunResult| -> Vec<[f64; 2]> {
        let of = |row: &mcbo_core::Observation| {
            let [x0, x1, y] = [0, 1, 2].map(|slot| row.values[slot].unwrap());
            [x1 - (-x0).exp(), y + x1.cos() - (-x1 / 20.0).exp()]
        };
        result.data.observations()[14..].iter().map(of).collect()
    };
    assert_eq!(observing.data.observations()[..14], setting.data.observations()[..14]);
    for (a, b) in noise(&observing).iter().zip(noise(&setting)) {
        assert!((a[0] - b[0]).abs() < 1e-9 && (a[1] - b[1]).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn expectations_are_told_instead_of_outcomes() {
    let task = task("psagraph");
    let setting = Always(hard(&task, &[("statin", 1.0)]));
    let measured = run(&task, &setting, 0, 3).unwrap();
    let told = run_told(&task, &setting, Feedback::Expected, 0, 3).unwrap();
    let reward = task.problem().slot(task.problem().reward()).start;
    let pairs = measured.data.observations().iter().zip(told.data.observations());
    for (measured, told) in pairs {
        let (before, after) = (&measured.values, &told.values);
        assert_eq!(before[..reward], after[..reward]);
        if told.intervention.targets.is_empty() {
            assert_eq!(before, after);
        } else {
            // psa is minimised: the reward is its negative.
            assert_eq!(after[reward], Some(-task.expected_reward(&told.intervention)));
            assert_ne!(before[reward], after[reward]);
        }
    }
}

#[test]
fn what_is_recommended_is_scored() {
    let task = task("dropwave");
    let result = run(&task, &Random, 2, 30).unwrap();
    // Chance recommends what it saw come out best; without noise that is the best there was.
    assert_eq!(result.recommended.expected_reward, result.best_reward());
    let result = run(&task, &Mcbo::paper(), 2, 5).unwrap();
    assert_eq!(result.recommended.expected_reward, task.expected_reward(&result.recommended.intervention));
    assert!(result.recommended.expected_reward > 0.9 * result.best_reward(), "{:?}", result.recommended);
    let regret: f64 = result.rounds.iter().map(|round| 1.0 - round.expected_reward).sum();
    assert!((result.cumulative_regret(1.0) - regret).abs() < 1e-12);
}

#[test]
fn records_add_up() {
    let task = task("dropwave-noisy");
    let result = run(&task, &Random, 2, 30).unwrap();
    let mut rewards = result.initial.clone();
    assert_eq!(rewards.len(), 5);
    for round in &result.rounds {
        assert_eq!(round.expected_reward, task.expected_reward(&round.intervention));
        rewards.push(round.expected_reward);
        let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
        assert!((round.average_reward - mean).abs() < 1e-12);
        assert_eq!(round.best_reward, rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        assert!(round.suggest_seconds >= 0.0);
    }
    assert_eq!(result.average_reward(), result.rounds[29].average_reward);
    assert_eq!(result.best_reward(), result.rounds[29].best_reward);
    let chosen = rewards[5..].iter().sum::<f64>() / 30.0;
    assert!((result.chosen_average() - chosen).abs() < 1e-12);
    assert_eq!(result.data.len(), 35);
}

#[test]
fn a_run_without_rounds_is_its_design() {
    let result = run(&task("ackley"), &Random, 0, 0).unwrap();
    assert_eq!(
        (result.average_reward(), result.best_reward()),
        (result.initial_average(), result.initial_best())
    );
}

#[test]
fn a_choice_that_is_not_allowed_is_an_error() {
    let error = run(&task("dropwave"), &Always(soft(&[0.5, 1.5])), 1, 3).unwrap_err().to_string();
    assert!(error.contains("dropwave") && error.contains("round 1") && error.contains("a1"), "{error}");
}

#[test]
fn lines_have_the_agreed_keys() {
    let task = task("psagraph");
    let chosen = hard(&task, &[("aspirin", 0.25), ("statin", 0.75)]);
    let lines = run(&task, &Always(chosen), 4, 2).unwrap().lines(&task);
    let lines: Vec<serde_json::Value> =
        lines.iter().map(|line| serde_json::to_value(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(
        lines[0]["round"] == 0 && lines[0]["average_reward"].is_f64() && lines[0]["best_reward"].is_f64()
    );
    let keys: Vec<&String> = lines[1].as_object().unwrap().keys().collect();
    let agreed = [
        "task",
        "strategy",
        "beta",
        "seed",
        "round",
        "actions",
        "targets",
        "expected_reward",
        "average_reward",
        "best_reward",
        "suggest_seconds",
    ];
    assert_eq!(keys, agreed);
    assert_eq!(lines[2]["round"], 2);
    assert_eq!(lines[2]["targets"], serde_json::json!(["aspirin", "statin"]));
    assert_eq!(lines[2]["actions"], serde_json::json!([0.25, 0.75]));
}

#[test]
fn random_models_report_between_random_and_best() {
    for name in ["scm-soft-0", "scm-hard-0", "scm-mixed-0", "scm-additive-0", "scm-warped-1", "scm-past-0"] {
        let task = task(name);
        assert!(!task.optimum_is_known());
        assert!((task.reported(task.optimum()) - 1.0).abs() < 1e-12);
        let seeds = 0..5;
        let results: Vec<RunResult> = seeds.map(|seed| run(&task, &Random, seed, 60).unwrap()).collect();
        let mean = results.iter().map(|r| task.reported(r.chosen_average())).sum::<f64>() / 5.0;
        assert!(mean.abs() < 0.15, "{name}: {mean}");
        assert!(results.iter().all(|r| task.reported(r.best_reward()) < 1.01), "{name}");
    }
}

#[test]
fn the_bioreactor_is_best_inside_its_ranges() {
    let problem = Problem::from_toml(include_str!("../tasks/bioreactor.toml")).unwrap();
    assert_eq!(problem.warnings(), []);
    assert_eq!((problem.nodes().len(), problem.actions().len()), (9, 5));
    assert!(problem.nodes().iter().all(|node| node.noise == Noise::Learn));
    let task = Task::own("bioreactor", problem).unwrap();
    let ranges: Vec<[f64; 2]> = task.problem().actions().iter().map(|action| action.range).collect();
    let value = |actions: &[f64]| {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let reward = task.problem().reward();
        (0..100).map(|_| task.sample(&soft(actions), &mut rng)[reward]).sum::<f64>() / 100.0
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut random =
        || ranges.iter().map(|[low, high]| low + (high - low) * rng.random::<f64>()).collect::<Vec<f64>>();
    let best = (0..5000).map(|_| random()).map(|actions| (value(&actions), actions));
    let (best, actions) = best.reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap();
    for (k, range) in ranges.iter().enumerate() {
        for end in range {
            let mut other = actions.clone();
            other[k] = *end;
            assert!(value(&other) < best - 0.5, "{actions:?}: action {k} at {end} is as good as {best}");
        }
    }
}

/// The noise of a node whose formula is known counts, whether or not the simulator has a line for it.
#[test]
fn the_noise_of_known_formulas_is_there() {
    let problem = |noise: &str| {
        Problem::from_toml(&format!(
            "maximize = \"y\"\n[actions.a]\nrange = [0, 2]\n[nodes.x]\nactions = [\"a\"]\nformula = \"a\"\nnoise = {noise}\n\
             [nodes.y]\nparents = [\"x\"]\nnoise = \"none\"\n[simulator]\ny = \"x^2\"\n"
        ))
        .unwrap()
    };
    let at = |noise: &str| {
        let task = Task::own("own", problem(noise)).unwrap();
        let intervention = Intervention { targets: Vec::new(), actions: vec![1.5] };
        task.expected_reward(&intervention)
    };
    assert!((at("{ gaussian = 1 }") - 3.25).abs() < 0.05, "{}", at("{ gaussian = 1 }"));
    assert!((at("{ uniform = [0, 1] }") - (2.0_f64.powi(2) + 1.0 / 12.0)).abs() < 0.05);
    assert_eq!(at("\"none\""), 2.25);
}
