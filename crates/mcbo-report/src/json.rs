//! The JSON that scripts rely on.

use mcbo_core::{
    Certificate, Criterion, Forecast, Given, Intervention, Keeping, Node, NodeSummary, Noise, Outlook,
    Problem, Recommendation, Suggestion, Trial, Warning, share_name, slot_name,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// An object as it is written: every name with its value, in order, and none twice.
pub struct Pairs(pub Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs: Vec<(String, Value)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if pairs.iter().any(|(known, _)| *known == name) {
                        return Err(serde::de::Error::custom(format!("{name:?} stands there twice")));
                    }
                    pairs.push((name, value));
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// A node's numbers: one by itself, those of a vector node as an array.
fn components(problem: &Problem, node: usize, values: impl Iterator<Item = Value>) -> Value {
    let values: Vec<Value> = values.collect();
    match <[Value; 1]>::try_from(values) {
        Ok([value]) if problem.nodes()[node].dim == 1 => value,
        Ok(values) => values.into_iter().collect(),
        Err(values) => values.into(),
    }
}

/// `{"targets":[...],"values":{...},"actions":{...}}`.
pub fn intervention(problem: &Problem, intervention: &Intervention) -> Value {
    let name = |node: usize| problem.nodes()[node].name.clone();
    let targets: Vec<String> = intervention.targets.iter().map(|(node, _)| name(*node)).collect();
    let set = |(node, values): &(usize, Vec<f64>)| {
        (name(*node), components(problem, *node, values.iter().map(|&v| value_of(problem, *node, v))))
    };
    let values: Map<String, Value> = intervention.targets.iter().map(set).collect();
    let actions = problem.actions().iter().zip(&intervention.actions);
    let actions: Map<String, Value> =
        actions.map(|(a, &v)| (a.name.clone(), value(problem, &a.name, v))).collect();
    json!({ "targets": targets, "values": values, "actions": actions })
}

/// What was known of contexts, by node.
pub fn given(problem: &Problem, given: &Given) -> Value {
    let value = |(node, values): (usize, &[f64])| {
        let values = values.iter().map(|&value| value_of(problem, node, value));
        (problem.nodes()[node].name.clone(), components(problem, node, values))
    };
    given.iter().map(value).collect::<Map<_, _>>().into()
}

/// `{"acetate":{"probability":0.97}}`: how probable it is that each limit is kept.
pub fn limits(limits: &[Keeping]) -> Value {
    let value = |keeping: &Keeping| {
        let chance = json!({ "probability": keeping.probability, "wanted": keeping.wanted });
        (keeping.name.clone(), chance)
    };
    limits.iter().map(value).collect::<Map<_, _>>().into()
}

/// What belongs to problems with contexts, limits and costs, and to no others.
fn kinds(
    problem: &Problem,
    known: &Given,
    kept: &[Keeping],
    doing: &Intervention,
    object: &mut Map<String, Value>,
) {
    if problem.contexts().next().is_some() || !known.is_empty() {
        object.insert("given".into(), given(problem, known));
    }
    if problem.has_limits() {
        object.insert("limits".into(), limits(kept));
    }
    if problem.has_costs() {
        object.insert("cost".into(), problem.cost(doing).into());
    }
}

/// The value of a node or an action: a number, or the name of a choice.
pub fn value(problem: &Problem, name: &str, value: f64) -> Value {
    problem.name_of(name, value).map_or_else(|| value.into(), Value::from)
}

/// The same of a node by its number.
fn value_of(problem: &Problem, node: usize, value: f64) -> Value {
    problem.nodes()[node].choice(value).map_or_else(|| value.into(), Value::from)
}

/// What is said of components, by node; nodes of which a component is missing are left out.
fn by_node<T>(problem: &Problem, all: &[T], node_of: fn(&T) -> usize, value: fn(&T) -> Value) -> Value {
    let mut nodes = Map::new();
    for (node, declared) in problem.nodes().iter().enumerate() {
        let here: Vec<&T> = all.iter().filter(|one| node_of(one) == node).collect();
        if declared.is_caused_choice() {
            if here.len() == declared.choices.len() {
                nodes.insert(declared.name.clone(), names(declared, here.into_iter().map(value)));
            }
        } else if here.len() == declared.dim {
            let values = here.into_iter().map(value);
            nodes.insert(declared.name.clone(), components(problem, node, values));
        }
    }
    nodes.into()
}

/// What is said of each name of a node: `{"names":{"none":...,"crack":...}}`.
fn names(node: &Node, values: impl Iterator<Item = Value>) -> Value {
    json!({ "names": node.choices.iter().cloned().zip(values).collect::<Map<String, Value>>() })
}

fn predicted(problem: &Problem, forecasts: &[Forecast]) -> Value {
    by_node(problem, forecasts, |f| f.node, |f| bounds([f.mean, f.lower, f.upper]))
}

/// What an intervention gives: `{"mean":...,"lower":...,"upper":...,"outcome":[...,...]}` of every node.
pub fn outlooks(problem: &Problem, outlooks: &[Outlook]) -> Value {
    let value = |outlook: &Outlook| {
        let Forecast { mean, lower, upper, .. } = outlook.forecast;
        json!({ "mean": mean, "lower": lower, "upper": upper, "outcome": outlook.outcome })
    };
    by_node(problem, outlooks, |outlook| outlook.forecast.node, value)
}

/// What the optimistic model expects, which comes by the names of components.
fn optimistic(problem: &Problem, named: &[(String, f64)]) -> Value {
    let mut nodes = Map::new();
    for (node, declared) in problem.nodes().iter().enumerate() {
        let caused = declared.is_caused_choice();
        let value = |component: usize| {
            let name = if caused { share_name } else { slot_name }(problem, node, component);
            named.iter().find(|(other, _)| *other == name).map(|(_, value)| Value::from(*value))
        };
        let count = if caused { declared.choices.len() } else { declared.dim };
        if let Some(values) = (0..count).map(value).collect::<Option<Vec<Value>>>() {
            let values = values.into_iter();
            let told = if caused { names(declared, values) } else { components(problem, node, values) };
            nodes.insert(declared.name.clone(), told);
        }
    }
    nodes.into()
}

/// Warnings in words.
pub fn warnings(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(ToString::to_string).collect()
}

/// The suggestion as `mcbo ask --json` prints it.
pub fn suggestion(problem: &Problem, trial: usize, suggestion: &Suggestion) -> Map<String, Value> {
    let Value::Object(mut object) = json!({
        "trial": trial,
        "strategy": suggestion.strategy,
        "intervention": intervention(problem, &suggestion.intervention),
        "acquisition": suggestion.acquisition,
        "beta": suggestion.beta,
        "predicted": predicted(problem, &suggestion.predicted),
        "optimistic": optimistic(problem, &suggestion.optimistic),
        "warnings": warnings(&suggestion.warnings),
    }) else {
        unreachable!("written as an object above")
    };
    kinds(problem, &suggestion.given, &suggestion.limits, &suggestion.intervention, &mut object);
    object
}

/// Measured values by node name, `null` where not measured.
fn values(problem: &Problem, values: &[Option<f64>]) -> Value {
    let measured = |node: usize| {
        let values = values[problem.slot(node)].iter();
        values.map(move |value| value.map_or(Value::Null, |value| value_of(problem, node, value)))
    };
    let entry = |(node, declared): (usize, &mcbo_core::Node)| {
        (declared.name.clone(), components(problem, node, measured(node)))
    };
    let all = problem.nodes().iter().enumerate().map(entry);
    all.collect::<Map<_, _>>().into()
}

/// The measured reward of a trial, in the direction of improvement.
pub fn reward(problem: &Problem, trial: &Trial) -> Option<f64> {
    let slot = problem.slot(problem.reward()).start;
    trial.values.as_ref().and_then(|values| values[slot]).map(|value| problem.sign() * value)
}

/// A trial: its suggestion, and what came of it; `error` says why a trial failed.
pub fn trial(problem: &Problem, trial: &Trial, error: Option<&str>) -> Value {
    let mut object = suggestion(problem, trial.number, &trial.suggestion);
    object.insert("state".into(), trial.state.name().into());
    if let Some(done) = &trial.done {
        object.insert("done".into(), intervention(problem, done));
    }
    object.insert("values".into(), trial.values.as_ref().map_or(Value::Null, |v| values(problem, v)));
    object.insert("reward".into(), reward(problem, trial).into());
    if let Some(error) = error {
        object.insert("error".into(), error.into());
    }
    object.into()
}

fn bounds([mean, lower, upper]: [f64; 3]) -> Value {
    json!({ "mean": mean, "lower": lower, "upper": upper })
}

/// The recommended intervention with what is expected of it.
pub fn recommendation(problem: &Problem, recommendation: &Recommendation) -> Value {
    let mut value = json!({
        "by": criterion(recommendation.criterion),
        "intervention": intervention(problem, &recommendation.intervention),
        "predicted": predicted(problem, &recommendation.predicted),
        "reward": recommendation.reward(problem).map(bounds),
        "warnings": warnings(&recommendation.warnings),
    });
    if let Value::Object(object) = &mut value {
        let Recommendation { given, limits, intervention, .. } = recommendation;
        kinds(problem, given, limits, intervention, object);
    }
    value
}

/// How much better than the recommended intervention any other could be.
pub fn certificate(problem: &Problem, certificate: &Certificate) -> Value {
    json!({
        "width": certificate.width,
        "lower": certificate.lower,
        "upper": certificate.upper,
        "gap": certificate.gap(),
        "optimistic": intervention(problem, &certificate.optimistic),
    })
}

/// What a recommendation goes by, in a word.
pub fn criterion(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Mean => "mean",
        Criterion::Lower => "lower",
    }
}

/// The best measured trial, with what the model expects of it.
pub fn best(
    problem: &Problem,
    best: Option<(&Trial, f64)>,
    recommendation: Option<&Recommendation>,
) -> Value {
    best.map_or(Value::Null, |(trial, reward)| {
        let forecast = recommendation.map(|r| r.expects(problem, trial.intervention()));
        json!({
            "trial": trial.number,
            "intervention": intervention(problem, trial.intervention()),
            "values": trial.values.as_ref().map(|v| values(problem, v)),
            "reward": reward,
            "predicted": forecast.map(|forecast| predicted(problem, &forecast)),
        })
    })
}

/// How well the mechanisms are known.
pub fn nodes(summaries: &[NodeSummary]) -> Value {
    let node = |summary: &NodeSummary| {
        json!({
            "name": summary.name,
            "rows": summary.rows,
            "explained": summary.explained,
            "uncertainty": summary.uncertainty,
            "noise": summary.noise,
            "form": summary.form,
        })
    };
    summaries.iter().map(node).collect()
}

/// A noise as the problem file writes it.
pub fn noise(noise: Noise) -> Value {
    match noise {
        Noise::None => "none".into(),
        Noise::Learn | Noise::Names(_) => "learn".into(),
        Noise::Gaussian(deviation) => json!({ "gaussian": deviation }),
        Noise::Uniform(ends) => json!({ "uniform": ends }),
    }
}
