//! Large graphs: what stands near the reward is drawn, what lies behind it is counted.

use mcbo_core::{Effects, Problem};

use crate::draw::counted;

/// Graphs of more boxes than this are folded.
const WHOLE: usize = 80;
/// Nodes and actions that a folded graph shows.
const NODES: usize = 24;
const ACTIONS: usize = 16;

/// A box that stands for several nodes and actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// What is in it.
    pub(super) text: String,
    /// The nodes that are shown and that something in it points at.
    pub(super) points_at: Vec<usize>,
}

/// What is shown of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fold {
    /// The nodes that are shown, then the actions, counted on from the nodes.
    pub(super) shown: Vec<usize>,
    pub(super) groups: Vec<Group>,
    /// What the picture leaves out, in words.
    pub(super) words: Option<String>,
}

impl Fold {
    /// Everything of a graph of some boxes. Of a larger one the nodes nearest to the reward, by the longest way there, and among those that
    /// are as near the ones with the largest effects.
    pub(super) fn new(problem: &Problem, effects: Option<&Effects>) -> Self {
        let (nodes, actions) = (problem.nodes().len(), problem.actions().len());
        if nodes + actions <= WHOLE {
            return Self { shown: (0..nodes + actions).collect(), groups: Vec::new(), words: None };
        }
        let far = distances(problem);
        let of_node = |node: usize| {
            let own = effects.iter().flat_map(|effects| &effects.arrows).filter(|(from, ..)| *from == node);
            own.map(|(.., effect)| effect.effect).fold(0.0, f64::max)
        };
        let mut near: Vec<(usize, f64, usize)> =
            (0..nodes).filter_map(|node| Some((far[node]?, of_node(node), node))).collect();
        near.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        // Whatever a node that is shown points at on the way to the reward is nearer, and so is shown too.
        let mut is_shown = vec![false; nodes + actions];
        near.iter().take(NODES).for_each(|(.., node)| is_shown[*node] = true);
        let pushed =
            |action: usize| (0..nodes).filter(move |&n| problem.nodes()[n].actions.contains(&action));
        let of_action = |action: usize| {
            let name = &problem.actions()[action].name;
            let own = effects.iter().flat_map(|effects| &effects.actions).filter(|(other, _)| other == name);
            own.map(|(_, effect)| effect.effect).fold(0.0, f64::max)
        };
        let mut pushing: Vec<usize> = (0..actions).filter(|&a| pushed(a).any(|n| is_shown[n])).collect();
        pushing.sort_by(|&a, &b| of_action(b).total_cmp(&of_action(a)));
        pushing.iter().take(ACTIONS).for_each(|&action| is_shown[nodes + action] = true);

        // Every box that is not shown belongs to the first node that is shown behind which it stands.
        let mut owner: Vec<Option<usize>> = (0..nodes).map(|node| is_shown[node].then_some(node)).collect();
        let mut groups: Vec<(usize, [usize; 2], Vec<usize>)> = Vec::new();
        let mut join = |owner: usize, kind: usize, points_at: Vec<usize>| {
            let place = groups.iter().position(|(other, ..)| *other == owner).unwrap_or(groups.len());
            if place == groups.len() {
                groups.push((owner, [0, 0], Vec::new()));
            }
            groups[place].1[kind] += 1;
            groups[place].2.extend(points_at);
        };
        let mut hidden: Vec<(usize, usize)> =
            near.iter().filter(|(.., node)| !is_shown[*node]).map(|(far, _, node)| (*far, *node)).collect();
        hidden.sort_unstable();
        for &(_, node) in &hidden {
            let children = || (0..nodes).filter(|&n| problem.nodes()[n].parents.contains(&node));
            let on =
                children().filter(|&child| far[child].is_some()).min_by_key(|&child| (far[child], child));
            owner[node] = on.and_then(|child| owner[child]);
            if let Some(owner) = owner[node] {
                join(owner, 0, children().filter(|&child| is_shown[child]).collect());
            }
        }
        let mut aside = (0..nodes).filter(|&node| far[node].is_none()).count();
        for action in (0..actions).filter(|&action| !is_shown[nodes + action]) {
            let on = pushed(action).filter(|&n| far[n].is_some()).min_by_key(|&n| (far[n], n));
            match on.and_then(|child| owner[child]) {
                Some(owner) => join(owner, 1, pushed(action).filter(|&child| is_shown[child]).collect()),
                None => aside += 1,
            }
        }
        let words = format!(
            "Of {} and {} those nearest to {} are drawn; dashed boxes count what lies behind.{}",
            counted(nodes, "node"),
            counted(actions, "action"),
            problem.nodes()[problem.reward()].name,
            if aside > 0 { format!(" {aside} without a path to it are left out.") } else { String::new() }
        );
        let group = |(_, [nodes, actions], mut points_at): (usize, [usize; 2], Vec<usize>)| {
            points_at.sort_unstable();
            points_at.dedup();
            let parts = [(nodes, "node"), (actions, "action")].into_iter().filter(|(count, _)| *count > 0);
            let parts: Vec<String> = parts.map(|(count, what)| counted(count, what)).collect();
            Group { text: format!("… {}", parts.join(", ")), points_at }
        };
        let groups = groups.into_iter().map(group).collect();
        let shown = (0..nodes + actions).filter(|&place| is_shown[place]).collect();
        Self { shown, groups, words: Some(words) }
    }
}

