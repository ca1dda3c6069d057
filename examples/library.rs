//! A greenhouse from Rust: `cargo run --release --example library -p mcbo-core`.

use mcbo_core::{Noise, Problem, Study};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What is known: watering sets the moisture, light and moisture together set the growth.
    let problem = Problem::builder("greenhouse")
        .action("water", [0.0, 10.0])
        .action("lamp", [0.0, 16.0])
        .node("moisture", |n| n.actions(["water"]).noise(Noise::Gaussian(0.02)))
        .node("growth", |n| n.parents(["moisture"]).actions(["lamp"]))
        .maximize("growth")
        .build()?;

    let mut study = Study::new(problem, 7);
    for _ in 0..25 {
        let trial = study.ask()?;
        let (number, actions) = (trial.number, trial.suggestion.intervention.actions.clone());
        // Your experiment goes here.
        let moisture = 0.2 + 0.6 * (1.0 - (-0.3 * actions[0]).exp());
        let growth = 5.0 - 30.0 * (moisture - 0.55).powi(2) - 0.05 * (actions[1] - 11.0).powi(2);
        study.tell_named(number, &[("moisture", vec![moisture]), ("growth", vec![growth])])?;
    }

    let best = study.recommend()?;
    let [water, lamp] = best.intervention.actions[..] else { return Err("two actions".into()) };
    let growth = best.predicted.last().ok_or("a prediction")?;
    println!(
        "water {water:.2}, lamp {lamp:.2}: growth {:.2} ({:.2} to {:.2})",
        growth.mean, growth.lower, growth.upper
    );
    assert!(growth.mean > 4.9, "the best growth is 5.0");
    Ok(())
}
