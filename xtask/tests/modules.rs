//! The modules of `mcbo-core` use one another in one direction. What is compiled for tests only may use everything.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

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

/// The Rust files below a folder, but for modules named `tests`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("folders can be read").path()).collect();
    paths.retain(|path| path.file_stem().is_some_and(|stem| stem != "tests"));
    paths.sort();
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    paths
        .into_iter()
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(is_source)
        .collect()
}

fn tokens(code: &str) -> TokenStream {
    code.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn is_brace(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// The first name of the path that starts here, or of each path of `{a, b::{c, d}}`.
fn first_names(token: Option<&TokenTree>) -> Vec<String> {
    match token {
        Some(TokenTree::Ident(name)) => vec![name.to_string()],
        Some(TokenTree::Group(group)) => {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            inner
                .split(|token| is_punct(Some(token), ','))
                .flat_map(|path| first_names(path.first()))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Whether an attribute leaves its item to tests.
fn is_for_tests(attribute: Option<&TokenTree>) -> bool {
    let text = attribute.map(|attribute| attribute.to_string().replace(' ', "")).unwrap_or_default();
    text.starts_with("[cfg(test)") || text.starts_with("[cfg(all(test")
}

/// The first name of every path that begins with `crate::`.
fn used(code: TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let (mut at, mut found) = (0, Vec::new());
    while at < tokens.len() {
        let next = tokens.get(at + 1);
        match &tokens[at] {
            TokenTree::Punct(punct) if punct.as_char() == '#' && is_for_tests(next) => {
                let ends = |token: &TokenTree| is_punct(Some(token), ';') || is_brace(token);
                at += tokens[at..].iter().position(ends).unwrap_or(tokens.len());
            }
            TokenTree::Ident(word) if word == "crate" && is_punct(next, ':') => {
                found.extend(first_names(tokens.get(at + 3)));
                at += 2;
            }
            TokenTree::Group(group) => found.extend(used(group.stream())),
            _ => {}
        }
        at += 1;
    }
    found
}

/// The module that each name of the crate's root comes from, as `lib.rs` says it.
fn exports(code: TokenStream) -> BTreeMap<String, String> {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let mut exports = BTreeMap::new();
    for window in tokens.windows(6) {
        if window[0].to_string() == "pub" && window[1].to_string() == "use" {
            let module = window[2].to_string();
            exports.extend(first_names(Some(&window[5])).into_iter().map(|name| (name, module.clone())));
        }
    }
    exports
}

/// What a module uses and must not.
fn faults(module: &str, code: TokenStream, exports: &BTreeMap<String, String>) -> Vec<String> {
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    let wrong = |name: &String| {
        let target = exports.get(name).unwrap_or(name);
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/mcbo-core/src");
    let read = |path: &Path| tokens(&fs::read_to_string(path).expect("sources are UTF-8"));
    let exports = exports(read(&folder.join("lib.rs")));
    assert!(exports.len() > 50, "{exports:?}");
    let mut said = Vec::new();
    for file in files(&folder) {
        let inside = file.strip_prefix(&folder).expect("it is in the folder");
        let first = inside.iter().next().and_then(|part| part.to_str()).expect("a name");
        let module = first.strip_suffix(".rs").unwrap_or(first);
        // What only tests use may use everything.
        if ["lib", "testing"].contains(&module) {
            continue;
        }
        for name in faults(module, read(&file), &exports) {
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
    let exports =
        exports(tokens("pub use network::{Network, Plan};\npub use mcbo_gp::Kernel;\npub use data::Data;"));
    let code = "use crate::{Network, data::{Data, Observation}};\nuse crate::search::maximize;\nfn f(k: crate::Kernel) {}\n\
                // crate::nowhere\n#[cfg(test)]\nmod tests { use crate::study::Study; }";
    let found = |module: &str, code: &str| faults(module, tokens(code), &exports);
    assert_eq!(found("network", code), ["search"]);
    assert_eq!(found("data", code), ["Network", "search"]);
    assert_eq!(found("study", code), [""; 0]);
    assert_eq!(found("study", "use crate::nowhere::X;"), ["nowhere"]);
    assert_eq!(found("graph", "fn f() { assert!(crate::data::x()); }"), ["data"]);
    assert_eq!(found("unheard", "use crate::data::Data;"), ["data"]);
}

/// The names of the modules of a folder: its files and folders with this ending, but for what every crate and every test has.
fn modules(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let name = |path: PathBuf| Some(path.file_name()?.to_str()?.strip_suffix(ending)?.to_owned());
    let names = entries.filter_map(|entry| name(entry.expect("folders can be read").path()));
    let everywhere = ["lib", "main", "tests", "__init__", "__main__"];
    names.filter(|name| !everywhere.contains(&name.as_str())).collect()
}

/// A stranger finds every module of the top level in `ARCHITECTURE.md`, in the section of its crate.
#[test]
fn every_module_has_its_place_in_the_architecture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let mut missing = Vec::new();
    for entry in fs::read_dir(root.join("crates")).expect("crates") {
        let folder = entry.expect("folders can be read").path();
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let heading = format!("## The rooms of `{name}`\n");
        let section = text.split(&heading).nth(1).unwrap_or_else(|| panic!("{name} has no section"));
        let section = section.split("\n## ").next().unwrap_or(section);
        let mut all = modules(&folder.join("src"), ".rs");
        let python = folder.join("python/mcbo");
        if python.is_dir() {
            all.extend(modules(&python, ".py"));
        }
        let is_named =
            |module: &String| ["`", "/"].iter().any(|before| section.contains(&format!("{before}{module}`")));
        all.retain(|module| !is_named(module));
        missing.extend(all.into_iter().map(|module| format!("{name}: {module}")));
    }
    missing.sort();
    assert!(missing.is_empty(), "not in ARCHITECTURE.md: {missing:?}");
}
