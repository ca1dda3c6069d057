//! `mcbo-gp` and `mcbo-core` do no IO, read no clock, hold no global state and draw no random number of their own.
//!
//! The sources are read as text: comments, string literals and what is compiled for tests only are blanked first.

use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 2] = ["mcbo-gp", "mcbo-core"];

/// Modules of the standard library that reach outside the process.
const MODULES: [&str; 6] = ["env", "fs", "io", "net", "process", "time"];

/// Words that print, draw from a generator nobody seeded, or make global state.
const WORDS: [&str; 9] = [
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "dbg!",
    "thread_rng",
    "rand::rng()",
    "SysRng",
    "static mut",
];

/// The source with comments, string and character literals replaced by spaces, line by line the same.
fn code_only(source: &str) -> String {
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
fn behind_closing(code: &str, open: usize) -> usize {
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
fn without_tests(mut code: String) -> String {
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

/// The places of `word` in the code where it is not the tail or the head of a longer name.
fn places(code: &str, word: &str) -> Vec<usize> {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |at: &usize| {
        let head = word.starts_with(part_of_name) && code[..*at].ends_with(part_of_name);
        let tail = word.ends_with(part_of_name) && code[*at + word.len()..].starts_with(part_of_name);
        !head && !tail
    };
    code.match_indices(word).map(|(at, _)| at).filter(whole).collect()
}

/// What the code uses and must not, with its line.
fn faults(source: &str) -> Vec<(usize, String)> {
    let code = without_tests(code_only(source));
    let mut found: Vec<(usize, String)> = Vec::new();
    for word in WORDS {
        found.extend(places(&code, word).into_iter().map(|at| (at, word.to_owned())));
    }
    for module in MODULES {
        let path = format!("std::{module}");
        found.extend(places(&code, &path).into_iter().map(|at| (at, path.clone())));
    }
    // `use std::{fmt, fs::File}`: the first name of every element.
    for open in code.match_indices("std::{").map(|(at, word)| at + word.len() - 1) {
        let end = behind_closing(&code, open);
        let (mut depth, mut element) = (0, open + 1);
        for (at, c) in code[open..end].char_indices().map(|(i, c)| (open + i, c)) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if (c == ',' && depth == 1) || depth == 0 {
                let name = code[element..at].trim().split("::").next().unwrap_or_default();
                let name = name.split_whitespace().next().unwrap_or_default();
                if MODULES.contains(&name) {
                    found.push((element + code[element..at].find(name).unwrap_or(0), format!("std::{name}")));
                }
                element = at + 1;
            }
        }
    }
    found.sort();
    found.into_iter().map(|(at, word)| (1 + code[..at].matches('\n').count(), word)).collect()
}

/// The Rust files below a folder, but for modules named `tests`.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("folders can be read").path()) {
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn gp_and_core_do_no_io_and_hold_no_state() {
    let mut said = Vec::new();
    for name in CRATES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(name).join("src");
        let mut files = Vec::new();
        sources(&folder, &mut files);
        files.sort();
        assert!(!files.is_empty(), "{name} has no sources");
        for file in files {
            let source = fs::read_to_string(&file).expect("sources are UTF-8");
            let shown = file.strip_prefix(&folder).unwrap_or(&file).display().to_string();
            let line = |(line, word)| format!("{name}/src/{shown}:{line}: {word}");
            said.extend(faults(&source).into_iter().map(line));
        }
    }
    assert!(
        said.is_empty(),
        "\n{}\nhint: take the value, the clock's reading or the generator as an argument; print in mcbo-cli",
        said.join("\n")
    );
}

#[test]
fn faults_are_seen_with_their_line() {
    let source =
        "use std::fs;\nuse std::{\n    fmt,\n    time::{Duration, Instant},\n};\nfn f() { println!() }\n";
    let expected =
        [(1, "std::fs"), (4, "std::time"), (6, "println!")].map(|(line, word)| (line, word.to_owned()));
    assert_eq!(faults(source), expected);
    assert_eq!(faults("let r = rand::rng();\nstatic mut X: u8 = 0;").len(), 2);
}

#[test]
fn comments_literals_and_tests_are_no_faults() {
    let source = r##"
        //! println!("in a doctest") and std::fs
        /* std::time /* nested */ std::time */
        const A: &str = "println! \" std::fs";
        const B: &str = r#"std::fs " println!"#;
        fn quote<'a>(c: &'a char) -> bool { *c == '"' || *c == '\'' }
        use std::{collections::BTreeMap, fmt, iter};
        fn my_println(thread_rng_like: u8) {}
        #[cfg(test)]
        mod tests { fn f() { if true { println!("{}", 1) } } }
        #[cfg(test)]
        use std::fs;
    "##;
    assert_eq!(faults(source), []);
    assert_eq!(faults(&format!("{source}\nuse std::fs;")).len(), 1);
}
