//! The walk-through of the docs, word for word.

use std::path::Path;
use std::process::Command;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/studies.md");
    std::fs::read_to_string(path).expect("the page is there")
}

/// The blocks of a kind, without their fences.
fn blocks<'a>(page: &'a str, kind: &str) -> Vec<&'a str> {
    let fence = format!("```{kind}\n");
    let at = page.match_indices(&fence).map(|(at, _)| at + fence.len());
    at.map(|at| page[at..].split("```").next().unwrap_or_default()).collect()
}

/// Every command with the output that the page shows.
fn calls(page: &str) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    for line in blocks(page, "console").into_iter().flat_map(str::lines) {
        match (line.strip_prefix("$ "), calls.last_mut()) {
            (Some(call), _) => calls.push((call.to_owned(), String::new())),
            (None, Some((_, output))) => output.push_str(&format!("{line}\n")),
            (None, None) => panic!("output before the first command: {line}"),
        }
    }
    calls
}

/// The text with `#` for numbers that come from a model, and without the blanks and lines that follow their widths.
///
/// Processors differ in the last bit of a sum, and a model turns that into other digits; words must be the same.
pub fn words(text: &str) -> Vec<String> {
    let mask = |word: &str| {
        let is_number = |piece: &str| piece.trim_matches(['.', ',', ':', ';']).parse::<f64>().is_ok();
        let mut masked = String::new();
        for piece in word.split_inclusive(['=', '"', ':', ',', '{', '}']) {
            let (body, end) = piece.split_at(piece.trim_end_matches(['=', '"', ':', ',', '{', '}']).len());
            masked.push_str(if !body.is_empty() && is_number(body) && body.contains('.') {
                "#"
            } else {
                body
            });
            masked.push_str(end);
        }
        masked
    };
    // Where a paragraph breaks depends on its numbers too.
    text.split_whitespace().filter(|word| !word.starts_with('─')).map(mask).collect()
}

#[test]
fn every_command_prints_what_the_page_says() {
    let page = page();
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let [table] = blocks(&page, "csv")[..] else { panic!("one table") };
    std::fs::write(at.join("past.csv"), table).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_mcbo"));
    let mut path = vec![program.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let calls = calls(&page);
    for command in [
        "init", "new", "add", "ask", "tell", "status", "best", "predict", "effects", "correct", "void",
        "doctor", "report", "log", "copy", "rename", "delete", "update", "plot", "export",
    ] {
        assert!(calls.iter().any(|(call, _)| call.starts_with(&format!("mcbo {command} "))), "{command}");
    }
    for (command, option) in [
        ("init", "--from"),
        ("ask", "--why"),
        ("ask", "--given"),
        ("predict", "--given"),
        ("effects", "--given"),
        ("report", "--given"),
        ("void", "--undo"),
    ] {
        let with = |(call, _): &(String, String)| {
            call.starts_with(&format!("mcbo {command} ")) && call.contains(option)
        };
        assert!(calls.iter().any(with), "{command} {option}");
    }
    for (call, shown) in calls {
        let output = Command::new("sh")
            .args(["-c", &format!("{call} 2>&1")])
            .current_dir(at)
            .env("PATH", std::env::join_paths(&path).unwrap())
            .env("MCBO_STORAGE", format!("sqlite://{}/studies.sqlite", at.display()))
            .env("MCBO_WORKER", "you@home")
            .env("COLUMNS", "80")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("the shell starts");
        let printed = String::from_utf8(output.stdout).expect("output is UTF-8");
        assert!(output.status.success(), "{call}\n{printed}");
        assert_eq!(words(&printed), words(&shown), "{call}\n{printed}");
    }
    assert!(at.join("beer.csv").metadata().unwrap().len() > 500);
    assert!(at.join("pictures/history.png").is_file() && at.join("pictures/history.svg").is_file());
}
