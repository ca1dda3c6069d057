//! Forms of mechanisms that read choices: levels, and curves or surfaces for each of them.

use mcbo_gp::{Form, Kernel, Leaf, Shape};

use super::{LINE_PRIOR, MOST_SCALING, NULL_PRIOR, SCALING_PRIOR, candidates};

/// Plausibility, relative to each of the other forms, of one in which no choice matters though numbers do.
const INDIFFERENT_PRIOR: f64 = 0.2;

/// The inputs of a node: numbers, and choices, whose values are names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// Inputs from other nodes, which come first.
    pub parents: usize,
    /// Inputs that are decided.
    pub actions: usize,
    /// The places of those that are choices.
    pub named: Vec<usize>,
    /// The places of those on a scale of ratios.
    pub ratios: Vec<usize>,
}

impl Inputs {
    /// The places of numbers.
    fn numbers(&self) -> Vec<usize> {
        (0..self.parents + self.actions).filter(|k| !self.named.contains(k)).collect()
    }

    /// The kernel of a mechanism of which nothing is known: one surface, and one for each choice where there are any.
    pub fn kernel(&self) -> Kernel {
        if self.named.is_empty() {
            return Kernel::default();
        }
        let (numbers, named) = (self.numbers(), Leaf::of(Shape::Choice, self.named.iter().copied()));
        let surface = (!numbers.is_empty()).then(|| Leaf::of(Shape::Matern52, numbers));
        Kernel::sum(vec![surface.into_iter().chain([named]).collect()])
    }

    /// The forms that are weighed.
    ///
    /// With choices: a level for each added to what the numbers do, a curve or surface for each, or both. How much the choices have in
    /// common is learned along with them, from nothing to all.
    pub fn forms(&self) -> Vec<Form> {
        use Shape::{Choice, Linear, Matern52, Proportional, SquaredExponential as Se};
        if self.named.is_empty() {
            return candidates(self.parents, self.actions, &self.ratios);
        }
        let numbers = self.numbers();
        let form = |terms: Vec<Vec<Leaf>>, prior: f64| Form { kernel: Kernel::sum(terms), prior };
        let each = Leaf::of(Choice, self.named.iter().copied());
        let levels: Vec<Vec<Leaf>> = self.named.iter().map(|&k| vec![Leaf::of(Choice, [k])]).collect();
        let mut forms =
            vec![Form { kernel: Kernel::constant(), prior: NULL_PRIOR }, form(levels.clone(), 1.0)];
        if self.named.len() > 1 {
            forms.push(form(vec![vec![each.clone()]], 1.0));
        }
        if numbers.is_empty() {
            return forms;
        }
        let all = |shape: Shape| Leaf::of(shape, numbers.iter().copied());
        let with_levels = |terms: Vec<Vec<Leaf>>| terms.into_iter().chain(levels.clone()).collect();
        forms.extend([
            form(vec![vec![all(Matern52)]], INDIFFERENT_PRIOR),
            form(with_levels(vec![vec![all(Linear)]]), LINE_PRIOR),
            form(with_levels(vec![vec![all(Matern52)]]), 1.0),
            form(with_levels(vec![vec![all(Se)]]), 1.0),
            form(with_levels(vec![vec![all(Linear), each.clone()]]), LINE_PRIOR),
            form(vec![vec![all(Matern52), each.clone()]], 1.0),
            form(vec![vec![all(Se), each.clone()]], 1.0),
            form(with_levels(vec![vec![all(Se), each.clone()]]), 1.0),
        ]);
        // What a choice does may be in proportion to a parent, or scale with it, as what numbers do.
        let decided = numbers.iter().copied().filter(|k| *k >= self.parents);
        let decided = Leaf::of(Se, decided);
        let curve = (!decided.seen(0).is_empty()).then_some(decided);
        let response: Vec<Leaf> = curve.into_iter().chain([each.clone()]).collect();
        let times = |factor: Leaf| -> Vec<Leaf> { response.iter().cloned().chain([factor]).collect() };
        let parents: Vec<usize> = numbers.iter().copied().filter(|k| *k < self.parents).collect();
        if !parents.is_empty() {
            let line = Leaf::of(Linear, parents.iter().copied());
            forms.push(form(vec![response.clone(), times(line.clone())], 1.0));
            forms.push(form(vec![vec![line], response.clone()], 1.0));
        }
        if (1..=MOST_SCALING).contains(&parents.len()) {
            for &k in &parents {
                let amount = Leaf::of(Proportional, [k]);
                let scaled = vec![vec![amount.clone()], times(amount)];
                forms.push(form(scaled, SCALING_PRIOR / parents.len() as f64));
            }
        }
        if numbers.len() > 1 {
            let curves = || numbers.iter().map(|&k| vec![Leaf::of(Se, [k])]);
            forms.push(form(with_levels(curves().collect()), 1.0));
            let for_each = curves().map(|curve| curve.into_iter().chain([each.clone()]).collect());
            forms.push(form(with_levels(for_each.collect()), 1.0));
        }
        forms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(parents: usize, actions: usize, named: &[usize]) -> Inputs {
        Inputs { parents, actions, named: named.to_vec(), ratios: Vec::new() }
    }

    #[test]
    fn numbers_alone_have_the_forms_of_numbers() {
        for (parents, actions) in [(0, 0), (1, 2), (3, 1)] {
            assert_eq!(inputs(parents, actions, &[]).forms(), candidates(parents, actions, &[]));
            assert_eq!(inputs(parents, actions, &[]).kernel(), Kernel::default());
        }
    }

    #[test]
    fn choices_are_seen_by_leaves_made_for_them_alone() {
        for inputs in [inputs(0, 1, &[0]), inputs(1, 2, &[2]), inputs(1, 3, &[1, 3]), inputs(0, 2, &[0, 1])] {
            let kernels = inputs.forms().into_iter().map(|form| form.kernel).chain([inputs.kernel()]);
            let kernels: Vec<Kernel> = kernels.collect();
            for (i, kernel) in kernels.iter().enumerate() {
                assert!(i + 1 == kernels.len() || !kernels[..i].contains(kernel), "{kernel} twice");
                for leaf in kernel.terms().iter().flatten() {
                    let seen = leaf.inputs.as_ref().expect("the inputs are named");
                    let choice = leaf.shape == Shape::Choice;
                    assert!(seen.iter().all(|k| inputs.named.contains(k) == choice), "{kernel}");
                }
            }
        }
        assert_eq!(inputs(1, 2, &[2]).kernel().to_string(), "matern52(0, 1) * choice(2)");
    }
}
