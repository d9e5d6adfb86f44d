//! The hierarchical bootstrap: how an estimate varies, told by the runs and by what is in them.
//!
//! Blocks (without blocks: runs) are drawn with replacement, and in each run that was drawn its
//! batches again with replacement (Kalibera and Jones 2013).
//!
//! Percentiles of draws are too narrow for few blocks: of 12, those of 95 % hold the truth in
//! 90 %. So they are widened as an interval of Student's t is against one of the normal
//! distribution (the expanded percentile interval: Hesterberg 2015). Below [`LEAST_BLOCKS`]
//! blocks the ranks and Student's t are asked instead.

use super::distributions::{normal, student};
use super::random::Random;
use super::{Interval, deviation, quantile_of_sorted};

/// Fewer blocks than this have no bootstrap interval.
pub const LEAST_BLOCKS: usize = 10;

/// Draws of an interval.
pub const DRAWS: usize = 10_000;

/// Draws that share a generator. A draw does not depend on how many threads there are.
const CHUNK: usize = 250;

/// What a run is made of: batches (stretches of it) that are nearly independent.
#[derive(Clone, Debug, PartialEq)]
pub enum Batches {
    /// A mean each; the run's number is the mean of them.
    Means(Vec<f64>),
    /// A distribution each; the run's numbers are quantiles of their sum.
    Spreads(Spreads),
}

/// Distributions of the batches of a run over common buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreads {
    /// The value that stands for each bucket, rising.
    values: Vec<f64>,
    /// How many events each batch has up to and with each bucket; a row a bucket.
    reached: Vec<f64>,
    batches: usize,
}

impl Spreads {
    /// From the value of each bucket (rising) and the events of each batch in each bucket. A
    /// batch with another number of buckets is filled up with none, or cut.
    pub fn new(values: Vec<f64>, counts: &[Vec<f64>]) -> Spreads {
        let batches = counts.len();
        let mut reached = Vec::with_capacity(values.len() * batches);
        let mut sums = vec![0.0; batches];
        for bucket in 0..values.len() {
            for (sum, batch) in sums.iter_mut().zip(counts) {
                let count = batch.get(bucket).copied().unwrap_or(0.0);
                *sum += if count > 0.0 { count } else { 0.0 };
                reached.push(*sum);
            }
        }
        Spreads {
            values,
            reached,
            batches,
        }
    }

    /// Events up to a bucket, where each batch counts so often.
    fn up_to(&self, bucket: usize, times: &[f64]) -> f64 {
        let from = bucket * self.batches;
        let row = &self.reached[from..from + self.batches];
        row.iter().zip(times).map(|(r, t)| r * t).sum()
    }

    /// The quantile, where each batch counts so often; NaN without events.
    fn quantile(&self, q: f64, times: &[f64]) -> f64 {
        let Some(last) = self.values.len().checked_sub(1) else {
            return f64::NAN;
        };
        let all = self.up_to(last, times);
        if all <= 0.0 {
            return f64::NAN;
        }
        // The product may be a rounding error above a whole number.
        let rank = q * all * (1.0 - 1e-14);
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.up_to(middle, times) >= rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        self.values[low]
    }
}

impl Batches {
    fn count(&self) -> usize {
        match self {
            Batches::Means(means) => means.len(),
            Batches::Spreads(spreads) => spreads.batches,
        }
    }

    /// The run's number, where each batch counts so often.
    fn number(&self, q: f64, times: &[f64]) -> f64 {
        match self {
            Batches::Means(means) => {
                let sum: f64 = means.iter().zip(times).map(|(m, t)| m * t).sum();
                sum / times.iter().sum::<f64>()
            }
            Batches::Spreads(spreads) => spreads.quantile(q, times),
        }
    }
}

/// The runs that are compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Runs {
    /// A run of A and one of B in each block.
    Blocks(Vec<[Batches; 2]>),
    /// Runs of A, and runs of B, without blocks.
    Sides([Vec<Batches>; 2]),
}

