//! Problems and interventions in words.

use mcbo_core::{
    Direction, Given, Grid, Intervention, Keeping, Node, Noise, Problem, Scale, Trial, share_name, slot_name,
};

use crate::number::{Format, plain, range, sized};

/// `maximize yield`.
pub fn objective(problem: &Problem) -> String {
    let verb = match problem.direction() {
        Direction::Maximize => "maximize",
        Direction::Minimize => "minimize",
    };
    format!("{verb} {}", reward_name(problem))
}

/// The name of the node that is optimised.
pub fn reward_name(problem: &Problem) -> &str {
    &problem.nodes()[problem.reward()].name
}

/// A number of the node that is optimised, with its unit.
pub fn of_reward(problem: &Problem, text: String) -> String {
    in_unit(text, problem.nodes()[problem.reward()].unit.as_deref())
}

/// What "reward" means: `yield`, or `-psa` when small is good.
pub fn reward_formula(problem: &Problem) -> String {
    match problem.direction() {
        Direction::Maximize => reward_name(problem).to_owned(),
        Direction::Minimize => format!("-{}", reward_name(problem)),
    }
}

/// The ends of an expected reward's bounds as values of its node, in the user's own units: they change places when small is
/// good.
pub fn ends(problem: &Problem, [_, lower, upper]: [f64; 3]) -> [f64; 2] {
    match problem.direction() {
        Direction::Maximize => [lower, upper],
        Direction::Minimize => [-upper, -lower],
    }
}

/// Whether single outcomes scatter around what is expected.
pub fn is_noisy(problem: &Problem) -> bool {
    problem.nodes().iter().any(|node| node.noise != Noise::None)
}

/// A name with its unit, if there is one: `acetate (g/l)`.
pub fn with_unit(name: &str, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{name} ({unit})"),
        None => name.to_owned(),
    }
}

/// A component of a node with the unit of the node.
pub fn measured(problem: &Problem, node: usize, component: usize) -> String {
    if problem.nodes()[node].is_caused_choice() {
        return share_name(problem, node, component);
    }
    with_unit(&slot_name(problem, node, component), problem.nodes()[node].unit.as_deref())
}

/// A number with a unit behind it, if there is one.
pub fn in_unit(text: String, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{text} {unit}"),
        None => text,
    }
}

/// `below 4 g/l with a probability of 0.95`.
pub fn limit(node: &mcbo_core::Node) -> Option<String> {
    let limit = node.limit?;
    let levels = limit.in_words(plain, node.unit.as_deref());
    Some(format!("{levels} with a probability of {}", plain(limit.probability)))
}

/// A limit and what it bears: `acetate below 4 g/l`.
pub fn limited(problem: &Problem, node: usize) -> String {
    let node = &problem.nodes()[node];
    let Some(limit) = node.limit else { return node.name.clone() };
    format!("{} {}", node.name, limit.in_words(plain, node.unit.as_deref()))
}

/// A probability to a tenth of a percent: `97.3 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", plain((1000.0 * share).round() / 10.0))
}

/// `acetate below 4 g/l is kept with a probability of 97.3 %; 95 % is wanted.`
pub fn kept(problem: &Problem, keeping: &Keeping) -> String {
    format!(
        "{} is kept with a probability of {}; {} is wanted.",
        limited(problem, keeping.node),
        percent(keeping.probability),
        percent(keeping.wanted)
    )
}

/// What was known of contexts: `quality = 0.8`.
pub fn given(problem: &Problem, given: &Given) -> Vec<String> {
    let value = |(node, values): (usize, &[f64])| {
        let node = &problem.nodes()[node];
        format!("{} = {}", node.name, node_values(node, values))
    };
    given.iter().map(value).collect()
}

/// `3 + 0.2 per unit`.
pub fn cost(cost: mcbo_core::Cost) -> String {
    match (cost.fixed, cost.per_unit) {
        (fixed, 0.0) => plain(fixed),
        (0.0, per_unit) => format!("{} per unit", plain(per_unit)),
        (fixed, per_unit) => format!("{} + {} per unit", plain(fixed), plain(per_unit)),
    }
}

/// The noise of a node.
pub fn noise(noise: Noise) -> String {
    match noise {
        Noise::None => "none".into(),
        Noise::Gaussian(deviation) => format!("std {}", plain(deviation)),
        Noise::Uniform([low, high]) => format!("uniform {} to {}", plain(low), plain(high)),
        Noise::Learn => "learned".into(),
        Noise::Names(_) => "-".into(),
    }
}

