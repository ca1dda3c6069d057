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

/// A study with trials of every kind: added, failed, without a reward, under way.
fn usual() -> Study {
    let mut study = Study::new(chain(), 1).initial(16);
    let problem = study.problem().clone();
    let world = |trial: usize, intervention: &Intervention| -> Vec<Option<f64>> {
        let wave = |rate: f64| (trial as f64 * rate).sin();
        let weather = 1.2 * wave(2.3);
        let x = intervention.target(1).map_or(0.4 * intervention.actions[0] + 0.3 * weather, |set| set[0]);
        vec![
            Some(weather),
            Some(x),
            Some(2.0 - 0.5 * x + 0.2 * wave(5.1)),
            Some((x - 2.2).powi(2) + 0.1 * wave(3.7)),
        ]
    };
    for trial in 0..2 {
        let intervention = problem.neutral_intervention();
        let values = world(trial, &intervention);
        study.add(Observation { intervention, values }).expect("it fits");
    }
    for trial in 2..16 {
        let (number, intervention) = {
            let asked = study.ask().expect("a design");
            (asked.number, asked.suggestion.intervention.clone())
        };
        let mut values = world(trial, &intervention);
        match trial {
            6 => study.fail(number).expect("it is pending"),
            15 => {}
            _ => {
                values[3] = values[3].filter(|_| trial != 10);
                study.tell(number, values).expect("it fits");
            }
        }
    }
    study
}

/// The text between numbers, and the numbers.
fn parts(svg: &str) -> (Vec<&str>, Vec<f64>) {
    let (mut text, mut numbers, mut rest) = (Vec::new(), Vec::new(), svg);
    let digit = |c: char| c.is_ascii_digit();
    while let Some(start) = rest.find(digit) {
        let end = rest[start..].find(|c: char| !digit(c) && c != '.').map_or(rest.len(), |end| start + end);
        let end = start + rest[start..end].trim_end_matches('.').len();
        let before = &rest[..start];
        let sign = if before.ends_with('-') { -1.0 } else { 1.0 };
        text.push(before.trim_end_matches('-'));
        numbers
            .push(sign * rest[start..end].parse::<f64>().unwrap_or_else(|_| panic!("{}", &rest[start..end])));
        rest = &rest[end..];
    }
    text.push(rest);
    (text, numbers)
}

/// Pictures as they were when somebody last looked at them, in `tests/pictures`. With `MCBO_WRITE_PICTURES=1` they are written
/// anew, and beside the other results of the tests as PNG, to be looked at.
///
/// Those without a model are the same to the byte. Processors differ in the last bits of a model, so that what it says may be
/// drawn half a unit aside.
#[test]
fn pictures_are_as_they_were_looked_at() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    let studies = [
        ("usual", usual()),
        ("vectors", measured(vectors(), 12, |trial, slot| Some(((trial * (slot + 1)) as f64 * 0.7).sin()))),
    ];
    let mut names = std::collections::BTreeSet::new();
    for (of, study) in &studies {
        let advice = study.recommend().expect("a recommendation");
        let bare = pictures(study, None).into_iter().map(|picture| (picture, "bare-", 0.0));
        let modelled = pictures(study, Some(&advice)).into_iter().map(|picture| (picture, "", 0.5));
        for (picture, kind, slack) in bare.chain(modelled) {
            let name = format!("{of}-{kind}{}.svg", picture.name);
            let file = folder.join(&name);
            if std::env::var_os("MCBO_WRITE_PICTURES").is_some() {
                std::fs::write(&file, &picture.svg).expect("the folder can be written");
                let png =
                    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace(".svg", ".png"));
                std::fs::write(png, picture.png().expect("it can be drawn"))
                    .expect("the folder can be written");
            }
            let stored = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
            let ((text, numbers), (old_text, old_numbers)) = (parts(&picture.svg), parts(&stored));
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= slack;
            assert!(
                text == old_text && numbers.iter().zip(&old_numbers).all(near),
                "{name} is another; hint: MCBO_WRITE_PICTURES=1 writes it anew, to be looked at and kept"
            );
            names.insert(name);
        }
    }
    let there = std::fs::read_dir(&folder).expect("the folder is there").flatten();
    let there = there.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names, there, "every picture is drawn by a study");
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

