//! How fast blkparse's text is imported: `cargo run --release -p formats --example
//! blkparse_speed`. The text is made in memory; what is printed is of one core.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it measures time and prints it"
)]

use std::time::Instant;

use formats::{Head, Import, Options, recognise};

/// How much text is made.
const BYTES: usize = 256 << 20;

/// I/Os that are queued, inserted, issued and completed, several at a time, as eight processors
/// see them.
fn text() -> Vec<u8> {
    let mut text = Vec::with_capacity(BYTES + 1024);
    let mut seed = 1_u64;
    let mut number = 0_u64;
    while text.len() < BYTES {
        let at = |nanos: u64| {
            let nanos = number * 9_000 + nanos;
            format!("{:5}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
        };
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (cpu, sector) = (seed >> 61, (seed >> 33) & !7);
        for (action, after) in [
            ("Q", 0),
            ("G", 800),
            ("I", 1_500),
            ("D", 2_100),
            ("C", 80_000),
        ] {
            let who = if action == "C" { "[0]" } else { "[fio]" };
            let line = format!(
                "  8,0   {cpu:2} {number:8} {} {:5} {action:>2} {:>3} {sector} + 8 {who}\n",
                at(after),
                4711,
                "RS",
            );
            text.extend_from_slice(line.as_bytes());
        }
        number += 1;
    }
    text
}

/// Seconds that this thread had a processor.
fn on_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    nanos.unwrap_or(f64::NAN) / 1e9
}

fn main() {
    let text = text();
    let head = Head::new(&text);
    let format = recognise(&head).expect("it is blkparse's");
    let (begun, used) = (Instant::now(), on_cpu());
    let mut import = Import::new(format, &head, Options::default());
    let mut rows = 0;
    for piece in text.chunks(1 << 20) {
        import.feed(piece).expect("it can be imported");
        rows += import.rows().filled().map(|(_, r)| r.len()).sum::<usize>();
        import.rows().clear();
    }
    let report = import.finish().expect("it can be imported");
    rows += import.rows().filled().map(|(_, r)| r.len()).sum::<usize>();
    let (seconds, used) = (begun.elapsed().as_secs_f64(), on_cpu() - used);
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{} lines, {rows} I/Os, {} not understood: {:.0} MB/s, {:.0} MB/s of processor time",
        report.data,
        report.unknown,
        megabytes / seconds,
        megabytes / used
    );
    for note in &report.notes {
        println!("{note}");
    }
}
