//! A checked problem.

use std::sync::Arc;

use mcbo_core::{Components, Direction, Given, Node, Noise, Scale};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::convert::{given as given_of, intervention, known, observed, parts, slot_names};
use crate::errors::{Fault, exception};
use crate::threads::alone;

/// Keeps the simulator's randomness apart from that of the strategy, as `mcbo run` does.
const KEY: u64 = 0x7369_6d75_6c61_7465;
/// The same for contexts.
const CONTEXTS: u64 = 0x636f_6e74_6578_7473;

/// A checked problem with the text it was read from.
#[pyclass(frozen, module = "mcbo._mcbo")]
pub struct Problem {
    pub inner: Arc<mcbo_core::Problem>,
    pub text: Option<String>,
}

impl Problem {
    /// A problem that did not come from a text.
    pub fn without_text(inner: Arc<mcbo_core::Problem>) -> Self {
        Self { inner, text: None }
    }
}

#[pymethods]
impl Problem {
    #[new]
    fn new(py: Python<'_>, text: String, file: String) -> PyResult<Self> {
        let inner = alone(py, || {
            mcbo_core::Problem::from_toml(&text).map_err(|errors| Fault::Problem(errors, file))
        })?;
        Ok(Self { inner: Arc::new(inner), text: Some(text) })
    }

    /// The text it was read from, if there was one.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The problem's name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The node that is optimised.
    #[getter]
    fn reward(&self) -> &str {
        &self.inner.nodes()[self.inner.reward()].name
    }

    /// Whether large rewards are good.
    #[getter]
    fn maximize(&self) -> bool {
        self.inner.direction() == Direction::Maximize
    }

    /// What the trials are for.
    #[getter]
    fn aim(&self) -> &'static str {
        self.inner.aim().name()
    }

    /// What is odd without being wrong.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().iter().map(ToString::to_string).collect()
    }

    /// The names of all components of all nodes.
    #[getter]
    fn slots(&self) -> Vec<String> {
        slot_names(&self.inner)
    }

    /// Whether the problem answers for itself.
    #[getter]
    fn has_simulator(&self) -> bool {
        self.inner.simulator().is_some()
    }

    /// All nodes with their fields, in the order they were declared.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for node in self.inner.nodes() {
            list.append(self.node(py, node)?)?;
        }
        Ok(list)
    }

    /// All actions: name, range, neutral value, step, listed values and choices. Of a choice the neutral value is a name.
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for action in self.inner.actions() {
            let neutral = match action.choice(action.neutral) {
                Some(name) => name.into_pyobject(py)?.into_any(),
                None => action.neutral.into_pyobject(py)?.into_any(),
            };
            let grid = action.grid.as_ref();
            let several = grid.filter(|grid| !action.is_choice() && grid.count() > 1);
            let (step, values) = several.map_or((None, None), |grid| (grid.step(), grid.list()));
            // One value where a strategy may choose no other.
            let only = grid.filter(|grid| grid.count() == 1).map(|grid| (grid.value(0), grid.value(0)));
            let range: (f64, f64) = only.unwrap_or(action.range.into());
            list.append((&action.name, range, neutral, step, values, &action.choices))?;
        }
        Ok(list)
    }

    /// The sets of nodes worth setting; `None` where they are too many to list.
    fn target_sets(&self, py: Python<'_>) -> PyResult<Option<Vec<Vec<String>>>> {
        let sets = alone(py, || Ok(self.inner.target_sets()))?;
        let name = |node: &usize| self.inner.nodes()[*node].name.clone();
        Ok(sets.map(|sets| sets.iter().map(|set| set.iter().map(name).collect()).collect()))
    }

    /// The limits of a trial: `max_interventions`, `sets`, `require` and `possibly_optimal`, as far as they are given.
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        if let Some(limit) = self.inner.max_interventions() {
            dict.set_item("max_interventions", limit)?;
        }
        if let Some(sets) = self.inner.sets() {
            let name = |node: &usize| self.inner.nodes()[*node].name.clone();
            let sets: Vec<Vec<String>> = sets.iter().map(|set| set.iter().map(name).collect()).collect();
            dict.set_item("sets", sets)?;
        }
        if !self.inner.requirements().is_empty() {
            let texts: Vec<&str> = self.inner.requirements().iter().map(|one| one.text()).collect();
            dict.set_item("require", texts)?;
        }
        if self.inner.possibly_optimal() {
            dict.set_item("possibly_optimal", true)?;
        }
        Ok(dict)
    }

    /// The formulas of the simulator by node, if there is one.
    fn simulator<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(simulator) = self.inner.simulator() else { return Ok(None) };
        let dict = PyDict::new(py);
        for (node, declared) in self.inner.nodes().iter().enumerate() {
            dict.set_item(&declared.name, simulator.texts(node))?;
        }
        Ok(Some(dict))
    }

    /// A picture of the graph, as SVG.
    fn picture(&self, py: Python<'_>) -> PyResult<String> {
        alone(py, || Ok(mcbo_plot::graph(&self.inner, None).svg))
    }

    /// Checks an intervention and completes it: actions that are not named are neutral.
    fn intervention<'py>(
        &self,
        actions: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        parts(actions.py(), &self.inner, &intervention(&self.inner, actions, targets)?)
    }

    /// What the simulator has for the contexts of trial `number` of a run with this seed.
    fn simulate_contexts<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        number: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(simulator) = self.inner.simulator() else {
            return Err(exception("ProblemError", "the problem has no [simulator]; hint: add one".into()));
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ CONTEXTS);
        rng.set_stream(number);
        known(py, &self.inner, &Given::draw(&self.inner, simulator, &mut rng))
    }

    /// Units, contexts, limits, costs, scales and retired names of nodes and actions by name, as the problem file writes them; those that have none are
    /// left out.
    fn marks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for node in self.inner.nodes() {
            let marks = PyDict::new(py);
            if let Some(unit) = &node.unit {
                marks.set_item("unit", unit)?;
            }
            if node.context {
                marks.set_item("context", true)?;
            }
            if let Some(limit) = node.limit {
                let dict = PyDict::new(py);
                for (side, level) in limit.levels() {
                    dict.set_item(side, level)?;
                }
                dict.set_item("probability", limit.probability)?;
                marks.set_item("limit", dict)?;
            }
            if let Some(cost) = node.cost {
                marks.set_item("cost", [("fixed", cost.fixed)].into_py_dict(py)?)?;
            }
            if !node.retired().is_empty() {
                marks.set_item("retired", PyTuple::new(py, node.retired())?)?;
            }
            if !marks.is_empty() {
                all.set_item(&node.name, marks)?;
            }
        }
        for action in self.inner.actions() {
            let marks = PyDict::new(py);
            if let Some(unit) = &action.unit {
                marks.set_item("unit", unit)?;
            }
            if let Some(cost) = action.cost {
                let parts = [("fixed", cost.fixed), ("per_unit", cost.per_unit)];
                marks.set_item("cost", parts.into_py_dict(py)?)?;
            }
            if !action.retired().is_empty() {
                marks.set_item("retired", PyTuple::new(py, action.retired())?)?;
            }
            if action.scale == Scale::Log {
                marks.set_item("scale", action.scale.name())?;
            }
            if !marks.is_empty() {
                all.set_item(&action.name, marks)?;
            }
        }
        Ok(all)
    }

    /// What the simulator answers to trial `number` of a run with this seed.
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        given: &Bound<'py, PyAny>,
        seed: u64,
        number: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(simulator) = self.inner.simulator() else {
            return Err(exception("ProblemError", "the problem has no [simulator]; hint: add one".into()));
        };
        let intervention = intervention(&self.inner, actions, targets)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ KEY);
        rng.set_stream(number);
        let given = given_of(&self.inner, given)?;
        let known = |node: usize| given.of(node);
        let values = alone(py, || Ok(simulator.sample_knowing(&self.inner, &intervention, known, &mut rng)))?;
        observed(py, &self.inner, &values.into_iter().map(Some).collect::<Vec<_>>())
    }
}

