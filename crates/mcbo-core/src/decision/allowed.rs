//! The points of a decision space that may be proposed: on the grids, and within what is required.

use crate::Grid;
use crate::problem::{Curve, HalfSpace, Projection, project};

use super::{DecisionSpace, Variable};

impl Variable {
    /// The point of the unit interval that stands for a place of the grid.
    pub fn grid_unit(&self, grid: &Grid, place: usize) -> f64 {
        self.unit(grid.value(place))
    }

    /// The point of the unit interval for a place of the grid, of which every one has a part of the same width.
    fn share_unit(&self, grid: &Grid, unit: f64) -> f64 {
        let place = (unit * grid.count() as f64) as usize;
        self.grid_unit(grid, place.min(grid.count() - 1))
    }

    /// The place of the grid that is nearest on the scale of the variable.
    pub fn nearest(&self, grid: &Grid, unit: f64) -> usize {
        let place = grid.nearest(self.value(unit));
        if self.curve == Curve::Straight {
            return place;
        }
        let distance = |place: &usize| (self.grid_unit(grid, *place) - unit).abs();
        let around = place.saturating_sub(1)..(place + 2).min(grid.count());
        around.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(place)
    }

    /// The nearest point of the unit interval that is of the grid.
    fn on_grid(&self, unit: f64) -> f64 {
        match &self.grid {
            Some(grid) => self.grid_unit(grid, self.nearest(grid, unit)),
            None => unit,
        }
    }
}

/// Combinations of names that are all tried where names do not go together.
const RENAMED: usize = 512;

/// Which variables may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moving {
    /// Those that can take all values of their range.
    Continuous,
    /// All but those whose values are names: steps count as ranges.
    Numbers,
}

impl Moving {
    fn moves(self, variable: &Variable) -> bool {
        match self {
            Moving::Continuous => variable.grid.is_none(),
            Moving::Numbers => !variable.named,
        }
    }
}

impl DecisionSpace {
    /// Whether every point of the box is allowed.
    pub fn is_box(&self) -> bool {
        self.variables.iter().all(|variable| variable.grid.is_none())
            && self.spaces.as_ref().is_some_and(Vec::is_empty)
    }

