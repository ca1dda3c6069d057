//! Who did what and when, in words and for programs.

use mcbo_core::Problem;
use mcbo_store::{Deed, Happening, Row};
use serde_json::{Map, Value, json};

use crate::changes::changes;
use crate::{describe, json, timestamp};

/// `a=1 b=2,3 strain=wild`.
fn named<'a>(problem: &Problem, values: impl IntoIterator<Item = (String, &'a [f64])>) -> String {
    let one = |(name, values): (String, &[f64])| {
        let values = values.iter().map(|&value| describe::chosen_value(problem, &name, value));
        format!("{name}={}", values.collect::<Vec<_>>().join(","))
    };
    values.into_iter().map(one).collect::<Vec<_>>().join(" ")
}

/// What is done, all of it.
fn doing(problem: &Problem, row: &Row) -> String {
    let set = row.targets.iter().map(|(name, values)| (format!("do({name})"), values.as_slice()));
    let actions = row.actions.iter().map(|(name, value)| (name.clone(), std::slice::from_ref(value)));
    named(problem, set.chain(actions))
}

/// A reason in brackets, if there is one.
fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" ({reason})") }
}

/// One thing that happened, in words.
pub fn sentence(problem: &Problem, what: &Deed) -> String {
    match what {
        Deed::Created { strategy, seed, initial } => {
            let design = describe::count(*initial, "trial");
            format!("began the study: {} proposes, seed {seed}, a design of {design}", strategy.strategy)
        }
        Deed::ProblemChanged { before, after } => match changes(before, after) {
            lines if lines.is_empty() => "changed the text of the problem and nothing of what it says".into(),
            lines => format!("changed the problem: {}", lines.join("; ")),
        },
        Deed::Asked { trial, strategy, doing: row } => {
            let known = row.values.iter().map(|(name, values)| (name.clone(), values.as_slice()));
            let given = match row.values.is_empty() {
                true => String::new(),
                false => format!(" given {}", named(problem, known)),
            };
            format!("asked for trial {trial}{given}, by {strategy}: {}", doing(problem, row))
        }
        Deed::Retried { trial } => format!("took up trial {trial}"),
        Deed::Kept { trial } => format!("is still at trial {trial}"),
        Deed::Released { trial, reason } => format!("gave trial {trial} back{}", because(reason)),
        Deed::Noted { trial, attributes } => {
            let written: Vec<String> =
                attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let beside = trial.map_or_else(|| "the study".into(), |trial| format!("trial {trial}"));
            format!("noted beside {beside}: {}", written.join(" "))
        }
        Deed::Told { trial, values } => {
            let values = values.iter().map(|(name, values)| (name.clone(), values.as_slice()));
            format!("told of trial {trial}: {}", named(problem, values))
        }
        Deed::Corrected { trial, values, reason } => {
            let values = values.iter().map(|(name, values)| (name.clone(), values.as_slice()));
            format!("corrected trial {trial}: {}{}", named(problem, values), because(reason))
        }
        Deed::Voided { trials, reason } => {
            format!("took out {}{}", describe::trials(trials), because(reason))
        }
        Deed::Restored { trials, reason } => {
            format!("put back {}{}", describe::trials(trials), because(reason))
        }
        Deed::Failed { trial, reason } if reason.is_empty() => format!("marked trial {trial} as failed"),
        Deed::Failed { trial, reason } => format!("marked trial {trial} as failed: {reason}"),
        Deed::Added { trials } => match trials.clone().count() {
            1 => format!("added trial {}", trials.start()),
            _ => format!("added trials {} to {}", trials.start(), trials.end()),
        },
        // What a newer store knows.
        _ => "did something else".into(),
    }
}

/// One thing that happened, for a program.
pub fn object(problem: &Problem, happening: &Happening) -> Value {
    let action = |(name, &value): (&String, &f64)| (name.clone(), json::value(problem, name, value));
    let value = |(name, values): (&String, &Vec<f64>)| match values[..] {
        [one] => action((name, &one)),
        _ => (name.clone(), single(values)),
    };
    let mut object = Map::new();
    object.insert("event".into(), happening.seq.into());
    object.insert("at".into(), timestamp::exact(happening.at).into());
    object.insert("who".into(), happening.who.clone().into());
    object.insert("kind".into(), happening.kind.clone().into());
    let more = match &happening.what {
        Deed::Created { strategy, seed, initial } => json!({
            "strategy": strategy.strategy, "preset": strategy.preset, "beta": strategy.beta, "seed": seed,
            "initial": initial,
        }),
        Deed::Asked { trial, strategy, doing } => json!({
            "trial": trial, "strategy": strategy,
            "intervention": {
                "targets": doing.targets.keys().collect::<Vec<_>>(),
                "values": doing.targets.iter().map(value).collect::<Map<_, _>>(),
                "actions": doing.actions.iter().map(action).collect::<Map<_, _>>(),
            },
        }),
        Deed::Retried { trial } | Deed::Kept { trial } => json!({ "trial": trial }),
        Deed::Released { trial, reason } => json!({ "trial": trial, "reason": reason }),
        Deed::Noted { trial, attributes } => json!({ "trial": trial, "attributes": attributes }),
        Deed::Told { trial, values } => json!({
            "trial": trial,
            "values": values.iter().map(value).collect::<Map<_, _>>(),
        }),
        Deed::Corrected { trial, values, reason } => json!({
            "trial": trial, "reason": reason,
            "values": values.iter().map(value).collect::<Map<_, _>>(),
        }),
        Deed::Voided { trials, reason } | Deed::Restored { trials, reason } => {
            json!({ "trials": trials, "reason": reason })
        }
        Deed::Failed { trial, reason } => json!({ "trial": trial, "reason": reason }),
        Deed::ProblemChanged { before, after } => json!({ "changes": changes(before, after) }),
        Deed::Added { trials } => json!({ "trials": [trials.start(), trials.end()] }),
        _ => json!({}),
    };
    if let Value::Object(more) = more {
        object.extend(more);
    }
    if let Deed::Asked { doing, .. } = &happening.what
        && !doing.values.is_empty()
    {
        object.insert("given".into(), doing.values.iter().map(value).collect::<Map<_, _>>().into());
    }
    object.into()
}

/// One number by itself, several as an array.
fn single(values: &[f64]) -> Value {
    match values {
        [value] => (*value).into(),
        values => values.into(),
    }
}