impl Problem {
    fn node<'py>(&self, py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyDict>> {
        let parents: Vec<&str> = node.parents.iter().map(|&p| self.inner.nodes()[p].name.as_str()).collect();
        let actions: Vec<&str> =
            node.actions.iter().map(|&a| self.inner.actions()[a].name.as_str()).collect();
        let ranges: Option<Vec<(f64, f64)>> =
            node.hard.as_ref().map(|ranges| ranges.iter().map(|&range| range.into()).collect());
        let formulas = node.formula_texts();
        let dict = PyDict::new(py);
        dict.set_item("name", &node.name)?;
        dict.set_item("parents", parents)?;
        dict.set_item("actions", actions)?;
        dict.set_item("dim", node.dim)?;
        dict.set_item("noise", noise(py, node.noise)?)?;
        dict.set_item("do", ranges)?;
        let grid = node.grid.as_ref().filter(|_| !node.is_choice()).and_then(|grids| grids.first());
        dict.set_item("step", grid.and_then(|grid| grid.step()))?;
        dict.set_item("values", grid.and_then(|grid| grid.list()))?;
        dict.set_item("choices", &node.choices)?;
        dict.set_item("formula", formulas)?;
        dict.set_item("range", node.range.map(<(f64, f64)>::from))?;
        let inputs = mcbo_core::input_names(&self.inner, self.inner.node_index(&node.name).unwrap_or(0));
        dict.set_item("kernel", node.kernel.as_ref().map(|kernel| kernel.to_text(&inputs)))?;
        dict.set_item("coregionalised", node.components == Components::Coregionalised)?;
        Ok(dict)
    }
}

/// A noise as the problem file writes it.
fn noise(py: Python<'_>, noise: Noise) -> PyResult<Bound<'_, PyAny>> {
    let dict = PyDict::new(py);
    match noise {
        Noise::None => return Ok("none".into_pyobject(py)?.into_any()),
        Noise::Learn | Noise::Names(_) => return Ok("learn".into_pyobject(py)?.into_any()),
        Noise::Gaussian(deviation) => dict.set_item("gaussian", deviation)?,
        Noise::Uniform([low, high]) => dict.set_item("uniform", (low, high))?,
    }
    Ok(dict.into_any())
}
