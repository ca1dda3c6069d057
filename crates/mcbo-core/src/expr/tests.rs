use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

fn value(text: &str) -> f64 {
    Expr::parse(text, &[], false).unwrap().eval(&[])
}

fn with_x(text: &str, x: f64) -> f64 {
    Expr::parse(text, &[("x", 1)], false).unwrap().eval(&[x])
}

/// What a user sees: the words that are wrong, the message and the hint.
fn complaint(text: &str) -> String {
    let error = Expr::parse(text, &[("soil", 1), ("v", 2)], false).unwrap_err();
    let hint = error.hint().map(|hint| format!(" | {hint}")).unwrap_or_default();
    format!("[{}] {error}{hint}", &text[error.span.clone()])
}

#[test]
fn precedence_is_that_of_mathematics() {
    assert_eq!(value("1 + 2 * 3"), 7.0);
    assert_eq!(value("2 * 3 ^ 2"), 18.0);
    assert_eq!(value("2 ^ 3 ^ 2"), 512.0);
    assert_eq!(value("-2 ^ 2"), -4.0);
    assert_eq!(value("2 ^ -1"), 0.5);
    assert_eq!(value("(1 + 2) * 3"), 9.0);
    assert_eq!(value("8 / 4 / 2"), 1.0);
    assert_eq!(value("5 - 3 - 1"), 1.0);
    assert_eq!(value("--3"), 3.0);
    assert_eq!(value("2 - -3"), 5.0);
    assert_eq!(value("+3"), 3.0);
    assert_eq!(value("1.5e2 + .5 + 1E-1"), 150.6);
    assert_eq!(with_x("-x^2", 3.0), -9.0);
    assert_eq!(with_x("2^x^2", 2.0), 16.0);
    assert_eq!(with_x("x^0.5", 9.0), 3.0);
    assert_eq!(with_x("(-x)^3", 2.0), -8.0);
}

#[test]
fn functions_are_what_they_say() {
    use std::f64::consts::{E, PI};
    assert_eq!(value("pi"), PI);
    assert_eq!(value("e"), E);
    let x = 0.7_f64;
    let cases = [
        ("sin(x)", x.sin()),
        ("cos(x)", x.cos()),
        ("tan(x)", x.tan()),
        ("exp(x)", x.exp()),
        ("log(x)", x.ln()),
        ("sqrt(x)", x.sqrt()),
        ("abs(-x)", x),
        ("tanh(x)", x.tanh()),
        ("sigmoid(x)", 1.0 / (1.0 + (-x).exp())),
        ("floor(x)", 0.0),
        ("min(x, 1, 0.5)", 0.5),
        ("max(x, 1, 0.5)", 1.0),
    ];
    for (text, expected) in cases {
        assert_eq!(with_x(text, x), expected, "{text}");
    }
    assert_eq!(with_x("sigmoid(x)", -1000.0), 0.0);
    assert_eq!(with_x("sigmoid(x)", 1000.0), 1.0);
    assert!(with_x("min(x, 1)", f64::NAN).is_nan() && with_x("max(1, x)", f64::NAN).is_nan());
}

#[test]
fn inputs_are_read_in_the_order_given() {
    let expr =
        Expr::parse("a + 10 * v[0] + 100 * v[1] + 1000 * b[0]", &[("a", 1), ("v", 2), ("b", 1)], false);
    let expr = expr.unwrap();
    assert_eq!(expr.eval(&[1.0, 2.0, 3.0, 4.0]), 4321.0);
    let mut gradient = [9.0; 4];
    assert_eq!(expr.eval_with_gradient(&[1.0, 2.0, 3.0, 4.0], &mut gradient), 4321.0);
    assert_eq!(gradient, [1.0, 10.0, 100.0, 1000.0]);
    assert!(expr.reads(3) && !Expr::parse("a", &[("a", 1), ("b", 1)], false).unwrap().reads(1));
    assert!(expr.text().starts_with("a + 10") && expr.to_string() == expr.text());
}

