//! What the data say against the measurements, the formulas, and the assumption that the process stays as it is.
//!
//! Each check is a function of numbers alone. The rules are strict: who is warned for nothing does not read the next warning.
//! How often they are wrong was measured, see `tests/suspicion.rs`.

use serde::{Deserialize, Serialize};

use crate::{Data, Noise, Problem};

use super::{Network, input_names, slot_name};

/// Something in the data that does not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Suspicion {
    /// The last trials lie to one side of what all others let expect.
    #[error(
        "{node}: the last {LAST} trials with it ({first} to {last}) lie {} what the other trials let expect, by {} on average; hint: the process may have drifted: look for what has changed since trial {first}",
        side(*.by), digits(.by.abs())
    )]
    Drift {
        /// The node or component.
        node: String,
        /// The number of the first of these trials.
        first: usize,
        /// The number of the last one.
        last: usize,
        /// By how much they miss what was expected on average, in the user's units.
        by: f64,
    },
    /// The values of a node contradict its formula.
    #[error(
        "{node}: its {rows} values contradict its formula: {fault}; hint: check the formula and the units, declare more noise, or leave the formula out and let it be learned"
    )]
    Formula {
        /// The node or component.
        node: String,
        /// How many values there are.
        rows: usize,
        /// In which way.
        fault: FormulaFault,
    },
    /// One value is far outside all others.
    #[error(
        "{node}: {value} in trial {trial} is far outside all its other values ({} to {}); hint: look for a slip of the pen, another unit or a broken instrument: the model learns from it as from any other",
        digits(*.low), digits(*.high)
    )]
    FarOff {
        /// The node or component.
        node: String,
        /// The number of the trial.
        trial: usize,
        /// The value.
        value: f64,
        /// The least of all others.
        low: f64,
        /// The greatest of all others.
        high: f64,
    },
}

/// In which way values contradict a formula.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FormulaFault {
    /// They scatter more than the noise that is declared.
    #[error("they miss it by {} (root mean square), its noise is declared as {}", digits(*.deviation), digits(*.declared))]
    Scatter {
        /// Root mean square of the differences.
        deviation: f64,
        /// Standard deviation of the noise.
        declared: f64,
    },
    /// They lie to one side of it.
    #[error("on average they lie {} {} it, {:.0} standard errors", digits(.mean.abs()), side(*.mean), .errors.abs())]
    Offset {
        /// The mean difference.
        mean: f64,
        /// The same in standard errors.
        errors: f64,
    },
    /// What it leaves over follows an input.
    #[error("what it leaves over follows {input} (correlation {correlation:.2})")]
    Follows {
        /// The input, its square, or the formula itself.
        input: String,
        /// The correlation of the differences with it.
        correlation: f64,
    },
}

fn side(by: f64) -> &'static str {
    if by > 0.0 { "above" } else { "below" }
}

/// A number in four digits.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&size) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.*}", (3 - size).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Trials that are compared with those before them.
const LAST: usize = 10;
/// Of them, so many must lie on one side.
const ONE_SIDED: usize = 9;
/// Trials that must stand before them.
const BEFORE: usize = 10;
/// Standard errors that the means of both must differ by.
const APART: f64 = 5.0;

/// Rows from which a formula is judged by a noise that is declared, and by one that is learned.
const ROWS_DECLARED: usize = 5;
const ROWS_LEARNED: usize = 10;
/// How many times the declared noise the differences may be.
const TIMES: f64 = 3.0;
/// Share of the values' own deviation that a formula without noise may miss them by: they are told in a few digits.
const ROUNDING: f64 = 0.05;
/// Standard errors of a mean difference, of a declared and of a learned noise, and of a correlation after Fisher.
const ERRORS_DECLARED: f64 = 4.0;
const ERRORS_LEARNED: f64 = 6.0;
const ERRORS_CORRELATION: f64 = 4.5;

/// Values from which one of them can be far off.
const VALUES: usize = 8;
/// Median deviations from the median that it must be apart.
const MEDIAN_DEVIATIONS: f64 = 8.0;
/// Ranges of all others that it must be apart from the nearest of them, while there are few values and later: a mechanism that is
/// a product of many factors, or an exponential, gives one value far off by itself now and then.
const RANGES: [f64; 2] = [5.0, 3.0];
const FEW: usize = 15;

