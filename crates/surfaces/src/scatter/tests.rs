//! Pictures of points: what must be in them, and that any input is drawn in its size.

use super::*;
use crate::random::Random;
use crate::terminal::Colour;
use crate::text::columns;
use run::Unit;

fn value(low: f64, middle: f64, high: f64) -> Value {
    Value { low, middle, high }
}

fn example(two: bool) -> Scatter {
    let dot = |name: &str, x: f64, y: f64| Dot {
        name: name.into(),
        x: value(x * 0.98, x, x * 1.02),
        y: two.then(|| value(y * 0.9, y, y * 1.1)),
    };
    Scatter {
        title: "fio <job>".into(),
        x: Axis {
            label: "disk.bytes".into(),
            unit: Unit::Bytes,
            rate: true,
            log: false,
        },
        y: two.then(|| Axis {
            label: "p99".into(),
            unit: Unit::Seconds,
            rate: false,
            log: false,
        }),
        dots: vec![
            dot("baseline", 100e6, 1e-3),
            dot("mq-deadline", 140e6, 4e-3),
        ],
        curves: vec![],
        notes: vec!["a note".into()],
    }
}

#[test]
fn points_lie_where_they_belong() {
    let text = text(&example(true), 80, 18, Colour::None);
    let row = |mark: char| {
        text.lines()
            .position(|l| l.contains(mark) && l.contains('│'))
    };
    let find = |mark: &str| text.lines().find_map(|l| l.split_once(&format!("─{mark}")));
    // The second one is further right and higher up.
    let (a, b) = (find("a").unwrap().0, find("b").unwrap().0);
    assert!(columns(a) < columns(b), "{text}");
    assert!(row('b') < row('a'), "{text}");
    assert!(text.contains("a baseline   b mq-deadline"), "{text}");
    assert!(text.contains("disk.bytes"), "{text}");
}

#[test]
fn one_number_has_a_row_an_arm() {
    let text = text(&example(false), 60, 18, Colour::None);
    let of = |name: &str| {
        text.lines()
            .find(|l| l.starts_with(name))
            .unwrap()
            .to_owned()
    };
    assert!(
        of("mq-deadline").contains('●') && of("baseline").contains('─'),
        "{text}"
    );
    assert!(text.lines().all(|l| columns(l) <= 60), "{text}");
}

#[test]
fn the_drawing_escapes_and_names() {
    for two in [true, false] {
        let drawn = svg(&example(two), 800, 400);
        assert!(
            drawn.contains("fio &lt;job&gt;") && drawn.contains("mq-deadline"),
            "{drawn}"
        );
        assert!(drawn.ends_with("</svg>\n"));
    }
}

#[test]
fn anything_fits() {
    let mut random = Random(77);
    for i in 0..300 {
        let two = random.below(2) == 0;
        let mut any = || value(random.value(), random.value(), random.value());
        let dots = (0..i % 9)
            .map(|n| Dot {
                name: "x\u{1b}[31m<".repeat(n),
                x: any(),
                y: two.then(&mut any),
            })
            .collect();
        let scatter = Scatter {
            dots,
            y: two.then(Axis::default),
            curves: vec![Curve {
                name: "c".into(),
                points: (0..20).map(|_| (random.value(), random.value())).collect(),
            }],
            ..Scatter::default()
        };
        let (width, height) = (random.below(140) as u16, random.below(50) as u16);
        let text = text(&scatter, width, height, Colour::None);
        assert!(!text.contains('\u{1b}'));
        for line in text.lines() {
            assert!(columns(line) <= usize::from(width.max(20)), "{line}");
        }
        let drawn = svg(&scatter, 200, 100);
        assert!(
            !drawn.contains("NaN") && !drawn.contains("inf\""),
            "{drawn}"
        );
    }
}
