//! Memory is bounded by what a text has open, not by how long it is: each format reads its own
//! text over and over, hundreds of kilobytes of it, and the most that the process held grows by little.
//!
//! In a file of its own, because what another test holds would count.

use std::fmt::Write as _;

use formats::{FORMATS, Format, Head, Import, Options};

/// Bytes of text that each format reads.
const TEXT: usize = 400 << 10;
/// What a format may hold beyond what the process held before: a sample, the rows that wait for
/// the next one, a document that is not at its end. Text is not kept.
const MOST: u64 = 6 << 20;
/// The most that the process held since [`forget`], in bytes.
fn most() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// What it held so far does not count any more.
#[allow(
    clippy::disallowed_methods,
    reason = "the kernel's own switch for this process"
)]
fn forget() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

fn read(format: &'static Format, text: &[u8]) {
    let options = Options {
        every: Some(1.0),
        start: Some(1_700_000_000_000_000_000),
        ..Options::default()
    };
    let mut import = Import::new(format, &Head::new(text), options);
    let mut fed = 0;
    while fed < TEXT {
        if import.feed(text).is_err() {
            return;
        }
        import.rows().clear();
        fed += text.len();
    }
    let _ = import.finish();
}

#[test]
#[allow(clippy::disallowed_macros, reason = "a test says why it skips")]
fn a_longer_text_needs_no_more_memory() {
    if !forget() || most().is_none() {
        assert!(std::env::var_os("CI").is_none(), "the kernel does not tell");
        eprintln!("skipped: the kernel does not tell how much memory a process held");
        return;
    }
    let mut told = String::new();
    let mut faults = String::new();
    for format in FORMATS {
        forget();
        let before = most().unwrap_or_default();
        read(format, format.example.as_bytes());
        let grown = most().unwrap_or_default().saturating_sub(before);
        let _ = writeln!(told, "{} {} KiB", format.name, grown >> 10);
        if grown > MOST {
            let each = grown / TEXT as u64;
            let _ = writeln!(
                faults,
                "{}: {} MiB, {each} a byte",
                format.name,
                grown >> 20
            );
        }
    }
    assert!(faults.is_empty(), "\n{faults}\n{told}");
}