/// Everything in the data that does not fit, of the nodes that a network has.
pub(crate) fn suspicions(problem: &Problem, data: &Data, network: &Network) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for &node in problem.graph().order() {
        if network.nodes[node].is_none() || problem.nodes()[node].is_choice() {
            continue;
        }
        found.extend(far_off(problem, data, node));
        found.extend(contradictions(problem, data, node));
        found.extend(drifts(problem, data, network, node));
    }
    found
}

/// What a trial missed its expectation by.
#[derive(Debug, Clone, Copy)]
struct Residual {
    /// The place of the trial in the data.
    place: usize,
    /// In the user's units.
    raw: f64,
    /// In standard deviations, or in any unit that is the same for all.
    scaled: f64,
}

/// Drifts of every component of a node: each trial is compared with what the others, or the formula, let expect.
fn drifts(problem: &Problem, data: &Data, network: &Network, node: usize) -> Vec<Suspicion> {
    let components: Vec<Vec<Residual>> = match &problem.nodes()[node].formula {
        Some(_) => residuals(problem, data, node).into_iter().map(|rows| rows.residuals).collect(),
        None => {
            let residual = |row: &super::LeftOutRow| Residual {
                place: row.place,
                raw: row.value - row.mean,
                scaled: (row.value - row.mean) / row.deviation,
            };
            let rows = network.left_out(problem, data, node);
            rows.iter().map(|rows| rows.iter().map(residual).collect()).collect()
        }
    };
    let drift = |(component, rows): (usize, &Vec<Residual>)| {
        let scaled: Vec<f64> = rows.iter().map(|row| row.scaled).collect();
        if !is_drift(&scaled) {
            return None;
        }
        let last = &rows[rows.len() - LAST..];
        let by = last.iter().map(|row| row.raw).sum::<f64>() / LAST as f64;
        let number = |row: &Residual| data.number(row.place);
        let node = slot_name(problem, node, component);
        Some(Suspicion::Drift { node, first: number(&last[0]), last: number(&last[LAST - 1]), by })
    };
    components.iter().enumerate().filter_map(drift).filter(is_finite).collect()
}

