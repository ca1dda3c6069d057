//! Many processes on one store, and processes that are killed in the middle of their work.
//!
//! A child is this test program again, told what to do by its environment.

mod common;
#[path = "processes/soak.rs"]
mod soak;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcbo_core::{Origin, TrialState};
use mcbo_store::{Outcome, Row, Store, StoreError};

use common::{create, sqlite, world};

/// Asks and tells as often as it is told to, and acknowledges every trial it has told.
#[test]
#[ignore = "the child of the other tests"]
fn child() {
    let Ok(url) = std::env::var("MCBO_STORE_CHILD") else { return };
    let rounds: usize = std::env::var("MCBO_STORE_ROUNDS").unwrap().parse().unwrap();
    let worker = format!("process {}", std::process::id());
    let work = || -> Result<(), StoreError> {
        // Snapshots after few events, so that some may be killed while they write one.
        let mut study = Store::open(&url)?.with_snapshots_after(2000).open_study("s")?;
        for _ in 0..rounds {
            let trial = study.ask(&worker, 1)?.remove(0).trial;
            study.tell(trial.number, &world(trial.number, &trial.suggestion.intervention), Some(&worker))?;
            let growth = world(trial.number, &trial.suggestion.intervention)[2].1[0].to_bits();
            let mut out = std::io::stdout().lock();
            writeln!(out, "\nack {} {growth}", trial.number).and_then(|()| out.flush()).unwrap();
            if std::env::var_os("MCBO_STORE_ALSO").is_none() {
                continue;
            }
            // Now and then a value is put right, and a row comes from outside.
            if trial.number % 2 == 0 {
                study.correct(trial.number, &[("growth", vec![corrected(growth)])], "")?;
                writeln!(out, "\ncor {} 0", trial.number).and_then(|()| out.flush()).unwrap();
            }
            if trial.number % 3 == 0 {
                let values = [("growth".to_owned(), vec![outside(trial.number)])].into();
                study.add(&[Row { values, ..Row::default() }])?;
                writeln!(out, "\nadd {} 0", trial.number).and_then(|()| out.flush()).unwrap();
            }
        }
        Ok(())
    };
    if let Err(error) = work() {
        println!("\nerror {error:?}");
        std::process::exit(3);
    }
}

/// What a growth becomes when it is put right.
fn corrected(bits: u64) -> f64 {
    f64::from_bits(bits) + 1.0
}

/// The growth of the row that comes from outside after a trial.
fn outside(trial: usize) -> f64 {
    1e6 + trial as f64
}

fn spawn(url: &str, rounds: usize, wrap: Option<&str>) -> Child {
    spawn_with(url, rounds, wrap, false)
}

