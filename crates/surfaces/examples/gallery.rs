//! Draws one picture of every kind into a directory, to look at:
//! `cargo run -p surfaces --example gallery -- DIRECTORY`; with `--terminal NAME WIDTH HEIGHT
//! true|256|none` prints one in the terminal.

// A program of its own, which exists to write and print.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use run::Unit;
use surfaces::terminal::Colour;
use surfaces::{Axis, Band, BandKind, Chart, Heat, Line, Point, png, svg, terminal};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--terminal", name, width, height, colour] => {
            let chart = charts()
                .into_iter()
                .find(|c| c.0 == name)
                .expect("a known name");
            let colour = match colour {
                "true" => Colour::True,
                "256" => Colour::Palette256,
                _ => Colour::None,
            };
            let size = (
                width.parse().expect("a width"),
                height.parse().expect("a height"),
            );
            print!("{}", terminal::picture(&chart.1, size.0, size.1, colour));
        }
        [directory] => {
            std::fs::create_dir_all(directory).expect("a directory");
            for (name, chart, (width, height)) in charts() {
                let path = format!("{directory}/{name}");
                let text = svg::picture(&chart, width, height);
                println!("{name}: {} bytes of SVG", text.len());
                std::fs::write(format!("{path}.svg"), text).expect("SVG written");
                let pixels = png::picture(&chart, width, height).expect("a PNG");
                std::fs::write(format!("{path}.png"), pixels).expect("PNG written");
            }
        }
        _ => eprintln!("gallery DIRECTORY | gallery --terminal NAME WIDTH HEIGHT true|256|none"),
    }
}

fn charts() -> Vec<(&'static str, Chart, (u32, u32))> {
    vec![
        ("two-axes", two_axes(), (1000, 500)),
        ("log", log(), (1000, 500)),
        ("stacked", stacked(), (1000, 500)),
        ("heat", heat(1), (1000, 500)),
        ("heat-coarse", heat(32), (800, 400)),
        ("gaps", gaps(), (1000, 450)),
        ("tiny", gaps(), (300, 150)),
        ("small", many(), (480, 320)),
        ("heat-tiny", heat(1), (300, 150)),
        ("huge", two_axes(), (4000, 3000)),
        ("one-point", one_point(), (800, 400)),
        (
            "empty",
            Chart {
                title: "disk.bytes by op".into(),
                ..Chart::default()
            },
            (600, 300),
        ),
        ("many", many(), (1000, 560)),
        ("day", day(), (1200, 500)),
    ]
}

/// Smooth noise, the same each time.
struct Noise(u64, f64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
    }

    fn next(&mut self) -> f64 {
        self.1 = 0.85 * self.1 + 0.15 * (self.uniform() * 2.0 - 1.0);
        self.1
    }
}

fn axis(label: &str, unit: Unit, rate: bool, log: bool) -> Axis {
    Axis {
        label: label.into(),
        unit,
        rate,
        log,
    }
}

fn line(name: &str, count: usize, step: f64, value: impl Fn(f64, f64) -> f64) -> Line {
    let mut noise = Noise(name.bytes().map(u64::from).sum::<u64>() * 7919, 0.0);
    let points: Vec<Point> = (0..count)
        .map(|i| {
            let from = i as f64 * step;
            Point {
                from,
                to: from + step,
                value: value(from, noise.next()),
            }
        })
        .collect();
    let known = || points.iter().map(|p| p.value).filter(|v| v.is_finite());
    Line {
        name: name.into(),
        right: false,
        mean: known().sum::<f64>() / known().count() as f64,
        max: known().fold(0.0, f64::max),
        points,
    }
}

fn band(name: &str, from: f64, to: f64, kind: BandKind) -> Band {
    Band {
        name: name.into(),
        from,
        to,
        kind,
    }
}

const START: Option<i64> = Some(1772373909 * 1_000_000_000);
const MIB: f64 = 1048576.0;

fn two_axes() -> Chart {
    let mut time = line("mean latency", 600, 1.0, |t, n| {
        0.004 + 0.003 * (t / 70.0).sin().max(0.0) + 0.002 * n.abs()
    });
    time.right = true;
    Chart {
        title: "disk.bytes by op, disk.latency where device = vda".into(),
        seconds: (0.0, 600.0),
        start: START,
        left: axis("bytes", Unit::Bytes, true, false),
        right: Some(axis("latency", Unit::Seconds, false, false)),
        lines: vec![
            line("read", 600, 1.0, |t, n| {
                MIB * (420.0 + 60.0 * (t / 40.0).sin() + 300.0 * n)
            }),
            line("write", 600, 1.0, |t, n| {
                MIB * (150.0 + 40.0 * (t / 90.0).cos() + 100.0 * n)
            }),
            time,
        ],
        ..Chart::default()
    }
}

fn log() -> Chart {
    let mut lines = vec![
        line("p50", 300, 1.0, |t, n| {
            80e-6 * (1.0 + 0.4 * n + 0.1 * (t / 30.0).sin())
        }),
        line("p99", 300, 1.0, |t, n| {
            900e-6 * (2.0 * n + (t / 50.0).sin()).exp()
        }),
        line("p99.9", 300, 1.0, |t, n| {
            9e-3 * (6.0 * n + (t / 50.0).sin()).exp()
        }),
    ];
    for i in 100..112 {
        lines[0].points[i].value = 0.0;
    }
    Chart {
        title: "disk.latency quantiles where op = read".into(),
        seconds: (0.0, 300.0),
        start: START,
        left: axis("latency", Unit::Seconds, false, true),
        lines,
        ..Chart::default()
    }
}