/// The length of the longest way from every node to the reward; none where there is no way.
fn distances(problem: &Problem) -> Vec<Option<usize>> {
    let mut far = vec![None; problem.nodes().len()];
    far[problem.reward()] = Some(0);
    for &node in problem.graph().order().iter().rev() {
        let Some(own) = far[node] else { continue };
        for &parent in &problem.nodes()[node].parents {
            far[parent] = far[parent].max(Some(own + 1));
        }
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of so many nodes, each with another beside it that points at it, and an action on every second.
    fn comb(length: usize) -> Problem {
        let mut builder = Problem::builder("comb").maximize("c0");
        for k in 0..length {
            builder = builder.action(format!("a{k}"), [0.0, 1.0]);
        }
        for k in (0..length).rev() {
            let before: Vec<String> =
                [format!("c{}", k + 1)].into_iter().filter(|_| k + 1 < length).collect();
            builder = builder.node(format!("s{k}"), |n| n);
            builder = builder.node(format!("c{k}"), |n| {
                n.parents(before.into_iter().chain([format!("s{k}")])).actions([format!("a{k}")])
            });
        }
        builder.build().expect("a problem")
    }

    #[test]
    fn small_graphs_are_shown_whole() {
        let fold = Fold::new(&comb(5), None);
        assert_eq!((fold.shown.len(), fold.groups.len(), fold.words), (15, 0, None));
    }

    #[test]
    fn of_large_ones_everything_is_shown_or_counted() {
        let problem = comb(120);
        let fold = Fold::new(&problem, None);
        let nodes = problem.nodes().len();
        let shown: Vec<&str> = fold
            .shown
            .iter()
            .filter(|&&at| at < nodes)
            .map(|&at| problem.nodes()[at].name.as_str())
            .collect();
        assert_eq!(shown.len(), NODES);
        assert!(shown.contains(&"c0") && shown.contains(&"c11") && !shown.contains(&"c20"), "{shown:?}");
        // What a shown node points at is shown, so that no arrow leads into what is folded.
        for node in 0..nodes {
            let is_shown = |at: usize| fold.shown.contains(&at);
            let parents = problem.nodes()[node].parents.iter();
            assert!(is_shown(node) || !parents.clone().any(|&parent| is_shown(parent)));
        }
        let numbers = |text: &str| {
            let digits =
                text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<usize>().ok());
            digits.sum::<usize>()
        };
        let counted: usize = fold.groups.iter().map(|group| numbers(&group.text)).sum();
        assert_eq!(counted + fold.shown.len(), nodes + problem.actions().len());
        assert!(fold.groups.iter().all(|group| !group.points_at.is_empty() || group.text.contains("node")));
        assert!(fold.words.is_some_and(|words| words.contains("240 nodes and 120 actions")));
    }
}
