//! The JSON of the server: a study from its beginning to a recommendation, and what is refused.

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{PROBLEM, Running};
use mcbo_core::{Criterion, Given, Intervention};
use mcbo_report::{export, json as plain, predict};
use serde_json::{Value, json};

/// What the greenhouse gives.
fn grown(water: f64) -> Value {
    let moisture = 0.3 + 0.05 * water;
    json!({ "moisture": moisture, "growth": 1.0 - 4.0 * (moisture - 0.55).powi(2) })
}

fn with_trials(server: &Running, count: usize) {
    assert_eq!(
        server.post("/api/studies", &json!({ "study": "beer", "problem": PROBLEM, "seed": 3 })).0,
        201
    );
    for _ in 0..count {
        let (status, asked) = server.post("/api/studies/beer/ask", &json!({}));
        assert_eq!(status, 201, "{asked}");
        let trial = &asked["trials"][0];
        let water = trial["intervention"]["actions"]["water"].as_f64().unwrap();
        let (status, told) = server.post(
            &format!("/api/studies/beer/trials/{}/tell", trial["trial"]),
            &json!({ "values": grown(water) }),
        );
        assert_eq!(status, 200, "{told}");
    }
}

#[test]
fn the_description_has_every_address_and_no_other() {
    let server = Running::start(|_| {});
    let (status, described) = server.get("/api/openapi.json");
    assert_eq!(status, 200);
    let paths = described["paths"].as_object().unwrap();
    let described: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone()))
        })
        .collect();
    let served: BTreeSet<(String, String)> = mcbo_server::addresses()
        .into_iter()
        .map(|(method, path)| (method.to_owned(), path.to_owned()))
        .collect();
    assert_eq!(served, described);
    // Whatever stands in braces is described.
    for (path, methods) in paths {
        for (_, operation) in methods.as_object().unwrap() {
            for name in path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()) {
                let named = |one: &Value| one["name"] == name && one["in"] == "path";
                assert!(operation["parameters"].as_array().unwrap().iter().any(named), "{path}: {name}");
            }
        }
    }
}

