//! Data from before: a table, as `mcbo add` takes it.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use mcbo_report::describe;
use mcbo_report::rows::{self, Rows};
use mcbo_store::{Duplicates, StoreError};
use serde::Deserialize;
use serde_json::json;

use super::{read, worker};
use crate::App;
use crate::answer::{Answer, Failure, json_of};
use crate::library::blocking;

/// What to do with rows that the study has already.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Known {
    #[default]
    Refuse,
    Skip,
    Take,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    csv: String,
    /// Actions without a value were neutral.
    #[serde(default)]
    neutral: bool,
    #[serde(default)]
    known: Known,
}

/// Lines that are shown at most.
const SHOWN: usize = 50;

fn refused(text: &str, mut lines: Vec<(u64, String)>) -> Failure {
    lines.truncate(SHOWN);
    // The page has a box where the command line has an option.
    let said = |text: String| text.replace("`--missing neutral`", "that it was neutral, below the table");
    let lines = lines.into_iter().map(|(line, fault)| {
        (line, said(fault).replace("; hint: ", ". Hint: ").replace("\nhint: ", ". Hint: "))
    });
    Failure { lines: lines.collect(), ..Failure::bad(text) }
}

/// Adds the rows of a table, all of them or none.
pub async fn add(
    State(app): State<App>,
    Path(study): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let Table { csv, neutral, known } = read(body).await?;
    let who = worker(&headers);
    blocking(move || {
        let snapshot = app.library.snapshot(&study)?;
        let Rows { table: good, lines, mut bad, skipped, comma } = rows::read(snapshot.problem(), csv.as_bytes(), neutral)
            .map_err(|(message, hint)| Failure::bad(&format!("{message}; hint: {hint}")))?;
        let duplicates = match known {
            Known::Refuse => Duplicates::Refuse,
            Known::Skip => Duplicates::Skip,
            Known::Take => Duplicates::Take,
        };
        let (added, there) = app.library.change(&study, who.as_deref(), None, |study, _| {
            let faults = study.check_table(&good)?;
            bad.extend(faults.iter().map(|fault| (lines[fault.index], fault.fault.to_string())));
            if !bad.is_empty() || good.is_empty() {
                return Ok((0, Vec::new()));
            }
            match study.add_table(&good, duplicates) {
                Err(StoreError::KnownRows(places)) => Ok((0, places)),
                added => Ok((added?, Vec::new())),
            }
        })?;
        if !bad.is_empty() {
            bad.sort();
            let count = describe::count(rows::lines(&bad), "bad row");
            return Err(refused(&format!("{count}, so none was added; hint: mend them, and try again"), bad));
        }
        if good.is_empty() {
            return Err(Failure::bad(
                "there is no row to add; hint: it needs a line of column names and a line for every experiment that was measured",
            ));
        }
        if !there.is_empty() {
            let known = there.iter().map(|&place| (lines[place], "the study has this row already".to_owned()));
            let count = describe::count(there.len(), "row");
            let text = format!(
                "the study has {count} already, so none was added; hint: add only what is new, or all of them as repeated measurements"
            );
            return Err(refused(&text, known.collect()));
        }
        let there = good.len() - added;
        let mut answer = json!({ "added": added, "there": there, "skipped": skipped });
        if let Some(example) = comma {
            answer["note"] = rows::decimal_comma(&example).into();
        }
        Ok(json_of(&answer))
    })
    .await
}
