use std::collections::BTreeSet;

use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn names(len: usize) -> Vec<String> {
    (0..len).map(|node| format!("x{node}")).collect()
}

fn graph(parents: &[&[usize]]) -> Graph {
    Graph::new(names(parents.len()), parents.iter().map(|list| list.to_vec()).collect()).unwrap()
}

fn subsets(items: &[usize]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = (0..1_usize << items.len())
        .map(|mask| (0..items.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| items[bit]).collect())
        .collect();
    all.sort();
    all.sort_by_key(Vec::len);
    all
}

/// A random graph whose indices are shuffled against its order, with the reward and some candidates.
fn random_graph(max: usize) -> impl Strategy<Value = (Graph, usize, Vec<usize>)> {
    (1..=max, any::<u64>()).prop_map(|(len, seed)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        random_graph_from(len, &mut rng)
    })
}

fn random_graph_from(len: usize, rng: &mut impl Rng) -> (Graph, usize, Vec<usize>) {
    let mut place: Vec<usize> = (0..len).collect();
    for at in (1..len).rev() {
        place.swap(at, rng.random_range(0..=at));
    }
    let density = rng.random_range(0.2..0.8);
    let mut parents = vec![Vec::new(); len];
    for child in 0..len {
        for parent in 0..child {
            if rng.random_bool(density) {
                parents[place[child]].push(place[parent]);
            }
        }
    }
    let reward = place[len - 1];
    let settable = rng.random_range(0.3..1.0);
    let candidates = (0..len).filter(|&node| node != reward && rng.random_bool(settable)).collect();
    (Graph::new(names(len), parents).unwrap(), reward, candidates)
}

#[test]
fn order_is_topological_with_the_first_declared_first() {
    let graph = graph(&[&[2], &[], &[], &[0, 1]]);
    assert_eq!(graph.order(), [1, 2, 0, 3]);
    assert_eq!(graph.children(2), [0]);
    assert_eq!(graph.parents(3), [0, 1]);
}

#[test]
fn a_cycle_is_named_in_the_order_of_its_arrows() {
    let parents = vec![vec![], vec![0, 3], vec![1], vec![2], vec![3]];
    let error = Graph::new(names(5), parents).unwrap_err();
    assert_eq!(error, GraphError::Cycle { nodes: ["x1", "x2", "x3"].map(String::from).to_vec() });
    assert_eq!(error.to_string(), "the nodes `x1` -> `x2` -> `x3` -> `x1` form a cycle");
    let own = Graph::new(names(1), vec![vec![0]]).unwrap_err();
    assert_eq!(own, GraphError::Cycle { nodes: vec!["x0".into()] });
}

#[test]
fn what_is_no_graph_is_refused() {
    let wrong = |parents| Graph::new(names(2), parents).unwrap_err();
    assert!(matches!(wrong(vec![vec![], vec![2]]), GraphError::UnknownParent { parent: 2, .. }));
    assert!(matches!(wrong(vec![vec![], vec![0, 0]]), GraphError::DuplicateParent { .. }));
    assert!(matches!(wrong(vec![vec![]]), GraphError::LengthMismatch { .. }));
    let twice = Graph::new(vec!["x".into(), "x".into()], vec![vec![], vec![]]).unwrap_err();
    assert_eq!(twice, GraphError::DuplicateName { name: "x".into() });
    assert!(Graph::new(Vec::new(), Vec::new()).unwrap().is_empty());
}

#[test]
fn toygraph_has_the_sets_of_the_paper() {
    let graph = graph(&[&[], &[0], &[1]]);
    assert_eq!(graph.minimal_sets(2, &[0, 1], 10).unwrap(), [vec![], vec![0], vec![1]]);
    assert_eq!(graph.possibly_optimal_sets(2, &[0, 1], 10).unwrap(), [vec![1]]);
}

#[test]
fn psagraph_has_the_sets_of_the_paper() {
    // age, bmi, aspirin, statin, cancer, psa
    let graph = graph(&[&[], &[0], &[0, 1], &[0, 1], &[0, 1, 2, 3], &[0, 1, 2, 3, 4]]);
    let sets = graph.minimal_sets(5, &[2, 3], 10).unwrap();
    assert_eq!(sets, [vec![], vec![2], vec![3], vec![2, 3]]);
    // Age and bmi move both drugs and psa, so leaving a drug to them can be better than fixing it.
    assert_eq!(graph.possibly_optimal_sets(5, &[2, 3], 10).unwrap(), sets);
}

