//! A server on a store of its own, and the little of HTTP that tests need.

#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use mcbo_server::{Options, Server, Stop};
use mcbo_store::Store;
use serde_json::Value;
use tempfile::TempDir;

/// One action, one node on the way, and the reward.
pub const PROBLEM: &str = r#"
name = "greenhouse"
maximize = "growth"
[nodes.moisture]
actions = ["water"]
noise = { gaussian = 0.1 }
[nodes.growth]
parents = ["moisture"]
noise = { gaussian = 0.1 }
[actions.water]
range = [0.0, 10.0]
"#;

/// A server that runs until it is dropped.
pub struct Running {
    folder: TempDir,
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start(set: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options { port: 0, author: "tester".into(), ..Options::default() };
        set(&mut options);
        let server = Server::bind(Store::open(&url(&folder)).unwrap(), options).unwrap();
        let (address, stop) = (server.address(), server.stopper());
        let thread = std::thread::spawn(move || server.run().unwrap());
        Self { folder, address, stop, thread: Some(thread) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The same store as another program sees it.
    pub fn store(&self) -> Store {
        Store::open(&url(&self.folder)).unwrap()
    }

    /// Everything that comes back for some bytes.
    pub fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // It may answer, and hang up, before it has heard all.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status of an answer; 0 if there is none.
    pub fn status(&self, request: &str) -> u16 {
        self.raw(request).split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub fn answer(&self, path: &str) -> String {
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    }

    pub fn get(&self, path: &str) -> (u16, Value) {
        parsed(&self.answer(path))
    }

    pub fn send(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let length = body.len();
        parsed(&self.raw(&format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             X-Mcbo-Worker: Ad%C3%A8le\r\nConnection: close\r\n\r\n{body}"
        )))
    }

    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send("POST", path, &body.to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("studies.sqlite").display())
}

fn parsed(answer: &str) -> (u16, Value) {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// A name as a part of an address.
pub fn encoded(name: &str) -> String {
    name.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}
