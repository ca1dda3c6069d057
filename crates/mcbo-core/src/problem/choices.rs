//! Which nodes may be set together and which actions used: the choices that a problem leaves.

#![allow(
    clippy::disallowed_types,
    reason = "what is listed once belongs to one problem: it is no global state"
)]

use std::sync::OnceLock;

use super::{HalfSpace, Problem, project};
use crate::intervention::Choice;

/// More choices than this are not enumerated.
pub const ENUMERATION_LIMIT: usize = 300;
/// With more combinations of names than this it is not looked whether each leaves something to choose.
const COMBINATIONS: usize = 512;

/// What was listed of a problem when it was first asked for. It follows from the rest of the problem, so that it does not
/// count when problems are compared.
#[derive(Clone, Default)]
pub(super) struct Listed {
    target_sets: OnceLock<Option<Vec<Vec<usize>>>>,
    choices: OnceLock<Option<Vec<Choice>>>,
}

/// The same whether anything was listed yet or not: what is written of a problem tells it from others.
impl std::fmt::Debug for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listed")
    }
}

impl PartialEq for Listed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Problem {
    /// The sets of [`target_sets`], listed once; `None` if there are more than [`ENUMERATION_LIMIT`].
    pub fn target_sets(&self) -> Option<&[Vec<usize>]> {
        self.listed.target_sets.get_or_init(|| target_sets(self, ENUMERATION_LIMIT)).as_deref()
    }

    /// The choices of [`enumerate`], listed once; `None` if there are more than [`ENUMERATION_LIMIT`].
    pub fn choices(&self) -> Option<&[Choice]> {
        self.listed.choices.get_or_init(|| enumerate(self, ENUMERATION_LIMIT)).as_deref()
    }

    /// The same problem with some of its choices only; `None` if they cannot be listed, or none is left.
    pub(crate) fn with_choices(&self, allows: impl Fn(&Choice) -> bool) -> Option<Self> {
        let choices: Vec<Choice> = self.choices()?.iter().filter(|choice| allows(choice)).cloned().collect();
        let left = (!choices.is_empty()).then_some(choices)?;
        let listed = Listed { target_sets: self.listed.target_sets.clone(), choices: Some(left).into() };
        Some(Self { listed, ..self.clone() })
    }

    /// The same problem for a search in which costs do not count: without choices that are part of a larger one, whose further actions may
    /// just as well stay neutral. None where there are no costs, or nothing to leave out.
    pub(crate) fn at_any_cost(&self) -> Option<Self> {
        let choices = self.choices().filter(|_| self.has_costs())?;
        let within = |choice: &Choice, larger: &Choice| {
            let has = |action: &usize| choice.actions.contains(action);
            let idle = |action: &usize| self.actions[*action].can_take(self.actions[*action].neutral);
            choice.targets == larger.targets
                && choice.actions.len() < larger.actions.len()
                && choice.actions.iter().all(|action| larger.actions.contains(action))
                && larger.actions.iter().all(|action| has(action) || idle(action))
        };
        let is_part = |choice: &Choice| choices.iter().any(|larger| within(choice, larger));
        choices.iter().any(is_part).then(|| self.with_choices(|choice| !is_part(choice)))?
    }

    /// Leaves an action one value.
    pub(crate) fn fix_action(&mut self, action: usize, value: super::Grid) {
        self.actions[action].grid = Some(value);
    }

    /// Leaves a node that is set one value per component.
    pub(crate) fn fix_node(&mut self, node: usize, values: Vec<super::Grid>) {
        self.nodes[node].grid = Some(values);
    }

    /// Whether doing nothing does what is fixed: no node is, and no action at another value than its neutral one.
    pub(crate) fn neutral_is_free(&self) -> bool {
        let is_single = |grid: &super::Grid| grid.count() == 1;
        let acts = |action: &super::Action| {
            action.grid.as_ref().is_some_and(|grid| is_single(grid) && !grid.holds(action.neutral))
        };
        // A name that is the only one left is not fixed.
        let sets =
            |node: &super::Node| node.retired().is_empty() && node.grid.iter().flatten().any(is_single);
        !self.actions.iter().any(acts) && !self.nodes.iter().any(sets)
    }

