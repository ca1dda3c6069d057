#!/usr/bin/env python3
"""Makes figures.json: what the Gaussian processes of mcbo-gp must answer.

Every figure is computed in 50 digits with mpmath, straight from the definitions: plain loops for the kernel, a
Cholesky factor, central differences of step 1e-16 for the gradients. It is then compared with two float64
computations that share no code with it, and nothing is written when they differ:

- scikit-learn's GaussianProcessRegressor with its own kernels and no hyperparameter search (a constant mean is
  taken off beforehand; coregionalised cases and leaves on some inputs are beyond it);
- SciPy: `cdist`, `cho_factor` and the distributions of `scipy.stats`.

Run it with `cargo xtask oracle`; with `--check` it only says whether figures.json is what it would write.

Definitions
-----------
kernel      k(x, x') = sum over terms t of v_t * product of the leaves of t, each leaf with its own lengthscales;
            r^2 = sum_d ((x_d - x'_d) / l_d)^2 and
            matern52 (1 + sqrt5 r + 5/3 r^2) exp(-sqrt5 r)      se      exp(-r^2 / 2)
            matern32 (1 + sqrt3 r) exp(-sqrt3 r)                linear  sum_d x_d x'_d / l_d^2
            cosine   cos(2 pi sum_d (x_d - x'_d) / l_d)
            a leaf with numbers in brackets sees those inputs alone, and has lengthscales for them alone
components  a row of component i (from 0) against one of component j multiplies k by B[i, j], B = C C', with
            row i of C = (t_i0, .., t_i(i-1), 1, 0, .., 0) / norm; `t` lists t_10, t_20, t_21, t_30, ..
mean        "zero"; "profiled": c = 1'K^-1 y / 1'K^-1 1 with K the covariance of y, noise included; or "uncertain": zero,
            and 1 is added to k, the variance of a constant that is integrated out
posterior   mean c + k*'K^-1 (y - c 1), variance k** - k*'K^-1 k*: of the latent function, without the noise and
            without the uncertainty of c
likelihood  log N(y; c 1, K); its gradient is in the logarithms of variances, lengthscales and of one factor of all
            noise, and in t itself
condition   of K in the 1-norm, two digits: how many digits float64 may lose
"""

import json
import re
import sys
from pathlib import Path

import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy import linalg, spatial, stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

OUTPUT = Path(__file__).with_name("figures.json")
DIGITS = 50
STEP = mpf(10) ** -16


# ---------------------------------------------------------------- the cases


def kernel_terms(text, dim):
    """Of every term its leaves, each a name and the inputs that it sees."""

    def leaf(text):
        name, _, inside = text.strip().partition("(")
        return name, [int(k) for k in inside.rstrip(")").split(",")] if inside else list(range(dim))

    return [[leaf(part) for part in term.split("*")] for term in text.split("+")]


def inputs_of(case):
    return len(case["X"][0])


def case(name, kernel, dim, n, *, seed, noise, mean="zero", t=None, offset=0.0, scatter=0.1, repeat=0,
         gradient_at=1):
    """Data and parameters drawn with few decimals, so that the file reads well and holds exact inputs.

    Of the five test points the first is a training row and the last lies far from all of them. The last `repeat`
    training rows repeat the first ones.
    """
    rng = np.random.default_rng(seed)
    terms = kernel_terms(kernel, dim)
    draw = lambda low, high, size: rng.uniform(low, high, size).round(4)
    X = draw(-2, 2, (n, dim))
    if repeat:
        X[-repeat:] = X[:repeat]
    made = {
        "name": name,
        "kernel": kernel,
        "variances": draw(0.3, 2.5, len(terms)).tolist(),
        "lengthscales": [draw(0.4, 2.5, len(seen)).tolist() for term in terms for _, seen in term],
        "noise": noise if np.isscalar(noise) else draw(*noise, n).tolist(),
        "mean": mean,
        "X": X.tolist(),
    }
    y = np.sin(X.sum(axis=1)) + 0.5 * X[:, 0] * X[:, -1] + scatter * rng.standard_normal(n) + offset
    X_test = np.vstack([X[:1], draw(-2, 2, (3, dim)), draw(5, 9, (1, dim))])
    if t is not None:
        levels = round((1 + (1 + 8 * len(t)) ** 0.5) / 2)
        components = rng.integers(0, levels, n)
        y += components * X[:, 0]
        made["components"] = components.tolist()
        made["t"] = t
    made["y"] = y.round(4).tolist()
    made["X_test"] = X_test.tolist()
    if t is not None:
        made["components_test"] = [int(components[0]), *(i % levels for i in range(4))]
    made["gradient_at"] = gradient_at
    return made