    /// The variables with few values, by place.
    pub(crate) fn grids(&self) -> impl Iterator<Item = (usize, &Grid)> + '_ {
        let variables = self.variables.iter().enumerate();
        variables.filter_map(|(k, variable)| variable.grid.as_ref().map(|grid| (k, grid)))
    }

    /// The half-spaces that points must keep to.
    pub(crate) fn half_spaces(&self) -> &[HalfSpace] {
        self.spaces.as_deref().unwrap_or(&[])
    }

    /// Whether some of what is required holds under some names only.
    pub(crate) fn has_conditions(&self) -> bool {
        self.half_spaces().iter().any(|space| !space.when.is_empty())
    }

    /// The box about a point in which only some variables may move. Steps end where their grid does.
    pub(crate) fn bounds_about(&self, point: &[f64], moving: Moving) -> (Vec<f64>, Vec<f64>) {
        let ends = |(k, variable): (usize, &Variable)| match &variable.grid {
            _ if !moving.moves(variable) => (point[k], point[k]),
            Some(grid) => (0.0, variable.grid_unit(grid, grid.count() - 1)),
            None => (0.0, 1.0),
        };
        self.variables.iter().enumerate().map(ends).unzip()
    }

    /// Moves a point to the nearest that keeps to what is required, some variables held; `None`, and the point as it was, if there
    /// is none.
    pub(crate) fn keep(&self, point: &mut [f64], moving: Moving) -> Option<Projection> {
        let (lower, upper) = self.bounds_about(point, moving);
        let decided = &mut point[..self.variables.len()];
        project(self.spaces.as_deref()?, &lower, &upper, decided)
    }

    /// Moves a point of the unit box to one near it that is allowed; whether there is one. What stands behind the variables stays.
    pub fn allow(&self, point: &mut [f64]) -> bool {
        if self.is_box() {
            return true;
        }
        // Names first, then steps as if they were ranges, then their grid, then what is left to move.
        for (unit, variable) in point.iter_mut().zip(&self.variables).filter(|(_, variable)| variable.named) {
            *unit = variable.on_grid(*unit);
        }
        if self.keep(point, Moving::Numbers).is_none() && !self.rename_inside(point) {
            return false;
        }
        for (unit, variable) in point.iter_mut().zip(&self.variables) {
            *unit = variable.on_grid(*unit);
        }
        self.keep(point, Moving::Continuous).is_some()
            || (self.step_inside(point) && self.keep(point, Moving::Continuous).is_some())
    }

    /// The nearest allowed point to one of the unit box with its own names, which have equal shares of it; `None` if there is none.
    pub(crate) fn allow_under_names(&self, mut point: Vec<f64>) -> Option<Vec<f64>> {
        for (k, grid) in self.grids().filter(|(k, _)| self.variables[*k].named) {
            point[k] = self.variables[k].share_unit(grid, point[k]);
        }
        let names = point.clone();
        let stays =
            |point: &[f64]| self.grids().all(|(k, _)| !self.variables[k].named || point[k] == names[k]);
        (self.allow(&mut point) && stays(&point)).then_some(point)
    }

    /// Takes other names under which numbers can keep to what is required, if there are any: one name that is another, or several.
    fn rename_inside(&self, point: &mut [f64]) -> bool {
        let spaces = self.half_spaces();
        let decides = |k: usize| spaces.iter().any(|space| space.when.iter().any(|(other, _)| *other == k));
        let deciding: Vec<(usize, &Grid)> = self.grids().filter(|(k, _)| decides(*k)).collect();
        for &(k, grid) in &deciding {
            let own = point[k];
            for place in 0..grid.count() {
                point[k] = self.variables[k].grid_unit(grid, place);
                if self.keep(point, Moving::Numbers).is_some() {
                    return true;
                }
            }
            point[k] = own;
        }
        let all = deciding.iter().try_fold(1_usize, |all, (_, grid)| all.checked_mul(grid.count()));
        let Some(all) = all.filter(|all| *all <= RENAMED) else { return false };
        let own = point.to_vec();
        for combination in 0..all {
            let mut left = combination;
            for &(k, grid) in &deciding {
                point[k] = self.variables[k].grid_unit(grid, left % grid.count());
                left /= grid.count();
            }
            if self.keep(point, Moving::Numbers).is_some() {
                return true;
            }
        }
        point.copy_from_slice(&own);
        false
    }

    /// Takes steps, each the one that helps most, until the continuous variables can make up for what the steps exceed.
    fn step_inside(&self, point: &mut [f64]) -> bool {
        let grids: Vec<(usize, &Grid)> = self.grids().filter(|(k, _)| !self.variables[*k].named).collect();
        let missing = |point: &[f64]| {
            let (lower, upper) = self.bounds_about(point, Moving::Continuous);
            let over = |space: &HalfSpace| (space.least(&lower, &upper) - 1e-9).max(0.0);
            self.half_spaces().iter().filter(|space| space.applies(point)).map(over).sum::<f64>()
        };
        let most: usize = grids.iter().map(|(_, grid)| grid.count()).sum();
        let mut now = missing(point);
        for _ in 0..most {
            if now == 0.0 {
                return true;
            }
            let mut best: Option<(f64, usize, f64)> = None;
            for &(k, grid) in &grids {
                let variable = &self.variables[k];
                let (from, place) = (point[k], variable.nearest(grid, point[k]));
                for next in [place.checked_sub(1), Some(place + 1)].into_iter().flatten() {
                    if next < grid.count() {
                        point[k] = variable.grid_unit(grid, next);
                        let then = missing(point);
                        if then < best.map_or(now, |(least, ..)| least) {
                            best = Some((then, k, point[k]));
                        }
                    }
                }
                point[k] = from;
            }
            let Some((then, k, unit)) = best else { return false };
            (now, point[k]) = (then, unit);
        }
        now == 0.0
    }

    /// The point that numbers of the unit box stand for when all that is allowed should have its share; `None` where they stand for
    /// none that keeps to what is required.
    pub(crate) fn spread(&self, mut units: Vec<f64>) -> Option<Vec<f64>> {
        for (unit, variable) in units.iter_mut().zip(&self.variables) {
            if let Some(grid) = &variable.grid {
                *unit = variable.share_unit(grid, *unit);
            }
        }
        let keeps = |space: &HalfSpace| !space.applies(&units) || space.excess(&units) <= 1e-9;
        let kept = self.spaces.as_ref()?.iter().all(keeps);
        kept.then_some(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choice, Problem, check_intervention};

    fn problem() -> Problem {
        Problem::builder("p")
            .action("dose", [0.0, 90.0])
            .action_in_steps("cycles", [0.0, 10.0], 3.0)
            .choice("strain", ["wild", "mutant", "hybrid"])
            .action("heat", [0.0, 1.0])
            .node("v", |n| n.dim(2).hard([0.0, 1.0]).step(0.1))
            .node("y", |n| n.parents(["v"]).actions(["dose", "cycles", "strain", "heat"]))
            .maximize("y")
            .require("dose + 10 * cycles <= 100")
            .require("heat >= 0.01 * dose - 0.2")
            .build()
            .expect("a problem")
    }

    fn space(problem: &Problem) -> DecisionSpace {
        DecisionSpace::new(problem, &Choice { targets: vec![0], actions: vec![0, 1, 2, 3] })
    }

    fn noise(i: usize, k: usize) -> f64 {
        (((i * 11 + k * 5 + 1) as f64) * 0.754_877_666).fract()
    }

    #[test]
    fn allowed_points_stand_for_allowed_interventions() {
        let problem = problem();
        let space = space(&problem);
        assert!(!space.is_box());
        for i in 0..200 {
            let mut point: Vec<f64> = (0..7).map(|k| noise(i, k)).collect();
            assert!(space.allow(&mut point), "{point:?}");
            // The seventh number is behind the variables.
            assert_eq!(point[6], noise(i, 6));
            let done = space.intervention(&problem, &point);
            check_intervention(&problem, &done).expect("it is allowed");
            let back = space.point(&done);
            assert!(back.iter().zip(&point).all(|(a, b)| (a - b).abs() < 1e-12), "{back:?} {point:?}");
            assert!([0.0, 3.0, 6.0, 9.0].contains(&done.actions[1]), "{}", done.actions[1]);
            let set = done.targets[0].1[0];
            assert_eq!(set, (set * 10.0).round() / 10.0);
        }
    }

    #[test]
    fn every_value_has_its_share() {
        let problem = problem();
        let space = space(&problem);
        let mut counts = [0; 4];
        for i in 0..400 {
            let units = vec![0.5, 0.5, 0.0, (f64::from(i) + 0.5) / 400.0, 0.0, 0.5];
            let point = space.spread(units).expect("it keeps to what is required");
            let done = space.intervention(&problem, &point);
            counts[(done.actions[1] / 3.0) as usize] += 1;
        }
        assert_eq!(counts, [100; 4]);
        // Both doses and cycles at their most are too much.
        assert_eq!(space.spread(vec![0.5, 0.5, 1.0, 1.0, 0.0, 1.0]), None);
    }
}