    /// Actions that reach the reward when these targets are set, and those that make room for them by what is required, in increasing
    /// order.
    pub(crate) fn useful_actions(&self, targets: &[usize]) -> Vec<usize> {
        let relevant = self.matters(targets);
        let feeds = |action: usize| {
            let reads = |(node, declared): (usize, &super::Node)| {
                relevant[node] && !targets.contains(&node) && declared.actions.contains(&action)
            };
            self.nodes.iter().enumerate().any(reads)
        };
        let mut useful: Vec<bool> = (0..self.actions.len()).map(feeds).collect();
        while let Some(action) = self.requirements.iter().find_map(|one| self.makes_room(one, &useful)) {
            useful[action] = true;
        }
        (0..useful.len()).filter(|&action| useful[action]).collect()
    }

    /// An action that is of no use itself, but leaves others that are more to choose from by a requirement when it is not neutral.
    fn makes_room(&self, requirement: &super::Requirement, useful: &[bool]) -> Option<usize> {
        let (terms, names) = (requirement.terms(), requirement.conditions());
        let mut involved =
            terms.iter().map(|(action, _)| action).chain(names.iter().map(|(action, _)| action));
        if !involved.any(|&action| useful[action]) {
            return None;
        }
        // At the end where it takes least of the sum there is nothing to be had from it.
        let least = |&(action, weight): &(usize, f64)| {
            let super::Action { neutral, range, .. } = self.actions[action];
            if weight > 0.0 { neutral <= range[0] } else { neutral >= range[1] }
        };
        let of_sum =
            terms.iter().filter(|term| requirement.is_equality() || !least(term)).map(|(action, _)| *action);
        let of_names = names.iter().filter(|(action, names)| names.contains(&self.actions[*action].neutral));
        of_sum.chain(of_names.map(|(action, _)| *action)).find(|&action| !useful[action])
    }
}

impl Problem {
    /// What the requirements say about the free actions of a choice, as numbers of the unit interval, `first` of which are not
    /// actions; `None` if the others, which are neutral, leave them no value.
    pub(crate) fn half_spaces(&self, choice: &Choice, first: usize) -> Option<Vec<HalfSpace>> {
        if self.requirements.is_empty() {
            return Some(Vec::new());
        }
        let neutral: Vec<f64> = self.actions.iter().map(|action| action.neutral).collect();
        let place = |action: usize| {
            let place = choice.actions.iter().position(|&free| free == action)?;
            Some((first + place, self.actions[action].range, self.actions[action].curve()))
        };
        let scaled: Option<Vec<Vec<HalfSpace>>> =
            self.requirements.iter().map(|requirement| requirement.scaled(&neutral, place)).collect();
        Some(scaled?.concat())
    }

    /// Those that hold under all names.
    fn half_spaces_in_any_case(&self, choice: &Choice) -> Option<Vec<HalfSpace>> {
        let mut spaces = self.half_spaces(choice, 0)?;
        spaces.retain(|space| space.when.is_empty());
        Some(spaces)
    }

    /// Actions that requirements leave no value but the neutral one, whichever choice is made; none where choices are more than `limit`.
    pub(super) fn held_actions(&self, limit: usize) -> Vec<usize> {
        if self.requirements.is_empty() {
            return Vec::new();
        }
        let Some(choices) = enumerate(self, limit) else { return Vec::new() };
        let required = |action: &usize| {
            self.requirements.iter().any(|one| one.terms().iter().any(|(term, _)| term == action))
        };
        // The nearest to an end that keeps to them moves away from neutral if anything does: they make a convex set with neutral in it.
        let moves = |choice: &Choice, action: usize| {
            let Some(place) = choice.actions.iter().position(|&free| free == action) else { return false };
            let Some(spaces) = self.half_spaces_in_any_case(choice) else { return false };
            let unit = |&free: &usize| {
                let declared = &self.actions[free];
                declared.share(declared.neutral)
            };
            let neutral: Vec<f64> = choice.actions.iter().map(unit).collect();
            let (lower, upper) = (vec![0.0; neutral.len()], vec![1.0; neutral.len()]);
            [0.0, 1.0].into_iter().any(|end| {
                let mut point: Vec<f64> = neutral.iter().map(|unit| unit.clamp(0.0, 1.0)).collect();
                point[place] = end;
                project(&spaces, &lower, &upper, &mut point).is_some()
                    && (point[place] - neutral[place]).abs() > 1e-7
            })
        };
        let held = |action: &usize| required(action) && !choices.iter().any(|choice| moves(choice, *action));
        (0..self.actions.len()).filter(held).collect()
    }