CASES = [
    case("one row", "matern52", 1, 1, seed=1, noise=1e-2),
    case("two rows", "se", 3, 2, seed=2, noise=0.3, mean="profiled"),
    case("interpolation", "matern52", 1, 5, seed=3, noise=1e-8),
    case("smooth interpolation", "se", 1, 5, seed=4, noise=1e-8, gradient_at=2),
    case("ill-conditioned", "se", 1, 20, seed=20, noise=1e-8, scatter=0.0, gradient_at=3),
    case("gradient at a training row", "matern32", 2, 20, seed=5, noise=1e-6, gradient_at=0),
    case("gradient at a training row, smooth", "matern52", 2, 20, seed=6, noise=1e-4, gradient_at=0),
    case("mean of its own", "matern52", 3, 20, seed=7, noise=1e-4, mean="profiled"),
    case("far from zero", "matern52", 2, 20, seed=8, noise=1e-3, mean="profiled", offset=250.0, gradient_at=3),
    case("six inputs", "matern52", 6, 60, seed=9, noise=1e-2),
    case("a plane", "linear", 2, 5, seed=10, noise=0.1),
    case("a plane with more rows than rank", "linear", 6, 60, seed=11, noise=0.5, mean="profiled", gradient_at=4),
    case("a sum", "matern52 + linear", 3, 20, seed=12, noise=1e-3),
    case("a product", "matern52 * se", 2, 20, seed=13, noise=1e-4, mean="profiled"),
    case("a sum of products, repeated rows", "matern52 + linear * se", 2, 20, seed=14, noise=1e-2, mean="profiled",
         repeat=6),
    case("every leaf", "matern32 * linear + se + matern52", 6, 60, seed=15, noise=0.05, gradient_at=2),
    case("noise of its own for every row", "matern52", 2, 20, seed=16, noise=(0.001, 0.5), mean="profiled"),
    case("two components", "matern52", 2, 20, seed=17, noise=1e-2, t=[0.8]),
    case("three components, noise by row", "matern52 + linear", 1, 20, seed=18, noise=(0.001, 0.1),
         t=[-0.6, 1.4, 0.3], gradient_at=2),
    case("three components, one mean", "se * matern32", 3, 20, seed=19, noise=1e-2, mean="profiled",
         t=[2.0, -0.5, -1.2], gradient_at=0),
    case("inputs by name", "se(0) * linear(1) + matern52(0, 2)", 3, 20, seed=21, noise=1e-3, mean="uncertain"),
    case("a sum of curves", "se(0) + se(1) + matern32(2)", 3, 20, seed=22, noise=1e-2, mean="profiled", gradient_at=3),
    case("waves", "se(0) + se(0) * cosine(0)", 1, 20, seed=23, noise=1e-2, mean="uncertain", gradient_at=2),
    case("waves of two inputs", "matern52(1) * cosine(0, 1) + linear(0)", 2, 20, seed=24, noise=1e-2),
    case("two components, inputs by name", "se(1) + linear(0) * cosine(1)", 2, 20, seed=25, noise=1e-2, t=[-0.7],
         mean="uncertain", gradient_at=2),
]


# ---------------------------------------------------------------- in 50 digits


def exact(value):
    """Every float of a nested list as the number it is."""
    return [exact(v) for v in value] if isinstance(value, list) else mpf(value)


LEAVES = {
    "matern52": lambda r2: (1 + mp.sqrt(5 * r2) + 5 * r2 / 3) * mp.exp(-mp.sqrt(5 * r2)),
    "matern32": lambda r2: (1 + mp.sqrt(3 * r2)) * mp.exp(-mp.sqrt(3 * r2)),
    "se": lambda r2: mp.exp(-r2 / 2),
}


