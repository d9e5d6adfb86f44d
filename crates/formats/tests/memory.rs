//! Memory is bounded by what a text has open, not by how long it is: each format reads its own text
//! over and over, and what it holds of four times as much may be more by a small part of the text only.
//! What is held is counted by the allocator, to the byte, so that few megabytes tell what is kept.
//!
//! Each copy is later than the one before, and devices come and go: state by name and by time grows
//! as it would in a long recording.
#![allow(
    unsafe_code,
    reason = "what is allocated can be counted by the allocator only"
)]

mod copies;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Mutex;

use copies::Copies;
use formats::{FORMATS, Format, Head, Import, Options};

/// Bytes of text that each format reads.
const TEXT: usize = 2 << 20;
/// As much is fed at a time.
const PIECE: usize = 16 << 10;
/// Of so many bytes of text one may be held: 6 MiB of 32. A sample, the rows that wait for the next
/// one, a document that is not at its end are the same in a short text.
const ONE_OF: i64 = 5;
/// Formats whose text is one document by nature, and why.
const DOCUMENTS: &[(&str, &str)] = &[(
    "sadf-text",
    "a report tells of the whole time before the next one begins",
)];
const SYSSTAT_DOCUMENTS: &[&str] = &[
    "iostat-json",
    "mpstat-json",
    "pidstat-json",
    "sadf-json",
    "sadf-xml",
];
/// Bytes that a document may take for each of its own.
const OF_DOCUMENT: i64 = 4;
/// Formats whose times are not of the clock (since boot, since a job began) or of half the day: all
/// copies are of one time, as no long recording is, and what waits for its end grows.
const OF_ONE_TIME: &[&str] = &[
    "blkparse",
    "blktrace",
    "block-events",
    "fio-bw-log",
    "fio-hist-log",
    "fio-iops-log",
    "kstat",
    "sar",
    "zonestat",
];
/// Formats that hold more than a small part of their text, and less than all of it.
const PARTLY: &[&str] = &["ethtool", "fio-terse", "mpstat-linux"];

/// Hands memory out and counts what each thread holds.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    /// Bytes held now, and the most at a time.
    static HELD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

fn count(bytes: i64) {
    // A thread that ends has nobody to tell.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

// SAFETY: all is the system's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The most that was held while `read` ran, beyond what was held before.
fn most_held<T>(read: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD.with(|held| {
        let (now, _) = held.get();
        held.set((now, now));
        now
    });
    let value = read();
    (value, HELD.with(|held| held.get().1) - before)
}

/// Reads that much text; how many lines were taken, or why it was not read to its end.
fn read(format: &'static Format, bytes: usize, changing: bool) -> Result<u64, String> {
    let options = Options {
        every: Some(1.0),
        start: Some(1_700_000_000_000_000_000),
        ..Options::default()
    };
    let example = format.example_bytes();
    let mut copies = if changing {
        Copies::of(&example)
    } else {
        Copies::same(&example)
    };
    let mut import = Import::new(format, &Head::new(&example), options);
    let mut fed = 0;
    let mut piece = Vec::new();
    while fed < bytes {
        piece.clear();
        while piece.len() < PIECE {
            piece.extend_from_slice(copies.following());
        }
        import
            .feed(&piece)
            .map_err(|why| format!("refused after {fed} bytes: {why}"))?;
        import.rows().clear();
        fed += piece.len();
    }
    let report = import.finish().map_err(|why| why.to_string())?;
    // What comes again at the same time may tell nothing new.
    if report.data < copies.copies() && !OF_ONE_TIME.contains(&format.name) {
        let (lines, copies) = (report.data, copies.copies());
        return Err(format!("{lines} lines of {copies} copies were taken"));
    }
    Ok(report.data)
}

/// How many bytes more the format may hold of a whole text than of a quarter.
fn limit(name: &str) -> i64 {
    let more = (TEXT - TEXT / 4) as i64;
    let document = DOCUMENTS.iter().any(|(document, _)| *document == name);
    if document || SYSSTAT_DOCUMENTS.contains(&name) || OF_ONE_TIME.contains(&name) {
        OF_DOCUMENT * more
    } else if PARTLY.contains(&name) {
        more
    } else {
        more / ONE_OF
    }
}

/// How many bytes more it held of the whole text than of a quarter.
fn grown(format: &'static Format) -> Result<i64, String> {
    let held = |bytes: usize| -> Result<i64, String> {
        // Of some a later time cannot be told by changing the text.
        let (taken, held) = most_held(|| read(format, bytes, true));
        if taken.is_ok() {
            return Ok(held);
        }
        let (taken, held) = most_held(|| read(format, bytes, false));
        taken.map(|_| held)
    };
    // What is built once, as the names of months, is no format's.
    let _ = read(format, 1, true);
    Ok(held(TEXT)? - held(TEXT / 4)?)
}

#[test]
fn a_longer_text_needs_no_more_memory() {
    let read = FORMATS.iter().filter(|f| !f.help.contains("; refused: "));
    let left = Mutex::new(read);
    let faults = Mutex::new(String::new());
    let work = || {
        loop {
            let next = left.lock().expect("nobody fell over").next();
            let Some(format) = next else { return };
            let grown = grown(format);
            let fault = match grown {
                Err(why) => why,
                Ok(grown) if grown > limit(format.name) => {
                    format!(
                        "{} KiB more of {} KiB more of text",
                        grown >> 10,
                        (TEXT - TEXT / 4) >> 10
                    )
                }
                Ok(_) => continue,
            };
            let mut faults = faults.lock().expect("nobody fell over");
            let _ = writeln!(faults, "{}: {fault}", format.name);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let faults = faults.into_inner().expect("nobody fell over");
    assert!(faults.is_empty(), "\n{faults}");
}
