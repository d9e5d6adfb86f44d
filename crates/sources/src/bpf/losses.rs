//! What programs could not keep.

use aya::maps::{Array, MapData};

use crate::Lost;

/// What a program could not keep (`struct lost`).
pub(super) struct Losses(Array<MapData, [u64; 8]>);

impl Losses {
    pub(super) fn new(map: Array<MapData, [u64; 8]>) -> Losses {
        Losses(map)
    }

    /// What a program counts beside them, for its source alone.
    pub(super) fn marks(&self) -> u64 {
        let lanes = (0..self.0.len()).filter_map(|lane| self.0.get(&lane, 0).ok());
        lanes.fold(0, |sum, lane| sum.wrapping_add(lane[2]))
    }

    /// All so far.
    pub(super) fn read(&self, table: &'static str) -> Lost {
        let mut lost = Lost {
            table,
            ..Lost::default()
        };
        for lane in (0..self.0.len()).filter_map(|lane| self.0.get(&lane, 0).ok()) {
            lost.dropped += lane[0];
            lost.unseen += lane[1];
        }
        lost
    }
}