class Exact:
    """The Gaussian process of a case, from the definitions."""

    def __init__(self, case):
        self.terms = kernel_terms(case["kernel"], inputs_of(case))
        self.offset = mpf(case["mean"] == "uncertain")
        self.n = len(case["y"])
        for key in ("variances", "lengthscales", "noise", "X", "y", "X_test"):
            setattr(self, key, exact(case[key]))
        if not isinstance(self.noise, list):
            self.noise = [self.noise] * self.n
        self.profiled = case["mean"] == "profiled"
        self.components = case.get("components", [0] * self.n)
        self.components_test = case.get("components_test", [0] * len(self.X_test))
        self.t = exact(case.get("t", []))

    def coregionalisation(self):
        t, C = iter(self.t), []
        for i in range(max(self.components + self.components_test) + 1):
            row = [next(t) for _ in range(i)] + [mpf(1)]
            norm = mp.sqrt(sum(c * c for c in row))
            C.append([c / norm for c in row])
        return [[sum(a * b for a, b in zip(p, q)) for q in C] for p in C]

    def kernel(self, a, b):
        total, leaf_index = self.offset, 0
        for variance, term in zip(self.variances, self.terms):
            product = variance
            for leaf, seen in term:
                pairs = [(a[k], b[k], s) for k, s in zip(seen, self.lengthscales[leaf_index])]
                leaf_index += 1
                if leaf == "linear":
                    product *= sum(p * q / s**2 for p, q, s in pairs)
                elif leaf == "cosine":
                    product *= mp.cos(2 * mp.pi * sum((p - q) / s for p, q, s in pairs))
                else:
                    product *= LEAVES[leaf](sum(((p - q) / s) ** 2 for p, q, s in pairs))
            total += product
        return total

    def fit(self):
        self.B = self.coregionalisation()
        K = mpmath.matrix(self.n, self.n)
        for i in range(self.n):
            for j in range(i + 1):
                shared = self.B[self.components[i]][self.components[j]]
                K[i, j] = K[j, i] = shared * self.kernel(self.X[i], self.X[j])
            K[i, i] += self.noise[i]
        self.K = K
        self.L = mp.cholesky(K)
        self.c = mpf(0)
        if self.profiled:
            whitened_one, whitened_y = self.whiten([mpf(1)] * self.n), self.whiten(self.y)
            self.c = mp.fdot(whitened_one, whitened_y) / mp.fdot(whitened_one, whitened_one)
        self.residual = self.whiten([y - self.c for y in self.y])
        return self

    def whiten(self, b):
        """L^-1 b by forward substitution."""
        z = []
        for i in range(self.n):
            z.append((b[i] - mp.fdot((self.L[i, j], z[j]) for j in range(i))) / self.L[i, i])
        return z

    def posterior(self, x, component):
        shared = self.B[component]
        k = self.whiten([shared[l] * self.kernel(x, row) for row, l in zip(self.X, self.components)])
        mean = self.c + mp.fdot(k, self.residual)
        return mean, shared[component] * self.kernel(x, x) - mp.fdot(k, k)

    def log_marginal_likelihood(self):
        log_det = 2 * sum(mp.log(self.L[i, i]) for i in range(self.n))
        return -(mp.fdot(self.residual, self.residual) + log_det + self.n * mp.log(2 * mp.pi)) / 2

    def condition(self):
        return mpmath.mnorm(self.K, 1) * mpmath.mnorm(self.K**-1, 1)

    def posterior_gradient(self, at):
        """d mean / d x and d variance / d x by central differences."""
        x, component = self.X_test[at], self.components_test[at]
        means, variances = [], []
        for d in range(len(x)):
            up, down = list(x), list(x)
            up[d] += STEP
            down[d] -= STEP
            (m1, v1), (m0, v0) = self.posterior(up, component), self.posterior(down, component)
            means.append((m1 - m0) / (2 * STEP))
            variances.append((v1 - v0) / (2 * STEP))
        return means, variances

    def likelihood_gradient(self):
        """d log likelihood / d (log variances, log lengthscales, log of a factor of the noise, t)."""

        def scaled(values, i):
            return lambda h: values.__setitem__(i, values[i] * mp.exp(h))

        def shifted(values, i):
            return lambda h: values.__setitem__(i, values[i] + h)

        def noise(h):
            self.noise = [v * mp.exp(h) for v in self.noise]

        def slope(move):
            # A move is undone by its opposite, to the 50th digit.
            move(STEP)
            up = self.fit().log_marginal_likelihood()
            move(-2 * STEP)
            down = self.fit().log_marginal_likelihood()
            move(STEP)
            return (up - down) / (2 * STEP)

        gradient = {
            "log_variances": [slope(scaled(self.variances, i)) for i in range(len(self.variances))],
            "log_lengthscales": [[slope(scaled(row, d)) for d in range(len(row))] for row in self.lengthscales],
            "log_noise": slope(noise),
        }
        if self.t:
            gradient["t"] = [slope(shifted(self.t, i)) for i in range(len(self.t))]
        self.fit()
        return gradient