#[test]
fn randomness_is_drawn_from_the_generator() {
    let expr = Expr::parse("normal(m, 2) + 0 * uniform(0, 1)", &[("m", 1)], true).unwrap();
    assert!(expr.is_random());
    assert!(!Expr::parse("1", &[], true).unwrap().is_random());
    assert_eq!(expr.eval(&[5.0]), 5.0);
    let draw = |seed| expr.sample(&[5.0], &mut ChaCha8Rng::seed_from_u64(seed));
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));

    let moments = |text: &str| {
        let expr = Expr::parse(text, &[], true).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| expr.sample(&[], &mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        (mean, variance)
    };
    // Five standard errors: sd / sqrt(n) for the mean, about 1.4 var / sqrt(n) for the variance.
    let (mean, variance) = moments("normal(3, 2)");
    assert!((mean - 3.0).abs() < 0.023 && (variance - 4.0).abs() < 0.064, "{mean} {variance}");
    let (mean, variance) = moments("uniform(-1, 5)");
    assert!((mean - 2.0).abs() < 0.02 && (variance - 3.0).abs() < 0.04, "{mean} {variance}");
    // Two draws are two draws.
    let (_, variance) = moments("normal(0, 1) - normal(0, 1)");
    assert!((variance - 2.0).abs() < 0.04, "{variance}");
}

