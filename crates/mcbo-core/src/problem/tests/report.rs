//! Reports as a whole, and files that are broken in ways nobody thought of.

use super::NITROGEN;
use crate::problem::*;

#[test]
fn many_mistakes_are_shown_at_once_with_their_lines() {
    let text = r#"name = "field"
maximize = "yeild"

[nodes.n1]
parents = ["soil"]
noize = "none"
do = [10, 0]

[nodes.yield]
	parents = ["n1"] 
	formula = "10 * n1 ** 2"
"#;
    let errors = Problem::from_toml(text).unwrap_err();
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
  --> field.toml:11:22
   |
11 | 	formula = "10 * n1 ** 2"
   | 	                    ^
hint: powers are written with `^`
"#;
    assert_eq!(errors.render("field.toml"), expected);
    assert_eq!(errors.to_string(), expected.replace("field.toml", "problem").trim_end());
}

#[test]
fn mistakes_in_code_have_no_place_but_the_same_words() {
    let errors = Problem::builder("p")
        .action("a", [1.0, 0.0])
        .node("x", |n| n.actions(["a"]))
        .node("x", |n| n.parents(["z"]))
        .maximize("x")
        .build()
        .unwrap_err();
    let text = "\
error: node `x` has the name of a node
hint: names are shared by nodes and actions; rename one of them

error: `parents` of node `x` names `z`, which is not a node
hint: add a table `[nodes.z]` or remove the name

error: `range` of action `a` goes from 1 to 0
hint: write [0, 1], the smaller end first
";
    assert_eq!(errors.render("unused"), text);
}

#[test]
fn long_lines_are_shown_in_part() {
    let names: Vec<String> = (0..400).map(|at| format!("'x{at}'")).collect();
    let text = format!(
        "maximize = 'y'\n[nodes.y]\nactions = ['a']\nparents = [{}]\n[actions.a]\nrange = [0, 1]",
        names.join(", ")
    );
    let errors = Problem::from_toml(&text).unwrap_err();
    assert_eq!(errors.errors().len(), 400);
    let report = errors.render("p.toml");
    assert!(report.lines().all(|line| line.chars().count() < 200));
    let lines: Vec<&str> = report.lines().filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len() - 3..];
    let at = last[1].find('^').unwrap();
    assert_eq!(&last[0][at..at + 4], "x399");
}

mod garbage {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is done to a good file, there is an answer, and every place in it lies inside the file.
        #[test]
        fn a_damaged_file_is_answered(
            start in 0..NITROGEN.len(), len in 0..40_usize, with in "\\PC{0,8}"
        ) {
            let end = (start + len).min(NITROGEN.len());
            let text = format!("{}{with}{}", &NITROGEN[..start], &NITROGEN[end..]);
            if let Err(errors) = Problem::from_toml(&text) {
                prop_assert!(!errors.errors().is_empty());
                prop_assert!(errors.render("p").contains("error: "));
                for diagnostic in errors.errors() {
                    if let Some(span) = &diagnostic.span {
                        prop_assert!(text.get(span.clone()).is_some());
                    }
                }
            }
        }

        #[test]
        fn noise_is_answered(text in "\\PC{0,80}") {
            if let Err(errors) = Problem::from_toml(&text) {
                prop_assert!(errors.render("p").contains("error: "));
            }
        }
    }
}
