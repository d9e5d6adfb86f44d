//! The words that rows in memory may have.

use std::sync::Arc;

/// What a text takes beside its bytes: where it is counted, and its place in two lists.
pub(super) const OF_A_WORD: usize = 80;

/// Words by number. Those of a sink begin at a base, so that each sink's have their own numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    texts: Arc<Vec<Arc<str>>>,
    /// The number of the first text: those before it have gone.
    first: u32,
    /// What the present sink's numbers begin at.
    base: u32,
    bytes: usize,
}

impl Words {
    /// How many the sink had when it was last here, and what its numbers begin at.
    pub(super) fn known(&self) -> (usize, u32) {
        let all = self.first as usize + self.texts.len();
        (all.saturating_sub(self.base as usize), self.base)
    }

    /// Those that are still there; the rows' numbers are places here after [`Words::places`].
    pub(super) fn texts(&self) -> &[Arc<str>] {
        &self.texts
    }

    /// What they take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes words that the sink did not have before.
    pub(super) fn add(&mut self, new: Vec<Arc<str>>) {
        if !new.is_empty() {
            self.bytes += bytes_of(&new);
            Arc::make_mut(&mut self.texts).extend(new);
        }
    }

    /// What comes from now on is of another sink.
    pub(super) fn renew(&mut self) {
        self.base = self.first + self.texts.len() as u32;
    }

    /// Lets go of those with numbers below `first`. Who looks at them still has them.
    pub(super) fn forget(&mut self, first: u32) {
        let count = (first.saturating_sub(self.first) as usize).min(self.texts.len());
        if count > 0 {
            self.bytes -= bytes_of(&self.texts[..count]);
            self.texts = Arc::new(self.texts[count..].to_vec());
            self.first += count as u32;
        }
    }

    /// Makes numbers of words places among the texts.
    pub(super) fn places(&self, columns: &mut [Vec<i32>]) {
        if self.first > 0 {
            let codes = columns.iter_mut().flatten();
            codes.for_each(|code| *code -= self.first as i32);
        }
    }
}

fn bytes_of(texts: &[Arc<str>]) -> usize {
    texts.iter().map(|text| text.len() + OF_A_WORD).sum()
}
