//! Checks of one action by itself: its range, its steps, its choices.

use super::Checker;
use crate::expr::nearest;
use crate::problem::diagnostics::ProblemError;
use crate::problem::draft::{At, DraftAction, DraftValue, Field};
use crate::problem::{Action, Grid, Scale};

impl Checker<'_> {
    pub(super) fn action(&mut self, index: usize) -> Option<Action> {
        let draft = &self.draft.actions[index];
        let action = match &draft.choices {
            Field::Missing => self.number(draft),
            Field::Given(choices) => self.named(draft, choices),
            Field::Broken => None,
        };
        let place = format!("action `{}`", draft.name.value);
        let (unit, cost) = (self.unit(&place, &draft.unit), self.cost_of(&place, &draft.cost));
        if let Some(At { value: cost, span }) = draft.cost.given()
            && cost.per_unit != 0.0
            && draft.choices != Field::Missing
        {
            self.error(ProblemError::PerUnitOfChoice { action: draft.name.value.clone() }, span);
        }
        if let (Field::Given(At { span, .. }), Field::Missing) = (&draft.retired, &draft.choices) {
            self.error(ProblemError::RetiredWithoutChoices { place }, span);
        }
        Some(Action { unit, cost, ..action? })
    }

    fn number(&mut self, draft: &DraftAction) -> Option<Action> {
        let name = draft.name.value.clone();
        let place = format!("action `{name}`");
        let listed = draft.values.given().map(|values| {
            let others = [("range", span_of(&draft.range)), ("step", span_of(&draft.step))];
            self.listed(&place, values, others)
        });
        let range = match &draft.range {
            _ if draft.values != Field::Missing => {
                listed.clone().flatten().map(|grid| [grid.value(0), grid.value(grid.count() - 1)])
            }
            Field::Given(At { value, span }) => {
                self.range(&format!("`range` of {place}"), *value, span).then_some(*value)
            }
            Field::Missing => {
                self.error(ProblemError::NoRange { action: name.clone() }, &draft.name.span);
                None
            }
            Field::Broken => None,
        };
        let what = format!("`neutral` of action `{name}`");
        let neutral = match draft.neutral.given() {
            Some(At { value: DraftValue::Number(value), .. }) if value.is_finite() => Some(*value),
            Some(At { value: DraftValue::Number(value), span }) => {
                self.error(ProblemError::NotFinite { what, value: *value }, span);
                None
            }
            Some(At { value: DraftValue::Name(found), span }) => {
                let found = format!("{found:?}");
                self.error(ProblemError::WrongType { what, expected: "a number", found }, span);
                None
            }
            None => None,
        };
        let range = range?;
        let grid = match listed {
            Some(listed) => listed,
            None => self.grid(&place, range, &draft.step),
        };
        let first = |value: &f64| {
            (range[0]..=range[1]).contains(value) && grid.as_ref().is_none_or(|grid| grid.holds(*value))
        };
        let default = Some(0.0).filter(first).unwrap_or(range[0]);
        let scale = match draft.scale.given() {
            Some(At { value: Scale::Log, span }) => {
                if let Some(At { span, .. }) = draft.step.given() {
                    self.error(ProblemError::StepOnLog { action: name.clone() }, span);
                }
                // Not every number that is more than 0 has a tenth.
                if range[0] < 1e-100 {
                    self.error(ProblemError::LogOfNone { action: name.clone(), low: range[0] }, span);
                    return None;
                }
                if let (Some(neutral), Field::Given(At { span, .. })) =
                    (neutral.filter(|n| *n < 0.0), &draft.neutral)
                {
                    self.error(ProblemError::NegativeOnLog { action: name.clone(), neutral }, span);
                    return None;
                }
                Scale::Log
            }
            _ => Scale::Linear,
        };
        Some(Action {
            name,
            range,
            neutral: neutral.unwrap_or(default),
            grid,
            choices: Vec::new(),
            unit: None,
            cost: None,
            scale,
        })
    }

    /// The grid of listed values, which these keys cannot stand beside; a list that is none is reported.
    pub(super) fn listed(
        &mut self,
        place: &str,
        values: &At<Vec<f64>>,
        others: impl IntoIterator<Item = (&'static str, Option<Span>)>,
    ) -> Option<Grid> {
        for (key, span) in others {
            if let Some(span) = span {
                self.error(ProblemError::WithValues { place: place.to_owned(), key }, &span);
            }
        }
        let what = format!("`values` of {place}");
        if let Some(&value) = values.value.iter().find(|value| !value.is_finite()) {
            self.error(ProblemError::NotFinite { what, value }, &values.span);
            return None;
        }
        let mut sorted = values.value.clone();
        sorted.sort_by(f64::total_cmp);
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let (place, name) = (what, twice[0].to_string());
            self.error(ProblemError::Repeated { place, name }, &values.span);
            return None;
        }
        let grid = Grid::listed(&sorted);
        if grid.is_none() {
            self.error(
                ProblemError::TooFewValues { place: place.to_owned(), found: sorted.len() },
                &values.span,
            );
        }
        grid
    }

    /// The grid of a range with steps, if there are any; a step that leads nowhere is reported.
    pub(super) fn grid(&mut self, place: &str, range: [f64; 2], step: &Field<f64>) -> Option<Grid> {
        let At { value: step, span } = step.given()?;
        let grid = Grid::new(range, *step);
        if grid.is_none() {
            let (what, width) = (format!("`step` of {place}"), range[1] - range[0]);
            self.error(ProblemError::BadStep { what, step: *step, width }, span);
        }
        grid
    }

    /// The names of an action's or a node's values, which these keys cannot stand beside.
    pub(super) fn choices(
        &mut self,
        place: &str,
        choices: &At<Vec<At<String>>>,
        others: impl IntoIterator<Item = (&'static str, Option<Span>)>,
    ) -> Option<Vec<String>> {
        for (key, span) in others {
            if let Some(span) = span {
                self.error(ProblemError::WithChoices { place: place.to_owned(), key }, &span);
            }
        }
        if choices.value.len() < 2 {
            let (place, found) = (place.to_owned(), choices.value.len());
            self.error(ProblemError::TooFewChoices { place, found }, &choices.span);
            return None;
        }
        let mut known: Vec<String> = Vec::new();
        for choice in &choices.value {
            if !is_choice(&choice.value) {
                let error = ProblemError::BadChoice { place: place.to_owned(), name: choice.value.clone() };
                self.error(error, &choice.span);
            } else if known.contains(&choice.value) {
                self.repeated(&format!("`choices` of {place}"), choice);
            }
            known.push(choice.value.clone());
        }
        Some(known)
    }

    fn named(&mut self, draft: &DraftAction, choices: &At<Vec<At<String>>>) -> Option<Action> {
        let name = draft.name.value.clone();
        let others = [
            ("range", span_of(&draft.range)),
            ("step", span_of(&draft.step)),
            ("values", span_of(&draft.values)),
            ("scale", span_of(&draft.scale)),
        ];
        let known = self.choices(&format!("action `{name}`"), choices, others)?;
        let grid = self.left(&format!("action `{name}`"), &known, &draft.retired);
        let neutral = match draft.neutral.given() {
            None => grid.as_ref().map(|grid| grid.value(0) as usize),
            Some(At { value, span }) => {
                let found = match value {
                    DraftValue::Name(found) => found.clone(),
                    DraftValue::Number(found) => found.to_string(),
                };
                let place = known.iter().position(|choice| *choice == found);
                if place.is_none() {
                    let error = ProblemError::UnknownChoice {
                        what: format!("`neutral` of action `{name}`"),
                        nearest: nearest(&found, known.iter().map(String::as_str)).map(str::to_owned),
                        found: found.clone(),
                        known: known.clone(),
                    };
                    self.error(error, span);
                }
                if let (Some(place), Some(grid)) = (place, &grid)
                    && !grid.holds(place as f64)
                {
                    self.error(ProblemError::RetiredNeutral { action: name.clone(), neutral: found }, span);
                }
                place
            }
        };
        let range = [0.0, (known.len() - 1) as f64];
        Some(Action {
            name,
            range,
            neutral: neutral? as f64,
            grid: Some(grid?),
            choices: known,
            unit: None,
            cost: None,
            scale: Scale::Linear,
        })
    }

    /// The places of the names that may still be proposed.
    pub(super) fn left(
        &mut self,
        place: &str,
        known: &[String],
        retired: &Field<Vec<At<String>>>,
    ) -> Option<Grid> {
        let mut left: Vec<f64> = (0..known.len()).map(|place| place as f64).collect();
        let Some(At { value: names, span }) = retired.given() else { return Grid::of_names(&left) };
        let what = format!("`retired` of {place}");
        for name in names {
            match known.iter().position(|choice| *choice == name.value) {
                Some(place) if left.contains(&(place as f64)) => left.retain(|other| *other != place as f64),
                Some(_) => self.repeated(&what, name),
                None => {
                    let error = ProblemError::UnknownChoice {
                        what: what.clone(),
                        nearest: nearest(&name.value, known.iter().map(String::as_str)).map(str::to_owned),
                        found: name.value.clone(),
                        known: known.to_vec(),
                    };
                    self.error(error, &name.span);
                }
            }
        }
        if left.is_empty() {
            self.error(ProblemError::AllRetired { place: place.to_owned() }, span);
        }
        Grid::of_names(&left)
    }
}

/// Where something stands, if that is known.
type Span = Option<std::ops::Range<usize>>;

/// Where a field stands that is not missing.
pub(super) fn span_of<T>(field: &Field<T>) -> Option<Span> {
    match field {
        Field::Missing => None,
        Field::Broken => Some(None),
        Field::Given(at) => Some(at.span.clone()),
    }
}

/// Whether a text can be written wherever a value can: in a cell of a table, behind `=` and between commas.
fn is_choice(name: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, ',' | ';' | '=' | '"' | '\'');
    !name.is_empty() && name.trim() == name && !name.contains(odd)
}
