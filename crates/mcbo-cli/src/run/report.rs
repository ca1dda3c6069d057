//! What a run has found, for people.

use std::io::{self, Write};

use mcbo_core::{
    Certificate, Intervention, NodeSummary, Problem, Recommendation, Study, Trial, TrialState,
    expected_reward, keeps_limits,
};

use super::runner::is_round;
use crate::console::{BOLD, DIM, styled};
use crate::describe::{self, Lever};
use crate::number::{Format, plain, rough};
use crate::table::{Align, Table, paragraph};
use crate::{json, show};

/// Longer lists of trials are shortened to their beginning, their end and the best trial.
const SHORT: usize = 30;
const FIRST: usize = 8;
const LAST: usize = 16;

/// The trials of a study, its recommendation, and how well its model knows every node.
pub struct Report<'a> {
    study: &'a Study,
    problem: &'a Problem,
    recommendation: Option<&'a Recommendation>,
    certificate: Option<&'a Certificate>,
    levers: Vec<Lever>,
    /// For all rewards, measured and expected.
    format: Format,
}

impl<'a> Report<'a> {
    /// A report on a study; without a recommendation it has only the trials.
    pub fn new(study: &'a Study, recommendation: Option<&'a Recommendation>) -> Self {
        let problem = study.problem();
        let format = Format::of_values(study.data().rewards(problem).map(|(_, reward)| reward));
        Self { study, problem, recommendation, certificate: None, levers: describe::levers(problem), format }
    }

    /// The same with how much may be left to gain.
    pub fn with_certificate(self, certificate: Option<&'a Certificate>) -> Self {
        Self { certificate, ..self }
    }