/// A run with what it weighs in the mean of B less the mean of A.
type Weighed<'r> = (&'r Batches, f64);

impl Runs {
    /// Blocks, or runs of the smaller side.
    fn count(&self) -> usize {
        match self {
            Runs::Blocks(blocks) => blocks.len(),
            Runs::Sides([a, b]) => a.len().min(b.len()),
        }
    }

    /// Every run once.
    fn all(&self) -> Vec<Weighed<'_>> {
        let mut all = Vec::new();
        self.choose(&mut all, |i, _| i);
        all
    }

    /// Blocks, or runs of each side, that `choose` picks: from a place and how many there are.
    fn choose<'r>(
        &'r self,
        chosen: &mut Vec<Weighed<'r>>,
        mut choose: impl FnMut(usize, usize) -> usize,
    ) {
        chosen.clear();
        match self {
            Runs::Blocks(blocks) => {
                let n = blocks.len();
                for i in 0..n {
                    let [a, b] = &blocks[choose(i, n)];
                    chosen.extend([(a, -1.0 / n as f64), (b, 1.0 / n as f64)]);
                }
            }
            Runs::Sides(sides) => {
                for (side, sign) in sides.iter().zip([-1.0, 1.0]) {
                    let n = side.len();
                    chosen.extend((0..n).map(|i| (&side[choose(i, n)], sign / n as f64)));
                }
            }
        }
    }
}

/// Differences of logarithms (B less A) at several quantiles, as they vary from draw to draw.
#[derive(Clone, Debug)]
pub struct Draws {
    /// The differences as measured, a quantile each.
    measured: Vec<f64>,
    /// The same of each draw, a list a quantile.
    drawn: Vec<Vec<f64>>,
    /// Blocks, or runs of the smaller side.
    units: f64,
    /// Degrees of freedom.
    freedom: f64,
}

/// Draws `draws` times from the runs by `seed`, on so many threads: the mean of log B less that
/// of log A, at each of the quantiles. Runs of means have the same number at all.
///
/// `None` with fewer than [`LEAST_BLOCKS`] blocks (or runs of a side), without batches in some
/// run, or where a difference has no number.
pub fn bootstrap(
    runs: &Runs,
    quantiles: &[f64],
    draws: usize,
    seed: u64,
    threads: usize,
) -> Option<Draws> {
    let all = runs.all();
    if runs.count() < LEAST_BLOCKS || all.iter().any(|r| r.0.count() == 0) || draws == 0 {
        return None;
    }
    let measured_at = |q: &f64| -> f64 {
        let number = |run: &Batches| run.number(*q, &vec![1.0; run.count()]).ln();
        all.iter().map(|(run, weight)| weight * number(run)).sum()
    };
    let measured: Vec<f64> = quantiles.iter().map(measured_at).collect();
    if measured.iter().any(|m| !m.is_finite()) {
        return None;
    }
    let chunks = draws.div_ceil(CHUNK);
    let threads = threads.clamp(1, chunks);
    let one = |chunk: usize| {
        let many = CHUNK.min(draws - chunk * CHUNK);
        chunk_of(runs, quantiles, many, &mut Random::new(seed ^ mixed(chunk)))
    };
    let one = &one;
    let parts: Vec<Vec<Vec<f64>>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|t| scope.spawn(move || (t..chunks).step_by(threads).map(one).collect()))
            .collect();
        running
            .into_iter()
            .map(|r| r.join().unwrap_or_default())
            .collect()
    });
    let mut drawn = vec![Vec::with_capacity(draws); quantiles.len()];
    for chunk in 0..chunks {
        let rows = parts.get(chunk % threads)?.get(chunk / threads)?;
        for row in rows.chunks(quantiles.len().max(1)) {
            drawn
                .iter_mut()
                .zip(row)
                .for_each(|(list, v)| list.push(*v));
        }
    }
    let units = runs.count() as f64;
    Some(Draws {
        measured,
        drawn,
        units,
        freedom: match runs {
            Runs::Blocks(_) => units - 1.0,
            Runs::Sides([a, b]) => (a.len() + b.len() - 2) as f64,
        },
    })
}

