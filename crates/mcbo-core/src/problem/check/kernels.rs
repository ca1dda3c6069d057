//! Kernels that users choose, where inputs are choices.

use mcbo_gp::{Kernel, Leaf, Shape};

/// A kernel whose leaves see the inputs they are made for: a bare name sees all numbers, and is multiplied by what the choices have in
/// common.
///
/// # Errors
/// An input that a leaf names and is not made for, and whether that is a choice.
pub(super) fn with_choices(kernel: &Kernel, dim: usize, named: &[usize]) -> Result<Kernel, (usize, bool)> {
    let numbers: Vec<usize> = (0..dim).filter(|k| !named.contains(k)).collect();
    let mut terms = Vec::new();
    for term in kernel.terms() {
        let mut leaves: Vec<Leaf> = Vec::new();
        for leaf in term {
            let of_choices = leaf.shape == Shape::Choice;
            match &leaf.inputs {
                Some(seen) => {
                    if let Some(&wrong) = seen.iter().find(|k| named.contains(k) != of_choices) {
                        return Err((wrong, !of_choices));
                    }
                    leaves.push(leaf.clone());
                }
                None if of_choices && named.is_empty() && dim > 0 => return Err((0, false)),
                None if of_choices => leaves.push(Leaf::of(Shape::Choice, named.iter().copied())),
                None if named.is_empty() => leaves.push(leaf.clone()),
                None => {
                    if !numbers.is_empty() {
                        leaves.push(Leaf::of(leaf.shape, numbers.iter().copied()));
                    }
                    let names = Leaf::of(Shape::Choice, named.iter().copied());
                    if !leaves.contains(&names) {
                        leaves.push(names);
                    }
                }
            }
        }
        terms.push(leaves);
    }
    Ok(Kernel::sum(terms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_see_what_they_are_made_for() {
        let names = ["dose", "strain", "soil"];
        let read = |text: &str, named: &[usize]| {
            let kernel = Kernel::parse(text, &names).expect("a kernel");
            with_choices(&kernel, 3, named).map(|kernel| kernel.to_text(&names))
        };
        assert_eq!(read("se + linear(dose)", &[]), Ok("se + linear(dose)".into()));
        assert_eq!(read("se", &[1]), Ok("se(dose, soil) * choice(strain)".into()));
        assert_eq!(
            read("se * linear", &[1]),
            Ok("se(dose, soil) * choice(strain) * linear(dose, soil)".into())
        );
        assert_eq!(read("se(dose) + choice", &[1]), Ok("se(dose) + choice(strain)".into()));
        assert_eq!(read("se(strain)", &[1]), Err((1, true)));
        assert_eq!(read("choice(dose)", &[1]), Err((0, false)));
        assert_eq!(read("choice", &[]), Err((0, false)));
        assert_eq!(read("matern52", &[0, 1, 2]), Ok("choice(dose, strain, soil)".into()));
    }
}
