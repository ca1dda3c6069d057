//! Mistakes as text, with the line they are in.

use std::fmt::Write;
use std::ops::Range;

use super::diagnostics::ProblemErrors;

/// Lines longer than this are shown in part.
const WIDTH: usize = 160;

impl ProblemErrors {
    /// All mistakes as plain text: what, where, the line with the words underlined, and a hint.
    ///
    /// ```
    /// use mcbo_core::Problem;
    /// let text = "maximize = 'yeild'\n[nodes.yield]\nactions = ['a']\n[actions.a]\nrange = [0, 1]\n";
    /// let errors = Problem::from_toml(text).unwrap_err();
    /// assert_eq!(errors.render("field.toml"), "\
    /// error: `maximize` names `yeild`, which is not a node
    ///  --> field.toml:1:13
    ///   |
    /// 1 | maximize = 'yeild'
    ///   |             ^^^^^
    /// hint: did you mean `yield`?
    /// ");
    /// ```
    pub fn render(&self, file: &str) -> String {
        let mut out = String::new();
        for (at, diagnostic) in self.errors.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            // Writing to a string cannot fail.
            let _ = writeln!(out, "error: {}", diagnostic.message());
            match (&self.source, &diagnostic.span) {
                (Some(source), Some(span)) => excerpt(&mut out, file, source, span),
                (Some(_), None) => {
                    let _ = writeln!(out, " --> {file}");
                }
                _ => {}
            }
            if let Some(hint) = diagnostic.hint() {
                let _ = writeln!(out, "hint: {hint}");
            }
        }
        out
    }
}

/// The line and column of a byte, both counted from 1, the column in characters.
pub(super) fn position(source: &str, byte: usize) -> (usize, usize) {
    let before = &source[..floor_char(source, byte)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

fn floor_char(source: &str, byte: usize) -> usize {
    (0..=byte.min(source.len())).rev().find(|&at| source.is_char_boundary(at)).unwrap_or(0)
}

fn excerpt(out: &mut String, file: &str, source: &str, span: &Range<usize>) {
    let start = floor_char(source, span.start);
    let end = floor_char(source, span.end).max(start);
    let (line, column) = position(source, start);
    let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
    let text: Vec<char> = source[line_start..line_end].trim_end_matches('\r').chars().collect();
    let marked = source[start..end.min(line_end)].trim_end_matches('\r').chars().count();

    // A window of a very long line, with the mistake near its start.
    let skip = if text.len() > WIDTH { (column - 1).saturating_sub(WIDTH / 4) } else { 0 };
    let shown: String = text.iter().skip(skip).take(WIDTH).collect();
    let before: String = text.iter().skip(skip).take(column - 1 - skip).collect();
    let marked = marked.clamp(1, WIDTH.saturating_sub(column - 1 - skip).max(1));

    let gutter = " ".repeat(line.to_string().len());
    // Tabs are kept so that the underline stands below the words whatever a tab's width.
    let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let _ = writeln!(out, "{gutter}--> {file}:{line}:{column}");
    let _ = writeln!(out, "{gutter} |");
    let _ = writeln!(out, "{line} | {shown}");
    let _ = writeln!(out, "{gutter} | {pad}{}", "^".repeat(marked));
}
