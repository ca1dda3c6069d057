//! Pictures of studies that are usual, and of those that are not.

use mcbo_core::{Components, Intervention, Noise, Observation, Problem, Study};
use mcbo_plot::{Picture, graph, pictures};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use resvg::tiny_skia::Pixmap;
use resvg::usvg::{Options, Tree};

fn chain() -> Problem {
    Problem::builder("chain <&>")
        .action("a", [0.0, 10.0])
        .node("weather", |n| n.noise(Noise::Gaussian(1.0)))
        .node("x", |n| n.parents(["weather"]).actions(["a"]).hard([0.0, 5.0]))
        .node("aside", |n| n.parents(["x"]))
        .node("y", |n| n.parents(["x"]))
        .minimize("y")
        .build()
        .expect("a problem")
}

fn vectors() -> Problem {
    Problem::builder("vectors")
        .action("a", [0.0, 1.0])
        .node("v", |n| n.actions(["a"]).dim(2).components(Components::Coregionalised))
        .node("w", |n| n.parents(["v"]).dim(6).noise(Noise::None))
        .node("z", |n| n.parents(["w"]).formula("w[0] + w[5]").noise(Noise::None))
        .node("y", |n| n.parents(["z", "v"]))
        .maximize("y")
        .build()
        .expect("a problem")
}

/// All pictures, each drawn and checked.
fn checked(study: &Study) -> Vec<Picture> {
    let advice = study.recommend().expect("a recommendation");
    let mut all = pictures(study, Some(&advice));
    all.extend(pictures(study, None));
    for Picture { name, title, svg, .. } in &all {
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}: {svg}");
        assert!(!title.is_empty());
        Tree::from_str(svg, &Options::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        // The only address is that of the format.
        assert_eq!(svg.matches("http").count(), 1, "{name}");
    }
    let names: std::collections::BTreeSet<&str> = all.iter().map(|picture| picture.name.as_str()).collect();
    assert_eq!(names.len() + 3, all.len(), "names are unique but for the three without a model: {names:?}");
    all
}

fn measured(problem: Problem, trials: usize, value: impl Fn(usize, usize) -> Option<f64>) -> Study {
    let mut study = Study::new(problem, 1).initial(trials.max(1));
    for trial in 0..trials {
        let (number, slots) = {
            let trial = study.ask().expect("a design").number;
            (trial, study.problem().slots())
        };
        let mut values: Vec<Option<f64>> = (0..slots).map(|slot| value(trial, slot)).collect();
        let intervention = study.trials()[number - 1].suggestion.intervention.clone();
        for (node, set) in &intervention.targets {
            study.problem().slot(*node).zip(set).for_each(|(slot, set)| values[slot] = Some(*set));
        }
        study.tell(number, values).expect("it fits");
    }
    study
}

#[test]
fn a_study_without_data_says_so() {
    let study = Study::new(chain(), 1);
    let all = pictures(&study, None);
    assert_eq!(all.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["history", "graph", "parallel"]);
    assert!(all[0].svg.contains("nothing measured yet") && all[2].svg.contains("nothing measured yet"));
    assert!(all[1].svg.contains("No model is fitted yet"));
    assert!(all[1].svg.contains("no path to the reward") && all[1].svg.contains(">do<"));
    assert!(all[0].svg.contains("chain &lt;&amp;&gt;"));
    checked(&study);
}

#[test]
fn odd_data_are_no_trouble() {
    // One trial.
    checked(&measured(chain(), 1, |_, slot| Some(slot as f64)));
    // All values the same; very large; very small.
    for value in [0.0, 3.0, 1e12, -1e-12] {
        checked(&measured(vectors(), 6, |_, _| Some(value)));
    }
    // Much is missing.
    checked(&measured(chain(), 9, |trial, slot| {
        (trial % 4 == slot || slot == 0).then_some((trial * trial) as f64)
    }));
    // The reward is never measured.
    let all = checked(&measured(chain(), 5, |trial, slot| (slot < 3).then_some(trial as f64)));
    assert!(all[0].svg.contains("nothing measured yet"));
}

#[test]
fn failed_trials_are_marked() {
    let mut study = Study::new(chain(), 1);
    for _ in 0..4 {
        let number = study.ask().expect("a design").number;
        study.fail(number).expect("it is pending");
    }
    let all = checked(&study);
    assert!(all[0].svg.contains(">failed<") && all[0].svg.contains("nothing measured yet"));
}

