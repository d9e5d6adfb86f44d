//! Where everything goes: one layout for every size.

use crate::chart::{BandKind, Chart};
use crate::plan::Plan;
use crate::text::em;

use super::legend::Legend;

/// The places of a picture's parts, in pixels from the top left.
pub(super) struct Frame {
    pub(super) width: f64,
    /// The size of plain text. Grows slowly with the picture.
    pub(super) em: f64,
    pub(super) margin: f64,
    /// Baseline of the axis headings.
    pub(super) heading: f64,
    /// Top of the strip with the phases' names; its bottom is `top`.
    pub(super) strip: f64,
    /// The plot.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Baselines of the time ticks and of the caption below them, if there is room for one.
    pub(super) times: f64,
    pub(super) caption: Option<f64>,
    /// Top of the colour scale of a heat map.
    pub(super) shades: f64,
    /// Top of the legend.
    pub(super) legend_top: f64,
    pub(super) legend: Legend,
    /// Baseline of the first note, and how many there is room for.
    pub(super) notes: f64,
    pub(super) note_lines: usize,
}

/// The size of plain text: 12 pixels at 1000 x 500.
pub(super) fn text_size(width: f64, height: f64) -> f64 {
    let size = 12.0 * (width * height / 500_000.0).powf(0.25);
    size.clamp(9.5, 30.0)
}

/// Baseline of the title.
pub(super) fn title_line(em: f64) -> f64 {
    em * 1.9
}

impl Frame {
    /// Everything that depends on the height only.
    pub(super) fn new(chart: &Chart, plan: &Plan, width: f64, height: f64) -> Frame {
        let em = text_size(width, height);
        let margin = em;
        let roomy = height > 20.0 * em;
        let legend = Legend::new(chart, plan, (width - 2.0 * margin) / em, height * 0.3 / em);
        let room_for_notes = ((height / em - 18.0) / 6.0).clamp(1.0, 4.0) as usize;
        let note_lines = plan.notes.len().min(room_for_notes);

        let heading = title_line(em) + em * if roomy { 2.0 } else { 1.6 };
        // Marks of what is above the axis stand just above the plot.
        let above = plan.extent.as_ref().is_some_and(|e| e.above > 0.0);
        let strip = heading + em * if above { 1.1 } else { 0.6 };
        let phases = chart.bands.iter().any(|b| b.kind == BandKind::Phase);
        let names = match (phases && roomy, above) {
            (false, _) => 0.0,
            (true, false) => 1.6,
            // The marks have a line of their own below the names.
            (true, true) => 2.05,
        };
        let top = (strip + names * em).round();

        let end = height - margin * 0.7;
        let notes_top = end - note_lines as f64 * em * 1.35;
        let legend_top = notes_top - legend.height * em;
        let shades_height = if plan.extent.is_some() { 2.6 * em } else { 0.0 };
        let shades = legend_top - shades_height;
        let caption_height = if roomy { 1.5 * em } else { 0.0 };
        let bottom = (shades - caption_height - 2.0 * em).round().max(top + em);
        Frame {
            width,
            em,
            margin,
            heading,
            strip,
            left: margin,
            right: width - margin * 1.6,
            top,
            bottom,
            times: bottom + 1.4 * em,
            caption: roomy.then_some(bottom + 2.8 * em),
            shades,
            legend_top,
            legend,
            notes: notes_top + em,
            note_lines,
        }
    }

    /// How many ticks a value axis has room for.
    pub(super) fn wanted_ticks(&self) -> usize {
        ((self.bottom - self.top) / (3.2 * self.em)).clamp(2.0, 12.0) as usize
    }

    /// Makes room at the sides for the numbers of the axes.
    pub(super) fn widen_gutters(&mut self, plan: &Plan) {
        let widest =
            |r: &crate::axis::Ruler| r.ticks.iter().map(|t| em(&t.text)).fold(1.0, f64::max);
        self.left = (self.margin + (widest(&plan.left) * 0.92 + 0.5) * self.em).round();
        if let Some(right) = &plan.right {
            self.right = self.width - self.margin - (widest(right) * 0.92 + 0.5) * self.em;
        }
        self.right = self.right.round().max(self.left + self.em);
    }

    pub(super) fn plot_width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn plot_height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The pixel of a time.
    pub(super) fn x(&self, plan: &Plan, time: f64) -> f64 {
        let share = (time - plan.seconds.0) / (plan.seconds.1 - plan.seconds.0);
        self.left + share.clamp(0.0, 1.0) * self.plot_width()
    }

    /// The pixel of a share of a value axis.
    pub(super) fn y(&self, share: f64) -> f64 {
        self.bottom - share.clamp(0.0, 1.0) * self.plot_height()
    }
}