#[test]
fn a_hidden_common_cause_makes_observing_possibly_optimal() {
    // u -> x, u -> y, x -> y: the smallest case of the structural causal bandit.
    let graph = graph(&[&[], &[0], &[0, 1]]);
    assert_eq!(graph.possibly_optimal_sets(2, &[1], 10).unwrap(), [vec![], vec![1]]);
    assert_eq!(graph.possibly_optimal_sets(2, &[0, 1], 10).unwrap(), [vec![0, 1]]);
}

#[test]
fn limits_are_noticed_without_counting_everything() {
    // 60 parents of the reward: 2^60 minimal sets.
    let mut parents = vec![Vec::new(); 60];
    parents.push((0..60).collect());
    let graph = Graph::new(names(61), parents).unwrap();
    let candidates: Vec<usize> = (0..60).collect();
    assert_eq!(graph.minimal_sets(60, &candidates, 1000), None);
    assert_eq!(graph.minimal_sets_up_to(60, &candidates, 1, 1000).unwrap().len(), 61);
    assert_eq!(graph.possibly_optimal_sets(60, &candidates, 1).unwrap(), [candidates]);
    assert_eq!(graph.minimal_sets(60, &[], 1).unwrap(), [Vec::<usize>::new()]);
    assert_eq!(graph.minimal_sets(60, &[], 0), None);
    assert_eq!(graph.possibly_optimal_sets(60, &[], 0), None);

    // A common cause of 40 candidates and the reward that cannot be set: 2^40 possibly optimal sets.
    let mut parents = vec![Vec::new()];
    parents.extend(vec![vec![0]; 40]);
    parents.push((0..41).collect());
    let graph = Graph::new(names(42), parents).unwrap();
    assert_eq!(graph.possibly_optimal_sets(41, &(1..41).collect::<Vec<_>>(), 500), None);
}

#[test]
fn a_long_chain_is_no_burden() {
    let len = 20_000;
    let parents = (0..len).map(|node: usize| node.checked_sub(1).into_iter().collect()).collect();
    let graph = Graph::new(names(len), parents).unwrap();
    assert!(graph.ancestors(len - 1).iter().all(|&ancestor| ancestor));
}

proptest! {
    #[test]
    fn order_puts_parents_first((graph, _, _) in random_graph(12)) {
        let mut place = vec![usize::MAX; graph.len()];
        for (at, &node) in graph.order().iter().enumerate() {
            place[node] = at;
        }
        for node in 0..graph.len() {
            prop_assert!(graph.parents(node).iter().all(|&parent| place[parent] < place[node]));
        }
    }

    #[test]
    fn ancestors_are_what_has_a_path((graph, reward, cut) in random_graph(9)) {
        // Independent of the code: reachability by repeated squaring of the relation.
        let len = graph.len();
        let mut path = vec![vec![false; len]; len];
        for node in 0..len {
            path[node][node] = true;
            for &parent in graph.parents(node).iter().filter(|_| !cut.contains(&node)) {
                path[parent][node] = true;
            }
        }
        for via in 0..len {
            for from in 0..len {
                for to in 0..len {
                    path[from][to] |= path[from][via] && path[via][to];
                }
            }
        }
        let expected: Vec<bool> = (0..len).map(|node| path[node][reward]).collect();
        prop_assert_eq!(graph.ancestors_cut(reward, &cut), expected);
    }

    #[test]
    fn minimal_sets_are_all_and_only_the_minimal_ones((graph, reward, candidates) in random_graph(9)) {
        let expected: Vec<_> =
            subsets(&candidates).into_iter().filter(|set| graph.is_minimal(reward, set)).collect();
        prop_assert_eq!(graph.minimal_sets(reward, &candidates, expected.len()), Some(expected.clone()));
        prop_assert_eq!(graph.minimal_sets(reward, &candidates, expected.len() - 1), None);
        let small: Vec<_> = expected.iter().filter(|set| set.len() <= 2).cloned().collect();
        prop_assert_eq!(graph.minimal_sets_up_to(reward, &candidates, 2, 1000), Some(small));
    }

    /// A subset with the same effect exists iff the set is not minimal, by enumeration of paths.
    #[test]
    fn minimality_is_about_paths((graph, reward, set) in random_graph(8)) {
        fn reaches(graph: &Graph, node: usize, reward: usize, set: &[usize]) -> bool {
            node == reward
                || graph
                    .children(node)
                    .iter()
                    .any(|&child| !set.contains(&child) && reaches(graph, child, reward, set))
        }
        let expected = set.iter().all(|&member| reaches(&graph, member, reward, &set));
        prop_assert_eq!(graph.is_minimal(reward, &set), expected);
    }

    #[test]
    fn possibly_optimal_sets_match_their_definition((graph, reward, candidates) in random_graph(8)) {
        let expected: Vec<_> = subsets(&candidates)
            .into_iter()
            .filter(|set| definition::border(&graph, reward, &candidates, set) == *set)
            .collect();
        let found = graph.possibly_optimal_sets(reward, &candidates, expected.len());
        prop_assert_eq!(found.as_ref(), Some(&expected));
        prop_assert_eq!(graph.possibly_optimal_sets(reward, &candidates, expected.len() - 1), None);
        prop_assert!(expected.iter().all(|set| graph.is_minimal(reward, set)));
    }
}

