//! The fitted model, to be asked about anything.

use std::sync::Arc;

use mcbo_core::{
    Context, Data, Doubt, Effect, Forecast, Given, Intervention, Mcbo, MechanismKind, Memory, Network,
    NodeSummary, Noise, Observation, Problem, Recommendation, Study, input_names,
};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::convert::{components, done, forecasts, intervention, outlooks};
use crate::errors::{Fault, data_error};
use crate::threads::together;

/// Draws, or inputs, that are taken at most: more do not fit the memory.
const MOST: usize = 10_000_000;

/// What was fitted to a study's data.
#[pyclass(frozen, module = "mcbo._mcbo")]
pub struct Model {
    pub problem: Arc<Problem>,
    pub source: Source,
    /// What is known of the contexts.
    pub given: Given,
}

/// Where a model comes from.
pub enum Source {
    /// The recommendation that was made from it, and the study it was fitted to.
    Study(Box<(Recommendation, Study)>),
    /// What a strategy is shown.
    Context(Box<Network>),
}

/// What a strategy's model is fitted to, when it asks for one.
#[pyclass(frozen, module = "mcbo._mcbo")]
pub struct Fit {
    problem: Arc<Problem>,
    data: Data,
    pending: Vec<Observation>,
    memory: Memory,
    given: Given,
    seed: u64,
}

impl Fit {
    /// Everything that a fit needs, apart from the context's own lifetime.
    pub fn new(problem: Arc<Problem>, context: &Context<'_>, seed: u64) -> Self {
        Self {
            problem,
            data: context.data.clone(),
            pending: context.pending.to_vec(),
            memory: context.memory.clone(),
            given: context.given.clone(),
            seed,
        }
    }
}

#[pymethods]
impl Fit {
    /// The model that MCBO would go by: fitted to the data, trials under way taken to come out as predicted.
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        let network = together(py, || {
            let context = Context::new(&self.problem, &self.data, &self.memory)
                .with_pending(&self.pending)
                .with_given(&self.given);
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            let fitted = context.fit(&Mcbo::default().model, &mut rng);
            Ok(fitted.map_err(mcbo_core::StudyError::from)?.0)
        })?;
        let (problem, given) = (self.problem.clone(), self.given.clone());
        Ok(Model { problem, source: Source::Context(Box::new(network)), given })
    }
}

/// One row of [`Model::nodes`]: name, rows, deviation of the mechanism, share explained, deviation of the noise, form.
type NodeRow = (String, usize, f64, Option<f64>, f64, String);
/// Effect, its bounds, and the best and the worst value.
type EffectRow = (f64, f64, f64, f64, f64);
/// Effects of actions, of arrows, and shares of nodes.
type EffectRows = (Vec<(String, EffectRow)>, Vec<(String, String, EffectRow)>, Vec<(String, f64)>);
/// Kind, node, other end, weight, logarithm of the odds, words.
type DoubtRow = (String, String, Option<String>, String, Option<f64>, String);
/// Means and deviations.
type Predicted<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

impl Model {
    fn network(&self) -> &Network {
        match &self.source {
            Source::Study(both) => &both.0.network,
            Source::Context(network) => network,
        }
    }

    /// The recommendation and the study behind it.
    fn whole(&self) -> PyResult<(&Recommendation, &Study)> {
        match &self.source {
            Source::Study(both) => Ok((&both.0, &both.1)),
            Source::Context(_) => Err(data_error(
                "the model in a strategy's context knows no study; hint: it has predict, forecast, sample and expected_reward",
            )),
        }
    }

    fn node(&self, name: &str) -> Result<usize, Fault> {
        let known = || self.problem.graph().names().join(", ");
        let unknown = || mcbo_core::DataError::UnknownName { name: name.to_owned(), known: known() };
        self.problem.node_index(name).ok_or_else(|| unknown().into())
    }
}

#[pymethods]
impl Model {
    /// Names, rows, uncertainty, share explained, noise and form of all components.
    fn nodes(&self, py: Python<'_>) -> PyResult<Vec<NodeRow>> {
        let summaries = together(py, || Ok(self.network().summaries(&self.problem)))?;
        let row = |s: NodeSummary| (s.name, s.rows, s.uncertainty, s.explained, s.noise, s.form);
        Ok(summaries.into_iter().map(row).collect())
    }

    /// The graph with how well each node is known, and what was learned of each: names, titles and SVG.
    fn pictures(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String)>> {
        let (recommendation, study) = self.whole()?;
        let drawn = together(py, || {
            let mut pictures = vec![mcbo_plot::graph(&self.problem, Some(&recommendation.network))];
            let order = self.problem.graph().order();
            pictures.extend(
                order.iter().filter_map(|&node| mcbo_plot::mechanism(study, &recommendation.network, node)),
            );
            Ok(pictures)
        })?;
        Ok(drawn.into_iter().map(|picture| (picture.name, picture.title, picture.svg)).collect())
    }

