//! Before anything is measured: can so many blocks decide at all, and how many would?

use super::distributions::student;

/// What may happen by chance in one of twenty comparisons of equals.
pub const LEVEL: f64 = 0.05;

/// No plan is for more blocks than this.
const MOST: usize = 100_000;

/// Smallest two-sided chance that the signed ranks of so many blocks can give: all of one sign.
/// 1 of none.
pub fn smallest_of_blocks(blocks: usize) -> f64 {
    (2.0 * 0.5_f64.powf(blocks as f64)).min(1.0)
}

/// Smallest two-sided chance that the ranks of so many runs of A and of B can give without
/// blocks: all of one above all of the other. 1 without runs of both.
pub fn smallest_of_runs(a: usize, b: usize) -> f64 {
    // One of the ways to choose who is B: a + b over b, a factor at a time.
    let few = a.min(b);
    let ways: f64 = (1..=few)
        .map(|i| (a + b - few + i) as f64 / i as f64)
        .product();
    (2.0 / ways).min(1.0)
}

/// The same of aligned ranks ([`super::Aligned`]) of so many blocks with so many runs each, one
/// of them the arm's: it is the extreme one in every block.
pub fn smallest_of_aligned(blocks: usize, runs: usize) -> f64 {
    (2.0 * (runs.max(1) as f64).powf(-(blocks as f64))).min(1.0)
}

/// The least blocks that can decide at 5 % where so many questions are asked at once (Holm: the
/// surest of them is multiplied by all). A contrast of two arms by one metric is a question.
pub fn least_blocks(questions: usize) -> usize {
    least(questions, smallest_of_blocks)
}

/// The same where the baseline runs twice in each block ([`super::Blocked`]): never fewer than
/// could show that the baseline differs from itself.
pub fn least_doubled(questions: usize) -> usize {
    least(questions, |n| smallest_of_aligned(n, 3)).max(least_blocks(1))
}

/// The least runs of each side that can decide without blocks.
pub fn least_runs(questions: usize) -> usize {
    least(questions, |n| smallest_of_runs(n, n))
}

fn least(questions: usize, smallest: impl Fn(usize) -> f64) -> usize {
    let level = LEVEL / questions.max(1) as f64;
    (1..MOST).find(|n| smallest(*n) <= level).unwrap_or(MOST)
}

/// Blocks after which a difference of logarithms is likely (80 %) found at 5 %, if differences
/// of blocks have that spread (standard deviation) and so many questions are asked; never fewer
/// than can decide. `None` where the spread is not known, there is no difference to find, or
/// more than 100,000 blocks would be needed.
pub fn blocks_to_find(difference: f64, spread: f64, questions: usize) -> Option<usize> {
    enough(difference, spread, least_blocks(questions), questions)
}

/// Now and then an arm that is spread alike does not look so, and is judged by signed ranks, which
/// need more: without this, 71 % are found and not 80 (cells `found.try.planned`).
const UNLIKE_NOW_AND_THEN: f64 = 1.08;

/// The same where the baseline runs twice in each block; `spread` is that of an arm less the mean
/// of its two baselines. More runs tell what the noise is, so that fewer are needed.
pub fn doubled_to_find(difference: f64, spread: f64, questions: usize) -> Option<usize> {
    // Of three runs a block, one is spent on the block's level.
    let factor = |n: usize| UNLIKE_NOW_AND_THEN * factor_with((2 * n - 1) as f64, questions);
    enough_with(difference, spread, least_doubled(questions), factor)
}

/// The smallest difference of logarithms that so many blocks likely (80 %) find, with that
/// spread of their differences. Infinite where they can find none.
pub fn smallest_to_find(blocks: usize, spread: f64, questions: usize) -> f64 {
    if blocks < least_blocks(questions) || spread.is_nan() {
        return f64::INFINITY;
    }
    factor(blocks, questions) * spread / (blocks as f64).sqrt()
}

/// How many standard errors a difference needs to have for 80 %: of Student's t, and a little
/// more for ranks, which need pi / 3 of its runs.
fn factor(runs: usize, questions: usize) -> f64 {
    factor_with((runs - 1) as f64, questions)
}

fn factor_with(freedom: f64, questions: usize) -> f64 {
    let tail = LEVEL / 2.0 / questions.max(1) as f64;
    (student(freedom, tail) + student(freedom, 0.2)) * (std::f64::consts::PI / 3.0).sqrt()
}

