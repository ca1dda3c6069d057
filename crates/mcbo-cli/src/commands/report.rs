//! `mcbo report`: one page about a study, which needs nothing but itself.

mod parts;

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Context, Result};
use mcbo_core::{Certificate, Criterion, Effects, Oddity, Recommendation, Study};
use mcbo_plot::Picture;
use mcbo_store::{Status, StoredTrial};

use crate::cli::Report as Arguments;
use crate::console::Console;
use crate::exit::ExitCode;
use crate::{describe, store, words};

const STYLE: &str = include_str!("report.css");
/// The width of the band that mechanisms are trusted to lie in.
const WIDTH: f64 = 2.0;

/// Everything that the page is about.
struct Subject {
    name: String,
    status: Status,
    study: Study,
    trials: Vec<StoredTrial>,
    model: Option<Modelled>,
}

/// What the model says.
struct Modelled {
    /// The share of the study that it was fitted to, where that is not all of it.
    share: Option<Study>,
    recommendation: Recommendation,
    certificate: Certificate,
    effects: Effects,
    odd: Vec<Oddity>,
}

impl Subject {
    /// What the model was fitted to.
    fn fitted(&self) -> &Study {
        self.model.as_ref().and_then(|model| model.share.as_ref()).unwrap_or(&self.study)
    }
}

/// Writes the page.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut stored = store::study(&arguments.storage, &arguments.study)?;
    let (status, study, trials) = (stored.status()?, stored.study()?, stored.trials()?);
    let given = words::given(study.problem(), &arguments.given.given)?;
    let model = match study.data().is_empty() {
        true => None,
        false => Some(super::with_threads(arguments.threads, || {
            let share = super::share(&study);
            let fitted = share.as_ref().unwrap_or(&study);
            let recommendation = fitted.recommend_given(Criterion::Mean, &given)?;
            let certificate = fitted.certify(&recommendation, WIDTH);
            let effects = fitted.effects(&recommendation)?;
            let odd = fitted.oddities(&recommendation.network);
            Ok(Modelled { share, recommendation, certificate, effects, odd })
        })?),
    };
    let subject = Subject { name: arguments.study.clone(), status, study, trials, model };
    let page = page(&subject.name, &body(&subject));
    if arguments.out == "-" {
        std::io::stdout().lock().write_all(page.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::write(&arguments.out, &page).with_context(|| format!("{} cannot be written", arguments.out))?;
    let name = describe::argument(&arguments.study);
    Console::new(arguments.storage.quiet).note(&format!("{}: one page about {name}", arguments.out));
    Ok(ExitCode::SUCCESS)
}

/// A page of pictures.
pub fn index(name: &str, pictures: &[Picture]) -> String {
    let mut body = format!("<h1>{}</h1>\n", escape(name));
    for picture in pictures {
        let _ = writeln!(body, "<figure>{}</figure>", picture.svg);
    }
    page(name, &body)
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}</style></head>\n\
         <body><main>\n{body}</main></body></html>\n",
        escape(title)
    )
}

fn body(subject: &Subject) -> String {
    let mut body = parts::head(subject);
    let sections = [
        ("next", "What to do next", parts::next(subject)),
        ("settle", "What to settle for, and when to stop", parts::settle(subject)),
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

/// Text as HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
