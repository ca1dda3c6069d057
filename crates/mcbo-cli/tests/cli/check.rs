//! `mcbo check`.

use serde_json::json;

use crate::{mcbo, mcbo_in, with_file};

const GREENHOUSE: &str = r#"name = "greenhouse"
maximize = "growth"
[nodes.weather]
noise = { gaussian = 1.5 }
[nodes.temperature]
parents = ["weather"]
noise = { gaussian = 0.5 }
do = [16.0, 30.0]
[nodes.moisture]
parents = ["temperature"]
actions = ["water"]
do = [30.0, 90.0]
[nodes.growth]
parents = ["temperature", "moisture"]
noise = "none"
[actions.water]
range = [1.0, 6.0]
neutral = 2.0
[constraints]
max_interventions = 2
sets = [[], ["temperature"], ["moisture"]]
"#;

#[test]
fn graph_actions_and_sets_are_shown() {
    let directory = with_file("p.toml", GREENHOUSE);
    let done = mcbo_in(directory.path(), &["check", "p.toml"]).with_code(0);
    let expected = "\
greenhouse: maximize growth
4 nodes, 1 action, 2 nodes that can be set

node         parents                actions  kind             noise    do
───────────────────────────────────────────────────────────────────────────────
weather      -                      -        context          std 1.5  -
temperature  weather                -        learned          std 0.5  16 to 30
moisture     temperature            water    learned          learned  30 to 90
growth       temperature, moisture  -        learned, reward  none     -

action  range   neutral  acts on
─────────────────────────────────
water   1 to 6        2  moisture

target set               minimal  used
───────────────────────────────────────────────────
{}                       yes      yes
{temperature}            yes      yes
{moisture}               yes      yes
{temperature, moisture}  yes      no, not in `sets`
At most 2 interventions per trial: nodes that are set and actions that are not neutral.
3 ways to intervene; every trial chooses one of them and its values.
";
    assert_eq!(done.stdout, expected);
    assert!(done.stderr.ends_with("mcbo run p.toml --exec 'YOUR PROGRAM'\n"), "{}", done.stderr);
}

#[test]
fn json_has_what_scripts_rely_on() {
    let done = mcbo(&["check", "clinic.toml", "--json"]).with_code(0);
    assert_eq!(done.stderr, "");
    let [problem] = &done.json()[..] else { panic!("one object") };
    assert_eq!(problem["name"], "clinic");
    assert_eq!(problem["objective"], json!({ "node": "psa", "minimize": true }));
    assert_eq!(problem["nodes"][1]["name"], "bmi");
    assert_eq!(problem["nodes"][1]["parents"], json!(["age"]));
    assert_eq!(problem["nodes"][2]["do"], json!([0.0, 1.0]));
    assert_eq!(problem["nodes"][0]["noise"], json!({ "uniform": [-10.0, 10.0] }));
    assert_eq!(problem["actions"], json!([]));
    let minimal = |targets: &[&str]| json!({ "targets": targets, "minimal": true, "used": true });
    let sets =
        json!([minimal(&[]), minimal(&["aspirin"]), minimal(&["statin"]), minimal(&["aspirin", "statin"])]);
    assert_eq!(problem["sets"], sets);
    let vector = &mcbo(&["check", "vector.toml", "--json"]).with_code(0).json()[0];
    assert_eq!((&vector["nodes"][0]["dim"], &vector["nodes"][2]["kind"]), (&json!(2), &json!("formula")));
    let nitrogen = &mcbo(&["check", "nitrogen.toml", "--json"]).with_code(0).json()[0];
    assert_eq!(
        nitrogen["actions"][0],
        json!({
            "name": "dose1", "range": [0.0, 90.0], "step": null, "choices": null, "neutral": 0.0, "unit": null, "cost": null,
            "nodes": ["n1"]
        })
    );
    assert_eq!((&nitrogen["max_interventions"], &nitrogen["choices"]), (&json!(2), &json!(3)));
}

#[test]
fn a_set_that_is_not_minimal_says_which_one_is() {
    let chain = "maximize = 'y'\n[nodes.x]\ndo = [0, 1]\n[nodes.z]\nparents = ['x']\ndo = [0, 1]\n\
                 [nodes.y]\nparents = ['z']\n";
    let directory = with_file("p.toml", chain);
    let done = mcbo_in(directory.path(), &["check", "p.toml"]).with_code(0);
    assert!(done.stdout.contains("\n{x, z}      no, same as {z}  no\n"), "{}", done.stdout);
    assert!(done.stderr.contains("mcbo run p.toml --exec"), "{}", done.stderr);
    let sets = mcbo_in(directory.path(), &["check", "p.toml", "--json"]).json()[0]["sets"].clone();
    assert_eq!(sets[3], json!({ "targets": ["x", "z"], "minimal": false, "used": false }));
}

