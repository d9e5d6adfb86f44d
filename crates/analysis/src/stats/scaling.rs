//! How work grows with parallelism: speed-up, efficiency, and the laws that bound it.
//!
//! The Universal Scalability Law (Gunther 2007) says how much work N workers do:
//! X(N) = γN / (1 + α(N − 1) + βN(N − 1)), where γ is what one does alone, α the share that only
//! one can do at a time (contention) and β what it costs to agree with each other (coherency).
//! Amdahl's law is β = 0. Both are fitted as least squares of the work with α and β not below
//! zero, and bounded by a bootstrap of the residuals.

mod fit;

use super::random::Random;
use super::{Interval, Paired, quantile_of_sorted};
use fit::Face;

/// Fewer numbers of workers say too little to extrapolate from.
const FEW: usize = 6;

/// Residuals above this share of the mean work say that the law does not hold.
const POOR: f64 = 0.15;

/// Work that N workers did in a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// N: threads, clients, containers; above zero.
    pub workers: f64,
    /// X: work per time; above zero.
    pub work: f64,
}

/// A law of scaling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// γ: work of one alone, per time.
    pub gamma: f64,
    /// α: the share that only one can do at a time, 0 or more.
    pub alpha: f64,
    /// β: the cost of each pair's agreement, 0 or more.
    pub beta: f64,
}

impl Law {
    /// X(N).
    pub fn work(&self, workers: f64) -> f64 {
        self.gamma * workers / self.drag(workers)
    }

    fn drag(&self, n: f64) -> f64 {
        1.0 + self.alpha * (n - 1.0) + self.beta * n * (n - 1.0)
    }

    /// N* = √((1 − α) / β): beyond it more workers do less. `None` where there is no peak
    /// (β = 0) or one worker is already beyond it.
    pub fn peak(&self) -> Option<f64> {
        let square = (1.0 - self.alpha) / self.beta;
        (self.beta > 0.0 && square > 1.0).then(|| square.sqrt())
    }

    /// The most work there can be: at the peak, or γ / α that Amdahl's law comes near to.
    /// `None` where nothing bounds it.
    pub fn limit(&self) -> Option<f64> {
        match self.peak() {
            Some(peak) => Some(self.work(peak)),
            None if self.beta > 0.0 => Some(self.gamma),
            None => (self.alpha > 0.0).then(|| self.gamma / self.alpha),
        }
    }

    /// The knee: where work by the time a unit of it takes, X² / N, is greatest (Kleinrock
    /// 1979). Beyond it each further worker adds more waiting than work. It solves
    /// 3βN² + (α − β)N − (1 − α) = 0. `None` where there is none above one worker.
    pub fn knee(&self) -> Option<f64> {
        let (a, b, c) = (3.0 * self.beta, self.alpha - self.beta, self.alpha - 1.0);
        let root = if a > 0.0 {
            // Without cancelling, whichever sign b has.
            let q = (b * b - 4.0 * a * c).sqrt();
            if b >= 0.0 {
                -2.0 * c / (b + q)
            } else {
                (q - b) / (2.0 * a)
            }
        } else {
            -c / b
        };
        (root.is_finite() && root > 1.0).then_some(root)
    }
}

/// What is measured at one number of workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Their number.
    pub workers: f64,
    /// The middle of the work that was measured: the pseudomedian of its logarithms.
    pub work: f64,
    /// X(N) / X(1).
    pub speed_up: f64,
    /// X(N) / (N · X(1)).
    pub efficiency: f64,
}