    /// Whether there are values of the free actions that keep to all requirements.
    fn is_possible(&self, choice: &Choice) -> bool {
        if self.requirements.is_empty() {
            return true;
        }
        let Some(spaces) = self.half_spaces(choice, 0) else { return false };
        let free = choice.actions.len();
        // Under every combination of the names that decide what holds, unless they are many.
        let decides = |k: &usize| spaces.iter().any(|space| space.when.iter().any(|(other, _)| other == k));
        let names = |k: usize| -> Vec<f64> {
            let action = &self.actions[choice.actions[k]];
            action.grid.iter().flat_map(super::Grid::values).map(|place| action.share(place)).collect()
        };
        let deciding: Vec<(usize, Vec<f64>)> = (0..free).filter(decides).map(|k| (k, names(k))).collect();
        let all = deciding.iter().try_fold(1_usize, |all, (_, names)| all.checked_mul(names.len()));
        let Some(all) = all.filter(|all| *all <= COMBINATIONS) else { return true };
        (0..all).any(|combination| {
            let (mut lower, mut upper, mut left) = (vec![0.0; free], vec![1.0; free], combination);
            for (k, names) in &deciding {
                (lower[*k], upper[*k]) = (names[left % names.len()], names[left % names.len()]);
                left /= names.len();
            }
            let mut point: Vec<f64> =
                lower.iter().zip(&upper).map(|(low, high)| 0.5 * (low + high)).collect();
            project(&spaces, &lower, &upper, &mut point).is_some()
        })
    }
}

/// The allowed target sets of hard interventions, pruned to those that can matter.
///
/// Without a restriction in the problem these are the minimal intervention sets (or the possibly-optimal ones on
/// request). Of sets that the user listed, one that is not minimal is dropped if its minimal core is listed
/// too. `None` if there are more than `limit`.
pub fn target_sets(problem: &Problem, limit: usize) -> Option<Vec<Vec<usize>>> {
    let (graph, reward) = problem.purpose();
    if let Some(sets) = problem.sets() {
        let core = |set: &Vec<usize>| {
            let relevant = graph.ancestors_cut(reward, set);
            set.iter().copied().filter(|&node| relevant[node]).collect::<Vec<_>>()
        };
        return Some(
            sets.iter().filter(|set| core(set) == **set || !sets.contains(&core(set))).cloned().collect(),
        );
    }
    let settable = problem.settable();
    if problem.possibly_optimal() {
        return graph.possibly_optimal_sets(reward, &settable, limit);
    }
    match problem.max_interventions() {
        Some(most) => graph.minimal_sets_up_to(reward, &settable, most, limit),
        None => graph.minimal_sets(reward, &settable, limit),
    }
}

/// Whether "not acting" is apart from all values it can take, or costs less than all of them, so that it is a choice of its own.
fn is_switch(problem: &Problem, action: usize) -> bool {
    let action = &problem.actions()[action];
    !action.can_take(action.neutral) || action.cost.is_some_and(|cost| cost.fixed > 0.0)
}

/// All choices that are not dominated by a larger one (Eq. cardinality_constraints); `None` if there are more than
/// `limit`.
pub fn enumerate(problem: &Problem, limit: usize) -> Option<Vec<Choice>> {
    let most = problem.max_interventions().unwrap_or(usize::MAX);
    let mut choices = Vec::new();
    for targets in target_sets(problem, limit)? {
        if targets.len() > most {
            continue;
        }
        let room = most - targets.len();
        let useful = problem.useful_actions(&targets);
        let (switches, always): (Vec<usize>, Vec<usize>) =
            useful.iter().partition(|&&action| is_switch(problem, action));
        // An action whose neutral value lies in its range costs nothing while there is room for it.
        let mut push = |mut actions: Vec<usize>| {
            actions.sort_unstable();
            choices.push(Choice { targets: targets.clone(), actions });
            choices.len() <= limit
        };
        if switches.is_empty() && useful.len() <= room {
            if !push(useful) {
                return None;
            }
            continue;
        }
        let largest = room.min(useful.len());
        // Fewer than there is room for are as good as more only without a switch: whatever costs nothing is part of them.
        let with_all = |switched: &[usize]| always.iter().chain(switched).copied().collect();
        let complete = (always.len()..largest)
            .all(|size| subsets(&switches, size - always.len(), &mut |switched| push(with_all(switched))))
            && subsets(&useful, largest, &mut |subset| push(subset.to_vec()));
        if !complete {
            return None;
        }
    }
    choices.sort();
    choices.dedup();
    choices.retain(|choice| problem.is_possible(choice));
    Some(choices)
}

