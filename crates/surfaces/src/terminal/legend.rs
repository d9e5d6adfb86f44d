//! The legend of a terminal picture: a table in as many columns as fit, with shorter names
//! where that makes all of them fit.

use crate::plan::{Entry, Plan};
use crate::text::{columns, shorten};

use super::canvas::Canvas;
use super::frame::FAINT;
use super::{Colour, ink_of, mark};

/// Shorter names say little.
const SHORTEST: usize = 12;
const LONGEST: usize = 40;
const GAP: usize = 3;

/// Measures in characters.
pub(super) struct Legend {
    columns: usize,
    rows: usize,
    name: usize,
    mean: usize,
    max: usize,
}

impl Legend {
    /// For a width and at most a height, its heading included.
    pub(super) fn new(plan: &Plan, width: usize, height: usize) -> Legend {
        let widest = |of: fn(&Entry) -> usize| plan.legend.iter().map(of).max().unwrap_or(0);
        let longest = widest(|e| columns(&label(e))).min(LONGEST);
        let mut legend = Legend {
            columns: 1,
            rows: 0,
            name: longest,
            mean: widest(|e| columns(&e.mean)).max(4) + 2,
            max: widest(|e| columns(&e.max)).max(4) + 2,
        };
        let numbers = 2 + legend.mean + legend.max;
        let count = plan.legend.len();
        for columns in 1..=count {
            let room = (width + GAP) / columns;
            let name = room.saturating_sub(numbers + GAP);
            // More columns than one only if names keep their meaning.
            if columns > 1 && name < longest.min(SHORTEST) {
                break;
            }
            let fits = legend.rows < height && legend.rows > 0;
            if fits && name < longest {
                break;
            }
            legend.columns = columns;
            legend.rows = count.div_ceil(columns);
            legend.name = name.min(longest);
        }
        legend.rows = legend.rows.min(height.saturating_sub(1));
        legend
    }

    pub(super) fn height(&self) -> usize {
        if self.rows == 0 { 0 } else { self.rows + 1 }
    }

    pub(super) fn draw(
        &self,
        canvas: &mut Canvas,
        plan: &Plan,
        colour: Colour,
        (width, top): (usize, usize),
    ) {
        let slots = self.rows * self.columns;
        let count = plan.legend.len();
        let column_width = 2 + self.name + self.mean + self.max + GAP;
        // Too narrow for numbers beside names.
        let numbers = column_width - GAP <= width;
        for (i, entry) in plan.legend.iter().take(slots).enumerate() {
            let (column, row) = (i / self.rows, i % self.rows);
            let (x, y) = (column * column_width, top + 1 + row);
            let mean_end = x + 2 + self.name + self.mean;
            if row == 0 && numbers {
                canvas.text((mean_end - 4, top), "mean", FAINT);
                canvas.text((mean_end + self.max - 3, top), "max", FAINT);
            }
            if count > slots && i + 1 == slots {
                let more = format!("and {} more", count - slots + 1);
                canvas.text((x, y), &more, FAINT);
                break;
            }
            canvas.put((x, y), mark(plan, i, colour), ink_of(entry.colour));
            let room = if numbers {
                self.name
            } else {
                width.saturating_sub(2)
            };
            canvas.text(
                (x + 2, y),
                &shorten(&label(entry), room),
                ink_of(entry.colour),
            );
            if numbers {
                canvas.text((mean_end - columns(&entry.mean), y), &entry.mean, None);
                let max_end = mean_end + self.max;
                canvas.text((max_end - columns(&entry.max), y), &entry.max, None);
            }
        }
    }
}

fn label(entry: &Entry) -> String {
    let right = if entry.right { " (right)" } else { "" };
    format!("{}{right}", entry.name)
}
