//! A PostgreSQL server for a test, in a folder of its own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub struct Server {
    bin: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    databases: AtomicUsize,
}

impl Server {
    /// Starts a server; `None`, loudly, where PostgreSQL is not installed and `MCBO_REQUIRE_POSTGRES` is not set.
    pub fn start() -> Option<Self> {
        let Some(bin) = find() else {
            let said = "no PostgreSQL server found in PATH or /usr/lib/postgresql; hint: install the package `postgresql`";
            assert!(std::env::var_os("MCBO_REQUIRE_POSTGRES").is_none(), "{said}");
            eprintln!("\n*** NOT TESTED on PostgreSQL: {said} ***\n");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        if is_root() {
            // The server refuses to run as root.
            assert!(
                Command::new("chown").arg("postgres").arg(folder.path()).status().expect("chown").success()
            );
        }
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let server = Self { bin, folder, port, databases: AtomicUsize::new(0) };
        let data = server.data();
        server.run("initdb", &["-D", &data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]);
        server.up();
        Some(server)
    }

    /// Starts the server process and waits until it answers.
    pub fn up(&self) {
        let options = format!("-p {} -h 127.0.0.1 -k '' -c shared_buffers=32MB -c fsync=off", self.port);
        let log = self.folder.path().join("log").display().to_string();
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-t", "60", "-l", &log, "-o", &options, "start"]);
    }

    /// Stops the server process.
    pub fn down(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-m", "immediate", "stop"]);
    }

    /// The address of a database that is new.
    pub fn fresh(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::SeqCst));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address(&name)
    }

    /// The address of a database.
    pub fn address(&self, name: &str) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/{name}", self.port)
    }

    /// Runs SQL in a database.
    pub fn sql(&self, database: &str, sql: &str) {
        let (port, host) = (self.port.to_string(), "127.0.0.1");
        self.run("psql", &["-q", "-h", host, "-p", &port, "-U", "postgres", "-d", database, "-c", sql]);
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(self.bin.join(program));
            command
        } else {
            Command::new(self.bin.join(program))
        };
        command.current_dir("/").args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        // To a file: a server that inherits a pipe would keep it open.
        let said = tempfile::NamedTempFile::new().expect("a file");
        command.stderr(said.reopen().expect("the file again"));
        let status = command.status().unwrap_or_else(|error| panic!("{program}: {error}"));
        let said = std::fs::read_to_string(said.path()).unwrap_or_default();
        assert!(status.success(), "{program} {arguments:?}: {said}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let start = Instant::now();
        while self.folder.path().join("data/postmaster.pid").exists()
            && start.elapsed() < Duration::from_secs(30)
        {
            self.down();
        }
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id");
    output.stdout == b"0\n"
}

/// The folder of the server's programs, the newest version first.
fn find() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
        folders.sort();
        folders.reverse();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let has = |folder: &Path| {
        ["initdb", "pg_ctl", "postgres", "psql"].iter().all(|name| folder.join(name).exists())
    };
    folders.into_iter().find(|folder| has(folder))
}
