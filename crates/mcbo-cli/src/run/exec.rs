//! Measurements by a program of the user's: a line of JSON in, a JSON object out.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mcbo_core::{Given, Problem, Trial};

use super::world::{MeasureError, World};
use crate::console::Console;
use crate::interrupt::{Interrupt, Offspring, stop_group};
use crate::json;

pub mod answer;

/// How long to wait for output of a program that has ended already: something it started may hold on to it.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a program has to end by itself when asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How many of its last lines on stderr to remember.
const LINES: usize = 12;
/// How many bytes of an answer are read at most.
const ANSWER: usize = 16 << 20;
/// How many bytes of a line on stderr are passed on at once.
const LINE: u64 = 64 << 10;
/// What a program of others has no business to know: how to get at the store.
const SECRETS: [&str; 5] = ["MCBO_STORAGE", "PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "PGSSLPASSWORD"];

/// Shell commands, each started once per trial by `sh -c`.
pub struct Programs {
    /// Does what a trial says and measures.
    pub measure: String,
    /// Says what is known of the contexts before a trial is chosen.
    pub contexts: Option<String>,
}

/// Programs that stand for the system under study.
pub struct Exec {
    problem: Arc<Problem>,
    programs: Programs,
    timeout: Option<Duration>,
    interrupt: Interrupt,
    console: Console,
}

/// What the threads around a program report.
enum Event {
    Ended(std::io::Result<ExitStatus>),
    Closed,
    /// It prints without end.
    TooMuch,
}

/// Why a program was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    Late,
    TooMuch,
}

/// What a program gave.
struct Output {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: String,
    stopped: Option<Stopped>,
}

impl Exec {
    /// Programs with a limit on their time.
    pub fn new(
        problem: &Arc<Problem>,
        programs: Programs,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
        console: &Console,
    ) -> Self {
        Self {
            problem: Arc::clone(problem),
            programs,
            timeout,
            interrupt: interrupt.clone(),
            console: console.clone(),
        }
    }

    fn start(&self, program: &str) -> Result<Child, MeasureError> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        SECRETS.iter().for_each(|name| _ = command.env_remove(name));
        // Its own group: Ctrl-C in the terminal is ours to handle, and a timeout stops all that it started.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(|error| {
            MeasureError::new(
                format!("`sh` cannot be started: {error}"),
                "--exec needs a POSIX shell on the PATH",
            )
        })
    }

    fn call(&self, program: &str, input: String) -> Result<Output, MeasureError> {
        let offspring = Offspring::expected();
        let mut child = self.start(program)?;
        let id = child.id();
        self.interrupt.set_program(id);
        let (events, inbox) = channel();
        if let Some(mut stdin) = child.stdin.take() {
            // A program need not read its input: that it has gone away is no mistake.
            thread::spawn(move || stdin.write_all(input.as_bytes()));
        }
        let stdout = collect(child.stdout.take(), events.clone());
        let stderr = pass_on(child.stderr.take(), self.console.clone(), events.clone());
        thread::spawn(move || events.send(Event::Ended(child.wait())));

        let (ended, stopped) = self.wait(id, &inbox);
        self.interrupt.set_program(0);
        // Whatever it left behind, in its group or outside of it.
        stop_group(id, true);
        offspring.end();
        let status = ended.map_err(|error| {
            MeasureError::new(format!("waiting for it failed: {error}"), "try the run again")
        })?;
        let stdout = std::mem::take(&mut *stdout.lock().expect("no thread panics with it"));
        let stderr = stderr.lock().expect("no thread panics with it").join("\n");
        Ok(Output { status, stdout, stderr, stopped })
    }

    /// Waits until the program has ended and its output is complete; stops it when its time is up or it prints too much.
    fn wait(&self, id: u32, inbox: &Receiver<Event>) -> (std::io::Result<ExitStatus>, Option<Stopped>) {
        let mut deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        let (mut ended, mut closed, mut stopped, mut asked) = (None, 0, None, false);
        loop {
            let event = match deadline {
                None => inbox.recv().ok(),
                Some(deadline) => inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
            };
            match event {
                Some(Event::Ended(status)) => {
                    ended = Some(status);
                    deadline = Some(Instant::now() + DRAIN);
                }
                Some(Event::Closed) => closed += 1,
                Some(Event::TooMuch) => {
                    stopped = Some(Stopped::TooMuch);
                    stop_group(id, true);
                    deadline = Some(Instant::now() + GRACE);
                }
                // The program has ended, but something it started holds on to its output.
                None if ended.is_some() => {
                    if stopped.is_some() {
                        stop_group(id, true);
                    }
                    closed = 2;
                }
                None => {
                    stopped = stopped.or(Some(Stopped::Late));
                    stop_group(id, asked);
                    asked = true;
                    deadline = Some(Instant::now() + GRACE);
                }
            }
            if closed >= 2
                && let Some(status) = ended.take()
            {
                return (status, stopped);
            }
        }
    }
}

