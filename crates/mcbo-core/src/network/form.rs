//! The forms that a mechanism may have, and how they are said.

mod named;

use mcbo_gp::{Form, GpSet, Kernel, Leaf, Shape};

use crate::Problem;

use super::{Mechanism, Network, input_names};

pub(crate) use named::Inputs;

/// Plausibility of the null form, of a straight line and of a response in proportion to an input before any row, relative to each
/// of the other forms.
const NULL_PRIOR: f64 = 0.1;
const LINE_PRIOR: f64 = 0.3;
const SCALING_PRIOR: f64 = 0.1;
/// With more inputs than this none of them is tried as the one that scales the response to the others.
const MOST_SCALING: usize = 4;

/// The forms that are weighed for a node of `parents` inputs from other nodes followed by `actions` inputs that are decided; those at
/// `ratios` are logarithms, to which nothing is in proportion.
///
/// From nothing at all over straight lines and sums of curves to one surface: what the data say decides, by the evidence of
/// each. The constant is the null form, under which everything is noise.
fn candidates(parents: usize, actions: usize, ratios: &[usize]) -> Vec<Form> {
    use Shape::{Cosine, Linear, Matern52, Proportional, SquaredExponential as Se};
    let dim = parents + actions;
    let form = |kernel: Kernel| Form { kernel, prior: 1.0 };
    // An arrow says that something depends on something: that it does not, or only along a straight line, however far one
    // goes, needs more to be believed.
    let simple = |kernel: Kernel, prior: f64| Form { kernel, prior };
    if dim == 0 {
        return vec![form(Kernel::constant())];
    }
    let (p, a) = (0..parents, parents..dim);
    let sum = |terms: Vec<Vec<Leaf>>| form(Kernel::sum(terms));
    let all = |shape: Shape| Leaf { shape, inputs: None };
    let curve = |k: usize| vec![Leaf::of(Se, [k])];
    let mut forms = vec![
        simple(Kernel::constant(), NULL_PRIOR),
        simple(Kernel::leaf(Linear), LINE_PRIOR),
        form(Kernel::leaf(Matern52)),
        form(Kernel::leaf(Se)),
        sum(vec![vec![all(Linear)], vec![all(Matern52)]]),
    ];
    if dim == 1 {
        forms.push(sum(vec![curve(0), vec![Leaf::of(Se, [0]), Leaf::of(Cosine, [0])]]));
    } else {
        forms.push(sum((0..dim).map(curve).collect()));
    }
    // Amounts, rates and doses act in proportion: twice as much of one input is twice the response to the others. Which one it
    // is is not known before, so that they share the plausibility of one form, and what is said of places far from all rows needs
    // more to be believed.
    if (2..=MOST_SCALING).contains(&dim) {
        for k in (0..dim).filter(|k| !ratios.contains(k)) {
            let (amount, rest) =
                (Leaf::of(Proportional, [k]), Leaf::of(Se, (0..dim).filter(|&other| other != k)));
            // The first term is what the factor is on average: far from all rows it is that again, not zero.
            let scaled = Kernel::sum(vec![vec![amount.clone()], vec![amount, rest]]);
            forms.push(simple(scaled, SCALING_PRIOR / dim as f64));
        }
    }
    if parents > 0 && actions > 0 {
        let (of_parents, of_actions) = (Leaf::of(Se, p.clone()), Leaf::of(Se, a.clone()));
        let scaled = vec![of_actions.clone(), Leaf::of(Linear, p.clone())];
        forms.push(sum(vec![vec![of_actions.clone()], scaled]));
        forms.push(sum(vec![vec![Leaf::of(Linear, p)], vec![of_actions.clone()]]));
        if dim > 2 {
            forms.push(sum(vec![vec![of_parents], vec![of_actions]]));
        }
    }
    forms
}

/// Below this weight a form is not worth a word.
const WORTH_A_WORD: f64 = 0.05;

/// The forms that the data speak for, in words, most probable first: `a curve in n1, plus a straight line in n2 (weight 0.93);
/// or one surface in n1 and n2 (0.07)`.
///
/// Kernels that are said in the same words count together. A form without doubt has no weight behind it.
pub(super) fn describe_form(problem: &Problem, node: usize, set: &GpSet) -> String {
    let names = input_names(problem, node);
    let mut forms: Vec<(String, f64)> = Vec::new();
    let mut add = |kernel: &Kernel, weight: f64| {
        let words = in_words(kernel, &names);
        match forms.iter_mut().find(|(known, _)| *known == words) {
            Some((_, total)) => *total += weight,
            None => forms.push((words, weight)),
        }
    };
    match set.weighing() {
        Some(weighing) => weighing.forms.iter().for_each(|(kernel, weight)| add(kernel, *weight)),
        None => set.members().iter().for_each(|(weight, gp)| add(&gp.spec().kernel, *weight)),
    }
    forms.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some((first, weight)) = forms.first() else { return String::new() };
    if *weight > 1.0 - WORTH_A_WORD {
        return first.clone();
    }
    let second = forms.get(1).filter(|(_, weight)| *weight >= WORTH_A_WORD);
    let left = 1.0 - weight - second.map_or(0.0, |(_, weight)| *weight);
    let mut text = format!("{first} (weight {weight:.2})");
    text.extend(second.map(|(words, weight)| format!("; or {words} ({weight:.2})")));
    if left >= WORTH_A_WORD {
        text.push_str(&format!("; or others ({left:.2})"));
    }
    text
}

