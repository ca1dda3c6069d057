//! What a random model looks like before it has mechanisms: its graph, and who acts where.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Kind, More};

pub(super) struct Draft {
    pub(super) parents: Vec<Vec<usize>>,
    /// The actions that each node reads.
    pub(super) actions: Vec<Vec<usize>>,
    pub(super) action_count: usize,
    pub(super) settable: Vec<usize>,
    pub(super) max_interventions: Option<usize>,
    /// A root without an action, which is known before deciding.
    pub(super) context: Option<usize>,
}

/// What is decided in an action: a number of [0, 1], one of so many steps, or one of so many names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decided {
    Number,
    Steps(usize),
    Names(usize),
}

impl Decided {
    /// What is decided in the actions of a model with names: the first is one, others in every second case.
    pub(super) fn random(draft: &Draft, rng: &mut ChaCha8Rng) -> Vec<Self> {
        let mut one = |action: usize| match rng.random_range(0..4) {
            0 | 1 => Self::Names(rng.random_range(2..=5)),
            _ if action == 0 => Self::Names(rng.random_range(2..=5)),
            2 => Self::Steps(rng.random_range(4..=20)),
            _ => Self::Number,
        };
        (0..draft.action_count).map(&mut one).collect()
    }
}

/// The names that an action may be.
pub(super) fn name_of(place: usize) -> String {
    format!("n{place}")
}

impl Draft {
    /// A graph with actions and settable nodes as the kind allows them, of a size of its own if none is given.
    pub(super) fn new(kind: &Kind, size: Option<usize>, rng: &mut ChaCha8Rng) -> Self {
        let [least, most] = kind.nodes;
        let n: usize = size.unwrap_or_else(|| rng.random_range(least..=most));
        let parents = graph(n, rng);
        // The first node has no parents.
        let context = (kind.more == More::Contexts).then_some(0);
        let mut actions = vec![Vec::new(); n];
        let mut action_count = 0;
        let first = context.map_or(0, |context| context + 1);
        if kind.soft {
            // Every root gets an action, so that a model without noise has none; others join at random.
            let acted_on = |&node: &usize| parents[node].is_empty() && context != Some(node);
            let mut readers: Vec<usize> = (0..n).filter(acted_on).collect();
            let wanted = rng.random_range(2..=6).max(readers.len());
            while readers.len() < wanted {
                readers.push(rng.random_range(first..n));
            }
            for reader in readers {
                actions[reader].push(action_count);
                let other = rng.random_range(first..n);
                if other != reader && rng.random_bool(0.2) {
                    actions[other].push(action_count);
                }
                action_count += 1;
            }
        }
        let mut settable: Vec<usize> = Vec::new();
        if kind.hard {
            settable = (0..n - 1).collect();
            settable.shuffle(rng);
            settable.truncate(rng.random_range(2..=4));
            settable.sort_unstable();
        }
        let limited = kind.hard && !kind.soft && rng.random_bool(0.5);
        Self { parents, actions, action_count, settable, max_interventions: limited.then_some(2), context }
    }
}

/// A graph whose last node has all others among its ancestors. Parents come before their children.
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
