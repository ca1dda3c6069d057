//! Why an experiment, in words that do not contradict one another.

use mcbo_core::{Direction, Origin, Problem, StrategyName, Study, Suggestion, Why, expected_reward};
use serde_json::{Value, json};

use crate::describe;
use crate::number::Format;

/// Trials that are nearer than this share of every range are much the same.
const SAME: f64 = 0.02;

/// Why this experiment, in a sentence or two. Nothing is said about all others: what was proposed beside trials under way, or in the
/// place of a wasted one, is not the most that any intervention promises.
pub fn reason(study: &Study, suggestion: &Suggestion) -> String {
    let problem: &Problem = study.problem();
    match suggestion.origin() {
        Origin::Design => {
            let (done, all) = (study.data().len(), study.initial_trials());
            return format!(
                "Why: it belongs to the initial design, {all} trials that spread over everything that can be chosen \
                 ({done} measured so far). After that the model decides."
            );
        }
        Origin::Enqueued => return "Why: it was asked for by hand.".into(),
        Origin::Strategy | Origin::Added => {}
    }
    let node = describe::reward_name(problem);
    let format = format(study);
    let shown = |amount: f64| describe::of_reward(problem, format.show(amount));
    let value = |reward: f64| shown(problem.sign() * reward);
    let Some(expected) = expected_reward(problem, &suggestion.predicted) else {
        return format!("Why: chosen by {}, which has no model of what happens.", suggestion.strategy);
    };
    let mut text = format!("Why: the model expects {node} = {}", value(expected[0]));
    let by_mcbo = suggestion.strategy == StrategyName::Mcbo.as_str();
    let mut promise = expected[0];
    // Beside what is not known of the expectation, a gain of less than a hundredth is none.
    let is_worth_a_word = |gain: f64| gain > 0.01 * (expected[2] - expected[1]).max(0.0);
    match (suggestion.acquisition, suggestion.beta) {
        (Some(hope), Some(luck)) if by_mcbo && luck > 0.0 && hope > expected[0] => {
            promise = hope;
            text.push_str(&format!(
                " here, and {} {} on average if what is not known yet turns out well: for that chance it is chosen.",
                reach(problem),
                value(hope)
            ));
        }
        (Some(gain), None) if suggestion.excursion => text.push_str(&format!(
            " here, which may be less than what is known. It is tried for what it may teach: by what is plausible it betters the best \
             tried so far by {} on average, in this trial and all that follow.",
            shown(gain)
        )),
        (Some(gain), None) if by_mcbo && is_worth_a_word(gain) && problem.has_costs() => {
            text.push_str(" here. For what it may turn out to be it gains the most for what it costs.");
        }
        (Some(gain), None) if by_mcbo && is_worth_a_word(gain) => text.push_str(&format!(
            " here. It is tried for what it may turn out to be: it betters what would be recommended now by {} on average, if \
             nothing is counted where it is worse.",
            shown(gain)
        )),
        _ => text.push_str(&format!(" here, and {} finds nothing more worth trying.", suggestion.strategy)),
    }
    if let Some((trial, reward)) = study.best_trial() {
        let luck = if reward > promise && describe::is_noisy(problem) {
            ", a single outcome with its luck"
        } else {
            ""
        };
        text.push_str(&format!(
            " The best measured so far is {}, in trial {}{luck}.",
            value(reward),
            trial.number
        ));
    }
    text
}

fn reach(problem: &Problem) -> &'static str {
    match problem.direction() {
        Direction::Maximize => "as much as",
        Direction::Minimize => "as little as",
    }
}

fn format(study: &Study) -> Format {
    Format::of_values(study.data().rewards(study.problem()).map(|(_, reward)| reward))
}

/// All that can be said for a trial, a sentence each.
pub fn sentences(study: &Study, why: &Why) -> Vec<String> {
    let (problem, format) = (study.problem(), format(study));
    let node = describe::reward_name(problem);
    let shown = |amount: f64| describe::of_reward(problem, format.show(amount));
    let value = |reward: f64| shown(problem.sign() * reward);
    let mut said = Vec::new();
    if let Some(bounds) = why.expected {
        let [low, high] = describe::ends(problem, bounds);
        let (low, high) = (format.show(low), shown(high));
        said.push(format!(
            "Promises: {node} = {} on average, between {low} and {high} with a probability of 90 %.",
            value(bounds[0])
        ));
    }
    said.push(match why.nearest {
        None => "Known of it: nothing like it was measured yet.".into(),
        Some((trial, apart)) if apart < SAME => {
            format!("Known of it: trial {trial} was much the same, so this one is a repetition.")
        }
        Some((trial, apart)) if apart >= 1.0 => format!(
            "Known of it: nothing much like it was measured; the most similar is trial {trial}, of another name or at the other end of a range."
        ),
        Some((trial, apart)) => {
            format!("Known of it: the most similar is trial {trial}, {:.1} % of a range away.", 100.0 * apart)
        }
    });
    let name = |node: usize| problem.nodes()[node].name.clone();
    let teaches: Vec<String> = why
        .teaches
        .iter()
        .filter(|(_, share)| *share >= 0.05)
        .take(3)
        .map(|(node, share)| format!("{} {:.1} %", name(*node), 100.0 * share))
        .collect();
    said.push(match teaches.is_empty() {
        true => format!("Teaches: little; what makes {node} is known there."),
        false => format!(
            "Teaches most about: {}, by their share in what is not known of {node} there.",
            teaches.join(", ")
        ),
    });
    if let Some((trial, reward, expected)) = why.best {
        let again = expected.map_or_else(String::new, |mean| {
            format!("; done again the model expects {} on average", value(mean))
        });
        said.push(format!("Best known: {node} = {} in trial {trial}{again}.", value(reward)));
        let difference = |(name, here, there): &(String, Option<f64>, Option<f64>)| {
            let shown = |value: &Option<f64>| value.map(|value| describe::chosen_value(problem, name, value));
            match (shown(here), shown(there)) {
                // What differs in digits that nobody sees is the same.
                (Some(here), Some(there)) if here == there => None,
                (Some(here), Some(there)) => Some(format!("{name} = {here} instead of {there}")),
                (Some(here), None) => Some(format!("{name} = {here}, which was free there")),
                (None, _) => Some(format!("{name} left free")),
            }
        };
        let all: Vec<String> = why.differs.iter().filter_map(difference).collect();
        said.push(match all.is_empty() {
            true => "Differs from it: in nothing.".into(),
            false => format!("Differs from it: {}.", all.join(", ")),
        });
    }
    said
}

/// The same for scripts.
pub fn document(study: &Study, why: &Why) -> Value {
    let name = |node: usize| study.problem().nodes()[node].name.clone();
    let teaches = why.teaches.iter().map(|(node, share)| json!({ "node": name(*node), "share": share }));
    let differs =
        why.differs.iter().map(|(name, here, there)| json!({ "name": name, "here": here, "best": there }));
    json!({
        "expected": why.expected.map(|[mean, lower, upper]| json!({ "mean": mean, "lower": lower, "upper": upper })),
        "hope": why.hope,
        "nearest": why.nearest.map(|(trial, apart)| json!({ "trial": trial, "apart": apart })),
        "teaches": teaches.collect::<Vec<_>>(),
        "best": why.best.map(|(trial, reward, mean)| json!({ "trial": trial, "reward": reward, "expected": mean })),
        "differs": differs.collect::<Vec<_>>(),
        "text": sentences(study, why),
    })
}
