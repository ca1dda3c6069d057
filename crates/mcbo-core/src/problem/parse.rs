//! From a TOML file to a draft, remembering where everything stood.

mod marks;

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostics::{Diagnostic, ProblemError, ProblemErrors};
use super::draft::{
    At, Draft, DraftAction, DraftNode, DraftRanges, DraftSets, DraftSimulator, DraftValue, Field, Formulas,
};
use super::{Aim, Components, Noise, Problem, check};
use crate::expr::nearest;

const TOP: &[&str] = &["name", "maximize", "minimize", "aim", "nodes", "actions", "constraints", "simulator"];
const NODE: &[&str] = &[
    "parents",
    "actions",
    "dim",
    "noise",
    "do",
    "step",
    "choices",
    "retired",
    "range",
    "formula",
    "kernel",
    "components",
    "unit",
    "context",
    "limit",
    "cost",
];
const ACTION: &[&str] =
    &["range", "scale", "neutral", "step", "values", "choices", "retired", "unit", "cost"];
const CONSTRAINTS: &[&str] = &["max_interventions", "sets", "possibly_optimal", "require"];
const NOISE: &[&str] = &["gaussian", "uniform"];
const NOISE_FORMS: &str = "\"learn\", \"none\", { gaussian = STD } or { uniform = [LOW, HIGH] }";

pub(super) fn parse(text: &str) -> Result<Problem, ProblemErrors> {
    let mut reader = Reader { source: text, errors: Vec::new() };
    reader.read().map_err(|errors| ProblemErrors::new(errors, Some(text.to_owned())))
}

type Value<'i> = Spanned<DeValue<'i>>;

