//! What is maximised where interventions cost something: the same, for what it costs.

use crate::decision::{Place, Variable};
use crate::network::{Plan, Workspace};
use crate::problem::Curve;
use crate::{Choice, DecisionSpace, Problem};

use super::Acquisition;

/// What the interventions of one choice cost, as a function of their unit-scaled variables.
#[derive(Debug, Clone)]
pub(crate) struct ChoiceCost {
    /// What its targets and actions cost at least.
    fixed: f64,
    /// The variables that cost by the unit.
    sloped: Vec<Sloped>,
    /// What an intervention counts at least: as much as the cheapest thing there is to pay for, so that what is free is not
    /// infinitely good.
    least: f64,
}

impl ChoiceCost {
    pub fn new(problem: &Problem, choice: &Choice) -> Self {
        let space = DecisionSpace::new(problem, choice);
        let action = |&action: &usize| problem.actions()[action].cost.map_or(0.0, |cost| cost.fixed);
        let target = |&node: &usize| problem.nodes()[node].cost.map_or(0.0, |cost| cost.fixed);
        let fixed =
            choice.actions.iter().map(action).sum::<f64>() + choice.targets.iter().map(target).sum::<f64>();
        let sloped = space.variables().iter().enumerate().filter_map(|(variable, decided)| {
            let Place::Action(action) = decided.place else { return None };
            let action = &problem.actions()[action];
            let (per_unit, neutral) = (action.cost?.per_unit, action.neutral);
            (per_unit > 0.0).then(|| Sloped { variable, decided: decided.clone(), neutral, per_unit })
        });
        let of_actions = problem.actions().iter().filter_map(|action| {
            let cost = action.cost?;
            let [low, high] = action.range;
            Some(if cost.fixed > 0.0 { cost.fixed } else { cost.per_unit * (high - low) })
        });
        let of_nodes = problem.nodes().iter().filter_map(|node| Some(node.cost?.fixed));
        let least = of_actions.chain(of_nodes).filter(|cost| *cost > 0.0).reduce(f64::min).unwrap_or(1.0);
        Self { fixed, sloped: sloped.collect(), least }
    }

    /// The cost at a point, as a multiple of the least that counts; its slopes are added to `slopes`, times `weight`.
    pub fn at(&self, point: &[f64], weight: f64, slopes: &mut [f64]) -> f64 {
        let total = self.total(point);
        if total > self.least && !slopes.is_empty() {
            for sloped in &self.sloped {
                slopes[sloped.variable] += weight * sloped.slope(point) / self.least;
            }
        }
        total.max(self.least) / self.least
    }

    fn total(&self, point: &[f64]) -> f64 {
        self.fixed + self.sloped.iter().map(|sloped| sloped.cost(point)).sum::<f64>()
    }
}

/// A variable that costs by the unit.
#[derive(Debug, Clone)]
struct Sloped {
    variable: usize,
    decided: Variable,
    neutral: f64,
    per_unit: f64,
}

impl Sloped {
    fn cost(&self, point: &[f64]) -> f64 {
        let Self { variable, decided, neutral, per_unit } = self;
        let unit = point[*variable];
        match decided.curve {
            Curve::Straight => per_unit * decided.slope(unit) * (unit - decided.unit(*neutral)).abs(),
            Curve::Logarithm { .. } => per_unit * (decided.value(unit) - neutral).abs(),
        }
    }

    /// The derivative of the cost.
    fn slope(&self, point: &[f64]) -> f64 {
        let Self { variable, decided, neutral, per_unit } = self;
        let unit = point[*variable];
        let direction = if unit >= decided.unit(*neutral) { 1.0 } else { -1.0 };
        direction * (per_unit * decided.slope(unit))
    }
}

/// A gain for what it costs: `g/c` where there is a gain, and `g c` where there is none; `ln g - ln c` of logarithms.
pub(crate) struct PerCost<'a> {
    pub inner: Box<dyn Acquisition + 'a>,
    pub costs: ChoiceCost,
    /// Whether the gain is given by its logarithm.
    pub logarithmic: bool,
}

