//! The sections of the page.

use std::fmt::Write;

use mcbo_core::{Direction, Effect, Given, Intervention, Keeping, Network, Problem, Study, TrialState};
use mcbo_plot::Picture;

use super::{Modelled, Subject, escape};
use crate::number::{Format, plain};
use crate::{describe, timestamp, why};

/// Trials that are shown without a click.
const OPEN: usize = 60;
/// Nodes that have a picture, those nearest to the reward; and how many of them are shown without a click.
const DRAWN: usize = 40;
const DRAWN_OPEN: usize = 12;
/// Cells of the table of trials at most: a page should not be larger than can be sent.
const CELLS: usize = 200_000;

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// The width of a page's column: what is wider is not made small to fit.
const COLUMN: f64 = 1088.0;

pub(super) fn figure(picture: &Picture) -> String {
    let class = if picture.width() > COLUMN { " class=\"wide\"" } else { "" };
    format!("<figure{class}>{}</figure>\n", picture.svg)
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let mut out = String::from("<div class=\"scroll\"><table><thead><tr>");
    head.iter().for_each(|cell| _ = write!(out, "<th>{}", escape(cell)));
    out.push_str("</thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        row.iter().for_each(|cell| _ = write!(out, "<td>{}", escape(cell)));
        out.push('\n');
    }
    out + "</tbody></table></div>\n"
}

fn rewards(subject: &Subject<'_>) -> (Format, f64) {
    let problem = subject.study.problem();
    let values: Vec<f64> = subject.study.data().rewards(problem).map(|(_, reward)| reward).collect();
    let range = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], r| [l.min(*r), h.max(*r)]);
    (Format::of_values(values), range[1] - range[0])
}