/// A covariance in words, its inputs by name.
fn in_words(kernel: &Kernel, names: &[String]) -> String {
    if kernel.terms().is_empty() || names.is_empty() {
        return "a constant".into();
    }
    let leaf = |leaf: &Leaf| {
        let seen: Vec<&str> =
            leaf.seen(names.len()).into_iter().map(|k| names.get(k).map_or("?", String::as_str)).collect();
        match leaf.shape {
            Shape::Proportional => return listed(&seen),
            Shape::Choice => return format!("for each {}", listed(&seen)),
            _ => {}
        }
        let what = match (leaf.shape, seen.len()) {
            (Shape::Linear, 1) => "a straight line",
            (Shape::Linear, _) => "a plane",
            (Shape::Cosine, _) => "waves",
            (_, 1) => "a curve",
            _ => "one surface",
        };
        format!("{what} in {}", listed(&seen))
    };
    let term = |term: &Vec<Leaf>| {
        // Waves whose height changes along the same input are waves.
        let waves = term.iter().find(|leaf| leaf.shape == Shape::Cosine);
        let faded =
            |other: &Leaf| waves.is_some_and(|w| other.shape != Shape::Cosine && other.inputs == w.inputs);
        let mut said: Vec<&Leaf> = term.iter().filter(|other| !faded(other)).collect();
        // What the rest is multiplied by comes last.
        said.sort_by_key(|leaf| leaf.shape == Shape::Proportional);
        let (named, said): (Vec<&Leaf>, Vec<&Leaf>) =
            said.into_iter().partition(|leaf| leaf.shape == Shape::Choice);
        let beginning = match said.first().map(|leaf| leaf.shape) {
            Some(Shape::Proportional) => "a multiple of ",
            None => "a level",
            _ => "",
        };
        let said: Vec<String> = said.into_iter().map(leaf).collect();
        let named: Vec<String> = named.into_iter().map(|other| format!(" {}", leaf(other))).collect();
        format!("{beginning}{}{}", said.join(" times "), named.concat())
    };
    // A factor of something and its average are one thing to say.
    let average = |term: &Vec<Leaf>| {
        let within = |other: &Vec<Leaf>| other.len() > 1 && term.iter().all(|leaf| other.contains(leaf));
        term.iter().all(|leaf| leaf.shape == Shape::Proportional) && kernel.terms().iter().any(within)
    };
    let said = kernel.terms().iter().filter(|term| !average(term));
    said.map(term).collect::<Vec<_>>().join(", plus ")
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

impl Network {
    /// The forms of the mechanism of a component that the data speak for, for people; none of a node that is not
    /// learned.
    pub fn form(&self, problem: &Problem, node: usize, component: usize) -> Option<String> {
        let model = self.nodes.get(node)?.as_ref()?;
        let Mechanism::Learned(groups) = &model.mechanism else { return None };
        let within = |first: usize, width: usize| (first..first + width).contains(&component);
        let group = groups.iter().find(|group| within(group.first, group.set.components()))?;
        Some(describe_form(problem, node, &group.set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_said_in_words() {
        let names = ["dose", "soil", "age"].map(String::from);
        for (kernel, words) in [
            ("constant", "a constant"),
            ("linear(dose)", "a straight line in dose"),
            ("matern52", "one surface in dose, soil and age"),
            ("se(dose) + linear(soil, age)", "a curve in dose, plus a plane in soil and age"),
            ("se(dose) * linear(soil)", "a curve in dose times a straight line in soil"),
            ("se(age) + se(age) * cosine(age)", "a curve in age, plus waves in age"),
            ("proportional(soil) * se(dose)", "a curve in dose times soil"),
            ("proportional(soil)", "a multiple of soil"),
            ("choice(soil)", "a level for each soil"),
            ("se(dose) * choice(soil, age)", "a curve in dose for each soil and age"),
            ("linear(dose) + choice(soil)", "a straight line in dose, plus a level for each soil"),
            (
                "proportional(soil) + proportional(soil) * se(dose, age)",
                "one surface in dose and age times soil",
            ),
        ] {
            assert_eq!(in_words(&Kernel::parse(kernel, &names).expect("a kernel"), &names), words);
        }
        assert_eq!(in_words(&Kernel::leaf(Shape::Matern52), &[]), "a constant");
    }

    #[test]
    fn no_form_is_weighed_twice() {
        for (parents, actions) in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (0, 6), (3, 3)] {
            let forms = candidates(parents, actions, &[]);
            for (i, form) in forms.iter().enumerate() {
                assert!(!forms[..i].iter().any(|other| other.kernel == form.kernel), "{}", form.kernel);
                let seen = |leaf: &Leaf| leaf.seen(parents + actions).iter().all(|&k| k < parents + actions);
                assert!(form.kernel.terms().iter().flatten().all(seen), "{}", form.kernel);
            }
        }
    }
}
