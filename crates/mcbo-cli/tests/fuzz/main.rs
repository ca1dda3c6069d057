//! Anything at all as input: what others write is changed at random, and every reader answers with what it read or with what is
//! wrong; none panics, none hangs.
//!
//! A second of every kind is in the tests; `cargo xtask fuzz --minutes M` goes on for longer. What is found goes to the corpus.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::{Duration, Instant};

use mcbo_core::{Expr, Kernel, Problem};
use mcbo_store::Store;

/// What is not noticed after this long is no answer.
const SLOW: Duration = Duration::from_secs(5);

const VECTORS: &str = "maximize = 'y'\n[nodes.x]\nactions = ['a']\ndo = [0, 1]\n[nodes.leaf]\nparents = ['x']\ndim = 2\n\
                       [nodes.y]\nparents = ['leaf']\n[actions.a]\nrange = [0, 1]\n";

/// Takes an input in, or says that it is none.
type Reader = Box<dyn Fn(&[u8]) -> bool>;

/// A kind of input: its name, what to begin from, and its reader, which says whether it was understood.
struct Kind {
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    read: Reader,
}

/// Random numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 3
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }
}

/// Words that mean something to one reader or another.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "1e-320",
    "NaN",
    "inf",
    "null",
    "true",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "\"",
    "'",
    "\\",
    "\n",
    "\r",
    ",",
    ";",
    "=",
    "==",
    "+",
    "-",
    "*",
    "/",
    "^",
    ".",
    "..",
    "x",
    "y",
    "a",
    "leaf",
    "leaf[9]",
    "do",
    "range",
    "parents",
    "[nodes.",
    "[actions.",
    "simulate",
    "se(",
    "sin(",
    "if(",
    "normal(",
    "choices",
    "step",
    "require",
    "limit",
    "999999999999999999999",
    "\u{feff}",
    "\u{0}",
    "é",
    "𝄞",
    "---",
];

/// Changes an input a little.
fn mutate(random: &mut Random, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        match random.below(8) {
            0 => input[at..].iter_mut().take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            1 => {
                let end = (at + random.below(16)).min(input.len());
                input.drain(at..end);
            }
            2 => {
                let end = (at + random.below(64)).min(input.len());
                let part = input[at..end].to_vec();
                let to = random.below(input.len() + 1);
                input.splice(to..to, part);
            }
            3 => input.truncate(at),
            4 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len() + 1);
                let part = other[from..(from + random.below(80)).min(other.len())].to_vec();
                input.splice(at..at, part);
            }
            5 => {
                // The same many times over: depths and lengths.
                let end = (at + 1 + random.below(3)).min(input.len());
                let part = input[at..end].repeat(1 + random.below(300));
                input.splice(at..at, part);
            }
            _ => {
                let word = WORDS[random.below(WORDS.len())].as_bytes().to_vec();
                input.splice(at..at, word);
            }
        }
    }
    input.truncate(200_000);
}

fn parts(text: &str) -> Vec<Vec<u8>> {
    text.split("---\n").map(|part| part.as_bytes().to_vec()).collect()
}

fn lines(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

/// A reader of texts: what is no text is no input.
fn text(read: impl Fn(&str) -> bool + 'static) -> Reader {
    Box::new(move |bytes| std::str::from_utf8(bytes).is_ok_and(&read))
}

fn kinds(folder: &Path) -> Vec<Kind> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut problems = Vec::new();
    for folder in [root.join("../mcbo-report/templates"), root.join("../../examples")] {
        let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        let mut files: Vec<_> =
            files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
        files.sort();
        problems.extend(files.iter().map(|file| std::fs::read(file).unwrap()));
    }
    let vectors = || Problem::from_toml(VECTORS).unwrap();
    let (of_tables, of_told, of_answers) = (vectors(), vectors(), vectors());
    let store = folder.join("store.sqlite");
    let url = format!("sqlite://{}", store.display());
    let stored = whole_store(&url, &store);
    let archive = folder.join("archive");
    let run = archived_run(&archive);
    vec![
        Kind {
            name: "problem files",
            corpus: problems,
            // Whatever it is, the mistakes can be shown; whatever is accepted simulates or says that it cannot.
            read: text(|text| match Problem::from_toml(text) {
                Ok(_) => true,
                Err(errors) => {
                    assert!(!errors.render("file").is_empty());
                    false
                }
            }),
        },
        Kind {
            name: "formulas",
            corpus: lines(include_str!("corpus/formulas.txt")),
            read: text(|text| {
                let strains = ["wild".to_owned(), "mutant".to_owned()];
                let inputs = [("x", 1), ("a", 1), ("leaf", 2), ("strain", 1)];
                Expr::parse_with_choices(text, &inputs, &[&[], &[], &[], &strains], true).is_ok()
            }),
        },
        Kind {
            name: "kernels",
            corpus: lines(include_str!("corpus/kernels.txt")),
            read: text(|text| {
                let named = Kernel::parse(text, &["x", "a", "leaf[0]", "leaf[1]", "strain"]).is_ok();
                named | text.parse::<Kernel>().is_ok()
            }),
        },
        Kind {
            name: "tables",
            corpus: parts(include_str!("corpus/tables.txt")),
            read: text(move |text| mcbo_cli::fuzz::table(&of_tables, text).is_ok()),
        },
        Kind {
            name: "JSON of tell",
            corpus: parts(include_str!("corpus/answers.txt")),
            read: text(move |text| mcbo_cli::fuzz::told(&of_told, text).is_ok()),
        },
        Kind {
            name: "JSON of --exec",
            corpus: parts(include_str!("corpus/answers.txt")),
            read: Box::new(move |bytes| mcbo_cli::fuzz::answer(&of_answers, bytes).is_ok()),
        },
        Kind {
            name: "graphs",
            corpus: parts(include_str!("corpus/graphs.txt")),
            read: text(|text| mcbo_cli::fuzz::graph(text).is_ok()),
        },
        Kind {
            name: "archives",
            corpus: vec![run],
            read: Box::new(move |bytes| read_archive(&archive, bytes)),
        },
        Kind {
            name: "stores",
            corpus: vec![stored],
            read: Box::new(move |bytes| read_store(&url, &store, bytes)),
        },
    ]
}

