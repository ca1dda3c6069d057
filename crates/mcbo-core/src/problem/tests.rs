mod examples;
mod mistakes;
mod report;

use super::*;

pub(super) const NITROGEN: &str = r#"
name = "nitrogen"
maximize = "yield"

[nodes.soil]
noise = { gaussian = 0.2 }

[nodes.n1]
parents = ["soil"]
actions = ["a1"]
do = [0.0, 10.0]

[nodes.yield]
parents = ["n1"]

[actions.a1]
range = [0.0, 50.0]
neutral = 0.0

[constraints]
max_interventions = 2
sets = [[], ["n1"]]

[simulator]
soil = "normal(5, 0.2)"
n1 = "0.8 * soil + a1 + normal(0, 0.1)"
yield = "10 * exp(-(n1 - 20)^2 / 50) + normal(0, 0.3)"
"#;

#[test]
fn a_file_becomes_a_problem() {
    let problem = Problem::from_toml(NITROGEN).unwrap();
    assert_eq!(problem.name(), "nitrogen");
    assert_eq!(problem.graph().names(), ["soil", "n1", "yield"]);
    assert_eq!(problem.reward(), 2);
    assert_eq!((problem.direction(), problem.sign()), (Direction::Maximize, 1.0));
    assert_eq!(problem.nodes()[0].noise, Noise::Gaussian(0.2));
    assert_eq!(problem.nodes()[1].noise, Noise::Learn);
    assert_eq!(problem.nodes()[1].hard, Some(vec![[0.0, 10.0]]));
    assert_eq!(problem.nodes()[1].parents, [0]);
    assert_eq!(problem.nodes()[1].actions, [0]);
    let action = Action {
        name: "a1".into(),
        range: [0.0, 50.0],
        neutral: 0.0,
        grid: None,
        choices: Vec::new(),
        unit: None,
        cost: None,
        scale: Scale::Linear,
    };
    assert_eq!(problem.actions(), [action]);
    assert_eq!(problem.max_interventions(), Some(2));
    assert_eq!(problem.sets(), Some(&[vec![], vec![1]][..]));
    assert_eq!(problem.settable(), [1]);
    assert_eq!(problem.input_dim(1), 2);
    assert_eq!((problem.slots(), problem.slot(1)), (3, 1..2));
    assert_eq!((problem.node_index("yield"), problem.node_index("a1")), (Some(2), None));
    assert_eq!((problem.action_index("a1"), problem.action_index("soil")), (Some(0), None));
    assert!(problem.warnings().is_empty() && !problem.possibly_optimal());
    let neutral = problem.neutral_intervention();
    assert_eq!((neutral.targets.len(), neutral.actions), (0, vec![0.0]));
}

#[test]
fn file_and_code_give_the_same_problem() {
    let built = Problem::builder("nitrogen")
        .action_with_neutral("a1", [0.0, 50.0], 0.0)
        .node("soil", |n| n.noise(Noise::Gaussian(0.2)))
        .node("n1", |n| n.parents(["soil"]).actions(["a1"]).hard([0.0, 10.0]))
        .node("yield", |n| n.parents(["n1"]))
        .maximize("yield")
        .max_interventions(2)
        .sets([vec![], vec!["n1"]])
        .simulate("soil", "normal(5, 0.2)")
        .simulate("n1", "0.8 * soil + a1 + normal(0, 0.1)")
        .simulate("yield", "10 * exp(-(n1 - 20)^2 / 50) + normal(0, 0.3)")
        .build()
        .unwrap();
    assert_eq!(built, Problem::from_toml(NITROGEN).unwrap());
}

