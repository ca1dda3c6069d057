//! Posteriors, likelihoods and priors against figures made independently, by scikit-learn, SciPy and mpmath
//! (`tests/oracle/make.py`).

use mcbo_gp::{Gp, GpSpec, Likelihood, Mean, Noise, Prediction, Prior, Rows, Scratch};
use serde_json::Value;

fn figures() -> Value {
    serde_json::from_str(include_str!("oracle/figures.json")).expect("the figures are JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn close(ours: f64, theirs: f64, tolerance: f64, scale: f64) -> bool {
    (ours - theirs).abs() <= tolerance * theirs.abs().max(scale)
}

struct Case {
    name: String,
    spec: GpSpec,
    theta: Vec<f64>,
    rows: Rows,
    tests: Vec<(Vec<f64>, usize)>,
    scale: f64,
    /// 1e-8, or what backward-stable arithmetic can promise where the covariance's condition is above 1e7.
    tolerance: f64,
    json: Value,
}

fn case(json: &Value) -> Case {
    let inputs: Vec<Vec<f64>> = json["X"].as_array().expect("rows").iter().map(numbers).collect();
    let output = numbers(&json["y"]);
    let components: Vec<usize> = numbers(&json["components"]).into_iter().map(|l| l as usize).collect();
    let own_noise = numbers(&json["noise"]);
    let mut rows = Rows::new(inputs[0].len());
    for (i, input) in inputs.iter().enumerate() {
        let component = components.get(i).copied().unwrap_or(0);
        rows.push_full(input, output[i], component, own_noise.get(i).copied().unwrap_or(0.0))
            .expect("good row");
    }
    let fixed = json["noise"].as_f64();
    let spec = GpSpec {
        kernel: json["kernel"].as_str().expect("a kernel").parse().expect("a kernel"),
        components: components.iter().max().map_or(1, |l| l + 1),
        noise: if fixed.is_some() { Noise::Learned } else { Noise::PerRow },
        mean: match json["mean"].as_str() {
            Some("profiled") => Mean::Profiled,
            Some("uncertain") => Mean::Uncertain(1.0),
            _ => Mean::Fixed(0.0),
        },
        ..GpSpec::new(inputs[0].len(), Noise::PerRow)
    };
    let lengthscales: Vec<Vec<f64>> =
        json["lengthscales"].as_array().expect("leaves").iter().map(numbers).collect();
    let theta = spec.parameters_from(
        &numbers(&json["variances"]),
        &lengthscales,
        &numbers(&json["t"]),
        fixed.unwrap_or(0.0),
    );
    let test_components = numbers(&json["components_test"]);
    let tests = json["X_test"]
        .as_array()
        .expect("test points")
        .iter()
        .enumerate()
        .map(|(i, x)| (numbers(x), test_components.get(i).map_or(0, |l| *l as usize)))
        .collect();
    let scale = numbers(&json["variances"]).iter().sum();
    let condition = json["condition"].as_f64().expect("a condition number");
    let tolerance = 1e-8_f64.max(f64::EPSILON * condition);
    Case { name: json["name"].to_string(), spec, theta, rows, tests, scale, tolerance, json: json.clone() }
}

fn cases() -> Vec<Case> {
    let all: Vec<Case> = figures()["cases"].as_array().expect("cases").iter().map(case).collect();
    assert!(all.len() >= 14);
    all
}

#[test]
fn posteriors_agree() {
    for Case { name, spec, theta, rows, tests, scale, tolerance, json } in cases() {
        let expected = &json["expected"];
        let gp = Gp::condition(&spec, &theta, rows).expect("a posterior");
        assert_eq!(gp.jitter(), 0.0, "{name}");
        assert!(
            close(gp.prior_mean(), expected["constant"].as_f64().unwrap_or(0.0), tolerance, 1.0),
            "{name}: constant"
        );
        let (mut scratch, mut at) = (Scratch::default(), Prediction::default());
        let gradient_at = json["gradient_at"].as_u64().map(|i| i as usize);
        for (i, (x, component)) in tests.iter().enumerate() {
            gp.predict(x, 1, true, &mut scratch, &mut at);
            let (mean, variance) = (at.mean[*component], at.variance[*component]);
            let theirs = (numbers(&expected["mean"])[i], numbers(&expected["variance"])[i]);
            assert!(close(mean, theirs.0, tolerance, 1.0), "{name}: mean {mean:e} {:e}", theirs.0);
            assert!(
                close(variance, theirs.1, tolerance, scale),
                "{name}: variance {variance:e} {:e}",
                theirs.1
            );
            if gradient_at == Some(i) {
                let dim = spec.dim;
                for k in 0..dim {
                    let ours =
                        (at.mean_jacobian[component * dim + k], at.variance_jacobian[component * dim + k]);
                    let theirs =
                        (numbers(&expected["mean_gradient"])[k], numbers(&expected["variance_gradient"])[k]);
                    assert!(
                        close(ours.0, theirs.0, tolerance, 1.0),
                        "{name}: mean by {k}: {ours:?} {theirs:?}"
                    );
                    assert!(
                        close(ours.1, theirs.1, tolerance, scale),
                        "{name}: variance by {k}: {ours:?} {theirs:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn likelihoods_and_their_gradients_agree() {
    for Case { name, spec, theta, rows, tolerance, json, .. } in cases() {
        let expected = &json["expected"];
        let mut gradient = vec![0.0; theta.len()];
        let value = Likelihood::new(&spec, &rows).log_marginal(&theta, &mut gradient).expect("a likelihood");
        let theirs = expected["log_marginal_likelihood"].as_f64().expect("a number");
        assert!(close(value, theirs, tolerance, 1.0), "{name}: {value} {theirs}");
        let slopes = &expected["likelihood_gradient"];
        if slopes.is_null() {
            continue;
        }
        // The parameter vector's order: per term its variance, then the lengthscales of its leaves; then t; then noise.
        let (variances, mut leaves) = (
            numbers(&slopes["log_variances"]),
            slopes["log_lengthscales"].as_array().expect("leaves").iter(),
        );
        let mut theirs = Vec::new();
        for (term, variance) in spec.kernel.terms().iter().zip(variances) {
            theirs.push(variance);
            for leaf in leaves.by_ref().take(term.len()) {
                theirs.extend(numbers(leaf));
            }
        }
        theirs.extend(numbers(&slopes["t"]));
        theirs.extend(slopes["log_noise"].as_f64());
        theirs.truncate(theta.len());
        for (slot, (ours, theirs)) in gradient.iter().zip(&theirs).enumerate() {
            assert!(close(*ours, *theirs, tolerance, 1.0), "{name}: parameter {slot}: {ours} {theirs}");
        }
    }
}

#[test]
fn prior_densities_agree() {
    let figures = figures();
    let priors = figures["priors"].as_array().expect("priors");
    assert!(!priors.is_empty());
    for figure in priors {
        let number = |key: &str| figure[key].as_f64();
        let prior = match figure["distribution"].as_str() {
            Some("gamma") => Prior::Gamma {
                shape: number("shape").expect("a shape"),
                rate: number("rate").expect("a rate"),
            },
            _ => Prior::LogNormal {
                location: number("mu").expect("a location"),
                scale: number("sigma").expect("a scale"),
            },
        };
        let log_x = number("x").expect("a point").ln();
        let (density, slope) = prior.log_density(log_x);
        assert!(close(density, number("log_density").expect("a density"), 1e-10, 1.0), "{figure}");
        let (of_log, slope_of_log) = prior.log_density_of_log(log_x);
        assert!(close(of_log, number("log_density_of_log").expect("a density"), 1e-10, 1.0), "{figure}");
        // The density of the logarithm has one more factor x, which adds 1 to the slope by the logarithm.
        let theirs = number("slope_of_log").expect("a slope");
        assert!(close(slope + 1.0, theirs, 1e-9, 1.0), "{figure}: {slope}");
        assert!(close(slope_of_log, theirs, 1e-9, 1.0), "{figure}: {slope_of_log}");
    }
}
