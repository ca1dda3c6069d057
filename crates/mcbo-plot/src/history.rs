//! How a study went, trial by trial.

use mcbo_core::{Forecast, Oddity, Origin, Problem, Recommendation, Study, Trial, TrialState, keeps_limits};

use crate::Picture;
use crate::draw::{Anchor, Axes, Canvas, Marker, Style, counted, short, shorten, span};
use crate::page::{
    ADDED, ADVICE, BEST, CHOSEN, DESIGN, ENQUEUED, Key, LIMIT, MODEL, ODD, Sheet, Swatch, bar, titled,
    with_unit,
};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
/// Room below the panel: signs of trials without a reward, numbers, the axis' name.
const BELOW: f64 = 52.0;
/// Predictions may stretch the panel by this share of the measured range, or of the narrowest prediction, on
/// either side.
const STRETCH: f64 = 0.6;
/// Of more trials than this only some are drawn: those that were the best so far or do not fit, and others evenly.
const DRAWN: usize = 1500;

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

/// What a trial shows, in the user's own sign.
struct Point {
    number: f64,
    origin: Origin,
    state: TrialState,
    reward: Option<f64>,
    /// Whether no measurement broke a limit.
    keeps: bool,
    /// Lower end, mean and upper end of what was expected.
    expected: Option<[f64; 3]>,
    /// Whether it does not fit the rest.
    odd: bool,
}

fn expectation(problem: &Problem, forecasts: &[Forecast]) -> Option<[f64; 3]> {
    let forecast = forecasts.iter().find(|forecast| forecast.node == problem.reward())?;
    let ordered = [forecast.lower, forecast.mean, forecast.upper];
    ordered.iter().all(|value| value.is_finite()).then_some(ordered)
}

fn points(study: &Study, odd: &[Oddity]) -> Vec<Point> {
    let odd: Vec<usize> = odd.iter().filter(|odd| odd.trials().len() == 1).flat_map(Oddity::trials).collect();
    let problem = study.problem();
    let slot = problem.slot(problem.reward()).start;
    let point = |trial: &Trial| Point {
        number: trial.number as f64,
        origin: trial.suggestion.origin(),
        state: trial.state,
        reward: trial.values.as_ref().and_then(|values| values[slot]),
        keeps: trial.values.as_ref().is_some_and(|values| keeps_limits(problem, values)),
        expected: expectation(problem, &trial.suggestion.predicted),
        odd: odd.contains(&trial.number),
    };
    let counted = study.trials().iter().filter(|trial| trial.state != TrialState::Voided);
    counted.map(point).collect()
}

/// The reward of every trial, what the model had expected of it, the best so far, and what it expects of the recommended
/// intervention; all in the user's own sign. Trials that do not fit the rest are ringed.
pub fn history(study: &Study, recommendation: Option<&Recommendation>) -> Picture {
    let odd = recommendation.map_or_else(Vec::new, |advice| study.oddities(&advice.network));
    history_with(study, recommendation, &odd)
}