/// The bytes of a store with a study.
fn whole_store(url: &str, file: &Path) -> Vec<u8> {
    let store = Store::open(url).unwrap().with_clock(|| 0);
    let mut study = store.create("s", VECTORS, &mcbo_store::Options::default()).unwrap();
    for _ in 0..3 {
        let number = study.ask("w", 1).unwrap()[0].trial.number;
        study.tell(number, &[("y", vec![0.1])], None).unwrap();
    }
    drop((study, store));
    std::fs::read(file).unwrap()
}

/// The file of a run.
fn archived_run(folder: &Path) -> Vec<u8> {
    let out = folder.display().to_string();
    let arguments = [
        "bench",
        "run",
        "--task",
        "toygraph",
        "--strategy",
        "random",
        "--rounds",
        "2",
        "--seeds",
        "0..1",
        "--out",
        &out,
    ];
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_mcbo")).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(run_file(folder)).unwrap()
}

/// The one file of an archive.
fn run_file(folder: &Path) -> std::path::PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let mut entries: Vec<_> =
        entries.filter(|path| path.is_dir() || path.extension().is_some_and(|end| end == "json")).collect();
    entries.sort_by_key(|path| !path.is_dir());
    match entries.first() {
        Some(path) if path.is_dir() => run_file(path),
        found => found.unwrap().clone(),
    }
}

fn read_archive(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::write(run_file(folder), bytes).unwrap();
    mcbo_bench::Archive::at(folder.join("runs")).runs().is_ok()
}

/// Reads all of a store; what it says must be what was written.
fn read_store(url: &str, file: &Path, bytes: &[u8]) -> bool {
    thread_local!(static LAST: Cell<u64> = const { Cell::new(0) });
    for ending in ["-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
    }
    std::fs::write(file, bytes).unwrap();
    let read = || -> Result<(), mcbo_store::StoreError> {
        let store = Store::open_existing(url)?;
        for summary in store.studies()? {
            let mut study = store.open_study(&summary.name)?;
            assert_eq!(summary.name, "s");
            for trial in study.trials()? {
                let reward = trial.trial.values.and_then(|values| values[3]);
                assert!(reward.is_none_or(|value| value == 0.1), "another value");
            }
        }
        Ok(())
    };
    let good = read();
    LAST.set(LAST.get() + 1);
    if LAST.get().is_multiple_of(16) {
        let new = format!("{}-new", file.display());
        let _ = std::fs::remove_file(&new);
        std::fs::write(file, bytes).unwrap();
        let _ = Store::repair(url, &format!("sqlite://{new}"));
    }
    good.is_ok()
}

/// Feeds a kind for some time; how many inputs, and how many of them were understood.
fn feed(kind: &Kind, seed: u64, time: Duration) -> (usize, usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let start = Instant::now();
    let (mut fed, mut understood) = (0, 0);
    // What was understood after a change is begun from again: so inputs get further from the corpus.
    let mut pool = kind.corpus.clone();
    while start.elapsed() < time {
        let mut input = pool[random.below(pool.len())].clone();
        mutate(&mut random, &mut input, &pool);
        let began = Instant::now();
        let read = std::panic::catch_unwind(AssertUnwindSafe(|| (kind.read)(&input)));
        let shown = || String::from_utf8_lossy(&input[..input.len().min(2000)]).into_owned();
        match read {
            Ok(good) => {
                understood += usize::from(good);
                if good && pool.len() < 500 && input.len() < 20_000 {
                    pool.push(input.clone());
                }
            }
            Err(_) => panic!("{}, seed {seed}, input {fed}: a panic on {:?}", kind.name, shown()),
        }
        let took = began.elapsed();
        assert!(took < SLOW, "{}, seed {seed}, input {fed}: {took:?} for {:?}", kind.name, shown());
        fed += 1;
    }
    (fed, understood)
}

/// Feeds all kinds, or those that are named, each for its share of the time.
fn campaign(seconds: f64, seed: u64, only: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let mut kinds = kinds(folder.path());
    if let Some(only) = only {
        let known: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        let unknown = only.split(',').find(|name| !known.contains(name));
        assert!(unknown.is_none(), "there is no kind {unknown:?}; there are {}", known.join(", "));
        kinds.retain(|kind| only.split(',').any(|name| name == kind.name));
    }
    let seconds = seconds / kinds.len() as f64;
    for kind in kinds {
        for input in &kind.corpus {
            (kind.read)(input);
        }
        let (fed, understood) = feed(&kind, seed, Duration::from_secs_f64(seconds));
        eprintln!("{:>15}: {fed} inputs, {understood} understood", kind.name);
        assert!(fed > 0, "{}", kind.name);
    }
}

#[test]
fn a_moment_of_every_kind() {
    campaign(9.0, 1, None);
}

/// What `cargo xtask fuzz` runs.
#[test]
#[ignore = "takes as long as it is told to"]
fn for_minutes() {
    let minutes: f64 = std::env::var("MCBO_FUZZ_MINUTES").map_or(1.0, |minutes| minutes.parse().unwrap());
    let seed = std::env::var("MCBO_FUZZ_SEED").map_or(0, |seed| seed.parse().unwrap());
    campaign(minutes * 60.0, seed, std::env::var("MCBO_FUZZ_ONLY").ok().as_deref());
}
