//! `mcbo run --exec`.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{Done, examples, mcbo_in, with_file};

const PROBLEM: &str = "maximize = 'y'\n[nodes.x]\nactions = ['a']\n[nodes.y]\nparents = ['x']\n\
                       [actions.a]\nrange = [0, 1]\n";

/// A short run with a program.
fn exec(program: &str, more: &[&str]) -> Done {
    let directory = with_file("p.toml", PROBLEM);
    let arguments = ["run", "p.toml", "--initial", "2", "--rounds", "1", "--exec", program];
    mcbo_in(directory.path(), &[&arguments, more].concat())
}

#[test]
fn the_example_runs() {
    let directory = examples().join("exec");
    let arguments = ["run", "problem.toml", "--rounds", "4", "--exec", "python3 simulate.py", "--json"];
    let done = mcbo_in(&directory, &arguments).with_code(0);
    assert_eq!(done.stderr, "");
    let lines = done.json();
    assert_eq!(lines[0]["strategy"], "design");
    assert_eq!(lines[4]["values"]["grain"], json!(null), "the microscope is not free in trial 5");
    assert!(lines.last().unwrap()["recommendation"]["predicted"]["efficiency"]["mean"].is_f64());
    let readme = std::fs::read_to_string(directory.join("README.md")).unwrap();
    assert!(readme.contains("mcbo run problem.toml --exec 'python3 simulate.py'"));
}

/// The program in the README, as it stands there, after `mcbo init`.
#[test]
fn the_program_of_the_readme_runs_as_written() {
    let readme = std::fs::read_to_string(examples().join("../README.md")).unwrap();
    let (_, rest) = readme.split_once("cat > brew.py <<'END'\n").unwrap();
    let (program, rest) = rest.split_once("\nEND\n").unwrap();
    assert!(rest.starts_with("mcbo run mcbo.toml --exec 'python3 brew.py'\n"), "{rest}");
    let directory = with_file("brew.py", program);
    mcbo_in(directory.path(), &["init"]).with_code(0);
    let arguments = ["run", "mcbo.toml", "--exec", "python3 brew.py", "--rounds", "2", "--json"];
    let lines = mcbo_in(directory.path(), &arguments).with_code(0).json();
    let (end, trials) = lines.split_last().unwrap();
    assert!(trials.len() > 2 && trials.iter().all(|trial| trial["reward"].is_f64()), "{trials:?}");
    assert_eq!(end["end"], "done");
}

#[test]
fn the_program_gets_the_suggestion_and_its_stderr_passes() {
    let program = r#"cat > seen.json; echo "hello from trial" >&2; echo '{"x": 1.5, "y": 2}'"#;
    let directory = with_file("p.toml", PROBLEM);
    let arguments = ["run", "p.toml", "--initial", "1", "--rounds", "1", "--json", "--exec", program];
    let done = mcbo_in(directory.path(), &arguments).with_code(0);
    assert_eq!(done.stderr, "hello from trial\nhello from trial\n");
    let seen = std::fs::read_to_string(directory.path().join("seen.json")).unwrap();
    let seen: serde_json::Value = serde_json::from_str(&seen).unwrap();
    assert_eq!((&seen["trial"], &seen["strategy"]), (&json!(2), &json!("mcbo")));
    let mut line = done.json()[1].clone();
    for key in ["state", "values", "reward"] {
        line.as_object_mut().unwrap().remove(key);
    }
    assert_eq!(line, seen, "a line of --json is the suggestion and what came of it");
    assert_eq!(done.json()[1]["values"], json!({ "x": 1.5, "y": 2.0 }));
}

#[test]
fn one_failure_does_not_end_the_run() {
    let program = r#"n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count
        [ $n = 1 ] && { echo "out of glue" >&2; exit 3; }; echo "{\"x\": $n, \"y\": $n}""#;
    let done = exec(program, &["--json"]).with_code(0);
    let states: Vec<_> = done.json().iter().map(|line| line["state"].clone()).collect();
    assert_eq!(
        states,
        [json!("complete"), json!("failed"), json!("complete"), json!("complete"), json!(null)]
    );
    assert_eq!(done.json()[1]["error"], "the program ended with exit code 3");
    assert_eq!((&done.json()[1]["values"], &done.json()[1]["reward"]), (&json!(null), &json!(null)));
    let expected =
        "out of glue\nwarning: trial 2 failed and is left out: the program ended with exit code 3\nhint: ";
    assert!(done.stderr.starts_with(expected), "{}", done.stderr);
}