#[test]
fn a_study_from_its_beginning() {
    let server = Running::start(|_| {});
    assert_eq!(server.get("/api/studies"), (200, json!([])));
    with_trials(&server, 6);
    let (_, list) = server.get("/api/studies");
    assert_eq!((&list[0]["study"], &list[0]["complete"]), (&json!("beer"), &json!(6)));
    let (_, status) = server.get("/api/studies/beer");
    assert_eq!(
        (&status["complete"], &status["event"], &status["quick"]),
        (&json!(6), &json!(13), &json!(true))
    );

    // What is said is what the command line says, from the same place.
    let study = server.store().open_study("beer").unwrap().study().unwrap();
    let recommendation = study.recommend_given(Criterion::Mean, Given::NONE).unwrap();
    let (code, best) = server.get("/api/studies/beer/best");
    assert_eq!(code, 200, "{best}");
    assert_eq!(best["recommendation"], plain::recommendation(study.problem(), &recommendation));
    assert!(best["words"]["verdict"].as_str().unwrap().starts_with("When to stop"), "{best}");
    let intervention = Intervention { targets: vec![], actions: vec![4.25] };
    let expected = study.predict(&recommendation, &intervention).unwrap();
    let expected = predict::document("beer", study.problem(), &intervention, Given::NONE, &expected);
    let (_, mut predicted) = server.get("/api/studies/beer/predict?doing=water%3D4.25");
    predicted.as_object_mut().unwrap().remove("event");
    assert_eq!(predicted, expected);
    let stored = server.store().open_study("beer").unwrap().trials().unwrap();
    let (_, page) = server.get("/api/studies/beer/trials?per=2&page=2&sort=reward&order=desc");
    assert_eq!((&page["total"], page["trials"].as_array().unwrap().len()), (&json!(6), 2));
    let mut by_reward: Vec<_> = stored.iter().collect();
    by_reward.sort_by(|a, b| {
        plain::reward(study.problem(), &b.trial)
            .partial_cmp(&plain::reward(study.problem(), &a.trial))
            .unwrap()
    });
    let mut third = export::trial(study.problem(), by_reward[2]);
    third["done_instead"] = json!([]);
    assert_eq!(page["trials"][0], third);

    // Who did it is on record.
    let (_, log) = server.get("/api/studies/beer/log");
    assert_eq!((&log["total"], &log["events"][0]["who"]), (&json!(13), &json!("Adèle")));
    for path in [
        "effects",
        "trust",
        "doubts",
        "pictures/history.svg",
        "pictures/graph.png",
        "pictures/mechanism.svg?node=growth&at=2",
        "pictures/calibration.svg?node=growth",
        "report.html",
        "export.csv",
        "problem.toml",
    ] {
        let answer = server.answer(&format!("/api/studies/beer/{path}"));
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {}", &answer[..answer.len().min(600)]);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let server = Running::start(|_| {});
    with_trials(&server, 1);
    for (path, expected, words) in [
        ("/api/studies/wine", 404, "there is no study \"wine\""),
        ("/api/studies/beer/trials/9", 404, "there is no trial 9"),
        ("/api/studies/beer/trials/x", 400, ""),
        ("/api/studies/beer/trials?sort=color", 400, "there is no column"),
        ("/api/studies/beer/predict?doing=water", 400, "is not NAME=VALUE"),
        ("/api/studies/beer/predict?doing=water=99", 400, "water"),
        ("/api/studies/beer/predict?given=moisture=1", 400, "moisture"),
        ("/api/studies/beer/pictures/secret.svg", 404, "no such picture"),
        ("/api/studies/beer/pictures/mechanism.svg?node=x", 404, "there is no node"),
        ("/api/nothing", 404, "there is no such address"),
    ] {
        let (status, body) = server.get(path);
        assert_eq!(status, expected, "{path}: {body}");
        assert!(words.is_empty() || body["error"].as_str().unwrap().contains(words), "{path}: {body}");
    }
    for (path, body, expected, words) in [
        ("/api/studies", json!({ "study": "beer", "problem": PROBLEM }), 409, "already"),
        ("/api/studies", json!({ "study": "run/x", "problem": PROBLEM }), 400, "name for runs"),
        ("/api/studies", json!({ "study": "wine", "problem": "maximize = 1" }), 400, ""),
        ("/api/studies/beer/ask", json!({ "more": 0 }), 400, "at once"),
        ("/api/studies/beer/ask", json!({ "more": 1000 }), 400, "at once"),
        ("/api/studies/beer/enqueue", json!({ "doing": ["water=11"] }), 400, "water"),
        ("/api/studies/beer/trials/1/tell", json!({ "values": {} }), 400, "no values"),
        ("/api/studies/beer/trials/1/tell", json!({ "values": { "growth": "much" } }), 400, "not a number"),
        ("/api/studies/beer/trials/1/tell", json!({ "values": { "growth": 77.0 } }), 409, "already"),
        ("/api/studies/beer/trials/7/fail", json!({}), 404, "no trial"),
        (
            "/api/studies/beer/trials/1/correct",
            json!({ "values": { "growth": 1.0 } }),
            400,
            "event is missing",
        ),
        ("/api/studies/beer/rename", json!({ "to": " x" }), 400, "cannot be the name"),
    ] {
        let (status, answer) = server.post(path, &body);
        assert_eq!(status, expected, "{path} {body}: {answer}");
        assert!(words.is_empty() || answer["error"].as_str().unwrap().contains(words), "{path}: {answer}");
    }
    let (status, checked) =
        server.post("/api/check", &json!({ "problem": "maximize = \"y\"\n[nodes.y]\nparents = [\"x\"]\n" }));
    assert_eq!(
        (status, &checked["valid"], &checked["errors"][0]["line"]),
        (200, &json!(false), &json!(3)),
        "{checked}"
    );
    assert_eq!(server.send("DELETE", "/api/studies/beer", r#"{"study":"bear"}"#).0, 400);
    assert_eq!(server.send("DELETE", "/api/studies/beer", r#"{"study":"beer"}"#).0, 200);
    assert_eq!(server.get("/api/studies/beer").0, 404);
}

/// A table is taken as a whole or not at all, with the lines that are wrong.
#[test]
fn measurements_from_before() {
    let server = Running::start(|_| {});
    with_trials(&server, 1);
    let add = |body: Value| server.post("/api/studies/beer/add", &body);
    let trials = || server.get("/api/studies/beer").1["trials"].clone();
    let (status, answer) =
        add(json!({ "csv": "water,moisture,growth\n1,0.3,0.5\n2,wet,0.5\n3,0.4\n,0.4,0.5\n" }));
    assert_eq!((status, &answer["error"]), (400, &json!("3 bad rows, so none was added")), "{answer}");
    let lines: Vec<u64> =
        answer["lines"].as_array().unwrap().iter().map(|one| one["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [3, 4, 5]);
    assert!(answer["lines"][0]["message"].as_str().unwrap().contains("wet"), "{answer}");
    assert!(!answer.to_string().contains("--missing"), "the page has no options: {answer}");
    for (csv, words) in [
        ("", "empty"),
        ("water,growth\n", "no row"),
        ("waiter,growth\n1,2\n", "waiter"),
        ("water\n99\n", "bad row"),
    ] {
        let (status, answer) = add(json!({ "csv": csv }));
        assert_eq!(status, 400, "{csv:?}: {answer}");
        assert!(answer["error"].as_str().unwrap().contains(words) && !answer["hint"].is_null(), "{answer}");
    }
    assert_eq!(trials(), 1, "nothing was taken");
    let good = "water;moisture;growth\n1;0.35;0.84\n2;0.4;\n";
    assert_eq!(add(json!({ "csv": good })), (200, json!({ "added": 2, "there": 0, "skipped": 0 })));
    let (status, answer) = add(json!({ "csv": good }));
    assert_eq!((status, answer["lines"].as_array().unwrap().len()), (400, 2), "{answer}");
    assert_eq!(add(json!({ "csv": good, "known": "skip" })).1["there"], 2);
    assert_eq!(add(json!({ "csv": good, "known": "take" })).1["added"], 2);
    assert_eq!(add(json!({ "csv": "water,growth\n,0.4\n", "neutral": true })).1["added"], 1);
    assert_eq!(trials(), 6);
    assert_eq!(add(json!({ "csv": good, "known": "perhaps" })).0, 400);
    assert_eq!(server.post("/api/studies/bear/add", &json!({ "csv": good })).0, 404);
    let (_, log) = server.get("/api/studies/beer/log");
    assert_eq!(log["events"][0]["who"], "Adèle", "{log}");
    let looking = Running::start(|options| options.read_only = true);
    assert_eq!(looking.post("/api/studies/beer/add", &json!({ "csv": good })).0, 403);
}

/// Who proposes and what for.
#[test]
fn studies_are_begun_as_one_wishes() {
    let server = Running::start(|_| {});
    let begin = |name: &str, more: Value| {
        let mut body = json!({ "study": name, "problem": PROBLEM });
        more.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
        server.post("/api/studies", &body)
    };
    assert_eq!(begin("a", json!({ "seed": 7, "aim": "find" })).0, 201);
    assert_eq!(begin("b", json!({ "strategy": "random" })).0, 201);
    let options = |name: &str| server.store().open_study(name).unwrap().status().unwrap();
    let (a, b) = (options("a"), options("b"));
    assert_eq!((a.seed, a.strategy.strategy.as_str(), a.strategy.aim.as_deref()), (7, "mcbo", Some("find")));
    assert_eq!((b.seed, b.strategy.strategy.as_str()), (0, "random"));
    for (wrong, words) in [
        (json!({ "strategy": "luck" }), "luck"),
        (json!({ "aim": "fame" }), "aim"),
        (json!({ "strategy": "random", "aim": "find" }), "aim"),
    ] {
        let (status, answer) = begin("c", wrong.clone());
        assert_eq!(status, 400, "{wrong}: {answer}");
        assert!(answer["error"].as_str().unwrap().contains(words), "{answer}");
    }
    assert_eq!(server.get("/api/studies/c").0, 404);
}

#[test]
fn nothing_is_overwritten_unseen() {
    let server = Running::start(|_| {});
    with_trials(&server, 2);
    let (_, seen) = server.get("/api/studies/beer/trials/1");
    let event = seen["event"].clone();
    let correct = |trial: usize, growth: f64, event: &Value| {
        server.post(
            &format!("/api/studies/beer/trials/{trial}/correct"),
            &json!({ "values": { "growth": growth }, "event": event }),
        )
    };
    assert_eq!(correct(2, 0.5, &event).0, 200);
    // Another trial was changed: that is no reason to refuse this one.
    assert_eq!(correct(1, 0.6, &event).0, 200);
    let (status, answer) = correct(1, 0.7, &event);
    assert_eq!(status, 409, "{answer}");
    assert!(
        answer["error"].as_str().unwrap().contains("trial 1 of study \"beer\" was changed meanwhile"),
        "{answer}"
    );
    let (_, now) = server.get("/api/studies/beer/trials/1");
    assert_eq!(now["values"]["growth"], json!(0.6));
    let (status, _) = server.post("/api/studies/beer/void", &json!({ "trials": [1, 2], "event": event }));
    assert_eq!(status, 409);
    let (status, out) =
        server.post("/api/studies/beer/void", &json!({ "trials": [1], "event": now["event"] }));
    assert_eq!((status, &out["trials"]), (200, &json!([1])));
    let change = |event: &Value| {
        let body = json!({ "problem": PROBLEM.replace("10.0", "12.0"), "event": event }).to_string();
        server.send("PUT", "/api/studies/beer/problem", &body).0
    };
    assert_eq!(change(&now["event"]), 409);
    assert_eq!(change(&out["event"]), 200);
}

#[test]
fn what_others_do_is_heard_soon() {
    let server = Running::start(|_| {});
    with_trials(&server, 1);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(b"GET /api/events?study=beer HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut heard = || lines.find(|line| line.starts_with("data:")).unwrap();
    assert_eq!(heard(), r#"data: {"event":3}"#);
    let begun = Instant::now();
    server.store().open_study("beer").unwrap().ask("elsewhere", 1).unwrap();
    assert_eq!(heard(), r#"data: {"event":4}"#);
    // It is looked for twice a second; a machine that is busy gets twenty times that.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    server.store().delete("beer").unwrap();
    assert_eq!(heard(), r#"data: {"event":null}"#);
}

#[test]
fn another_study_of_the_same_name_is_another_study() {
    let server = Running::start(|_| {});
    with_trials(&server, 1);
    assert_eq!(server.get("/api/studies/beer").1["trials"], json!(1));
    let store = server.store();
    store.rename("beer", "old").unwrap();
    store.create("beer", PROBLEM, &mcbo_store::Options::default()).unwrap();
    assert_eq!(server.get("/api/studies/beer").1["trials"], json!(0));
    assert_eq!(server.get("/api/studies/old").1["trials"], json!(1));
}
