//! `mcbo-gp` and `mcbo-core` do no IO, read no clock, hold no global state and draw no random number of their own.
//!
//! The sources are read as text: comments, string literals and what is compiled for tests only are blanked first.

mod source;

use std::fs;

use source::{behind_closing, code_only, files, folder, without_tests};

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

#[test]
fn gp_and_core_do_no_io_and_hold_no_state() {
    let mut said = Vec::new();
    for name in CRATES {
        let folder = folder(name);
        for file in files(&folder) {
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
