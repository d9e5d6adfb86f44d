//! Codes of few bits, as Parquet stores them: runs of one code, and codes packed in groups of
//! eight, lowest bits first (parquet-format, `Encodings.md`, RLE/bit-packing hybrid), and whole
//! numbers as differences (there, `DELTA_BINARY_PACKED`).

/// Codes of a group of packed ones.
const GROUP: usize = 8;

/// The widest code that is packed a group at a time.
const NARROW: u32 = 16;

/// Bits that a code below `count` takes; at least one, which every reader knows.
pub(super) fn width(count: usize) -> u32 {
    let last = count.saturating_sub(1).min(u32::MAX as usize) as u32;
    (u32::BITS - last.leading_zeros()).max(1)
}

/// A number of seven bits a byte, lowest first.
pub(super) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The same with the sign in the lowest bit.
pub(super) fn zigzag(number: i64, out: &mut Vec<u8>) {
    varint((number << 1 ^ number >> 63) as u64, out);
}

/// Bytes that a run of one code takes, but for its length.
pub(super) fn run_bytes(width: u32) -> usize {
    width.div_ceil(8) as usize
}

/// `count` times `code`.
pub(super) fn run(code: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    varint((count as u64) << 1, out);
    out.extend_from_slice(&code.to_le_bytes()[..run_bytes(width).min(4)]);
}

/// All `codes` once, or `times` times over.
pub(super) fn packed(codes: &[u32], times: usize, width: u32, out: &mut Vec<u8>) {
    let groups = (codes.len() * times).div_ceil(GROUP);
    varint((groups as u64) << 1 | 1, out);
    // So many of them fill whole groups, which are the same each time.
    let turns = GROUP >> codes.len().trailing_zeros().min(3);
    if times < turns {
        return pack(&codes.repeat(times), width, out);
    }
    if turns == 1 && times == 1 {
        return pack(codes, width, out);
    }
    let mut bytes = Vec::new();
    pack(&codes.repeat(turns), width, &mut bytes);
    for _ in 0..times / turns {
        out.extend_from_slice(&bytes);
    }
    pack(&codes.repeat(times % turns), width, out);
}

/// Groups of codes, the last filled up with zeros.
fn pack(codes: &[u32], width: u32, out: &mut Vec<u8>) {
    let (groups, rest) = codes.as_chunks::<GROUP>();
    let mut last = [0; GROUP];
    last[..rest.len()].copy_from_slice(rest);
    let groups = groups.iter().chain((!rest.is_empty()).then_some(&last));
    if width > NARROW {
        return groups.for_each(|group| pack_wide(group, width, out));
    }
    let mut at = out.len();
    let length = at + codes.len().div_ceil(GROUP) * width as usize;
    // Each group is written with what may be zeros behind it, over which the next comes.
    out.resize(length + 16, 0);
    for group in groups {
        let half = |codes: &[u32]| {
            let add = |sum: u64, code: &u32| sum << width | u64::from(*code);
            u128::from(codes.iter().rev().fold(0, add))
        };
        let bits = half(&group[..4]) | half(&group[4..]) << (4 * width);
        if let Some(to) = out.get_mut(at..at + 16) {
            to.copy_from_slice(&bits.to_le_bytes());
        }
        at += width as usize;
    }
    out.truncate(length);
}

fn pack_wide(group: &[u32; GROUP], width: u32, out: &mut Vec<u8>) {
    let (mut bits, mut filled) = (0_u64, 0);
    for code in group {
        bits |= u64::from(*code) << filled;
        filled += width;
        while filled >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            filled -= 8;
        }
    }
}

/// A bit for each number: whether it is known.
pub(super) fn known(numbers: &[f64], out: &mut Vec<u8>) {
    varint((numbers.len().div_ceil(GROUP) as u64) << 1 | 1, out);
    let byte = |group: &[f64]| {
        let add = |byte: u8, number: &f64| byte << 1 | u8::from(!number.is_nan());
        group.iter().rev().fold(0, add)
    };
    let (groups, rest) = numbers.as_chunks::<GROUP>();
    out.extend(groups.iter().map(|group| byte(group)));
    if !rest.is_empty() {
        out.push(byte(rest));
    }
}

/// Differences of a block, and of each of its four parts.
const BLOCK: usize = 128;
const PART: usize = 32;

