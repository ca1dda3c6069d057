//! The modules of `mcbo-core` use one another in one direction.
//!
//! The sources are read as text: comments, string literals and what is compiled for tests only are blanked first.

mod source;

use std::collections::BTreeMap;
use std::fs;

use source::{behind_closing, code_only, files, folder, without_tests};

/// Every module uses those before it, never one behind it. `ARCHITECTURE.md` says what each of them is.
const ORDER: [&str; 15] = [
    "graph",
    "quasi",
    "noise",
    "expr",
    "intervention",
    "problem",
    "decision",
    "data",
    "given",
    "optimism",
    "network",
    "acquisition",
    "search",
    "strategy",
    "study",
];

/// The parts of `{a, b::{c, d}}` between its outer brackets, or the one path that starts here.
fn elements(code: &str, start: usize) -> Vec<&str> {
    if !code[start..].starts_with('{') {
        let end = code[start..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        return vec![&code[start..end.map_or(code.len(), |end| start + end)]];
    }
    let inner = &code[start + 1..behind_closing(code, start) - 1];
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&inner[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&inner[from..]);
    found.into_iter().map(str::trim).filter(|element| !element.is_empty()).collect()
}

/// The first name of every path that begins with `crate::`.
fn used(code: &str) -> Vec<&str> {
    let starts = code.match_indices("crate::").map(|(at, word)| at + word.len());
    let paths = starts.flat_map(|start| elements(code, start));
    paths.map(|path| path.split("::").next().unwrap_or_default().trim()).collect()
}

/// The module that each name of the crate's root comes from, as `lib.rs` says it.
fn exports(code: &str) -> BTreeMap<&str, &str> {
    let mut exports = BTreeMap::new();
    for (at, word) in code.match_indices("pub use ") {
        let start = at + word.len();
        let Some((module, _)) = code[start..].split_once("::") else { continue };
        for name in elements(code, start + module.len() + 2) {
            exports.insert(name, module);
        }
    }
    exports
}

/// What a module uses and must not.
fn faults<'a>(module: &str, code: &'a str, exports: &BTreeMap<&'a str, &'a str>) -> Vec<&'a str> {
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    let wrong = |name: &&str| {
        let target = exports.get(name).copied().unwrap_or(name);
        match (place(target), place(module)) {
            (Some(target), Some(own)) => target > own,
            // What the root takes from another crate is no module of this one.
            _ => !target.starts_with("mcbo_"),
        }
    };
    used(code).into_iter().filter(wrong).collect()
}

#[test]
fn modules_of_core_use_those_below_them() {
    let folder = folder("mcbo-core");
    let read = |path: &std::path::Path| {
        without_tests(code_only(&fs::read_to_string(path).expect("sources are UTF-8")))
    };
    let root = read(&folder.join("lib.rs"));
    let exports = exports(&root);
    let mut said = Vec::new();
    for file in files(&folder) {
        let inside = file.strip_prefix(&folder).expect("it is in the folder");
        let first = inside.iter().next().and_then(|part| part.to_str()).expect("a name");
        let module = first.strip_suffix(".rs").unwrap_or(first);
        // What only tests use may use everything.
        if ["lib", "testing"].contains(&module) {
            continue;
        }
        let code = read(&file);
        for name in faults(module, &code, &exports) {
            said.push(format!("{}: crate::{name}", inside.display()));
        }
    }
    assert!(
        said.is_empty(),
        "\n{}\nhint: a module uses those before it in this order: {}",
        said.join("\n"),
        ORDER.join(", ")
    );
}

#[test]
fn faults_are_seen() {
    let exports = exports("pub use network::{Network, Plan};\npub use mcbo_gp::Kernel;\npub use data::Data;");
    let code = "use crate::{Network, data::{Data, Observation}};\nuse crate::search::maximize;\nfn f(k: crate::Kernel) {}";
    assert_eq!(faults("network", code, &exports), ["search"]);
    assert_eq!(faults("data", code, &exports), ["Network", "search"]);
    assert_eq!(faults("study", code, &exports), [""; 0]);
    assert_eq!(faults("study", "use crate::nowhere::X;", &exports), ["nowhere"]);
    assert_eq!(faults("unheard", "use crate::data::Data;", &exports), ["data"]);
}