/// Choices are drawn by their names, as ticks of axes and of panels.
#[test]
fn choices_have_names_in_pictures() {
    let text = r#"
maximize = "titer"
[nodes.growth]
actions = ["strain", "heat"]
noise = { gaussian = 0.05 }
[nodes.titer]
parents = ["growth"]
[actions.strain]
choices = ["wild", "mutant", "hybrid"]
[actions.heat]
range = [24, 38]
step = 0.5
[simulator]
growth = "(strain == 'hybrid') - (heat - 33)^2 / 50 + normal(0, 0.05)"
titer = "2 * growth + normal(0, 0.05)"
"#;
    let problem = std::sync::Arc::new(Problem::from_toml(text).expect("a problem"));
    let mut study = Study::new(problem.clone(), 1);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..10 {
        let trial = study.ask().expect("a suggestion").clone();
        let simulator = problem.simulator().expect("one");
        let values = simulator.sample(&problem, &trial.suggestion.intervention, &mut rng);
        study.tell(trial.number, values.into_iter().map(Some).collect()).expect("it is taken");
    }
    let advice = study.recommend().expect("advice");
    let lines = mcbo_plot::parallel(&study, Some(&advice)).svg;
    let panels = mcbo_plot::mechanism(&study, &advice.network, 0).expect("it is learned").svg;
    for svg in [lines, panels] {
        for name in ["wild", "mutant", "hybrid"] {
            assert!(svg.contains(&format!(">{name}</text>")), "{name} is missing");
        }
    }
}

/// Along an axis of ratios there are powers of ten, evenly, and none at all apart from them.
#[test]
fn ratios_are_even_along_their_axes() {
    let text = r#"
maximize = "y"
[nodes.y]
actions = ["salt"]
[actions.salt]
range = [0.001, 10]
scale = "log"
neutral = 0
[simulator]
y = "-(log(salt + 0.001) + 3)^2 + normal(0, 0.1)"
"#;
    let problem = std::sync::Arc::new(Problem::from_toml(text).expect("a problem"));
    let mut study = Study::new(problem.clone(), 1);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for salt in [0.0, 0.001, 0.01, 0.1, 1.0, 10.0] {
        let done = Intervention { targets: Vec::new(), actions: vec![salt] };
        let values = problem.simulator().expect("one").sample(&problem, &done, &mut rng);
        let values = values.into_iter().map(Some).collect();
        study.add(Observation { intervention: done, values }).expect("it is taken");
    }
    let advice = study.recommend().expect("advice");
    let svg = mcbo_plot::mechanism(&study, &advice.network, 0).expect("it is learned").svg;
    let place = |text: &str| -> f64 {
        let end = svg.find(&format!(">{text}</text>")).unwrap_or_else(|| panic!("{text} is missing"));
        let tag = &svg[svg[..end].rfind("<text").expect("a tag")..end];
        let from = tag.find("x=\"").expect("a place") + 3;
        tag[from..].split('"').next().and_then(|x| x.parse().ok()).expect("a number")
    };
    let gaps: Vec<f64> =
        ["0", "0.01", "0.1", "1", "10"].windows(2).map(|pair| place(pair[1]) - place(pair[0])).collect();
    assert!(gaps[1..].windows(2).all(|pair| (pair[0] - pair[1]).abs() < 0.3), "{gaps:?}");
    assert!(gaps.iter().all(|gap| *gap > 10.0), "{gaps:?}");
    mcbo_plot::parallel(&study, Some(&advice)).svg.find(">0.01</text>").expect("a tick");
}
