//! The forms that a mechanism may have, and how they are said.

use mcbo_gp::{Form, Kernel, Leaf, Shape};

/// The forms that are weighed for a node of `parents` inputs from other nodes followed by `actions` inputs that are decided.
///
/// From nothing at all over straight lines and sums of curves to one surface: what the data say decides, by the evidence of
/// each. The constant is the null form, under which everything is noise.
pub(crate) fn candidates(parents: usize, actions: usize) -> Vec<Form> {
    use Shape::{Cosine, Linear, Matern52, SquaredExponential as Se};
    let dim = parents + actions;
    let form = |kernel: Kernel| Form { kernel, prior: 1.0 };
    if dim == 0 {
        return vec![form(Kernel::constant())];
    }
    let (p, a) = (0..parents, parents..dim);
    let sum = |terms: Vec<Vec<Leaf>>| form(Kernel::sum(terms));
    let all = |shape: Shape| Leaf { shape, inputs: None };
    let curve = |k: usize| vec![Leaf::of(Se, [k])];
    let mut forms = vec![
        form(Kernel::constant()),
        form(Kernel::leaf(Linear)),
        form(Kernel::leaf(Matern52)),
        form(Kernel::leaf(Se)),
        sum(vec![vec![all(Linear)], vec![all(Matern52)]]),
    ];
    if dim == 1 {
        forms.push(sum(vec![curve(0), vec![Leaf::of(Se, [0]), Leaf::of(Cosine, [0])]]));
    } else {
        forms.push(sum((0..dim).map(curve).collect()));
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
