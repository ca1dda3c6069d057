//! How a study went, trial by trial.

use mcbo_core::{
    Forecast, Origin, Problem, Recommendation, Study, Trial, TrialState, expected_reward, keeps_limits,
};

use crate::Picture;
use crate::draw::{Anchor, Axes, Canvas, Marker, Style, counted, short, span};
use crate::page::{
    ADDED, ADVICE, BEST, CHOSEN, DESIGN, ENQUEUED, Key, LIMIT, MODEL, Sheet, Swatch, bar, reward_name, titled,
};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
/// Room below the panel: signs of trials without a reward, numbers, the axis' name.
const BELOW: f64 = 52.0;
/// Predictions may stretch the panel by this share of the measured range, or of the narrowest prediction, on
/// either side.
const STRETCH: f64 = 0.6;

/// In the order of the legend.
const ORIGINS: [Origin; 4] = [Origin::Strategy, Origin::Design, Origin::Enqueued, Origin::Added];

fn style(origin: Origin) -> Style {
    match origin {
        Origin::Design => DESIGN,
        Origin::Strategy => CHOSEN,
        Origin::Enqueued => ENQUEUED,
        Origin::Added => ADDED,
    }
}

fn label(origin: Origin) -> &'static str {
    match origin {
        Origin::Design => "measured, initial design",
        Origin::Strategy => "measured, chosen by the strategy",
        Origin::Enqueued => "measured, chosen by you",
        Origin::Added => "measured, added from outside",
    }
}

/// What a trial shows, in the direction of improvement.
struct Point {
    number: f64,
    origin: Origin,
    state: TrialState,
    reward: Option<f64>,
    /// Whether no measurement broke a limit.
    keeps: bool,
    /// Lower end, mean and upper end of what was expected.
    expected: Option<[f64; 3]>,
}

fn expectation(problem: &Problem, forecasts: &[Forecast]) -> Option<[f64; 3]> {
    let [mean, low, high] = expected_reward(problem, forecasts)?;
    let ordered = [low, mean, high];
    ordered.iter().all(|value| value.is_finite()).then_some(ordered)
}

fn points(study: &Study) -> Vec<Point> {
    let problem = study.problem();
    let slot = problem.slot(problem.reward()).start;
    let point = |trial: &Trial| Point {
        number: trial.number as f64,
        origin: trial.suggestion.origin(),
        state: trial.state,
        reward: trial.values.as_ref().and_then(|values| values[slot]).map(|value| problem.sign() * value),
        keeps: trial.values.as_ref().is_some_and(|values| keeps_limits(problem, values)),
        expected: expectation(problem, &trial.suggestion.predicted),
    };
    study.trials().iter().map(point).collect()
}

/// The reward of every trial, what the model had expected of it, the best so far, and what it expects of the recommended
/// intervention; all in the direction of improvement.
pub fn history(study: &Study, recommendation: Option<&Recommendation>) -> Picture {
    let problem = study.problem();
    let points = points(study);
    let advice = recommendation.and_then(|advice| expectation(problem, &advice.predicted));
    let axes = axes(&points, advice);
    let name = reward_name(problem);
    let mut canvas = Canvas::default();
    let bottom = axes.corner[1] + axes.size[1];
    axes.horizontal_grid(&mut canvas, 5);
    axes.counting_ticks(&mut canvas, 8, 1.0);
    let middle = axes.corner[0] + axes.size[0] / 2.0;
    canvas.text([middle, bottom + 46.0], Anchor::Middle, 11.0, "trial");
    canvas.text_up([11.0, axes.corner[1] + axes.size[1] / 2.0], 11.0, &format!("reward = {name}"));
    canvas.open(axes.corner[0], axes.corner[1], axes.size[0], axes.size[1]);
    draw_advice(&mut canvas, &axes, advice);
    let limit = problem.nodes()[problem.reward()].limit;
    if let Some(limit) = limit {
        let y = axes.down(problem.sign() * limit.level);
        canvas.open_style(&LIMIT);
        canvas.curve(&[[0.0, y], [axes.size[0], y]], &LIMIT);
        canvas.close_group();
    }
    draw_points(&mut canvas, &axes, &points);
    canvas.close();
    canvas.frame(axes.corner[0], axes.corner[1], axes.size[0], axes.size[1]);
    draw_unrewarded(&mut canvas, &axes, &points);
    let measured = points.iter().filter(|point| point.reward.is_some()).count();
    if measured == 0 {
        let at = [middle, axes.corner[1] + axes.size[1] / 2.0];
        canvas.text_over(at, Anchor::Middle, 14.0, "nothing measured yet");
    }
    Sheet {
        name: "history".into(),
        title: titled(problem, &format!("reward of {}", counted(study.trials().len(), "trial"))),
        keys: keys(&points, advice)
            .into_iter()
            .chain(limit.map(|_| Key::new(Swatch::Line, LIMIT, "limit")))
            .collect(),
        body: canvas,
        size: [WIDTH, HEIGHT + BELOW],
        caption: caption(study, &points, advice),
    }
    .picture()
}

