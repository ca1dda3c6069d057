//! What was run, and where the comparison is uneven.

use std::collections::BTreeSet;

use crate::suite::applies;

use super::numbers::counted;
use super::view::View;

/// The extent of the runs.
pub(crate) struct Coverage {
    /// Seeds per cell, fewest and most.
    pub(crate) seeds: [usize; 2],
    /// Rounds per run, fewest and most.
    pub(crate) rounds: [usize; 2],
    /// What the reader has to be warned of.
    pub(crate) warnings: Vec<String>,
    pub(crate) runs: usize,
}

impl Coverage {
    pub(crate) fn of(view: &View<'_>) -> Self {
        let results = view.results;
        let cells = || {
            let pairs =
                results.tasks().iter().flat_map(|task| results.methods().iter().map(move |m| (task, m)));
            pairs.map(|(task, method)| (task, method, results.runs(task, method)))
        };
        let seeds = range(cells().map(|(_, _, runs)| runs.len()).filter(|count| *count > 0));
        let rounds = range(results.all().map(|run| run.rounds.len()));
        let mut warnings = Vec::new();
        if seeds[1] == 1 {
            warnings.push(
                "There is one seed only: no error is known, and no difference can be told from chance."
                    .into(),
            );
        } else if seeds[0] != seeds[1] {
            warnings.push(format!(
                "Not all methods have the same number of seeds ({} to {}): n is shown in every cell.",
                seeds[0], seeds[1]
            ));
        }
        let seed_sets: BTreeSet<Vec<u64>> = cells()
            .map(|(_, _, runs)| runs.iter().map(|run| run.seed).collect())
            .filter(|seeds: &Vec<u64>| !seeds.is_empty())
            .collect();
        if seeds[0] == seeds[1] && seed_sets.len() > 1 {
            warnings.push(
                "Not all methods were run with the same seeds; differences count those that both have."
                    .into(),
            );
        }
        if rounds[0] != rounds[1] {
            warnings.push(format!(
                "Not all runs have the same number of rounds ({} to {}): averages and regrets of longer runs are not those of shorter ones. Curves end with the shortest run of their method.",
                rounds[0], rounds[1]
            ));
        }
        let missing: Vec<String> = cells()
            .filter(|(task, method, runs)| runs.is_empty() && applies(method, task.problem()))
            .map(|(task, method, _)| format!("{method} on {}", task.name()))
            .collect();
        if !missing.is_empty() {
            warnings.push(missing_text(&missing));
        }
        Self { seeds, rounds, warnings, runs: results.all().count() }
    }

    /// Whether cells show their own number of seeds.
    pub(crate) fn is_uneven(&self) -> bool {
        self.seeds[0] != self.seeds[1]
    }

    /// `20 seeds`, or `2 to 20 seeds`.
    pub(crate) fn text([fewest, most]: [usize; 2], noun: &str) -> String {
        if fewest == most { counted(most, noun) } else { format!("{fewest} to {}", counted(most, noun)) }
    }
}

fn missing_text(missing: &[String]) -> String {
    const SHOWN: usize = 8;
    let listed = missing.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let rest = missing.len().saturating_sub(SHOWN);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!(
        "There are no runs of {listed}{more}. Scores of β and averages over tasks that need them use what there is or leave the method out."
    )
}

fn range(values: impl Iterator<Item = usize>) -> [usize; 2] {
    let [low, high] = values.fold([usize::MAX, 0], |[low, high], value| [low.min(value), high.max(value)]);
    [low.min(high), high]
}