/// Name, aim, counts.
pub fn head(subject: &Subject<'_>) -> String {
    let (status, problem) = (subject.status, subject.study.problem());
    let mut counts = vec![format!("{} measured", status.complete)];
    for (count, what) in [
        (status.pending, "under way"),
        (status.failed, "failed"),
        (status.voided, "taken out"),
        (status.corrected, "corrected"),
    ] {
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    format!(
        "<h1>{}</h1>\n<p class=\"lead\">{}. {}: {}.</p>\n<p class=\"soft\">Last change {} (UTC).</p>\n",
        escape(subject.name),
        escape(&describe::objective(problem)),
        describe::count(status.trials, "trial"),
        counts.join(", "),
        escape(&timestamp::exact(status.changed))
    )
}

/// Experiments under way with their reasons, or how to get one.
pub fn next(subject: &Subject<'_>) -> String {
    let (study, name) = (subject.study, describe::argument(subject.name));
    let problem = study.problem();
    let levers = describe::levers(problem);
    let under_way: Vec<_> =
        subject.trials.iter().filter(|trial| trial.trial.state == TrialState::Pending).collect();
    if under_way.is_empty() {
        return format!(
            "<p>No experiment is under way. <code>mcbo ask {}</code> says which one is worth doing next, and why.</p>\n",
            escape(&name)
        );
    }
    let mut out = String::new();
    for trial in under_way.iter().take(8) {
        let did = describe::doing(&levers, trial.trial.intervention());
        let _ =
            writeln!(out, "<div class=\"card\"><p><b>Trial {}</b>: {}</p>", trial.trial.number, escape(&did));
        let suggestion = &trial.trial.suggestion;
        if let Some(known) = known_before(problem, &suggestion.given) {
            out.push_str(&paragraph(&known));
        }
        out.push_str(&limits_and_cost(problem, &suggestion.limits, trial.trial.intervention()));
        let reason = why::reason(study, suggestion);
        out.push_str(&paragraph(&reason));
        if let Some(model) = subject.model
            && let Ok(found) = study.why(&model.recommendation.network, trial.trial.number)
        {
            out.push_str("<ul>");
            for sentence in why::sentences(study, &found) {
                let _ = write!(out, "<li>{}</li>", escape(&sentence));
            }
            out.push_str("</ul>");
        }
        out.push_str("</div>\n");
    }
    if under_way.len() > 8 {
        out.push_str(&paragraph(&format!("And {} more under way.", under_way.len() - 8)));
    }
    out
}

/// What to settle for and when to stop, in sentences.
pub struct Settle {
    /// What is recommended: `dose=12.50`.
    pub doing: String,
    /// What it should give.
    pub expected: Option<String>,
    /// The best that was measured.
    pub best: Option<String>,
    /// Whether to go on.
    pub verdict: String,
    /// What to know about the fit.
    pub warnings: Vec<String>,
}

/// The best that was measured, in a sentence.
fn best_measured(subject: &Subject<'_>) -> Option<String> {
    let problem = subject.study.problem();
    let (format, _) = rewards(subject);
    let (trial, reward) = subject.study.best_trial()?;
    let did = describe::doing(&describe::levers(problem), trial.intervention());
    let value = describe::of_reward(problem, format.show(problem.sign() * reward));
    let node = describe::reward_name(problem);
    Some(format!("Best measured so far: {node} = {value} in trial {}, with {did}.", trial.number))
}

/// What to settle for and when to stop.
pub fn advice(subject: &Subject<'_>, model: &Modelled) -> Settle {
    let problem = subject.study.problem();
    let Modelled { recommendation, certificate, .. } = model;
    let node = describe::reward_name(problem);
    let (format, range) = rewards(subject);
    let shown = |amount: f64| describe::of_reward(problem, format.show(amount));
    let expected = recommendation.reward(problem).map(|expected| {
        let [low, high] = describe::ends(problem, expected);
        let (low, high) = (format.show(low), shown(high));
        format!(
            "It should give {node} = {} on average; that average lies between {low} and {high} with a probability of 90 %.",
            shown(problem.sign() * expected[0])
        )
    });
    let gap = certificate.gap();
    let verdict = if !gap.is_finite() {
        "When to stop: nothing can be said yet; a node was never measured together with its parents, or a formula has no value for some \
         of what may happen."
            .to_owned()
    } else {
        let more = match problem.direction() {
            Direction::Maximize => "higher",
            Direction::Minimize => "lower",
        };
        let advice = if gap <= 0.02 * range {
            "That is next to nothing: stop, unless so little matters to you."
        } else if gap <= 0.15 * range {
            "That is little beside how far the trials lie apart: go on only if an experiment costs less than that is worth."
        } else {
            "That is much: it is worth going on."
        };
        format!(
            "When to stop: by the model no intervention gives a {node} that is {more} by more than {} on average. {advice} It holds if every \
             mechanism lies within {} standard deviations of what is expected of it, no arrow and no common cause is missing, and \
             the noise is as the model has it; a search looked for it in many places but proves nothing.",
            shown(gap),
            plain(certificate.width)
        )
    };
    Settle {
        doing: describe::doing(&describe::levers(problem), &recommendation.intervention),
        expected,
        best: best_measured(subject),
        verdict,
        warnings: recommendation.warnings.iter().map(|warning| hinted(&warning.to_string())).collect(),
    }
}

/// A message with its hint as a sentence of its own.
pub fn hinted(text: &str) -> String {
    text.replace("; hint: ", ". Hint: ")
}

/// What is known of contexts, in a sentence.
fn known_before(problem: &Problem, given: &Given) -> Option<String> {
    let values = describe::given(problem, given);
    (!values.is_empty()).then(|| format!("Known before deciding: {}.", values.join(", ")))
}

/// How probable it is that each limit is kept, and what it costs.
fn limits_and_cost(problem: &Problem, limits: &[Keeping], intervention: &Intervention) -> String {
    let mut out = String::new();
    for keeping in limits {
        let class = if keeping.is_probable() { "soft" } else { "note" };
        let _ = writeln!(out, "<p class=\"{class}\">{}</p>", escape(&describe::kept(problem, keeping)));
    }
    if problem.has_costs() {
        let _ = writeln!(out, "<p class=\"soft\">It costs {}.</p>", plain(problem.cost(intervention)));
    }
    out
}

/// The recommendation, and in plain words whether to go on.
pub fn recommendation(subject: &Subject<'_>) -> String {
    let name = escape(&describe::argument(subject.name));
    let Some(model) = subject.model else {
        if subject.study.data().is_empty() {
            return paragraph("Nothing was measured yet.");
        }
        return best_measured(subject).as_deref().map_or_else(String::new, paragraph)
            + &format!(
                "<p>With so many trials the model takes a while, so this page goes without it: <code>mcbo best {name}</code> fits \
                 it and says what to settle for.</p>\n"
            );
    };
    let Settle { doing, expected, best, verdict, warnings } = advice(subject, model);
    let mut out = format!("<p class=\"lead\">Recommended: <b>{}</b></p>\n", escape(&doing));
    let (problem, recommendation) = (subject.study.problem(), &model.recommendation);
    let given = known_before(problem, &recommendation.given);
    for text in given.iter().chain(&expected) {
        out.push_str(&paragraph(text));
    }
    out.push_str(&limits_and_cost(problem, &recommendation.limits, &recommendation.intervention));
    for text in best.iter().chain([&verdict]) {
        out.push_str(&paragraph(text));
    }
    if let Some(share) = &model.share {
        let _ = writeln!(
            out,
            "<p class=\"soft\">The model of this page is fitted to {} of the {} measured trials, the newest {} and others evenly from those \
             before, which is quick and a little less sure; <code>mcbo best {name}</code> fits it to all.</p>",
            share.data().len(),
            subject.study.data().len(),
            share.data().len() / 2
        );
    }
    for warning in &warnings {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(warning));
    }
    out
}

