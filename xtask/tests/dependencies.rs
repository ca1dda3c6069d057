//! Dependencies between the crates point one way: py -> cli -> server -> report -> store, plot -> core -> gp, and cli -> bench -> plot.

use std::process::Command;

use serde_json::Value;

/// Which crates of the workspace each may depend on, in tests and build scripts too.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("mcbo-gp", &[]),
    ("mcbo-core", &["mcbo-gp"]),
    ("mcbo-plot", &["mcbo-core", "mcbo-gp"]),
    ("mcbo-bench", &["mcbo-plot", "mcbo-core", "mcbo-gp"]),
    ("mcbo-store", &["mcbo-core", "mcbo-gp"]),
    ("mcbo-report", &["mcbo-store", "mcbo-plot", "mcbo-core", "mcbo-gp"]),
    ("mcbo-server", &["mcbo-report", "mcbo-store", "mcbo-plot", "mcbo-core", "mcbo-gp"]),
    (
        "mcbo-cli",
        &["mcbo-server", "mcbo-report", "mcbo-store", "mcbo-bench", "mcbo-plot", "mcbo-core", "mcbo-gp"],
    ),
    (
        "mcbo-py",
        &[
            "mcbo-cli",
            "mcbo-server",
            "mcbo-report",
            "mcbo-store",
            "mcbo-bench",
            "mcbo-plot",
            "mcbo-core",
            "mcbo-gp",
        ],
    ),
    ("xtask", &[]),
];

/// What is wrong with the arrows in the output of `cargo metadata --no-deps`.
fn faults(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("metadata lists packages");
    let name = |value: &Value| value["name"].as_str().expect("everything has a name").to_owned();
    let members: Vec<String> = packages.iter().map(name).collect();
    let mut faults = Vec::new();
    for package in packages {
        let from = name(package);
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == from) else {
            faults.push(format!(
                "{from} is new: add it to the table in xtask/tests/dependencies.rs with what it may depend on"
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().expect("packages list dependencies") {
            let to = name(dependency);
            if members.contains(&to) && !allowed.contains(&to.as_str()) {
                let kind = dependency["kind"].as_str().map(|kind| format!(" ({kind})")).unwrap_or_default();
                faults.push(format!(
                    "{from} -> {to}{kind} points the wrong way: move what {from} needs down, or into a trait"
                ));
            }
        }
    }
    faults
}

#[test]
fn arrows_point_one_way() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let faults = faults(&metadata);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn wrong_arrows_are_seen() {
    let metadata = serde_json::json!({ "packages": [
        { "name": "mcbo-gp", "dependencies": [{ "name": "mcbo-core", "kind": "dev" }, { "name": "faer", "kind": null }] },
        { "name": "mcbo-core", "dependencies": [{ "name": "mcbo-gp", "kind": null }] },
        { "name": "mcbo-moon", "dependencies": [] },
    ]});
    let faults = faults(&metadata);
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("mcbo-gp -> mcbo-core (dev)"), "{faults:?}");
    assert!(faults[1].starts_with("mcbo-moon is new"), "{faults:?}");
}

#[test]
fn the_table_itself_has_no_cycle() {
    for (from, allowed) in ALLOWED {
        for to in allowed {
            let back = ALLOWED.iter().find(|(known, _)| known == to).expect("arrows end in the table").1;
            assert!(!back.contains(&from), "{from} <-> {to}");
        }
    }
}
