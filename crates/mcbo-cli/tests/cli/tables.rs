//! Tables of data: `add` and `export`.

use serde_json::Value;

use crate::study::{asked, export, lab, tell};
use crate::{mcbo_in, with_file};

#[test]
fn tables_are_added_whole_or_not_at_all() {
    let directory = lab();
    let at = directory.path();
    let bad = "a,x,leaf[0],leaf[1],do(z),y\n0.5,1,2,3,,4\ninf,1,2,3,,4\n0.1,abc,2,3,,4\n0.2,1,2,3,-inf,4\n0.3,1,2,3\n0.4,,,,5,nan\n";
    std::fs::write(at.join("t.csv"), bad).unwrap();
    let done = mcbo_in(at, &["add", "lab", "--csv", "t.csv"]).with_code(2);
    let lines = [
        "t.csv:3: a is inf",
        "t.csv:4: x is \"abc\"",
        "t.csv:5: z is -inf",
        "t.csv:6: 4 cells",
        "t.csv:7: y is NaN",
    ];
    for line in lines {
        assert!(done.stderr.contains(line), "{line}\n{}", done.stderr);
    }
    assert!(done.stderr.contains("5 bad rows, so none of t.csv was added"), "{}", done.stderr);
    assert_eq!(export(at)["trials"], Value::Array(vec![]));
    let done = mcbo_in(at, &["add", "lab", "--csv", "t.csv", "--skip-bad"]).with_code(0);
    assert!(
        done.stderr.contains("line 4 is left out") && done.stderr.contains("1 row added"),
        "{}",
        done.stderr
    );
    assert_eq!(export(at)["trials"].as_array().unwrap().len(), 1);
    // The same file again would double everything; a file that grows would double its beginning.
    let done = mcbo_in(at, &["add", "lab", "--csv", "t.csv", "--skip-bad"]).with_code(2);
    assert!(done.stderr.contains("the study has all rows of it already"), "{}", done.stderr);
    let grown = "a,x,leaf[0],leaf[1],do(z),y\n0.5,1,2,3,,4\n0.6,1,2,3,,4\n";
    std::fs::write(at.join("grown.csv"), grown).unwrap();
    let done = mcbo_in(at, &["add", "lab", "--csv", "grown.csv"]).with_code(2);
    assert!(
        done.stderr.contains("the study has 1 row already") && done.stderr.contains("line 2\n"),
        "{}",
        done.stderr
    );
    mcbo_in(at, &["add", "lab", "--csv", "grown.csv", "--only-new"]).with_code(0);
    assert_eq!(export(at)["trials"].as_array().unwrap().len(), 2);
    mcbo_in(at, &["add", "lab", "--csv", "grown.csv", "--again"]).with_code(0);
    assert_eq!(export(at)["trials"].as_array().unwrap().len(), 4);
    for (text, message) in [
        ("", "t.csv: it is empty"),
        ("\n\na,y\n\"0,5\",1\n", "a is \"0,5\", which is not a number\n  hint: write a decimal point"),
        ("a;y\n0,5;1.5\n", "t.csv:2: y is \"1.5\", which is not a number\n  hint: the file has \"0,5\" too"),
        (
            "a;y\n0.5;1\n0.5;1,5\n",
            "t.csv:3: y is \"1,5\", which is not a number\n  hint: the file has \"0.5\"",
        ),
        (
            "a;y\n0,5;1.234,5\n",
            "y is \"1.234,5\", which is not a number\n  hint: write it without a sign between",
        ),
        // All that is wrong with a row, which is one row nevertheless.
        ("a,y\nmuch,lots\n", "error: 1 bad row, so none of t.csv was added\nt.csv:2: a is \"much\""),
        ("a,y\nmuch,lots\n", "hint: say what was done, as a number\nt.csv:2: y is \"lots\""),
        ("state,a,y\nComplete,0.5,1\n", "state is \"Complete\""),
        ("state,a,y\nfailed,0.5,1\n", "skipped 1 row of trials that are pending"),
        ("a,a\n", "both named \"a\""),
        ("a,wat\n1,2\n", "no node and no action is named \"wat\""),
        (
            "A ,y (kg),lef[0]\n1,2,3\n",
            "did you mean \"a\" for \"A\", \"y\" for \"y (kg)\", \"leaf[0]\" for \"lef[0]\"?",
        ),
        (
            "a,y\n0.5,5 kg\n",
            "y is \"5 kg\", which is not a number\n  hint: write the number alone, without its unit",
        ),
        // Lines are those of an editor, however they end and whatever is empty between them.
        ("a,y\r\n0.5,x\r\n", "t.csv:2: y is"),
        ("a,y\n\n\n0.5,x", "t.csv:4: y is"),
        ("a,y\r0.5,x\r", "t.csv:2: y is"),
        ("a,y\r\n,\r\n\r\n0.5,\"x\r\ny\"\r\n", "t.csv:4: y is"),
        ("a,y\n,\n", "no row to add"),
        ("a,y\n", "no row to add"),
    ] {
        std::fs::write(at.join("t.csv"), text).unwrap();
        let done = mcbo_in(at, &["add", "lab", "--csv", "t.csv"]).with_code(2);
        assert!(done.stderr.contains(message), "{text:?}: {}", done.stderr);
    }
    assert_eq!(export(at)["trials"].as_array().unwrap().len(), 4);
}