    /// What should be known about the fit.
    fn warnings(&self) -> Vec<String> {
        self.network().warnings().iter().map(ToString::to_string).collect()
    }

    /// Trials that do not fit: their numbers, and why.
    fn oddities(&self, py: Python<'_>) -> PyResult<Vec<(Vec<usize>, String)>> {
        let (recommendation, study) = self.whole()?;
        let found = together(py, || Ok(study.oddities(&recommendation.network)))?;
        Ok(found.into_iter().map(|odd| (odd.trials(), odd.to_string())).collect())
    }

    /// What the data say against the graph: kind, node, other end, weight, logarithm of the odds, words.
    fn doubts(&self, py: Python<'_>) -> PyResult<Vec<DoubtRow>> {
        let (recommendation, study) = self.whole()?;
        let found = together(py, || Ok(study.doubts(recommendation)?))?;
        let row = |doubt: Doubt| {
            let (kind, node, from) = doubt.about();
            let (node, from) = (node.to_owned(), from.map(str::to_owned));
            (kind.to_owned(), node, from, doubt.weight().to_owned(), doubt.log_odds(), doubt.to_string())
        };
        Ok(found.into_iter().map(row).collect())
    }

    /// What can be said for a trial.
    fn why<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let (recommendation, study) = self.whole()?;
        let why = together(py, || Ok(study.why(&recommendation.network, number)?))?;
        let name = |node: usize| self.problem.nodes()[node].name.clone();
        let dict = PyDict::new(py);
        dict.set_item("expected", why.expected.map(|[mean, lower, upper]| (mean, lower, upper)))?;
        dict.set_item("hope", why.hope)?;
        dict.set_item("nearest", why.nearest)?;
        let teaches: Vec<(String, f64)> =
            why.teaches.into_iter().map(|(n, share)| (name(n), share)).collect();
        dict.set_item("teaches", teaches)?;
        dict.set_item("best", why.best)?;
        dict.set_item("differs", why.differs)?;
        Ok(dict)
    }

    /// What matters: actions, arrows, and shares of what is not known.
    fn effects(&self, py: Python<'_>) -> PyResult<EffectRows> {
        let (recommendation, study) = self.whole()?;
        let found = together(py, || Ok(study.effects(recommendation)?))?;
        let name = |node: usize| self.problem.nodes()[node].name.clone();
        let numbers = |e: Effect| (e.effect, e.lower, e.upper, e.best, e.worst);
        let actions = found.actions.into_iter().map(|(name, effect)| (name, numbers(effect)));
        let arrows = found.arrows.into_iter().map(|(from, to, e)| (name(from), name(to), numbers(e)));
        let unknown = found.unknown.into_iter().map(|(node, share)| (name(node), share));
        Ok((actions.collect(), arrows.collect(), unknown.collect()))
    }

    /// The names of a node's inputs, in order.
    fn inputs(&self, node: &str) -> PyResult<Vec<String>> {
        Ok(input_names(&self.problem, self.node(node)?))
    }

    /// The mechanism of a node at inputs, one per row: means and deviations, one column per component, or per name where its name has
    /// causes.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        node: &str,
        inputs: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Predicted<'py>> {
        let place = self.node(node)?;
        let array = inputs.as_array();
        let (count, dim) = array.dim();
        let expected = self.problem.input_dim(place);
        if dim != expected {
            let names = input_names(&self.problem, place).join(", ");
            return Err(data_error(format!(
                "the inputs of {node} have {dim} columns where it has {expected} inputs ({names})"
            )));
        }
        if count > MOST {
            return Err(data_error(format!("{count} inputs are too many; hint: {MOST} at most")));
        }
        if self.network().kind(place) == MechanismKind::Absent {
            return Err(data_error(format!("{node} has no path to the reward, so it is not learned")));
        }
        let flat: Vec<f64> = array.iter().copied().collect();
        if let Some(value) = flat.iter().find(|value| !value.is_finite()) {
            return Err(data_error(format!(
                "an input of {node} is {value}; hint: inputs are finite numbers"
            )));
        }
        let (mean, deviation) = together(py, || {
            let components = match self.problem.nodes()[place].is_caused_choice() {
                true => self.network().predict_names(&self.problem, place, &flat, count),
                false => self.network().predict(&self.problem, place, &flat, count),
            };
            let table = |second: bool| {
                Array2::from_shape_fn((count, components.len()), |(row, component)| {
                    let (mean, deviation) = components[component][row];
                    if second { deviation } else { mean }
                })
            };
            Ok((table(false), table(true)))
        })?;
        Ok((mean.into_pyarray(py), deviation.into_pyarray(py)))
    }

    /// What is expected of every node under interventions, each given by its two parts, with bounds; a node that is set or given is
    /// what it is. With no number of draws it is quick.
    fn forecasts<'py>(
        &self,
        py: Python<'py>,
        interventions: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
        draws: Option<usize>,
        seed: u64,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        draws.map_or(Ok(()), check_count)?;
        let read = |(actions, targets): &(_, _)| intervention(&self.problem, actions, targets);
        let interventions = interventions.iter().map(read).collect::<PyResult<Vec<Intervention>>>()?;
        let found: Vec<Vec<Forecast>> = together(py, || {
            Ok(match draws {
                Some(draws) => {
                    let one = |doing| self.network().forecast_by(&self.problem, doing, draws, seed);
                    interventions.par_iter().map(one).collect()
                }
                None => self.network().forecast_many(&self.problem, &interventions),
            })
        })?;
        let told = |(doing, found): (&Intervention, &Vec<Forecast>)| {
            let dict = forecasts(py, &self.problem, found)?;
            for (node, declared) in self.problem.nodes().iter().enumerate() {
                let known = doing.target(node).or(self.given.of(node));
                // Names have no expectation.
                if let Some(values) = known.filter(|_| !declared.is_choice()) {
                    let bounds: Vec<(f64, f64, f64)> = values.iter().map(|&v| (v, v, v)).collect();
                    dict.set_item(&declared.name, components(py, &self.problem, node, &bounds)?)?;
                }
            }
            Ok(dict)
        };
        interventions.iter().zip(&found).map(told).collect()
    }

    /// What interventions, each given by its two parts, give of every node: mean, bounds and the range of a single outcome.
    fn outlooks<'py>(
        &self,
        py: Python<'py>,
        interventions: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let read = |(actions, targets): &(_, _)| done(&self.problem, actions, targets);
        let interventions = interventions.iter().map(read).collect::<PyResult<Vec<Intervention>>>()?;
        let (recommendation, study) = self.whole()?;
        let found = together(py, || Ok(study.predict_many(recommendation, &interventions)?))?;
        found.iter().map(|nodes| outlooks(py, &self.problem, nodes)).collect()
    }

    /// Draws of the expected reward under an intervention, in the direction of improvement.
    fn reward_draws<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let intervention = intervention(&self.problem, actions, targets)?;
        check_count(count)?;
        let draws = together(py, || {
            let mut draws = Vec::with_capacity(count);
            let mut block = seed;
            while draws.len() < count {
                let more = self.network().reward_draws(&self.problem, &intervention, block);
                if more.is_empty() {
                    return Err(Fault::Internal("no draws".into()));
                }
                draws.extend(more.into_iter().take(count - draws.len()));
                block = block.wrapping_add(1);
            }
            Ok(draws)
        })?;
        Ok(draws.into_pyarray(py))
    }

    /// Draws of all components under an intervention, one per row; NaN for nodes that are not learned.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        count: usize,
        seed: u64,
        noise: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let intervention = intervention(&self.problem, actions, targets)?;
        check_count(count)?;
        let drawn = together(py, || Ok(self.draw(&intervention, count, seed, noise)))?;
        Ok(drawn.into_pyarray(py))
    }
}

