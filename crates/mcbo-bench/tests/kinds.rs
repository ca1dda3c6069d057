//! Tasks with steps, choices and requirements: their optima by trying everything, with formulas written here once more.

use mcbo_bench::{Method, Task, run};
use mcbo_core::{Intervention, Preset, StrategyName, check_intervention};

fn task(name: &str) -> Task {
    Task::named(name).expect("a task")
}

fn doing(actions: Vec<f64>) -> Intervention {
    Intervention { targets: Vec::new(), actions }
}

#[track_caller]
fn agree(task: &Task, actions: &[f64], expected: f64) {
    let found = task.expected_reward(&doing(actions.to_vec()));
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{actions:?}: {found}, {expected}");
}

/// Actions in their order: strain, medium, cycles, temperature, each as the place of its value.
fn titer(strain: usize, medium: usize, cycles: f64, temperature: f64) -> f64 {
    let [height, best, width] =
        [[0.8, 30.0, 0.03], [1.0, 34.0, 0.05], [1.25, 36.5, 0.175], [0.9, 27.0, 0.01]][strain];
    let growth: f64 = height * f64::exp(-width * (temperature - best) * (temperature - best));
    let [yields, often] = [[1.6, 6.0], [1.9, 9.0], [2.1, 3.0]][medium];
    growth * (yields - 0.02 * (cycles - often) * (cycles - often)) - 0.03 * cycles
}

#[test]
fn the_best_strain_is_the_best_of_all_combinations() {
    let task = task("strains");
    let (mut best, mut count) = ((f64::NEG_INFINITY, Vec::new()), 0);
    for strain in 0..4 {
        for medium in 0..3 {
            for cycles in [0.0, 3.0, 6.0, 9.0, 12.0] {
                for k in 0..29 {
                    let temperature = 24.0 + 0.5 * f64::from(k);
                    let value = titer(strain, medium, cycles, temperature);
                    let actions = vec![strain as f64, medium as f64, cycles, temperature];
                    agree(&task, &actions, value);
                    count += 1;
                    if value > best.0 {
                        best = (value, actions);
                    }
                }
            }
        }
    }
    assert_eq!((count, best.1), (1740, vec![2.0, 2.0, 3.0, 36.5]));
    assert!((best.0 - task.optimum()).abs() < 1e-9, "{}", best.0);
}

