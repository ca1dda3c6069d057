//! Mistakes of requirements.

use super::complaints;
use super::kinds::PROCESS;
use crate::Problem;

#[test]
fn requirements() {
    let with = |text: &str| PROCESS.replacen("\"dose + 2 * feed <= 120\"", &format!("{text:?}"), 1);
    for (text, expected) in [
        (
            "dose + fed <= 120",
            "[fed] `require` \"dose + fed <= 120\": unknown name `fed` | did you mean `feed`?",
        ),
        (
            "dose + x <= 120",
            "[x] `require` \"dose + x <= 120\": `x` is a node | requirements are between actions, whose values are chosen; a node's values follow",
        ),
        (
            "strain <= 1",
            "[strain] `require` \"strain <= 1\": `strain` is a choice | its values are names, which cannot be added; leave it out",
        ),
        (
            "dose * feed <= 120",
            "[dose * feed <= 120] `require` \"dose * feed <= 120\": it is not linear | add up actions, each times a number, as in \"2 * dose1 - dose2 <= 30\"",
        ),
        (
            "max(dose, feed) <= 80",
            "[max(dose, feed) <= 80] `require` \"max(dose, feed) <= 80\": it is not linear | add up actions, each times a number, as in \"2 * dose1 - dose2 <= 30\"",
        ),
        (
            "dose + feed",
            "[dose + feed] `require` \"dose + feed\": it compares nothing | write two sides, as in \"dose1 + dose2 <= 120\"",
        ),
        (
            "2 <= 3",
            "[2 <= 3] `require` \"2 <= 3\": it depends on no action | name actions, as in \"dose1 + dose2 <= 120\"",
        ),
        (
            "feed + dose <= 5",
            "[feed + dose <= 5] `require` \"feed + dose <= 5\": no values of the actions keep to it: they miss it by at least 5 | mend it, or widen the ranges",
        ),
        (
            "feed + dose >= 20",
            "[feed + dose >= 20] `require` \"feed + dose >= 20\": the neutral values break it by 10 | not acting must be possible: give the actions `neutral` values that keep to it",
        ),
        (
            "feed >= dose + 60",
            "[feed >= dose + 60] `require` \"feed >= dose + 60\": the neutral values break it by 50 | not acting must be possible: give the actions `neutral` values that keep to it",
        ),
    ] {
        let found: Vec<String> =
            complaints(&with(text)).iter().map(|line| line.trim_start_matches("21: ").to_owned()).collect();
        assert_eq!(found, [expected], "{text}");
    }
    for text in ["10 <= dose <= 50", "dose = feed = 10", "dose =< 5"] {
        let found = complaints(&with(text));
        assert!(found.len() == 1 && found[0].contains("it compares more than two sides"), "{found:?}");
    }
    for (text, by) in [("dose + feed == 100", "90"), ("dose + feed = 100", "90"), ("feed = dose + 5", "5")] {
        // Written down they are not touched; else they are where shares add up.
        let found = complaints(&with(text).replace("range = [0, 90]", "range = [0, 90]\nneutral = 0"));
        let expected = format!("the neutral values break it by {by}");
        assert!(found.len() == 1 && found[0].contains(&expected), "{found:?}");
        let problem = Problem::from_toml(&with(text).replace("\nneutral = 10", "")).expect("a problem");
        let neutral: Vec<f64> = problem.actions().iter().map(|action| action.neutral).collect();
        assert!(problem.requirements().iter().all(|one| one.excess(&neutral) == 0.0), "{neutral:?}");
        assert_eq!(neutral[1], 0.0, "what is in no requirement stays");
        // What is printed is what it is.
        let text = |value: f64| format!("{value}").len();
        assert!(neutral.iter().all(|value| text(*value) < 7), "{neutral:?}");
    }
    for text in ["dose + feed = 300", "dose + feed = -10"] {
        let found = complaints(&with(text));
        assert!(found.len() == 1 && found[0].contains("no values of the actions keep to it"), "{found:?}");
    }
    assert!(
        Problem::from_toml(&with("dose + feed = 10"))
            .is_ok_and(|problem| problem.requirements()[0].is_equality())
    );
    // Each can be kept to, all together cannot.
    let both = PROCESS.replace("\"feed >= dose - 50\"", "\"dose >= 40\", \"feed >= 60\"");
    let found = complaints(&both);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("nothing keeps to all requirements together | remove or mend one of them"),
        "{found:?}"
    );
}

/// What is wrong with a requirement is said beside what is wrong with an action.
#[test]
fn requirements_are_read_beside_broken_actions() {
    let text = PROCESS.replacen("range = [0, 90]", "range = [90, 0]", 1);
    let text = text.replacen("feed >= dose - 50", "fed >= dose - 50", 1);
    let said = complaints(&text);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("action `dose`") && said[1].contains("did you mean `feed`"), "{said:?}");
    // Whether it can be kept depends on the range, and is not said before that is right.
    let text = PROCESS.replacen("range = [0, 90]", "range = [90, 0]", 1).replacen("<= 120", "<= -120", 1);
    assert_eq!(complaints(&text).len(), 1, "{:?}", complaints(&text));
}