/// The measured steps, by rising number of workers. Speed-up is against the least number that
/// was measured, whose own efficiency counts as 1: only if that is 1 is it X(1).
pub fn steps(points: &[Point]) -> Vec<Step> {
    let mut sorted: Vec<Point> = sound(points);
    sorted.sort_by(|a, b| a.workers.total_cmp(&b.workers));
    let same = sorted.chunk_by(|a, b| a.workers == b.workers);
    let of = |chunk: &[Point]| {
        let logs: Vec<f64> = chunk.iter().map(|p| p.work.ln()).collect();
        // The middle that arms are told with.
        (chunk[0].workers, Paired::new(&logs).estimate().exp())
    };
    let middles: Vec<(f64, f64)> = same.map(of).collect();
    let Some(&(first, alone)) = middles.first() else {
        return Vec::new();
    };
    let step = |(workers, work): (f64, f64)| Step {
        workers,
        work,
        speed_up: work / alone,
        efficiency: work / alone * first / workers,
    };
    middles.into_iter().map(step).collect()
}

/// Points that are numbers above zero.
fn sound(points: &[Point]) -> Vec<Point> {
    let is = |v: f64| v.is_finite() && v > 0.0;
    points
        .iter()
        .copied()
        .filter(|p| is(p.workers) && is(p.work))
        .collect()
}

/// Why a law must not be read beyond what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// So many numbers of workers; six are the least.
    FewSteps(usize),
    /// All measured numbers lie within that factor.
    NarrowRange(f64),
    /// The bounds of β reach zero: whether there is a peak is not known.
    CoherencyUnknown,
    /// The peak of the law lies beyond what was measured: the peak, and the most workers.
    PeakBeyond(f64, f64),
    /// More workers do more than in proportion: the law does not hold.
    MoreThanLinear,
    /// Residuals are typically that share of the work: the law does not hold.
    PoorFit(f64),
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Doubt::FewSteps(n) => write!(
                f,
                "{n} numbers of workers are too few to extrapolate: measure at least {FEW}"
            ),
            Doubt::NarrowRange(factor) => write!(
                f,
                "the numbers of workers span a factor of {factor:.1} only: spread them wider"
            ),
            Doubt::CoherencyUnknown => f.write_str(
                "the data cannot tell a cost of coherency (beta) from none: whether there is a \
                 peak is not known",
            ),
            Doubt::PeakBeyond(peak, most) => write!(
                f,
                "the peak at {peak:.1} lies beyond the {most:.0} workers that were measured: it \
                 is a guess until measured"
            ),
            Doubt::MoreThanLinear => f.write_str(
                "work grows more than in proportion to the workers, which neither law can: caches \
                 that fit, or too little work for few",
            ),
            Doubt::PoorFit(share) => write!(
                f,
                "the law is typically off by {:.0} %: it does not describe these data",
                share * 100.0
            ),
        }
    }
}

/// Bounds of 95 %, from a bootstrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Of γ.
    pub gamma: Interval,
    /// Of α.
    pub alpha: Interval,
    /// Of β.
    pub beta: Interval,
    /// Of the peak; infinite where a draw had none.
    pub peak: Interval,
    /// Of the knee; likewise.
    pub knee: Interval,
}

/// Laws fitted to what was measured.
#[derive(Clone, Debug)]
pub struct Scaling {
    /// The Universal Scalability Law.
    pub usl: Law,
    /// Amdahl's law: β = 0.
    pub amdahl: Law,
    /// Bounds of the first; `None` with fewer than four numbers of workers.
    pub bounds: Option<Bounds>,
    /// Standard deviation of the residuals of the first, in units of work.
    pub residual: f64,
    /// Why it must not be trusted beyond the data.
    pub doubts: Vec<Doubt>,
}

/// Why no law can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLaw {
    /// Fewer than three numbers of workers.
    #[error("a law of scaling needs at least three numbers of workers; {0} were measured")]
    Few(usize),
}