/// The definition of Lee & Bareinboim, written with sets of edges and without any cleverness.
mod definition {
    use super::*;

    /// Projects out the nodes one by one that cannot be set: (arrows, confounding edges).
    fn project(graph: &Graph, reward: usize, candidates: &[usize]) -> [BTreeSet<(usize, usize)>; 2] {
        let len = graph.len();
        let mut arrows = BTreeSet::new();
        let mut confounded: BTreeSet<(usize, usize)> = BTreeSet::new();
        for node in 0..len {
            for &parent in graph.parents(node) {
                arrows.insert((parent, node));
            }
        }
        for gone in (0..len).filter(|node| *node != reward && !candidates.contains(node)) {
            let into: Vec<usize> = arrows.iter().filter(|edge| edge.1 == gone).map(|edge| edge.0).collect();
            let out: Vec<usize> = arrows.iter().filter(|edge| edge.0 == gone).map(|edge| edge.1).collect();
            let beside: Vec<usize> =
                confounded.iter().filter(|edge| edge.0 == gone).map(|edge| edge.1).collect();
            for &to in &out {
                arrows.extend(into.iter().map(|&from| (from, to)));
                // gone <- its own noise -> both children, and other <-> gone -> child.
                for &other in out.iter().chain(&beside).filter(|&&other| other != to) {
                    confounded.extend([(to, other), (other, to)]);
                }
            }
            arrows.retain(|edge| edge.0 != gone && edge.1 != gone);
            confounded.retain(|edge| edge.0 != gone && edge.1 != gone);
        }
        [arrows, confounded]
    }

    pub(super) fn border(graph: &Graph, reward: usize, candidates: &[usize], cut: &[usize]) -> Vec<usize> {
        let [mut arrows, mut confounded] = project(graph, reward, candidates);
        arrows.retain(|edge| !cut.contains(&edge.1));
        confounded.retain(|edge| !cut.contains(&edge.0) && !cut.contains(&edge.1));
        let close = |start: BTreeSet<usize>, edges: &[(usize, usize)]| {
            let mut set = start;
            loop {
                let more: Vec<usize> =
                    edges.iter().filter(|edge| set.contains(&edge.0)).map(|edge| edge.1).collect();
                let before = set.len();
                set.extend(more);
                if set.len() == before {
                    return set;
                }
            }
        };
        let backwards: Vec<_> = arrows.iter().map(|&(from, to)| (to, from)).collect();
        let ancestors = close(BTreeSet::from([reward]), &backwards);
        let edges: Vec<_> = arrows
            .iter()
            .chain(&confounded)
            .copied()
            .filter(|(from, to)| ancestors.contains(from) && ancestors.contains(to))
            .collect();
        let territory = close(BTreeSet::from([reward]), &edges);
        let border: BTreeSet<usize> = arrows
            .iter()
            .filter(|(from, to)| territory.contains(to) && !territory.contains(from))
            .map(|edge| edge.0)
            .collect();
        border.into_iter().collect()
    }
}

