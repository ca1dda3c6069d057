//! What is said of a study, for people and for programs: sentences, numbers, JSON, CSV, and the one page about all of it.
//!
//! The command line prints it and the server serves it, so that both say the same.

pub mod assignment;
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

/// The share of a longer study that pages, pictures and suspicions fit their model to; none of one that is not longer.
pub fn share(study: &mcbo_core::Study) -> Option<mcbo_core::Study> {
    const SHARE: usize = 200;
    (study.data().len() > QUICK).then(|| study.thinned(SHARE)).flatten()
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
        let share = share(study);
        let known = share.as_ref().unwrap_or(study);
        let odd = known.network().map_or_else(|_| Vec::new(), |network| known.oddities(&network));
        Self { odd, of: share.as_ref().map(|share| (share.data().len(), study.data().len())) }
    }

    /// `, by a model of 200 of 512 trials`, or nothing.
    pub fn by(&self) -> String {
        self.of.map_or_else(String::new, |(some, all)| format!(", by a model of {some} of {all} trials"))
    }
}
