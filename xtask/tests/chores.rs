//! The chores as they are called.

use std::process::{Command, Output};

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().expect("xtask starts")
}

#[test]
fn without_a_chore_all_are_listed() {
    let output = xtask(&[]);
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    for chore in ["test", "python", "wheel", "bench", "oracle", "peers"] {
        let lines = listed.lines().filter(|line| line.starts_with(&format!("  {chore} "))).count();
        assert_eq!(lines, 1, "{chore} has one line in:\n{listed}");
    }
}

#[test]
fn an_unknown_chore_lists_them_too_and_is_bad_usage() {
    let output = xtask(&["dance"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("\"dance\"") && said.contains("  oracle "), "{said}");
}

#[test]
fn an_unknown_option_is_bad_usage_before_anything_runs() {
    for chore in ["test", "python", "wheel", "oracle", "peers"] {
        let output = xtask(&[chore, "--quickly"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains("hint:") && said.contains("\"--quickly\""), "{said}");
    }
}

#[test]
fn an_option_of_peers_that_is_no_count_or_part_is_bad_usage_too() {
    for (option, wrong) in [
        ("--seeds", &["peers", "--seeds"][..]),
        ("--rounds", &["peers", "--rounds", "0"]),
        ("--seeds", &["peers", "--seeds", "many"]),
        ("--only", &["peers", "--only", "choice"]),
        ("--minutes", &["peers", "--only", "choices", "--minutes", "-1"]),
    ] {
        let output = xtask(wrong);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains("hint:") && said.contains(&format!("{option} cannot be")), "{said}");
    }
}
