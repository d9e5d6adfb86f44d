//! Numbers of a column by their place among the different ones.

use super::bits;
use crate::Word;

/// More different numbers than this are stored as they are: a slot's two bytes tell as many apart.
const MOST: usize = FREE as usize;

/// Slots at the beginning.
const FEW: usize = 1 << 10;

/// A slot that no number has.
const FREE: u16 = u16::MAX;

/// Spreads bits upwards: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Different numbers of eight bytes, in the order in which they came first.
pub(super) struct Numbers {
    all: Vec<u64>,
    /// Places in `all`, where their bits lead to; at least three of four are free, so that a
    /// number is mostly found at the first look. They are small, to stay in a processor's cache.
    slots: Vec<u16>,
    /// Bits that are too many for a place in `slots`.
    shift: u32,
    /// There was one more than [`MOST`].
    full: bool,
}

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers {
            all: Vec::new(),
            slots: vec![FREE; FEW],
            shift: u64::BITS - FEW.trailing_zeros(),
            full: false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there were more than [`MOST`]; those have no place.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// The place of a number, which may be new; of one too many it is of another.
    #[inline]
    pub(super) fn code(&mut self, bits: u64) -> u32 {
        let last = self.slots.len() - 1;
        // The highest bits are those that all of the number's are in.
        let mut at = (bits.wrapping_mul(SPREAD) >> self.shift) as usize & last;
        while let Some(number) = self.all.get(usize::from(self.slots[at])) {
            if *number == bits {
                return self.slots[at].into();
            }
            at = (at + 1) & last;
        }
        self.add(bits, at)
    }

    #[cold]
    fn add(&mut self, bits: u64, at: usize) -> u32 {
        if self.all.len() == MOST {
            self.full = true;
            return 0;
        }
        let code = self.all.len() as u16;
        self.slots[at] = code;
        self.all.push(bits);
        if self.all.len() * 4 > self.slots.len() {
            let slots = self.slots.len() * 2;
            self.slots.clear();
            self.slots.resize(slots, FREE);
            self.shift = u64::BITS - slots.trailing_zeros();
            for (number, code) in std::mem::take(&mut self.all).into_iter().zip(0..) {
                let same = self.code(number);
                debug_assert_eq!(same, code);
            }
        }
        code.into()
    }

    /// All of them, eight bytes each, lowest first.
    pub(super) fn plain(&self, out: &mut Vec<u8>) {
        out.extend(self.all.iter().flat_map(|n| n.to_le_bytes()));
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.slots.fill(FREE);
        self.full = false;
    }
}

/// Different words, in the order in which they came first.
#[derive(Default)]
pub(super) struct Texts {
    words: Vec<Word>,
    /// One more than the place of each word in `words`, by its number.
    places: Vec<u32>,
}

impl Texts {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The place of a word, which may be new.
    #[inline]
    pub(super) fn code(&mut self, word: Word) -> u32 {
        let at = word.0 as usize;
        match self.places.get(at) {
            Some(place) if *place > 0 => place - 1,
            _ => self.add(word),
        }
    }

    #[cold]
    fn add(&mut self, word: Word) -> u32 {
        let at = word.0 as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, 0);
        }
        self.words.push(word);
        self.places[at] = self.words.len() as u32;
        self.places[at] - 1
    }

    /// All of them: the length in four bytes, then the text.
    pub(super) fn plain(&self, texts: &[std::sync::Arc<str>], out: &mut Vec<u8>) {
        for word in &self.words {
            let text = texts.get(word.0 as usize).map_or("", |t| &**t);
            out.extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        }
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.places.fill(0);
    }
}

/// Codes of a page with their width before them, in whatever way takes less.
pub(super) fn page_of_codes(codes: &[u32], times: usize, different: usize, out: &mut Vec<u8>) {
    let width = bits::width(different);
    out.push(width as u8);
    match codes.first() {
        Some(first) if codes.iter().all(|code| code == first) => {
            bits::run(*first, codes.len() * times, width, out);
        }
        _ => bits::packed(codes, times, width, out),
    }
}

/// The same of codes each of which comes `each` times.
pub(super) fn page_of_runs(codes: &[u32], each: usize, different: usize, out: &mut Vec<u8>) {
    let width = bits::width(different);
    let runs = codes.chunk_by(|a, b| a == b);
    let long = runs.clone().count() * (1 + bits::run_bytes(width)) * 8;
    if long > codes.len() * each * width as usize {
        let repeat = |code: &u32| std::iter::repeat_n(*code, each);
        let all: Vec<u32> = codes.iter().flat_map(repeat).collect();
        return page_of_codes(&all, 1, different, out);
    }
    out.push(width as u8);
    for run in runs {
        bits::run(run[0], run.len() * each, width, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_code() {
        let mut numbers = Numbers::new();
        let bits = |i: u64| (i as f64 / 10.0).to_bits();
        for i in 0..MOST as u64 {
            assert_eq!(u64::from(numbers.code(bits(i))), i);
        }
        for i in (0..MOST as u64).rev() {
            assert_eq!(u64::from(numbers.code(bits(i))), i);
        }
        assert_eq!(numbers.len(), MOST);
        assert!(!numbers.is_full());
        numbers.code(bits(MOST as u64));
        assert!(numbers.is_full());
        assert_eq!(numbers.len(), MOST);
        let mut plain = Vec::new();
        numbers.plain(&mut plain);
        assert_eq!(plain[70 * 8..71 * 8], bits(70).to_le_bytes());
        numbers.clear();
        assert_eq!(numbers.code(bits(5)), 0);
        assert!(!numbers.is_full());
    }
}
