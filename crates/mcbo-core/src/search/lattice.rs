//! The search where not every point is allowed: variables with steps, choices, and requirements between actions.
//!
//! What is proposed is chosen by its value among allowed points, never by rounding what a search found that did not know of them.
//! Where the values of the variables with few values combine in few ways, every combination is climbed by itself; where they are
//! many, places that climbs reach with steps taken for ranges are moved to the grid, and single values are exchanged while that
//! helps. The other variables climb again after every exchange.

use mcbo_gp::optimize::{Minimizer, StopRule};

use crate::acquisition::Acquisition;
use crate::decision::{DecisionSpace, Moving};
use crate::network::{Plan, Workspace};
use crate::problem::Projection;

use super::affordable;
use super::climb::{AscentBudget, Scored, by_value, lock_step, score};

/// Combinations that are all climbed.
const FEW: usize = 64;
/// Starts of every combination.
const EACH: usize = 2;
/// Places that values are exchanged from.
const EXCHANGED: usize = 6;
/// Combinations of names that are all begun from.
const COMBINATIONS: usize = 16;
/// Exchanges in a row, at the most, and how many of them there are usually.
const EXCHANGES: usize = 24;
const USUALLY: usize = 6;
/// Exchanges that are looked at in any case, however expensive they are.
const LEAST: usize = 16;
/// The best exchanges, from which the other variables climb so many evaluations before one is taken.
const LOOKED_AT: usize = 3;
const LOOKS: usize = 8;
/// Finalists at the least: they have different values.
const FINALISTS: usize = 4;
/// With more values than this only some neighbours are exchanged.
const MANY: usize = 16;
const NEIGHBOURS: [usize; 4] = [1, 2, 4, 8];
/// Climbs in a row where something is required: one that has left the allowed part along a border cannot come back by itself.
const PASSES: usize = 2;

/// Climbs from every start to allowed points; the best places, best first. None where nothing is allowed.
pub(super) fn climb(
    coarse: &dyn Acquisition,
    fine: Option<&dyn Acquisition>,
    starts: Vec<Scored>,
    stages: AscentBudget,
) -> Vec<Scored> {
    let space = coarse.space();
    let starts = score(coarse, allowed(space, starts.into_iter().map(|start| start.point)));
    let combinations =
        space.grids().try_fold(1_usize, |product, (_, grid)| product.checked_mul(grid.count()));
    let mut places = match combinations {
        // One start is a place to go up from, several are a search.
        Some(count) if count <= FEW && starts.len() > 1 => every(coarse, starts, stages.first),
        _ => exchanged(coarse, starts, stages.first),
    };
    places.sort_by(by_value);
    places.truncate(stages.finalists.max(FINALISTS));
    let points = places.into_iter().map(|place| place.point).collect();
    let mut reached = ascend(fine.unwrap_or(coarse), Moving::Continuous, points, stages.second);
    reached.sort_by(by_value);
    reached
}

/// The points moved to where they are allowed, without those that cannot be; each once.
fn allowed(space: &DecisionSpace, points: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for mut point in points {
        if space.allow(&mut point) && !found.contains(&point) {
            found.push(point);
        }
    }
    found
}

/// Climbs from every point with some variables held; the places reached, in the order of the points.
fn ascend(
    acquisition: &dyn Acquisition,
    moving: Moving,
    points: Vec<Vec<f64>>,
    evaluations: usize,
) -> Vec<Scored> {
    let space = acquisition.space();
    let (lower, upper) = acquisition.bounds();
    let bounds = |point: &[f64]| {
        let (mut low, mut high) = space.bounds_about(point, moving);
        low.extend_from_slice(&lower[space.dim()..]);
        high.extend_from_slice(&upper[space.dim()..]);
        (low, high)
    };
    if points.first().is_none_or(|point| bounds(point).0 == bounds(point).1) {
        return score(acquisition, points);
    }
    let kept = Kept { acquisition, moving };
    let required = !space.half_spaces().is_empty();
    let climbed: &dyn Acquisition = if required { &kept } else { acquisition };
    let rule = StopRule { evaluations, value_tolerance: 1e-8, gradient_tolerance: 0.0, first_step: 0.05 };
    let mut reached: Vec<Scored> = score(acquisition, points);
    for _ in 0..if required { PASSES } else { 1 } {
        let begin = |place: &Scored| {
            let (low, high) = bounds(&place.point);
            Minimizer::new(place.point.clone(), low, high, rule)
        };
        let mut searches: Vec<Minimizer> = reached.iter().map(begin).collect();
        lock_step(climbed, &mut searches);
        for (place, search) in reached.iter_mut().zip(&searches) {
            let (point, value) = search.best();
            let mut point = point.to_vec();
            if -value > place.value && space.keep(&mut point, moving).is_some() {
                *place = Scored { point, value: -value };
            }
        }
    }
    reached
}