#[test]
fn five_failures_in_a_row_do() {
    let done = exec("echo broken pump >&2; exit 7", &[]).with_code(1);
    assert_eq!(done.stderr.matches("failed and is left out").count(), 5);
    let expected = "\
error: 5 trials in a row failed, so the run ends here
trial 5: the program ended with exit code 7
the last it wrote to stderr:
  broken pump
hint: ";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
    let done = exec("exit 7", &["--json"]).with_code(1);
    assert_eq!(done.json().len(), 6);
    assert_eq!(done.json()[5]["end"], "failed");
}

#[test]
fn what_was_measured_before_five_failures_is_not_lost() {
    let program =
        r#"echo >> count; n=$(wc -l < count); [ $n -gt 3 ] && exit 1; echo "{\"x\": $n, \"y\": $n}""#;
    let done = exec(program, &["--rounds", "9"]);
    assert!(done.code == Some(2), "an option twice is a mistake: {}", done.stderr);
    let directory = with_file("p.toml", PROBLEM);
    let done =
        mcbo_in(directory.path(), &["run", "p.toml", "--initial", "2", "--exec", program]).with_code(1);
    assert!(done.stdout.contains("Recommended intervention"), "{}", done.stdout);
    assert!(done.stderr.contains("error: 5 trials in a row failed"), "{}", done.stderr);
}

#[test]
fn bad_answers_fail_their_trial_with_what_to_do() {
    let cases = [
        ("echo '{\"x\": NaN}'", "JSON has no NaN and no infinity; write null for what was not measured"),
        ("echo done; echo '{\"y\": 1}'", "print the JSON object and nothing else on stdout"),
        ("true", "the program printed nothing on stdout"),
        ("echo '{\"z\": 1}'", "its answer names `z`, which is not a node\nhint: the nodes are x, y"),
        ("echo '{\"a\": 1}'", "it is an action; answer with the values of nodes only"),
        ("echo '{\"y\": \"high\"}'", "its answer gives `y` the text \"high\", not a number"),
        ("echo '{\"y\": 1e999}'", "number out of range"),
        ("echo '{\"y\": null}'", "no node has a value\nhint: mark the trial as failed"),
        ("no_such_program", "the command was not found (exit code 127)\nhint: check the spelling of --exec"),
        ("kill -9 $$", "the program was killed (signal: 9 (SIGKILL))"),
    ];
    for (program, expected) in cases {
        let done = exec(program, &[]).with_code(1);
        assert!(done.stderr.contains(expected), "{program}: {}", done.stderr);
    }
}

#[test]
fn a_reward_that_is_missing_is_warned_about_once() {
    let done = exec("echo '{\"x\": 1}'", &[]).with_code(0);
    assert_eq!(done.stderr.matches("has no value for y").count(), 1, "{}", done.stderr);
}

#[test]
fn slow_programs_are_stopped_with_everything_they_started() {
    let began = Instant::now();
    let done = exec("sleep 600 | cat", &["--timeout", "0.1"]).with_code(1);
    assert!(began.elapsed() < Duration::from_secs(100), "took {:?}", began.elapsed());
    let expected =
        "failed and is left out: the program took longer than 0.1 s and was stopped\nhint: raise --timeout";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
}

#[test]
fn something_left_behind_does_not_hold_up_the_run() {
    let began = Instant::now();
    exec("sleep 200 & echo '{\"x\": 1, \"y\": 1}'", &[]).with_code(0);
    assert!(began.elapsed() < Duration::from_secs(100), "took {:?}", began.elapsed());
}

const WITH_CONTEXT: &str = "maximize = 'y'\n[nodes.quality]\ncontext = true\n[nodes.y]\nparents = ['quality']\n\
                            actions = ['a']\n[actions.a]\nrange = [0, 1]\n";