/// Whether the last of some residuals have moved away from those before them: nearly all of them lie on one side of zero, and
/// the two means are `APART` standard errors apart, by the scatter that both have around their own mean.
fn is_drift(residuals: &[f64]) -> bool {
    if residuals.len() < LAST + BEFORE || !residuals.iter().all(|residual| residual.is_finite()) {
        return false;
    }
    let (before, last) = residuals.split_at(residuals.len() - LAST);
    let (was, is) = (mean(before), mean(last));
    let one_sided = last.iter().filter(|residual| **residual * is > 0.0).count();
    let scatter = squares(before, was) + squares(last, is);
    let variance = scatter / (residuals.len() - 2) as f64;
    let error = (variance * (1.0 / before.len() as f64 + 1.0 / LAST as f64)).sqrt();
    one_sided >= ONE_SIDED && (is - was) * is > 0.0 && (is - was).abs() > APART * error
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(super) fn squares(values: &[f64], around: f64) -> f64 {
    values.iter().map(|value| (value - around).powi(2)).sum()
}

/// The rows of one component of a formula node.
struct FormulaRows {
    residuals: Vec<Residual>,
    inputs: Vec<Vec<f64>>,
    given: Vec<f64>,
    values: Vec<f64>,
}

/// What every component of a formula node misses its formula by; rows for which it has no value are left out.
fn residuals(problem: &Problem, data: &Data, node: usize) -> Vec<FormulaRows> {
    let formulas = problem.nodes()[node].formula.iter().flatten().enumerate();
    let missed = |(component, formula): (usize, &crate::Expr)| {
        let mut rows =
            FormulaRows { residuals: Vec::new(), inputs: Vec::new(), given: Vec::new(), values: Vec::new() };
        for (place, inputs, value) in data.placed_rows(problem, node, component) {
            let given = formula.eval(&inputs);
            let raw = value - given;
            if raw.is_finite() {
                rows.residuals.push(Residual { place, raw, scaled: raw });
                rows.inputs.push(inputs);
                rows.given.push(given);
                rows.values.push(value);
            }
        }
        rows
    };
    formulas.map(missed).collect()
}

/// Formulas of a node that its values contradict, by component.
fn contradictions(problem: &Problem, data: &Data, node: usize) -> Vec<Suspicion> {
    let names = input_names(problem, node);
    let noise = problem.nodes()[node].noise;
    let suspicion = |(component, rows): (usize, FormulaRows)| {
        let fault = contradiction(&rows, &names, noise)?;
        let node = slot_name(problem, node, component);
        Some(Suspicion::Formula { node, rows: rows.residuals.len(), fault })
    };
    residuals(problem, data, node).into_iter().enumerate().filter_map(suspicion).filter(is_finite).collect()
}

/// In which way the rows of a formula contradict it, if they do; the plainest way first.
fn contradiction(rows: &FormulaRows, names: &[String], noise: Noise) -> Option<FormulaFault> {
    let count = rows.residuals.len();
    if count < ROWS_DECLARED {
        return None;
    }
    let raw: Vec<f64> = rows.residuals.iter().map(|residual| residual.raw).collect();
    let own = (squares(&rows.values, mean(&rows.values)) / (count - 1) as f64).sqrt();
    let (centre, declared, allowed) = match noise {
        Noise::None => (0.0, Some(0.0), ROUNDING * own),
        Noise::Gaussian(deviation) => (0.0, Some(deviation), TIMES * deviation),
        Noise::Uniform([low, high]) => {
            let deviation = (high - low) / 12.0_f64.sqrt();
            (0.5 * (low + high), Some(deviation), TIMES * deviation)
        }
        Noise::Learn | Noise::Names(_) => (0.0, None, f64::INFINITY),
    };
    let deviation = (squares(&raw, centre) / count as f64).sqrt();
    // What remains when numbers are rounded is no contradiction.
    let size = rows.values.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    if deviation <= 1e-9 * size {
        return None;
    }
    if let Some(declared) = declared
        && deviation > allowed
    {
        return Some(FormulaFault::Scatter { deviation, declared });
    }
    let off = mean(&raw) - centre;
    let scatter = (squares(&raw, mean(&raw)) / (count - 1) as f64).sqrt();
    let (error, most) = match declared {
        Some(declared) if declared > 0.0 => (declared, ERRORS_DECLARED),
        // Digits that were not told are no noise, and lie to one side as they like.
        Some(_) => return None,
        None if count >= ROWS_LEARNED => (scatter, ERRORS_LEARNED),
        None => return None,
    };
    let errors = off / (error / (count as f64).sqrt());
    if errors.abs() > most && errors.is_finite() {
        return Some(FormulaFault::Offset { mean: off, errors });
    }
    follows(rows, names, &raw)
}

/// What the residuals follow most: an input, its square, or the formula's own values.
fn follows(rows: &FormulaRows, names: &[String], raw: &[f64]) -> Option<FormulaFault> {
    if raw.len() < ROWS_LEARNED {
        return None;
    }
    let mut candidates = vec![("the formula's own value".to_owned(), rows.given.clone())];
    for (k, name) in names.iter().enumerate() {
        let column: Vec<f64> = rows.inputs.iter().map(|inputs| inputs[k]).collect();
        let middle = mean(&column);
        let square = column.iter().map(|x| (x - middle).powi(2)).collect();
        candidates.extend([(name.clone(), column), (format!("the square of {name}"), square)]);
    }
    let tested = candidates.into_iter().filter_map(|(name, column)| {
        let correlation = correlation(&column, raw)?;
        // Fisher: the area tangent of a correlation of nothing is normal with this deviation.
        let errors = correlation.abs().atanh() * (raw.len() as f64 - 3.0).sqrt();
        (errors > ERRORS_CORRELATION).then_some((name, correlation))
    });
    let most = tested.reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best });
    most.map(|(input, correlation)| FormulaFault::Follows { input, correlation })
}

pub(super) fn correlation(xs: &[f64], ys: &[f64]) -> Option<f64> {
    let (x, y) = (mean(xs), mean(ys));
    let both: f64 = xs.iter().zip(ys).map(|(a, b)| (a - x) * (b - y)).sum();
    let size = (squares(xs, x) * squares(ys, y)).sqrt();
    (size > 0.0 && size.is_finite()).then(|| (both / size).clamp(-1.0, 1.0))
}

/// Values of a node, by component, that are far outside all others. Trials in which it was set do not count.
fn far_off(problem: &Problem, data: &Data, node: usize) -> Vec<Suspicion> {
    let suspicion = |component: usize| {
        let slot = problem.slot(node).start + component;
        let measured = data.observations().iter().enumerate().filter_map(|(place, observation)| {
            let free = observation.intervention.target(node).is_none();
            observation.values[slot].filter(|_| free).map(|value| (place, value))
        });
        let (places, values): (Vec<usize>, Vec<f64>) = measured.unzip();
        let (at, [low, high]) = most_apart(&values)?;
        if is_outermost(problem, data, node, component, places[at]) {
            return None;
        }
        let (node, trial) = (slot_name(problem, node, component), data.number(places[at]));
        Some(Suspicion::FarOff { node, trial, value: values[at], low, high })
    };
    (0..problem.nodes()[node].dim).filter_map(suspicion).filter(is_finite).collect()
}

