//! Ctrl-C.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::{command, with_file};

const PROBLEM: &str = "maximize = 'y'\n[nodes.y]\nactions = ['a']\n[actions.a]\nrange = [0, 1]\n";

fn start(directory: &Path, program: &str, more: &[&str]) -> Child {
    let mut command = command(directory);
    command.args(["run", "p.toml", "--initial", "3", "--rounds", "100000", "--exec", program]).args(more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

fn interrupt(child: &Child) {
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("it is still running");
}

#[test]
fn the_first_ends_the_run_with_what_is_known() {
    let directory = with_file("p.toml", PROBLEM);
    let mut child = start(directory.path(), "sleep 0.1; echo '{\"y\": 1.5}'", &["--json"]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    stdout.read_line(&mut text).unwrap();
    interrupt(&child);
    stdout.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!((last["end"].as_str(), last["best"]["reward"].as_f64()), (Some("interrupted"), Some(1.5)));
    assert!(last["recommendation"]["intervention"]["actions"]["a"].is_f64());
    // The step under way was not torn apart.
    assert!(lines[..lines.len() - 1].iter().all(|trial| trial["state"] == "complete"), "{text}");
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "stopping after this step; press Ctrl-C again to stop at once\n");
}

#[test]
fn the_second_ends_it_at_once_with_its_program() {
    let directory = with_file("p.toml", PROBLEM);
    let program = "sleep 60 & echo $! > started.part; mv started.part started; wait";
    let mut child = start(directory.path(), program, &[]);
    let began = Instant::now();
    let started = directory.path().join("started");
    while !started.exists() {
        assert!(began.elapsed() < Duration::from_secs(30), "the program starts");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    interrupt(&child);
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains("press Ctrl-C again"), "{line}");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(30));
    let sleeper = std::fs::read_to_string(started).unwrap().trim().parse().unwrap();
    while kill(Pid::from_raw(sleeper), None).is_ok() && !is_zombie(sleeper) {
        assert!(began.elapsed() < Duration::from_secs(30), "what the program started is stopped as well");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process has ended and only waits to be noticed by its parent.
fn is_zombie(process: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

#[test]
fn a_comparison_ends_after_the_runs_under_way_and_goes_on_later() {
    let directory = tempfile::tempdir().unwrap();
    let comparison = |seeds: &str| {
        let mut command = command(directory.path());
        command.args(["bench", "run", "--task", "ackley", "--rounds", "6", "--out", "out", "--threads", "1"]);
        command.args(["--seeds", seeds]).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the binary starts")
    };
    let child = comparison("0..5000");
    let saved =
        || std::fs::read_dir(directory.path().join("out/runs/ackley/mcbo")).map_or(0, Iterator::count);
    let began = Instant::now();
    while saved() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "no run was saved");
        std::thread::sleep(Duration::from_millis(10));
    }
    interrupt(&child);
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", String::from_utf8_lossy(&done.stderr));
    let count = saved();
    let again = comparison(&format!("0..{count}")).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(
        again.status.success() && said.contains(&format!("{count} of {count} runs are there already")),
        "{said}"
    );
}