#[test]
fn mixed_ackley_is_zero_at_its_optimum_and_less_elsewhere() {
    let task = task("ackley-mixed");
    let (pattern, at) = ([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0], [0.3, 0.7, 0.45]);
    let ackley = |bits: usize, x: [f64; 3]| {
        let bit = |k: usize| (bits >> k & 1) as f64;
        let differences = (0..10).map(|k| bit(k) - pattern[k]).chain((0..3).map(|k| x[k] - at[k]));
        let differences: Vec<f64> = differences.collect();
        let squares = differences.iter().map(|d| d * d).sum::<f64>() / 13.0;
        let waves = differences.iter().map(|d| (std::f64::consts::TAU * d).cos()).sum::<f64>() / 13.0;
        let value = 20.0 * (-0.2 * squares.sqrt()).exp() + waves.exp() - 20.0 - std::f64::consts::E;
        let actions = (0..10).map(bit).chain(x).collect::<Vec<f64>>();
        (value, actions)
    };
    let (mut best, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for bits in 0..1024 {
        // For given bits the best continuous values are always the same, which 1000 others confirm.
        let (value, actions) = ackley(bits, at);
        agree(&task, &actions, value);
        (best, second) = if value > best { (value, best) } else { (best, second.max(value)) };
        let other = |k: u32| (f64::from(k) * 0.618_033_988_75 * (bits as f64 + 1.0)).fract();
        assert!(ackley(bits, [other(1), other(2), other(3)]).0 <= value);
    }
    assert!(best.abs() < 1e-12 && (task.optimum() - best).abs() < 1e-12);
    assert!(second < -0.5, "one wrong bit costs {second}");
}

#[test]
fn the_best_doses_are_where_the_requirement_begins() {
    let task = task("doses");
    let value = |d1: f64, d2: f64, d3: f64| {
        let n1 = 5.0 + 0.5 * d1;
        let n2 = 0.6 * n1 + 0.5 * d2;
        let n3 = 0.6 * n2 + 0.5 * d3;
        14.0 - ((n1 - 30.0) / 8.0_f64).powi(2)
            - ((n2 - 45.0) / 10.0_f64).powi(2)
            - ((n3 - 60.0) / 12.0_f64).powi(2)
    };
    agree(&task, &[40.0, 35.0, 45.0], value(40.0, 35.0, 45.0));
    // Everything on a grid of 0.05, and what lies on the border.
    let (mut best, mut everywhere) = ((f64::NEG_INFINITY, [0.0; 3]), f64::NEG_INFINITY);
    for step in 0..7 {
        let d3 = 15.0 * f64::from(step);
        for i in 0..=1800 {
            let d1 = 0.05 * f64::from(i);
            let border = (120.0 - d1 - d3).min(d1 + 10.0);
            for d2 in (0..=1800).step_by(4).map(|j| 0.05 * f64::from(j)).chain([border]) {
                everywhere = everywhere.max(value(d1, d2, d3));
                if (0.0..=90.0).contains(&d2) && d1 + d2 + d3 <= 120.0 + 1e-9 && d1 >= d2 - 10.0 - 1e-9 {
                    let here = value(d1, d2, d3);
                    if here > best.0 {
                        best = (here, [d1, d2, d3]);
                    }
                }
            }
        }
    }
    assert!((best.0 - task.optimum()).abs() < 1e-4 && best.0 <= task.optimum() + 1e-6, "{best:?}");
    assert_eq!(best.1[2], 30.0);
    assert!((best.1.iter().sum::<f64>() - 120.0).abs() < 1e-6, "{best:?}");
    assert!(everywhere > task.optimum() + 1.0, "the requirement costs nothing: {everywhere}");
}

/// Every combination of names and steps, and the best time of each by a fine grid on its own scale.
#[test]
fn the_best_solvent_boils_early() {
    let task = task("solvents");
    let value = |solvent: usize, catalyst: usize, temperature: f64, time: f64| {
        let speed = [0.1, 0.045, 0.02][catalyst] * [0.35, 1.0, 1.3, 2.6][solvent];
        let conversion = 1.0 - (-time * ((temperature - 70.0) / 20.0_f64).exp() * speed).exp();
        let impurity =
            0.05 * conversion + 0.0015 * time + 0.002 * time * ((temperature - 80.0) / 15.0_f64).exp();
        100.0 * conversion - 200.0 * impurity
    };
    agree(&task, &[3.0, 1.0, 66.0, 30.0], value(3, 1, 66.0, 30.0));
    agree(&task, &[0.0, 0.0, 90.0, 2.5], value(0, 0, 90.0, 2.5));
    let (mut best, mut everywhere) = ((f64::NEG_INFINITY, (0, 0, 0.0, 0.0)), f64::NEG_INFINITY);
    for solvent in 0..4 {
        for catalyst in 0..3 {
            for temperature in (0..=50).map(|k| 20.0 + 2.0 * f64::from(k)) {
                for time in (0..=6000).map(|k| 0.1 * 600.0_f64.powf(f64::from(k) / 6000.0)) {
                    let here = value(solvent, catalyst, temperature, time);
                    everywhere = everywhere.max(here);
                    let broken = [
                        solvent == 1 && temperature > 78.0,
                        solvent == 3 && temperature > 66.0,
                        solvent == 2 && catalyst == 0,
                        catalyst == 0 && time > 8.0,
                    ];
                    if here > best.0 && !broken.contains(&true) {
                        best = (here, (solvent, catalyst, temperature, time));
                    }
                }
            }
        }
    }
    assert!((best.0 - task.optimum()).abs() < 1e-4 && best.0 <= task.optimum() + 1e-6, "{best:?}");
    assert_eq!((best.1.0, best.1.1, best.1.2), (3, 1, 66.0));
    assert!(everywhere > task.optimum() + 5.0, "the conditions cost nothing: {everywhere}");
}

#[test]
fn runs_and_their_designs_keep_to_what_is_allowed() {
    for name in Task::kinds() {
        let task = task(name);
        for row in task.initial_design(3) {
            check_intervention(task.problem(), &row.intervention).expect("it is allowed");
        }
        let learned = Task::named(name).and_then(Task::with_learned_noise).expect("the same problem");
        assert_eq!(learned.problem().actions(), task.problem().actions());
        assert_eq!(learned.problem().requirements(), task.problem().requirements());
        let random = Method::new(StrategyName::Random, Preset::Default, None);
        let result = run(&task, &*random.build(), 1, 6).expect("a run");
        for round in &result.rounds {
            check_intervention(task.problem(), &round.intervention).expect("it is allowed");
            assert!(round.expected_reward <= task.optimum() + 1e-6);
        }
    }
}

/// `E f(m + 0.1 z)` over normal `z`, by a sum that is written here once more.
fn over_noise(centre: f64, f: impl Fn(f64) -> f64) -> f64 {
    let density = |k: i32| (-0.5 * f64::from(k).powi(2) / 900.0).exp();
    let total: f64 = (-240..=240).map(density).sum();
    (-240..=240).map(|k| density(k) * f(centre + 0.1 * f64::from(k) / 30.0)).sum::<f64>() / total
}

/// The best of a fine grid, and of finer ones about the best.
fn best_on_grids<const N: usize>(mut range: [[f64; 2]; N], f: impl Fn([f64; N]) -> f64) -> (f64, [f64; N]) {
    const STEPS: usize = 20;
    let mut best = (f64::NEG_INFINITY, [0.0; N]);
    for _ in 0..8 {
        for point in 0..(STEPS + 1).pow(N as u32) {
            let at = |k: usize| {
                let step = point / (STEPS + 1).pow(k as u32) % (STEPS + 1);
                range[k][0] + (range[k][1] - range[k][0]) * step as f64 / STEPS as f64
            };
            let x = std::array::from_fn(at);
            best = if f(x) > best.0 { (f(x), x) } else { best };
        }
        for (k, [low, high]) in range.iter_mut().enumerate() {
            let reach = (*high - *low) / 6.0;
            (*low, *high) = ((best.1[k] - reach).max(*low), (best.1[k] + reach).min(*high));
        }
    }
    best
}

/// A kind of defect that temperature and pressure cause: the expected worth is a sum over kinds and an integral over temperatures.
#[test]
fn the_best_press_is_the_best_of_fine_grids() {
    let task = task("defects");
    let worth = |[speed, pressure]: [f64; 2]| {
        over_noise(0.25 * speed, |t| {
            let weights = [1.0, f64::exp(12.0 * (t - 0.7)), f64::exp(9.0 * (0.5 - pressure))];
            let total: f64 = weights.iter().sum();
            let kept = weights[0] + 0.1 * weights[1] + 0.3 * weights[2];
            2.0 * t * kept / total - 0.5 * pressure * pressure
        })
    };
    for at in [[0.0, 0.0], [2.2, 0.7], [4.0, 1.0], [3.1, 0.2]] {
        let found = task.expected_reward(&doing(at.to_vec()));
        assert!((found - worth(at)).abs() < 1e-7, "{at:?}: {found} {}", worth(at));
    }
    let (best, at) = best_on_grids([[0.0, 4.0], [0.0, 1.0]], worth);
    assert!((best - task.optimum()).abs() < 1e-6, "{best} at {at:?}");
}

/// A mode that comes by itself, or is set.
#[test]
fn the_best_mode_is_set() {
    let task = task("modes");
    let of = |load: f64| {
        [
            0.9 - 2.0 * (load - 0.3).powi(2),
            1.2 - 3.0 * (load - 0.85).powi(2),
            1.5 - 6.0 * (load - 0.45).powi(2),
        ]
    };
    let left_alone = |[feed]: [f64; 1]| {
        over_noise(feed, |load| {
            let weights = [f64::exp(8.0 * (0.35 - load)), 1.0, f64::exp(12.0 * (load - 0.8))];
            let sum: f64 = weights.iter().zip(of(load)).map(|(w, y)| w * y).sum();
            sum / weights.iter().sum::<f64>()
        })
    };
    let mut best = best_on_grids([[0.0, 1.0]], left_alone).0;
    assert!(best < 1.01, "{best}");
    for mode in 0..3 {
        let set = |[feed]: [f64; 1]| over_noise(feed, |load| of(load)[mode]);
        let found =
            task.expected_reward(&Intervention { targets: vec![(1, vec![mode as f64])], actions: vec![0.6] });
        assert!((found - set([0.6])).abs() < 1e-7, "{mode}: {found}");
        best = best.max(best_on_grids([[0.0, 1.0]], set).0);
    }
    let found = task.expected_reward(&doing(vec![0.6]));
    assert!((found - left_alone([0.6])).abs() < 1e-7, "{found}");
    assert!((best - task.optimum()).abs() < 1e-6, "{best}");
}