/// Fits both laws, with bounds from `draws` (2,000) resamplings by `seed`. Points that are no
/// numbers above zero are left out; several of one number of workers are several runs.
///
/// # Errors
/// With fewer than three numbers of workers.
pub fn scaling(points: &[Point], draws: usize, seed: u64) -> Result<Scaling, NoLaw> {
    let points = sound(points);
    let steps = steps(&points);
    if steps.len() < 3 {
        return Err(NoLaw::Few(steps.len()));
    }
    let usl = fit::best(&points, &Face::ALL);
    let amdahl = fit::best(&points, &Face::AMDAHL);
    let residuals: Vec<f64> = points
        .iter()
        .map(|p| p.work - usl.work(p.workers))
        .collect();
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let free = points.len().saturating_sub(3).max(1) as f64;
    let bounds =
        (steps.len() > 3 && draws > 0).then(|| bootstrap(&points, &usl, &residuals, draws, seed));
    let residual = (squares / free).sqrt();
    Ok(Scaling {
        doubts: doubts(&steps, &usl, bounds.as_ref(), residual),
        usl,
        amdahl,
        bounds,
        residual,
    })
}

/// Refits to the law plus or minus each point's own residual, by a random sign (the wild
/// bootstrap: Wu 1986): runs of more work differ by more, and a residual drawn from another
/// point would not tell that. Each is widened by what the fit took of it (HC3: `MacKinnon` and
/// White 1985).
fn bootstrap(points: &[Point], law: &Law, residuals: &[f64], draws: usize, seed: u64) -> Bounds {
    let taken = fit::leverages(points, law);
    let wide = |(residual, taken): (&f64, f64)| residual / (1.0 - taken).max(0.1);
    let residuals: Vec<f64> = residuals.iter().zip(taken).map(wide).collect();
    let mut random = Random::new(seed);
    let mut again = points.to_vec();
    let mut found: [Vec<f64>; 5] = std::array::from_fn(|_| Vec::with_capacity(draws));
    for _ in 0..draws {
        for ((new, point), residual) in again.iter_mut().zip(points).zip(&residuals) {
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            new.work = (law.work(point.workers) + sign * residual).max(0.0);
        }
        let drawn = fit::best(&again, &Face::ALL);
        let none = f64::INFINITY;
        let (peak, knee) = (drawn.peak().unwrap_or(none), drawn.knee().unwrap_or(none));
        for (list, value) in
            found
                .iter_mut()
                .zip([drawn.gamma, drawn.alpha, drawn.beta, peak, knee])
        {
            list.push(value);
        }
    }
    let [gamma, alpha, beta, peak, knee] = found.map(|mut values| {
        values.sort_by(f64::total_cmp);
        Interval {
            low: quantile_of_sorted(&values, 0.025),
            high: quantile_of_sorted(&values, 0.975),
        }
    });
    Bounds {
        gamma,
        alpha,
        beta,
        peak,
        knee,
    }
}

fn doubts(steps: &[Step], law: &Law, bounds: Option<&Bounds>, residual: f64) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let [first, .., last] = steps else {
        return doubts;
    };
    if steps.len() < FEW {
        doubts.push(Doubt::FewSteps(steps.len()));
    }
    let span = last.workers / first.workers;
    if span < 4.0 {
        doubts.push(Doubt::NarrowRange(span));
    }
    // What costs the largest step less than a ten-thousandth of its work is none.
    let nothing = 1e-4 / last.workers.powi(2);
    if bounds.is_none_or(|b| b.beta.low <= nothing) {
        doubts.push(Doubt::CoherencyUnknown);
    }
    if let Some(peak) = law.peak().filter(|p| *p > last.workers) {
        doubts.push(Doubt::PeakBeyond(peak, last.workers));
    }
    if law.alpha == 0.0 && law.beta == 0.0 && last.efficiency > 1.05 {
        doubts.push(Doubt::MoreThanLinear);
    }
    let work = steps.iter().map(|s| s.work).sum::<f64>() / steps.len() as f64;
    let off = residual / work;
    if off > POOR {
        doubts.push(Doubt::PoorFit(off));
    }
    doubts
}

#[cfg(test)]
mod tests;
