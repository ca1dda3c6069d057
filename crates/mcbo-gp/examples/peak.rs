//! How much of what the machine can do the batched posterior does: its matrix products, by the time of all of it, against a plain product of
//! square matrices in the same run. One thread.
//!
//! `cargo run --release -p mcbo-gp --example peak`

use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use mcbo_gp::{Gp, GpSpec, Noise, Prediction, Rows, Scratch};

/// The least time of several runs.
fn least(mut run: impl FnMut()) -> f64 {
    let one = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..15).map(one).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = 768;
    let square = |shift: usize| Mat::from_fn(size, size, |i, j| ((i * 7 + j * 3 + shift) % 11) as f64 - 5.0);
    let (a, b, mut c) = (square(0), square(4), Mat::zeros(size, size));
    let peak = 2.0 * (size as f64).powi(3)
        / least(|| matmul(c.as_mut(), Accum::Replace, a.as_ref(), b.as_ref(), 1.0, Par::Seq));
    println!("a product of {size} by {size}: {:.1} billion operations a second", peak / 1e9);
    for (rows, dim) in [(100, 3), (500, 3), (1000, 3)] {
        let place = |k: usize| ((k as f64 + 0.5) * 12.9898).sin().abs();
        let mut data = Rows::new(dim);
        for i in 0..rows {
            let x: Vec<f64> = (0..dim).map(|k| place(i * dim + k)).collect();
            data.push(&x, (4.0 * x[0]).sin() + x[1] * x[2])?;
        }
        let spec = GpSpec::new(dim, Noise::Fixed(0.01));
        let theta = spec.parameters_from(&[1.0], &[vec![0.3; dim]], &[], 0.01);
        let gp = Gp::condition(&spec, &theta, data)?;
        let columns = 4096;
        let inputs: Vec<f64> = (0..dim * columns).map(|k| place(k + 17)).collect();
        let (mut scratch, mut out) = (Scratch::default(), Prediction::default());
        for jacobian in [false, true] {
            let seconds = least(|| gp.predict(&inputs, columns, jacobian, &mut scratch, &mut out));
            // The triangle times every column, and its transpose once more where slopes are wanted.
            let products = (rows * rows * columns) as f64 * if jacobian { 2.0 } else { 1.0 };
            println!(
                "{rows} rows, {columns} inputs, {} slopes: {:.0} ns each, its products {:.0} % of that",
                if jacobian { "with" } else { "without" },
                1e9 * seconds / columns as f64,
                100.0 * products / seconds / peak
            );
        }
    }
    Ok(())
}