def expected(case):
    gp = Exact(case).fit()
    posterior = [gp.posterior(x, l) for x, l in zip(gp.X_test, gp.components_test)]
    mean_gradient, variance_gradient = gp.posterior_gradient(case["gradient_at"])
    return {
        "constant": gp.c,
        "mean": [m for m, _ in posterior],
        "variance": [v for _, v in posterior],
        "log_marginal_likelihood": gp.log_marginal_likelihood(),
        "mean_gradient": mean_gradient,
        "variance_gradient": variance_gradient,
        "likelihood_gradient": gp.likelihood_gradient(),
    }, gp.condition()


# ---------------------------------------------------------------- in float64, by others


class ScaledDotProduct(DotProduct):
    """scikit-learn's DotProduct(sigma_0=0) on x / l."""

    def __init__(self, length_scale):
        super().__init__(sigma_0=0.0, sigma_0_bounds="fixed")
        self.length_scale = length_scale

    def get_params(self, deep=True):
        return {"length_scale": self.length_scale}

    def __call__(self, X, Y=None, eval_gradient=False):
        return super().__call__(X / self.length_scale, None if Y is None else Y / self.length_scale, eval_gradient)

    def diag(self, X):
        return super().diag(X / self.length_scale)


def with_sklearn(case, constant):
    scales = iter(np.array(row) for row in case["lengthscales"])
    leaf = {
        "matern52": lambda: Matern(next(scales), "fixed", nu=2.5),
        "matern32": lambda: Matern(next(scales), "fixed", nu=1.5),
        "se": lambda: RBF(next(scales), "fixed"),
        "linear": lambda: ScaledDotProduct(next(scales)),
    }
    kernel = None
    for variance, term in zip(case["variances"], kernel_terms(case["kernel"], inputs_of(case))):
        product = ConstantKernel(variance, "fixed")
        for name, _ in term:
            product = product * leaf[name]()
        kernel = product if kernel is None else kernel + product
    gp = GaussianProcessRegressor(kernel, alpha=np.array(case["noise"]), optimizer=None)
    gp.fit(np.array(case["X"]), np.array(case["y"]) - constant)
    mean, covariance = gp.predict(np.array(case["X_test"]), return_cov=True)
    return constant + mean, np.diag(covariance), gp.log_marginal_likelihood_value_


def with_scipy(case):
    """constant, mean, variance, log marginal likelihood, and mean and variance as functions of a test point."""
    C = np.eye(max(case.get("components", []) + case.get("components_test", []), default=0) + 1)
    C[np.tril_indices(len(C), -1)] = case.get("t", [])
    C /= linalg.norm(C, axis=1, keepdims=True)
    B = C @ C.T

    def kernel(A, a, D, d):
        total, scales = float(case["mean"] == "uncertain"), iter(np.array(row) for row in case["lengthscales"])
        for variance, term in zip(case["variances"], kernel_terms(case["kernel"], inputs_of(case))):
            product = variance
            for (name, seen), scale in zip(term, scales):
                left, right = A[:, seen] / scale, D[:, seen] / scale
                r = spatial.distance.cdist(left, right)
                product = product * {
                    "matern52": lambda: (1 + 5**0.5 * r + 5 / 3 * r**2) * np.exp(-(5**0.5) * r),
                    "matern32": lambda: (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r),
                    "se": lambda: np.exp(-0.5 * r**2),
                    "linear": lambda: left @ right.T,
                    "cosine": lambda: np.cos(2 * np.pi * np.subtract.outer(left.sum(axis=1), right.sum(axis=1))),
                }[name]()
            total = total + product
        return total * B[np.ix_(a, d)]

    X, y = np.array(case["X"]), np.array(case["y"])
    l = case.get("components", [0] * len(y))
    K = kernel(X, l, X, l) + np.diag(np.broadcast_to(case["noise"], len(y)))
    factor = linalg.cho_factor(K, lower=True)
    one = np.ones(len(y))
    constant = 0.0
    if case["mean"] == "profiled":
        constant = one @ linalg.cho_solve(factor, y) / (one @ linalg.cho_solve(factor, one))
    alpha = linalg.cho_solve(factor, y - constant)

    def posterior(A, a):
        cross = kernel(A, a, X, l)
        variance = np.diag(kernel(A, a, A, a)) - np.sum(cross * linalg.cho_solve(factor, cross.T).T, axis=1)
        return constant + cross @ alpha, variance

    X_test = np.array(case["X_test"])
    mean, variance = posterior(X_test, case.get("components_test", [0] * len(X_test)))
    likelihood = stats.multivariate_normal(constant * one, K, allow_singular=False).logpdf(y)
    return constant, mean, variance, likelihood, posterior


