//! What holds for all commands: help, versions, colours, widths, pipes.

use std::process::Stdio;

use crate::{command, examples, finish, mcbo, mcbo_in, with_file};

#[test]
fn every_command_has_help_with_an_example() {
    let studies = ["new", "studies", "ask", "tell", "add", "best", "status", "export", "plot", "update"];
    for command in studies.into_iter().chain(["init", "check", "run", "doctor", "completions"]) {
        let help = mcbo(&[command, "--help"]).with_code(0).stdout;
        assert!(help.contains(&format!("\n  mcbo {command}")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        assert_eq!(mcbo(&["help", command]).with_code(0).stdout, help);
    }
    let help = mcbo(&["--help"]).with_code(0).stdout;
    assert!(help.contains("Exit codes: 0 done, 1 failed, 2 bad usage or bad input, 130 interrupted."));
    let expected = format!("mcbo {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(mcbo(&["--version"]).with_code(0).stdout, expected);
}

#[test]
fn a_typo_is_answered_with_the_nearest_command() {
    let done = mcbo(&["chek", "clinic.toml"]).with_code(2);
    assert!(done.stderr.contains("a similar subcommand exists: 'check'"), "{}", done.stderr);
    assert!(mcbo(&[]).with_code(2).stderr.contains("Usage: mcbo"));
    assert!(mcbo(&["run", "clinic.toml", "--round", "3"]).with_code(2).stderr.contains("'--rounds'"));
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let done = mcbo(&["completions", shell]).with_code(0);
        assert!(done.stdout.contains("check") && done.stdout.contains("rounds"), "{shell}");
        assert_eq!(done.stderr, "");
    }
    mcbo(&["completions", "tcsh"]).with_code(2);
}

#[test]
fn colours_appear_only_where_they_are_wanted() {
    let arguments = ["run", "clinic.toml", "--rounds", "1"];
    assert!(!mcbo(&arguments).with_code(0).stdout.contains('\x1b'));
    let coloured = mcbo(&[&arguments[..], &["--color", "always"]].concat()).with_code(0);
    assert!(coloured.stdout.contains("\x1b[1m"));
    let done = mcbo(&["check", "no.toml", "--color", "always"]).with_code(2);
    assert!(done.stderr.starts_with("\x1b[1m\x1b[31merror:\x1b[0m cannot read"), "{:?}", done.stderr);
    let json = mcbo(&[&arguments[..], &["--color", "always", "--json"]].concat()).with_code(0);
    assert!(!json.json().is_empty());
}

#[test]
fn narrow_terminals_and_many_actions_stay_readable() {
    let names: Vec<String> = (0..12).map(|i| format!("quite_a_long_name_{i}")).collect();
    let mut text = format!("maximize = 'y'\n[nodes.y]\nactions = ['{}']\n", names.join("', '"));
    for name in &names {
        text += &format!("[actions.{name}]\nrange = [0, 1000]\n");
    }
    text += &format!("[simulator]\ny = '{} + normal(0, 1)'\n", names.join(" + "));
    let directory = with_file("p.toml", &text);
    for width in ["60", "80"] {
        for arguments in [&["check", "p.toml"][..], &["run", "p.toml", "--initial", "2", "--rounds", "1"]] {
            let mut command = command(directory.path());
            command.args(arguments).env("COLUMNS", width);
            let done = finish(command).with_code(0);
            let widest = done.stdout.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.parse().unwrap(), "{widest}:\n{}", done.stdout);
            assert!(done.stdout.contains("quite_a_long_name_11"), "{}", done.stdout);
            let torn = done.stdout.lines().any(|line| line.trim_end().ends_with('_'));
            assert!(!torn, "{}", done.stdout);
        }
    }
    let limited = text.replace("[simulator]", "[constraints]\nmax_interventions = 1\n[simulator]");
    let directory = with_file("p.toml", &limited);
    let done = mcbo_in(directory.path(), &["run", "p.toml", "--initial", "3", "--rounds", "0"]).with_code(0);
    assert!(done.stdout.contains("  quite_a_long_name_0="), "only what is used is listed: {}", done.stdout);
}

#[test]
fn a_reader_that_goes_away_is_no_mistake() {
    let mut command = command(&examples());
    command.args(["run", "clinic.toml", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_problem_can_come_from_a_pipe() {
    let mut command = command(&examples());
    let file = std::fs::File::open(examples().join("clinic.toml")).unwrap();
    command.args(["run", "-", "--rounds", "0", "--json"]).stdin(file);
    assert_eq!(finish(command).with_code(0).json().last().unwrap()["end"], "done");
}
