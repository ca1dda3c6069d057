//! Interventions, expectations and bounds, for people.

use std::io::{self, Write};

use mcbo_core::{Certificate, Direction, Forecast, Given, Intervention, Outlook, Problem};

use crate::console::{BOLD, DIM, styled};
use crate::describe::{self, Lever};
use crate::number::{Format, plain};
use crate::table::{Align, Table, paragraph};

/// The heading of bounds on expected values. They are not of single outcomes.
pub const BOUNDS: &str = "its 90 % bounds";

/// A line per thing that can be chosen, with its value and its range.
///
/// # Errors
/// If it cannot be written.
pub fn levers(out: &mut impl Write, levers: &[Lever], intervention: &Intervention) -> io::Result<()> {
    let shown: Vec<Option<String>> = levers.iter().map(|lever| lever.shown(intervention)).collect();
    let label_width = levers.iter().map(|lever| lever.label.chars().count()).max().unwrap_or(0);
    let value_width = shown.iter().flatten().map(String::len).max().unwrap_or(1);
    for (lever, shown) in levers.iter().zip(shown) {
        let (value, note) = match (shown, lever.neutral) {
            (Some(value), _) => (value, describe::in_unit(lever.values(), lever.unit.as_deref())),
            (None, Some(neutral)) => {
                let neutral = describe::in_unit(plain(neutral), lever.unit.as_deref());
                ("-".into(), format!("left neutral at {neutral}"))
            }
            (None, None) => ("-".into(), "not set".into()),
        };
        writeln!(out, "  {:<label_width$}  {value:>value_width$}  {}", lever.label, styled(DIM, &note))?;
    }
    Ok(())
}

/// What is known of the contexts, a line each.
///
/// # Errors
/// If it cannot be written.
pub fn given(out: &mut impl Write, problem: &Problem, given: &Given) -> io::Result<()> {
    for known in describe::given(problem, given) {
        writeln!(out, "  {}  {known}", styled(DIM, "given"))?;
    }
    Ok(())
}

/// How probable it is that the limits are kept.
///
/// # Errors
/// If it cannot be written.
pub fn limits(
    out: &mut impl Write,
    problem: &Problem,
    limits: &[mcbo_core::Keeping],
    width: usize,
) -> io::Result<()> {
    if limits.is_empty() {
        return Ok(());
    }
    let mut table =
        Table::new([("limit", Align::Left), ("kept with", Align::Right), ("wanted", Align::Right)]);
    for keeping in limits {
        let [probability, wanted] = [keeping.probability, keeping.wanted].map(describe::percent);
        table.row([describe::limited(problem, keeping.node), probability, wanted]);
    }
    table.write(out, width)?;
    writeln!(out)
}

/// How to write a forecast, and its cells: name, expected value and bounds.
fn cells(problem: &Problem, forecast: &Forecast) -> (Format, [String; 3]) {
    let Forecast { node, component, mean, lower, upper, .. } = forecast;
    // A hundredth of what is not known is fine enough.
    let band = 10.0 * (upper - lower);
    let format = if band > 0.0 { Format::of_range([0.0, band]) } else { Format::of_values([*mean]) };
    let bounds = format!("{} to {}", format.show(*lower), format.show(*upper));
    (format, [describe::measured(problem, *node, *component), format.show(*mean), bounds])
}

/// A table of what the model expects of every node, on average and in a single trial.
///
/// # Errors
/// If it cannot be written.
pub fn outlooks(
    out: &mut impl Write,
    problem: &Problem,
    intervention: &Intervention,
    given: &Given,
    outlooks: &[Outlook],
    width: usize,
) -> io::Result<()> {
    use Align::{Left, Right};
    let mut table =
        Table::new([("node", Left), ("expected", Right), (BOUNDS, Left), ("a single outcome", Left)]);
    for Outlook { forecast, outcome: [low, high], .. } in outlooks {
        let (format, [name, mean, bounds]) = cells(problem, forecast);
        if intervention.target(forecast.node).is_some() {
            table.row([name, mean, "set".into(), "set".into()]);
        } else if given.of(forecast.node).is_some() {
            table.row([name, mean, "given".into(), "given".into()]);
        } else {
            let single = match problem.nodes()[forecast.node].is_choice() {
                true if low < high => "may come or not".into(),
                true if *high > 0.0 => "comes".into(),
                true => "does not come".into(),
                false => format!("{} to {}", format.show(*low), format.show(*high)),
            };
            table.row([name, mean, bounds, single]);
        }
    }
    table.write(out, width)?;
    paragraph(
        out,
        "The expected value lies within its bounds with a probability of 90 %, and a single measurement within its range: that \
         has the noise in it.",
        width,
    )
}

/// A table of what the model expects of every node, and what its bounds are of.
///
/// # Errors
/// If it cannot be written.
pub fn forecasts(
    out: &mut impl Write,
    problem: &Problem,
    forecasts: &[Forecast],
    width: usize,
) -> io::Result<()> {
    let mut table = Table::new([("node", Align::Left), ("expected", Align::Right), (BOUNDS, Align::Left)]);
    for forecast in forecasts {
        table.row(cells(problem, forecast).1);
    }
    table.write(out, width)?;
    let single =
        if describe::is_noisy(problem) { "; a single outcome scatters around it by its noise" } else { "" };
    paragraph(
        out,
        &format!("The expected value lies within its bounds with a probability of 90 %{single}."),
        width,
    )
}

/// How much can still be gained, and what that relies on.
///
/// # Errors
/// If it cannot be written.
pub fn certificate(
    out: &mut impl Write,
    problem: &Problem,
    certificate: &Certificate,
    format: Format,
    width: usize,
) -> io::Result<()> {
    if !certificate.gap().is_finite() {
        writeln!(out, "{}", styled(BOLD, "What may be left to gain"))?;
        let text = "Nothing can be said yet: a node was never measured together with its parents, or a formula has no \
                    value for some of what may happen.";
        return paragraph(out, text, width);
    }
    let shown = |amount: f64| describe::of_reward(problem, format.show(amount));
    let value = |reward: f64| shown(problem.sign() * reward);
    let (more, least) = match problem.direction() {
        Direction::Maximize => ("more", "least"),
        Direction::Minimize => ("less", "most"),
    };
    let (node, band) = (describe::reward_name(problem), plain(certificate.width));
    let (upper, lower, gap) = (value(certificate.upper), value(certificate.lower), shown(certificate.gap()));
    let breaking = match problem.has_limits() {
        true => {
            " Interventions that break a limit are counted too: what may be gained within the limits can only be less."
        }
        false => "",
    };
    writeln!(out, "{}", styled(BOLD, "What may be left to gain"))?;
    paragraph(
        out,
        &format!(
            "At most {gap}: no intervention gives {more} than {node} = {upper} on average, and the recommended one gives \
             at {least} {lower}. That holds as long as every mechanism lies within {band} standard deviations of what \
             the model expects of it, the graph lacks no arrow and no common cause, and the noise is as the model has \
             it. Both bounds come from a search that looks in many places but proves nothing.{breaking}"
        ),
        width,
    )
}