/// Whether a trial is the outermost in an input of a node: then that may be why its value is far off, and nothing is said.
fn is_outermost(problem: &Problem, data: &Data, node: usize, component: usize, place: usize) -> bool {
    let rows: Vec<(usize, Vec<f64>, f64)> = data.placed_rows(problem, node, component).collect();
    let Some((_, own, _)) = rows.iter().find(|(other, ..)| *other == place) else { return false };
    let among = |(k, x): (usize, &f64)| {
        let others = || rows.iter().filter(|(other, ..)| *other != place).map(|(_, inputs, _)| inputs[k]);
        others().any(|other| other <= *x) && others().any(|other| other >= *x)
    };
    !own.iter().enumerate().all(among)
}

/// The place of a value that is far outside all others, with the range of those: more than `MEDIAN_DEVIATIONS` median absolute
/// deviations from the median, and `RANGES` times farther from the nearest of the others than they are from one another.
fn most_apart(values: &[f64]) -> Option<(usize, [f64; 2])> {
    if values.len() < VALUES {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let last = order.len() - 1;
    let value = |rank: usize| values[order[rank]];
    let up = value(last) - value(last - 1) > value(1) - value(0);
    let (at, low, high) = if up { (last, 0, last - 1) } else { (0, 1, last) };
    let gap = (value(at) - value(if up { high } else { low })).abs();
    let range = value(high) - value(low);
    let median = median(values.to_vec());
    let deviation = self::median(values.iter().map(|value| (value - median).abs()).collect());
    let ranges = RANGES[usize::from(values.len() >= FEW)];
    let far = (value(at) - median).abs() > MEDIAN_DEVIATIONS * deviation && gap > ranges * range;
    // Where all others are the same there is no scale to be far off by.
    (far && range > 0.0).then(|| (order[at], [value(low), value(high)]))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { 0.5 * (values[middle - 1] + values[middle]) }
}

/// Suspicions are written down as JSON, which has no word for what is not finite.
fn is_finite(suspicion: &Suspicion) -> bool {
    let numbers = match suspicion {
        Suspicion::Drift { by, .. } => vec![*by],
        Suspicion::Formula { fault: FormulaFault::Scatter { deviation, declared }, .. } => {
            vec![*deviation, *declared]
        }
        Suspicion::Formula { fault: FormulaFault::Offset { mean, errors }, .. } => vec![*mean, *errors],
        Suspicion::Formula { fault: FormulaFault::Follows { correlation, .. }, .. } => vec![*correlation],
        Suspicion::FarOff { value, low, high, .. } => vec![*value, *low, *high],
    };
    numbers.iter().all(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;

    fn chance(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..count).map(|_| StandardNormal.sample(&mut rng)).collect()
    }

    /// Looked at after each of 40 trials: fewer than 1 % of 2000 studies without a drift are ever suspected of one, and most
    /// of those in which the last ten moved by three deviations are.
    #[test]
    fn drifts_are_rarely_seen_where_there_is_none() {
        let (mut alarms, mut seen) = (0, 0);
        for seed in 0..2000 {
            let mut residuals = chance(60, seed);
            alarms += usize::from((20..=60).any(|trials| is_drift(&residuals[..trials])));
            residuals[50..].iter_mut().for_each(|residual| *residual -= 3.0);
            seen += usize::from(is_drift(&residuals));
        }
        assert!(alarms < 20 && seen > 1900, "{alarms} and {seen} of 2000");
        assert!(!is_drift(&[0.0; 30]) && !is_drift(&[f64::NAN; 30]));
    }

    #[test]
    fn one_value_far_off_has_a_scale_to_be_far_off_by() {
        let mut values = chance(20, 1);
        assert_eq!(most_apart(&values), None);
        values[7] = -40.0;
        let (at, [low, high]) = most_apart(&values).expect("it is far off");
        assert!(at == 7 && low > -4.0 && high < 4.0, "{at} {low} {high}");
        // Two that agree are no slip; among a few values more is asked for.
        values[8] = -39.0;
        assert_eq!(most_apart(&values), None);
        assert_eq!(most_apart(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]), None);
        assert_eq!(most_apart(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 100.0]), None);
        assert!(most_apart(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 100.0]).is_some());
        assert_eq!(most_apart(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 35.0]), None);
    }
}
