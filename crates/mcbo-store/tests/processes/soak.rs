//! Workers against a server for as long as wanted, with kills of workers and restarts of the server at random moments.
//!
//! `cargo xtask soak --minutes M` runs it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use mcbo_store::Store;

use super::common::{self, create};
use super::{acknowledged, acknowledged_of, check, check_also, spawn_with};

const WORKERS: usize = 4;

/// A worker, and what it has printed.
struct Worker {
    child: Child,
    lines: Receiver<String>,
}

impl Worker {
    fn start(url: &str) -> Self {
        let mut child = spawn_with(url, usize::MAX, None, true);
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { child, lines }
    }

    /// Everything it has printed, after its end.
    fn output(mut self) -> String {
        self.child.wait().unwrap();
        self.lines.into_iter().map(|line| line + "\n").collect()
    }
}

/// What was seen.
#[derive(Default)]
struct Seen {
    told: BTreeMap<usize, u64>,
    corrections: Vec<usize>,
    rows: Vec<usize>,
    /// Workers that ended because the server was gone.
    cut_off: usize,
}

impl Seen {
    fn take(&mut self, worker: Worker) {
        let output = worker.output();
        let (acks, error) = acknowledged(&output);
        if let Some(error) = error {
            assert!(error.starts_with("Unreachable"), "{error}");
            self.cut_off += 1;
        }
        for (number, bits) in acks {
            assert!(self.told.insert(number, bits).is_none(), "trial {number} was acknowledged twice");
        }
        let numbers = |what: &str| acknowledged_of(what, &output).0.into_iter().map(|(number, _)| number);
        self.corrections.extend(numbers("cor "));
        self.rows.extend(numbers("add "));
    }
}

#[test]
#[ignore = "takes as long as MCBO_SOAK_MINUTES says"]
fn soak() {
    let minutes: f64 = std::env::var("MCBO_SOAK_MINUTES").map_or(1.0, |minutes| minutes.parse().unwrap());
    let Some(server) = common::postgres::Server::start() else { return };
    let url = server.fresh();
    create(&Store::open(&url).unwrap(), "s", "random", 0);
    let (start, length) = (Instant::now(), Duration::from_secs_f64(60.0 * minutes));
    let mut workers: Vec<Worker> = (0..WORKERS).map(|_| Worker::start(&url)).collect();
    let mut seen = Seen::default();
    let (mut random, mut kills, mut restarts, mut looks) = (0x2545_f491_4f6c_dd1d_u64, 0, 0, 0);
    let mut below = |most: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 3) % most
    };
    while start.elapsed() < length {
        std::thread::sleep(Duration::from_millis(below(1500)));
        match below(12) {
            0 => {
                server.down();
                std::thread::sleep(Duration::from_millis(below(1500)));
                server.up();
                restarts += 1;
            }
            // While the others work.
            1 => {
                let now = Store::open(&url).unwrap().open_study("s").unwrap().status().unwrap();
                assert!(now.complete >= seen.told.len(), "{now:?}");
                looks += 1;
            }
            _ => {
                let mut worker = workers.swap_remove(below(WORKERS as u64) as usize);
                // It may have ended with the server.
                if worker.child.kill().is_ok() {
                    kills += 1;
                }
                seen.take(worker);
                workers.push(Worker::start(&url));
            }
        }
        for place in (0..workers.len()).rev() {
            if workers[place].child.try_wait().unwrap().is_some() {
                seen.take(workers.swap_remove(place));
                workers.push(Worker::start(&url));
            }
        }
    }
    for mut worker in workers {
        let _ = worker.child.kill();
        seen.take(worker);
    }
    let complete = check(&url, &seen.told);
    check_also(&url, &seen.told, &seen.corrections, &seen.rows);
    eprintln!(
        "{:.1} minutes, {WORKERS} workers: {kills} kills, {restarts} restarts of the server, {} workers cut off by them, {looks} \
         looks in between; {} trials, {} corrections and {} rows acknowledged, none lost, none twice; {complete} trials complete",
        start.elapsed().as_secs_f64() / 60.0,
        seen.cut_off,
        seen.told.len(),
        seen.corrections.len(),
        seen.rows.len(),
    );
    assert!(kills > 0 && !seen.told.is_empty());
}
