//! Random structural causal models, so that no method is tuned to a handful of known functions.
//!
//! A name such as `scm-soft-3` is a seed: it fixes the graph of 3 to 10 nodes, the mechanisms and the noise; `scm20-soft-3`
//! and `scm50-soft-3` have 20 and 50 nodes. Mechanisms are draws from
//! Gaussian processes (as sums of random Fourier features), written as formulas of an ordinary problem.

use std::fmt::Write;

use mcbo_core::{Context, Data, Memory, Noise, Problem, ProblemErrors, Random, Strategy};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};

use crate::expectation::NoiseTable;
use crate::protocol::name_hash;
use crate::task::Span;

/// Samples behind an expected reward.
pub(crate) const SAMPLES: usize = 1024;

/// The sizes, in nodes, that can be asked for.
const LARGE: [&str; 2] = ["20", "50"];

/// Fourier features of a mechanism.
const FEATURES: usize = 32;
/// Where a node may be set; nodes have about unit variance.
const DO_RANGE: [f64; 2] = [-2.0, 2.0];
/// Models in which expected rewards of random interventions have a smaller standard deviation are drawn anew: whatever is done
/// in them hardly matters. The reward itself has about unit variance.
const LEAST_SPREAD: f64 = 0.25;
/// Random interventions and noise samples behind that standard deviation.
const SPREAD_BUDGET: (usize, usize) = (100, 64);

/// Spans of the first models of each kind: name, mean of random interventions, the best of several searches.
const SPANS: &str = include_str!("../tasks/scm-spans.txt");

/// Which interventions a random model allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Allows {
    soft: bool,
    hard: bool,
}

struct Draft {
    parents: Vec<Vec<usize>>,
    /// The actions that each node reads.
    actions: Vec<Vec<usize>>,
    action_count: usize,
    settable: Vec<usize>,
    max_interventions: Option<usize>,
}

/// The problem of a random model, or `None` if the name is not one of those.
pub(crate) fn problem(name: &str) -> Option<Result<Problem, ProblemErrors>> {
    let (size, rest) = name.strip_prefix("scm")?.split_once('-')?;
    let (kind, number) = rest.split_once('-')?;
    let size = match size {
        "" => None,
        _ => LARGE.contains(&size).then(|| size.parse().ok()).flatten().map(Some)?,
    };
    let allows = match kind {
        "soft" => Allows { soft: true, hard: false },
        "hard" => Allows { soft: false, hard: true },
        "mixed" => Allows { soft: true, hard: true },
        _ => return None,
    };
    // One spelling per task: no sign, no leading zero.
    let number = number.parse::<u32>().ok().filter(|parsed| parsed.to_string() == number)?;
    let mut rng = ChaCha8Rng::seed_from_u64(name_hash(kind) ^ size.unwrap_or(0) as u64);
    rng.set_stream(u64::from(number));
    loop {
        let draft = draft(allows, size, &mut rng);
        match build(name, &draft, &mut rng) {
            Ok(problem) if spread(&problem, &mut rng) < LEAST_SPREAD => {}
            built => return Some(built),
        }
    }
}

/// What is known about the rewards of a random model without searching.
pub(crate) fn known_span(name: &str) -> Option<Span> {
    SPANS.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (found, random, optimum) = (words.next()?, words.next()?, words.next()?);
        (found == name).then_some(Span { random: random.parse().ok()?, optimum: optimum.parse().ok()? })
    })
}

/// The standard deviation of expected rewards of random interventions.
fn spread(problem: &Problem, rng: &mut ChaCha8Rng) -> f64 {
    let Some(simulator) = problem.simulator() else { return 0.0 };
    let (count, samples) = SPREAD_BUDGET;
    let table = NoiseTable::default();
    let (data, memory) = (Data::new(), Memory::default());
    let context = Context { problem, data: &data, pending: &[], failed: &[], memory: &memory };
    let rewards: Vec<f64> = (0..count)
        .filter_map(|_| Random.suggest(&context, rng).ok())
        .map(|suggestion| table.expectation(problem, simulator, &suggestion.intervention, samples, samples))
        .collect();
    let mean = rewards.iter().sum::<f64>() / count as f64;
    (rewards.iter().map(|reward| (reward - mean).powi(2)).sum::<f64>() / count as f64).sqrt()
}

