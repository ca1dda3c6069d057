//! What comes in from those who mean no good, or go by a mistake: raw bytes over a socket, as any program can send them.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{PROBLEM, Running};

#[test]
fn no_path_leads_out_of_the_embedded_files() {
    let server = Running::start(|_| {});
    let ups = [
        "../",
        "..%2f",
        "%2e%2e/",
        "%2e%2e%2f",
        "..\\",
        "..%5c",
        "....//",
        "%252e%252e%252f",
        "..;/",
        "..%c0%af",
        "%00../",
    ];
    let targets = ["etc/passwd", "Cargo.toml", "src/lib.rs", "proc/self/environ", "windows/win.ini"];
    let starts = ["/", "/assets/", "/assets/x/", "/api/studies/", "/studies/a/"];
    let mut tried = 0;
    for up in ups {
        for depth in [1, 3] {
            for target in targets {
                for start in starts {
                    let path = format!("{start}{}{target}", up.repeat(depth));
                    let answer = server
                        .raw(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
                    let status = answer.split(' ').nth(1).unwrap_or_default();
                    assert!(matches!(status, "400" | "404"), "{path} gives {answer}");
                    assert!(
                        !answer.contains("root:") && !answer.contains("[package]"),
                        "{path} gives {answer}"
                    );
                    tried += 1;
                }
            }
        }
    }
    assert!(tried >= 500, "{tried}");
}

#[test]
fn forged_hosts_and_origins_are_refused() {
    let server = Running::start(|_| {});
    let port = server.port();
    let own = format!("localhost:{port}");
    let get = |host: &str| {
        server.status(&format!("GET /api/studies HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    assert_eq!(get(&own), 200);
    assert_eq!(get("127.0.0.1"), 200);
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "169.254.169.254",
        "",
        "0x7f.1",
        "localhost@evil.example",
    ] {
        assert_eq!(get(host), 421, "{host:?}");
    }
    let two =
        "GET /api/studies HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(matches!(server.status(two), 400 | 421));
    let absolute =
        "GET http://evil.example/api/studies HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(server.status(absolute), 421);
    assert!(matches!(server.status("GET /api/studies HTTP/1.0\r\n\r\n"), 421));

    let post = |more: &str| {
        let body = r#"{"study":"x","problem":""}"#;
        server.status(&format!(
            "POST /api/studies HTTP/1.1\r\nHost: {own}\r\nContent-Length: {}\r\nConnection: close\r\n{more}\r\n{body}",
            body.len()
        ))
    };
    let json = "Content-Type: application/json\r\n";
    // The problem is none: who comes in is told so.
    assert_eq!(post(json), 400);
    assert_eq!(post(&format!("{json}Origin: http://{own}\r\n")), 400);
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost",
        &format!("http://{own}.evil.example"),
        &format!("ftp://{own}"),
        "",
    ] {
        assert_eq!(post(&format!("{json}Origin: {origin}\r\n")), 403, "{origin}");
    }
    for site in ["cross-site", "same-site", "x"] {
        assert_eq!(post(&format!("{json}Sec-Fetch-Site: {site}\r\n")), 403, "{site}");
    }
    // What a form of another site sends, without asking first.
    for kind in [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "text/plain; application/json",
    ] {
        assert_eq!(post(&format!("Content-Type: {kind}\r\n")), 415, "{kind}");
    }
    assert_eq!(post(""), 415);
    let read = format!(
        "GET /api/studies HTTP/1.1\r\nHost: {own}\r\nSec-Fetch-Site: cross-site\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(server.status(&read), 403);
    let followed =
        format!("GET / HTTP/1.1\r\nHost: {own}\r\nSec-Fetch-Site: cross-site\r\nConnection: close\r\n\r\n");
    assert_eq!(server.status(&followed), 200, "a link from elsewhere may be followed");
}

#[test]
fn nothing_changes_where_it_is_only_shown() {
    let server = Running::start(|options| options.read_only = true);
    server.store().create("beer", PROBLEM, &mcbo_store::Options::default()).unwrap();
    for (method, path) in mcbo_server::addresses() {
        let path = path.replace("{study}", "beer").replace("{trial}", "1").replace("{picture}", "graph.svg");
        if method == "GET" {
            continue;
        }
        let (status, body) = server.send(method, &path, "{}");
        assert_eq!(status, 403, "{method} {path}: {body}");
    }
    assert_eq!(server.store().open_study("beer").unwrap().last_event().unwrap(), 1);
    assert_eq!(server.get("/api/studies/beer").0, 200);
}

#[test]
fn a_token_is_asked_for() {
    let server = Running::start(|options| options.token = Some("s3cret-token".into()));
    assert_eq!(server.get("/api/studies").0, 401);
    assert_eq!(server.get("/").0, 401);
    assert_eq!(server.get("/?token=wrong-token1").0, 401);
    let head = |more: &str, path: &str| {
        server.raw(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}Connection: close\r\n\r\n"))
    };
    let entered = head("", "/?token=s3cret-token");
    assert!(entered.starts_with("HTTP/1.1 303"), "{entered}");
    assert!(entered.contains("location: /\r\n"), "{entered}");
    let cookie = format!("mcbo-{}=s3cret-token", server.port());
    assert!(
        entered.contains(&format!("set-cookie: {cookie}; HttpOnly; SameSite=Strict; Path=/")),
        "{entered}"
    );
    assert!(head(&format!("Cookie: a=b; {cookie}\r\n"), "/api/studies").starts_with("HTTP/1.1 200"));
    assert!(head("Authorization: Bearer s3cret-token\r\n", "/api/studies").starts_with("HTTP/1.1 200"));
    assert!(head("Authorization: Bearer s3cret-tokem\r\n", "/api/studies").starts_with("HTTP/1.1 401"));
    // Another site is not gone on to.
    assert!(head("", "//evil.example/?token=s3cret-token").contains("location: /\r\n"));
}

#[test]
fn large_endless_and_broken_bodies_are_given_up() {
    let server = Running::start(|_| {});
    let head = "POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let said = server.status(&format!("{head}Content-Length: 99999999999\r\nConnection: close\r\n\r\n{{}}"));
    assert_eq!(said, 413);
    // An endless body in chunks: it ends when it is too large, not when memory is.
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let mut sent = 0;
    while sent < 64 << 20 && stream.write_all(chunk.as_bytes()).is_ok() {
        sent += chunk.len();
    }
    assert!(sent < 32 << 20, "{sent} bytes were taken");
    let deep = "[".repeat(100_000);
    assert_eq!(server.send("POST", "/api/check", &deep).0, 400);
    assert_eq!(server.send("POST", "/api/check", "\u{0}").0, 400);
    assert_eq!(server.send("POST", "/api/check", r#"{"problem":1}"#).0, 400);
    assert_eq!(server.send("POST", "/api/check", r#"{"problem":"","more":1}"#).0, 400);
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(200_000));
    assert!(matches!(server.status(&long), 0 | 400 | 414 | 431));
    assert_eq!(server.get("/api/studies").0, 200);
}

#[test]
fn a_thousand_idle_connections_keep_nobody_out() {
    let server = Running::start(|_| {});
    let mut idle = Vec::new();
    for count in 0..1000 {
        // A system may allow a program fewer files than that.
        let Ok(mut stream) = TcpStream::connect(server.address()) else { break };
        if count % 2 == 0 {
            let _ = stream.write_all(b"GET /api/studies HTTP/1.1\r\nHost: local");
        }
        idle.push(stream);
        if idle.len() >= 700 {
            idle.remove(0);
        }
    }
    let begun = Instant::now();
    for _ in 0..20 {
        assert_eq!(server.get("/api/studies").0, 200);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    // Those that were there first had to go.
    let mut closed = 0;
    for stream in idle.iter_mut().take(50) {
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        // Whoever is still connected has nothing to read, which ends in a timeout.
        let read = stream.read(&mut [0; 1]);
        let is_reset = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionReset;
        closed += usize::from(matches!(&read, Ok(0)) || read.is_err_and(|error| is_reset(&error)));
    }
    assert!(closed > 0);
}

#[test]
fn what_users_write_stays_text() {
    let server = Running::start(|_| {});
    let nasty = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "=HYPERLINK(\"http://evil\")",
        "@SUM(1)",
        "-1+2",
        "+1",
        "'; DROP TABLE studies; --",
        "{{7*7}}",
        "a/b?c#d%e",
    ];
    for name in nasty {
        let (status, body) = server.send(
            "POST",
            "/api/studies",
            &serde_json::json!({ "study": name, "problem": PROBLEM }).to_string(),
        );
        // A dash at the beginning is no name.
        assert_eq!(status, if name.starts_with('-') { 400 } else { 201 }, "{name}: {body}");
    }
    let name = nasty[0];
    let mut study = server.store().open_study(name).unwrap();
    for text in nasty {
        let number = study.ask(text, 1).unwrap().last().unwrap().trial.number;
        let fail = study.fail(number, text);
        assert!(fail.is_ok(), "{fail:?}");
    }
    let path = format!("/api/studies/{}", common::encoded(name));
    for file in ["", "/trials", "/log", "/problem", "/export.json"] {
        let answer = server.answer(&format!("{path}{file}"));
        assert!(answer.contains("content-type: application/json\r\n"), "{file}: {answer}");
        assert!(answer.contains("x-content-type-options: nosniff\r\n"), "{file}");
    }
    let report = server.answer(&format!("{path}/report.html"));
    assert!(report.starts_with("HTTP/1.1 200"), "{report}");
    assert!(report.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{report}");
    assert!(!report.contains("<script") && !report.contains("<img"), "{report}");
    assert!(report.contains("&lt;script&gt;"), "{report}");
    let picture = server.answer(&format!("{path}/pictures/graph.svg"));
    assert!(!picture.contains("<script"), "{picture}");
    let csv = server.answer(&format!("{path}/export.csv"));
    assert!(csv.contains("filename=\"-script-alert-1---script-.csv\""), "{csv}");
    let body = csv.split("\r\n\r\n").nth(1).unwrap();
    let mut reader = csv::Reader::from_reader(body.as_bytes());
    let mut texts = 0;
    for row in reader.records() {
        for cell in row.unwrap().iter() {
            let formula = cell.starts_with(['=', '+', '@', '-']) && cell.parse::<f64>().is_err();
            assert!(!formula, "{cell}");
            texts += usize::from(cell.starts_with('\''));
        }
    }
    assert!(texts >= 8, "{texts}");
}