/// The same where it is known what does not fit; the model may have seen only a share of the trials.
pub fn history_with(study: &Study, recommendation: Option<&Recommendation>, odd: &[Oddity]) -> Picture {
    let problem = study.problem();
    let points = points(study, odd);
    let advice = recommendation.and_then(|advice| expectation(problem, &advice.predicted));
    let axes = axes(&points, advice);
    let node = &problem.nodes()[problem.reward()];
    let name = shorten(&node.name);
    let mut canvas = Canvas::default();
    let bottom = axes.corner[1] + axes.size[1];
    axes.horizontal_grid(&mut canvas, 5);
    axes.counting_ticks(&mut canvas, 8, 1.0);
    let middle = axes.corner[0] + axes.size[0] / 2.0;
    canvas.text([middle, bottom + 46.0], Anchor::Middle, 11.0, "trial");
    canvas.text_up(
        [11.0, axes.corner[1] + axes.size[1] / 2.0],
        11.0,
        &with_unit(name.clone(), node.unit.as_deref()),
    );
    canvas.open(axes.corner[0], axes.corner[1], axes.size[0], axes.size[1]);
    draw_advice(&mut canvas, &axes, advice);
    let limit = node.limit;
    for (_, level) in limit.iter().flat_map(mcbo_core::Limit::levels) {
        let y = axes.down(level);
        canvas.open_style(&LIMIT);
        canvas.curve(&[[0.0, y], [axes.size[0], y]], &LIMIT);
        canvas.close_group();
    }
    draw_points(&mut canvas, &axes, &points, problem.sign());
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
        title: titled(study.name(), &format!("{name} of {}", counted(study.trials().len(), "trial"))),
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
    let last = points.last().map_or(1.0, |point| point.number);
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

/// Which points are drawn, and those that were the best so far.
fn chosen(points: &[Point], sign: f64) -> (Vec<&Point>, Vec<&Point>) {
    let mut best: Vec<&Point> = Vec::new();
    for point in points.iter().filter(|point| point.keeps) {
        let better =
            |reward: f64| best.last().and_then(|best| best.reward).is_none_or(|b| sign * reward > sign * b);
        if point.reward.is_some_and(better) {
            best.push(point);
        }
    }
    let every = points.len().div_ceil(DRAWN).max(1);
    let is_best = |point: &Point| best.binary_search_by(|b| b.number.total_cmp(&point.number)).is_ok();
    let drawn = points.iter().enumerate().filter(|(k, point)| k % every == 0 || point.odd || is_best(point));
    (drawn.map(|(_, point)| point).collect(), best)
}

fn draw_points(canvas: &mut Canvas, axes: &Axes, points: &[Point], sign: f64) {
    let (drawn, best) = chosen(points, sign);
    let r = if drawn.len() > 150 { 2.2 } else { 3.4 };
    canvas.open_style(&MODEL);
    for (point, [low, mean, high]) in drawn.iter().filter_map(|point| Some((point, point.expected?))) {
        let x = axes.across(point.number);
        bar(canvas, [x, axes.down(mean)], [axes.down(high), axes.down(low)]);
    }
    canvas.close_group();
    let mut steps: Vec<[f64; 2]> = Vec::new();
    let mut last: Option<f64> = None;
    for (number, reward) in best.iter().filter_map(|point| Some((point.number, point.reward?))) {
        steps.extend(last.map(|last| axes.at(number, last)));
        steps.push(axes.at(number, reward));
        last = Some(reward);
    }
    if let Some(last) = last {
        steps.push([axes.size[0], axes.down(last)]);
        canvas.open_style(&BEST);
        canvas.stroke(&steps, BEST.width, 0.8, "");
        canvas.close_group();
    }
    for origin in ORIGINS.into_iter().rev() {
        let style = style(origin);
        canvas.open_style(&style);
        for point in drawn.iter().filter(|point| point.origin == origin) {
            if let Some(reward) = point.reward {
                canvas.marker(axes.at(point.number, reward), style.marker, r);
            }
        }
        canvas.close_group();
    }
    let broke: Vec<[f64; 2]> = drawn
        .iter()
        .filter(|point| !point.keeps)
        .filter_map(|point| Some(axes.at(point.number, point.reward?)))
        .collect();
    if !broke.is_empty() {
        canvas.open_style(&LIMIT);
        broke.into_iter().for_each(|at| canvas.marker(at, Marker::Cross, r + 1.6));
        canvas.close_group();
    }
    canvas.open_style(&ODD);
    for point in points.iter().filter(|point| point.odd) {
        if let Some(reward) = point.reward {
            canvas.ring(axes.at(point.number, reward), r + 3.4);
        }
    }
    canvas.close_group();
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
    if points.iter().any(|point| point.odd && point.reward.is_some()) {
        keys.push(Key::new(Swatch::Ring, ODD, "does not fit the rest"));
    }
    if points.iter().any(|point| !point.keeps && point.reward.is_some()) {
        keys.push(Key::new(Swatch::Point, Style { marker: Marker::Cross, ..LIMIT }, "broke a limit"));
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
        let reward = study.problem().sign() * reward;
        text.push_str(&format!("Best measured: {} in trial {}. ", short(reward), trial.number));
    }
    if let Some([low, mean, high]) = advice {
        let [low, mean, high] = [low, mean, high].map(short);
        text.push_str(&format!("Expected of the recommended intervention: {mean} ({low} to {high}). "));
    }
    if advice.is_some() || points.iter().any(|point| point.expected.is_some()) {
        text.push_str(
            "Bars and bands hold the expected value with 90\u{a0}% probability by what the model knew; a single measurement scatters around it by its noise. ",
        );
    }
    let out = study.trials().iter().filter(|trial| trial.state == TrialState::Voided).count();
    if out > 0 {
        text.push_str(&format!("{} taken out, not shown. ", counted(out, "trial")));
    }
    if points.len() > DRAWN {
        text.push_str("Of so many trials some are drawn, among them all that were the best so far. ");
    }
    if points.is_empty() {
        text.push_str("There is no trial yet.");
    } else {
        text.push_str(if study.problem().sign() < 0.0 { "Down is better." } else { "Up is better." });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_trials_the_best_are_drawn() {
        let point = |number: usize, reward: f64| Point {
            number: number as f64,
            origin: Origin::Strategy,
            state: TrialState::Complete,
            reward: Some(reward),
            keeps: number != 4000,
            expected: None,
            odd: number == 5003,
        };
        // A best one at 7777, and one at 4000 that breaks a limit.
        let reward = |k: usize| if k == 7777 || k == 4000 { 2.0 } else { (k % 97) as f64 / 97.0 };
        let points: Vec<Point> = (1..=10_000).map(|k| point(k, reward(k))).collect();
        for (sign, improved) in [(1.0, 7777), (-1.0, 97)] {
            let (drawn, best) = chosen(&points, sign);
            assert!((DRAWN / 2..=DRAWN + 120).contains(&drawn.len()), "{}", drawn.len());
            assert_eq!(best.last().map(|point| point.number as usize), Some(improved));
            assert!(
                drawn.iter().any(|point| point.odd)
                    && best.iter().all(|best| drawn.iter().any(|p| p.number == best.number))
            );
        }
        assert_eq!(chosen(&points[..40], 1.0).0.len(), 40);
    }

    #[test]
    fn early_predictions_do_not_squeeze_the_rewards() {
        let point = |number: f64, reward: f64, expected| Point {
            number,
            origin: Origin::Strategy,
            state: TrialState::Complete,
            reward: Some(reward),
            keeps: true,
            expected,
            odd: false,
        };
        let axes = axes(
            &[point(1.0, 0.0, Some([-1000.0, 0.0, 1000.0])), point(2.0, 1.0, None)],
            Some([0.5, 0.9, 1.2]),
        );
        assert!(axes.y[0] > -1.0 && axes.y[1] < 2.0, "{axes:?}");
        assert!((20.0..100.0).contains(&axes.corner[0]));
    }
}