/// Numbers of that spread whose mean is found to differ from zero by that much in 80 of 100
/// cases, and at least `least`.
pub(super) fn enough(
    difference: f64,
    spread: f64,
    least: usize,
    questions: usize,
) -> Option<usize> {
    enough_with(difference, spread, least, |n| factor(n, questions))
}

/// The same, where `factor` says how many standard errors so many runs need.
fn enough_with(
    difference: f64,
    spread: f64,
    least: usize,
    factor: impl Fn(usize) -> f64,
) -> Option<usize> {
    if spread.is_nan() || difference == 0.0 || !difference.is_finite() {
        return None;
    }
    let needed = |n: usize| (factor(n) * spread / difference).powi(2);
    // With more runs t is smaller: from few on, this comes down to what is needed, and stays.
    let mut runs = least.max(2);
    for _ in 0..50 {
        let more = needed(runs).ceil();
        if more <= runs as f64 {
            break;
        }
        if more > MOST as f64 {
            return None;
        }
        // Half way: what is needed of so many is more than of the right number.
        let next = usize::midpoint(runs, more as usize);
        runs = if next > runs { next } else { runs + 1 };
    }
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_chances_are_those_of_the_tables() {
        for (n, blocks) in [
            (4, 0.125),
            (6, 0.031_25),
            (8, 0.007_812_5),
            (10, 0.001_953_125),
        ] {
            assert_eq!(smallest_of_blocks(n), blocks);
        }
        for (n, ways) in [(4, 70.0), (5, 252.0), (6, 924.0), (8, 12870.0)] {
            assert!((smallest_of_runs(n, n) - 2.0 / ways).abs() < 1e-15, "{n}");
        }
        assert_eq!((smallest_of_blocks(0), smallest_of_runs(0, 9)), (1.0, 1.0));
        assert_eq!(smallest_of_runs(1, 2), 2.0 / 3.0);
        assert!(smallest_of_blocks(5000) >= 0.0);
        // Two runs a block are pairs; with a second baseline four blocks can decide.
        assert_eq!(smallest_of_aligned(8, 2), smallest_of_blocks(8));
        assert!(smallest_of_aligned(4, 3) < LEVEL && smallest_of_aligned(3, 3) > LEVEL);
        assert_eq!(smallest_of_aligned(4, 0), 1.0);
    }

    #[test]
    fn three_blocks_never_decide_and_six_questions_need_eight() {
        assert_eq!(
            (least_blocks(1), least_blocks(0), least_blocks(6)),
            (6, 6, 8)
        );
        assert_eq!((least_runs(1), least_runs(2), least_runs(6)), (4, 5, 5));
    }

    #[test]
    fn a_second_baseline_needs_fewer_blocks_but_never_fewer_than_it_can_speak() {
        assert_eq!((least_doubled(1), least_doubled(16)), (6, 6));
        assert!(least_doubled(100) < least_blocks(100));
        let of_pairs = blocks_to_find(0.05, 0.03 * 2_f64.sqrt(), 1).unwrap();
        let doubled = doubled_to_find(0.05, 0.03 * 1.5_f64.sqrt(), 1).unwrap();
        assert!(doubled < of_pairs, "{doubled}, {of_pairs}");
        assert_eq!(doubled_to_find(1.0, 0.03, 1), Some(6));
        assert_eq!(doubled_to_find(0.0, 0.03, 1), None);
    }

    #[test]
    fn smaller_differences_need_more_blocks() {
        let of = |d: f64| blocks_to_find(d, 0.03, 1);
        assert_eq!(of(1.0), Some(6));
        assert!(of(0.01) > of(0.02) && of(0.02) > of(0.05));
        assert_eq!((of(0.0), of(f64::NAN), of(1e-9)), (None, None, None));
        assert_eq!(blocks_to_find(0.1, f64::NAN, 1), None);
        assert!(blocks_to_find(0.02, 0.03, 6) > of(0.02));
        // What is enough for a difference finds that difference.
        let n = of(0.02).unwrap();
        assert!(smallest_to_find(n, 0.03, 1) <= 0.02, "{n}");
        assert!(smallest_to_find(n - 1, 0.03, 1) > 0.0199, "{n}");
        assert_eq!(smallest_to_find(3, 0.03, 1), f64::INFINITY);
    }
}