/// The same, perhaps with a child that also corrects and adds.
fn spawn_with(url: &str, rounds: usize, wrap: Option<&str>, also: bool) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = match wrap {
        Some(limits) => {
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!("{limits}; exec \"$0\" \"$@\"")).arg(program);
            command
        }
        None => Command::new(program),
    };
    command.args(["child", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("MCBO_STORE_CHILD", url).env("MCBO_STORE_ROUNDS", rounds.to_string());
    if also {
        command.env("MCBO_STORE_ALSO", "1");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The acknowledged trials with the bits of their growth, and the error if there was one.
fn acknowledged(output: &str) -> (Vec<(usize, u64)>, Option<String>) {
    acknowledged_of("ack ", output)
}

fn acknowledged_of(what: &str, output: &str) -> (Vec<(usize, u64)>, Option<String>) {
    let ack = |line: &str| {
        let (number, bits) = line.strip_prefix(what)?.split_once(' ')?;
        Some((number.parse().ok()?, bits.parse().ok()?))
    };
    // The last line may have been cut off.
    let whole = output.rfind('\n').map_or("", |end| &output[..end]);
    let error = whole.lines().find_map(|line| line.strip_prefix("error "));
    (whole.lines().filter_map(ack).collect(), error.map(str::to_owned))
}

/// Every acknowledged trial is there with its value, told exactly once; the numbers are 1, 2, 3, …
fn check(url: &str, acknowledged: &BTreeMap<usize, u64>) -> usize {
    let mut study = Store::open(url).unwrap().open_study("s").unwrap();
    // A server may still be writing what a killed child had sent off: both are read when nothing happens in between.
    let (trials, events) = loop {
        let (before, trials, events) =
            (study.events().unwrap(), study.trials().unwrap(), study.events().unwrap());
        if before.len() == events.len() {
            break (trials, events);
        }
    };
    for (index, trial) in trials.iter().enumerate() {
        assert_eq!(trial.trial.number, index + 1);
    }
    for (&number, &bits) in acknowledged {
        let trial = &trials[number - 1].trial;
        assert_eq!(trial.state, TrialState::Complete, "trial {number} was acknowledged and is lost");
        let growth = trial.values.as_ref().unwrap()[2].unwrap();
        assert!(growth.to_bits() == bits || growth == corrected(bits), "trial {number}: {growth}");
    }
    let of = |kind: &str| events.iter().filter(|entry| entry.kind == kind).count();
    let is_added = |trial: &&mcbo_store::StoredTrial| trial.trial.suggestion.origin() == Origin::Added;
    let added = trials.iter().filter(is_added).count();
    assert_eq!(of("asked"), trials.len() - added, "no trial twice");
    assert_eq!(of("added"), added, "no row twice");
    let complete = trials.iter().filter(|trial| trial.trial.state == TrialState::Complete).count() - added;
    assert_eq!(of("told"), complete, "no result twice");
    complete
}

/// Every correction and every row that was acknowledged is there, once.
fn check_also(url: &str, told: &BTreeMap<usize, u64>, corrections: &[usize], rows: &[usize]) {
    let trials = Store::open(url).unwrap().open_study("s").unwrap().trials().unwrap();
    let growth = |trial: &mcbo_store::StoredTrial| trial.trial.values.as_ref().and_then(|values| values[2]);
    for number in corrections {
        assert_eq!(
            growth(&trials[number - 1]),
            told.get(number).map(|bits| corrected(*bits)),
            "trial {number}"
        );
    }
    for number in rows {
        let count = trials.iter().filter(|trial| growth(trial) == Some(outside(*number))).count();
        assert_eq!(count, 1, "the row after trial {number}");
    }
}

/// Kills children at random moments of their work.
fn kill(url: &str, times: usize, strategy: &str) {
    create(&Store::open(url).unwrap(), "s", strategy, 3);
    // Suggestions of the model take longer.
    let moments = if strategy == "mcbo" { 200_000 } else { 20_000 };
    let mut all = BTreeMap::new();
    let (mut corrections, mut rows) = (Vec::new(), Vec::new());
    let (mut random, mut during) = (0x2545_f491_4f6c_dd1d_u64, 0);
    for _ in 0..times {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut child = spawn_with(url, 1_000_000, None, true);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        // Some while they open the store, most while they work.
        if random % 8 != 0 {
            while !text.contains("\nack") && output.read_line(&mut text).unwrap() > 0 {}
        }
        std::thread::sleep(Duration::from_micros(random % moments));
        child.kill().unwrap();
        child.wait().unwrap();
        output.read_to_string(&mut text).unwrap();
        let (acks, error) = acknowledged(&text);
        assert_eq!(error, None);
        during += usize::from(!acks.is_empty());
        corrections.extend(acknowledged_of("cor ", &text).0.into_iter().map(|(number, _)| number));
        rows.extend(acknowledged_of("add ", &text).0.into_iter().map(|(number, _)| number));
        for (number, bits) in acks {
            assert!(all.insert(number, bits).is_none(), "trial {number} was acknowledged twice");
        }
        let complete = check(url, &all);
        assert!(complete <= all.len() + times, "{complete} results, {} acknowledged", all.len());
    }
    check_also(url, &all, &corrections, &rows);
    eprintln!(
        "{strategy}: {times} kills, {during} of them while telling; {} trials, {} corrections, {} rows acknowledged, none lost",
        all.len(),
        corrections.len(),
        rows.len()
    );
    assert!(during > times / 2, "{during} of {times} were killed while telling");
}

/// Processes that work together while another one reads.
fn together(url: &str, processes: usize, rounds: usize, strategy: &str) {
    create(&Store::open(url).unwrap(), "s", strategy, 3);
    let start = Instant::now();
    let children: Vec<Child> = (0..processes).map(|_| spawn(url, rounds, None)).collect();
    let readers: Vec<_> = children
        .into_iter()
        .map(|mut child| {
            std::thread::spawn(move || {
                let mut text = String::new();
                child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
                child.wait().unwrap();
                text
            })
        })
        .collect();
    let (mut reads, mut seen) = (0, 0);
    while !readers.iter().all(|reader| reader.is_finished()) {
        let now = Store::open(url).unwrap().open_study("s").unwrap().status().unwrap();
        assert!(now.complete >= seen && now.pending <= processes, "{now:?}");
        (reads, seen) = (reads + 1, now.complete);
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut all = BTreeMap::new();
    for reader in readers {
        let (acks, error) = acknowledged(&reader.join().unwrap());
        assert_eq!(error, None);
        assert_eq!(acks.len(), rounds);
        for (number, bits) in acks {
            assert!(all.insert(number, bits).is_none(), "trial {number} was handed out twice");
        }
    }
    assert_eq!(all.len(), processes * rounds);
    assert_eq!(check(url, &all), processes * rounds);
    let seconds = start.elapsed().as_secs_f64();
    // What was found beside others can be computed again as well.
    let mut study = Store::open(url).unwrap().open_study("s").unwrap();
    let beside =
        study.events().unwrap().iter().filter(|event| event.payload.contains("\"beside\":true")).count();
    for trial in (1..=all.len()).step_by(all.len().div_ceil(40)) {
        assert_eq!(study.recompute(trial).unwrap().outcome, Outcome::Same, "trial {trial}");
    }
    eprintln!(
        "{strategy}, {beside} beside others: {processes} processes, {rounds} rounds each, {reads} reads between: {seconds:.1} s"
    );
}

/// A number of the environment: larger campaigns than those of every day.
fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |number| number.parse().unwrap())
}

#[test]
fn killed_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    kill(&sqlite(&folder), number("MCBO_KILLS", 150), "random");
}

#[test]
fn together_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    together(&sqlite(&folder), number("MCBO_PROCESSES", 16), 50, "random");
}

