//! The pages in a real browser: Chromium, driven by Playwright. Where it, Node or npm is missing, the tests say so and leave it out;
//! with `MCBO_REQUIRE_BROWSER=1` that is a failure.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

const MCBO: &str = env!("CARGO_BIN_EXE_mcbo");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");

/// Where a program is, if it is there.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

/// Browser, Node and the folder of what scripts need; none where something is missing.
fn tools() -> Option<&'static (PathBuf, PathBuf, PathBuf)> {
    static TOOLS: OnceLock<Option<(PathBuf, PathBuf, PathBuf)>> = OnceLock::new();
    let found = TOOLS.get_or_init(|| {
        let chromium = program(&["chromium", "chromium-browser", "google-chrome"])?;
        let (node, npm) = (program(&["node"])?, program(&["npm"])?);
        // Tests may run in several processes; each has its own name for what it is making, and the last rename wins.
        let modules = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
        if !modules.join("node_modules/playwright-core").is_dir() {
            let making = modules.with_extension(std::process::id().to_string());
            fs::create_dir_all(&making).ok()?;
            fs::copy(Path::new(SCRIPTS).join("package.json"), making.join("package.json")).ok()?;
            let installed = Command::new(npm)
                .args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"])
                .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
                .current_dir(&making)
                .stdout(Stdio::null())
                .status();
            if !installed.is_ok_and(|status| status.success()) {
                return None;
            }
            if fs::rename(&making, &modules).is_err() {
                let _ = fs::remove_dir_all(&making);
            }
        }
        Some((chromium, node, modules))
    });
    if found.is_none() {
        assert!(
            std::env::var_os("MCBO_REQUIRE_BROWSER").is_none(),
            "Chromium, Node and npm are required, and cannot be used"
        );
        eprintln!("left out: there is no Chromium, Node or npm here");
    }
    found.as_ref()
}

/// A server of its own, which ends with the test.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(folder: &TempDir, port: u16) -> Self {
        Self::start_with(folder, port, &[])
    }

    fn start_with(folder: &TempDir, port: u16, options: &[&str]) -> Self {
        let mut child = mcbo(folder, &["serve", "--port", &port.to_string()])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn port(&self) -> u16 {
        self.url.trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn mcbo(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(MCBO);
    command.args(arguments);
    command.env("MCBO_STORAGE", format!("sqlite://{}", folder.path().join("studies.sqlite").display()));
    command
}

/// A script of this folder, with the address of a server.
fn script(name: &str, url: &str) -> Command {
    let (chromium, node, modules) = tools().unwrap();
    let mut command = Command::new(node);
    command.arg(Path::new(SCRIPTS).join(name)).env("MCBO_URL", url);
    command.env("MCBO_CHROMIUM", chromium).env("MCBO_BROWSER_MODULES", modules);
    command
}

fn plays(name: &str, url: &str) {
    succeeds(name, script(name, url));
}

fn succeeds(name: &str, mut script: Command) {
    let output = script.output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}:\n{said}");
    println!("{said}");
}

#[test]
fn from_an_empty_store_to_a_recommendation() {
    if tools().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Served::start(&folder, 0);
    plays("story.mjs", &server.url);
}

#[test]
fn contexts_choices_limits_and_costs() {
    if tools().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Served::start(&folder, 0);
    plays("kinds.mjs", &server.url);
}

#[test]
fn by_keyboard_alone() {
    if tools().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Served::start(&folder, 0);
    plays("keyboard.mjs", &server.url);
}

#[test]
fn states_that_are_met_seldom() {
    if tools().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Served::start(&folder, 0);
    let looking = Served::start_with(&folder, 0, &["--read-only"]);
    let guarded = Served::start_with(&folder, 0, &["--token", "only-for-tests"]);
    let mut states = script("states.mjs", &server.url);
    states.env("MCBO_URL_READ_ONLY", &looking.url).env("MCBO_URL_TOKEN", &guarded.url);
    succeeds("states.mjs", states);
}

#[test]
fn a_server_that_is_killed_and_started_again_loses_nothing() {
    if tools().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let problem = folder.path().join("beer.toml");
    assert!(mcbo(&folder, &["init", problem.to_str().unwrap()]).output().unwrap().status.success());
    assert!(
        mcbo(&folder, &["new", "beer", "--problem", problem.to_str().unwrap()])
            .output()
            .unwrap()
            .status
            .success()
    );
    let server = Served::start(&folder, 0);
    let (port, url) = (server.port(), server.url.clone());
    let mut page = script("restart.mjs", &url).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(page.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut until = |word: &str| lines.by_ref().any(|line| line == word);
    assert!(until("kill it"));
    drop(server);
    page.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert!(until("start it"));
    let _server = Served::start(&folder, port);
    page.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert!(until("the whole story"));
    assert!(page.wait().unwrap().success());
}

#[test]
fn ten_thousand_trials_are_shown_at_once() {
    if tools().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (problem, rows) = (folder.path().join("beer.toml"), folder.path().join("rows.csv"));
    assert!(mcbo(&folder, &["init", problem.to_str().unwrap()]).output().unwrap().status.success());
    assert!(
        mcbo(&folder, &["new", "beer", "--problem", problem.to_str().unwrap()])
            .output()
            .unwrap()
            .status
            .success()
    );
    let mut text = String::from("sugar,hops,water,mash,wort,taste\n");
    for row in 0..10_000 {
        let at = f64::from(row) / 10_000.0;
        text.push_str(&format!(
            "{},{},{},{},{},{}\n",
            4.0 * at,
            20.0 + 10.0 * at,
            5.5 + at,
            3.0 + 4.0 * at,
            13.0 + at,
            9.0 - at * at
        ));
    }
    fs::write(&rows, text).unwrap();
    let added = mcbo(&folder, &["add", "beer", "--csv", rows.to_str().unwrap()]).output().unwrap();
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let server = Served::start(&folder, 0);
    plays("large.mjs", &server.url);
}