fn draft(allows: Allows, size: Option<usize>, rng: &mut ChaCha8Rng) -> Draft {
    let n: usize = size.unwrap_or_else(|| rng.random_range(3..=10));
    let parents = graph(n, rng);
    let mut actions = vec![Vec::new(); n];
    let mut action_count = 0;
    if allows.soft {
        // Every root gets an action, so that a model without noise has none; others join at random.
        let mut readers: Vec<usize> = (0..n).filter(|&node| parents[node].is_empty()).collect();
        let wanted = rng.random_range(2..=6).max(readers.len());
        while readers.len() < wanted {
            readers.push(rng.random_range(0..n));
        }
        for reader in readers {
            actions[reader].push(action_count);
            let other = rng.random_range(0..n);
            if other != reader && rng.random_bool(0.2) {
                actions[other].push(action_count);
            }
            action_count += 1;
        }
    }
    let mut settable: Vec<usize> = Vec::new();
    if allows.hard {
        settable = (0..n - 1).collect();
        settable.shuffle(rng);
        settable.truncate(rng.random_range(2..=4));
        settable.sort_unstable();
    }
    let limited = allows.hard && !allows.soft && rng.random_bool(0.5);
    Draft { parents, actions, action_count, settable, max_interventions: limited.then_some(2) }
}

/// A graph whose last node has all others among its ancestors.
fn graph(n: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); n];
    for node in 1..n {
        if node < n - 1 && rng.random_bool(0.15) {
            continue;
        }
        let mut earlier: Vec<usize> = (0..node).collect();
        earlier.shuffle(rng);
        earlier.truncate(rng.random_range(1..=3));
        parents[node] = earlier;
    }
    for node in 0..n - 1 {
        if !parents.iter().any(|list| list.contains(&node)) {
            parents[rng.random_range(node + 1..n)].push(node);
        }
    }
    for list in &mut parents {
        list.sort_unstable();
    }
    parents
}

fn build(name: &str, draft: &Draft, rng: &mut ChaCha8Rng) -> Result<Problem, ProblemErrors> {
    let n = draft.parents.len();
    let node_name = |node: usize| if node + 1 == n { "Y".to_owned() } else { format!("X{node}") };
    let noisy = rng.random_bool(0.5);
    let mut builder = Problem::builder(name).maximize("Y");
    for action in 0..draft.action_count {
        builder = builder.action(format!("a{action}"), [0.0, 1.0]);
    }
    for node in 0..n {
        let parents: Vec<String> = draft.parents[node].iter().map(|&parent| node_name(parent)).collect();
        let actions: Vec<String> = draft.actions[node].iter().map(|action| format!("a{action}")).collect();
        let std = if parents.is_empty() && actions.is_empty() {
            Some(rng.random_range(0.5..1.0))
        } else if noisy {
            Some(rng.random_range(0.05..0.2))
        } else {
            None
        };
        // Three decimals, so that the noise declared and the noise simulated are the same number.
        let std = std.map(|std: f64| (1e3 * std).round() / 1e3);
        let mean = mechanism(&parents, &actions, rng);
        let formula = std.map_or_else(|| mean.clone(), |std| format!("normal({mean}, {std})"));
        let settable = draft.settable.contains(&node);
        builder = builder.simulate(node_name(node), formula).node(node_name(node), |builder| {
            let builder = builder.parents(parents).actions(actions);
            let builder = builder.noise(std.map_or(Noise::None, Noise::Gaussian));
            if settable { builder.hard(DO_RANGE) } else { builder }
        });
    }
    if let Some(limit) = draft.max_interventions {
        builder = builder.max_interventions(limit);
    }
    builder.build()
}