/// The graph with its effects.
pub fn matters(subject: &Subject<'_>) -> String {
    let problem = subject.study.problem();
    let Some(Modelled { recommendation, effects, .. }) = subject.model else {
        return figure(&mcbo_plot::graph_of(subject.study, None, None));
    };
    let network = &recommendation.network;
    let mut out = figure(&mcbo_plot::graph_of(subject.study, Some(network), Some(effects)));
    let largest =
        effects.actions.iter().map(|(_, e)| e.upper).chain(effects.arrows.iter().map(|(.., e)| e.upper));
    let format = Format::of_range([0.0, largest.fold(0.0, f64::max)]);
    let row = |name: String, e: &Effect| {
        let bounds = format!("{} to {}", format.show(e.lower), format.show(e.upper));
        vec![name, format.show(e.effect), bounds]
    };
    let head = |what: &str| [what, "effect", "its 90 % bounds"].map(String::from);
    let node = describe::reward_name(problem);
    out.push_str(&paragraph(&format!(
        "Effect: how far the expected {node} goes up and down when one thing goes through its range, the rest as recommended."
    )));
    if !effects.actions.is_empty() {
        let rows: Vec<Vec<String>> = effects.actions.iter().map(|(name, e)| row(name.clone(), e)).collect();
        out.push_str(&table(&head("action"), &rows));
    }
    let name = |node: usize| problem.nodes()[node].name.clone();
    let arrows: Vec<Vec<String>> = effects
        .arrows
        .iter()
        .take(20)
        .map(|(from, to, e)| row(format!("{} → {}", name(*from), name(*to)), e))
        .collect();
    if !arrows.is_empty() {
        out.push_str(&table(&head("arrow"), &arrows));
    }
    let blame: Vec<String> = effects
        .unknown
        .iter()
        .filter(|(_, share)| *share >= 0.01)
        .take(8)
        .map(|(node, share)| format!("{} ({:.0} %)", name(*node), 100.0 * share))
        .collect();
    if !blame.is_empty() {
        out.push_str(&paragraph(&format!(
            "What is not known of {node} there is to blame on: {}.",
            blame.join(", ")
        )));
    }
    out
}

