//! The compiled formula: operations in order, each reading the results of earlier ones.

use crate::noise::Noise;

/// The position of an operation on the tape.
pub(super) type Slot = u32;

/// A function of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Neg,
    Sin,
    Cos,
    Tan,
    Exp,
    Log,
    Sqrt,
    Abs,
    Tanh,
    Sigmoid,
    Floor,
    /// 1 where the argument is this number, else 0.
    Is(u32),
}

/// A function of two arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Min,
    Max,
    /// A normal number; its mean is the first argument, its standard deviation the second.
    Normal,
    /// A uniform number between the arguments.
    Uniform,
    /// The share of the first argument in both; none where one is negative. Where both are 0 it is 0.
    Share,
}

impl Binary {
    pub(super) fn is_random(self) -> bool {
        matches!(self, Self::Normal | Self::Uniform)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Op {
    Constant(f64),
    Input(u32),
    Unary(Unary, Slot),
    /// An integer power, kept apart because it is exact, fast and defined for negative bases.
    Power(Slot, i32),
    Binary(Binary, Slot, Slot),
}

/// Operations in the order of evaluation; the last one is the result.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tape {
    ops: Vec<Op>,
    inputs: usize,
}

/// Tapes up to this length are evaluated without touching the heap.
const ON_STACK: usize = 64;

impl Tape {
    pub(super) fn new(inputs: usize) -> Self {
        Self { ops: Vec::new(), inputs }
    }

    fn push(&mut self, op: Op) -> Slot {
        self.ops.push(op);
        (self.ops.len() - 1) as Slot
    }

    /// The sum of two results, wherever they stand.
    pub(super) fn add(&mut self, left: Slot, right: Slot) -> Slot {
        self.push(Op::Binary(Binary::Add, left, right))
    }

    /// The share of a weight beside the sum of others, wherever they stand; with `certain` there is none where both are 0.
    pub(super) fn share(&mut self, weight: Slot, others: Slot, certain: bool) {
        let share = self.push(Op::Binary(Binary::Share, weight, others));
        if certain {
            // 1 where there is any weight, and 0/0 where there is none.
            let all = self.add(weight, others);
            let one = self.push(Op::Binary(Binary::Div, all, all));
            self.push(Op::Binary(Binary::Mul, share, one));
        }
    }

    pub(super) fn known(&self, slot: Slot) -> Option<f64> {
        match self.ops[slot as usize] {
            Op::Constant(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn constant(&mut self, value: f64) -> Slot {
        self.push(Op::Constant(value))
    }

    pub(super) fn input(&mut self, index: usize) -> Slot {
        self.push(Op::Input(index as u32))
    }

    pub(super) fn unary(&mut self, op: Unary, argument: Slot) -> Slot {
        match self.known(argument) {
            Some(value) => self.replace_constants(1, unary_value(op, value)),
            None => self.push(Op::Unary(op, argument)),
        }
    }

    pub(super) fn binary(&mut self, op: Binary, left: Slot, right: Slot) -> Slot {
        match (op, self.known(left), self.known(right)) {
            (_, Some(a), Some(b)) if !op.is_random() => self.replace_constants(2, binary_value(op, a, b)),
            (Binary::Pow, None, Some(b)) if b.fract() == 0.0 && b.abs() <= 64.0 && b != 0.0 => {
                self.ops.pop();
                self.push(Op::Power(left, b as i32))
            }
            _ => self.push(Op::Binary(op, left, right)),
        }
    }

    /// Folds the constants that were just pushed into one. They are the last operations on the tape, because
    /// an argument is compiled right before the operation that reads it.
    fn replace_constants(&mut self, count: usize, value: f64) -> Slot {
        self.ops.truncate(self.ops.len() - count);
        self.constant(value)
    }

    pub(super) fn is_random(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Binary(op, ..) if op.is_random()))
    }

    pub(super) fn reads(&self, input: usize) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Input(index) if *index as usize == input))
    }

    pub(super) fn eval(&self, inputs: &[f64]) -> f64 {
        self.with_values(|values| {
            self.forward(inputs, values, binary_value);
            values.last().copied().unwrap_or(f64::NAN)
        })
    }

    pub(super) fn sample(&self, inputs: &[f64], rng: &mut dyn rand::Rng) -> f64 {
        self.with_values(|values| {
            self.forward(inputs, values, |op, a, b| match op {
                Binary::Normal => a + Noise::Gaussian(b).draw(rng),
                Binary::Uniform => Noise::Uniform([a, b]).draw(rng),
                _ => binary_value(op, a, b),
            });
            values.last().copied().unwrap_or(f64::NAN)
        })
    }

    pub(super) fn eval_with_gradient(&self, inputs: &[f64], gradient: &mut [f64]) -> f64 {
        self.with_values(|values| {
            self.forward(inputs, values, binary_value);
            let value = values.last().copied().unwrap_or(f64::NAN);
            gradient[..self.inputs].fill(0.0);
            self.with_values(|adjoints| self.backward(values, adjoints, gradient));
            value
        })
    }

    /// Lends a zeroed buffer with one number for every operation.
    fn with_values<R>(&self, body: impl FnOnce(&mut [f64]) -> R) -> R {
        if self.ops.len() <= ON_STACK {
            body(&mut [0.0; ON_STACK][..self.ops.len()])
        } else {
            body(&mut vec![0.0; self.ops.len()])
        }
    }

    fn forward(&self, inputs: &[f64], values: &mut [f64], mut binary: impl FnMut(Binary, f64, f64) -> f64) {
        for (at, op) in self.ops.iter().enumerate() {
            values[at] = match *op {
                Op::Constant(value) => value,
                Op::Input(index) => inputs[index as usize],
                Op::Unary(op, a) => unary_value(op, values[a as usize]),
                Op::Power(a, n) => values[a as usize].powi(n),
                Op::Binary(op, a, b) => binary(op, values[a as usize], values[b as usize]),
            };
        }
    }

    /// Reverse mode: carries the derivative of the result back to the inputs, last operation first.
    fn backward(&self, values: &[f64], adjoints: &mut [f64], gradient: &mut [f64]) {
        if let Some(last) = adjoints.last_mut() {
            *last = 1.0;
        }
        for (at, op) in self.ops.iter().enumerate().rev() {
            let adjoint = adjoints[at];
            // Skipping zeros keeps 0 * inf from poisoning branches that do not matter.
            if adjoint == 0.0 {
                continue;
            }
            // A zero slope stays zero under an infinite adjoint: the argument has no say in the result.
            let mut add = |slot: Slot, slope: f64| {
                if slope != 0.0 {
                    adjoints[slot as usize] += adjoint * slope;
                }
            };
            let value = |slot: Slot| values[slot as usize];
            match *op {
                Op::Constant(_) => {}
                Op::Input(index) => gradient[index as usize] += adjoint,
                Op::Unary(op, a) => add(a, unary_slope(op, value(a), values[at])),
                Op::Power(a, n) => add(a, f64::from(n) * value(a).powi(n - 1)),
                Op::Binary(op, a, b) => {
                    let [da, db] = binary_slopes(op, value(a), value(b), values[at]);
                    add(a, da);
                    add(b, db);
                }
            }
        }
    }
}