/// Seeds of chunks far from each other.
fn mixed(chunk: usize) -> u64 {
    (chunk as u64 + 1).wrapping_mul(0xd134_2543_de82_ef95)
}

/// Some draws: a number a quantile, draw after draw.
fn chunk_of(runs: &Runs, quantiles: &[f64], draws: usize, random: &mut Random) -> Vec<f64> {
    let mut out = Vec::with_capacity(draws * quantiles.len());
    let (mut times, mut chosen) = (Vec::new(), Vec::new());
    for _ in 0..draws {
        let from = out.len();
        out.resize(from + quantiles.len(), 0.0);
        runs.choose(&mut chosen, |_, n| random.below(n));
        for (run, weight) in &chosen {
            times.clear();
            times.resize(run.count(), 0.0);
            for _ in 0..run.count() {
                times[random.below(run.count())] += 1.0;
            }
            for (sum, q) in out[from..].iter_mut().zip(quantiles) {
                *sum += weight * run.number(*q, &times).ln();
            }
        }
    }
    out
}

impl Draws {
    /// The differences as measured, a quantile each.
    pub fn measured(&self) -> &[f64] {
        &self.measured
    }

    /// How much wider than percentiles an interval is.
    fn wider(&self, confidence: f64) -> f64 {
        let tail = (1.0 - confidence) / 2.0;
        (self.units / (self.units - 1.0)).sqrt() * student(self.freedom, tail) / normal(tail)
    }

    /// The expanded percentile interval of each quantile, each at this confidence.
    pub fn intervals(&self, confidence: f64) -> Vec<Interval> {
        let tail = (1.0 - confidence) / 2.0;
        let wider = self.wider(confidence);
        let of = |(list, middle): (&Vec<f64>, &f64)| {
            let mut sorted = known(list);
            sorted.sort_by(f64::total_cmp);
            let end = |q: f64| middle + wider * (quantile_of_sorted(&sorted, q) - middle);
            Interval {
                low: end(tail),
                high: end(1.0 - tail),
            }
        };
        self.drawn.iter().zip(&self.measured).map(of).collect()
    }

    /// The simultaneous band: it holds the true differences of all quantiles together at this
    /// confidence. Each is as many of its own standard errors wide as the largest deviation of
    /// any quantile in a draw is, at that confidence (max-t).
    pub fn band(&self, confidence: f64) -> Vec<Interval> {
        let errors: Vec<f64> = self.drawn.iter().map(|l| deviation(&known(l))).collect();
        let draws = self.drawn.first().map_or(0, Vec::len);
        let off = |draw: usize| {
            let each = self.drawn.iter().zip(&self.measured).zip(&errors);
            each.map(|((list, middle), error)| (list[draw] - middle).abs() / error)
                .filter(|v| v.is_finite())
                .fold(0.0, f64::max)
        };
        let mut largest: Vec<f64> = (0..draws).map(off).collect();
        largest.sort_by(f64::total_cmp);
        let times = self.wider(confidence) * quantile_of_sorted(&largest, confidence);
        let of = |(middle, error): (&f64, &f64)| Interval {
            low: middle - times * error,
            high: middle + times * error,
        };
        self.measured.iter().zip(&errors).map(of).collect()
    }
}