/// Whole numbers as the differences of each from the one before.
pub(super) fn differences(numbers: &[i64], out: &mut Vec<u8>) {
    for number in [BLOCK, BLOCK / PART, numbers.len()] {
        varint(number as u64, out);
    }
    zigzag(numbers.first().copied().unwrap_or(0), out);
    let all: Vec<i64> = numbers
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]))
        .collect();
    for block in all.chunks(BLOCK) {
        let least = block.iter().copied().min().unwrap_or(0);
        zigzag(least, out);
        let above = |number: &i64| number.wrapping_sub(least) as u64;
        let bits = |part: &[i64]| 64 - part.iter().map(above).fold(0, |a, b| a | b).leading_zeros();
        for part in 0..BLOCK / PART {
            let part = block.chunks(PART).nth(part);
            out.push(part.map_or(0, |part| bits(part) as u8));
        }
        for part in block.chunks(PART) {
            let width = bits(part);
            let (mut held, mut filled) = (0_u128, 0);
            let zeros = std::iter::repeat_n(0, PART - part.len());
            for number in part.iter().map(above).chain(zeros) {
                held |= u128::from(number) << filled;
                filled += width;
                while filled >= 8 {
                    out.push(held as u8);
                    held >>= 8;
                    filled -= 8;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of packed groups, read bit by bit.
    fn unpacked(bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
        let width = width as usize;
        let code = |i: usize| (0..width).fold(0, |sum, b| sum | bit(i * width + b) << b);
        (0..count).map(code).collect()
    }

    #[test]
    fn codes_of_all_widths_are_kept() {
        for width in 1..=32 {
            for (count, times) in [(1, 1), (7, 1), (8, 3), (60, 1), (60, 5), (3, 9), (33, 8)] {
                let code = |i: u32| i.wrapping_mul(0x9e37_79b9) >> (32 - width);
                let codes: Vec<u32> = (1..=count).map(code).collect();
                let mut out = Vec::new();
                packed(&codes, times, width, &mut out);
                let all = count as usize * times;
                // The length is a byte, or two.
                let head = if all.div_ceil(8) < 64 { 1 } else { 2 };
                assert_eq!(out.len(), head + all.div_ceil(8) * width as usize);
                let found = unpacked(&out[head..], width, all);
                assert_eq!(found, codes.repeat(times), "{width} bits");
            }
        }
    }

    #[test]
    fn widths_hold_the_last_code() {
        for (count, bits) in [
            (0, 1),
            (1, 1),
            (2, 1),
            (3, 2),
            (256, 8),
            (257, 9),
            (65536, 16),
        ] {
            assert_eq!(width(count), bits, "{count}");
        }
    }

    /// The numbers of differences, as the format's description reads them.
    fn summed(bytes: &[u8], count: usize) -> Vec<i64> {
        let mut at = 0;
        let mut number = || {
            let (mut number, mut shift) = (0_u64, 0);
            loop {
                let byte = bytes[at];
                at += 1;
                number |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return (number, at);
                }
            }
        };
        let signed = |n: u64| (n >> 1) as i64 ^ -((n & 1) as i64);
        assert_eq!([number().0, number().0, number().0], [128, 4, count as u64]);
        let (first, mut at) = number();
        let mut numbers = vec![signed(first)];
        while numbers.len() < count {
            let (mut least, mut shift) = (0_u64, 0);
            loop {
                let byte = bytes[at];
                at += 1;
                least |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            let widths = &bytes[at..at + 4];
            at += 4;
            for width in widths.iter().map(|w| usize::from(*w)) {
                if numbers.len() >= count {
                    break;
                }
                let bit = |i: usize| u64::from(bytes[at + i / 8] >> (i % 8) & 1);
                for i in 0..32.min(count - numbers.len()) {
                    let above = (0..width).fold(0, |sum, b| sum | bit(i * width + b) << b);
                    let last = numbers.last().copied().unwrap();
                    let step = signed(least).wrapping_add(above as i64);
                    numbers.push(last.wrapping_add(step));
                }
                at += width * 4;
            }
        }
        assert_eq!(at, bytes.len());
        numbers
    }

    #[test]
    fn differences_add_up_to_the_numbers() {
        let spread = |i: i64| i.wrapping_mul(0x5851_f42d_4c95_7f2d) >> (i % 60);
        for count in [1, 2, 32, 33, 129, 130, 300] {
            let even: Vec<i64> = (0..count).map(|i| i * 1_000_000_000).collect();
            let wild: Vec<i64> = (0..count).map(spread).collect();
            let ends: Vec<i64> = (0..count)
                .map(|i| if i % 2 == 0 { i64::MIN } else { i64::MAX })
                .collect();
            for numbers in [even, wild, ends] {
                let mut out = Vec::new();
                differences(&numbers, &mut out);
                assert_eq!(summed(&out, numbers.len()), numbers);
            }
        }
    }

    #[test]
    fn a_bit_says_what_is_known() {
        let mut out = Vec::new();
        let nan = f64::NAN;
        known(
            &[1.0, nan, 2.0, nan, nan, nan, nan, 3.0, nan, 4.0],
            &mut out,
        );
        assert_eq!(out, [2 << 1 | 1, 0b1000_0101, 0b10]);
    }
}