fn sigmoid(x: f64) -> f64 {
    // Both forms are exact in exact arithmetic; each is used where its exponential cannot overflow.
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let exp = x.exp();
        exp / (1.0 + exp)
    }
}

fn unary_value(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Neg => -x,
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Exp => x.exp(),
        Unary::Log => x.ln(),
        Unary::Sqrt => x.sqrt(),
        Unary::Abs => x.abs(),
        Unary::Tanh => x.tanh(),
        Unary::Sigmoid => sigmoid(x),
        Unary::Floor => x.floor(),
        Unary::Is(place) => f64::from(u8::from((x - f64::from(place)).abs() < 0.5)),
    }
}

/// The derivative of `op` at `x`, where its value is `y`.
fn unary_slope(op: Unary, x: f64, y: f64) -> f64 {
    match op {
        Unary::Neg => -1.0,
        Unary::Sin => x.cos(),
        Unary::Cos => -x.sin(),
        Unary::Tan => 1.0 + y * y,
        Unary::Exp => y,
        Unary::Log => 1.0 / x,
        Unary::Sqrt => 0.5 / y,
        Unary::Abs if x == 0.0 => 0.0,
        Unary::Abs => x.signum(),
        Unary::Tanh => 1.0 - y * y,
        Unary::Sigmoid => y * sigmoid(-x),
        Unary::Floor | Unary::Is(_) => 0.0,
    }
}

fn binary_value(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Pow => a.powf(b),
        // Unlike `f64::min`, a NaN on either side is passed on.
        Binary::Min if b < a || b.is_nan() => b,
        Binary::Max if b > a || b.is_nan() => b,
        Binary::Min | Binary::Max => a,
        Binary::Normal => a,
        Binary::Uniform => 0.5 * (a + b),
        Binary::Share if a < 0.0 || b < 0.0 => f64::NAN,
        Binary::Share if a + b == 0.0 => 0.0,
        // Weights that are too large for a sum are still weights.
        Binary::Share => 1.0 / (1.0 + b / a),
    }
}

/// The derivatives of `op` in its arguments, where its value is `y`.
fn binary_slopes(op: Binary, a: f64, b: f64, y: f64) -> [f64; 2] {
    match op {
        Binary::Add => [1.0, 1.0],
        Binary::Sub => [1.0, -1.0],
        Binary::Mul => [b, a],
        Binary::Div => [1.0 / b, -y / b],
        Binary::Pow => {
            let base = if b == 0.0 { 0.0 } else { b * a.powf(b - 1.0) };
            let exponent = if y == 0.0 { 0.0 } else { y * a.ln() };
            // A negative base has no derivative in its exponent; the exponent is then a whole number.
            [base, if a < 0.0 { 0.0 } else { exponent }]
        }
        Binary::Min if b < a || b.is_nan() => [0.0, 1.0],
        Binary::Max if b > a || b.is_nan() => [0.0, 1.0],
        Binary::Min | Binary::Max | Binary::Normal => [1.0, 0.0],
        Binary::Uniform => [0.5, 0.5],
        Binary::Share if a + b == 0.0 => [0.0, 0.0],
        Binary::Share => [(1.0 - y) / (a + b), -y / (a + b)],
    }
}