#[test]
fn mistakes_are_explained() {
    let cases = [
        ("", "[] the formula is empty"),
        ("  ", "[  ] the formula is empty"),
        ("sol + 1", "[sol] unknown name `sol` | did you mean `soil`?"),
        ("water", "[water] unknown name `water` | known here: `soil`, `v`"),
        ("ln(soil)", "[ln] unknown function `ln` | did you mean `log`?"),
        ("sine(soil)", "[sine] unknown function `sine` | did you mean `sin`?"),
        (
            "erf(soil)",
            "[erf] unknown function `erf` | the functions are sin, cos, tan, exp, log, sqrt, abs, tanh, sigmoid, floor, min, max, normal, uniform",
        ),
        ("sin + 1", "[sin] `sin` is a function and needs its arguments | write `sin(...)`"),
        ("sin()", "[sin()] `sin` takes one argument, found 0"),
        ("sin(1, 2)", "[sin(1, 2)] `sin` takes one argument, found 2"),
        ("max(1)", "[max(1)] `max` takes two or more arguments, found 1"),
        ("2 soil", "[soil] expected an operator, found `soil` | write products with `*`"),
        ("2(soil)", "[(] expected an operator, found `(` | write products with `*`"),
        ("soil(2)", "[(] expected an operator, found `(` | write products with `*`"),
        ("2 ** 3", "[*] expected a number, a name or `(`, found `*` | powers are written with `^`"),
        ("1 +", "[] expected a number, a name or `(`, found the end of the formula"),
        ("(1 + 2", "[] expected `)`, found the end of the formula"),
        ("1 + 2)", "[)] expected an operator, found `)` | there is no `(` that it closes"),
        ("1.2.3", "[1.2.3] `1.2.3` is not a number"),
        ("1e999", "[1e999] `1e999` is not a number"),
        ("soil # 2", "[#] `#` does not belong in a formula"),
        ("größe", "[ö] `ö` does not belong in a formula"),
        ("v + 1", "[v] `v` has 2 components | write one of them: `v[0]`, `v[1]`"),
        ("v[2]", "[v[2]] `v[2]` does not exist: `v` has 2 component(s), counted from 0"),
        ("v[0.5]", "[v[0.5]] `v[0.5]` does not exist: `v` has 2 component(s), counted from 0"),
        ("v[soil]", "[soil] expected the number of a component, found `soil`"),
        (
            "soil + normal(0, 1)",
            "[normal] `normal` draws a random number, which is not allowed here | write the fixed part here and the randomness as the node's `noise`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected, "{text}");
    }
    let error = Expr::parse("x", &[], false).unwrap_err();
    assert_eq!(error.hint().unwrap(), "nothing can be read here: the node has no parents and no actions");
}

#[test]
fn deep_and_long_formulas_are_refused_or_fine() {
    for deep in ["(".repeat(100_000), "-".repeat(50_000), "2^".repeat(50_000), "sin(".repeat(20_000)] {
        let error = Expr::parse(&deep, &[], false).unwrap_err();
        assert_eq!(error.kind, ExprErrorKind::TooDeep { limit: 200 });
    }
    let nested = format!("{}x{}", "(".repeat(150), ")".repeat(150));
    assert_eq!(with_x(&nested, 2.0), 2.0);
    let error = Expr::parse(&"1+".repeat(100_000), &[], false).unwrap_err();
    assert!(matches!(error.kind, ExprErrorKind::TooLong { .. }));
    let long = format!("x{}", "+x".repeat(40_000));
    let expr = Expr::parse(&long, &[("x", 1)], false).unwrap();
    assert_eq!(expr.eval(&[0.5]), 20_000.5);
    let mut gradient = [0.0];
    expr.eval_with_gradient(&[0.5], &mut gradient);
    assert_eq!(gradient, [40_001.0]);
}

#[test]
fn gradients_hold_at_the_edges() {
    let gradient = |text: &str, x: f64| {
        let mut gradient = [f64::NAN];
        Expr::parse(text, &[("x", 1)], false).unwrap().eval_with_gradient(&[x], &mut gradient);
        gradient[0]
    };
    assert_eq!(gradient("x^2", 0.0), 0.0);
    assert_eq!(gradient("x^1", 0.0), 1.0);
    assert_eq!(gradient("x^0", 0.0), 0.0);
    assert_eq!(gradient("x^-1", 2.0), -0.25);
    assert_eq!(gradient("abs(x)", 0.0), 0.0);
    assert_eq!(gradient("3", 1.0), 0.0);
    assert_eq!(gradient("max(x, 0) * log(max(x, 1))", 0.5), 0.0);
    assert_eq!(gradient("min(sqrt(x), -1)", 0.0), 0.0);
    assert_eq!(gradient("0^x", 2.0), 0.0);
    assert_eq!(gradient("sqrt(floor(x))", 0.5), 0.0);
    assert_eq!(gradient("sigmoid(x)", -800.0), 0.0);
}

/// A formula as a tree that is evaluated without the code under test.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    Input(usize),
    One(&'static str, Box<Tree>),
    Two(&'static str, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Number(value) => format!("{value}"),
            Tree::Input(index) => ["a", "v[0]", "v[1]"][*index].to_owned(),
            Tree::One("-", a) => format!("(-{})", a.text()),
            Tree::One(name, a) => format!("{name}({})", a.text()),
            Tree::Two(name @ ("min" | "max"), a, b) => format!("{name}({}, {})", a.text(), b.text()),
            Tree::Two(op, a, b) => format!("({} {op} {})", a.text(), b.text()),
        }
    }

    /// Whether all parts are finite and far from where a function ends or blows up.
    fn regular(&self, x: &[f64]) -> bool {
        let fine = match self {
            Tree::Number(_) | Tree::Input(_) => true,
            Tree::One(name, a) => a.regular(x) && (!["log", "sqrt"].contains(name) || a.value(x) > 1e-2),
            Tree::Two(op, a, b) => {
                a.regular(x)
                    && b.regular(x)
                    && (*op != "/" || b.value(x).abs() > 1e-2)
                    && (*op != "^" || a.value(x) > 1e-2)
            }
        };
        fine && self.value(x).abs() < 1e6
    }

    fn value(&self, x: &[f64]) -> f64 {
        match self {
            Tree::Number(value) => *value,
            Tree::Input(index) => x[*index],
            Tree::One(name, a) => {
                let a = a.value(x);
                match *name {
                    "-" => -a,
                    "sin" => a.sin(),
                    "cos" => a.cos(),
                    "tan" => a.tan(),
                    "exp" => a.exp(),
                    "log" => a.ln(),
                    "sqrt" => a.sqrt(),
                    "abs" => a.abs(),
                    "tanh" => a.tanh(),
                    "floor" => a.floor(),
                    "sigmoid" => 1.0 / (1.0 + (-a).exp()),
                    _ => unreachable!(),
                }
            }
            Tree::Two(op, a, b) => {
                let (a, b) = (a.value(x), b.value(x));
                match *op {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "/" => a / b,
                    "^" => a.powf(b),
                    "min" | "max" if a.is_nan() || b.is_nan() => f64::NAN,
                    "min" => a.min(b),
                    "max" => a.max(b),
                    _ => unreachable!(),
                }
            }
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (0..60_i32).prop_map(|n| Tree::Number(f64::from(n) / 8.0)),
        (0..3_usize).prop_map(Tree::Input),
    ];
    leaf.prop_recursive(6, 60, 2, |inner| {
        let one = prop::sample::select(vec![
            "-", "sin", "cos", "tan", "exp", "log", "sqrt", "abs", "tanh", "floor", "sigmoid",
        ]);
        let two = prop::sample::select(vec!["+", "-", "*", "/", "^", "min", "max"]);
        prop_oneof![
            (one, inner.clone()).prop_map(|(name, a)| Tree::One(name, Box::new(a))),
            (two, inner.clone(), inner).prop_map(|(op, a, b)| Tree::Two(op, Box::new(a), Box::new(b))),
        ]
    })
}

fn inputs() -> [(&'static str, usize); 2] {
    [("a", 1), ("v", 2)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn values_are_those_of_the_tree(tree in tree(), x in prop::array::uniform3(-3.0..3.0_f64)) {
        let expr = Expr::parse(&tree.text(), &inputs(), false).unwrap();
        let (found, expected) = (expr.eval(&x), tree.value(&x));
        // Integer powers are multiplied out, which rounds differently, and functions amplify that.
        let close = (found - expected).abs() <= 1e-6 * (1.0 + expected.abs());
        let near_jump = tree.text().contains("floor");
        prop_assert!(!tree.regular(&x) || near_jump || close, "{found} {expected}");
    }

    #[test]
    fn gradients_are_finite_differences(tree in tree(), x in prop::array::uniform3(-3.0..3.0_f64)) {
        let expr = Expr::parse(&tree.text(), &inputs(), false).unwrap();
        let mut gradient = [f64::NAN; 3];
        let value = expr.eval_with_gradient(&x, &mut gradient);
        prop_assert!(value.to_bits() == expr.eval(&x).to_bits() || value.is_nan());
        for at in 0..3 {
            let slope = |h: f64| {
                let (mut up, mut down) = (x, x);
                up[at] += h;
                down[at] -= h;
                (expr.eval(&up) - expr.eval(&down)) / (2.0 * h)
            };
            let one_sided = |h: f64| {
                let mut moved = x;
                moved[at] += h;
                (expr.eval(&moved) - value) / h
            };
            // Where two step sizes or two sides disagree, there is a kink, a jump or no precision to compare with.
            let (coarse, fine) = (slope(2e-4), slope(1e-4));
            let scale = fine.abs().max(1e-2);
            let smooth = (coarse - fine).abs() < 1e-5 * scale
                && (one_sided(1e-4) - one_sided(-1e-4)).abs() < 1e-1 * scale
                && value.abs() < 1e4 * scale;
            // Behind a steep function `floor` looks like a slope.
            if smooth && tree.regular(&x) && !tree.text().contains("floor") {
                prop_assert!((gradient[at] - fine).abs() < 1e-3 * scale, "{at}: {} {fine}", gradient[at]);
            }
        }
    }

    #[test]
    fn garbage_is_answered_with_a_place_inside_it(text in "\\PC{0,40}") {
        if let Err(error) = Expr::parse(&text, &inputs(), true) {
            prop_assert!(text.get(error.span.clone()).is_some());
        }
    }

    #[test]
    fn words_in_any_order_do_no_harm(words in prop::collection::vec(prop::sample::select(vec![
        "a", "v", "[", "0", "]", "(", ")", "+", "-", "^", "*", "/", ",", "min", "sin", "normal", "1e3", "e", " ", "é",
    ]), 0..20)) {
        let text = words.concat();
        match Expr::parse(&text, &inputs(), true) {
            Ok(expr) => {
                expr.eval_with_gradient(&[1.0, 2.0, 3.0], &mut [0.0; 3]);
            }
            Err(error) => prop_assert!(text.get(error.span.clone()).is_some()),
        }
    }
}

#[test]
fn choices_are_compared() {
    let names = ["wild".to_owned(), "mutant".to_owned(), "a b".to_owned()];
    let inputs = [("x", 1), ("strain", 1)];
    let choices: [&[String]; 2] = [&[], &names];
    let parse = |text: &str| Expr::parse_with_choices(text, &inputs, &choices, false);
    let eval = |text: &str, strain: f64| parse(text).expect("a formula").eval(&[3.0, strain]);
    assert_eq!([0.0, 1.0, 2.0].map(|s| eval("2 * strain == 'mutant' + x", s)), [3.0, 5.0, 3.0]);
    assert_eq!([0.0, 1.0, 2.0].map(|s| eval("x * (strain != \"a b\")", s)), [3.0, 3.0, 0.0]);
    let mut gradient = [0.0; 2];
    parse("x^2 * (strain == 'wild')").expect("a formula").eval_with_gradient(&[3.0, 0.0], &mut gradient);
    assert_eq!(gradient, [6.0, 0.0]);
    let wrong = |text: &str| {
        let error = parse(text).expect_err("a mistake");
        format!("{error}; {}", error.hint().unwrap_or_default())
    };
    assert_eq!(
        wrong("2 * strain"),
        "`strain` is a choice, whose values are names; `strain == 'wild'` is 1 where it is that one and 0 elsewhere"
    );
    assert_eq!(
        wrong("strain == 'mutent'"),
        "\"mutent\" is not one of the choices of `strain`; did you mean 'mutant'?"
    );
    assert_eq!(wrong("strain == 1"), "expected a choice in quotes, found `1`; ");
    assert!(wrong("x == 'wild'").starts_with("expected an operator, found `==`"));
    assert!(wrong("strain = 'wild'").starts_with("`=` does not belong in a formula"));
}

/// The shares of names by their weights, with derivatives, and what has none.
#[test]
fn names_are_picked_by_their_weights() {
    let names = ["n", "c", "d"].map(str::to_owned);
    let parse = |text: &str| Expr::parse_pick(text, &[("x", 1), ("z", 1)], &[], "kind", &names);
    let exprs = parse(" pick ( 'd', z^2, 'n', 1, 'c', exp(x))").expect("a formula");
    assert_eq!(exprs.len(), 2);
    for at in [[0.0, 0.5], [-1.0, 2.0], [3.0, 1.0]] {
        let (n, c, d) = (1.0, f64::exp(at[0]), at[1] * at[1]);
        for (expr, exact) in exprs.iter().zip([n / (n + c + d), c / (c + d)]) {
            let mut gradient = [0.0; 2];
            let value = expr.eval_with_gradient(&at, &mut gradient);
            assert!((value - exact).abs() < 1e-14, "{at:?}");
            for k in 0..2 {
                let moved = |step: f64| {
                    let mut x = at;
                    x[k] += step;
                    expr.eval(&x)
                };
                let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((gradient[k] - numeric).abs() < 1e-8, "{at:?} {k}: {} {numeric}", gradient[k]);
            }
        }
    }
    // What cannot be reached has a share of 0, what is negative none, and neither has what has no weight at all.
    let exprs = parse("pick('n', x, 'c', z)").expect("a formula");
    let at = |x: f64, z: f64| [exprs[0].eval(&[x, z]), exprs[1].eval(&[x, z])];
    assert_eq!((at(2.0, 0.0), at(0.0, 3.0)), ([1.0, 0.0], [0.0, 1.0]));
    assert!(at(-1.0, 3.0)[0].is_nan() && at(1.0, -3.0)[1].is_nan() && at(0.0, 0.0)[0].is_nan());
    assert!(
        parse("pick('n', 1, 'c', 1) + 1").is_err() && parse("pick()").is_err() && parse("pick('n')").is_err()
    );
    assert!(Expr::is_pick("pick('n', 1)") && !Expr::is_pick("pick + 1") && !Expr::is_pick("picked(1)"));
}
