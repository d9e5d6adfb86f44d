//! Least squares of the work, with α and β not below zero.

use super::{Law, Point};

/// Steps of Gauss and Newton at most; a fit that converges needs about ten.
const STEPS: usize = 60;

/// Which parameters are free; the others are zero.
///
/// The least squares under α, β ≥ 0 lie inside or on a face of that quadrant: each face is
/// fitted without bounds, and the best of those that came out in the quadrant is the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Face {
    alpha: bool,
    beta: bool,
}

const fn face(alpha: bool, beta: bool) -> Face {
    Face { alpha, beta }
}

impl Face {
    /// The Universal Scalability Law.
    pub(super) const ALL: [Face; 4] = [
        face(false, false),
        face(true, false),
        face(false, true),
        face(true, true),
    ];
    /// Amdahl's law.
    pub(super) const AMDAHL: [Face; 2] = [face(false, false), face(true, false)];

    /// Keeps the free ones of γ, α and β, in this order.
    fn free(self, all: [f64; 3]) -> [f64; 3] {
        let keep = |free: bool, v: f64| if free { v } else { 0.0 };
        [all[0], keep(self.alpha, all[1]), keep(self.beta, all[2])]
    }
}

/// The law of least squares on those faces.
pub(super) fn best(points: &[Point], faces: &[Face]) -> Law {
    let mut best: Option<(f64, Law)> = None;
    for face in faces {
        let law = on(points, *face);
        let error = squares(points, &law);
        let better = best.as_ref().is_none_or(|b| error < b.0);
        if law.alpha >= 0.0 && law.beta >= 0.0 && error.is_finite() && better {
            best = Some((error, law));
        }
    }
    // The first face, a line, always has an answer: γ is a ratio of sums.
    best.map_or(linear(points), |b| b.1)
}

fn squares(points: &[Point], law: &Law) -> f64 {
    points
        .iter()
        .map(|p| (p.work - law.work(p.workers)).powi(2))
        .sum()
}

/// Least squares of X = γN.
fn linear(points: &[Point]) -> Law {
    let above: f64 = points.iter().map(|p| p.work * p.workers).sum();
    let below: f64 = points.iter().map(|p| p.workers * p.workers).sum();
    Law {
        gamma: above / below,
        alpha: 0.0,
        beta: 0.0,
    }
}

/// Least squares on a face without bounds: Gauss and Newton, damped as Levenberg and Marquardt
/// did, from where the transformed law begins.
fn on(points: &[Point], face: Face) -> Law {
    let mut law = if face.alpha || face.beta {
        start(points, face)
    } else {
        return linear(points);
    };
    let mut error = squares(points, &law);
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let (hessian, gradient) = normal_equations(points, &law, face);
        let mut damped = hessian;
        for (i, row) in damped.iter_mut().enumerate() {
            row[i] = if row[i] > 0.0 {
                row[i] * (1.0 + damping)
            } else {
                1.0
            };
        }
        let Some(step) = solve(damped, gradient) else {
            break;
        };
        let next = Law {
            gamma: law.gamma + step[0],
            alpha: law.alpha + step[1],
            beta: law.beta + step[2],
        };
        let after = squares(points, &next);
        // Beyond a pole of the law there is work below zero.
        let real = points.iter().all(|p| next.work(p.workers) > 0.0);
        if real && after <= error {
            let done = error - after <= 1e-14 * error;
            (law, error, damping) = (next, after, (damping / 10.0).max(1e-12));
            if done {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e12 {
                break;
            }
        }
    }
    law
}

