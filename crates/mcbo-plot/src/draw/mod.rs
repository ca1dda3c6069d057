//! What figures are made of: shapes as SVG text, numbers and ticks for readers, and PNG.
//!
//! Ink is `currentColor`, so that a page can change it. The same calls give the same bytes.

mod axes;
mod canvas;
mod html;
mod numbers;
mod png;
mod shapes;
mod style;
mod ticks;

pub use axes::Axes;
pub use canvas::{Anchor, Canvas, FONTS, document, line_width, text_width, wrap};
pub use html::{escape, html_page};
pub use numbers::{counted, decimals, fixed, number, scientific, short, shorten, sized};
pub use png::png;
pub use shapes::Rounded;
pub use style::{Marker, Style};
pub use ticks::{labelled_ticks, span, ticks};
