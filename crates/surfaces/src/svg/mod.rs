//! Pictures as SVG, written by hand: small files, nothing in them from outside that is not
//! escaped.

mod fold;
mod frame;
mod heat;
mod legend;
mod marks;
mod ranges;
pub(crate) mod write;

use crate::chart::Chart;
use crate::palette::Rgb;
use crate::plan::Plan;
use crate::text::{clean, em, fit};
use crate::time;

use frame::Frame;
use write::{Anchor, Pen, Svg, Type};

const INK: Rgb = Rgb(0x22, 0x26, 0x2B);
const FAINT: Rgb = Rgb(0x5A, 0x61, 0x69);
const GRID: Rgb = Rgb(0xDD, 0xE0, 0xE4);
const BAR: Rgb = Rgb(0x56, 0x8F, 0xC4);
const MARK: Rgb = Rgb(0x8A, 0x2B, 0x0E);
const ALARM: Rgb = Rgb(0xB8, 0x3A, 0x00);

/// The chart as an SVG of this size in pixels (held between 64 and 8192).
pub fn picture(chart: &Chart, width: u32, height: u32) -> String {
    let (width, height) = held(width, height);
    let (w, h) = (f64::from(width), f64::from(height));
    if let Some(shown) = &chart.ranges {
        let mut svg = Svg::new(width, height, &chart.title);
        title(&mut svg, (w, frame::text_size(w, h)), chart);
        ranges::draw(&mut svg, chart, shown, (w, h));
        return svg.finish();
    }
    if let Some(fold) = &chart.fold {
        let mut svg = Svg::new(width, height, &chart.title);
        title(&mut svg, (w, frame::text_size(w, h)), chart);
        fold::draw(&mut svg, chart, fold, (w, h));
        return svg.finish();
    }
    // The frame needs the legend and the plan needs the number of ticks: measure roughly first.
    let rough = Frame::new(chart, &Plan::new(chart, 1, 4), w, h);
    let plan = Plan::new(chart, (w as usize).min(1600), rough.wanted_ticks());
    let mut frame = Frame::new(chart, &plan, w, h);
    frame.widen_gutters(&plan);

    let mut svg = Svg::new(width, height, &chart.title);
    definitions(&mut svg, &frame);
    title(&mut svg, (w, frame.em), chart);
    marks::phases(&mut svg, &frame, chart, &plan);
    grid(&mut svg, &frame, &plan);
    svg.raw("<g clip-path=\"url(#plot)\">");
    let shades = heat::draw(&mut svg, &frame, chart, &plan);
    marks::areas(&mut svg, &frame, &plan);
    marks::lines(&mut svg, &frame, chart, &plan);
    marks::lost(&mut svg, &frame, chart, &plan);
    svg.raw("</g>");
    heat::above(&mut svg, &frame, chart, &plan);
    axes(&mut svg, &frame, &plan);
    times(&mut svg, &frame, chart, &plan);
    if let Some(shades) = shades {
        heat::draw_shades(&mut svg, &frame, chart, &shades);
    }
    legend::draw(&mut svg, &frame, chart, &plan);
    let lines = (frame.notes, frame.note_lines);
    notes(&mut svg, (w, frame.em), &plan.notes, lines);
    if let Some(instead) = plan.empty {
        let at = (
            frame.left.midpoint(frame.right),
            frame.top.midpoint(frame.bottom),
        );
        svg.text(
            at,
            Anchor::Middle,
            style(frame.em * 1.3, FAINT),
            instead,
            instead,
        );
    }
    svg.finish()
}

/// A size that can be drawn.
pub(crate) fn held(width: u32, height: u32) -> (u32, u32) {
    (width.clamp(64, 8192), height.clamp(64, 8192))
}

fn style(size: f64, fill: Rgb) -> Type {
    Type {
        size,
        fill,
        bold: false,
    }
}

/// The hatching of lost times and the edge of the plot.
fn definitions(svg: &mut Svg, frame: &Frame) {
    let n = write::number;
    let step = frame.em * 0.6;
    svg.raw(&format!(
        "<defs><pattern id=\"lost\" width=\"{0}\" height=\"{0}\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"{0}\" height=\"{0}\" fill=\"#fff\" \
         fill-opacity=\"0.55\"/><rect width=\"{1}\" height=\"{0}\" fill=\"#8a8f96\"/></pattern>\
         <clipPath id=\"plot\"><rect x=\"{2}\" y=\"{3}\" width=\"{4}\" height=\"{5}\"/></clipPath></defs>",
        n(step),
        n(step * 0.22),
        n(frame.left),
        // Half a line's width of room, for lines at the very edge.
        n(frame.top - frame.em * 0.1),
        n(frame.plot_width()),
        n(frame.plot_height() + frame.em * 0.2),
    ));
}