/// The mechanisms, held at the recommendation.
pub fn learned(subject: &Subject<'_>) -> String {
    let Some(Modelled { recommendation, .. }) = subject.model else { return String::new() };
    let order = subject.study.problem().graph().order();
    // The nearest to the reward first: that is where one looks.
    let pictures = order.iter().rev().filter_map(|&node| {
        let (network, about) = (&recommendation.network, &recommendation.intervention);
        mcbo_plot::mechanism_about(subject.fitted(), network, node, about)
    });
    let mut out = String::new();
    for (place, picture) in pictures.take(DRAWN).enumerate() {
        if place == DRAWN_OPEN {
            out.push_str("<details><summary>More nodes, farther from the reward</summary>\n");
        }
        out.push_str(&figure(&picture));
    }
    if out.contains("<details>") { out + "</details>\n" } else { out }
}

/// The history with its surprises.
pub fn history(subject: &Subject<'_>) -> String {
    let recommendation = subject.model.map(|model| &model.recommendation);
    let odd = subject.model.map_or(&[][..], |model| &model.odd);
    let mut out = figure(&mcbo_plot::history_with(subject.study, recommendation, odd));
    for odd in odd {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(&hinted(&odd.to_string())));
    }
    out
}

/// How well one component foretells trials it has not seen.
#[non_exhaustive]
pub struct Foretold {
    /// The component.
    pub name: String,
    /// Trials that were foretold from all the others.
    pub trials: usize,
    /// The share of them within their 90 % bounds.
    pub share: f64,
    /// What to make of it.
    pub verdict: &'static str,
}

const TOO_SURE: &str = "too sure: its bounds are too narrow";

/// How well every component foretells trials it has not seen.
pub fn foretold(study: &Study, network: &Network) -> Vec<Foretold> {
    let (problem, mut rows) = (study.problem(), Vec::new());
    for &node in problem.graph().order() {
        for (component, left_out) in network.left_out(problem, study.data(), node).iter().enumerate() {
            if left_out.len() < 3 {
                continue;
            }
            let held = left_out.iter().filter(|row| (0.05..=0.95).contains(&row.below)).count();
            let share = held as f64 / left_out.len() as f64;
            // Two standard errors of a share of 90 %.
            let slack = 2.0 * (0.09 / left_out.len() as f64).sqrt();
            let verdict = match share {
                share if share < 0.9 - slack => TOO_SURE,
                share if share > 0.9 + slack => "too cautious: its bounds are wide",
                _ => "as good as its word",
            };
            let name = mcbo_core::slot_name(problem, node, component);
            rows.push(Foretold { name, trials: left_out.len(), share, verdict });
        }
    }
    rows
}

/// What to make of all of them.
pub fn trusted(rows: &[Foretold]) -> String {
    if rows.is_empty() {
        return "There are too few trials to say.".into();
    }
    match rows.iter().filter(|row| row.verdict == TOO_SURE).count() {
        0 => "Every trial was foretold from all the others, and the outcomes lie within the bounds of 90 % about as often as they should, or \
              more often. The bounds on this page can be taken at their word, as far as the graph is right."
            .to_owned(),
        sure => format!(
            "Every trial was foretold from all the others. For {} the outcomes lie outside the bounds of 90 % more often than one time in \
             ten: take bounds on this page for too narrow.",
            describe::count(sure, "node")
        ),
    }
}

