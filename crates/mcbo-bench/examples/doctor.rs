//! How often `doctor` sees that an arrow is missing or a formula is wrong, and how often it says so where all is right.
//!
//! `cargo run --release -p mcbo-bench --example doctor -- 200 5000`: how many random models, and the number of the first; a third word, `alarms`, leaves out all but right graphs. What the doctor
//! does was chosen by models from 3000 and 4000 on; figures are of others. Each has 60 rows of random interventions and noise that is
//! to be learned; half of the models have none. Every model is looked at with its own graph, with one arrow removed at random, and with the
//! formula of one node given: once right, once with its values half as large again.

use mcbo_bench::{Design, Task};
use mcbo_core::{Data, Doubt, ModelMemory, ModelSettings, Network, Noise, Problem};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const KINDS: [&str; 7] = ["soft", "additive", "scaled", "linear", "warped", "mixed", "hard"];
/// Models of this number and above are in no suite, and nothing was chosen by them.
const FIRST: usize = 5000;
const ROWS: usize = 60;

/// What was found of one model.
#[derive(Default)]
struct Findings {
    /// Doubts about the right graph.
    alarms: Vec<Doubt>,
    /// Whether the arrow that was removed was named, and whether anything was said at all of its node.
    named: Option<bool>,
    at_node: bool,
    /// Whether a right formula was doubted, and a wrong one.
    right_formula: Option<bool>,
    wrong_formula: Option<bool>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let models: usize = arguments.next().map_or(200, |count| count.parse().expect("a number of models"));
    let first: usize = arguments.next().map_or(FIRST, |first| first.parse().expect("a number"));
    // Right graphs alone take a quarter of the time.
    let alarms_only = arguments.next().as_deref() == Some("alarms");
    let measured = (0..models).into_par_iter().map(|index| measure(&name(first, index), index, alarms_only));
    let found: Vec<Findings> = measured.collect();
    let share =
        |count: usize, all: usize| format!("{count} of {all} ({:.0} %)", 100.0 * count as f64 / all as f64);
    let graphs = found.iter().filter(|one| !one.alarms.is_empty()).count();
    println!("false alarm on a right graph: {}", share(graphs, models));
    for kind in ["missing-arrow", "idle-arrow", "uneven-noise", "formula", "drift", "far-off"] {
        let said = found.iter().filter(|one| one.alarms.iter().any(|doubt| doubt.about().0 == kind)).count();
        println!("  {kind}: {said}");
    }
    let removed = found.iter().filter_map(|one| one.named).count();
    let named = found.iter().filter(|one| one.named == Some(true)).count();
    println!("removed arrow named: {}", share(named, removed));
    println!("its node doubted: {}", share(found.iter().filter(|one| one.at_node).count(), removed));
    let wrong: Vec<bool> = found.iter().filter_map(|one| one.wrong_formula).collect();
    println!("wrong formula named: {}", share(wrong.iter().filter(|w| **w).count(), wrong.len()));
    let right: Vec<bool> = found.iter().filter_map(|one| one.right_formula).collect();
    println!("right formula doubted: {}", share(right.iter().filter(|w| **w).count(), right.len()));
    for (index, one) in found.iter().enumerate() {
        for alarm in &one.alarms {
            println!("  {}: {alarm}", name(first, index));
        }
    }
}

fn name(first: usize, index: usize) -> String {
    format!("scm-{}-{}", KINDS[index % KINDS.len()], first + index / KINDS.len())
}

/// The problem without an arrow, and with a formula for a node; the noise is to be learned.
fn changed(problem: &Problem, without: Option<(usize, usize)>, formula: Option<(usize, String)>) -> Problem {
    let mut builder = Problem::builder(problem.name()).maximize("Y");
    for action in problem.actions() {
        builder = builder.action(action.name.clone(), action.range);
    }
    for (index, node) in problem.nodes().iter().enumerate() {
        let kept = node.parents.iter().filter(|&&parent| without != Some((parent, index)));
        let parents: Vec<String> = kept.map(|&parent| problem.nodes()[parent].name.clone()).collect();
        let actions: Vec<String> =
            node.actions.iter().map(|&action| problem.actions()[action].name.clone()).collect();
        builder = builder.node(node.name.clone(), |n| {
            let mut n = n.parents(parents).actions(actions).noise(Noise::Learn);
            if let Some(ranges) = &node.hard {
                n = n.hard(ranges[0]);
            }
            match &formula {
                Some((at, text)) if *at == index => n.formula(text.clone()),
                _ => n,
            }
        });
    }
    builder.build().expect("a problem")
}

fn doubts(problem: &Problem, rows: &Data) -> Vec<Doubt> {
    let mut data = Data::new();
    for row in rows.observations() {
        data.push(problem, row.clone()).expect("it fits");
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let network = Network::fit(problem, &data, &ModelMemory::default(), &ModelSettings::paper(), &mut rng)
        .expect("a fit");
    network.doubts(problem, &data, 1)
}

fn measure(name: &str, index: usize, alarms_only: bool) -> Findings {
    let task = Task::named(name).expect("a task");
    let problem = task.problem();
    let mut data = Data::new();
    for row in task.rows(Design::Scattered { rows: ROWS }, 0) {
        data.push(problem, row).expect("it fits");
    }
    let mut found = Findings { alarms: doubts(&changed(problem, None, None), &data), ..Findings::default() };
    if alarms_only {
        return found;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(index as u64);
    let arrows: Vec<(usize, usize)> = (0..problem.nodes().len())
        .flat_map(|to| problem.nodes()[to].parents.iter().map(move |&from| (from, to)))
        .collect();
    if !arrows.is_empty() {
        let arrow = arrows[rng.random_range(0..arrows.len())];
        let [start, end] = [arrow.0, arrow.1].map(|node| problem.nodes()[node].name.clone());
        let said = doubts(&changed(problem, Some(arrow), None), &data);
        let names = |doubt: &Doubt| matches!(doubt, Doubt::MissingArrow { node, from, .. } if *node == end && *from == start);
        found.named = Some(said.iter().any(names));
        found.at_node = said.iter().any(|d| matches!(d, Doubt::MissingArrow { node, .. } if *node == end));
    }
    let inner: Vec<usize> = (0..problem.nodes().len()).filter(|&node| problem.input_dim(node) > 0).collect();
    if let (Some(simulator), false) = (problem.simulator(), inner.is_empty()) {
        let node = inner[rng.random_range(0..inner.len())];
        let text = simulator.formulas(node)[0].to_string();
        // Without its noise: `normal(mean, deviation)`.
        let mean = match text.strip_prefix("normal(").and_then(|rest| rest.rsplit_once(", ")) {
            Some((mean, _)) => mean.to_owned(),
            None => text,
        };
        let refuted = |formula: String| {
            let problem = changed(problem, None, Some((node, formula)));
            let own = &problem.nodes()[node].name;
            doubts(&problem, &data).iter().any(|doubt| match doubt {
                Doubt::Formula { node, .. } => node == own,
                Doubt::Data(mcbo_core::Suspicion::Formula { node, .. }) => node == own,
                _ => false,
            })
        };
        found.right_formula = Some(refuted(mean.clone()));
        found.wrong_formula = Some(refuted(format!("1.5 * ({mean})")));
    }
    found
}