def scipy_gradients(case, posterior, step=1e-5):
    at, moves = case["gradient_at"], np.eye(len(case["X"][0])) * step
    x, component = np.array(case["X_test"][at]), [case.get("components_test", [0] * 5)[at]] * len(moves)
    up, down = posterior(x + moves, component), posterior(x - moves, component)
    posterior_gradient = [(u - d) / (2 * step) for u, d in zip(up, down)]

    def likelihood(key, index, h, scaled):
        moved = json.loads(json.dumps(case))
        if key == "lengthscales":
            leaf, d = index
            moved[key][leaf][d] *= np.exp(h)
            return with_scipy(moved)[3]
        values = np.array(moved[key])
        values[index] = values[index] * np.exp(h) if scaled else values[index] + h
        moved[key] = values.tolist()
        return with_scipy(moved)[3]

    def slope(key, index, scaled=True):
        return (likelihood(key, index, step, scaled) - likelihood(key, index, -step, scaled)) / (2 * step)

    gradient = [slope("variances", i) for i in range(len(case["variances"]))]
    gradient += [slope("lengthscales", (i, d)) for i, row in enumerate(case["lengthscales"]) for d in range(len(row))]
    gradient += [slope("noise", ...)]
    gradient += [slope("t", i, scaled=False) for i in range(len(case.get("t", [])))]
    return posterior_gradient, gradient


def difference(ours, theirs):
    """The largest difference, relative to the largest figure where that is above one."""
    ours, theirs = np.array(ours, dtype=float), np.array(theirs, dtype=float)
    return float(np.max(np.abs(ours - theirs)) / max(1.0, np.max(np.abs(ours))))


def compare(case, figures, condition):
    """float64 loses about as many digits as the condition number has; differences of step 1e-5 lose more."""
    tolerance = 1e-13 + 1e-16 * float(condition) * 20
    found = {}
    constant, *theirs, posterior = with_scipy(case)
    names = ("mean", "variance", "log_marginal_likelihood")
    found["scipy"] = max(difference(figures[k], v) for k, v in zip(names, theirs))
    found["scipy"] = max(found["scipy"], difference(figures["constant"], constant))
    if "components" not in case and case["mean"] != "uncertain" and not re.search("[(]|cosine", case["kernel"]):
        theirs = with_sklearn(case, float(figures["constant"]))
        found["sklearn"] = max(difference(figures[k], v) for k, v in zip(names, theirs))
    for who, value in found.items():
        assert value <= tolerance, f"{case['name']}: {who} differs by {value:.1e}, more than {tolerance:.1e}"

    (mean, variance), likelihood = scipy_gradients(case, posterior)
    ours = figures["likelihood_gradient"]
    flat = ours["log_variances"] + sum(ours["log_lengthscales"], []) + [ours["log_noise"]] + ours.get("t", [])
    found["gradients"] = max(
        difference(figures["mean_gradient"], mean),
        difference(figures["variance_gradient"], variance),
        difference(flat, likelihood),
    )
    loose = 1e-6 + tolerance * 1e5
    assert found["gradients"] <= loose, f"{case['name']}: gradients differ by {found['gradients']:.1e}"
    return found


# ---------------------------------------------------------------- priors


