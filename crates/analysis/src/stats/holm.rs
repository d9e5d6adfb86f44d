//! Several questions at once.

/// Chances adjusted for having asked all of them (Holm 1979): each may be compared with the
/// level as if it were alone. In the order given; NaN stays NaN and counts as no question.
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len())
        .filter(|i| !chances[*i].is_nan())
        .collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut adjusted = vec![f64::NAN; chances.len()];
    let mut least: f64 = 0.0;
    for (rank, place) in order.iter().enumerate() {
        let left = (order.len() - rank) as f64;
        least = least.max((chances[*place] * left).min(1.0));
        adjusted[*place] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::holm;

    #[test]
    fn each_is_as_sure_as_all_asked_before() {
        let found = holm(&[0.01, 0.04, 0.03, f64::NAN, 0.005]);
        let wanted = [0.03, 0.06, 0.06, f64::NAN, 0.02];
        for (a, b) in found.iter().zip(wanted) {
            assert!(
                (a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan()),
                "{found:?}"
            );
        }
        assert_eq!(holm(&[0.6, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
