//! Any bytes, read as any format: no panic, no hang, no more rows than the input can make, and each
//! line accounted for once.
//!
//! The first byte says which format (the last of them is a described table, whose description
//! comes first, up to a NUL), the second in which pieces, with which options, and whether what is
//! recognised goes before the first.
#![no_main]

mod seeds;

use formats::{FORMATS, Format, Head, Import, Options, own, recognise};
use libfuzzer_sys::fuzz_target;

/// Rows that a byte may make, and any input: a bucket of a histogram is spread over the grid.
const ROWS_A_BYTE: usize = 64;
const ROWS_ANYWAY: usize = 200_000;

fuzz_target!(
    init: seeds::write(),
    |data: &[u8]| {
        let [which, how, text @ ..] = data else { return };
        let options = Options {
            every: (how & 1 == 0).then_some(1.0),
            start: (how & 2 == 0).then_some(1_700_000_000_000_000_000),
            ..Options::default()
        };
        let piece = [1, 3, 64, 4096][usize::from(how >> 2 & 3)];
        let head = Head::new(text);
        // What recognises must not fall over, either.
        let recognised = recognise(&head).ok().filter(|_| how & 16 != 0);
        let told = FORMATS.get(usize::from(*which) % (FORMATS.len() + 1));
        if let Some(format) = recognised.or(told) {
            let import = Import::new(format, &head, options);
            drained(import, text, piece, !is_binary(format));
            return;
        }
        let mut parts = text.splitn(2, |b| *b == 0);
        let (toml, table) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if let Ok(own) = own(&String::from_utf8_lossy(toml)) {
            let import = Import::new(&own, &Head::new(table), options);
            drained(import, table, piece, true);
        }
    }
);

/// Whether it has records, which are counted instead of lines.
fn is_binary(format: &Format) -> bool {
    format.example.starts_with("0x")
}

fn drained(mut import: Import, text: &[u8], piece: usize, has_lines: bool) {
    let mut rows = 0;
    for piece in text.chunks(piece) {
        let fed = import.feed(piece);
        rows += count(&mut import);
        if fed.is_err() {
            return;
        }
    }
    let report = import.finish();
    rows += count(&mut import);
    assert!(rows <= ROWS_ANYWAY + ROWS_A_BYTE * text.len(), "{rows} rows");
    if let Some(report) = report.ok().filter(|_| has_lines) {
        let ends = text.iter().filter(|b| **b == b'\n').count() as u64;
        let lines = ends + u64::from(text.last().is_some_and(|b| *b != b'\n'));
        let told = report.data + report.noise + report.unknown;
        assert_eq!(told, lines, "each line is accounted for once: {report:?}");
    }
}

fn count(import: &mut Import) -> usize {
    let rows = import.rows().filled().map(|(_, r)| r.len()).sum();
    import.rows().clear();
    rows
}
