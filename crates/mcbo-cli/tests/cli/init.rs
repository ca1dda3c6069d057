//! `mcbo init`.

use crate::{mcbo_in, with_file};

const TEMPLATES: [&str; 5] = ["soft", "hard", "network", "reactor", "choices"];

#[test]
fn every_template_checks_and_runs() {
    for template in TEMPLATES {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        let done = mcbo_in(at, &["init", "p.toml", "--template", template]).with_code(0);
        assert_eq!(done.stdout, "");
        assert!(done.stderr.starts_with("Wrote p.toml. Try:\n  mcbo check p.toml"), "{}", done.stderr);
        let done = mcbo_in(at, &["check", "p.toml"]).with_code(0);
        assert!(!done.stderr.contains("warning"), "{}", done.stderr);
        let done = mcbo_in(at, &["run", "p.toml", "--rounds", "2"]).with_code(0);
        assert!(done.stdout.contains("Recommended intervention"), "{}", done.stdout);
    }
}

#[test]
fn the_default_is_a_soft_problem_in_mcbo_toml() {
    let directory = tempfile::tempdir().unwrap();
    mcbo_in(directory.path(), &["init"]).with_code(0);
    let written = std::fs::read_to_string(directory.path().join("mcbo.toml")).unwrap();
    let printed = mcbo_in(directory.path(), &["init", "-", "--template", "soft"]).with_code(0).stdout;
    assert_eq!(written, printed);
}

#[test]
fn a_file_is_never_overwritten() {
    let directory = with_file("mcbo.toml", "precious");
    let done = mcbo_in(directory.path(), &["init"]).with_code(2);
    assert_eq!(
        done.stderr,
        "error: mcbo.toml exists already and is left as it is\n\
         hint: give another name, as in `mcbo init other.toml`, or remove the file first\n"
    );
    assert_eq!(std::fs::read_to_string(directory.path().join("mcbo.toml")).unwrap(), "precious");
}

#[test]
fn a_directory_that_is_missing_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let done = mcbo_in(directory.path(), &["init", "no/p.toml"]).with_code(2);
    assert!(done.stderr.starts_with("error: cannot write no/p.toml: "), "{}", done.stderr);
    assert!(done.stderr.ends_with("hint: create the directory first\n"), "{}", done.stderr);
}
