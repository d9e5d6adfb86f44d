//! How fast a large file is read: `iostat -nmzxc 1` of a day, 20 devices, 98 MB.
//!
//! `cargo run --release -p formats --example speed` prints MB a second of one core, parsing
//! alone: rows are dropped as they come. `-- FILE` writes the text to a file instead.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it prints and takes the time, as its purpose is"
)]

use std::time::Instant;

use formats::{Head, Import, Options, recognise};
use run::rows::TableId;
use run::{Sink, catalog};

const SAMPLES: u64 = 86_400;
const DEVICES: u64 = 20;
const PIECE: usize = 1 << 20;

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    /// With one decimal, mostly small, seldom large.
    fn tenths(&mut self, most: u64) -> f64 {
        let limit = if self.below(8) == 0 {
            most
        } else {
            most / 20 + 1
        };
        self.below(limit * 10) as f64 / 10.0
    }
}

fn text() -> Vec<u8> {
    use std::io::Write as _;
    let mut text = Vec::with_capacity(120 << 20);
    let mut chance = Chance(1);
    for _ in 0..SAMPLES {
        let (user, system) = (chance.below(20), chance.below(9));
        let idle = 100 - user - system;
        text.extend_from_slice(b"     cpu\n us sy wt id\n");
        writeln!(text, " {user:2} {system:2}  0 {idle:2}").expect("memory");
        text.extend_from_slice(b"                    extended device statistics              \n");
        text.extend_from_slice(
            b"    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n",
        );
        for device in 0..DEVICES {
            // -z leaves some out.
            if chance.below(4) == 0 {
                continue;
            }
            let (reads, writes) = (chance.tenths(400), chance.tenths(300));
            let (read, written) = (chance.tenths(4000), chance.tenths(4000));
            let (wait, active) = (chance.tenths(2), chance.tenths(9));
            let (queued, served) = (chance.tenths(30), chance.tenths(60));
            let (blocked, busy) = (chance.below(20), chance.below(101));
            writeln!(
                text,
                " {reads:6.1} {writes:6.1} {read:6.1} {written:6.1} {wait:4.1} {active:4.1} \
                 {queued:6.1} {served:6.1} {blocked:3} {busy:3} c{}t{device}d0",
                device / 10
            )
            .expect("memory");
        }
    }
    text
}

/// Processor time so far, in seconds, where the kernel tells: other work on the machine does not
/// count.
fn processor_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanos: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanos / 1e9)
}

/// All rows of all tables.
fn count(sink: &Sink) -> usize {
    let tables = (0..catalog::tables().count()).map(|i| TableId(i as u16));
    tables.map(|table| sink.count(table)).sum()
}

fn main() {
    let text = text();
    let lines = text.split(|b| *b == b'\n').count() - 1;
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, &text).expect("the file can be written");
        return;
    }
    for _ in 0..5 {
        let head = Head::new(&text);
        let format = recognise(&head).expect("a format");
        let options = Options {
            every: Some(1.0),
            ..Options::default()
        };
        let (start, used) = (Instant::now(), processor_time());
        let mut import = Import::new(format, &head, options);
        import.hand_out_alike();
        let mut rows = 0;
        for piece in text.chunks(PIECE) {
            import.feed(piece).expect("it is imported");
            rows += count(import.rows());
            import.rows().clear();
        }
        let report = import.finish().expect("it is imported");
        rows += count(import.rows());
        let wall = start.elapsed().as_secs_f64();
        let passed = processor_time().zip(used).map_or(wall, |(b, a)| b - a);
        assert_eq!(report.unknown, 0, "{:?}", report.not_understood);
        println!(
            "{:.1} MB, {lines} lines, {rows} rows: {wall:.3} s, {passed:.3} s of a \
             processor, {:.0} MB/s",
            text.len() as f64 / 1e6,
            text.len() as f64 / 1e6 / passed
        );
    }
}