impl Acquisition for PerCost<'_> {
    fn plan(&self) -> &Plan {
        self.inner.plan()
    }

    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        self.inner.bounds()
    }

    fn is_noisy(&self) -> bool {
        self.inner.is_noisy()
    }

    fn cost(&self) -> f64 {
        self.inner.cost()
    }

    fn evaluate(
        &self,
        points: &[f64],
        workspace: &mut Workspace,
        values: &mut Vec<f64>,
        gradients: &mut [f64],
    ) {
        self.inner.evaluate(points, workspace, values, gradients);
        let stride = points.len().checked_div(values.len()).unwrap_or(0);
        for (place, gain) in values.iter_mut().enumerate() {
            let point = &points[place * stride..(place + 1) * stride];
            let slopes = match gradients.is_empty() {
                true => &mut [][..],
                false => &mut gradients[place * stride..(place + 1) * stride],
            };
            let cost = self.costs.at(point, 0.0, &mut []);
            if self.logarithmic {
                self.costs.at(point, -1.0 / cost, slopes);
                *gain -= cost.ln();
                continue;
            }
            // ∂(g/c) = ∂g/c - g/c² ∂c, and ∂(g c) = ∂g c + g ∂c.
            let (factor, by_cost) =
                if *gain > 0.0 { (1.0 / cost, -*gain / (cost * cost)) } else { (cost, *gain) };
            slopes.iter_mut().for_each(|slope| *slope *= factor);
            self.costs.at(point, by_cost, slopes);
            *gain *= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::{BlackBoxReward, NetworkImprovement, Score};
    use super::*;
    use crate::network::{Draws, Network, RewardModel};
    use crate::testing::{check_gradients, settings};
    use crate::{Cost, Data, Intervention, Noise, Observation, Scale};

    fn problem() -> Problem {
        Problem::builder("costs")
            .action("a", [0.0, 2.0])
            .action_with_neutral("b", [-1.0, 1.0], 0.25)
            .action_cost("a", Cost { fixed: 3.0, per_unit: 0.5 })
            .action_cost("b", Cost { fixed: 0.0, per_unit: 4.0 })
            .action_with_neutral("c", [0.5, 8.0], 0.0)
            .action_scale("c", Scale::Log)
            .action_cost("c", Cost { fixed: 0.0, per_unit: 3.5 })
            .node("x", |n| n.actions(["a"]).hard([0.0, 5.0]).cost(7.0).noise(Noise::None))
            .node("y", |n| n.parents(["x"]).actions(["b", "c"]).noise(Noise::None))
            .maximize("y")
            .build()
            .expect("a problem")
    }

    /// The cost of a point is that of its intervention.
    #[test]
    fn points_cost_what_their_interventions_do() {
        let problem = problem();
        for choice in problem.choices().expect("few") {
            let (costs, space) = (ChoiceCost::new(&problem, choice), DecisionSpace::new(&problem, choice));
            let point: Vec<f64> = (0..space.dim()).map(|k| 0.9 - 0.3 * k as f64).collect();
            let exact = problem.cost(&space.intervention(&problem, &point));
            assert!((costs.total(&point) - exact).abs() < 1e-12, "{choice:?}: {exact}");
            // The cheapest thing to pay for is the fixed part of the first action.
            assert!((costs.at(&point, 0.0, &mut []) - exact.max(3.0) / 3.0).abs() < 1e-12);
        }
        // To act or not on `x`, or to set it, each with `c` or without: not using it is no dose of it.
        assert_eq!(problem.choices().expect("few").len(), 6);
    }

    #[test]
    fn gains_per_cost_have_the_right_gradients() {
        let problem = problem();
        let mut data = Data::new();
        for i in 0..8_u8 {
            let (a, b) = (0.25 * f64::from(i), (1.3 * f64::from(i)).sin());
            let x = a * a;
            let c = [0.0_f64, 0.5, 1.0, 2.0, 4.0, 8.0, 0.02, 3.0][usize::from(i)];
            let values = vec![Some(x), Some((x - b).cos() + (0.1 + c).ln())];
            let intervention = Intervention { targets: vec![], actions: vec![a, b, c] };
            data.push(&problem, Observation { intervention, values }).expect("a good observation");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let network =
            Network::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        let black_box =
            RewardModel::fit(&problem, &data, &Default::default(), &settings(), &mut rng).expect("a fit");
        for choice in problem.choices().expect("few") {
            let score = Score::Improvement { best: 0.5 };
            let inner = Box::new(BlackBoxReward::new(&problem, &black_box, choice, score));
            let costs = ChoiceCost::new(&problem, choice);
            check_gradients(&PerCost { inner, costs, logarithmic: true }, 2);
            for best in [-2.0, 0.5, 4.0] {
                let draws = Draws::noiseless(&problem, &network, choice, 8, 3);
                let inner = Box::new(NetworkImprovement { draws, best: best.into() });
                let costs = ChoiceCost::new(&problem, choice);
                check_gradients(&PerCost { inner, costs, logarithmic: false }, 2);
            }
        }
    }
}