fn title(svg: &mut Svg, (width, em_size): (f64, f64), chart: &Chart) {
    let title = clean(&chart.title);
    let room = width - 2.0 * em_size;
    // A long title is set smaller before it is shortened.
    let size = (room / em(&title).max(1.0)).clamp(em_size * 1.05, em_size * 1.4);
    let bold = Type {
        size,
        fill: INK,
        bold: true,
    };
    let short = fit(&title, room / size);
    let at = (em_size, frame::title_line(em_size));
    svg.text(at, Anchor::Start, bold, &short, &title);
}

/// Faint lines at the ticks of the left axis.
fn grid(svg: &mut Svg, frame: &Frame, plan: &Plan) {
    let pen = Pen {
        colour: GRID,
        width: frame.em * 0.08,
        dash: 0.0,
    };
    for tick in &plan.left.ticks {
        let y = frame.y(plan.left.share(tick.value));
        svg.line((frame.left, y), (frame.right, y), pen);
    }
}

/// Numbers and headings of the value axes, and the zero line.
fn axes(svg: &mut Svg, frame: &Frame, plan: &Plan) {
    let e = frame.em;
    let sides = [
        (Some(&plan.left), frame.left - 0.5 * e, Anchor::End),
        (plan.right.as_ref(), frame.right + 0.5 * e, Anchor::Start),
    ];
    for (ruler, x, anchor) in sides {
        for tick in ruler.iter().flat_map(|r| &r.ticks) {
            let share = ruler.map_or(0.0, |r| r.share(tick.value));
            let y = frame.y(share) + 0.35 * e;
            svg.text((x, y), anchor, style(e, FAINT), &tick.text, &tick.text);
        }
    }
    let room = (frame.width - 2.0 * frame.margin) / e;
    let room = if plan.right.is_some() {
        room / 2.0 - 1.0
    } else {
        room
    };
    let mut heading = |x, anchor, ruler: &crate::axis::Ruler| {
        let short = fit(&ruler.heading, room);
        svg.text(
            (x, frame.heading),
            anchor,
            style(e, FAINT),
            &short,
            &ruler.heading,
        );
    };
    heading(frame.margin, Anchor::Start, &plan.left);
    if let Some(right) = &plan.right {
        heading(frame.width - frame.margin, Anchor::End, right);
    }
    let zero = plan.left.share(0.0);
    // Zero's row of a heat map is not to be struck through.
    let zero = if (0.0..=1.0).contains(&zero) && plan.extent.is_none() {
        zero
    } else {
        0.0
    };
    let pen = Pen {
        colour: FAINT,
        width: e * 0.1,
        dash: 0.0,
    };
    let y = frame.y(zero);
    svg.line((frame.left, y), (frame.right, y), pen);
    if zero > 0.0 {
        let faint = Pen {
            colour: GRID,
            ..pen
        };
        svg.line(
            (frame.left, frame.bottom),
            (frame.right, frame.bottom),
            faint,
        );
    }
}

fn times(svg: &mut Svg, frame: &Frame, chart: &Chart, plan: &Plan) {
    let e = frame.em;
    let wanted = (frame.plot_width() / (6.0 * e)).clamp(1.0, 14.0) as usize;
    let axis = time::ticks(plan.seconds.0, plan.seconds.1, wanted);
    let pen = Pen {
        colour: FAINT,
        width: e * 0.08,
        dash: 0.0,
    };
    let mut free_from = 0.0;
    for tick in &axis.ticks {
        let x = frame.x(plan, tick.value);
        svg.line((x, frame.bottom), (x, frame.bottom + 0.35 * e), pen);
        let half = em(&tick.text) * e / 2.0;
        if x - half >= free_from && x + half <= frame.width {
            svg.text(
                (x, frame.times),
                Anchor::Middle,
                style(e, FAINT),
                &tick.text,
                &tick.text,
            );
            free_from = x + half + 0.6 * e;
        }
    }
    if let Some(y) = frame.caption {
        let caption = time::caption(axis.reading, chart.start);
        let short = fit(&caption, frame.plot_width() / e);
        svg.text(
            (frame.right, y),
            Anchor::End,
            style(e * 0.92, FAINT),
            &short,
            &caption,
        );
    }
}

