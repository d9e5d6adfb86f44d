//! The one histogram grid: log-linear, 64 steps per power of two.
//!
//! Values below 128 have a bucket of their own; above, each power of two is cut into 64
//! equal steps, so a bucket is at most 1/64 (1.6 %) of its lower bound wide. It is the grid
//! of fio's `json+` bins (fio `stat.h`: `FIO_IO_U_PLAT_BITS` = 6), so histograms of the
//! kernel, of fio and of imported tools add without error. The grid is over whole numbers:
//! nanoseconds for times, bytes for sizes.

/// Steps per power of two.
pub const STEPS: u64 = 64;
const BITS: u32 = 6;

/// The bucket that holds `value`.
#[inline]
pub const fn index(value: u64) -> u32 {
    if value < 2 * STEPS {
        return value as u32;
    }
    let power = value.ilog2();
    let shift = power - BITS;
    ((shift as u64 + 1) * STEPS + ((value >> shift) - STEPS)) as u32
}

/// The least value in bucket `index`.
#[inline]
pub const fn lower(index: u32) -> u64 {
    let index = index as u64;
    if index < 2 * STEPS {
        return index;
    }
    let shift = index / STEPS - 1;
    (STEPS + index % STEPS) << shift
}

/// One above the greatest value in bucket `index` (saturating at `u64::MAX`).
pub const fn upper(index: u32) -> u64 {
    let index = index as u64;
    if index < 2 * STEPS {
        return index + 1;
    }
    let shift = index / STEPS - 1;
    lower(index as u32).saturating_add(1 << shift)
}

/// Lower bound of the bucket that holds `value`, in base units. Negative values mirror the
/// positive.
pub fn floor(value: f64, unit: crate::Unit) -> f64 {
    let per_unit = if unit == crate::Unit::Seconds {
        1e9
    } else {
        1.0
    };
    let step = index((value.abs() * per_unit).round() as u64);
    (lower(step) as f64 / per_unit).copysign(value)
}

/// Lower and upper bound of the bucket that starts at `lower_bound`, in base units: the grid
/// counts nanoseconds for times and single units for the rest. Negative values (distances)
/// mirror the positive. NaN, a number that is not known, has none.
pub fn bounds(lower_bound: f64, unit: crate::Unit) -> (f64, f64) {
    if lower_bound.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    let per_unit = if unit == crate::Unit::Seconds {
        1e9
    } else {
        1.0
    };
    let step = index((lower_bound.abs() * per_unit).round() as u64);
    let other = upper(step) as f64 / per_unit;
    if lower_bound < 0.0 {
        (-other, lower_bound)
    } else {
        (lower_bound, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_numbers_and_stay_narrow() {
        for i in 0..3700 {
            assert_eq!(upper(i), lower(i + 1), "bucket {i}");
            assert_eq!(index(lower(i)), i);
            assert_eq!(index(upper(i) - 1), i);
            if i >= 128 {
                let width = (upper(i) - lower(i)) as f64 / lower(i) as f64;
                assert!(width <= 1.0 / 64.0, "bucket {i} is {width} wide");
            }
        }
        assert_eq!(index(u64::MAX), 3775);
    }

    #[test]
    fn what_is_not_known_has_no_bounds() {
        let (from, to) = bounds(f64::NAN, crate::Unit::Bytes);
        assert!(from.is_nan() && to.is_nan(), "{from} to {to}");
    }

    /// Bin bounds as fio 3.33 prints them in `clat_ns.bins` of `json+`: each is the middle of
    /// its bucket (`plat_idx_to_val` returns base + width / 2).
    #[test]
    fn the_grid_is_fios() {
        for middle in [127_u64, 129, 1_288, 30_592, 1_073_741_824 + (1 << 23)] {
            let i = index(middle);
            let fio = if i < 128 {
                lower(i)
            } else {
                lower(i) + (upper(i) - lower(i)) / 2
            };
            assert_eq!(fio, middle);
        }
    }
}