/// Visits all subsets of a size in lexicographic order until `visit` says stop; returns whether it never did.
fn subsets(items: &[usize], size: usize, visit: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    fn grow(
        items: &[usize],
        size: usize,
        from: usize,
        chosen: &mut Vec<usize>,
        visit: &mut dyn FnMut(&[usize]) -> bool,
    ) -> bool {
        if chosen.len() == size {
            return visit(chosen);
        }
        for i in from..items.len() {
            if items.len() - i < size - chosen.len() {
                break;
            }
            chosen.push(items[i]);
            let go_on = grow(items, size, i + 1, chosen, visit);
            chosen.pop();
            if !go_on {
                return false;
            }
        }
        true
    }
    grow(items, size, 0, &mut Vec::new(), visit)
}

/// A choice during growth: members are targets and actions alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Target(usize),
    Action(usize),
}

/// Everything that can be part of a choice.
pub(crate) fn parts(problem: &Problem) -> Vec<Part> {
    let targets = problem.settable().into_iter().map(Part::Target);
    targets.chain((0..problem.actions().len()).map(Part::Action)).collect()
}

/// The choice with the given parts, completed by the actions that cost nothing, or `None` if it is not allowed or
/// has a part without effect.
pub(crate) fn compose(problem: &Problem, parts: &[Part]) -> Option<Choice> {
    let mut choice = Choice::default();
    for part in parts {
        match *part {
            Part::Target(node) => choice.targets.push(node),
            Part::Action(action) => choice.actions.push(action),
        }
    }
    choice.targets.sort_unstable();
    choice.actions.sort_unstable();
    let most = problem.max_interventions().unwrap_or(usize::MAX);
    // A set that the user lists is meant as it is, whether all of it can matter or not.
    let allowed = match problem.sets() {
        Some(sets) => sets.contains(&choice.targets),
        None => {
            let (graph, sink) = problem.purpose();
            graph.is_minimal(sink, &choice.targets)
        }
    };
    if parts.len() > most || !allowed {
        return None;
    }
    let useful = problem.useful_actions(&choice.targets);
    if choice.actions.iter().any(|action| !useful.contains(action)) {
        return None;
    }
    if problem.max_interventions().is_none() {
        for action in useful {
            if !is_switch(problem, action) && !choice.actions.contains(&action) {
                choice.actions.push(action);
            }
        }
        choice.actions.sort_unstable();
    }
    problem.is_possible(&choice).then_some(choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain with a settable node in the middle, two actions whose neutral value lies in their range and a switch.
    fn problem(most: Option<usize>) -> Problem {
        let builder = Problem::builder("p")
            .action("a", [-1.0, 1.0])
            .action("b", [0.0, 2.0])
            .action_with_neutral("switch", [1.0, 2.0], 0.0)
            .node("x", |n| n.actions(["a"]).hard([0.0, 1.0]))
            .node("z", |n| n.parents(["x"]).actions(["b"]).hard([0.0, 1.0]))
            .node("y", |n| n.parents(["z"]).actions(["switch"]))
            .maximize("y");
        let builder = match most {
            Some(most) => builder.max_interventions(most),
            None => builder,
        };
        builder.build().expect("a problem")
    }

    fn subsets_of(items: &[usize]) -> Vec<Vec<usize>> {
        let member = |mask: usize, k: usize| mask >> k & 1 == 1;
        let subset = |mask: usize| (0..items.len()).filter(|&k| member(mask, k)).map(|k| items[k]).collect();
        (0..1_usize << items.len()).map(subset).collect()
    }

    /// By definition: all pairs of a minimal set and useful actions within the limit, but for those to which an action could be
    /// added that may just as well stay neutral.
    fn by_brute_force(problem: &Problem) -> Vec<Choice> {
        let most = problem.max_interventions().unwrap_or(usize::MAX);
        let mut all = Vec::new();
        for targets in subsets_of(&problem.settable()) {
            if problem.graph().is_minimal(problem.reward(), &targets) {
                let useful = problem.useful_actions(&targets);
                let actions = subsets_of(&useful).into_iter();
                let choices = actions.map(|actions| Choice { targets: targets.clone(), actions });
                all.extend(choices.filter(|choice| choice.targets.len() + choice.actions.len() <= most));
            }
        }
        let free = |action: &usize| {
            let action = &problem.actions()[*action];
            (action.range[0]..=action.range[1]).contains(&action.neutral)
        };
        let dominates = |larger: &Choice, choice: &Choice| {
            let added: Vec<&usize> =
                larger.actions.iter().filter(|action| !choice.actions.contains(action)).collect();
            larger.targets == choice.targets
                && choice.actions.iter().all(|action| larger.actions.contains(action))
                && !added.is_empty()
                && added.into_iter().all(free)
        };
        let mut kept: Vec<Choice> =
            all.iter().filter(|choice| !all.iter().any(|other| dominates(other, choice))).cloned().collect();
        kept.sort();
        kept
    }

    #[test]
    fn choices_are_those_of_brute_force() {
        for most in [None, Some(1), Some(2), Some(3), Some(4)] {
            let problem = problem(most);
            let choices = enumerate(&problem, 100).expect("few");
            assert_eq!(choices, by_brute_force(&problem), "at most {most:?}");
            assert_eq!(enumerate(&problem, choices.len()), Some(choices.clone()));
            assert_eq!(enumerate(&problem, choices.len() - 1), None);
        }
    }

    /// Going through all subsets of forty actions would not end.
    #[test]
    fn one_switch_among_many_actions_makes_two_choices() {
        let names: Vec<String> = (0..40).map(|k| format!("a{k}")).collect();
        let built = |most: Option<usize>| {
            let builder = Problem::builder("p").action_with_neutral("switch", [1.0, 2.0], 0.0);
            let builder = names.iter().fold(builder, |builder, name| builder.action(name, [0.0, 1.0]));
            let all = names.iter().map(String::as_str).chain(["switch"]);
            let builder = builder.node("y", |n| n.actions(all)).maximize("y");
            most.into_iter().fold(builder, |builder, most| builder.max_interventions(most))
        };
        let count = |most| built(most).build().expect("a problem").choices().map(<[Choice]>::len);
        assert_eq!(count(None), Some(2));
        assert_eq!(count(Some(40)), Some(41));
        assert_eq!(count(Some(20)), None);
    }

    #[test]
    fn at_any_cost_the_largest_choices_are_enough() {
        let cost = crate::Cost { fixed: 1.0, per_unit: 0.0 };
        let built = |cost: Option<crate::Cost>| {
            let builder = Problem::builder("p")
                .action("a", [0.0, 1.0])
                .action_with_neutral("switch", [1.0, 2.0], 0.0)
                .node("x", |n| n.actions(["a", "switch"]).hard([0.0, 1.0]))
                .node("y", |n| n.parents(["x"]))
                .maximize("y");
            let builder = cost.into_iter().fold(builder, |builder, cost| builder.action_cost("a", cost));
            builder.build().expect("a problem")
        };
        assert!(built(None).at_any_cost().is_none());
        let (problem, free) = (built(Some(cost)), built(None));
        let wide = problem.at_any_cost().expect("fewer choices");
        assert_eq!(problem.choices().map(<[Choice]>::len), Some(5));
        assert_eq!(wide.choices(), free.choices());
        assert_eq!(wide, problem, "nothing else is another");
    }

    #[test]
    fn actions_that_only_feed_set_nodes_are_useless() {
        let problem = problem(None);
        assert_eq!(problem.useful_actions(&[]), [0, 1, 2]);
        assert_eq!(problem.useful_actions(&[0]), [1, 2]);
        assert_eq!(problem.useful_actions(&[1]), [2]);
    }

    #[test]
    fn lists_are_made_once_and_do_not_count_in_comparisons() {
        let (problem, fresh) = (problem(Some(2)), problem(Some(2)));
        let (first, second) = (problem.choices().expect("few"), problem.choices().expect("few"));
        assert!(std::ptr::eq(first, second));
        assert_eq!(first, enumerate(&problem, ENUMERATION_LIMIT).expect("few"));
        assert_eq!(problem.target_sets().expect("few"), target_sets(&problem, 10).expect("few"));
        assert_eq!(problem, fresh);
    }

    /// Growth composes what enumeration lists, and nothing that has a part without effect.
    #[test]
    fn composed_choices_are_listed_ones() {
        for most in [None, Some(2)] {
            let problem = problem(most);
            let choices = problem.choices().expect("few");
            let all = parts(&problem);
            for members in subsets_of(&(0..all.len()).collect::<Vec<_>>()) {
                let members: Vec<Part> = members.into_iter().map(|k| all[k]).collect();
                let Some(choice) = compose(&problem, &members) else { continue };
                let within = |listed: &Choice| {
                    listed.targets == choice.targets
                        && choice.actions.iter().all(|action| listed.actions.contains(action))
                };
                assert!(choices.iter().any(within), "{choice:?}");
            }
            assert!(compose(&problem, &[Part::Target(1), Part::Action(1)]).is_none());
        }
    }
}