fn axes(points: &[Point], advice: Option<[f64; 3]>) -> Axes {
    let measured = || points.iter().filter_map(|point| point.reward);
    let core = span(measured().chain(advice.map(|[_, mean, _]| mean)), 0.0);
    let expected = || points.iter().filter_map(|point| point.expected).chain(advice);
    let narrow = expected().map(|[low, _, high]| high - low).reduce(f64::min).unwrap_or(0.0);
    let reach = STRETCH * narrow.max(core[1] - core[0]);
    let expected = expected().flatten();
    let near = expected.map(|value| value.clamp(core[0] - reach, core[1] + reach));
    let some = measured().next().is_some() || advice.is_some();
    let y = if some { span(measured().chain(core).chain(near), 0.06) } else { [0.0, 1.0] };
    let left = Axes::label_room(y, 5) + 22.0;
    let last = points.len().max(1) as f64;
    let x = [1.0 - 0.02 * last - 0.3, last + 0.02 * last + 0.3];
    Axes { corner: [left, 4.0], size: [WIDTH - left - 4.0, HEIGHT - 4.0], x, y }
}

fn draw_advice(canvas: &mut Canvas, axes: &Axes, advice: Option<[f64; 3]>) {
    let Some([low, mean, high]) = advice else { return };
    canvas.open_style(&ADVICE);
    let line = |value: f64| [[0.0, axes.down(value)], [axes.size[0], axes.down(value)]];
    canvas.area(&line(high), &line(low), ".14");
    canvas.curve(&line(mean), &ADVICE);
    canvas.close_group();
}

fn draw_points(canvas: &mut Canvas, axes: &Axes, points: &[Point]) {
    let r = if points.len() > 150 { 2.2 } else { 3.4 };
    canvas.open_style(&MODEL);
    for (point, [low, mean, high]) in points.iter().filter_map(|point| Some((point, point.expected?))) {
        let x = axes.across(point.number);
        bar(canvas, [x, axes.down(mean)], [axes.down(high), axes.down(low)]);
    }
    canvas.close_group();
    let mut best: Option<f64> = None;
    let mut steps: Vec<[f64; 2]> = Vec::new();
    let kept = points.iter().filter(|point| point.keeps);
    for (number, reward) in kept.filter_map(|point| Some((point.number, point.reward?))) {
        let next = best.map_or(reward, |best| best.max(reward));
        if let Some(best) = best {
            steps.push(axes.at(number, best));
        }
        steps.push(axes.at(number, next));
        best = Some(next);
    }
    if let Some(best) = best {
        steps.push([axes.size[0], axes.down(best)]);
        canvas.open_style(&BEST);
        canvas.stroke(&steps, BEST.width, 0.8, "");
        canvas.close_group();
    }
    for origin in ORIGINS.into_iter().rev() {
        let style = style(origin);
        canvas.open_style(&style);
        for point in points.iter().filter(|point| point.origin == origin) {
            if let Some(reward) = point.reward {
                canvas.marker(axes.at(point.number, reward), style.marker, r);
            }
        }
        canvas.close_group();
    }
}

