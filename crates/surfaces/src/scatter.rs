//! Points with their doubt: arms of an experiment by two numbers, or by one; and curves through
//! them.

mod drawn;
mod typed;

pub use drawn::{lettered, svg};
pub use typed::text;

use crate::axis::Ruler;
use crate::chart::Axis;
use crate::scale::Scale;

/// A picture of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// What the reader should call this.
    pub title: String,
    /// The scale across.
    pub x: Axis,
    /// The scale upwards; without one each point has a row of its own.
    pub y: Option<Axis>,
    /// The points, in the order of the legend.
    pub dots: Vec<Dot>,
    /// Lines through them.
    pub curves: Vec<Curve>,
    /// Small print under the picture.
    pub notes: Vec<String>,
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Any text.
    pub name: String,
    /// Where it lies across.
    pub x: Value,
    /// Where it lies upwards.
    pub y: Option<Value>,
}

/// A number with its interval; ends that are not finite are not drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// Lower end.
    pub low: f64,
    /// The number; NaN: the point is not drawn.
    pub middle: f64,
    /// Upper end.
    pub high: f64,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Any text.
    pub name: String,
    /// Across and upwards.
    pub points: Vec<(f64, f64)>,
}

/// An axis takes this share of its span more on each side.
const ROOM: f64 = 0.08;

impl Value {
    /// Its finite numbers.
    fn known(self) -> impl Iterator<Item = f64> {
        [self.low, self.middle, self.high]
            .into_iter()
            .filter(|v| v.is_finite())
    }
}

impl Scatter {
    /// The axis across.
    fn across(&self, wanted: usize) -> Ruler {
        let dots = self.dots.iter().flat_map(|d| d.x.known());
        let curves = self.curves.iter().flat_map(|c| &c.points).map(|p| p.0);
        ruler(&self.x, dots.chain(curves), wanted)
    }

    /// The axis upwards, if there is one.
    fn upwards(&self, wanted: usize) -> Option<Ruler> {
        let axis = self.y.as_ref()?;
        let dots = self.dots.iter().filter_map(|d| d.y).flat_map(Value::known);
        let curves = self.curves.iter().flat_map(|c| &c.points).map(|p| p.1);
        Some(ruler(axis, dots.chain(curves), wanted))
    }

    /// Whether there is nothing to draw.
    fn is_empty(&self) -> bool {
        !self
            .dots
            .iter()
            .any(|d| d.x.middle.is_finite() && d.y.is_none_or(|y| y.middle.is_finite()))
    }
}

/// An axis around those values: positions, so that zero need not be in view; it is where it is
/// near.
fn ruler(axis: &Axis, values: impl Iterator<Item = f64>, wanted: usize) -> Ruler {
    let known = values.filter(|v| v.is_finite() && v.abs() < crate::axis::LARGEST);
    let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let (low, high) = match (low, high) {
        (low, high) if low > high => (0.0, 1.0),
        // One value: something around it.
        (low, high) if low == high => {
            let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            (low - room, high + room)
        }
        both => both,
    };
    let room = (high - low) * ROOM;
    let from = if low >= 0.0 && low - room < (high - low) * 0.5 {
        0.0
    } else {
        low - room
    };
    Ruler::between(axis, from, high + room, Scale::Linear, wanted)
}

#[cfg(test)]
mod tests;