/// The best place of every combination of values.
fn every(coarse: &dyn Acquisition, mut starts: Vec<Scored>, evaluations: usize) -> Vec<Scored> {
    let space = coarse.space();
    starts.sort_by(by_value);
    let grids: Vec<_> = space.grids().collect();
    let mut combinations: Vec<Vec<f64>> = vec![Vec::new()];
    for &(k, grid) in &grids {
        let units = (0..grid.count()).map(|place| space.variables()[k].grid_unit(grid, place));
        let units: Vec<f64> = units.collect();
        combinations =
            combinations.iter().flat_map(|c| units.iter().map(|&u| [&c[..], &[u]].concat())).collect();
    }
    let values = |point: &[f64]| grids.iter().map(|&(k, _)| point[k]).collect::<Vec<f64>>();
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    let mut points: Vec<Vec<f64>> = Vec::new();
    for combination in &combinations {
        // Its own starts, and the others' with its values in the place of theirs.
        let (own, others): (Vec<&Scored>, Vec<&Scored>) =
            starts.iter().partition(|start| close(&values(&start.point), combination));
        let moved = others.into_iter().filter_map(|start| {
            let mut point = start.point.clone();
            grids.iter().zip(combination).for_each(|(&(k, _), &unit)| point[k] = unit);
            space.keep(&mut point, Moving::Continuous).map(|_| point)
        });
        let most = if grids.is_empty() { usize::MAX } else { EACH };
        points.extend(own.into_iter().map(|start| start.point.clone()).chain(moved).take(most));
    }
    let mut reached = ascend(coarse, Moving::Continuous, points, evaluations);
    reached.sort_by(by_value);
    if grids.is_empty() {
        return reached;
    }
    let mut best: Vec<Scored> = Vec::new();
    for place in reached {
        if !best.iter().any(|other| close(&values(&other.point), &values(&place.point))) {
            best.push(place);
        }
    }
    best
}

/// The places that exchanges of single values lead to.
fn exchanged(coarse: &dyn Acquisition, starts: Vec<Scored>, evaluations: usize) -> Vec<Scored> {
    let space = coarse.space();
    let mut own: Vec<Vec<f64>> = starts.iter().map(|start| start.point.clone()).collect();
    let (most, looked_at) = if own.len() > 1 { (EXCHANGED, LOOKED_AT) } else { (1, 1) };
    if own.len() > 1 {
        own.extend(under_other_names(space, &own));
    }
    let relaxed = ascend(coarse, Moving::Numbers, own, evaluations);
    let points = relaxed.into_iter().chain(starts).map(|place| place.point);
    let mut places = score(coarse, allowed(space, points));
    places.sort_by(by_value);
    let apart = |a: &Scored, b: &Scored| space.grids().any(|(k, _)| (a.point[k] - b.point[k]).abs() > 1e-9);
    // First the best place under each combination of names, then others: with other names other numbers are best, and of two exchanges that
    // only help together neither is taken.
    let renamed = |a: &Scored, b: &Scored| names(space, &a.point) != names(space, &b.point);
    let mut best: Vec<Scored> = Vec::new();
    let mut others: Vec<Scored> = Vec::new();
    for place in places {
        let new = best.len() < most && best.iter().all(|other| renamed(other, &place));
        if new { best.push(place) } else { others.push(place) }
    }
    for place in others {
        if best.len() < most && best.iter().all(|other| apart(other, &place)) {
            best.push(place);
        }
    }
    let afford = affordable(coarse.cost(), USUALLY);
    let offered = best.first().map_or(0, |place| exchanges_of(space, &place.point).len()).max(1);
    best.truncate((afford / offered).max(1));
    let each = (afford / best.len().max(1)).max(LEAST);
    let mut ended: Vec<Scored> = Vec::new();
    for mut place in best {
        for _ in 0..EXCHANGES {
            let mut moved = exchange(coarse, &place, each);
            moved.sort_by(by_value);
            moved.truncate(looked_at);
            let points = moved.into_iter().map(|place| place.point).collect();
            let mut climbed = ascend(coarse, Moving::Continuous, points, LOOKS);
            climbed.sort_by(by_value);
            match climbed.into_iter().next() {
                Some(next) if next.value > place.value + 1e-9 * place.value.abs() => place = next,
                _ => break,
            }
        }
        if ended.iter().all(|other| apart(other, &place)) {
            ended.push(place);
        }
    }
    ended
}

