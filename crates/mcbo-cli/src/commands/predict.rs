//! `mcbo predict`: what the model expects of an intervention of one's own.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{Given, Intervention, MechanismKind, Network, Prediction, Problem};

use crate::cli::Predict;
use crate::console::{BOLD, Console, styled};
use crate::exit::ExitCode;
use crate::table::{self, paragraph};
use crate::{assignment, describe, show, store};
use mcbo_report::predict::row;

/// Fits the model and prints what it expects.
pub fn run(arguments: &Predict) -> Result<ExitCode> {
    // What is given is understood before anything is opened.
    let named = assignment::texts(&arguments.doing, "dose=30")?;
    let study = store::study(&arguments.storage, &arguments.study)?.study()?;
    let problem = study.problem();
    let intervention = row(problem, named)?.intervention(problem)?;
    let given = assignment::given(problem, &arguments.given.given)?;
    let (prediction, network) =
        super::with_threads(arguments.threads, || Ok(study.predict_given(&intervention, &given)?))?;
    if arguments.json {
        let document =
            mcbo_report::predict::document(&arguments.study, problem, &intervention, &given, &prediction);
        super::write_line(&document)?;
    } else {
        let mut out = anstream::stdout().lock();
        write(&mut out, problem, &network, &given, &intervention, &prediction)?;
        out.flush()?;
    }
    let console = Console::new(arguments.storage.quiet);
    for warning in &prediction.warnings {
        console.warning(&warning.to_string());
    }
    Ok(ExitCode::SUCCESS)
}

/// What is done and what to expect of it.
fn write(
    out: &mut impl Write,
    problem: &Problem,
    network: &Network,
    given: &Given,
    intervention: &Intervention,
    prediction: &Prediction,
) -> io::Result<()> {
    let width = table::width();
    writeln!(out, "{}", styled(BOLD, "Intervention"))?;
    show::given(out, problem, given)?;
    show::levers(out, &describe::levers(problem), intervention)?;
    writeln!(out)?;
    show::outlooks(out, problem, intervention, given, &prediction.nodes, width)?;
    show::limits(out, problem, &prediction.limits, width)?;
    let absent =
        |node: &usize| network.kind(*node) == MechanismKind::Absent && intervention.target(*node).is_none();
    let absent = (0..problem.nodes().len()).filter(absent).map(|node| problem.nodes()[node].name.as_str());
    let absent: Vec<&str> = absent.collect();
    if !absent.is_empty() {
        let reward = describe::reward_name(problem);
        let depends = if problem.has_limits() {
            format!("neither {reward} nor a limit depends")
        } else {
            format!("{reward} does not depend")
        };
        let text = format!("Not learned, since {depends} on it: {}.", absent.join(", "));
        paragraph(out, &text, width)?;
    }
    Ok(())
}