#[test]
fn many_settable_nodes_are_not_listed_subset_by_subset() {
    let mut text = "maximize = 'y'\n[nodes.y]\nparents = [".to_owned();
    text += &(0..20).map(|i| format!("'x{i}'")).collect::<Vec<_>>().join(", ");
    text += "]\n";
    for i in 0..20 {
        text += &format!("[nodes.x{i}]\ndo = [0, 1]\n");
    }
    let directory = with_file("p.toml", &text);
    let done = mcbo_in(directory.path(), &["check", "p.toml"]).with_code(0);
    assert!(done.stdout.contains("There are 1048576 sets, too many to list"), "{}", done.stdout);
    let limited = with_file("p.toml", &format!("{text}[constraints]\nmax_interventions = 1\n"));
    let done = mcbo_in(limited.path(), &["check", "p.toml"]).with_code(0);
    assert!(done.stdout.contains("\n{x19}       yes      yes\n"), "{}", done.stdout);
    assert!(
        done.stdout.contains("Only the sets that trials use are listed, of 1048576 in all."),
        "{}",
        done.stdout
    );
}

const BROKEN: &str = r#"name = "field"
maximize = "yeild"

[nodes.n1]
parents = ["soil"]
noize = "none"
do = [10, 0]

[nodes.yield]
parents = ["n1"]
formula = "10 * n1 ** 2"
"#;

#[test]
fn all_mistakes_are_answered_at_once() {
    let directory = with_file("field.toml", BROKEN);
    let expected = r#"error: `maximize` names `yeild`, which is not a node
 --> field.toml:2:13
  |
2 | maximize = "yeild"
  |             ^^^^^
hint: did you mean `yield`?

error: `parents` of node `n1` names `soil`, which is not a node
 --> field.toml:5:13
  |
5 | parents = ["soil"]
  |             ^^^^
hint: add a table `[nodes.soil]` or remove the name

error: unknown key `noize` in node `n1`
 --> field.toml:6:1
  |
6 | noize = "none"
  | ^^^^^
hint: did you mean `noise`?

error: `do` of node `n1` goes from 10 to 0
 --> field.toml:7:6
  |
7 | do = [10, 0]
  |      ^^^^^^^
hint: write [0, 10], the smaller end first

error: `formula` of node `yield`: expected a number, a name or `(`, found `*`
  --> field.toml:11:21
   |
11 | formula = "10 * n1 ** 2"
   |                     ^
hint: powers are written with `^`

5 mistakes in field.toml
"#;
    for command in ["check", "run"] {
        let done = mcbo_in(directory.path(), &[command, "field.toml"]).with_code(2);
        assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", expected));
    }
}

#[test]
fn mistakes_can_be_read_by_programs() {
    let directory = with_file("field.toml", BROKEN);
    let done = mcbo_in(directory.path(), &["check", "field.toml", "--json"]).with_code(2);
    let errors = done.json()[0]["errors"].clone();
    assert_eq!(errors.as_array().map(Vec::len), Some(5));
    let first = json!({
        "message": "`maximize` names `yeild`, which is not a node",
        "line": 2,
        "column": 13,
        "hint": "did you mean `yield`?",
    });
    assert_eq!(errors[0], first);
    assert!(done.stderr.starts_with("error: `maximize`"), "{}", done.stderr);
}

#[test]
fn other_bad_files_are_answered_too() {
    let directory = with_file("empty.toml", "");
    let at = directory.path();
    let done = mcbo_in(at, &["check", "empty.toml"]).with_code(2);
    assert!(done.stderr.starts_with("error: the problem file is empty\n"), "{}", done.stderr);
    let done = mcbo_in(at, &["check", "none.toml"]).with_code(2);
    let expected = "error: cannot read none.toml: there is no such file\n\
                    hint: `mcbo init none.toml` writes one to begin with\n";
    assert_eq!(done.stderr, expected);
    let done = mcbo_in(at, &["check", "."]).with_code(2);
    assert!(done.stderr.starts_with("error: cannot read .: it is a directory\nhint: "), "{}", done.stderr);
    std::fs::write(at.join("latin.toml"), b"name = \"\xe9\"").unwrap();
    let done = mcbo_in(at, &["check", "latin.toml"]).with_code(2);
    assert!(done.stderr.contains("it is not UTF-8 text"), "{}", done.stderr);
}

#[test]
fn odd_things_are_warned_about() {
    let text = "maximize = 'y'\n[nodes.y]\nactions = ['a']\n[nodes.idle]\nparents = ['y']\n\
                [actions.a]\nrange = [0, 1]\n";
    let directory = with_file("p.toml", text);
    let done = mcbo_in(directory.path(), &["check", "p.toml"]).with_code(0);
    assert!(done.stderr.starts_with("warning: node `idle` has no path to the reward"), "{}", done.stderr);
    let warnings = mcbo_in(directory.path(), &["check", "p.toml", "--json"]).json()[0]["warnings"].clone();
    assert_eq!(warnings.as_array().map(Vec::len), Some(1));
}