/// A run whose contexts come from a program of their own.
fn with_contexts(contexts: &str, more: &[&str]) -> Done {
    let directory = with_file("p.toml", WITH_CONTEXT);
    let program = r#"grep -o '"given":{[^}]*}' >> seen; tail -1 seen >&2; echo '{"y": 2}'"#;
    let arguments = ["run", "p.toml", "--initial", "2", "--rounds", "1", "--json", "--exec", program];
    mcbo_in(directory.path(), &[&arguments[..], &["--contexts", contexts], more].concat())
}

#[test]
fn contexts_are_asked_for_before_a_trial_is_chosen() {
    let done = with_contexts(r#"cat >> asked; echo "{\"quality\": 0.$(wc -l < asked)}""#, &[]).with_code(0);
    // The program that measures gets them, and need not repeat them.
    let seen: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("\"given\"")).collect();
    assert_eq!(seen, [1, 2, 3].map(|n| format!("\"given\":{{\"quality\":0.{n}}}")));
    for (line, quality) in done.json().iter().zip([0.1, 0.2, 0.3]) {
        assert_eq!(
            (&line["given"]["quality"], &line["values"]["quality"]),
            (&json!(quality), &json!(quality))
        );
    }
    // What is not known today is left out.
    let done = with_contexts("echo '{}'", &[]).with_code(0);
    assert_eq!(done.json()[0]["given"], json!({}));
}

#[test]
fn contexts_that_cannot_be_read_end_the_run_before_a_trial() {
    for (contexts, said) in [
        ("exit 3", "what is known before trial 1 could not be read: the program ended with exit code 3"),
        ("echo '{\"y\": 1}'", "its answer has `y`, which is no context"),
        ("echo '{\"quality\": \"good\"}'", "what is known before trial 1 could not be read"),
    ] {
        let done = with_contexts(contexts, &[]).with_code(1);
        assert!(done.stderr.contains(said) && done.stderr.contains("hint: "), "{}", done.stderr);
        assert!(!done.stdout.contains("\"trial\""), "{}", done.stdout);
    }
    let directory = with_file("p.toml", PROBLEM);
    let arguments = ["run", "p.toml", "--exec", "true", "--contexts", "true"];
    let done = mcbo_in(directory.path(), &arguments).with_code(2);
    assert!(done.stderr.contains("a program for the contexts, but the problem has none"), "{}", done.stderr);
}

#[test]
fn secrets_of_the_store_stay_here() {
    let directory = with_file("p.toml", PROBLEM);
    let program = r#"env > seen; echo '{"x": 1, "y": 2}'"#;
    let mut command = crate::command(directory.path());
    command.env("PGPASSWORD", "hunter2").env("PGPASSFILE", "/hunter2").env("HARMLESS", "kept");
    let arguments = ["run", "p.toml", "--initial", "1", "--rounds", "1", "--exec", program];
    assert!(command.args(arguments).output().unwrap().status.success());
    let seen = std::fs::read_to_string(directory.path().join("seen")).unwrap();
    assert!(
        !seen.contains("hunter2") && !seen.contains("MCBO_STORAGE") && seen.contains("HARMLESS=kept"),
        "{seen}"
    );
}

#[test]
fn answers_without_end_are_cut_off() {
    let start = Instant::now();
    let done = exec("yes", &["--json"]).with_code(1);
    assert!(done.stderr.contains("printed more than 16 MiB"), "{}", done.stderr);
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// Also what has left its group and closed its output.
#[cfg(target_os = "linux")]
#[test]
fn everything_a_program_started_is_ended() {
    let directory = with_file("p.toml", PROBLEM);
    let program = r#"setsid sh -c 'echo $$ >> left; exec sleep 600' > /dev/null 2>&1 < /dev/null &
        (sh -c 'echo $$ >> left; exec sleep 600' > /dev/null 2>&1 < /dev/null &)
        while [ "$(cat left 2> /dev/null | wc -l)" -lt 2 ]; do sleep 0.02; done; echo '{"x": 1, "y": 2}'"#;
    let arguments = ["run", "p.toml", "--initial", "1", "--rounds", "0", "--exec", program];
    mcbo_in(directory.path(), &arguments).with_code(0);
    let left = std::fs::read_to_string(directory.path().join("left")).unwrap();
    assert!(left.lines().count() >= 2);
    for id in left.lines() {
        let alive =
            std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
        assert!(!alive, "process {id} is still there");
    }
}
