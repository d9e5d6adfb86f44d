//! A line of text that shows a course, for tables.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// `values` in `width` characters `▁` to `█` from zero (or the least, if negative) to the
/// largest; gaps (NaN) are spaces. Where several values share a character the largest is shown.
pub fn sparkline(values: &[f64], width: usize) -> String {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let low = finite().fold(0.0, f64::min);
    let high = finite().fold(low, f64::max);
    let width = width.min(values.len());
    (0..width)
        .map(|i| {
            let from = i * values.len() / width;
            let to = (i + 1) * values.len() / width;
            let largest = values[from..to].iter().copied().filter(|v| v.is_finite());
            match largest.reduce(f64::max) {
                None => ' ',
                // Halves, since the difference of two finite numbers may not be finite.
                Some(_) if high == low => LEVELS[0],
                Some(v) => {
                    let share = (v / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
                    LEVELS[((share * 8.0) as usize).min(7)]
                }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn courses_show() {
        assert_eq!(
            sparkline(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 8),
            "▁▂▃▄▅▆▇█"
        );
        assert_eq!(sparkline(&[1.0, f64::NAN, 0.0], 10), "█ ▁");
        assert_eq!(sparkline(&[0.0, 9.0, 0.0, 0.0], 2), "█▁");
        assert_eq!(sparkline(&[0.0; 3], 3), "▁▁▁");
        assert_eq!(sparkline(&[], 3), "");
        assert_eq!(sparkline(&[f64::MAX, f64::MIN], 2), "█▁");
    }
}