def priors():
    """Log-densities of a parameter x and of its logarithm (the former plus log x), and the latter's slope in log x."""
    figures = []
    for shape, rate in ((3.0, 6.0), (2.0, 0.15)):
        for x in (1e-3, 0.05, 0.5, 1.0, 3.7, 25.0):
            a, b, z = mpf(shape), mpf(rate), mpf(x)
            density = a * mp.log(b) - mp.loggamma(a) + (a - 1) * mp.log(z) - b * z
            of_log = density + mp.log(z)
            assert difference(density, stats.gamma.logpdf(x, shape, scale=1 / rate)) < 1e-13
            assert difference(of_log, stats.loggamma.logpdf(np.log(rate * x), shape)) < 1e-13
            figures.append({"distribution": "gamma", "shape": shape, "rate": rate, "x": x, "log_density": density,
                            "log_density_of_log": of_log, "slope_of_log": a - b * z})
    for mu, sigma in ((0.0, 1.0), (-4.0, 1.5), (1.4, 0.3)):
        for x in (1e-4, 0.05, 1.0, 4.2, 25.0):
            m, s, z = mpf(mu), mpf(sigma), mpf(x)
            score = (mp.log(z) - m) / s
            of_log = -(score**2) / 2 - mp.log(s * mp.sqrt(2 * mp.pi))
            density = of_log - mp.log(z)
            assert difference(density, stats.lognorm.logpdf(x, sigma, scale=np.exp(mu))) < 1e-13
            assert difference(of_log, stats.norm.logpdf(np.log(x), mu, sigma)) < 1e-13
            figures.append({"distribution": "lognormal", "mu": mu, "sigma": sigma, "x": x, "log_density": density,
                            "log_density_of_log": of_log, "slope_of_log": -score / s})
    return figures


# ---------------------------------------------------------------- writing


def numbers_as_text(value, digits=17):
    """mpf as text that `unquote` turns into a number again, so that all 17 digits reach the file."""
    if isinstance(value, mpf):
        return "#" + mp.nstr(value, digits)
    if isinstance(value, dict):
        return {k: numbers_as_text(v, digits) for k, v in value.items()}
    return [numbers_as_text(v, digits) for v in value] if isinstance(value, list) else value


def layout(value, indent="", lead=0):
    """JSON with what fits on one line on one line, after `lead` characters of its key."""
    line = re.sub(r'"#([^"]*)"', r"\1", json.dumps(value, ensure_ascii=False))
    if len(indent) + lead + len(line) <= 118 or not isinstance(value, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(k)}: {layout(v, inner, len(k) + 5)}" for k, v in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    if all(not isinstance(v, (dict, list)) for v in value):
        rows, row = [], inner
        for i, part in enumerate(layout(v) + ("," if i + 1 < len(value) else "") for i, v in enumerate(value)):
            if len(row) + len(part) > 118:
                rows.append(row.rstrip())
                row = inner
            row += part + " "
        return "[\n" + "\n".join([*rows, row.rstrip()]) + f"\n{indent}]"
    return "[\n" + ",\n".join(inner + layout(v, inner) for v in value) + f"\n{indent}]"


def main():
    mp.dps = DIGITS
    cases = []
    for case in CASES:
        figures, condition = expected(case)
        found = compare(case, figures, condition)
        mp.dps = DIGITS + 30
        more = Exact(case).fit().log_marginal_likelihood()
        mp.dps = DIGITS
        assert abs(more - figures["log_marginal_likelihood"]) < mpf(10) ** -25, "50 digits are too few"
        print(f"{case['name']:40} condition {float(condition):.0e}  differences:",
              ", ".join(f"{who} {value:.0e}" for who, value in found.items()), file=sys.stderr, flush=True)
        cases.append({**case, "condition": f"#{float(condition):.1e}", "expected": numbers_as_text(figures)})

    about = "Made by make.py, which says how and defines every word; not to be edited by hand."
    text = layout({"about": about, "cases": cases, "priors": numbers_as_text(priors())}) + "\n"
    json.loads(text)
    if "--check" in sys.argv[1:]:
        if OUTPUT.read_text() != text:
            sys.exit(f"{OUTPUT.name} is not what make.py makes\nhint: run it without --check and look at the changes")
    else:
        OUTPUT.write_text(text)
    print(f"{len(cases)} cases, as in {OUTPUT.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
