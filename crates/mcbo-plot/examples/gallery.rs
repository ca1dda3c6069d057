//! All pictures of some simulated studies, to look at:
//! `cargo run -p mcbo-plot --example gallery -- FOLDER [NAME…]`

use std::error::Error;
use std::fs;
use std::path::Path;

use mcbo_core::{Noise, Observation, Problem, Study};
use mcbo_plot::pictures;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const TRIALS: usize = 25;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder? hint: gallery FOLDER [NAME…]")?;
    let wanted: Vec<String> = arguments.collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut problems = vec![("large".to_owned(), large()?)];
    for source in ["../../examples", "../mcbo-cli/templates"] {
        let mut files: Vec<_> = fs::read_dir(root.join(source))?.collect::<Result<_, _>>()?;
        files.sort_by_key(|file| file.path());
        for file in files.iter().map(fs::DirEntry::path) {
            if file.extension().is_some_and(|extension| extension == "toml") {
                let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let name = if source.ends_with("templates") { format!("template-{stem}") } else { stem };
                problems.push((name, Problem::from_toml(&fs::read_to_string(&file)?)?));
            }
        }
    }
    for (name, problem) in problems {
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let folder = Path::new(&folder).join(&name);
        fs::create_dir_all(&folder)?;
        let study = simulate(problem)?;
        let advice = study.recommend()?;
        for picture in pictures(&study, Some(&advice)) {
            fs::write(folder.join(format!("{}.svg", picture.name)), &picture.svg)?;
            fs::write(folder.join(format!("{}.png", picture.name)), picture.png()?)?;
        }
        println!("{}", folder.display());
    }
    Ok(())
}

/// A study with trials of every kind: added, failed, incomplete, under way.
fn simulate(problem: Problem) -> Result<Study, Box<dyn Error>> {
    let simulator = problem.simulator().ok_or("the problem has no simulator")?.clone();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut study = Study::new(problem, 3);
    let problem = study.problem().clone();
    for _ in 0..3 {
        let intervention = problem.neutral_intervention();
        let values = simulator.sample(&problem, &intervention, &mut rng).into_iter().map(Some).collect();
        study.add(Observation { intervention, values })?;
    }
    for round in 0..TRIALS {
        let trial = study.ask()?;
        let (number, intervention) = (trial.number, trial.suggestion.intervention.clone());
        if round == 12 {
            study.fail(number)?;
            continue;
        }
        let mut values: Vec<Option<f64>> =
            simulator.sample(&problem, &intervention, &mut rng).into_iter().map(Some).collect();
        if round == 16 {
            values[problem.slot(problem.reward()).start] = None;
        }
        study.tell(number, values)?;
    }
    study.ask()?;
    Ok(study)
}

/// Thirty nodes in six stages, some of them far from the reward.
fn large() -> Result<Problem, Box<dyn Error>> {
    let mut builder = Problem::builder("plant with many stages");
    let name = |stage: usize, place: usize| format!("stage{stage}_{place}");
    for action in 0..6 {
        builder = builder.action(format!("valve{action}"), [0.0, 1.0]);
    }
    for stage in 0..6 {
        for place in 0..5 {
            let last = stage == 5 && place == 4;
            let own = if last { "output".to_owned() } else { name(stage, place) };
            let mut parents: Vec<String> = Vec::new();
            if stage > 0 {
                parents.push(name(stage - 1, place));
                parents.push(name(stage - 1, (place + stage) % 5));
            }
            if stage > 1 && place % 2 == 0 {
                parents.push(name(stage - 2, (place + 1) % 5));
            }
            if last {
                parents.extend((0..4).map(|other| name(5, other)));
            }
            parents.sort();
            parents.dedup();
            let actions: Vec<String> =
                if place == stage % 5 { vec![format!("valve{stage}")] } else { vec![] };
            let terms: Vec<String> = parents
                .iter()
                .map(|parent| format!("0.6 * sin({parent})"))
                .chain(actions.iter().map(|action| format!("({action} - 0.6)^2")))
                .collect();
            let sum = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
            builder = builder.node(own.clone(), |mut node| {
                if stage == 2 && place == 3 {
                    node = node.hard([-1.0, 1.0]);
                }
                node.parents(parents).actions(actions).noise(Noise::Gaussian(0.1))
            });
            builder = builder.simulate(own, format!("{sum} + normal(0, 0.1)").as_str());
        }
    }
    Ok(builder.maximize("output").build()?)
}
