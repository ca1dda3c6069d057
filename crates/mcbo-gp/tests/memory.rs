//! What a posterior of many rows needs of memory.

use mcbo_gp::{Gp, GpSpec, Noise, Rows};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The covariance that is factorised, and the inverse of its factor: two squares, and little beside them.
#[test]
fn conditioning_needs_two_squares() {
    let (n, mut rows) = (700, Rows::new(2));
    for row in 0..n {
        let x = row as f64 / n as f64;
        rows.push(&[x, (9.0 * x).sin()], (3.0 * x).cos()).expect("a row");
    }
    let square = (8 * n * n) as f64;
    for kernel in ["matern52", "se(0) + linear(1) * se"] {
        let spec = GpSpec { kernel: kernel.parse().expect("a kernel"), ..GpSpec::new(2, Noise::Fixed(0.01)) };
        let theta = vec![0.0; spec.parameters()];
        // Matrix products keep a workspace of a fixed size from the first on.
        drop(Gp::condition(&spec, &theta, rows.clone()).expect("a posterior"));
        let rows = rows.clone();
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let gp = Gp::condition(&spec, &theta, rows).expect("a posterior");
        let squares = |bytes: usize| (bytes - before) as f64 / square;
        assert!(squares(MEMORY.peak_usage()) < 2.4, "{kernel}: {}", squares(MEMORY.peak_usage()));
        assert!(squares(MEMORY.current_usage()) < 1.2, "{kernel}: {}", squares(MEMORY.current_usage()));
        drop(gp);
    }
}
