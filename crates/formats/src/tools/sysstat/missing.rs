//! What a device without a row did.

/// Whether a device without a row did nothing.
#[derive(Default)]
pub(super) struct Missing {
    /// `-z`, where a command line tells.
    pub(super) leaves_out: Option<bool>,
    /// An idle device was printed: `-z` leaves it out.
    pub(super) idle_seen: bool,
    /// A row of the present table is not understood: it may be of any device.
    pub(super) garbled: bool,
}

impl Missing {
    /// Whether it did, in the table that is over.
    pub(super) fn is_idle(&mut self) -> bool {
        !std::mem::take(&mut self.garbled) && self.leaves_out.unwrap_or(!self.idle_seen)
    }
}