fn stacked() -> Chart {
    let names = ["user", "system", "iowait", "irq", "softirq", "steal"];
    let mut lines: Vec<Line> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            line(name, 240, 1.0, move |t, n| {
                (0.9 / (1.0 + i as f64) + 0.5 * n + 0.2 * (t / 30.0 + i as f64).sin()).max(0.01)
            })
        })
        .collect();
    lines.push(line("other", 240, 1.0, |_, n| 0.1 + 0.1 * n.abs()));
    for l in &mut lines {
        l.points.drain(150..165);
    }
    Chart {
        title: "cpu.time by mode".into(),
        seconds: (0.0, 240.0),
        start: START,
        left: axis("CPU time", Unit::Seconds, true, false),
        lines,
        stacked: true,
        bands: vec![
            band("warmup", 0.0, 30.0, BandKind::Phase),
            band("steady", 30.0, 220.0, BandKind::Phase),
        ],
        ..Chart::default()
    }
}

fn heat(every: u32) -> Chart {
    let mut noise = Noise(5, 0.0);
    let mut counts = std::collections::BTreeMap::new();
    let seconds = if every == 1 { 600 } else { 120 };
    for column in 0..seconds {
        if (200..215).contains(&column) {
            continue;
        }
        for i in 0..1500 {
            let normal: f64 = (0..6).map(|_| noise.uniform()).sum::<f64>() - 3.0;
            let t = f64::from(column);
            let nanos = match i % 10 {
                0..=5 => 90e3 * (0.35 * normal).exp() * (1.0 + 0.2 * (t / 40.0).sin()),
                6..=8 => 2.5e6 * (0.45 * normal + 0.5 * (t / 90.0).sin()).exp(),
                _ if noise.uniform() < 0.01 => 400e6 * (1.0 + noise.uniform()),
                _ => 9e6 * (0.5 * normal).exp(),
            };
            *counts
                .entry((column, run::grid::index(nanos as u64) / every))
                .or_insert(0.0) += 1.0;
        }
    }
    let rows = 2000 / every;
    Chart {
        title: "disk.ios by latency where device = vda and op = read".into(),
        seconds: (0.0, f64::from(seconds)),
        start: START,
        left: axis("latency", Unit::Seconds, false, false),
        heat: Some(Heat {
            places: false,
            amount: axis("I/Os", Unit::Count, false, false),
            log: None,
            rows: (0..rows)
                .map(|r| {
                    let low = run::grid::lower(r * every) as f64 / 1e9;
                    (low, run::grid::upper(r * every + every - 1) as f64 / 1e9)
                })
                .collect(),
            columns: (0..seconds)
                .map(|c| (f64::from(c), f64::from(c) + 1.0))
                .collect(),
            cells: counts.into_iter().map(|((c, r), n)| (c, r, n)).collect(),
            outliers: 0.002,
        }),
        ..Chart::default()
    }
}

fn gaps() -> Chart {
    let mut lines = vec![
        line("eth0", 120, 1.0, |t, n| {
            9e4 + 3e4 * (t / 13.0).sin() + 4e4 * n
        }),
        line(
            "bond0.1234 <uplink> & \"quoted\" name of a rather long interface that goes on",
            120,
            1.0,
            |_, n| 4e4 + 3e4 * n,
        ),
    ];
    for i in 40..55 {
        lines[0].points[i].value = f64::NAN;
    }
    lines[1].points.drain(70..73);
    Chart {
        title: "net.packets by interface where phase != setup".into(),
        seconds: (0.0, 120.0),
        start: START,
        left: axis("packets", Unit::Count, true, false),
        lines,
        bands: vec![
            band("warmup", 0.0, 20.0, BandKind::Phase),
            band("steady state, 32 clients", 20.0, 95.0, BandKind::Phase),
            band("cooldown", 95.0, 120.0, BandKind::Phase),
            band("events lost", 80.0, 86.0, BandKind::Lost),
        ],
        notes: vec!["loss: 1,203 of 9.1M events between 80 s and 86 s".into()],
        ..Chart::default()
    }
}

fn one_point() -> Chart {
    Chart {
        title: "memory.used".into(),
        seconds: (0.0, 10.0),
        left: axis("memory", Unit::Bytes, false, false),
        lines: vec![line("used", 1, 1.0, |_, _| 3.2 * 1024.0 * MIB)],
        ..Chart::default()
    }
}

fn many() -> Chart {
    let names = [
        "postgres",
        "fio",
        "kworker/u8:2-events_unbound",
        "nginx: worker process",
        "java",
        "rsync",
        "node",
        "prometheus",
    ];
    let mut lines: Vec<Line> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            line(name, 900, 4.0, move |t, n| {
                (1.6 - 0.18 * i as f64 + 0.5 * n + 0.15 * (t / 300.0 + i as f64).sin()).max(0.0)
            })
        })
        .collect();
    lines.push(line("other", 900, 4.0, |_, n| 0.15 + 0.2 * n.abs()));
    Chart {
        title: "cpu.time by process".into(),
        seconds: (0.0, 3600.0),
        start: START,
        left: axis("CPU time", Unit::Seconds, true, false),
        lines,
        ..Chart::default()
    }
}

fn day() -> Chart {
    let lines = (0..8)
        .map(|i| {
            let name = format!("sd{}", char::from(b'a' + i));
            line(&name, 86400, 1.0, move |t, n| {
                let spike = if t as u32 % 7200 == u32::from(i) * 600 {
                    3000.0
                } else {
                    0.0
                };
                f64::from(i) * 400.0 + 200.0 + 100.0 * (t / 9000.0).sin() + 200.0 * n + spike
            })
        })
        .collect();
    Chart {
        title: "disk.ios by device".into(),
        seconds: (0.0, 86400.0),
        start: START,
        left: axis("I/Os", Unit::Count, true, false),
        lines,
        ..Chart::default()
    }
}
