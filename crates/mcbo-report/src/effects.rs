//! What matters, for programs.

use mcbo_core::{Effect, Effects, Recommendation, Study};
use serde_json::{Value, json};

use crate::json;

/// Effects for scripts.
pub fn document(name: &str, study: &Study, recommendation: &Recommendation, effects: &Effects) -> Value {
    let problem = study.problem();
    let node = |node: usize| problem.nodes()[node].name.as_str();
    // Where the values of what is moved have names, the best and the worst of them.
    let numbers = |moved: &str, Effect { effect, lower, upper, best, worst, .. }: &Effect| {
        let [best, worst] = [best, worst].map(|&value| json::value(problem, moved, value));
        json!({ "effect": effect, "lower": lower, "upper": upper, "best": best, "worst": worst })
    };
    let with = |mut object: Value, names: &[(&str, &str)]| {
        if let Value::Object(object) = &mut object {
            names.iter().for_each(|(key, value)| _ = object.insert((*key).into(), (*value).into()));
        }
        object
    };
    let actions =
        effects.actions.iter().map(|(name, effect)| with(numbers(name, effect), &[("name", name.as_str())]));
    let arrows = effects.arrows.iter();
    let arrows = arrows.map(|(from, to, effect)| {
        with(numbers(node(*from), effect), &[("from", node(*from)), ("to", node(*to))])
    });
    let unknown = effects.unknown.iter().map(|(at, share)| json!({ "node": node(*at), "share": share }));
    json!({
        "study": name,
        "about": json::intervention(problem, &recommendation.intervention),
        "given": json::given(problem, &recommendation.given),
        "actions": actions.collect::<Vec<_>>(),
        "arrows": arrows.collect::<Vec<_>>(),
        "unknown": unknown.collect::<Vec<_>>(),
        "warnings": json::warnings(&recommendation.warnings),
    })
}