/// A draw from a Gaussian process of unit variance: `sqrt(2/M) Σ cos(w·z + b)`.
///
/// `w` is normal over the lengthscale for a squared exponential, and Student-t with 5 degrees of freedom for a
/// Matern-5/2 kernel; each mechanism is one or the other.
fn mechanism(parents: &[String], actions: &[String], rng: &mut ChaCha8Rng) -> String {
    if parents.is_empty() && actions.is_empty() {
        return format!("{:.4}", rng.random_range(-1.0..1.0));
    }
    // Parents have about unit variance, actions lie in [0, 1].
    let mut inputs: Vec<(&str, f64)> = Vec::new();
    for (names, range) in [(parents, [0.7f64, 3.0f64]), (actions, [0.2, 1.0])] {
        for name in names {
            let lengthscale = rng.random_range(range[0].ln()..range[1].ln()).exp();
            inputs.push((name, lengthscale));
        }
    }
    let rough = rng.random_bool(0.5);
    let mut text = format!("{:.5} * (", (2.0 / FEATURES as f64).sqrt());
    for feature in 0..FEATURES {
        let stretch = match ChiSquared::new(5.0) {
            Ok(chi) if rough => f64::sqrt(5.0 / chi.sample(rng)),
            _ => 1.0,
        };
        text.push_str(if feature == 0 { "cos(" } else { " + cos(" });
        for (name, lengthscale) in &inputs {
            let z: f64 = StandardNormal.sample(rng);
            let _ = write!(text, "{:.4} * {name} + ", stretch * z / lengthscale);
        }
        let _ = write!(text, "{:.4})", rng.random_range(0.0..std::f64::consts::TAU));
    }
    text.push(')');
    text
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::Task;
    use crate::optimum;

    #[test]
    fn names_have_one_spelling() {
        for name in [
            "scm20",
            "scm20-soft",
            "scm30-soft-1",
            "scm020-soft-1",
            "scm-soft",
            "scm-soft-",
            "scm-soft-+1",
            "scm-soft-01",
            "scm-odd-1",
            "scm-hard--1",
            "soft-1",
        ] {
            assert!(problem(name).is_none(), "{name}");
        }
    }

    #[test]
    fn models_are_what_their_names_say() {
        for k in 0..12 {
            for (kind, soft, hard) in [("soft", true, false), ("hard", false, true), ("mixed", true, true)] {
                let name = format!("scm-{kind}-{k}");
                let problem = problem(&name).unwrap().unwrap();
                assert_eq!(problem, super::problem(&name).unwrap().unwrap());
                assert!((3..=10).contains(&problem.nodes().len()));
                assert_eq!(problem.warnings(), [], "{name}");
                assert_eq!(!problem.actions().is_empty(), soft, "{name}");
                assert_eq!(!problem.settable().is_empty(), hard, "{name}");
            }
        }
    }

    /// All that a model is, in words.
    fn text(problem: &Problem) -> String {
        let simulator = problem.simulator().unwrap();
        let node = |(index, node): (usize, &mcbo_core::Node)| {
            let formula = simulator.formulas(index)[0].text();
            format!(
                "{} {:?} {:?} {:?} {:?} {formula}\n",
                node.name, node.parents, node.actions, node.noise, node.hard
            )
        };
        let nodes: String = problem.nodes().iter().enumerate().map(node).collect();
        format!("{} {:?}\n{nodes}", problem.actions().len(), problem.max_interventions())
    }

    /// Figures of earlier releases are of the models that the names stood for then.
    #[test]
    fn names_stand_for_the_models_they_always_did() {
        for (name, hash) in [
            ("scm-soft-0", 0xd8cb_ad44_445a_3ff7),
            ("scm-soft-4", 0xa755_e09f_c62e_d8de),
            ("scm-hard-0", 0x1640_2742_70ef_10f6),
            ("scm-hard-3", 0x65ac_bcd9_369e_34ec),
            ("scm-mixed-0", 0xa642_4619_16ec_7ac4),
            ("scm-mixed-4", 0xcb40_18bd_c505_05b7),
            ("scm20-soft-0", 0xd255_3a97_a9d7_8846),
            ("scm50-soft-1", 0xa960_086e_f182_250c),
        ] {
            assert_eq!(name_hash(&text(&problem(name).unwrap().unwrap())), hash, "{name}");
        }
    }

    #[test]
    fn the_table_of_spans_agrees_with_the_search() {
        for name in ["scm-soft-0", "scm-soft-4"] {
            let (known, found) = (known_span(name).unwrap(), optimum::search(&Task::named(name).unwrap(), 0));
            let width = known.optimum - known.random;
            assert!((known.optimum - found.optimum).abs() < 0.01 * width, "{name} {known:?} {found:?}");
            assert!((known.random - found.random).abs() < 0.01 * width, "{name} {known:?} {found:?}");
        }
    }

    #[test]
    fn large_models_have_the_size_in_their_names() {
        for (name, nodes) in [("scm20-soft-0", 20), ("scm50-soft-0", 50), ("scm20-mixed-1", 20)] {
            let problem = problem(name).unwrap().unwrap();
            assert_eq!(problem.nodes().len(), nodes);
            assert_eq!(problem.warnings(), [], "{name}");
        }
    }

    /// Writes what belongs into `tasks/scm-spans.txt`: run with `--ignored --nocapture` after the generator has changed.
    #[test]
    #[ignore = "takes minutes"]
    fn print_spans() {
        let small = (0..60).map(|k| format!("scm-{}-{}", ["soft", "hard", "mixed"][k % 3], k / 3));
        let large =
            ["scm20", "scm50"].into_iter().flat_map(|stem| (0..2).map(move |k| format!("{stem}-soft-{k}")));
        let names: Vec<String> = small.chain(large).collect();
        let line = |name: &String| {
            let task = Task::named(name).unwrap();
            let spans = [0, 1].map(|attempt| optimum::search(&task, attempt));
            let optimum = f64::max(spans[0].optimum, spans[1].optimum);
            format!("{name} {:.6} {optimum:.6}", 0.5 * (spans[0].random + spans[1].random))
        };
        let lines: Vec<String> = names.par_iter().map(line).collect();
        println!("{}", lines.join("\n"));
    }
}