/// `{a, b}`.
pub fn set(problem: &Problem, targets: &[usize]) -> String {
    let names: Vec<&str> = targets.iter().map(|&node| problem.nodes()[node].name.as_str()).collect();
    format!("{{{}}}", names.join(", "))
}

/// Something that can be chosen: one component of a node that can be set, or an action.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Lever {
    /// `do(statin)` or `dose1`.
    pub label: String,
    /// The values it can take.
    pub range: [f64; 2],
    /// The unit of its values.
    pub unit: Option<String>,
    /// What not choosing it means: the value of an action; a node that is not set follows its parents.
    pub neutral: Option<f64>,
    /// The values it can take, if not all of its range.
    grid: Option<Grid>,
    /// The names of its values, if they have names.
    names: Vec<String>,
    /// Whether differences of its values count, or ratios.
    scale: Scale,
    /// Whether not choosing it is a choice of its own, and not just one value among others.
    optional: bool,
    place: Place,
}

#[derive(Debug, Clone, PartialEq)]
enum Place {
    Target { node: usize, component: usize },
    Action(usize),
}

/// Everything that can be chosen, nodes first, both in the order of the problem.
pub fn levers(problem: &Problem) -> Vec<Lever> {
    let mut levers = Vec::new();
    for node in problem.settable() {
        let declared = &problem.nodes()[node];
        for (component, &range) in declared.hard.iter().flatten().enumerate() {
            levers.push(Lever {
                label: format!("do({})", slot_name(problem, node, component)),
                range,
                unit: problem.nodes()[node].unit.clone(),
                neutral: None,
                grid: declared.grid.as_ref().map(|grids| grids[component].clone()),
                names: declared.choices.clone(),
                scale: Scale::Linear,
                optional: true,
                place: Place::Target { node, component },
            });
        }
    }
    for (index, action) in problem.actions().iter().enumerate() {
        levers.push(Lever {
            label: action.name.clone(),
            range: action.range,
            unit: action.unit.clone(),
            neutral: Some(action.neutral),
            grid: action.grid.clone(),
            names: action.choices.clone(),
            scale: action.scale,
            // A choice is always one of its names.
            optional: !action.is_choice()
                && (problem.max_interventions().is_some() || !action.can_take(action.neutral)),
            place: Place::Action(index),
        });
    }
    levers
}

impl Lever {
    /// Its value in an intervention, if it is used there.
    pub fn value(&self, intervention: &Intervention) -> Option<f64> {
        match self.place {
            Place::Target { node, component } => intervention.target(node).map(|values| values[component]),
            Place::Action(action) => {
                let used = |value: &f64| !self.optional || Some(*value) != self.neutral;
                Some(intervention.actions[action]).filter(used)
            }
        }
    }

    /// Its value in an intervention as text, if it is used there.
    pub fn shown(&self, intervention: &Intervention) -> Option<String> {
        self.value(intervention).map(|value| self.show(value))
    }

    /// A value as text: by its name, as its grid has it, or to a thousandth of its range.
    pub fn show(&self, value: f64) -> String {
        match (&self.grid, self.names.get(value as usize)) {
            (_, Some(name)) => name.clone(),
            (Some(grid), None) if grid.holds(value) => plain(value),
            // Where the ends are far apart in size, no number of decimals suits both.
            _ if self.scale == Scale::Log && self.range[1] > 100.0 * self.range[0] => sized(value),
            _ => Format::of_range(self.range).show(value),
        }
    }

    /// The values it can take: `in 0 to 90`, `in 0 to 12 by 3`, `one of wild, mutant`.
    pub fn values(&self) -> String {
        let listed = !self.names.is_empty() || self.grid.as_ref().is_some_and(|grid| grid.list().is_some());
        let preposition = if listed { "one of" } else { "in" };
        format!("{preposition} {}", values(self.range, self.grid.as_ref(), &self.names, self.scale))
    }
}

/// The values that something can take: `0 to 90`, `0 to 12 by 3`, `0.01 to 10 (log)`, `1, 2, 5`, `wild, mutant`.
pub fn values(ends: [f64; 2], grid: Option<&Grid>, names: &[String], scale: Scale) -> String {
    let kind = if scale == Scale::Log { " (log)" } else { "" };
    let Some(grid) = grid else {
        return if names.is_empty() { range(ends) + kind } else { names.join(", ") };
    };
    let name = |place: f64| names.get(place as usize).cloned();
    match grid.step() {
        _ if !names.is_empty() => grid.values().filter_map(name).collect::<Vec<_>>().join(", "),
        Some(step) => format!("{} by {}", range([ends[0], grid.value(grid.count() - 1)]), plain(step)),
        None => grid.values().map(plain).collect::<Vec<_>>().join(", ") + kind,
    }
}