/// Where a place comes to by single exchanges, `most` of them, and by those together that help one by one.
fn exchange(acquisition: &dyn Acquisition, place: &Scored, most: usize) -> Vec<Scored> {
    let space = acquisition.space();
    let mut offers = exchanges_of(space, &place.point);
    if offers.len() > most {
        offers = steepest(acquisition, &place.point, offers, most);
    }
    let offers: Vec<(Exchange, Vec<f64>)> = offers
        .into_iter()
        .filter_map(|exchange| moved(space, &place.point, &exchange).map(|point| (exchange, point)))
        .collect();
    let (exchanges, points): (Vec<Exchange>, Vec<Vec<f64>>) = offers.into_iter().unzip();
    let mut found = score(acquisition, points);
    let mut order: Vec<usize> = (0..found.len()).filter(|&i| found[i].value > place.value).collect();
    // The sort is stable: of equals the first stays first.
    order.sort_by(|&a, &b| by_value(&found[a], &found[b]));
    let mut all = Exchange::new();
    let mut together: Vec<Exchange> = Vec::new();
    for (count, i) in order.into_iter().enumerate() {
        if exchanges[i].iter().all(|(k, _)| all.iter().all(|(other, _)| other != k)) {
            all.extend(&exchanges[i]);
        }
        if count > 0 && (count + 1).is_power_of_two() {
            together.push(all.clone());
        }
    }
    together.push(all);
    together.dedup();
    let points = together.iter().filter(|exchange| exchange.len() > 1);
    found.extend(score(
        acquisition,
        points.filter_map(|exchange| moved(space, &place.point, exchange)).collect(),
    ));
    found
}

/// The exchanges that promise most by the slope of the acquisition at a point: all those of names, which have no slope, then steps uphill,
/// short ones before long ones.
fn steepest(
    acquisition: &dyn Acquisition,
    point: &[f64],
    offers: Vec<Exchange>,
    most: usize,
) -> Vec<Exchange> {
    let variables = acquisition.space().variables();
    let (mut values, mut slopes) = (Vec::new(), vec![0.0; point.len()]);
    acquisition.evaluate(point, &mut Workspace::default(), &mut values, &mut slopes);
    let shortest = |k: usize| {
        let lengths = offers.iter().filter_map(|exchange| match exchange[..] {
            [(other, unit)] if other == k => Some((unit - point[k]).abs()),
            _ => None,
        });
        lengths.fold(f64::INFINITY, f64::min)
    };
    let shortest: Vec<f64> = (0..variables.len()).map(shortest).collect();
    let promise = |exchange: &Exchange| {
        if exchange.iter().any(|&(k, _)| variables[k].named) {
            return f64::INFINITY;
        }
        let gain: f64 = exchange.iter().map(|&(k, unit)| slopes[k] * (unit - point[k])).sum();
        let steps = |&(k, unit): &(usize, f64)| (unit - point[k]).abs() / shortest[k];
        // What is gained by the slope, as if it fell off with the square of the distance.
        gain / exchange.iter().map(steps).fold(1.0, f64::max).powi(2)
    };
    let mut promised: Vec<(f64, Exchange)> =
        offers.iter().map(|exchange| (promise(exchange), exchange.clone())).collect();
    promised.sort_by(|a, b| b.0.total_cmp(&a.0));
    promised.truncate(most);
    promised.into_iter().map(|(_, exchange)| exchange).collect()
}

/// The names that a point stands for.
fn names(space: &DecisionSpace, point: &[f64]) -> Vec<usize> {
    let named = space.grids().filter(|(k, _)| space.variables()[*k].named);
    named.map(|(k, grid)| space.variables()[k].nearest(grid, point[k])).collect()
}

/// The first of some points under every combination of names that none of them has; none where the combinations are many.
fn under_other_names(space: &DecisionSpace, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let Some(first) = points.first() else { return Vec::new() };
    let mut missing = vec![first.clone()];
    for (k, grid) in space.grids().filter(|(k, _)| space.variables()[*k].named) {
        if missing.len() * grid.count() > COMBINATIONS {
            return Vec::new();
        }
        let units: Vec<f64> =
            (0..grid.count()).map(|place| space.variables()[k].grid_unit(grid, place)).collect();
        let renamed = |point: Vec<f64>| {
            let with = |&unit: &f64| {
                let mut point = point.clone();
                point[k] = unit;
                point
            };
            units.iter().map(with).collect::<Vec<_>>()
        };
        missing = missing.into_iter().flat_map(renamed).collect();
    }
    missing.retain(|point| points.iter().all(|other| names(space, other) != names(space, point)));
    missing
}

/// Variables that take other values, with the points of the unit interval that stand for them.
type Exchange = Vec<(usize, f64)>;

