//! `mcbo run` that is killed at random moments and started again, until its rounds are done.
//!
//! What is printed was stored before: it is there after any kill, once, with its bits. A trial whose values are stored is not measured
//! again; one that was being measured when the run was killed is, since nobody took its answer.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use mcbo_core::TrialState;
use mcbo_store::{Outcome, Store, StoredStudy, StoredTrial};
use serde_json::Value;

use crate::kept::PROBLEM;
use crate::{command, mcbo_in, with_file};

/// Notes that a trial begins, measures, notes what came out, and says it. No two measurements give the same.
const PROGRAM: &str = r#"
read -r line
trial=$(printf %s "$line" | sed 's/.*"trial": *\([0-9]*\).*/\1/')
# Its run was killed before it could say what to measure.
[ -n "$trial" ] || exit 1
echo "begun $trial $PPID" >> notes
sleep 0.00$(($$ % 10))
y=0.$(date +%N)$$
echo "made $trial $y" >> notes
printf '{"x": 0.%s, "y": %s}\n' "$$" "$y"
"#;

/// Trials of a run: those of the design, and rounds.
const INITIAL: usize = 3;
const ROUNDS: usize = 17;

/// How many kills; more by the environment.
fn kills(usual: usize) -> usize {
    std::env::var("MCBO_KILLS").map_or(usual, |number| number.parse().unwrap())
}

/// What a campaign has counted.
#[derive(Debug, Default)]
struct Count {
    kills: usize,
    runs: usize,
    trials: usize,
    begun: usize,
    begun_again: usize,
}

/// Runs until `kills` were made, study after study; `look` is called after every kill and at the end of every study.
fn campaign(kills: usize, arguments: &[&str], look: &dyn Fn(&Path, &mut Seen, bool)) -> Count {
    let (mut count, mut random) = (Count::default(), 0x2545_f491_4f6c_dd1d_u64);
    while count.kills < kills {
        let directory = with_file("p.toml", PROBLEM);
        let (at, mut seen) = (directory.path(), Seen::default());
        loop {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let mut run =
                command(at).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            seen.runs.push(run.id());
            let mut stdout = run.stdout.take().unwrap();
            let printed = std::thread::spawn(move || {
                let mut text = String::new();
                stdout.read_to_string(&mut text).map(|_| text)
            });
            // Most while it works, some while it begins.
            std::thread::sleep(Duration::from_micros(
                random % if random % 8 == 0 { 20_000 } else { 250_000 },
            ));
            let ended = run.try_wait().unwrap();
            if ended.is_none() && count.kills < kills {
                run.kill().unwrap();
                count.kills += 1;
            }
            let status = run.wait().unwrap();
            let mut said = String::new();
            run.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            seen.note(&printed.join().unwrap().unwrap());
            let over = status.success();
            assert!(over || status.code().is_none(), "ended with {status}: {said}");
            look(at, &mut seen, over);
            if over {
                break;
            }
        }
        count.runs += 1;
        count.trials += seen.printed.len();
        count.begun += seen.begun.values().sum::<usize>();
        count.begun_again += seen.begun.values().filter(|times| **times > 1).count();
    }
    count
}

/// What was seen of a study so far.
#[derive(Default)]
struct Seen {
    /// The values that were printed, by trial.
    printed: BTreeMap<usize, Value>,
    /// The processes that ran it, one after the other.
    runs: Vec<u32>,
    /// The trials that are stored, each with how many runs there had been when it was first seen to be.
    stored: BTreeMap<usize, usize>,
    /// How often the program has begun each trial.
    begun: BTreeMap<usize, usize>,
}

impl Seen {
    /// Takes what a run has printed; the last line may be cut off.
    fn note(&mut self, output: &str) {
        let whole = output.rfind('\n').map_or("", |end| &output[..end]);
        for line in whole.lines() {
            let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let Some(number) = line["trial"].as_u64() else { continue };
            assert_eq!(line["state"], "complete", "{line}");
            let known = self.printed.entry(number as usize).or_insert_with(|| line["values"].clone());
            assert_eq!(*known, line["values"], "trial {number} was printed otherwise before");
        }
    }
}

fn study(at: &Path) -> Option<StoredStudy> {
    let store = Store::open(&format!("sqlite://{}", at.join("studies.sqlite").display())).unwrap();
    // Killed before it was made.
    store.studies().unwrap().first()?;
    Some(store.open_study("s").unwrap())
}

