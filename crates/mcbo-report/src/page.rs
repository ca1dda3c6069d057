//! One page about a study, which needs nothing but itself.

mod parts;

pub use parts::{Foretold, Settle, advice, foretold, hinted, trusted};

use std::fmt::Write as _;

use mcbo_core::{Certificate, Criterion, Effects, Given, Oddity, Recommendation, Study, StudyError};
use mcbo_plot::Picture;
use mcbo_plot::draw::{escape, html_page};
use mcbo_store::{Status, StoredTrial};

/// The width of the band that mechanisms are trusted to lie in.
const WIDTH: f64 = 2.0;

/// Everything that the page is about.
pub struct Subject<'a> {
    /// The study's name.
    pub name: &'a str,
    /// Its counts.
    pub status: &'a Status,
    /// The study.
    pub study: &'a Study,
    /// Its trials.
    pub trials: &'a [StoredTrial],
    /// What the model says, if it was asked.
    pub model: Option<&'a Modelled>,
}

impl Subject<'_> {
    /// What the model was fitted to.
    fn fitted(&self) -> &Study {
        self.model.and_then(|model| model.share.as_ref()).unwrap_or(self.study)
    }
}

/// What the model says.
#[non_exhaustive]
pub struct Modelled {
    /// The share of the study that it was fitted to, where that is not all of it.
    pub share: Option<Study>,
    /// What to settle for.
    pub recommendation: Recommendation,
    /// How much better anything else could be.
    pub certificate: Certificate,
    /// What matters.
    pub effects: Effects,
    /// What does not fit.
    pub odd: Vec<Oddity>,
}

impl Modelled {
    /// Fits the model and asks it for all that a page shows.
    ///
    /// # Errors
    /// If no model can be fitted.
    pub fn of(study: &Study, given: &Given) -> Result<Self, StudyError> {
        // Nobody gives it up.
        Self::of_unless(study, given, &|| false)?.ok_or(StudyError::NoData)
    }

    /// The same, unless it is given up: that is asked before every part of it.
    ///
    /// # Errors
    /// If no model can be fitted.
    pub fn of_unless(
        study: &Study,
        given: &Given,
        given_up: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, StudyError> {
        if given_up() {
            return Ok(None);
        }
        let recommendation = study.recommend_given(Criterion::Mean, given)?;
        if given_up() {
            return Ok(None);
        }
        let certificate = study.certify(&recommendation, WIDTH);
        if given_up() {
            return Ok(None);
        }
        let effects = study.effects(&recommendation)?;
        let odd = study.oddities(&recommendation.network);
        Ok(Some(Self { share: None, recommendation, certificate, effects, odd }))
    }

    /// The same at once, however long the study is: of a long one the model is fitted to a share.
    ///
    /// # Errors
    /// If no model can be fitted.
    pub fn of_share(study: &Study, given: &Given) -> Result<Self, StudyError> {
        let share = crate::share(study);
        let model = Self::of(share.as_ref().unwrap_or(study), given)?;
        Ok(Self { share, ..model })
    }
}

/// Where the looks of a page come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks<'a> {
    /// Written into the page, which then needs nothing but itself.
    Inside,
    /// From this address.
    Linked(&'a str),
}

/// The looks of all pages.
pub const STYLE: &str = include_str!("page/report.css");

/// The whole page.
pub fn report(subject: &Subject<'_>, looks: Looks<'_>) -> String {
    page(subject.name, &body(subject), looks)
}

/// A page of pictures.
pub fn index(name: &str, pictures: &[Picture]) -> String {
    let mut body = format!("<h1>{}</h1>\n", escape(name));
    for picture in pictures {
        body.push_str(&parts::figure(picture));
    }
    page(name, &body, Looks::Inside)
}

fn page(title: &str, body: &str, looks: Looks<'_>) -> String {
    let style = match looks {
        Looks::Inside => format!("<style>\n{STYLE}</style>"),
        Looks::Linked(address) => format!("<link rel=\"stylesheet\" href=\"{}\">", escape(address)),
    };
    html_page(title, &style, body)
}

fn body(subject: &Subject<'_>) -> String {
    let mut body = parts::head(subject);
    let sections = [
        ("next", "What to do next", parts::next(subject)),
        ("settle", "What to settle for, and when to stop", parts::recommendation(subject)),
        ("matters", "What matters", parts::matters(subject)),
        ("learned", "What was learned", parts::learned(subject)),
        ("history", "How it went", parts::history(subject)),
        ("trust", "How far the model can be trusted", parts::trust(subject)),
        ("trials", "All trials", parts::all(subject)),
    ];
    let shown = || sections.iter().filter(|(.., content)| !content.is_empty());
    body.push_str("<nav>");
    shown().for_each(|(id, title, _)| _ = write!(body, "<a href=\"#{id}\">{title}</a> "));
    body.push_str("</nav>\n");
    for (id, title, content) in shown() {
        let _ = writeln!(body, "<section id=\"{id}\"><h2>{title}</h2>\n{content}</section>");
    }
    body
}