#[test]
fn a_border_that_is_left_out_is_allowed_and_that_is_said() {
    let problem = Problem::from_toml(&PROCESS.replacen("<= 120", "< 120", 1)).expect("a problem");
    let warnings: Vec<String> = problem.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "`dose + 2 * feed < 120` is read as `dose + 2 * feed <= 120`: values that reach the border keep to it; write `dose + 2 * feed <= 120`, or move the border"
        ]
    );
    assert_eq!(Problem::from_toml(PROCESS).expect("a problem").warnings(), []);
}

/// What is required may leave actions nothing to choose, which is no mistake but odd.
#[test]
fn actions_that_are_held() {
    let warnings = |require: &str, more: &str| -> Vec<String> {
        let text = format!(
            "maximize = 'y'\n[nodes.y]\nactions = ['a', 'b', 'c', 'd']\n[actions]\na = {{ range = [0, 1] }}\nb = {{ range = [0, 2] }}\n\
             c = {{ range = [0, 1], neutral = 1 }}\nd = {{ range = [2, 3], neutral = 0 }}\n[constraints]\nrequire = [{require}]\n{more}\n"
        );
        let problem = Problem::from_toml(&text).expect("a problem");
        problem.warnings().iter().map(ToString::to_string).collect()
    };
    let held = |action: &str, value: f64| {
        format!("action `{action}` can only be {value}: what is required leaves it no other value")
    };
    assert_eq!(warnings("'a + b <= 0'", ""), [held("a", 0.0), held("b", 0.0)]);
    assert_eq!(warnings("'c >= 1 + a', 'b <= 1'", ""), [held("a", 0.0), held("c", 1.0)]);
    assert_eq!(warnings("'a = b'", ""), [""; 0]);
    assert_eq!(warnings("'a = b'", "max_interventions = 1"), [held("a", 0.0), held("b", 0.0)]);
    assert_eq!(warnings("'a = b'", "max_interventions = 2"), [""; 0]);
    // Apart from its range there is neutral, and what is required leaves it nothing within.
    assert_eq!(warnings("'d <= 1 + a / 2'", ""), [held("d", 0.0)]);
    assert_eq!(warnings("'d <= 1 + a'", ""), [""; 0]);
}

/// Requirements that hold under some names only.
#[test]
fn conditions() {
    const WRITTEN: &str = "\"dose + 2 * feed <= 120\"";
    let with = |requirement: &str| PROCESS.replace(WRITTEN, &format!("\"{requirement}\""));
    let problem = Problem::from_toml(&with("dose <= 50 if strain == 'mutant'")).expect("a problem");
    let [one, _] = problem.requirements() else { panic!("two") };
    assert_eq!((one.conditions(), one.terms(), one.most()), (&[(0, vec![1.0])][..], &[(2, 1.0)][..], 50.0));
    assert_eq!((one.excess(&[1.0, 0.0, 60.0, 20.0]), one.excess(&[0.0, 0.0, 60.0, 20.0])), (10.0, 0.0));
    assert!(!one.is_exclusion());
    for (requirement, expected) in [
        (
            "dose <= 50 if strain == 'mutent'",
            "[mutent] `require` \"dose <= 50 if strain == 'mutent'\": \"mutent\" is not one of the choices of `strain` | did you mean `mutant`?",
        ),
        (
            "dose <= 50 if strian == 'mutant'",
            "[strian] `require` \"dose <= 50 if strian == 'mutant'\": `strian` is no action with choices | did you mean `strain`?",
        ),
        (
            "dose <= 50 if cycles == '3'",
            "[cycles] `require` \"dose <= 50 if cycles == '3'\": `cycles` is no action with choices | conditions are about actions whose values are names",
        ),
        (
            "dose <= 50 if strain = mutant",
            "[strain = mutant] `require` \"dose <= 50 if strain = mutant\": it cannot be read as NAME == 'choice' or NAME != 'choice' | write conditions behind `if`, as in \"temperature <= 78 if solvent == 'ethanol'\", several joined by `and`; for `or` write two requirements",
        ),
        (
            "dose <= 50 if strain == 'mutant' or strain == 'wild'",
            "[or strain == 'wild'] `require` \"dose <= 50 if strain == 'mutant' or strain == 'wild'\": it cannot be read as NAME == 'choice' or NAME != 'choice' | write conditions behind `if`, as in \"temperature <= 78 if solvent == 'ethanol'\", several joined by `and`; for `or` write two requirements",
        ),
        (
            "dose >= 500 if strain == 'mutant'",
            "[dose >= 500] `require` \"dose >= 500 if strain == 'mutant'\": no values of the actions keep to it: they miss it by at least 410 | mend it, or widen the ranges",
        ),
        (
            "strian != 'wild' if strain == 'mutant'",
            "[strian] `require` \"strian != 'wild' if strain == 'mutant'\": `strian` is no action with choices | did you mean `strain`?",
        ),
        (
            "dose != 50",
            "[dose] `require` \"dose != 50\": `dose` is no action with choices | conditions are about actions whose values are names",
        ),
        (
            "strain != 'a if b'",
            "[a if b] `require` \"strain != 'a if b'\": \"a if b\" is not one of the choices of `strain` | they are wild, mutant",
        ),
        (
            "strain != 'wild'",
            "[strain != 'wild'] `require` \"strain != 'wild'\": the neutral values break it | not acting must be possible: give the actions `neutral` values that keep to it",
        ),
    ] {
        let found = complaints(&with(requirement));
        assert!(found.iter().any(|line| line.ends_with(expected)), "{requirement}: {found:#?}");
    }
}
