//! What is said to a person, on stderr. Colours go away by themselves in pipes and under `NO_COLOR`.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use indicatif::ProgressBar;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const PLACE: Style = AnsiColor::Blue.on_default();
/// Headings.
pub const BOLD: Style = Style::new().bold();
/// What matters less.
pub const DIM: Style = Style::new().dimmed();

/// The text in a style.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes lines to stderr. That nobody can read them is no reason to fail.
fn say(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// `error: ...`, with the hints and places in it made visible.
pub fn error(text: &str) {
    say(&paint(&format!("error: {text}")));
}

fn paint(text: &str) -> String {
    let line = |line: &str| {
        for (start, style) in [("error:", ERROR), ("warning:", WARNING), ("hint:", HINT)] {
            if let Some(rest) = line.strip_prefix(start) {
                return format!("{}{rest}", styled(style, start));
            }
        }
        if let Some((before, after)) = line.split_once("--> ")
            && before.trim().is_empty()
        {
            return format!("{before}{} {after}", styled(PLACE, "-->"));
        }
        match line.split_once('|') {
            Some((gutter, marks)) if gutter.trim().is_empty() && marks.trim().starts_with('^') => {
                format!("{gutter}|{}", styled(ERROR, marks))
            }
            _ => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Warnings and notes of a command, which `--quiet` silences and which do not tear a progress line apart.
#[derive(Clone)]
pub struct Console {
    quiet: bool,
    bar: ProgressBar,
}

impl Console {
    /// A console without a progress line.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, bar: ProgressBar::hidden() }
    }

    /// The same console around a progress line.
    pub fn around(self, bar: ProgressBar) -> Self {
        Self { bar, ..self }
    }

    /// `warning: ...`. Hints in it stand in their own line.
    pub fn warning(&self, text: &str) {
        self.note(&paint(&format!("warning: {}", text.replace("; hint: ", "\nhint: "))));
    }

    /// A line as it is.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| say(text));
        }
    }

    /// Passes on what another program said. That is not ours to silence.
    pub fn pass(&self, bytes: &[u8]) {
        self.bar.suspend(|| {
            let _ = std::io::stderr().lock().write_all(bytes);
        });
    }

    /// The progress line.
    pub fn bar(&self) -> &ProgressBar {
        &self.bar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paint_changes_nothing_but_colours() {
        let text = "error: a | b\n --> f:1:2\n  |\n1 | x = error: 2\n  |     ^^^^\nhint: c\n\nerror: d";
        let painted = paint(text);
        assert_ne!(painted, text);
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), text);
    }
}