/// Below the panel: a cross for each trial that failed, a ring for one under way or without its reward.
fn draw_unrewarded(canvas: &mut Canvas, axes: &Axes, points: &[Point]) {
    let y = axes.corner[1] + axes.size[1] + 25.0;
    for point in points.iter().filter(|point| point.reward.is_none()) {
        let at = [axes.corner[0] + axes.across(point.number), y];
        canvas.open_style(&style(point.origin));
        match point.state {
            TrialState::Failed => canvas.marker(at, Marker::Cross, 3.6),
            _ => canvas.ring(at, 3.2),
        }
        canvas.close_group();
    }
}

fn keys(points: &[Point], advice: Option<[f64; 3]>) -> Vec<Key> {
    let mut keys = Vec::new();
    for origin in ORIGINS {
        if points.iter().any(|point| point.origin == origin && point.reward.is_some()) {
            keys.push(Key::new(Swatch::Point, style(origin), label(origin)));
        }
    }
    if points.iter().any(|point| point.expected.is_some()) {
        keys.push(Key::new(Swatch::Bar, MODEL, "expected when it was proposed"));
    }
    if points.iter().any(|point| point.reward.is_some()) {
        keys.push(Key::new(Swatch::Line, BEST, "best so far"));
    }
    if advice.is_some() {
        keys.push(Key::new(Swatch::LineBand, ADVICE, "expected of the recommendation"));
    }
    // In the colour of the first of them: colours say who chose a trial.
    let without = |failed: bool| {
        let found = points.iter().find(|p| p.reward.is_none() && (p.state == TrialState::Failed) == failed);
        found.map(|point| style(point.origin))
    };
    if let Some(style) = without(true) {
        keys.push(Key::new(Swatch::Point, Style { marker: Marker::Cross, ..style }, "failed"));
    }
    if let Some(style) = without(false) {
        keys.push(Key::new(Swatch::Ring, style, "under way, or reward not measured"));
    }
    keys
}

fn caption(study: &Study, points: &[Point], advice: Option<[f64; 3]>) -> String {
    let mut text = String::new();
    if let Some((trial, reward)) = study.best_trial() {
        text.push_str(&format!("Best measured: {} in trial {}. ", short(reward), trial.number));
    }
    if let Some([low, mean, high]) = advice {
        let [low, mean, high] = [low, mean, high].map(short);
        text.push_str(&format!("Expected of the recommended intervention: {mean} ({low} to {high}). "));
    }
    if advice.is_some() || points.iter().any(|point| point.expected.is_some()) {
        text.push_str(
            "Bars and bands hold the expected reward with 90\u{a0}% probability by what the model knew; a single measurement scatters around it by its noise. ",
        );
    }
    let worth =
        if study.problem().sign() < 0.0 { " Small values are good, so the sign is turned." } else { "" };
    if points.is_empty() {
        text.push_str("There is no trial yet.");
    } else {
        text.push_str(&format!("Up is better.{worth}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_predictions_do_not_squeeze_the_rewards() {
        let point = |number: f64, reward: f64, expected| Point {
            number,
            origin: Origin::Strategy,
            state: TrialState::Complete,
            reward: Some(reward),
            keeps: true,
            expected,
        };
        let axes = axes(
            &[point(1.0, 0.0, Some([-1000.0, 0.0, 1000.0])), point(2.0, 1.0, None)],
            Some([0.5, 0.9, 1.2]),
        );
        assert!(axes.y[0] > -1.0 && axes.y[1] < 2.0, "{axes:?}");
        assert!((20.0..100.0).contains(&axes.corner[0]));
    }
}
