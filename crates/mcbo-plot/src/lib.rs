//! Pictures of a study: how it went, what the model looks like, and how far it can be trusted.
//!
//! ```
//! use mcbo_core::{Noise, Problem, Study};
//! let problem = Problem::builder("greenhouse")
//!     .action("water", [0.0, 10.0])
//!     .node("moisture", |n| n.actions(["water"]).noise(Noise::None))
//!     .node("growth", |n| n.parents(["moisture"]))
//!     .maximize("growth")
//!     .build()?;
//! let study = Study::new(problem, 1);
//! let pictures = mcbo_plot::pictures(&study, None);
//! let names: Vec<&str> = pictures.iter().map(|picture| picture.name.as_str()).collect();
//! assert_eq!(names, ["history", "graph", "parallel"]);
//! assert!(pictures[1].svg.starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every picture stands for itself: it has a title, names at its axes, a legend, and says what its bands mean. The same
//! study gives the same bytes. Nothing here writes files.

mod along;
mod calibration;
pub mod draw;
mod graph;
mod history;
mod mechanism;
mod page;
mod parallel;
mod ramp;
mod statistics;

use mcbo_core::{Recommendation, Study};

pub use calibration::calibration;
pub use graph::{graph, graph_of};
pub use history::{history, history_with};
pub use mechanism::{mechanism, mechanism_about, mechanism_at};
pub use parallel::parallel;

/// A picture as SVG text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Picture {
    /// A name for files, such as `mechanism-yield`.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// The picture.
    pub svg: String,
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The text cannot be drawn.
    #[error("picture {name}: {reason}; hint: the SVG text may still be of use")]
    Png {
        /// The picture's name.
        name: String,
        /// What went wrong.
        reason: String,
    },
}

impl Picture {
    /// Its width, in the units in which its small text is 10 high.
    pub fn width(&self) -> f64 {
        let width = self.svg.split("width=\"").nth(1).and_then(|rest| rest.split('"').next());
        width.and_then(|width| width.parse().ok()).unwrap_or(0.0)
    }

    /// The picture as PNG, two dots per unit, with a font of our own.
    ///
    /// # Errors
    /// If the picture is too large to be drawn.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        draw::png(&self.svg).map_err(|reason| PlotError::Png { name: self.name.clone(), reason })
    }
}

/// Nodes that have pictures of their own at most, those nearest to the reward: of more nobody looks at all.
pub const NODES: usize = 60;

/// All pictures of a study: history, graph, parallel coordinates; with a recommendation also the mechanism of every node
/// and how well each learned one foretells what it has not seen. Of very many nodes only those of the last 60 in the order of causes.
pub fn pictures(study: &Study, recommendation: Option<&Recommendation>) -> Vec<Picture> {
    let network = recommendation.map(|advice| &advice.network);
    let mut pictures =
        vec![history(study, recommendation), graph_of(study, network, None), parallel(study, recommendation)];
    if let Some(Recommendation { network, intervention, .. }) = recommendation {
        let order = study.problem().graph().order();
        let order = &order[order.len().saturating_sub(NODES)..];
        pictures.extend(order.iter().filter_map(|&node| mechanism_about(study, network, node, intervention)));
        pictures.extend(order.iter().filter_map(|&node| calibration(study, network, node)));
    }
    pictures
}