    /// Writes it in at most `width` columns, with every trial if asked for.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, out: &mut impl Write, width: usize, all: bool) -> io::Result<()> {
        if !self.study.trials().is_empty() {
            self.write_trials(out, width, all)?;
        }
        if self.recommendation.is_some() {
            writeln!(out)?;
            self.write_advice(out, width)?;
        }
        Ok(())
    }

    /// Writes the recommendation and how well the nodes are known.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_advice(&self, out: &mut impl Write, width: usize) -> io::Result<()> {
        let Some(recommendation) = self.recommendation else { return Ok(()) };
        self.write_recommendation(out, recommendation, width)?;
        writeln!(out)?;
        if let Some(certificate) = self.certificate {
            show::certificate(out, self.problem, certificate, self.format, width)?;
            writeln!(out)?;
        }
        self.write_nodes(out, recommendation, width)
    }

    fn reward(&self, reward: Option<f64>) -> String {
        reward.map_or_else(|| "-".into(), |reward| self.format.show(reward))
    }

    /// The value of the reward's node, which the user knows, from a reward.
    fn node_value(&self, reward: f64) -> String {
        self.format.show(self.problem.sign() * reward)
    }

    /// The same in a sentence, with its unit.
    fn in_words(&self, reward: f64) -> String {
        describe::of_reward(self.problem, self.node_value(reward))
    }

    fn expected(&self, recommendation: &Recommendation, intervention: &Intervention) -> Option<[f64; 3]> {
        expected_reward(self.problem, &recommendation.expects(self.problem, intervention))
    }

    fn write_trials(&self, out: &mut impl Write, width: usize, all: bool) -> io::Result<()> {
        let over = |trial: &&Trial| matches!(trial.state, TrialState::Complete | TrialState::Failed);
        let trials: Vec<&Trial> = self.study.trials().iter().filter(over).collect();
        let rounds = trials.iter().filter(|trial| is_round(trial)).count();
        let design = describe::count(trials.len() - rounds, "design trial");
        let title = format!("{}: {}", styled(BOLD, self.problem.name()), describe::objective(self.problem));
        writeln!(out, "{title}, {} + {}\n", design, describe::count(rounds, "round"))?;
        // One column per lever where that fits, else one with all that are used.
        let wide = self.trial_table(&trials, all, true);
        if self.levers.len() <= 12 && wide.natural_width() <= width {
            wide.write(out, width)?;
        } else {
            self.trial_table(&trials, all, false).write(out, width)?;
        }
        let hidden = trials.len() - shown(&trials, self.best(), all).len();
        if hidden > 0 {
            let text = format!("{} not shown; --all shows every one.", describe::count(hidden, "trial"));
            writeln!(out, "{}", styled(DIM, &text))?;
        }
        Ok(())
    }

    fn best(&self) -> Option<usize> {
        self.study.best_trial().map(|(trial, _)| trial.number)
    }

    fn trial_table(&self, trials: &[&Trial], all: bool, wide: bool) -> Table {
        use Align::{Left, Right};
        let mut columns = vec![("trial".to_owned(), Right), ("round".into(), Right)];
        if wide {
            let labels = self.levers.iter();
            columns.extend(
                labels.map(|lever| (describe::with_unit(&lever.label, lever.unit.as_deref()), Right)),
            );
        } else {
            columns.push(("intervention".into(), Left));
        }
        let reward = format!("reward (= {})", describe::reward_formula(self.problem));
        columns.extend([(reward, Right), ("best so far".into(), Right)]);
        let width = columns.len();
        let mut table = Table::new(columns);
        let shown = shown(trials, self.best(), all);
        let (mut best, mut round, mut last_shown) = (None, 0, None);
        for (index, trial) in trials.iter().enumerate() {
            let reward = json::reward(self.problem, trial);
            // What broke a limit is not the best, as long as anything did not.
            let keeps = trial.values.as_ref().is_some_and(|values| keeps_limits(self.problem, values));
            best = reward.filter(|_| keeps).into_iter().chain(best).reduce(f64::max);
            round += usize::from(is_round(trial));
            if !shown.contains(&index) {
                continue;
            }
            if last_shown.is_some_and(|last: usize| last + 1 < index) {
                table.row((0..width).map(|column| if column == 0 { "..." } else { "" }));
            }
            last_shown = Some(index);
            let by = if is_round(trial) { round.to_string() } else { trial.suggestion.strategy.clone() };
            let mut row = vec![trial.number.to_string(), by];
            let intervention = trial.intervention();
            if wide {
                row.extend(self.levers.iter().map(|l| l.shown(intervention).unwrap_or_else(|| "-".into())));
            } else {
                row.push(describe::intervention(&self.levers, intervention));
            }
            row.push(if trial.state == TrialState::Failed { "failed".into() } else { self.reward(reward) });
            row.push(self.reward(best));
            table.row(row);
        }
        table
    }

    fn write_recommendation(
        &self,
        out: &mut impl Write,
        recommendation: &Recommendation,
        width: usize,
    ) -> io::Result<()> {
        writeln!(out, "{}", styled(BOLD, "Recommended intervention"))?;
        show::given(out, self.problem, &recommendation.given)?;
        show::levers(out, &self.levers, &recommendation.intervention)?;
        if self.problem.has_costs() {
            let cost = self.problem.cost(&recommendation.intervention);
            writeln!(out, "  cost  {}", plain(cost))?;
        }
        let Some(expected) = self.expected(recommendation, &recommendation.intervention) else {
            return Ok(());
        };
        let reward = describe::measured(self.problem, self.problem.reward(), 0);
        let mut table = Table::new([
            (reward.as_str(), Align::Left),
            ("measured", Align::Right),
            ("expected", Align::Right),
            (show::BOUNDS, Align::Left),
        ]);
        let mut row = |label: String, measured: Option<f64>, expected: [f64; 3]| {
            let measured = measured.map_or_else(|| "-".into(), |reward| self.node_value(reward));
            let bounds = describe::ends(self.problem, expected).map(|end| self.format.show(end)).join(" to ");
            table.row([label, measured, self.node_value(expected[0]), bounds]);
        };
        row("recommended".into(), None, expected);
        let mut text = self.about_recommendation(expected[0]);
        if let Some((trial, reward)) = self.study.best_trial()
            && let Some(of_best) = self.expected(recommendation, trial.intervention())
        {
            row(format!("best (trial {})", trial.number), Some(reward), of_best);
            text.push(' ');
            text.push_str(&self.about_best(trial, reward, of_best[0], recommendation, expected));
        }
        writeln!(out)?;
        table.write(out, width)?;
        writeln!(out)?;
        show::limits(out, self.problem, &recommendation.limits, width)?;
        paragraph(out, &text, width)
    }

    fn about_recommendation(&self, expected: f64) -> String {
        let (node, value) = (describe::reward_name(self.problem), self.in_words(expected));
        if describe::is_noisy(self.problem) {
            format!(
                "The recommended intervention should give {node} = {value} on average. That average lies within its \
                 bounds with a probability of 90 %; a single outcome scatters around it by its noise."
            )
        } else {
            format!(
                "The recommended intervention should give {node} = {value}, and a value within the bounds with a \
                 probability of 90 %."
            )
        }
    }

    /// What a trial found of the contexts: ` with quality = 0.95`.
    fn circumstances(&self, trial: &Trial) -> String {
        let Some(values) = &trial.values else { return String::new() };
        let found = |node: usize| {
            let values: Option<Vec<f64>> = values[self.problem.slot(node)].iter().copied().collect();
            let node = &self.problem.nodes()[node];
            values.map(|values| format!("{} = {}", node.name, describe::node_values(node, &values)))
        };
        let found: Vec<String> = self.problem.contexts().filter_map(found).collect();
        if found.is_empty() { String::new() } else { format!(" with {}", found.join(", ")) }
    }

    /// How the best trial compares: its measured reward, what is expected of it, and what of the recommendation.
    fn about_best(
        &self,
        trial: &Trial,
        reward: f64,
        of_best: f64,
        recommendation: &Recommendation,
        [expected, lower, upper]: [f64; 3],
    ) -> String {
        let (number, gave, mean) = (trial.number, self.in_words(reward), self.in_words(of_best));
        let there = self.circumstances(trial);
        let did = |intervention| describe::intervention(&self.levers, intervention);
        if did(trial.intervention()) == did(&recommendation.intervention) {
            return format!("Trial {number} did just that and gave {gave}{there}.");
        }
        let here = if recommendation.given.is_empty() { "" } else { " with what is given" };
        let mut text = if describe::is_noisy(self.problem) {
            format!(
                "Trial {number} gave {gave}{there}, once and with its noise; on average the model expects {mean} of it{here}."
            )
        } else {
            format!("Trial {number} gave {gave}{there}.")
        };
        // Less than a tenth of the bounds is no difference worth a word.
        if of_best <= expected + 0.1 * (upper - lower).abs() {
            return text;
        }
        let keeping = recommendation.network.keeping(self.problem, &trial.suggestion.intervention);
        if let Some(broken) = keeping.iter().find(|keeping| !keeping.is_probable()) {
            text.push_str(&format!(
                " It is not what is recommended because it keeps the limit of {} with a probability of {} only.",
                broken.name,
                rough(broken.probability)
            ));
            return text;
        }
        text.push_str(&format!(
            " That is better than what it expects of the recommendation: the model is not sure enough yet. Stay \
             with trial {number}, or go on for more rounds."
        ));
        text
    }

    fn write_nodes(
        &self,
        out: &mut impl Write,
        recommendation: &Recommendation,
        width: usize,
    ) -> io::Result<()> {
        use Align::{Left, Right};
        let summaries = recommendation.network.summaries(self.problem);
        let columns =
            [("node", Left), ("rows", Right), ("explained", Right), ("uncertainty", Right), ("noise", Right)];
        let mut table = Table::new(columns);
        for summary in &summaries {
            let explained =
                summary.explained.map_or_else(|| "-".into(), |share| format!("{:.0} %", 100.0 * share));
            table.row([
                summary.name.clone(),
                summary.rows.to_string(),
                explained,
                rough(summary.uncertainty),
                rough(summary.noise),
            ]);
        }
        writeln!(out, "{}", styled(BOLD, "How well each node is known"))?;
        table.write(out, width)?;
        let known: Vec<&str> =
            self.problem.nodes().iter().filter(|n| n.formula.is_some()).map(|n| n.name.as_str()).collect();
        if !known.is_empty() {
            writeln!(out, "Known by formula, not learned: {}", known.join(", "))?;
        }
        writeln!(out)?;
        paragraph(
            out,
            "rows: trials it learned from. explained: share of the variation of trials it has not seen that it \
             foretells, each trial by all others. uncertainty: standard deviation of what is not known of its mechanism \
             yet. noise: standard deviation of what no model can predict.",
            width,
        )?;
        self.write_forms(out, &summaries, width)
    }

    /// What shape each mechanism has, components of the same shape together.
    fn write_forms(&self, out: &mut impl Write, summaries: &[NodeSummary], width: usize) -> io::Result<()> {
        let mut table = Table::new([("node", Align::Left), ("form", Align::Left)]);
        let mut last: Option<(usize, &str)> = None;
        // Of a context nothing is learned but its mean.
        let learned = |summary: &&NodeSummary| self.problem.input_dim(summary.node) > 0;
        for summary in summaries.iter().filter(learned) {
            let form = (summary.node, summary.form.as_str());
            if last == Some(form) {
                continue;
            }
            let whole = summaries.iter().all(|other| other.node != form.0 || other.form == form.1);
            let name = if whole { &self.problem.nodes()[form.0].name } else { &summary.name };
            table.row([name.as_str(), form.1]);
            last = Some(form);
        }
        if last.is_none() {
            return Ok(());
        }
        writeln!(out, "\n{}", styled(BOLD, "What was learned of each node"))?;
        table.write(out, width)
    }
}

/// The places of the trials to show.
fn shown(trials: &[&Trial], best: Option<usize>, all: bool) -> Vec<usize> {
    let count = trials.len();
    let keep = |&index: &usize| {
        all || count <= SHORT || index < FIRST || index + LAST >= count || Some(trials[index].number) == best
    };
    (0..count).filter(keep).collect()
}