struct Reader<'s> {
    source: &'s str,
    errors: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<Problem, Vec<Diagnostic>> {
        let (document, errors) = DeTable::parse_recoverable(self.source);
        let mut understood = true;
        for error in errors {
            let span = error.span();
            let words = span.clone().and_then(|span| self.source.get(span)).unwrap_or_default();
            let error = if error.message().contains("duplicate key") {
                ProblemError::DuplicateKey { key: words.to_owned() }
            } else {
                understood = false;
                ProblemError::Syntax { message: error.message().to_owned() }
            };
            self.errors.push(Diagnostic { error, span });
        }
        // What was recovered from broken TOML is a guess, and checking a guess accuses the innocent.
        if !understood {
            return Err(std::mem::take(&mut self.errors));
        }
        if document.get_ref().is_empty() {
            self.errors.push(Diagnostic { error: ProblemError::Empty, span: None });
            return Err(std::mem::take(&mut self.errors));
        }
        let draft = self.draft(document.get_ref());
        check::check(&draft, std::mem::take(&mut self.errors))
    }

    fn error(&mut self, error: ProblemError, span: Range<usize>) {
        self.errors.push(Diagnostic { error, span: Some(span) });
    }

    fn wrong_type(&mut self, what: &str, expected: &'static str, value: &Value<'_>) {
        let found = describe(value.get_ref());
        self.error(ProblemError::WrongType { what: what.to_owned(), expected, found }, value.span());
    }

    /// Reports an unknown key and gives the known one that was probably meant.
    fn unknown_key(
        &mut self,
        key: &str,
        span: Range<usize>,
        place: &str,
        known: &'static [&'static str],
    ) -> Option<&'static str> {
        let near = nearest(key, known.iter().copied());
        let error =
            ProblemError::UnknownKey { key: key.to_owned(), place: place.to_owned(), nearest: near, known };
        self.error(error, span);
        near
    }

    fn draft(&mut self, document: &DeTable<'_>) -> Draft {
        let mut draft = Draft::default();
        for (key, value) in document {
            let name = key.get_ref().as_ref();
            // A slip in a key must not be followed by complaints that the right key is missing.
            let meant = match TOP.contains(&name) {
                true => name,
                false => match self.unknown_key(name, key.span(), "the problem", TOP) {
                    Some("maximize") => {
                        draft.maximize = Field::Broken;
                        continue;
                    }
                    Some("minimize") => {
                        draft.minimize = Field::Broken;
                        continue;
                    }
                    Some(meant @ ("nodes" | "actions")) => meant,
                    _ => continue,
                },
            };
            match meant {
                "name" => draft.name = self.field(value, |reader| reader.text("`name`", value)),
                "maximize" => draft.maximize = self.field(value, |reader| reader.text("`maximize`", value)),
                "minimize" => draft.minimize = self.field(value, |reader| reader.text("`minimize`", value)),
                "aim" => draft.aim = self.field(value, |reader| reader.aim(value)),
                "nodes" => draft.nodes_broken |= self.nodes(value, &mut draft.nodes).is_none(),
                "actions" => draft.actions_broken |= self.actions(value, &mut draft.actions).is_none(),
                "constraints" => self.constraints(value, &mut draft),
                _ => draft.simulator = self.field(value, |reader| reader.simulator(value)),
            }
        }
        draft
    }

    /// Runs a reader and keeps apart what is missing from what was wrong.
    fn field<T>(&mut self, value: &Value<'_>, read: impl FnOnce(&mut Self) -> Option<At<T>>) -> Field<T> {
        match read(self) {
            Some(At { value: read, span }) => {
                Field::Given(At { value: read, span: span.or_else(|| Some(value.span())) })
            }
            None => Field::Broken,
        }
    }

    fn table<'v, 'i>(&mut self, what: &str, value: &'v Value<'i>) -> Option<&'v DeTable<'i>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(what, "a table", value);
        }
        table
    }

    fn nodes(&mut self, value: &Value<'_>, nodes: &mut Vec<DraftNode>) -> Option<()> {
        let mut complete = Some(());
        for (key, value) in self.table("`nodes`", value)? {
            let name = key.get_ref().as_ref();
            match self.table(&format!("node `{name}`"), value) {
                Some(table) => {
                    let node = self.node(At::new(name.to_owned(), key.span()), table);
                    nodes.push(node);
                }
                None => complete = None,
            }
        }
        complete
    }

    fn node(&mut self, name: At<String>, table: &DeTable<'_>) -> DraftNode {
        let place = format!("node `{}`", name.value);
        let mut node = DraftNode { name, ..DraftNode::default() };
        for (key, value) in table {
            let what = format!("`{}` of {place}", key.get_ref());
            match key.get_ref().as_ref() {
                "parents" => match self.texts(&what, "an array of node names", value) {
                    Some(names) => node.parents = names,
                    None => node.inputs_broken = true,
                },
                "actions" => match self.texts(&what, "an array of action names", value) {
                    Some(names) => node.actions = names,
                    None => node.inputs_broken = true,
                },
                "dim" => node.dim = self.field(value, |reader| reader.integer(&what, value)),
                "noise" => node.noise = self.field(value, |reader| reader.noise(&what, value)),
                "do" => node.hard = self.field(value, |reader| reader.ranges(&what, value)),
                "step" => node.step = self.field(value, |reader| reader.number(&what, value).map(At::from)),
                "range" => node.range = self.field(value, |reader| reader.pair(&what, value)),
                "formula" => node.formula = self.field(value, |reader| reader.formulas(&what, value)),
                "kernel" => node.kernel = self.field(value, |reader| reader.text(&what, value)),
                "components" => node.components = self.field(value, |reader| reader.components(&what, value)),
                "unit" => node.unit = self.field(value, |reader| reader.text(&what, value)),
                "context" => node.context = self.field(value, |reader| reader.boolean(&what, value)),
                "limit" => node.limit = self.field(value, |reader| reader.limit(&what, value)),
                "cost" => node.cost = self.field(value, |reader| reader.cost(&what, value)),
                "choices" => node.choices = self.field(value, |reader| reader.names(&what, value)),
                "retired" => node.retired = self.field(value, |reader| reader.names(&what, value)),
                unknown => match self.unknown_key(unknown, key.span(), &place, NODE) {
                    Some("parents" | "actions") => node.inputs_broken = true,
                    Some("dim") => node.dim = Field::Broken,
                    Some("noise") => node.noise = Field::Broken,
                    Some("do") => node.hard = Field::Broken,
                    Some("formula") => node.formula = Field::Broken,
                    Some("choices") => node.choices = Field::Broken,
                    _ => {}
                },
            }
        }
        node
    }

    fn actions(&mut self, value: &Value<'_>, actions: &mut Vec<DraftAction>) -> Option<()> {
        let mut complete = Some(());
        for (key, value) in self.table("`actions`", value)? {
            let place = format!("action `{}`", key.get_ref());
            let Some(table) = self.table(&place, value) else {
                complete = None;
                continue;
            };
            let name = At::new(key.get_ref().as_ref().to_owned(), key.span());
            let mut action = DraftAction { name, ..DraftAction::default() };
            for (key, value) in table {
                let what = format!("`{}` of {place}", key.get_ref());
                match key.get_ref().as_ref() {
                    "range" => action.range = self.field(value, |reader| reader.pair(&what, value)),
                    "neutral" => {
                        action.neutral = self.field(value, |reader| reader.value(&what, value));
                    }
                    "unit" => action.unit = self.field(value, |reader| reader.text(&what, value)),
                    "cost" => action.cost = self.field(value, |reader| reader.cost(&what, value)),
                    "step" => {
                        action.step = self.field(value, |reader| reader.number(&what, value).map(At::from));
                    }
                    "values" => action.values = self.field(value, |reader| reader.values(&what, value)),
                    "choices" => action.choices = self.field(value, |reader| reader.names(&what, value)),
                    "retired" => action.retired = self.field(value, |reader| reader.names(&what, value)),
                    "scale" => action.scale = self.field(value, |reader| reader.scale(&what, value)),
                    unknown => match self.unknown_key(unknown, key.span(), &place, ACTION) {
                        Some("range") => action.range = Field::Broken,
                        Some("choices") => action.choices = Field::Broken,
                        Some("step") => action.step = Field::Broken,
                        Some("values") => action.values = Field::Broken,
                        _ => {}
                    },
                }
            }
            actions.push(action);
        }
        complete
    }

    fn constraints(&mut self, value: &Value<'_>, draft: &mut Draft) {
        let Some(table) = self.table("`constraints`", value) else { return };
        for (key, value) in table {
            let what = format!("`{}`", key.get_ref());
            match key.get_ref().as_ref() {
                "max_interventions" => {
                    draft.max_interventions = self.field(value, |reader| reader.integer(&what, value));
                }
                "sets" => draft.sets = self.field(value, |reader| reader.sets(&what, value)),
                "possibly_optimal" => {
                    draft.possibly_optimal = self.field(value, |reader| reader.boolean(&what, value));
                }
                "require" => {
                    let texts = self.texts(&what, "an array of texts such as \"a + b <= 120\"", value);
                    draft.require = texts.unwrap_or_default();
                }
                unknown => {
                    self.unknown_key(unknown, key.span(), "`constraints`", CONSTRAINTS);
                }
            }
        }
    }

    fn simulator(&mut self, value: &Value<'_>) -> Option<At<DraftSimulator>> {
        let mut entries = Vec::new();
        for (key, value) in self.table("`simulator`", value)? {
            let what = format!("the simulator of node `{}`", key.get_ref());
            let formulas = self.field(value, |reader| reader.formulas(&what, value));
            entries.push((At::new(key.get_ref().as_ref().to_owned(), key.span()), formulas));
        }
        Some(At::new(entries, value.span()))
    }

    fn text(&mut self, what: &str, value: &Value<'_>) -> Option<At<String>> {
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(what, "a string", value);
            return None;
        };
        // The bytes between the quotes, if they say the text as it is, without escapes.
        let span = value.span();
        let verbatim = self.source.get(span.clone()).and_then(|words| words.find(text));
        let span = match verbatim {
            Some(at) if !text.is_empty() => span.start + at..span.start + at + text.len(),
            _ => span,
        };
        Some(At::new(text.to_owned(), span))
    }

    fn texts(&mut self, what: &str, expected: &'static str, value: &Value<'_>) -> Option<Vec<At<String>>> {
        let Some(array) = value.get_ref().as_array() else {
            self.wrong_type(what, expected, value);
            return None;
        };
        let texts: Vec<_> =
            array.iter().map(|value| self.text(&format!("every entry of {what}"), value)).collect();
        texts.into_iter().collect()
    }

    fn names(&mut self, what: &str, value: &Value<'_>) -> Option<At<Vec<At<String>>>> {
        let numbers = |array: &toml::de::DeArray<'_>| {
            array.iter().all(|entry| matches!(entry.get_ref(), DeValue::Integer(_) | DeValue::Float(_)))
        };
        if value.get_ref().as_array().is_some_and(|array| !array.is_empty() && numbers(array)) {
            self.wrong_type(what, "an array of names (numbers are listed under `values`)", value);
            return None;
        }
        let names = self.texts(what, "an array of names", value)?;
        Some(At::new(names, value.span()))
    }

    fn number(&mut self, what: &str, value: &Value<'_>) -> Option<f64> {
        let number = match value.get_ref() {
            DeValue::Integer(integer) => {
                i128::from_str_radix(integer.as_str(), integer.radix()).ok().map(|integer| integer as f64)
            }
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => None,
        };
        if number.is_none() {
            self.wrong_type(what, "a number", value);
        }
        number
    }

    fn values(&mut self, what: &str, value: &Value<'_>) -> Option<At<Vec<f64>>> {
        let Some(array) = value.get_ref().as_array() else {
            self.wrong_type(what, "an array of numbers", value);
            return None;
        };
        let entry = format!("every entry of {what}");
        let values: Vec<_> = array.iter().map(|value| self.number(&entry, value)).collect();
        Some(At::new(values.into_iter().collect::<Option<_>>()?, value.span()))
    }

    /// A number, or the name of a choice.
    fn value(&mut self, what: &str, value: &Value<'_>) -> Option<At<DraftValue>> {
        if value.get_ref().is_str() {
            return self
                .text(what, value)
                .map(|At { value, span }| At { value: DraftValue::Name(value), span });
        }
        self.number(what, value).map(|number| At::new(DraftValue::Number(number), value.span()))
    }

    fn integer(&mut self, what: &str, value: &Value<'_>) -> Option<At<i64>> {
        let integer = value
            .get_ref()
            .as_integer()
            .and_then(|integer| i64::from_str_radix(integer.as_str(), integer.radix()).ok());
        if integer.is_none() {
            self.wrong_type(what, "a whole number", value);
        }
        Some(At::new(integer?, value.span()))
    }

    fn boolean(&mut self, what: &str, value: &Value<'_>) -> Option<At<bool>> {
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            self.wrong_type(what, "true or false", value);
        }
        Some(At::new(boolean?, value.span()))
    }

    fn pair(&mut self, what: &str, value: &Value<'_>) -> Option<At<[f64; 2]>> {
        match value.get_ref().as_array().map(|array| array.iter().collect::<Vec<_>>()).as_deref() {
            Some([lo, hi]) => {
                let what = format!("every end of {what}");
                let (lo, hi) = (self.number(&what, lo), self.number(&what, hi));
                Some(At::new([lo?, hi?], value.span()))
            }
            _ => {
                self.wrong_type(what, "a pair [LOW, HIGH]", value);
                None
            }
        }
    }

    fn ranges(&mut self, what: &str, value: &Value<'_>) -> Option<At<DraftRanges>> {
        if value.get_ref().as_bool() == Some(true) {
            return Some(At::new(DraftRanges::Names, value.span()));
        }
        if let DeValue::Table(table) = value.get_ref() {
            let mut entries = table.iter();
            return match (entries.next(), entries.next()) {
                (Some((key, values)), None) if key.get_ref() == "values" => {
                    let what = format!("`values` in {what}");
                    self.values(&what, values)
                        .map(|At { value, span }| At { value: DraftRanges::Listed(value), span })
                }
                _ => {
                    self.wrong_type(what, "a pair [LOW, HIGH], or { values = [...] }", value);
                    None
                }
            };
        }
        let ranges = match value.get_ref().as_array() {
            Some(array) if array.iter().any(|entry| entry.get_ref().is_array()) => {
                let each: Vec<_> = array.iter().map(|entry| self.pair(what, entry)).collect();
                DraftRanges::Each(each.into_iter().collect::<Option<_>>()?)
            }
            _ => DraftRanges::One(self.pair(what, value)?.value),
        };
        Some(At::new(ranges, value.span()))
    }

    fn formulas(&mut self, what: &str, value: &Value<'_>) -> Option<At<Formulas>> {
        let texts = match value.get_ref() {
            DeValue::Array(_) => self.texts(what, "", value)?,
            DeValue::String(_) => vec![self.text(what, value)?],
            // A constant needs no quotes.
            DeValue::Integer(_) | DeValue::Float(_) => {
                vec![At::new(self.source.get(value.span()).unwrap_or_default().to_owned(), value.span())]
            }
            _ => {
                self.wrong_type(what, "a formula in quotes, or an array of them", value);
                return None;
            }
        };
        Some(At::new(Formulas(texts), value.span()))
    }

    fn components(&mut self, what: &str, value: &Value<'_>) -> Option<At<Components>> {
        let components = match value.get_ref().as_str() {
            Some("independent") => Components::Independent,
            Some("coregionalised" | "coregionalized") => Components::Coregionalised,
            _ => {
                self.wrong_type(what, "\"independent\" or \"coregionalised\"", value);
                return None;
            }
        };
        Some(At::new(components, value.span()))
    }

    fn aim(&mut self, value: &Value<'_>) -> Option<At<Aim>> {
        let aim = value.get_ref().as_str().and_then(|name| name.parse().ok());
        if aim.is_none() {
            self.wrong_type("`aim`", "\"earn\" or \"find\"", value);
        }
        aim.map(|aim| At::new(aim, value.span()))
    }

    fn noise(&mut self, what: &str, value: &Value<'_>) -> Option<At<Noise>> {
        let noise = match value.get_ref() {
            DeValue::String(text) if text == "none" => Noise::None,
            DeValue::String(text) if text == "learn" => Noise::Learn,
            DeValue::Table(table) => {
                let mut entries = table.iter();
                let (Some((key, entry)), None) = (entries.next(), entries.next()) else {
                    self.wrong_type(what, NOISE_FORMS, value);
                    return None;
                };
                match key.get_ref().as_ref() {
                    "gaussian" => Noise::Gaussian(self.number("`gaussian`", entry)?),
                    "uniform" => Noise::Uniform(self.pair("`uniform`", entry)?.value),
                    unknown => {
                        self.unknown_key(unknown, key.span(), what, NOISE);
                        return None;
                    }
                }
            }
            _ => {
                self.wrong_type(what, NOISE_FORMS, value);
                return None;
            }
        };
        Some(At::new(noise, value.span()))
    }

    fn sets(&mut self, what: &str, value: &Value<'_>) -> Option<At<DraftSets>> {
        let expected = "an array of arrays of node names";
        let Some(array) = value.get_ref().as_array() else {
            self.wrong_type(what, expected, value);
            return None;
        };
        let sets: Vec<_> = array
            .iter()
            .map(|entry| {
                let names = self.texts(&format!("every set of {what}"), "an array of node names", entry)?;
                Some(At::new(names, entry.span()))
            })
            .collect();
        Some(At::new(sets.into_iter().collect::<Option<_>>()?, value.span()))
    }
}

/// What a value is, with its article.
fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 40 => format!("{text:?}"),
        DeValue::String(_) => "a long string".to_owned(),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(array) => format!("an array of {}", array.len()),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
