//! Whole numbers as planes of bytes: all lowest bytes, then all second ones, and so on.
//!
//! Numbers of events look random in their lowest bytes and alike in their highest. Apart,
//! each plane compresses as well as it can. What all numbers of a column have in common is
//! taken off first: the least of them, zeros at the end (offsets are multiples of 4096), and
//! planes that are all zero. What does not vary takes no bytes at all.

/// Bytes of a column's head: width, shift, least number.
const HEAD: usize = 10;

/// Appends `numbers`: the number of planes `u8`, the bits they are shifted `u8`, the least
/// number `i64`, then the planes.
pub(super) fn encode(numbers: &[i64], scratch: &mut Vec<u64>, out: &mut Vec<u8>) {
    let least = numbers.iter().copied().min().unwrap_or(0);
    scratch.clear();
    scratch.extend(numbers.iter().map(|v| v.wrapping_sub(least) as u64));
    let used = scratch.iter().fold(0, |bits, v| bits | v);
    let shift = if used == 0 { 0 } else { used.trailing_zeros() };
    let width = (64 - (used >> shift).leading_zeros()).div_ceil(8);
    out.extend_from_slice(&[width as u8, shift as u8]);
    out.extend_from_slice(&least.to_le_bytes());
    for plane in 0..width {
        let place = shift + 8 * plane;
        out.extend(scratch.iter().map(|v| (v >> place) as u8));
    }
}

/// A column as it was written.
pub(super) struct Planes<'p> {
    shift: u32,
    least: i64,
    bytes: &'p [u8],
}

impl<'p> Planes<'p> {
    /// Takes a column of `count` numbers off `rest`; `None` where it is damaged.
    pub(super) fn take(rest: &mut &'p [u8], count: usize) -> Option<Planes<'p>> {
        let head = rest.split_off(..HEAD)?;
        let (width, shift) = (usize::from(head[0]), u32::from(head[1]));
        if width > 8 || shift > 63 {
            return None;
        }
        Some(Planes {
            shift,
            least: i64::from_le_bytes(head[2..].try_into().ok()?),
            bytes: rest.split_off(..width.checked_mul(count)?)?,
        })
    }

    /// The `count` numbers.
    pub(super) fn decode(&self, count: usize) -> Vec<i64> {
        let mut bits = vec![0_u64; count];
        for (place, plane) in self.bytes.chunks_exact(count.max(1)).enumerate() {
            let up = 8 * place as u32;
            for (bits, byte) in bits.iter_mut().zip(plane) {
                *bits |= u64::from(*byte) << up;
            }
        }
        let number = |bits: u64| self.least.wrapping_add((bits << self.shift) as i64);
        bits.into_iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_constants_take_nothing() {
        let cases: [(&[i64], usize); 9] = [
            (&[], 0),
            (&[7, 7, 7], 0),
            (&[i64::MIN], 0),
            (&[0, 1, 2], 1),
            (&[-128, 127], 1),
            (&[0, 4096, 8192], 1),
            (&[1_000_000, 1_000_256], 1),
            (&[0, 65_535, 65_536], 3),
            (&[i64::MIN, i64::MAX, 0, -1], 8),
        ];
        for (numbers, width) in cases {
            let mut out = Vec::new();
            encode(numbers, &mut Vec::new(), &mut out);
            assert_eq!(out.len(), HEAD + width * numbers.len(), "{numbers:?}");
            let mut rest = &out[..];
            let planes = Planes::take(&mut rest, numbers.len()).unwrap();
            assert!(rest.is_empty());
            assert_eq!(planes.decode(numbers.len()), numbers);
        }
    }

    #[test]
    fn what_is_cut_or_impossible_is_none() {
        let mut out = Vec::new();
        encode(&[1, 2, 3], &mut Vec::new(), &mut out);
        for length in 0..out.len() {
            assert!(Planes::take(&mut &out[..length], 3).is_none());
        }
        assert!(Planes::take(&mut &out[..], 4).is_none());
        for (at, wrong) in [(0, 9), (1, 64)] {
            let mut damaged = out.clone();
            damaged[at] = wrong;
            assert!(Planes::take(&mut &damaged[..], 3).is_none());
        }
    }
}