/// Collects everything that comes, up to [`ANSWER`].
fn collect(from: Option<impl Read + Send + 'static>, events: Sender<Event>) -> Arc<Mutex<Vec<u8>>> {
    let shared = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&shared);
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        if let Some(mut from) = from {
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                let mut into = into.lock().expect("no thread panics with it");
                if into.len() + count > ANSWER {
                    let _ = events.send(Event::TooMuch);
                    break;
                }
                into.extend_from_slice(&buffer[..count]);
            }
        }
        events.send(Event::Closed)
    });
    shared
}

/// Passes every line on to our stderr and remembers the last ones.
fn pass_on(
    from: Option<impl Read + Send + 'static>,
    console: Console,
    events: Sender<Event>,
) -> Arc<Mutex<Vec<String>>> {
    let shared = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&shared);
    thread::spawn(move || {
        let mut line = Vec::new();
        if let Some(mut from) = from.map(BufReader::new) {
            while let Ok(1..) = from.by_ref().take(LINE).read_until(b'\n', &mut line) {
                console.pass(&line);
                let mut last = into.lock().expect("no thread panics with it");
                last.push(String::from_utf8_lossy(&line).trim_end().to_owned());
                if last.len() > LINES {
                    last.remove(0);
                }
                line.clear();
            }
        }
        events.send(Event::Closed)
    });
    shared
}

impl Exec {
    /// The values of nodes that a program answers with.
    fn ask(&self, program: &str, input: &serde_json::Value) -> Result<Vec<Option<f64>>, MeasureError> {
        let output = self.call(program, format!("{input}\n"))?;
        let failed = |what: String, hint: &str| {
            Err(MeasureError { what, hint: hint.to_owned(), said: output.stderr.clone() })
        };
        match output.stopped {
            Some(Stopped::Late) => {
                let seconds = self.timeout.unwrap_or_default().as_secs_f64();
                return failed(
                    format!("the program took longer than {seconds} s and was stopped"),
                    "raise --timeout if it needs more time",
                );
            }
            Some(Stopped::TooMuch) => {
                return failed(
                    format!("the program printed more than {} MiB on stdout and was stopped", ANSWER >> 20),
                    "print one JSON object of node values and nothing else",
                );
            }
            None => {}
        }
        match output.status.code() {
            Some(0) => {}
            Some(127) => {
                return failed(
                    "the command was not found (exit code 127)".into(),
                    "check the spelling of --exec; it is run by `sh -c` in the current directory",
                );
            }
            Some(code) => {
                return failed(
                    format!("the program ended with exit code {code}"),
                    "see what it wrote to stderr; exit code 0 means that it has measured",
                );
            }
            None => {
                return failed(format!("the program was killed ({})", output.status), "see what ended it");
            }
        }
        answer::read(&self.problem, &output.stdout)
            .map_err(|error| MeasureError { said: output.stderr.clone(), ..error })
    }
}

impl World for Exec {
    fn given(&mut self, number: usize) -> Result<Given, MeasureError> {
        let Some(program) = &self.programs.contexts else { return Ok(Given::default()) };
        let problem = &self.problem;
        let contexts = || problem.contexts().map(|node| problem.nodes()[node].name.as_str());
        let asked: Vec<&str> = contexts().collect();
        let values = self.ask(program, &serde_json::json!({ "trial": number, "contexts": asked }))?;
        // All components of a context, or it is not known.
        let measured = |node: usize| values[problem.slot(node)].iter().copied().collect::<Option<Vec<f64>>>();
        let other = |&node: &usize| !problem.nodes()[node].context && measured(node).is_some();
        if let Some(node) = (0..problem.nodes().len()).find(other) {
            return Err(MeasureError::new(
                format!("its answer has `{}`, which is no context", problem.nodes()[node].name),
                format!("answer with what is known beforehand alone: {}", asked.join(", ")),
            ));
        }
        let known =
            problem.contexts().filter_map(|node| Some((&problem.nodes()[node].name, measured(node)?)));
        Given::new(problem, known).map_err(|error| MeasureError::new(error.to_string(), "look at its answer"))
    }

    fn measure(&mut self, trial: &Trial) -> Result<Vec<Option<f64>>, MeasureError> {
        let suggestion = json::suggestion(&self.problem, trial.number, &trial.suggestion);
        self.ask(&self.programs.measure, &serde_json::Value::from(suggestion))
    }
}
