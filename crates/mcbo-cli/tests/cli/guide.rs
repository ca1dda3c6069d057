//! The guide says what the commands really print, and the page on extending what the sources really say.

use std::path::Path;

use crate::walk::words;
use crate::{Done, command, finish, mcbo_in};

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md");
    std::fs::read_to_string(path).expect("the guide is there")
}

/// The blocks of a kind, without their fences.
fn blocks(kind: &str) -> Vec<String> {
    let (guide, fence) = (guide(), format!("```{kind}\n"));
    let blocks = guide.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// What the guide says a command prints.
fn printed(call: &str) -> String {
    let start = format!("$ {call}\n");
    let found = blocks("console").into_iter().find_map(|block| block.strip_prefix(&start).map(str::to_owned));
    found.unwrap_or_else(|| panic!("the guide shows `{call}`"))
}

fn narrow(directory: &Path, arguments: &[&str]) -> Done {
    let mut command = command(directory);
    command.args(arguments).env("COLUMNS", "80");
    finish(command)
}

#[test]
fn what_check_prints_is_real() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    mcbo_in(at, &["init"]).with_code(0);
    assert_eq!(narrow(at, &["check", "mcbo.toml"]).with_code(0).stdout, printed("mcbo check mcbo.toml"));
    mcbo_in(at, &["init", "pond.toml", "--template", "hard"]).with_code(0);
    let pond = printed("mcbo check pond.toml");
    let sets = pond.strip_prefix("...\n").unwrap();
    assert!(narrow(at, &["check", "pond.toml"]).with_code(0).stdout.ends_with(sets), "{sets}");
}

#[test]
fn mistakes_are_real() {
    let directory = tempfile::tempdir().unwrap();
    let shown = printed("mcbo check bad.toml");
    // The file is made from the lines that the report shows.
    let mut lines = vec![String::new(); 12];
    lines[2] = "[nodes.mash]".into();
    lines[6] = "[nodes.taste]".into();
    lines[7] = "parents = [\"mash\"]".into();
    for line in shown.lines() {
        if let Some((number, text)) = line.split_once(" | ")
            && let Ok(number) = number.trim().parse::<usize>()
        {
            lines[number - 1] = text.to_owned();
        }
    }
    std::fs::write(directory.path().join("bad.toml"), lines.join("\n")).unwrap();
    assert_eq!(narrow(directory.path(), &["check", "bad.toml"]).with_code(2).stderr, shown);
}

/// The page on extending shows parts of files; the first line of a block names the file.
#[test]
fn the_worked_command_is_part_of_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/extending.md")).unwrap();
    // Where it is indented does not matter.
    let lines = |text: &str| text.lines().map(|line| format!("{}\n", line.trim())).collect::<String>();
    let blocks: Vec<&str> = page.split("```rust,ignore\n").skip(1).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let (file, code) = block.split("```").next().unwrap().split_once('\n').unwrap();
        let file = file.trim().strip_prefix("// ").unwrap();
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(lines(&source).contains(lines(code).trim()), "{file} has\n{code}");
    }
}

#[test]
fn what_run_prints_is_real() {
    let directory = tempfile::tempdir().unwrap();
    mcbo_in(directory.path(), &["init"]).with_code(0);
    let real = narrow(directory.path(), &["run", "mcbo.toml"]).with_code(0).stdout;
    assert_eq!(words(&real), words(&printed("mcbo run mcbo.toml")), "{real}");
}

#[test]
fn problem_files_are_valid() {
    let files = blocks("toml");
    assert_eq!(files.len(), 2);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("p.toml"), &files[0]).unwrap();
    mcbo_in(directory.path(), &["check", "p.toml"]).with_code(0);
    std::fs::write(directory.path().join("p.toml"), files.concat()).unwrap();
    mcbo_in(directory.path(), &["run", "p.toml", "--rounds", "1"]).with_code(0);
}
