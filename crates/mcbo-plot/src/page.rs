//! What all pictures have in common: a title, a legend, a body and a caption.

use mcbo_core::{Direction, Problem, slot_name};

use crate::Picture;
use crate::draw::{Anchor, Canvas, Marker, Style, document, line_width, shorten, wrap};

/// Room around everything.
pub(crate) const MARGIN: f64 = 16.0;
/// The size of most text.
pub(crate) const SMALL: f64 = 10.0;
const LEGEND: f64 = 11.0;
const CAPTION: f64 = 10.5;
/// The least width of a body, so that captions are not columns of words.
const LEAST: f64 = 460.0;

// The colours of Okabe and Ito, which remain different to colour-blind readers.
pub(crate) const MODEL: Style = Style { width: 2.0, ..Style::new("p-model", "#0072b2") };
pub(crate) const CHOSEN: Style = Style::new("p-chosen", "#d55e00");
pub(crate) const DESIGN: Style = Style { marker: Marker::Square, ..Style::new("p-design", "#8a8a8a") };
pub(crate) const ADDED: Style = Style { marker: Marker::Diamond, ..Style::new("p-added", "#cc79a7") };
pub(crate) const ENQUEUED: Style = Style { marker: Marker::Up, ..Style::new("p-enqueued", "#b07a00") };
pub(crate) const BEST: Style = Style { width: 1.8, ..Style::new("p-best", "#222222") };
pub(crate) const ADVICE: Style = Style { width: 2.0, dash: "7 3", ..Style::new("p-advice", "#009e73") };

/// What stands before a name in the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swatch {
    Line,
    Point,
    Ring,
    Band,
    /// A line in its band.
    LineBand,
    /// A range with its middle.
    Bar,
}

/// An entry of a legend.
pub(crate) struct Key {
    pub(crate) swatch: Swatch,
    pub(crate) style: Style,
    pub(crate) label: String,
}

impl Key {
    pub(crate) fn new(swatch: Swatch, style: Style, label: impl Into<String>) -> Self {
        Self { swatch, style, label: label.into() }
    }

    fn draw(&self, canvas: &mut Canvas, [x, y]: [f64; 2]) {
        canvas.open_style(&self.style);
        let (left, right, middle) = ([x, y], [x + 22.0, y], [x + 11.0, y]);
        let band = |canvas: &mut Canvas| canvas.block([x, y - 5.0], [22.0, 10.0], 0.2);
        match self.swatch {
            Swatch::Line => canvas.curve(&[left, right], &self.style),
            Swatch::Point => canvas.marker(middle, self.style.marker, 3.4),
            Swatch::Ring => canvas.ring(middle, 3.2),
            Swatch::Band => band(canvas),
            Swatch::LineBand => {
                band(canvas);
                canvas.curve(&[left, right], &self.style);
            }
            Swatch::Bar => bar(canvas, [x + 11.0, y], [y - 6.0, y + 6.0]),
        }
        canvas.close_group();
    }
}

/// A range from top to bottom with its middle.
pub(crate) fn bar(canvas: &mut Canvas, [x, middle]: [f64; 2], [top, bottom]: [f64; 2]) {
    canvas.stroke(&[[x, top], [x, bottom]], 2.4, 0.35, "");
    canvas.stroke(&[[x - 3.5, middle], [x + 3.5, middle]], 1.6, 0.9, "");
}

/// A picture before it is text.
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) keys: Vec<Key>,
    /// Drawn with its upper left corner at the origin.
    pub(crate) body: Canvas,
    pub(crate) size: [f64; 2],
    pub(crate) caption: String,
}

impl Sheet {
    pub(crate) fn picture(self) -> Picture {
        let inner = self.size[0].max(LEAST).max(1.1 * line_width(&self.title, 15.0));
        let width = inner + 2.0 * MARGIN;
        let mut canvas = Canvas::default();
        canvas.bold([MARGIN, 26.0], Anchor::Start, 15.0, &self.title);
        let mut y = 40.0;
        if !self.keys.is_empty() {
            let entries: Vec<(&Key, f64)> =
                self.keys.iter().map(|key| (key, 46.0 + line_width(&key.label, LEGEND))).collect();
            y += 8.0;
            for line in wrap(&entries, inner + 18.0) {
                let mut x = MARGIN;
                for (key, width) in line {
                    key.draw(&mut canvas, [x, y]);
                    canvas.text([x + 28.0, y + 4.0], Anchor::Start, LEGEND, &key.label);
                    x += width;
                }
                y += 18.0;
            }
        }
        canvas.open_at(MARGIN, y);
        canvas.text.push_str(&self.body.text);
        canvas.close_group();
        y += self.size[1] + 12.0;
        for line in paragraph(&self.caption, inner) {
            y += 14.0;
            canvas.note([MARGIN, y - 4.0], Anchor::Start, CAPTION, &line);
        }
        let svg = document([width, y + 8.0], &self.title, &canvas.text);
        Picture { name: self.name, title: self.title, svg }
    }
}

/// Text in lines that are not wider than there is room for.
fn paragraph(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line_width(line, CAPTION) + line_width(word, CAPTION) + 4.0 < room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A name with the unit of its values, if there is one.
pub(crate) fn with_unit(name: String, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{name} ({unit})"),
        None => name,
    }
}

/// A component of a node with its unit.
pub(crate) fn measured(problem: &Problem, node: usize, component: usize) -> String {
    with_unit(slot_name(problem, node, component), problem.nodes()[node].unit.as_deref())
}

/// The inputs of a node with their units, parents first.
pub(crate) fn inputs(problem: &Problem, node: usize) -> Vec<String> {
    let node = &problem.nodes()[node];
    let parents = node.parents.iter().flat_map(|&parent| {
        (0..problem.nodes()[parent].dim).map(move |component| measured(problem, parent, component))
    });
    let actions = node.actions.iter().map(|&action| &problem.actions()[action]);
    parents.chain(actions.map(|action| with_unit(action.name.clone(), action.unit.as_deref()))).collect()
}

/// How a limit is drawn.
pub(crate) const LIMIT: Style = Style { dash: "5 3", width: 1.2, ..Style::new("p-limit", "#b00020") };

/// The reward in the direction of improvement: `yield`, or `−psa` where small is good.
pub(crate) fn reward_name(problem: &Problem) -> String {
    let node = &problem.nodes()[problem.reward()];
    let name = match problem.direction() {
        Direction::Maximize => shorten(&node.name),
        Direction::Minimize => format!("−{}", shorten(&node.name)),
    };
    with_unit(name, node.unit.as_deref())
}

/// A title that begins with the problem's name.
pub(crate) fn titled(problem: &Problem, text: &str) -> String {
    if problem.name().is_empty() { text.to_owned() } else { format!("{}: {text}", shorten(problem.name())) }
}
