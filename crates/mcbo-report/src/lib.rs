//! What is said of a study, for people and for programs: sentences, numbers, JSON, CSV, and the one page about all of it.
//!
//! The command line prints it and the server serves it, so that both say the same.

pub mod assignment;
pub mod changes;
pub mod check;
pub mod describe;
pub mod drawn;
pub mod effects;
pub mod export;
mod failure;
pub mod json;
pub mod log;
pub mod number;
pub mod page;
pub mod predict;
pub mod rows;
pub mod sets;
pub mod status;
mod templates;
pub mod timestamp;
pub mod values;
pub mod why;

pub use failure::{BadFile, BadInput};
pub use templates::Template;

/// With more trials than this no recommendation is sought by what should answer at once.
pub const QUICK: usize = 300;

/// The same of nodes that lead to the reward.
pub const QUICK_NODES: usize = 100;

/// Whether a model of the study is there in a few seconds, so that it can be fitted without being asked for.
pub fn is_quick(study: &mcbo_core::Study) -> bool {
    let nodes = study.problem().matters(&[]).into_iter().filter(|&matters| matters).count();
    study.data().len() <= QUICK && nodes <= QUICK_NODES
}

/// How many trials the share of a longer study has.
const SHARE: usize = 200;

/// The share of a longer study that pages and pictures fit their model to; none of one that is not longer.
pub fn share(study: &mcbo_core::Study) -> Option<mcbo_core::Study> {
    (study.data().len() > QUICK).then(|| study.thinned(SHARE)).flatten()
}

fn odd(study: &mcbo_core::Study) -> Vec<mcbo_core::Oddity> {
    study.network().map_or_else(|_| Vec::new(), |network| study.oddities(&network))
}

/// What does not fit, by the model of a study or of the share of it that is named.
#[derive(Debug, Default)]
pub struct Suspected {
    /// What does not fit.
    pub odd: Vec<mcbo_core::Oddity>,
    /// How many of how many measured trials the model knows, where it does not know all.
    pub of: Option<(usize, usize)>,
}

impl Suspected {
    /// Fits a model and looks, at a share of a long study; nothing where no model can be fitted.
    pub fn of(study: &mcbo_core::Study) -> Self {
        match study.data().len() {
            rows if rows > QUICK => Self { odd: odd(&study.knowing(SHARE)), of: Some((SHARE, rows)) },
            _ => Self { odd: odd(study), of: None },
        }
    }

    /// `, by a model of 200 of 512 trials`, or nothing.
    pub fn by(&self) -> String {
        self.of.map_or_else(String::new, |(some, all)| format!(", by a model of {some} of {all} trials"))
    }
}

#[cfg(test)]
mod tests {
    use mcbo_core::{Problem, Study};

    use super::{QUICK_NODES, is_quick};

    /// Nodes that lead to the reward count; others cost nothing.
    #[test]
    fn many_nodes_are_not_quick() {
        let chain = |count: usize, aside: usize| {
            let mut text = format!("maximize = \"x{}\"\n[nodes.x0]\nactions = [\"a\"]\n", count - 1);
            for node in 1..count {
                text.push_str(&format!("[nodes.x{node}]\nparents = [\"x{}\"]\n", node - 1));
            }
            for node in 0..aside {
                text.push_str(&format!("[nodes.y{node}]\nparents = [\"x0\"]\n"));
            }
            text.push_str("[actions.a]\nrange = [0, 1]\n");
            Study::new(Problem::from_toml(&text).unwrap(), 0)
        };
        assert!(is_quick(&chain(QUICK_NODES, 0)));
        assert!(is_quick(&chain(3, 2 * QUICK_NODES)));
        assert!(!is_quick(&chain(QUICK_NODES + 1, 0)));
    }
}