fn check_count(count: usize) -> PyResult<()> {
    match count {
        1..=MOST => Ok(()),
        _ => Err(data_error(format!("{count} draws cannot be made; hint: 1 to {MOST}"))),
    }
}

impl Model {
    /// Single outcomes, with the noise left out if it is not wanted.
    fn draw(&self, intervention: &Intervention, count: usize, seed: u64, noisy: bool) -> Array2<f64> {
        let problem = &*self.problem;
        let generator = |node: usize| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(node as u64 + 1);
            rng
        };
        let mut generators: Vec<ChaCha8Rng> = (0..problem.nodes().len()).map(generator).collect();
        // A name that has causes comes by chance in any case.
        let drawn = |node: usize| noisy || problem.nodes()[node].is_caused_choice();
        let luck = |node: usize, _: usize, _: usize, noise: Noise| {
            let rng = &mut generators[node];
            let multiple: f64 = StandardNormal.sample(rng);
            // Drawn in any case, so that the same seed gives the same mechanisms with noise and without.
            let noise = noise.draw(rng);
            (multiple, if drawn(node) { noise } else { 0.0 })
        };
        let values = self.network().outcomes(problem, intervention, count, luck);
        Array2::from_shape_fn((count, problem.slots()), |(row, slot)| values[slot][row])
    }
}
