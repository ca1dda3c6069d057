//! `mcbo effects`: what matters.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{Criterion, Effect, Effects, Recommendation, Study};

use crate::cli::Effects as Arguments;
use crate::console::{BOLD, Console, styled};
use crate::exit::ExitCode;
use crate::number::Format;
use crate::show::BOUNDS;
use crate::table::{self, Align, Table, paragraph};
use crate::{assignment, describe, show, store};

/// Arrows that are shown, unless all are asked for.
const SHOWN: usize = 12;

/// Fits the model and prints what matters in it.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let study = store::study(&arguments.storage, &arguments.study)?.study()?;
    let given = assignment::given(study.problem(), &arguments.given.given)?;
    let (recommendation, effects) = super::with_threads(arguments.threads, || {
        let recommendation = study.recommend_given(Criterion::Mean, &given)?;
        let effects = study.effects(&recommendation)?;
        Ok((recommendation, effects))
    })?;
    if arguments.json {
        super::write_line(&mcbo_report::effects::document(
            &arguments.study,
            &study,
            &recommendation,
            &effects,
        ))?;
    } else {
        let mut out = anstream::stdout().lock();
        write(&mut out, &study, &recommendation, &effects)?;
        out.flush()?;
    }
    let console = Console::new(arguments.storage.quiet);
    for warning in &recommendation.warnings {
        console.warning(&warning.to_string());
    }
    Ok(ExitCode::SUCCESS)
}

fn write(
    out: &mut impl Write,
    study: &Study,
    recommendation: &Recommendation,
    effects: &Effects,
) -> io::Result<()> {
    use Align::{Left, Right};
    let (problem, width) = (study.problem(), table::width());
    let reward = describe::reward_name(problem);
    let all = effects.actions.iter().map(|(_, e)| e).chain(effects.arrows.iter().map(|(.., e)| e));
    let largest = all.map(|effect| effect.upper).fold(0.0, f64::max);
    let format = Format::of_range([0.0, largest]);
    let bounds = |e: &Effect| format!("{} to {}", format.show(e.lower), format.show(e.upper));
    let about = describe::intervention(&describe::levers(problem), &recommendation.intervention);
    writeln!(out, "{}", styled(BOLD, &format!("What moves {reward}, about the recommended {about}")))?;
    show::given(out, problem, &recommendation.given)?;
    let size = describe::with_unit("effect", problem.nodes()[problem.reward()].unit.as_deref());
    if !effects.actions.is_empty() {
        let best = format!("best {reward} at");
        let mut table =
            Table::new([("action", Left), (size.as_str(), Right), (BOUNDS, Left), (best.as_str(), Right)]);
        for (name, effect) in &effects.actions {
            let best = describe::chosen(problem, name, effect.best);
            table.row([name.clone(), format.show(effect.effect), bounds(effect), best]);
        }
        table.write(out, width)?;
    }
    if !effects.arrows.is_empty() {
        writeln!(out)?;
        let mut table = Table::new([("arrow", Left), (size.as_str(), Right), (BOUNDS, Left)]);
        for (from, to, effect) in effects.arrows.iter().take(SHOWN) {
            let arrow = format!("{} → {}", problem.nodes()[*from].name, problem.nodes()[*to].name);
            table.row([arrow, format.show(effect.effect), bounds(effect)]);
        }
        table.write(out, width)?;
        if effects.arrows.len() > SHOWN {
            writeln!(out, "and {} more with less effect; --json has them", effects.arrows.len() - SHOWN)?;
        }
    }
    let beyond = match (problem.has_limits(), problem.requirements().is_empty()) {
        (false, true) => "",
        (true, true) => " What keeps the limits is not looked at.",
        (false, false) => " What keeps the requirements is not looked at.",
        (true, false) => " What keeps the limits and the requirements is not looked at.",
    };
    paragraph(
        out,
        &format!(
            "effect: how far the expected {reward} goes up and down when an action goes through its range, or a parent through what \
             was seen of it with this arrow alone passing it on; all else as recommended. The bounds hold it with a \
             probability of 90 %.{beyond}"
        ),
        width,
    )?;
    if effects.unknown.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "{}", styled(BOLD, &format!("What is to blame for what is not known of {reward} there")))?;
    let mut table = Table::new([("node", Left), ("share", Right)]);
    for (node, share) in effects.unknown.iter().take(SHOWN) {
        table.row([problem.nodes()[*node].name.clone(), format!("{:.1} %", 100.0 * share)]);
    }
    table.write(out, width)
}