fn known(list: &[f64]) -> Vec<f64> {
    list.iter().copied().filter(|v| v.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(random: &mut Random, level: f64) -> Batches {
        let run = level * (1.0 + 0.02 * random.normal());
        Batches::Means(
            (0..20)
                .map(|_| run * (1.0 + 0.01 * random.normal()))
                .collect(),
        )
    }

    fn blocks(n: usize, ratio: f64) -> Vec<[Batches; 2]> {
        let mut random = Random::new(5);
        (0..n)
            .map(|_| [100.0, 100.0 * ratio].map(|level| means(&mut random, level)))
            .collect()
    }

    fn drawn(blocks: &[[Batches; 2]], quantiles: &[f64], draws: usize) -> Option<Draws> {
        bootstrap(&Runs::Blocks(blocks.to_vec()), quantiles, draws, 1, 2)
    }

    #[test]
    fn the_same_seed_draws_the_same_on_any_number_of_threads() {
        let blocks = Runs::Blocks(blocks(12, 1.1));
        let of = |seed, threads| bootstrap(&blocks, &[0.5], 1100, seed, threads).unwrap();
        assert_eq!(of(1, 1).drawn, of(1, 3).drawn);
        assert_eq!(of(1, 1).drawn[0].len(), 1100);
        assert_ne!(of(1, 2).drawn, of(2, 2).drawn);
    }

    #[test]
    fn the_interval_is_about_that_of_students_t() {
        let blocks = blocks(30, 1.1);
        let draws = drawn(&blocks, &[0.5], 4000).unwrap();
        let found = draws.intervals(0.95)[0];
        assert!(found.holds(1.1_f64.ln()), "{found:?}");
        // Of 30 blocks with a deviation of 2.9 %: plus and minus 1.06 %.
        let width = found.high - found.low;
        assert!((0.014..0.028).contains(&width), "{width}");
        let band = draws.band(0.95)[0];
        assert!((band.high - band.low - width).abs() < 0.2 * width);
        // The same runs without their blocks: nothing was common to the runs of a block.
        let (a, b) = blocks.into_iter().map(|[a, b]| (a, b)).unzip();
        let sides = bootstrap(&Runs::Sides([a, b]), &[0.5], 4000, 1, 2).unwrap();
        assert!((sides.measured()[0] - draws.measured()[0]).abs() < 1e-12);
        let apart = sides.intervals(0.95)[0];
        assert!(
            ((apart.high - apart.low) / width - 1.0).abs() < 0.3,
            "{apart:?}"
        );
    }

    #[test]
    fn quantiles_of_batches_are_those_of_all_their_events() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let even = vec![1.0; 100];
        let low: Vec<f64> = (1..=100)
            .map(|v| if v <= 10 { 10.0 } else { 0.0 })
            .collect();
        let spreads = Spreads::new(values, &[even, low]);
        for (q, wanted) in [(0.5, 50.0), (0.99, 99.0), (0.999, 100.0)] {
            assert_eq!(spreads.quantile(q, &[1.0, 0.0]), wanted);
        }
        // Both: 11 events at each of 1 to 10, one at the others.
        assert_eq!(spreads.quantile(0.5, &[1.0, 1.0]), 10.0);
        assert_eq!(spreads.quantile(0.9, &[1.0, 1.0]), 80.0);
        assert_eq!(spreads.quantile(0.5, &[0.0, 2.0]), 5.0);
        assert!(spreads.quantile(0.5, &[0.0, 0.0]).is_nan());
    }

    #[test]
    fn too_little_is_refused() {
        assert!(drawn(&blocks(9, 1.0), &[0.5], 100).is_none());
        assert!(drawn(&[], &[0.5], 100).is_none());
        let mut some = blocks(12, 1.0);
        assert!(drawn(&some, &[], 100).is_some_and(|d| d.band(0.95).is_empty()));
        assert!(drawn(&some, &[0.5], 0).is_none());
        for odd in [
            Batches::Means(vec![]),
            Batches::Means(vec![0.0; 20]),
            Batches::Means(vec![f64::NAN; 20]),
            Batches::Spreads(Spreads::new(vec![], &[vec![], vec![]])),
        ] {
            some[3][0] = odd;
            assert!(drawn(&some, &[0.5], 100).is_none());
        }
    }
}
