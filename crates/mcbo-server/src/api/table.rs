//! The table of all trials: filtered, sorted, a page at a time.

use std::cmp::Ordering;

use axum::extract::{Path, RawQuery, State};
use mcbo_core::{Problem, TrialState};
use mcbo_report::{describe, export, json as plain};
use mcbo_store::StoredTrial;
use serde_json::{Value, json};

use super::Query;
use super::studies::tagged;
use crate::App;
use crate::answer::{Answer, Failure};
use crate::library::blocking;

/// Trials on a page of the table, at most.
const PAGE: usize = 200;
/// A page of the table: filtered by state and words, sorted by a column.
pub async fn list(State(app): State<App>, Path(study): Path<String>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::new(query);
    let (page, per) = (query.number("page", 1)?.max(1), query.number("per", 25)?.clamp(1, PAGE));
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let problem = snapshot.problem();
        let (state, text) = (query.get("state").unwrap_or_default(), query.get("q").unwrap_or_default());
        let words = text.to_lowercase();
        let mut found: Vec<&StoredTrial> =
            snapshot.trials.iter().filter(|stored| fits(problem, stored, state, &words)).collect();
        let column = Column::named(problem, query.get("sort").unwrap_or("trial"))?;
        found.sort_by(|one, other| column.compare(problem, one, other));
        if query.get("order") == Some("desc") {
            found.reverse();
            // What has no value stays at the end.
            let (mut with, without): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|stored| column.key(problem, stored) != Key::None);
            with.extend(without);
            found = with;
        }
        let total = found.len();
        let shown = found.into_iter().skip((page - 1).saturating_mul(per)).take(per).map(|stored| {
            let mut object = export::trial(problem, stored);
            object["done_instead"] = describe::done_instead(problem, &stored.trial).into();
            object
        });
        let shown: Vec<Value> = shown.collect();
        let answer = json!({
            "event": snapshot.event, "total": total, "all": snapshot.trials.len(), "page": page, "per": per, "trials": shown,
        });
        Ok(tagged(&snapshot, &answer))
    })
    .await
}

/// Whether a trial is among those that are looked for.
fn fits(problem: &Problem, stored: &StoredTrial, state: &str, words: &str) -> bool {
    let StoredTrial { trial, missing, record, .. } = stored;
    let right = match state {
        "" => true,
        "partial" => trial.state == TrialState::Complete && !missing.is_empty(),
        "corrected" => record.corrected.is_some(),
        "otherwise" => trial.done.is_some(),
        name => trial.state.name() == name,
    };
    let has = |text: &str| text.to_lowercase().contains(words);
    let choices = || {
        let done = problem.actions().iter().zip(&trial.intervention().actions);
        let nodes = problem.nodes().iter().enumerate().filter(|(_, node)| node.is_choice());
        let told = trial.values.as_deref().unwrap_or_default();
        let mut told = nodes.filter_map(|(node, declared)| {
            declared.choice(told.get(problem.slot(node).start).copied().flatten()?)
        });
        done.filter_map(|(action, &value)| action.choice(value)).any(has) || told.any(has)
    };
    right
        && (words.is_empty()
            || trial.number.to_string() == words.trim_start_matches('#')
            || has(&trial.suggestion.strategy)
            || record.worker.as_deref().is_some_and(has)
            || record.reason.as_deref().is_some_and(has)
            || record.voided.as_ref().is_some_and(|(_, reason)| has(reason))
            || choices())
}

/// What a table is sorted by.
enum Column {
    Trial,
    State,
    Worker,
    Told,
    Reward,
    Action(usize),
    Slot(usize),
    Set(usize, usize),
}

#[derive(PartialEq)]
enum Key {
    None,
    Number(f64),
    Text(String),
}

impl Column {
    fn named(problem: &Problem, name: &str) -> Result<Self, Failure> {
        let about = match name {
            "trial" => Some(Self::Trial),
            "state" => Some(Self::State),
            "worker" => Some(Self::Worker),
            "told" => Some(Self::Told),
            "reward" => Some(Self::Reward),
            _ => None,
        };
        // What the problem calls so comes first, under a name that says it.
        let own = name.strip_prefix("value:").unwrap_or(name);
        let slot = (0..problem.nodes().len()).find_map(|node| {
            let mut components = 0..problem.nodes()[node].dim;
            let component = components.find(|&c| mcbo_core::slot_name(problem, node, c) == own)?;
            Some(Self::Slot(problem.slot(node).start + component))
        });
        let set = || {
            problem.settable().into_iter().find_map(|node| {
                let mut components = 0..problem.nodes()[node].dim;
                let component = components.find(|&c| export::set_column(problem, node, c) == own)?;
                Some(Self::Set(node, component))
            })
        };
        let found = if own.len() < name.len() { None } else { about };
        found
            .or_else(|| problem.action_index(own).map(Self::Action))
            .or(slot)
            .or_else(set)
            .ok_or_else(|| Failure::bad(&format!("there is no column {name:?}; hint: sort by trial, state, reward, or the name of a node or an action")))
    }

    fn key(&self, problem: &Problem, stored: &StoredTrial) -> Key {
        let StoredTrial { trial, record, .. } = stored;
        let number = |value: Option<f64>| value.map_or(Key::None, Key::Number);
        match *self {
            Self::Trial => Key::Number(trial.number as f64),
            Self::State => Key::Text(trial.state.name().to_owned()),
            Self::Worker => record.worker.clone().map_or(Key::None, Key::Text),
            Self::Told => number(record.told.map(|at| at as f64)),
            Self::Reward => number(plain::reward(problem, trial)),
            Self::Action(action) => Key::Number(trial.intervention().actions[action]),
            Self::Slot(slot) => number(trial.values.as_ref().and_then(|values| values[slot])),
            Self::Set(node, component) => {
                number(trial.intervention().target(node).map(|values| values[component]))
            }
        }
    }

    fn compare(&self, problem: &Problem, one: &StoredTrial, other: &StoredTrial) -> Ordering {
        match (self.key(problem, one), self.key(problem, other)) {
            (Key::Number(a), Key::Number(b)) => a.total_cmp(&b),
            (Key::Text(a), Key::Text(b)) => a.cmp(&b),
            (Key::None, Key::None) => Ordering::Equal,
            (Key::None, _) => Ordering::Greater,
            (_, Key::None) => Ordering::Less,
            (Key::Number(_), Key::Text(_)) => Ordering::Less,
            (Key::Text(_), Key::Number(_)) => Ordering::Greater,
        }
    }
}
