//! Pictures as lines of text: braille dots for lines, blocks for areas and heat maps, with
//! colours or, in a pipe, with a mark for each line.

pub(crate) mod canvas;
mod fields;
mod fold;
mod frame;
mod legend;
mod ranges;

use crate::chart::Chart;
use crate::palette::Rgb;
use crate::plan::Plan;
use crate::trace;

use canvas::{Canvas, Dots, straight};
use frame::Frame;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// 24-bit colours.
    True,
    /// The 256 colours of xterm.
    Palette256,
    /// No escape codes at all, as for a pipe.
    None,
}

/// The marks of lines without colour.
const MARKS: [char; 9] = ['*', '+', 'o', 'x', '#', '@', '%', '&', '='];

/// The chart in at most `height` lines of at most `width` columns, each with a newline.
/// From 40 x 10 on it is of use; below that it is merely harmless.
pub fn picture(chart: &Chart, width: u16, height: u16, colour: Colour) -> String {
    let (width, height) = (
        usize::from(width.clamp(8, 1000)),
        usize::from(height.clamp(5, 500)),
    );
    if let Some(shown) = &chart.ranges {
        let mut canvas = Canvas::new(width, height);
        ranges::draw(&mut canvas, chart, shown, (width, height));
        return canvas.print(colour).trim_end_matches('\n').to_owned() + "\n";
    }
    if let Some(fold) = &chart.fold {
        let mut canvas = Canvas::new(width, height);
        fold::draw(&mut canvas, chart, fold, (width, height));
        return canvas.print(colour).trim_end_matches('\n').to_owned() + "\n";
    }
    let rough = Frame::new(chart, &Plan::new(chart, 1, 4), width, height);
    let plan = Plan::new(chart, rough.plot_width, rough.wanted_ticks());
    let frame = Frame::new(chart, &plan, width, height);
    let mut canvas = Canvas::new(width, height);
    fields::heat(&mut canvas, &frame, chart, &plan, colour);
    fields::areas(&mut canvas, &frame, &plan, colour);
    lines(&mut canvas, &frame, chart, &plan, colour);
    frame::draw(&mut canvas, &frame, chart, &plan, colour);
    let text = canvas.print(colour);
    // A small picture may leave rows unused; inner ones are never blank for long.
    text.trim_end_matches('\n').to_owned() + "\n"
}

/// Black and white are the terminal's own colour, whatever its background is.
pub(crate) fn ink_of(colour: Rgb) -> Option<Rgb> {
    (colour != Rgb(0, 0, 0)).then_some(colour)
}

/// What stands for a line in the legend, and in the plot if lines are drawn with marks.
fn mark(plan: &Plan, index: usize, colour: Colour) -> char {
    if colour == Colour::None && plan.legend.len() > 1 {
        MARKS[index % MARKS.len()]
    } else if plan.legend[index].area {
        '█'
    } else {
        '━'
    }
}