#[test]
fn vectors_have_a_place_for_every_component() {
    let problem = Problem::from_toml(
        r#"
        minimize = "y"
        [nodes.y]
        parents = ["v", "w"]
        formula = "v[0] * w + v[1]"
        noise = "none"
        [nodes.v]
        dim = 2
        actions = ["a"]
        do = [[0, 1], [0, 2]]
        components = "coregionalised"
        [nodes.w]
        dim = 1
        do = [0, 3]
        kernel = "matern52 + linear"
        range = [-1, 5]
        noise = { uniform = [-1, 1] }
        [nodes.u]
        parents = ["v"]
        dim = 3
        do = [0, 1]
        [actions.a]
        range = [2, 3]
        [constraints]
        possibly_optimal = true
        "#,
    )
    .unwrap();
    assert_eq!(problem.name(), "problem");
    assert_eq!(problem.sign(), -1.0);
    assert_eq!(problem.slots(), 7);
    assert_eq!((problem.slot(0), problem.slot(1), problem.slot(3)), (0..1, 1..3, 4..7));
    assert_eq!((problem.input_dim(0), problem.input_dim(1), problem.input_dim(3)), (3, 1, 2));
    assert_eq!(problem.nodes()[1].hard, Some(vec![[0.0, 1.0], [0.0, 2.0]]));
    assert_eq!(problem.nodes()[3].hard, Some(vec![[0.0, 1.0]; 3]));
    assert_eq!(problem.nodes()[1].components, Components::Coregionalised);
    assert_eq!(problem.nodes()[2].kernel, Some("matern52 + linear".parse().unwrap()));
    assert_eq!(problem.nodes()[2].range, Some([-1.0, 5.0]));
    assert_eq!(problem.nodes()[2].noise, Noise::Uniform([-1.0, 1.0]));
    assert_eq!(problem.actions()[0].neutral, 2.0, "0 is outside the range, so its start is neutral");
    assert!(problem.possibly_optimal());
    let mut inputs = Vec::new();
    problem.gather_inputs(0, &[9.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0], &[2.0], &mut inputs);
    assert_eq!(inputs, [1.0, 2.0, 3.0]);
    assert_eq!(problem.nodes()[0].formula.as_ref().unwrap()[0].eval(&inputs), 5.0);
    let effect = ProblemWarning::NodeWithoutEffect { node: "u".into() };
    assert_eq!(problem.warnings(), [effect]);
}

#[test]
fn neutral_may_lie_outside_the_range() {
    let text = NITROGEN.replace("neutral = 0.0", "neutral = -5");
    assert_eq!(Problem::from_toml(&text).unwrap().actions()[0].neutral, -5.0);
}

#[test]
fn what_is_odd_is_said() {
    let problem = Problem::from_toml(
        r#"
        maximize = "y"
        [nodes.x]
        do = [0, 2]
        range = [0, 1]
        noise = { uniform = [0, 1] }
        [nodes.z]
        parents = ["x"]
        do = [0, 1]
        components = "independent"
        [nodes.y]
        parents = ["z"]
        [nodes.side]
        actions = ["a"]
        [actions.a]
        range = [0, 1]
        [constraints]
        max_interventions = 9
        sets = [["x", "z"], ["z", "x"], ["z"]]
        "#,
    )
    .unwrap();
    let warnings: Vec<String> = problem.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "the noise of node `x` has mean 0.5, not 0; the mechanism is learned without it",
            "node `x` can be set outside its declared `range`",
            "`components` of node `z` does nothing, because it has one component",
            "node `side` has no path to the reward; what is observed of it does not help",
            "action `a` feeds only nodes without a path to the reward; choosing it does nothing",
            "`max_interventions` is 9, but nodes to set and actions together are only 3",
            "the set {x, z} does no more than {z}",
            "the set {x, z} is listed twice",
        ]
    );
    assert_eq!(problem.sets(), Some(&[vec![0, 1], vec![1]][..]));
}

#[test]
fn the_documented_file_is_a_good_one() {
    let text = include_str!("format.md").split("```").nth(1).unwrap().trim_start_matches("toml");
    let problem = Problem::from_toml(text).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(problem.warnings().is_empty(), "{:?}", problem.warnings());
}