#[test]
fn an_export_can_be_added_elsewhere() {
    let directory = lab();
    let at = directory.path();
    for _ in 0..6 {
        let trial = asked(at, &[]).remove(0);
        tell(at, &trial).with_code(0);
    }
    asked(at, &[]);
    let table = mcbo_in(at, &["export", "lab"]).with_code(0).stdout;
    std::fs::write(at.join("t.csv"), &table).unwrap();
    mcbo_in(at, &["new", "copy", "--problem", "p.toml"]).with_code(0);
    let done = mcbo_in(at, &["add", "copy", "--csv", "t.csv"]).with_code(0);
    assert!(
        done.stderr.contains("6 rows added") && done.stderr.contains("skipped 1 row of trials"),
        "{}",
        done.stderr
    );
    let copy = mcbo_in(at, &["export", "copy", "--format", "json"]).with_code(0).json().remove(0);
    let part = |document: &Value| -> Vec<(Value, Value)> {
        let trials = document["trials"].as_array().unwrap().iter().filter(|t| t["state"] == "complete");
        trials.map(|t| (t["intervention"].clone(), t["values"].clone())).collect()
    };
    assert_eq!(part(&copy), part(&export(at)), "to the last bit");
    // A spreadsheet with semicolons and a mark at its beginning.
    let odd = format!("\u{feff}{}", table.replace(',', ";"));
    std::fs::write(at.join("t.csv"), odd).unwrap();
    mcbo_in(at, &["new", "other", "--problem", "p.toml"]).with_code(0);
    mcbo_in(at, &["add", "other", "--csv", "t.csv"]).with_code(0);
    let other = mcbo_in(at, &["export", "other", "--format", "json"]).with_code(0).json().remove(0);
    assert_eq!(part(&other), part(&copy));
    // And one of a country whose numbers have a comma.
    let odd = table.replace(',', ";").replace('.', ",");
    std::fs::write(at.join("t.csv"), odd).unwrap();
    mcbo_in(at, &["new", "third", "--problem", "p.toml"]).with_code(0);
    let done = mcbo_in(at, &["add", "third", "--csv", "t.csv"]).with_code(0);
    assert!(done.stderr.contains("commas are read as decimal points: "), "{}", done.stderr);
    let third = mcbo_in(at, &["export", "third", "--format", "json"]).with_code(0).json().remove(0);
    assert_eq!(part(&third), part(&copy));
}

#[test]
fn names_of_columns_may_be_names_of_nodes() {
    let directory = with_file(
        "p.toml",
        "maximize = \"reward\"\n[nodes.state]\nactions = [\"worker\"]\n[nodes.reward]\nparents = [\"state\"]\n[actions.worker]\nrange = [0, 1]\n",
    );
    let at = directory.path();
    for name in ["lab", "copy"] {
        mcbo_in(at, &["new", name, "--problem", "p.toml"]).with_code(0);
    }
    mcbo_in(at, &["ask", "lab"]).with_code(0);
    mcbo_in(at, &["tell", "lab", "1", "state=0.5", "reward=2"]).with_code(0);
    let table = mcbo_in(at, &["export", "lab"]).with_code(0).stdout;
    assert!(table.starts_with("trial,#state,strategy,#worker,"), "{table}");
    std::fs::write(at.join("t.csv"), table).unwrap();
    mcbo_in(at, &["add", "copy", "--csv", "t.csv"]).with_code(0);
    let copy = mcbo_in(at, &["export", "copy", "--format", "json"]).with_code(0).json().remove(0);
    assert_eq!(copy["trials"][0]["values"], export(at)["trials"][0]["values"]);
}

/// What is not known of an action is not neutral, unless it is said.
#[test]
fn actions_without_a_value_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(
        at.join("p.toml"),
        "maximize = \"y\"\n[nodes.y]\nactions = [\"a\"]\n[actions.a]\nrange = [0, 1]\nneutral = 0.5\n",
    )
    .unwrap();
    std::fs::write(at.join("t.csv"), "a,y\n0.25,1\n,2\n").unwrap();
    mcbo_in(at, &["new", "s", "--problem", "p.toml"]).with_code(0);
    let refused = mcbo_in(at, &["add", "s", "--csv", "t.csv"]).with_code(2);
    assert!(
        refused.stderr.contains("t.csv:3: a has no value") && refused.stderr.contains("--missing neutral"),
        "{}",
        refused.stderr
    );
    mcbo_in(at, &["add", "s", "--csv", "t.csv", "--missing", "neutral"]).with_code(0);
    let table = mcbo_in(at, &["export", "s", "--format", "csv"]).with_code(0).stdout;
    assert!(table.contains(",0.5,2.0,2.0"), "{table}");
}

#[test]
fn text_of_another_kind_is_named() {
    let directory = lab();
    let wide: Vec<u8> = "\u{feff}a,x,y\n0.5,1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(directory.path().join("wide.csv"), wide).unwrap();
    let done = mcbo_in(directory.path(), &["add", "lab", "wide.csv"]).with_code(2);
    let said = "wide.csv: it is text of another kind, UTF-16\nhint: save it as \"CSV UTF-8\"";
    assert!(done.stderr.contains(said), "{}", done.stderr);
}