/// Everything that was printed is stored, with its bits; every trial was put under way and told once. The stored trials.
fn stored(at: &Path, seen: &Seen, over: bool) -> Vec<StoredTrial> {
    let Some(mut study) = study(at) else {
        assert!(seen.printed.is_empty());
        return Vec::new();
    };
    let (trials, events) = (study.trials().unwrap(), study.events().unwrap());
    for (&number, values) in &seen.printed {
        let trial = &trials[number - 1].trial;
        assert_eq!(trial.state, TrialState::Complete, "trial {number} was printed and is lost");
        let names = ["x", "y"].iter().zip(trial.values.as_ref().unwrap());
        for (name, value) in names {
            let bits = |value: Option<f64>| value.map(f64::to_bits);
            assert_eq!(bits(values[name].as_f64()), bits(*value), "{name} of trial {number}");
        }
    }
    let of = |kind: &str| events.iter().filter(|entry| entry.kind == kind).count();
    let complete = trials.iter().filter(|trial| trial.trial.state == TrialState::Complete).count();
    assert_eq!((of("asked"), of("told")), (trials.len(), complete), "each once");
    assert!(trials.len() - complete <= 1, "one is under way at the most");
    if over {
        assert_eq!((complete, seen.printed.len()), (INITIAL + ROUNDS, INITIAL + ROUNDS));
        for number in [INITIAL + 1, INITIAL + ROUNDS] {
            assert_eq!(study.recompute(number).unwrap().outcome, Outcome::Same, "trial {number}");
        }
    }
    trials
}

/// The same, and what the program has noted: every stored value is one that it has said, and no trial was begun after its values were
/// stored.
fn measured(at: &Path, seen: &mut Seen, over: bool) {
    let trials = stored(at, seen, over);
    let notes = std::fs::read_to_string(at.join("notes")).unwrap_or_default();
    let number = |text: &str| text.parse::<usize>().unwrap();
    for StoredTrial { trial, .. } in trials.iter().filter(|trial| trial.trial.state == TrialState::Complete) {
        seen.stored.entry(trial.number).or_insert(seen.runs.len());
    }
    seen.begun.clear();
    let mut made: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for line in notes.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["begun", trial, by] => {
                let trial = number(trial);
                *seen.begun.entry(trial).or_default() += 1;
                // One that has lost its run before it could say a word was begun before the next.
                let run = seen.runs.iter().position(|run| run.to_string() == by).map_or(0, |place| place + 1);
                let most = seen.stored.get(&trial).copied().unwrap_or(usize::MAX);
                assert!(run <= most, "trial {trial} was measured again after it was stored");
            }
            ["made", trial, y] => {
                made.entry(number(trial)).or_default().push(y.parse::<f64>().unwrap().to_bits());
            }
            _ => panic!("{line}"),
        }
    }
    for trial in
        trials.iter().map(|trial| &trial.trial).filter(|trial| seen.stored.contains_key(&trial.number))
    {
        let y = trial.values.as_ref().unwrap()[1].unwrap().to_bits();
        assert!(made[&trial.number].contains(&y), "trial {} has a value nobody measured", trial.number);
    }
}

fn arguments<'a>(rounds: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", "p.toml", "--study", "s", "--initial", "3", "--rounds", rounds];
    arguments.extend(["--seed", "3", "--json", "-q"]);
    arguments.extend(more);
    arguments
}

#[test]
fn a_program_that_measures_is_not_called_for_what_is_stored() {
    let rounds = ROUNDS.to_string();
    for (strategy, kills) in [("random", kills(12)), ("mcbo", kills(12).div_ceil(4))] {
        let arguments = arguments(&rounds, &["--strategy", strategy, "--exec", PROGRAM]);
        let count = campaign(kills, &arguments, &measured);
        eprintln!("{strategy}, --exec: {count:?}");
        assert_eq!(count.trials, count.runs * (INITIAL + ROUNDS));
        // A kill repeats the measurement that it cuts off, and no other.
        assert!(count.begun <= count.trials + count.kills, "{count:?}");
    }
}

#[test]
fn a_simulated_run_comes_to_the_same_end() {
    let rounds = ROUNDS.to_string();
    for (strategy, kills) in [("random", kills(12)), ("mcbo", kills(12).div_ceil(4))] {
        let arguments = arguments(&rounds, &["--strategy", strategy]);
        let quiet = with_file("p.toml", PROBLEM);
        let undisturbed = mcbo_in(quiet.path(), &arguments).with_code(0).json();
        let values: Vec<&Value> =
            undisturbed.iter().filter(|line| line["trial"].is_u64()).map(|line| &line["values"]).collect();
        let look = |at: &Path, seen: &mut Seen, over: bool| {
            stored(at, seen, over);
            assert!(seen.printed.values().eq(values.iter().copied().take(seen.printed.len())));
        };
        let count = campaign(kills, &arguments, &look);
        eprintln!("{strategy}, simulator: {count:?}");
        assert_eq!(count.trials, count.runs * values.len());
    }
}
