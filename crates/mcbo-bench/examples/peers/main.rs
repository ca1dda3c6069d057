//! Our side of `cargo xtask peers`: answers requests, one JSON object per line, until its input ends.
//!
//! ```text
//! {"do": "rewards", "task": "ackley", "x": [[...], ...]}               -> {"rewards": [...]}
//! {"do": "design", "task": "ackley", "seed": 0}                        -> {"x": [[...], ...], "optimum": 0.0}
//! {"do": "fit", "preset": "paper", "all": false, "x", "y", "at", "seed"} -> {"seconds", "mean", "variance"}
//! {"do": "suggest", "task": "ackley", "method": "ei", "x", "seed"}     -> {"seconds", "x"}
//! {"do": "run", "task": "ackley", "method": "ei", "seed", "rounds"}    -> {"seconds", "rewards", "initial", "best", "recommended"}
//! {"do": "space", "task": "strains"}                                   -> {"actions", "require", "noise", "random", "optimum"}
//! ```
//!
//! A run with a `folder` is kept there as soon as it is finished, and taken from there when it is asked for again; with `"do": "kept"` it is only looked
//! for, and the answer is `null` where it is not there. A run with a `peer` (which stands for the versions and settings of one) is decided at the other end of the
//! pipe: for every round, and in the end for what is recommended, a question goes there before the answer does.
//!
//! ```text
//! {"ask": "suggest" or "recommend", "x": [[...], ...], "y": [...]}      <- {"x": [...]} or {"error": "why not"}
//! ```
//!
//! One program for both jobs, so that everyone is scored by the same code and all clocks run in one session. Seconds are
//! those of the work alone, without reading or writing JSON.

mod pipe;
mod runs;

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use mcbo_bench::{Method, Task};
use mcbo_core::{Context, Data, Inference, Intervention, Memory, ModelSettings, Observation, PriorPreset};
use mcbo_gp::{Earlier, GpSet, GpSpec, Member, Noise, Prediction, Priors, Rows, Scratch, fit_map};
use pipe::Pipe;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use runs::{Run, space};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Request {
    /// The rewards of these actions.
    Rewards { task: String, x: Vec<Vec<f64>> },
    /// The actions of the initial design.
    Design { task: String, seed: u64 },
    /// Fits one process and predicts with it.
    Fit(Fit),
    /// One suggestion from these rows, nothing remembered.
    Suggest { task: String, method: String, x: Vec<Vec<f64>>, seed: u64 },
    /// A whole run.
    Run(Run),
    /// The same if it was finished before.
    Kept(Run),
    /// What can be done in a task, and what its rewards are measured against.
    Space { task: String },
}

#[derive(Deserialize)]
struct Fit {
    preset: String,
    /// Whether hyper-parameters are fitted to all rows, however many.
    all: bool,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    at: Vec<Vec<f64>>,
    seed: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let pipe = Arc::new(Pipe::new(io::BufReader::new(io::stdin()), io::stdout()));
    while let Some(request) = pipe.hear()? {
        pipe.say(&answer(request, &pipe)?)?;
    }
    Ok(())
}

fn answer(request: Request, pipe: &Arc<Pipe>) -> Result<Value, Box<dyn Error>> {
    Ok(match request {
        Request::Rewards { task, x } => {
            let task = Task::named(&task)?;
            let reward = |actions| task.expected_reward(&Intervention { targets: Vec::new(), actions });
            json!({ "rewards": x.into_iter().map(reward).collect::<Vec<_>>() })
        }
        Request::Design { task, seed } => {
            let task = Task::named(&task)?;
            let rows = task.initial_design(seed);
            let x: Vec<_> = rows.into_iter().map(|row| row.intervention.actions).collect();
            json!({ "x": x, "optimum": task.optimum() })
        }
        Request::Fit(fit) => self::fit(&fit)?,
        Request::Suggest { task, method, x, seed } => {
            let (task, strategy) = (Task::named(&task)?, method.parse::<Method>()?.build());
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut data = Data::new();
            for actions in x {
                let intervention = Intervention { targets: Vec::new(), actions };
                let values = task.sample(&intervention, &mut rng).into_iter().map(Some).collect();
                data.push(task.problem(), Observation { intervention, values })?;
            }
            let memory = Memory::default();
            let context = Context::new(task.problem(), &data, &memory);
            let start = Instant::now();
            let suggestion = strategy.suggest(&context, &mut rng)?.suggestion;
            json!({ "seconds": start.elapsed().as_secs_f64(), "x": suggestion.intervention.actions })
        }
        Request::Run(run) => run.made(pipe, true)?,
        Request::Kept(run) => run.made(pipe, false)?,
        Request::Space { task } => space(&Task::named(&task)?),
    })
}

/// One process as [`mcbo_core::ExpectedImprovement`] fits it to a noiseless reward: inputs in the unit box, outputs
/// standardised here. The clock stops after the first prediction, when every library has made what it makes lazily.
fn fit(request: &Fit) -> Result<Value, Box<dyn Error>> {
    let settings = match request.preset.as_str() {
        "paper" => ModelSettings::paper(),
        "default" => ModelSettings::default(),
        other => return Err(format!("there is no preset {other:?}").into()),
    };
    let mut rng = ChaCha8Rng::seed_from_u64(request.seed);
    let (mut scratch, mut prediction) = (Scratch::default(), Prediction::default());
    let first: Vec<f64> = request.at[0].clone();

    let start = Instant::now();
    let n = request.y.len() as f64;
    let mean = request.y.iter().sum::<f64>() / n;
    let deviation = (request.y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let dim = first.len();
    let mut rows = Rows::new(dim);
    for (x, y) in request.x.iter().zip(&request.y) {
        rows.push(x, (y - mean) / deviation)?;
    }
    let spec = GpSpec {
        priors: match settings.priors {
            PriorPreset::Reference => Priors::reference(),
            PriorPreset::DimensionScaled => Priors::scaled(),
        },
        ..GpSpec::new(dim, Noise::Fixed(settings.noise_floor))
    };
    let set = match settings.inference {
        Inference::Map(options) if request.all => {
            let theta = fit_map(&spec, &rows, None, options, &mut rng)?.theta;
            GpSet::condition(&spec, &rows, &[Member { kernel: spec.kernel.clone(), theta, weight: 1.0 }])?
        }
        inference => GpSet::fit(&spec, &[], &rows, Earlier::default(), &inference, &mut rng)?,
    };
    set.predict(&first, 1, false, &mut scratch, &mut prediction);
    let seconds = start.elapsed().as_secs_f64();

    let columns = request.at.len();
    let by_input: Vec<f64> = (0..dim).flat_map(|k| request.at.iter().map(move |x| x[k])).collect();
    set.predict(&by_input, columns, false, &mut scratch, &mut prediction);
    Ok(json!({
        "seconds": seconds,
        "mean": prediction.mean.iter().map(|m| mean + deviation * m).collect::<Vec<_>>(),
        "variance": prediction.variance.iter().map(|v| deviation * deviation * v).collect::<Vec<_>>(),
    }))
}