/// A point after an exchange, the continuous variables moved to keep to what is required; `None` if they cannot. What other names require
/// may take steps too.
fn moved(space: &DecisionSpace, point: &[f64], exchange: &Exchange) -> Option<Vec<f64>> {
    let mut moved = point.to_vec();
    exchange.iter().for_each(|&(k, unit)| moved[k] = unit);
    if space.keep(&mut moved, Moving::Continuous).is_some() {
        return Some(moved);
    }
    let renames = exchange.iter().any(|&(k, _)| space.variables()[k].named);
    let stays = |moved: &[f64]| exchange.iter().all(|&(k, unit)| (moved[k] - unit).abs() < 1e-9);
    (renames && space.allow(&mut moved) && stays(&moved)).then_some(moved)
}

/// Allowed points that differ from one in a single value, or in two that a requirement couples.
pub(crate) fn exchanges(space: &DecisionSpace, point: &[f64]) -> Vec<Vec<f64>> {
    exchanges_of(space, point).iter().filter_map(|exchange| moved(space, point, exchange)).collect()
}

/// Exchanges of a single value, and of two that a requirement couples: one up, the other down.
fn exchanges_of(space: &DecisionSpace, point: &[f64]) -> Vec<Exchange> {
    let variables = space.variables();
    let place = |k: usize, grid: &crate::Grid| variables[k].nearest(grid, point[k]);
    let mut found: Vec<Exchange> = Vec::new();
    let grids: Vec<_> = space.grids().collect();
    for &(k, grid) in &grids {
        let here = place(k, grid);
        let others: Vec<usize> = if variables[k].named || grid.count() <= MANY {
            (0..grid.count()).filter(|&other| other != here).collect()
        } else {
            let near = NEIGHBOURS.iter().flat_map(|by| [here.checked_sub(*by), here.checked_add(*by)]);
            near.flatten().filter(|&other| other < grid.count()).collect()
        };
        found.extend(others.into_iter().map(|other| vec![(k, variables[k].grid_unit(grid, other))]));
    }
    let coupled = |a: usize, b: usize| {
        let names = |k: usize, space: &crate::problem::HalfSpace| space.terms.iter().any(|term| term.0 == k);
        space.half_spaces().iter().any(|space| names(a, space) && names(b, space))
    };
    // Names of which one rules the other out: both together, where neither can go alone.
    let excluding = |a: usize, b: usize| {
        let names = |k: usize, space: &crate::problem::HalfSpace| space.when.iter().any(|term| term.0 == k);
        space.half_spaces().iter().any(|space| space.terms.is_empty() && names(a, space) && names(b, space))
    };
    for (i, &(a, one)) in grids.iter().enumerate() {
        for &(b, other) in grids[i + 1..].iter().filter(|(b, _)| excluding(a, *b)) {
            let (here, there) = (place(a, one), place(b, other));
            for x in (0..one.count()).filter(|&x| x != here) {
                for y in (0..other.count()).filter(|&y| y != there) {
                    let units = [variables[a].grid_unit(one, x), variables[b].grid_unit(other, y)];
                    found.push(vec![(a, units[0]), (b, units[1])]);
                }
            }
        }
        for &(b, other) in grids[i + 1..].iter().filter(|(b, _)| coupled(a, *b)) {
            let (here, there) = (place(a, one), place(b, other));
            let pairs =
                [(here.checked_add(1), there.checked_sub(1)), (here.checked_sub(1), there.checked_add(1))];
            for (x, y) in pairs.into_iter().filter_map(|(x, y)| Some((x?, y?))) {
                if x < one.count() && y < other.count() {
                    let units = [variables[a].grid_unit(one, x), variables[b].grid_unit(other, y)];
                    found.push(vec![(a, units[0]), (b, units[1])]);
                }
            }
        }
    }
    found
}

/// An acquisition of points that are first moved to where they keep to what is required, so that bounds stay a box.
struct Kept<'a> {
    acquisition: &'a dyn Acquisition,
    moving: Moving,
}

impl Acquisition for Kept<'_> {
    fn plan(&self) -> &Plan {
        self.acquisition.plan()
    }

    fn cost(&self) -> f64 {
        self.acquisition.cost()
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        let (space, dim) = (self.space(), self.plan().dim());
        let mut moved = points.to_vec();
        let keep = |point: &mut [f64]| space.keep(point, self.moving);
        let projections: Vec<Option<Projection>> = moved.chunks_exact_mut(dim).map(keep).collect();
        self.acquisition.evaluate(&moved, workspace, values, gradients);
        for (i, projection) in projections.iter().enumerate() {
            let gradient = gradients.get_mut(i * dim..i * dim + space.dim());
            match (projection, gradient) {
                (Some(projection), Some(gradient)) => projection.pull_back(space.half_spaces(), gradient),
                (Some(_), None) => {}
                (None, _) => values[i] = f64::NEG_INFINITY,
            }
        }
    }
}

#[cfg(test)]
mod tests;