/// Where to begin: N / X = (1 + α(N − 1) + βN(N − 1)) / γ is linear in 1/γ, α/γ and β/γ. Each
/// point weighs X⁴ / N², so that errors are those of X.
fn start(points: &[Point], face: Face) -> Law {
    let mut matrix = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for p in points {
        let (n, x) = (p.workers, p.work);
        let row = face.free([1.0, n - 1.0, n * (n - 1.0)]);
        let weight = x.powi(4) / (n * n);
        for i in 0..3 {
            right[i] += weight * row[i] * n / x.max(f64::MIN_POSITIVE);
            for j in 0..3 {
                matrix[i][j] += weight * row[i] * row[j];
            }
        }
    }
    for (i, row) in matrix.iter_mut().enumerate() {
        if row[i] == 0.0 {
            row[i] = 1.0;
        }
    }
    match solve(matrix, right) {
        Some([inverse, a, b]) if inverse > 0.0 => {
            let law = Law {
                gamma: 1.0 / inverse,
                alpha: a / inverse,
                beta: b / inverse,
            };
            let real = points.iter().all(|p| law.work(p.workers) > 0.0);
            if real { law } else { linear(points) }
        }
        _ => linear(points),
    }
}

/// How much of each point's residual the fit takes to itself (the diagonal of the hat matrix),
/// 0 to 1.
pub(super) fn leverages(points: &[Point], law: &Law) -> Vec<f64> {
    let face = face(law.alpha > 0.0, law.beta > 0.0);
    let (mut hessian, _) = normal_equations(points, law, face);
    for (i, row) in hessian.iter_mut().enumerate() {
        if row[i] == 0.0 {
            row[i] = 1.0;
        }
    }
    let of = |p: &Point| {
        let slope = slope(p.workers, law, face);
        let solved = solve(hessian, slope).unwrap_or_default();
        let taken: f64 = slope.iter().zip(solved).map(|(a, b)| a * b).sum();
        taken.clamp(0.0, 1.0)
    };
    points.iter().map(of).collect()
}

/// The derivatives of the work by γ, α and β; zero by those that are not free.
fn slope(n: f64, law: &Law, face: Face) -> [f64; 3] {
    let (work, drag) = (law.work(n), law.drag(n));
    face.free([
        work / law.gamma,
        -work * (n - 1.0) / drag,
        -work * n * (n - 1.0) / drag,
    ])
}

/// The sums of products of the derivatives by γ, α and β, and of each with the residuals.
fn normal_equations(points: &[Point], law: &Law, face: Face) -> ([[f64; 3]; 3], [f64; 3]) {
    let mut hessian = [[0.0; 3]; 3];
    let mut gradient = [0.0; 3];
    for p in points {
        let slope = slope(p.workers, law, face);
        let residual = p.work - law.work(p.workers);
        for i in 0..3 {
            gradient[i] += slope[i] * residual;
            for j in 0..3 {
                hessian[i][j] += slope[i] * slope[j];
            }
        }
    }
    (hessian, gradient)
}

/// Solves a symmetric system of three, scaled to a diagonal of ones; `None` if it is singular.
fn solve(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> Option<[f64; 3]> {
    let scale: [f64; 3] = std::array::from_fn(|i| matrix[i][i].sqrt());
    if scale.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
        return None;
    }
    for i in 0..3 {
        right[i] /= scale[i];
        for j in 0..3 {
            matrix[i][j] /= scale[i] * scale[j];
        }
    }
    for i in 0..3 {
        let pivot = (i..3).max_by(|a, b| matrix[*a][i].abs().total_cmp(&matrix[*b][i].abs()))?;
        if matrix[pivot][i].abs() < 1e-14 {
            return None;
        }
        matrix.swap(i, pivot);
        right.swap(i, pivot);
        for below in i + 1..3 {
            let share = matrix[below][i] / matrix[i][i];
            let above = matrix[i];
            for (entry, value) in matrix[below].iter_mut().zip(above) {
                *entry -= share * value;
            }
            right[below] -= share * right[i];
        }
    }
    for i in (0..3).rev() {
        let known: f64 = (i + 1..3).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    let found: [f64; 3] = std::array::from_fn(|i| right[i] / scale[i]);
    found.iter().all(|v| v.is_finite()).then_some(found)
}
