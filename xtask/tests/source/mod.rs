//! Sources read as text.

use std::fs;
use std::path::{Path, PathBuf};

/// The sources of a crate.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(name).join("src")
}

/// The Rust files below a folder in order, but for modules named `tests`; at least one.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, &mut found);
    found.sort();
    assert!(!found.is_empty(), "{} has no sources", folder.display());
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("folders can be read").path()) {
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The source with comments, string and character literals replaced by spaces, line by line the same.
pub fn code_only(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out: Vec<char> = Vec::with_capacity(chars.len());
    let blank = |out: &mut Vec<char>, c: char| out.push(if c == '\n' { '\n' } else { ' ' });
    let mut i = 0;
    while i < chars.len() {
        let at = |k: usize| chars.get(i + k).copied().unwrap_or('\0');
        let in_word = i > 0 && (chars[i - 1].is_alphanumeric() || chars[i - 1] == '_');
        // The index behind the literal or comment that starts here.
        let end = match at(0) {
            '/' if at(1) == '/' => chars[i..].iter().position(|&c| c == '\n').map_or(chars.len(), |k| i + k),
            '/' if at(1) == '*' => end_of_block_comment(&chars, i),
            '"' => end_of_string(&chars, i),
            'r' if !in_word || (chars[i - 1] == 'b' || chars[i - 1] == 'c') => {
                let hashes = chars[i + 1..].iter().take_while(|&&c| c == '#').count();
                if at(1 + hashes) == '"' { end_of_raw_string(&chars, i + 2 + hashes, hashes) } else { i }
            }
            '\'' if at(1) == '\\' => chars[i + 3..].iter().position(|&c| c == '\'').map_or(i, |k| i + k + 4),
            '\'' if at(2) == '\'' => i + 3,
            _ => i,
        };
        if end > i {
            chars[i..end].iter().for_each(|&c| blank(&mut out, c));
            i = end;
        } else {
            out.push(chars[i]);
            i += 1;
        }
    }
    out.into_iter().collect()
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let (mut depth, mut i) = (0, start);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') if depth == 1 => return i + 2,
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    chars.len()
}

fn end_of_string(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

fn end_of_raw_string(chars: &[char], mut i: usize, hashes: usize) -> usize {
    let closes = |i: usize| {
        chars[i] == '"'
            && chars[i + 1..].len() >= hashes
            && chars[i + 1..][..hashes].iter().all(|&c| c == '#')
    };
    while i < chars.len() && !closes(i) {
        i += 1;
    }
    (i + 1 + hashes).min(chars.len())
}

/// The index behind the bracket that closes the one at `open`.
pub fn behind_closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (i, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return open + i + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// The code without the items that are compiled for tests only.
pub fn without_tests(mut code: String) -> String {
    for attribute in ["#[cfg(test)]", "#[cfg(all(test"] {
        while let Some(start) = code.find(attribute) {
            let rest = &code[start..];
            let end = match (rest.find(';'), rest.find('{')) {
                (Some(semicolon), Some(brace)) if semicolon < brace => start + semicolon + 1,
                (_, Some(brace)) => behind_closing(&code, start + brace),
                (Some(semicolon), None) => start + semicolon + 1,
                (None, None) => code.len(),
            };
            let blank: String = code[start..end].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
            code.replace_range(start..end, &blank);
        }
    }
    code
}