/// The notes that have room, from the baseline `top` on.
fn notes(svg: &mut Svg, (width, e): (f64, f64), notes: &[String], (top, lines): (f64, usize)) {
    let small = style(e * 0.9, FAINT);
    let room = (width - 2.0 * e) / small.size;
    for i in 0..lines {
        let mut note = notes[i].clone();
        let more = notes.len() - lines;
        if i + 1 == lines && more > 0 {
            note = format!("{} (and {more} more)", fit(&note, room - 8.0));
        }
        let at = (e, top + i as f64 * e * 1.35);
        svg.text(at, Anchor::Start, small, &fit(&note, room), &note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Band, BandKind, Line, Point};
    use crate::random::Random;

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

    fn chart(lines: Vec<Line>) -> Chart {
        let longest = lines.iter().map(|l| l.points.len()).max().unwrap_or(0);
        Chart {
            seconds: (0.0, longest as f64),
            lines,
            ..Chart::default()
        }
    }

    /// The path with the colour of the first line.
    fn first_path(svg: &str) -> &str {
        let line = svg
            .lines()
            .find(|l| l.contains("fill=\"none\" stroke=\"#0072b2\""));
        line.and_then(|l| l.split('"').nth(1)).unwrap()
    }

    #[test]
    fn gaps_are_segments_of_their_own() {
        let chart = chart(vec![line(
            "a",
            &[1.0, 2.0, f64::NAN, 2.0, 1.0, f64::NAN, 3.0],
        )]);
        let svg = picture(&chart, 800, 400);
        assert_eq!(first_path(&svg).matches('M').count(), 3);
        assert!(!svg.contains("no data"));
    }

    #[test]
    fn hostile_names_stay_text() {
        let mut chart = chart(vec![line("</text><script>\u{0}\n&\"'🦀", &[1.0])]);
        chart.title = "<svg onload=\"x\">".into();
        chart.bands = vec![Band {
            name: "<b>".into(),
            from: 0.0,
            to: 1.0,
            kind: BandKind::Lost,
        }];
        let svg = picture(&chart, 800, 400);
        for bad in ["<script", "<svg onload", "<b>", "\u{0}"] {
            assert!(!svg.contains(bad), "{bad}");
        }
        assert!(svg.contains("🦀"));
    }

    #[test]
    fn without_points_it_says_so() {
        for lines in [
            vec![],
            vec![line("a", &[])],
            vec![line("a", &[f64::NAN, f64::INFINITY])],
        ] {
            assert!(picture(&chart(lines), 600, 300).contains("no data"));
        }
        for values in [&[0.0, 0.0][..], &[5.0, 5.0], &[-3.0], &[1.0]] {
            assert!(!picture(&chart(vec![line("a", values)]), 600, 300).contains("no data"));
        }
    }

    #[test]
    fn a_day_of_seconds_stays_small_and_keeps_its_peak() {
        let mut random = Random(3);
        let mut values = || (0..86400).map(|_| random.share()).collect::<Vec<_>>();
        let mut lines: Vec<_> = (0..8).map(|i| line(&format!("d{i}"), &values())).collect();
        lines[0].points[50_000].value = 3.0;
        let day = chart(lines);
        for width in [1000, 4000] {
            let svg = picture(&day, width, 600);
            assert!(svg.len() < 500_000, "{width}: {}", svg.len());
            let heights = first_path(&svg).split(['M', 'L']).skip(1);
            let heights: Vec<f64> = heights
                .map(|p| p.split(' ').nth(1).unwrap().parse().unwrap())
                .collect();
            let top = heights.iter().copied().fold(f64::MAX, f64::min);
            let usual = heights.iter().sum::<f64>() / heights.len() as f64;
            assert!(heights.iter().filter(|y| **y < top.midpoint(usual)).count() == 1);
        }
        let stacked = Chart {
            stacked: true,
            ..day
        };
        assert!(picture(&stacked, 1000, 600).len() < 500_000);
    }

    #[test]
    fn a_full_heat_map_stays_small_and_counts_outliers() {
        let mut random = Random(9);
        let cell = |i: u32| (i % 600, i / 600, 1.0 + (random.share() * 8.0).exp());
        let mut heat = crate::chart::Heat {
            rows: (0..400)
                .map(|r| (f64::from(r), f64::from(r) + 1.0))
                .collect(),
            columns: (0..600)
                .map(|c| (f64::from(c), f64::from(c) + 1.0))
                .collect(),
            cells: (0..600 * 300).map(cell).collect(),
            ..crate::chart::Heat::default()
        };
        heat.cells.push((7, 399, 12.0));
        heat.outliers = 0.0001;
        heat.log = Some(false);
        heat.amount.label = "I/Os".into();
        let chart = Chart {
            seconds: (0.0, 600.0),
            heat: Some(heat),
            ..Chart::default()
        };
        let svg = picture(&chart, 1000, 500);
        assert!(svg.len() < 500_000, "{}", svg.len());
        assert!(svg.contains("I/Os above 300 "), "outliers are told");
        assert!(svg.contains("up to 400"));
    }

    #[test]
    fn a_log_axis_tells_what_it_leaves_out() {
        let mut chart = chart(vec![line("a", &[0.0, -1.0, 10.0, 100.0])]);
        chart.left.log = true;
        let svg = picture(&chart, 800, 400);
        assert!(svg.contains("2 values at or below 0 left out of the log axis"));
        chart.lines = vec![line("a", &[0.0, 0.0])];
        let svg = picture(&chart, 800, 400);
        assert!(svg.contains("nothing above 0") && !svg.contains("no data"));
    }

    #[test]
    fn any_chart_becomes_valid_xml() {
        let mut random = Random(11);
        for i in 0..150 {
            let chart = random.chart();
            let (width, height) = (random.below(1500) as u32, random.below(1000) as u32);
            let svg = picture(&chart, width, height);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{i}");
            let options = resvg::usvg::Options::default();
            if let Err(e) = resvg::usvg::Tree::from_str(&svg, &options) {
                panic!("{i}: {e}\n{svg}");
            }
        }
    }
}