/// A value of something that can be chosen, by its name: the name of a choice, else a number.
pub fn chosen_value(problem: &Problem, name: &str, value: f64) -> String {
    problem.name_of(name, value).map_or_else(|| plain(value), str::to_owned)
}

/// The same with its unit.
pub fn chosen(problem: &Problem, name: &str, value: f64) -> String {
    let text = chosen_value(problem, name, value);
    let bare = name.strip_prefix("do(").and_then(|inner| inner.strip_suffix(')')).unwrap_or(name);
    let unit = match (problem.node_index(bare), problem.action_index(bare)) {
        _ if problem.name_of(name, value).is_some() => None,
        (Some(node), _) => problem.nodes()[node].unit.as_deref(),
        (None, action) => action.and_then(|action| problem.actions()[action].unit.as_deref()),
    };
    in_unit(text, unit)
}

/// The values of a node as text, with its unit.
pub fn node_values(node: &Node, values: &[f64]) -> String {
    let shown = |&value: &f64| node.choice(value).map_or_else(|| plain(value), str::to_owned);
    in_unit(values.iter().map(shown).collect::<Vec<_>>().join(", "), node.unit.as_deref())
}

/// What is set or not neutral, and every choice: one of its names is always taken.
fn used<'a>(
    levers: &'a [Lever],
    intervention: &'a Intervention,
) -> impl Iterator<Item = (&'a Lever, String)> {
    levers.iter().filter_map(|lever| {
        let counts = |value: &f64| !lever.names.is_empty() || Some(*value) != lever.neutral;
        lever.value(intervention).filter(counts).map(|value| (lever, lever.show(value)))
    })
}

/// `do(statin)=0.500 dose1=12.50`: what is set or not neutral and which names are chosen, as one types it.
pub fn intervention(levers: &[Lever], intervention: &Intervention) -> String {
    let used: Vec<String> =
        used(levers, intervention).map(|(lever, value)| format!("{}={value}", lever.label)).collect();
    if used.is_empty() { "nothing, only measure".into() } else { used.join(" ") }
}

/// `do(statin) = 0.500 mg, dose1 = 12.50 ml`: the same to be read, with units.
pub fn doing(levers: &[Lever], intervention: &Intervention) -> String {
    let one = |(lever, value): (&Lever, String)| {
        format!("{} = {}", lever.label, in_unit(value, lever.unit.as_deref()))
    };
    let used: Vec<String> = used(levers, intervention).map(one).collect();
    if used.is_empty() { "nothing, only measure".into() } else { used.join(", ") }
}

/// `trial 3`, `trials 3 and 5`, `trials 3, 4 and 5`.
pub fn trials(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match numbers.split_last() {
        None => "no trial".into(),
        Some((last, [])) => format!("trial {last}"),
        Some((last, first)) => format!("trials {} and {last}", first.join(", ")),
    }
}

/// Where what was really done differs from what was asked for: `base = 1.9 instead of 1.876`.
pub fn done_instead(problem: &Problem, trial: &Trial) -> Vec<String> {
    let Some(done) = &trial.done else { return Vec::new() };
    let asked = &trial.suggestion.intervention;
    let instead = |name: String, was: Option<f64>, is: f64| match was {
        Some(was) if was == is => None,
        Some(was) => {
            let [is, was] = [is, was].map(|value| chosen_value(problem, &name, value));
            Some(format!("{name} = {is} instead of {was}"))
        }
        None => {
            let is = chosen_value(problem, &name, is);
            Some(format!("{name} = {is}, which was not asked for"))
        }
    };
    let mut found = Vec::new();
    for (node, values) in &done.targets {
        for (component, &is) in values.iter().enumerate() {
            let was = asked.target(*node).map(|values| values[component]);
            found.extend(instead(format!("do({})", slot_name(problem, *node, component)), was, is));
        }
    }
    for ((action, &was), &is) in problem.actions().iter().zip(&asked.actions).zip(&done.actions) {
        found.extend(instead(action.name.clone(), Some(was), is));
    }
    found
}

/// `1 trial`, `2 trials`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A name as an argument of a shell command: in quotes if it needs them.
pub fn argument(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./@:+,%#".contains(c);
    if name.chars().all(plain) && !name.starts_with(['-', '#']) && !name.is_empty() {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

/// A time as one would say it: `40 s`, `12 min`, `3.5 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