fn lines(canvas: &mut Canvas, frame: &Frame, chart: &Chart, plan: &Plan, colour: Colour) {
    let marks = colour == Colour::None && plan.legend.len() > 1;
    // Places to a character: braille has 2 x 4.
    let (across, down) = if marks { (1, 1) } else { (2, 4) };
    let (width, height) = (frame.plot_width * across, frame.plot_height * down);
    let place = |(x, y): (f64, f64)| {
        let up = (y.clamp(0.0, 1.0) * height as f64) as i64;
        let x = (x as i64).clamp(0, width as i64 - 1);
        (x, (height as i64 - 1 - up).max(0))
    };
    let mut dots = Dots::new(frame.plot_width, frame.plot_height);
    // The first line is the most important: it is drawn last, on top.
    for (i, (line, entry)) in chart.lines.iter().zip(&plan.legend).enumerate().rev() {
        if entry.area {
            continue;
        }
        let ink = ink_of(entry.colour);
        for stroke in trace::strokes(
            &line.points,
            plan.seconds,
            plan.ruler_of(line),
            width as f64,
        ) {
            let mut places: Vec<_> = stroke.iter().map(|p| place(*p)).collect();
            if let (Some(end), Some(place)) = (stroke.last(), places.last_mut()) {
                // An end on a border belongs to the place before it, not to the gap after.
                place.0 = ((end.0.ceil() - 1.0) as i64).max(0);
            }
            for pair in places.windows(2) {
                straight(pair[0], pair[1], |x, y| {
                    if marks {
                        let at = (frame.left + 1 + x as usize, frame.top + y as usize);
                        canvas.put(at, mark(plan, i, colour), None);
                    } else {
                        dots.set(x, y, ink);
                    }
                });
            }
        }
    }
    for ((x, y), glyph, ink) in dots.characters() {
        canvas.put((frame.left + 1 + x, frame.top + y), glyph, ink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Line, Point};
    use crate::random::Random;
    use crate::text::columns;

    fn line(name: &str, values: &[f64]) -> Line {
        let point = |(i, value): (usize, &f64)| Point {
            from: i as f64,
            to: i as f64 + 1.0,
            value: *value,
        };
        Line {
            name: name.into(),
            right: false,
            points: values.iter().enumerate().map(point).collect(),
            mean: 1.0,
            max: 2.0,
        }
    }

    #[test]
    fn lines_without_colour_have_marks() {
        let chart = Chart {
            title: "net.bytes".into(),
            seconds: (0.0, 4.0),
            lines: vec![
                line("low", &[1.0, 1.0, f64::NAN, 1.0]),
                line("high", &[9.0; 4]),
            ],
            ..Chart::default()
        };
        let text = picture(&chart, 43, 14, Colour::None);
        assert!(!text.contains('\x1b'));
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[0], "net.bytes");
        let low = rows.iter().find(|r| r.contains("**")).unwrap();
        // Ten columns to an interval; the third is a gap.
        assert!(
            low.contains(&format!(
                "{}{}{}",
                "*".repeat(20),
                " ".repeat(10),
                "*".repeat(10)
            )),
            "{low}"
        );
        assert!(rows.iter().any(|r| r.starts_with("* low ")), "{text}");
        assert!(rows.iter().any(|r| r.contains("+ high ")), "{text}");
    }

    #[test]
    fn one_line_is_braille_in_its_colour() {
        let chart = Chart {
            seconds: (0.0, 2.0),
            lines: vec![line("a", &[1.0, 2.0])],
            ..Chart::default()
        };
        let is_braille = |c: char| ('\u{2800}'..='\u{28FF}').contains(&c);
        assert!(picture(&chart, 80, 24, Colour::None).contains(is_braille));
        let text = picture(&chart, 80, 24, Colour::True);
        assert!(text.contains("\x1b[0;38;2;0;114;178m"));
        assert!(picture(&chart, 80, 24, Colour::Palette256).contains("\x1b[0;38;5;"));
        for line in text.lines() {
            let last = line.rsplit('\x1b').next().filter(|_| line.contains('\x1b'));
            assert!(last.is_none_or(|l| l.starts_with("[0m")), "{line}");
        }
    }

    #[test]
    fn without_points_it_says_so() {
        assert!(picture(&Chart::default(), 80, 24, Colour::None).contains("no data"));
    }

    #[test]
    fn any_chart_fits() {
        let mut random = Random(23);
        for i in 0..400 {
            let chart = random.chart();
            let (width, height) = match i % 4 {
                0 => (80, 24),
                _ => (random.below(150) as u16, random.below(60) as u16),
            };
            let text = picture(&chart, width, height, Colour::None);
            assert!(!text.contains('\x1b'));
            assert!(text.lines().count() <= usize::from(height.max(5)), "{text}");
            for line in text.lines() {
                assert!(columns(line) <= usize::from(width.max(8)), "{i}: {line}");
            }
            picture(&chart, width, height, Colour::True);
            picture(&chart, width, height, Colour::Palette256);
        }
    }
}
