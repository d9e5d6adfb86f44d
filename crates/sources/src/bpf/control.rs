//! What the recorder tells a program while it runs (`control.h`).

use aya::maps::{Array, MapData, MapError};

use super::load::Loaded;
use crate::Availability;

/// The program's `control`: of how many events it tells one, and which interval it is.
pub(super) struct Control {
    map: Array<MapData, [u32; 2]>,
    one_in: u32,
    interval: u32,
}

impl Control {
    /// That of the object: every event is told, and no interval has begun.
    pub(super) fn of(loaded: &mut Loaded) -> Result<Control, Availability> {
        Ok(Control {
            map: loaded.array("control")?,
            one_in: 1,
            interval: 0,
        })
    }

    /// The present interval.
    pub(super) fn interval(&self) -> u32 {
        self.interval
    }

    /// Begins the next interval; answers with its number.
    pub(super) fn turn(&mut self) -> Result<u32, MapError> {
        // 0 is before the first.
        let next = self.interval.checked_add(1).unwrap_or(2);
        self.map.set(0, [self.one_in, next], 0)?;
        self.interval = next;
        Ok(next)
    }

    /// Of `n` events one is told from now on.
    pub(super) fn one_in(&mut self, n: u32) {
        self.one_in = n;
        // Where that fails every event goes on being told.
        let _ = self.map.set(0, [n, self.interval], 0);
    }
}