/// A model over bits: for every node the chance of a 1 given the bits of its parents.
struct Bits {
    chance: Vec<Vec<f64>>,
}

impl Bits {
    /// Chances are often 0 or 1, because the models that tell sets apart are the nearly deterministic ones.
    fn random(graph: &Graph, rng: &mut impl Rng) -> Self {
        let chance = (0..graph.len())
            .map(|node| {
                (0..1 << graph.parents(node).len())
                    .map(|_| match rng.random_range(0..8) {
                        0..3 => 0.0,
                        3..6 => 1.0,
                        6 => 0.5,
                        _ => rng.random_range(0.0..1.0),
                    })
                    .collect()
            })
            .collect();
        Self { chance }
    }

    /// The chance of reward 1 when the nodes of `set` take the bits of `mask`, by summing over all worlds.
    fn expected(&self, graph: &Graph, reward: usize, set: &[usize], mask: usize) -> f64 {
        let bit = |world: usize, node: usize| world >> node & 1;
        (0..1_usize << graph.len())
            .filter(|world| bit(*world, reward) == 1)
            .map(|world| {
                (0..graph.len())
                    .map(|node| {
                        if let Some(at) = set.iter().position(|&member| member == node) {
                            return if bit(world, node) == mask >> at & 1 { 1.0 } else { 0.0 };
                        }
                        let parents = graph.parents(node).iter().enumerate();
                        let row: usize = parents.map(|(at, &parent)| bit(world, parent) << at).sum();
                        let chance = self.chance[node][row];
                        if bit(world, node) == 1 { chance } else { 1.0 - chance }
                    })
                    .product::<f64>()
            })
            .sum()
    }

    fn best(&self, graph: &Graph, reward: usize, set: &[usize]) -> f64 {
        (0..1 << set.len()).map(|mask| self.expected(graph, reward, set, mask)).fold(0.0, f64::max)
    }
}

/// No set outside the list beats the list, in models that were not made to suit it.
#[test]
fn possibly_optimal_sets_hold_the_best_set_of_random_models() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..400 {
        let len = rng.random_range(2..=6);
        let (graph, reward, candidates) = random_graph_from(len, &mut rng);
        let model = Bits::random(&graph, &mut rng);
        let listed = graph.possibly_optimal_sets(reward, &candidates, 1000).unwrap();
        let best =
            |sets: &[Vec<usize>]| sets.iter().map(|set| model.best(&graph, reward, set)).fold(0.0, f64::max);
        let (all, listed) = (best(&subsets(&candidates)), best(&listed));
        assert!(all - listed < 1e-12, "{graph:?} {candidates:?}: {all} > {listed}");
    }
}

/// Every set of the list is the only best one in some model, so the list is no longer than it must be.
#[test]
fn possibly_optimal_sets_are_each_best_somewhere() {
    let cases: [(&[&[usize]], &[usize]); 5] = [
        (&[&[], &[0], &[0, 1]], &[1]),
        (&[&[], &[0], &[1]], &[0, 1]),
        (&[&[], &[0], &[0], &[0, 1, 2]], &[1, 2]),
        (&[&[], &[0], &[1], &[0, 2]], &[1, 2]),
        (&[&[], &[0], &[0, 1], &[2]], &[1]),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for (parents, candidates) in cases {
        let graph = graph(parents);
        let reward = graph.len() - 1;
        let mut missing: BTreeSet<_> =
            graph.possibly_optimal_sets(reward, candidates, 100).unwrap().into_iter().collect();
        let rivals = graph.minimal_sets(reward, candidates, 100).unwrap();
        for _ in 0..50_000 {
            let model = Bits::random(&graph, &mut rng);
            let scores: Vec<f64> = rivals.iter().map(|set| model.best(&graph, reward, set)).collect();
            let best = (0..rivals.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            if (0..rivals.len()).all(|other| other == best || scores[other] < scores[best] - 1e-9) {
                missing.remove(&rivals[best]);
            }
            if missing.is_empty() {
                break;
            }
        }
        assert!(missing.is_empty(), "{parents:?}: never best: {missing:?}");
    }
}
