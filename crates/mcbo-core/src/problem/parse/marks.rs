//! Limits and costs as a file writes them.

use super::{At, Reader, Value};
use crate::problem::{Cost, Limit, Scale};

const LIMIT: &[&str] = &["below", "above", "probability"];
const LIMIT_FORMS: &str =
    "{ below = LEVEL }, { above = LEVEL } or both, with a `probability` if it is not 0.9";
const COST: &[&str] = &["fixed", "per_unit"];
const COST_FORMS: &str = "{ fixed = COST }, { per_unit = COST } or both";

const SCALES: [Scale; 2] = [Scale::Linear, Scale::Log];

impl Reader<'_> {
    pub(super) fn scale(&mut self, what: &str, value: &Value<'_>) -> Option<At<Scale>> {
        let found = SCALES.into_iter().find(|scale| value.get_ref().as_str() == Some(scale.name()));
        if found.is_none() {
            self.wrong_type(what, "\"log\" or \"linear\"", value);
        }
        Some(At::new(found?, value.span()))
    }

    pub(super) fn limit(&mut self, what: &str, value: &Value<'_>) -> Option<At<Limit>> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(what, LIMIT_FORMS, value);
            return None;
        };
        let (mut limit, mut good) =
            (Limit { below: None, above: None, probability: Limit::PROBABILITY }, true);
        for (key, entry) in table {
            let name = key.get_ref().as_ref();
            if !LIMIT.contains(&name) {
                self.unknown_key(name, key.span(), what, LIMIT);
                good = false;
                continue;
            }
            match (name, self.number(&format!("`{name}`"), entry)) {
                // What is wrong was said.
                (_, None) => good = false,
                ("below", level) => limit.below = level,
                ("above", level) => limit.above = level,
                (_, Some(probability)) => limit.probability = probability,
            }
        }
        if good && limit.levels().next().is_none() {
            self.wrong_type(what, LIMIT_FORMS, value);
            good = false;
        }
        good.then(|| At::new(limit, value.span()))
    }

    pub(super) fn cost(&mut self, what: &str, value: &Value<'_>) -> Option<At<Cost>> {
        let table = value.get_ref().as_table().filter(|table| !table.is_empty());
        let Some(table) = table else {
            self.wrong_type(what, COST_FORMS, value);
            return None;
        };
        let mut cost = Some(Cost::default());
        for (key, entry) in table {
            let name = key.get_ref().as_ref();
            if !COST.contains(&name) {
                self.unknown_key(name, key.span(), what, COST);
                cost = None;
                continue;
            }
            let number = self.number(&format!("`{name}`"), entry);
            cost = cost.zip(number).map(|(cost, number)| match name {
                "fixed" => Cost { fixed: number, ..cost },
                _ => Cost { per_unit: number, ..cost },
            });
        }
        Some(At::new(cost?, value.span()))
    }
}