#[test]
fn a_problem_without_actions_is_drawn() {
    let problem = Problem::builder("hard")
        .node("x", |n| n.hard([0.0, 1.0]))
        .node("y", |n| n.parents(["x"]))
        .maximize("y")
        .build()
        .expect("a problem");
    let all = checked(&measured(problem, 6, |trial, slot| Some((trial + slot) as f64 / 8.0)));
    assert!(all.iter().any(|picture| picture.name == "parallel" && picture.svg.contains("not set")));
}

/// The text of a picture, whatever its lines.
fn words(svg: &str) -> String {
    let text: String = svg
        .split('<')
        .map(|part| part.split_once('>').map_or("", |(_, text)| text))
        .collect::<Vec<_>>()
        .join(" ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn vectors_are_drawn_by_component() {
    let study = measured(vectors(), 12, |trial, slot| Some(((trial * (slot + 1)) % 7) as f64));
    let all = checked(&study);
    let of = |name: &str| &all.iter().find(|picture| picture.name == name).expect("it is there").svg;
    assert!(of("mechanism-v").contains(">v[1]<"));
    assert!(words(of("mechanism-w")).contains("2 more components are not drawn"));
    assert!(of("mechanism-z").contains("known formula of z"));
    assert!(of("graph").contains("worst of 6"));
    assert!(
        !all.iter().any(|picture| picture.name == "calibration-z"),
        "a formula has nothing to be held against"
    );
}

#[test]
fn same_study_same_bytes() {
    let study = || measured(chain(), 12, |trial, slot| Some(((trial * 5 + slot * 3) % 11) as f64));
    let of = |study: &Study| {
        let all = pictures(study, Some(&study.recommend().expect("a recommendation")));
        let pngs: Vec<Vec<u8>> = all.iter().map(|picture| picture.png().expect("it can be drawn")).collect();
        (all, pngs)
    };
    assert!(of(&study()) == of(&study()));
}

#[test]
fn pictures_are_not_blank() {
    let study = measured(chain(), 10, |trial, slot| Some(((trial * 5 + slot * 3) % 11) as f64));
    let all = pictures(&study, Some(&study.recommend().expect("a recommendation")));
    assert_eq!(all.len(), 3 + 3 + 3);
    for picture in &all {
        let drawn = Pixmap::decode_png(&picture.png().expect("it can be drawn")).expect("a picture");
        let ground = drawn.pixels()[0];
        let other = drawn.pixels().iter().filter(|pixel| **pixel != ground).count();
        assert!(other > drawn.pixels().len() / 60, "{}: {other}", picture.name);
        // Nothing is cut off: the rim is empty.
        let (width, height) = (drawn.width() as usize, drawn.height() as usize);
        let at = |x: usize, y: usize| drawn.pixels()[y * width + x];
        let rim = (0..width).flat_map(|x| [at(x, 4), at(x, height - 5)]);
        let rim = rim.chain((0..height).flat_map(|y| [at(4, y), at(width - 5, y)]));
        assert!(rim.into_iter().all(|pixel| pixel == ground), "{} touches its rim", picture.name);
    }
}

#[test]
fn many_nodes_and_many_trials_are_drawn() {
    let mut builder = Problem::builder("many");
    for k in 0..30 {
        let parents: Vec<String> =
            (0..k).filter(|p| (p * 7 + k) % 6 == 0).map(|p| format!("node{p}")).collect();
        builder = builder.action(format!("action{k}"), [0.0, 1.0]);
        builder = builder.node(format!("node{k}"), |n| n.parents(parents).actions([format!("action{k}")]));
    }
    let problem = builder.maximize("node29").build().expect("a problem");
    let picture = graph(&problem, None);
    assert!(picture.svg.contains(">node29<") && picture.svg.contains(">action0<"));
    let mut study = Study::new(problem, 1);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for trial in 0..620 {
        use rand::RngExt;
        let actions = (0..30).map(|_| rng.random()).collect();
        let values = (0..30).map(|slot| Some(f64::from(trial % 40 + slot))).collect();
        let observation = Observation { intervention: Intervention { targets: vec![], actions }, values };
        study.add(observation).expect("it fits");
    }
    let all = pictures(&study, None);
    assert!(all[2].svg.contains("120 are not") && all[2].svg.contains("axes are left out"));
    assert!(all[0].svg.contains("620 trials"));
}