/// Calibration, in words first.
pub fn trust(subject: &Subject<'_>) -> String {
    let Some(Modelled { recommendation, .. }) = subject.model else { return String::new() };
    let (study, network) = (subject.fitted(), &recommendation.network);
    let all = foretold(study, network);
    if all.is_empty() {
        return paragraph(&trusted(&all));
    }
    let order = study.problem().graph().order();
    let near = order[order.len().saturating_sub(DRAWN)..].iter();
    let pictures = near.filter_map(|&node| mcbo_plot::calibration(study, network, node));
    let pictures: String = pictures.map(|picture| figure(&picture)).collect();
    let row = |row: &Foretold| {
        let share = format!("{:.0} %", 100.0 * row.share);
        vec![row.name.clone(), row.trials.to_string(), share, row.verdict.to_owned()]
    };
    let head = ["node", "trials", "within 90 % bounds", ""].map(String::from);
    let mut rows = table(&head, &all.iter().map(row).collect::<Vec<_>>());
    if all.len() > DRAWN {
        rows = format!("<details><summary>All {} nodes</summary>\n{rows}</details>\n", all.len());
    }
    paragraph(&trusted(&all))
        + &rows
        + &format!("<details><summary>Pictures of it</summary>\n{pictures}</details>\n")
}

/// Every trial, a row each.
pub fn all(subject: &Subject<'_>) -> String {
    let study = subject.study;
    let problem = study.problem();
    let levers = describe::levers(problem);
    let slots = (0..problem.nodes().len())
        .flat_map(|node| (0..problem.nodes()[node].dim).map(move |component| (node, component)));
    let nodes = slots.map(|(node, component)| {
        let name = mcbo_core::slot_name(problem, node, component);
        describe::with_unit(&name, problem.nodes()[node].unit.as_deref())
    });
    let format_of = |slot: usize| {
        Format::of_values(study.data().observations().iter().filter_map(move |row| row.values[slot]))
    };
    let formats: Vec<Format> = (0..problem.slots()).map(format_of).collect();
    let odd: Vec<usize> = subject
        .model
        .iter()
        .flat_map(|model| model.odd.iter().filter(|odd| odd.trials().len() == 1).flat_map(|odd| odd.trials()))
        .collect();
    let open = if subject.trials.len() <= OPEN { " open" } else { "" };
    let mut out = format!(
        "<details{open}><summary>{}</summary><div class=\"scroll\"><table class=\"all\"><thead><tr><th>trial<th>state<th>by",
        describe::count(subject.trials.len(), "trial")
    );
    let labels = levers.iter().map(|lever| describe::with_unit(&lever.label, lever.unit.as_deref()));
    labels.chain(nodes).for_each(|name| _ = write!(out, "<th>{}", escape(&name)));
    out.push_str("<th></thead><tbody>\n");
    let columns = 4 + levers.len() + formats.len();
    let left_out = subject.trials.len().saturating_sub(CELLS / columns);
    for stored in &subject.trials[left_out..] {
        let trial = &stored.trial;
        let class = match trial.state {
            TrialState::Voided => " class=\"out\"",
            _ if odd.contains(&trial.number) => " class=\"odd\"",
            _ => "",
        };
        let _ = write!(
            out,
            "<tr{class}><td>{}<td>{}<td>{}",
            trial.number,
            trial.state.name(),
            escape(&trial.suggestion.strategy)
        );
        for lever in &levers {
            out.push_str("<td>");
            out.push_str(&lever.shown(trial.intervention()).unwrap_or_default());
        }
        for (slot, format) in formats.iter().enumerate() {
            out.push_str("<td>");
            let value = trial.values.as_ref().and_then(|values| values[slot]);
            value.into_iter().for_each(|value| out.push_str(&format.show(value)));
        }
        let mut notes = describe::done_instead(problem, trial);
        notes.extend(stored.record.voided.as_ref().map(|(_, why)| why.clone()).filter(|why| !why.is_empty()));
        notes.extend(stored.record.corrected.map(|_| "corrected".to_owned()));
        notes.extend(stored.record.reason.clone().filter(|why| !why.is_empty()));
        let _ = writeln!(out, "<td>{}", escape(&notes.join("; ")));
    }
    out.push_str("</tbody></table></div></details>\n");
    if left_out > 0 {
        let _ = writeln!(
            out,
            "<p class=\"soft\">The first {left_out} are left out to keep the page small: <code>mcbo export {}</code> has all.</p>",
            escape(&describe::argument(subject.name))
        );
    }
    out
}
