//! `mcbo check`: what a problem file says, or what is wrong with it.

use std::io::{self, Write};

use anyhow::Result;
use mcbo_core::{ENUMERATION_LIMIT, Problem};

use crate::cli::Check;
use crate::console::{BOLD, Console, styled};
use crate::exit::ExitCode;
use crate::failure::BadFile;
use crate::table::{self, Align, Table, paragraph};
use crate::{describe, problem};
use mcbo_report::check::{self, kind, names, readers};
use mcbo_report::sets::Sets;

/// More sets than this are not listed in a table.
const MOST_SETS: usize = 64;

/// Checks the file and prints what it says.
pub fn run(arguments: &Check) -> Result<ExitCode> {
    let problem = match problem::read(&arguments.file) {
        Ok(problem) => problem,
        Err(error) => {
            if let (true, Some(bad)) = (arguments.json, error.downcast_ref::<BadFile>()) {
                writeln!(io::stdout(), "{}", check::mistakes(bad))?;
            }
            return Err(error);
        }
    };
    if arguments.json {
        writeln!(io::stdout(), "{}", check::document(&problem))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = anstream::stdout().lock();
    print(&mut out, &problem, table::width())?;
    out.flush()?;
    let console = Console::new(false);
    for warning in problem.warnings() {
        console.warning(&warning.to_string());
    }
    let file = &arguments.file;
    console.note(&match problem.simulator() {
        _ if file == problem::STDIN => "\nThe problem is valid.".into(),
        Some(_) => format!("\n{file} is valid. Next: mcbo run {file}"),
        None => {
            format!("\n{file} is valid. It has no [simulator]. Next: mcbo run {file} --exec 'YOUR PROGRAM'")
        }
    });
    Ok(ExitCode::SUCCESS)
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

fn print(out: &mut impl Write, problem: &Problem, width: usize) -> io::Result<()> {
    let counts = [
        describe::count(problem.nodes().len(), "node"),
        describe::count(problem.actions().len(), "action"),
        format!("{} that can be set", describe::count(problem.settable().len(), "node")),
    ];
    writeln!(out, "{}: {}", styled(BOLD, problem.name()), describe::objective(problem))?;
    writeln!(out, "{}\n", counts.join(", "))?;
    print_nodes(out, problem, width)?;
    print_limits(out, problem, width)?;
    if !problem.actions().is_empty() {
        writeln!(out)?;
        print_actions(out, problem, width)?;
    }
    writeln!(out)?;
    print_sets(out, problem, width)
}

fn print_nodes(out: &mut impl Write, problem: &Problem, width: usize) -> io::Result<()> {
    use Align::Left;
    let settable = !problem.settable().is_empty();
    let acting = !problem.actions().is_empty();
    let mut columns = vec![("node", Left), ("parents", Left)];
    columns.extend(acting.then_some(("actions", Left)));
    columns.extend([("kind", Left), ("noise", Left)]);
    columns.extend(settable.then_some(("do", Left)));
    let costs = problem.nodes().iter().any(|node| node.cost.is_some());
    columns.extend(costs.then_some(("cost", Left)));
    let mut table = Table::new(columns);
    for &index in problem.graph().order() {
        let node = &problem.nodes()[index];
        let mut name = describe::with_unit(&node.name, node.unit.as_deref());
        if node.dim > 1 {
            name.push_str(&format!(" ({} values)", node.dim));
        }
        let parents = names(&node.parents, |parent| &problem.nodes()[parent].name).join(", ");
        let actions = names(&node.actions, |action| &problem.actions()[action].name).join(", ");
        let mut row = vec![name, or_dash(parents)];
        row.extend(acting.then(|| or_dash(actions)));
        let reward = if index == problem.reward() { ", reward" } else { "" };
        let known = if node.context { ", known before deciding" } else { "" };
        let (kind, noise) = match node.is_choice() {
            true => {
                let how = if node.is_caused_choice() { format!("{}, ", kind(node)) } else { String::new() };
                (format!("{how}one of {}", node.choices.join(", ")), "-".into())
            }
            false => (kind(node).to_owned(), describe::noise(node.noise)),
        };
        row.extend([format!("{kind}{reward}{known}"), noise]);
        row.extend(settable.then(|| {
            let values = |(component, range): (usize, &[f64; 2])| {
                let grid = node.grid.as_ref().map(|grids| &grids[component]);
                let values = describe::values(*range, grid, &node.choices, mcbo_core::Scale::Linear);
                with_retired(values, &node.retired())
            };
            let ranges: Vec<String> = node.hard.iter().flatten().enumerate().map(values).collect();
            let same = ranges.windows(2).all(|pair| pair[0] == pair[1]);
            or_dash(if same { ranges.into_iter().next().unwrap_or_default() } else { ranges.join("; ") })
        }));
        row.extend(costs.then(|| or_dash(node.cost.map(describe::cost).unwrap_or_default())));
        table.row(row);
    }
    table.write(out, width)
}

/// What outcomes are to keep.
fn print_limits(out: &mut impl Write, problem: &Problem, width: usize) -> io::Result<()> {
    for node in problem.limited() {
        let node = &problem.nodes()[node];
        let Some(limit) = describe::limit(node) else { continue };
        paragraph(out, &format!("Limit: a single outcome of {} is to be {limit}.", node.name), width)?;
    }
    Ok(())
}

fn print_actions(out: &mut impl Write, problem: &Problem, width: usize) -> io::Result<()> {
    use Align::{Left, Right};
    let plain = problem.actions().iter().all(|action| action.grid.is_none());
    let values = if plain { "range" } else { "values" };
    let costs = problem.actions().iter().any(|action| action.cost.is_some());
    let mut columns = vec![("action", Left), (values, Left), ("neutral", Right), ("acts on", Left)];
    columns.extend(costs.then_some(("cost", Left)));
    let mut table = Table::new(columns);
    for (index, action) in problem.actions().iter().enumerate() {
        let on = names(&readers(problem, index), |node| &problem.nodes()[node].name).join(", ");
        let name = describe::with_unit(&action.name, action.unit.as_deref());
        let values = describe::values(action.range, action.grid.as_ref(), &action.choices, action.scale);
        let values = with_retired(values, &action.retired());
        let mut row = vec![name, values, describe::chosen_value(problem, &action.name, action.neutral), on];
        row.extend(costs.then(|| or_dash(action.cost.map(describe::cost).unwrap_or_default())));
        table.row(row);
    }
    table.write(out, width)?;
    if problem.requirements().is_empty() {
        return Ok(());
    }
    let texts: Vec<&str> = problem.requirements().iter().map(|one| one.text()).collect();
    paragraph(out, &format!("Required in every trial: {}.", texts.join("; ")), width)
}

/// The values that can be chosen, with the names that are not proposed any more.
fn with_retired(values: String, retired: &[&str]) -> String {
    if retired.is_empty() { values } else { format!("{values} (retired: {})", retired.join(", ")) }
}

fn print_sets(out: &mut impl Write, problem: &Problem, width: usize) -> io::Result<()> {
    use Align::Left;
    let sets = Sets::of(problem, MOST_SETS);
    if problem.settable().is_empty() {
        paragraph(out, "Target sets: only {}, because no node has a `do` range.", width)?;
    } else {
        let mut table = Table::new([("target set", Left), ("minimal", Left), ("used", Left)]);
        for set in &sets.listed {
            let minimal = match &set.core {
                None => "yes".into(),
                Some(core) => format!("no, same as {}", describe::set(problem, core)),
            };
            let used = if set.used { "yes".into() } else { set.why_unused(problem) };
            table.row([describe::set(problem, &set.targets), minimal, used]);
        }
        if !sets.listed.is_empty() {
            table.write(out, width)?;
        }
        if let Some(left_out) = &sets.left_out {
            paragraph(out, &left_out.sentence(), width)?;
        }
    }
    if let Some(limit) = problem.max_interventions() {
        let most = describe::count(limit, "intervention");
        let text = format!("At most {most} per trial: nodes that are set and actions that are not neutral.");
        paragraph(out, &text, width)?;
    }
    let ways = match problem.choices().map(<[_]>::len) {
        Some(1) => "One way to intervene; every trial chooses the values of all actions.".into(),
        Some(count) => format!("{count} ways to intervene; every trial chooses one of them and its values."),
        None => format!("More than {ENUMERATION_LIMIT} ways to intervene; they are searched, not listed."),
    };
    paragraph(out, &ways, width)
}