#[test]
fn on_postgres() {
    let Some(server) = common::postgres::Server::start() else { return };
    kill(&server.fresh(), number("MCBO_KILLS", 40).min(300), "random");
    let many = number("MCBO_PROCESSES", 8);
    together(&server.fresh(), many, if many > 8 { 50 } else { 20 }, "random");
    together(&server.fresh(), 4, 5, "mcbo");
}

#[test]
fn the_model_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    kill(&sqlite(&folder), number("MCBO_KILLS", 150) / 10, "mcbo");
    let folder = tempfile::tempdir().unwrap();
    together(&sqlite(&folder), 4, 8, "mcbo");
}

/// A file that may not grow any more: what was acknowledged is there, and with more room it goes on.
#[test]
fn no_space_on_sqlite() {
    for blocks in [96, 130, 200, 400] {
        let folder = tempfile::tempdir().unwrap();
        let url = sqlite(&folder);
        create(&Store::open(&url).unwrap(), "s", "random", 0);
        let limits = format!("trap '' XFSZ; ulimit -f {blocks}");
        let output = spawn(&url, 100_000, Some(&limits)).wait_with_output().unwrap();
        let (acks, error) = acknowledged(&String::from_utf8(output.stdout).unwrap());
        let error = error.expect("the file is full at some time");
        assert!(error.starts_with("Full") || error.starts_with("Database"), "{error}");
        let all: BTreeMap<usize, u64> = acks.into_iter().collect();
        let complete = check(&url, &all);
        eprintln!("{blocks} blocks: {} acknowledged, {complete} stored, then {error}", all.len());
        assert!(complete == all.len() || complete == all.len() + 1);
        let mut study = Store::open(&url).unwrap().open_study("s").unwrap();
        common::round(&mut study, "after");
        assert_eq!(study.status().unwrap().complete, complete + 1);
    }
}
