//! Size and place of I/Os of which both are known.

use std::fs::File;
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::support::{can_run, scratch, total};
use crate::truth::{record_script_with, same};
use crate::{
    EVENTS, LOOK, MIB, NEEDS, NEEDS_ZRAM, Zram, alone, buckets, fio, quiet_device, sum, undisturbed,
};

const KIB: u64 = 1024;

/// So many I/Os of that size, one after the other from that place.
struct Piece {
    op: &'static str,
    count: u64,
    size: u64,
    offset: u64,
}

const fn piece(op: &'static str, count: u64, size: u64, offset: u64) -> Piece {
    Piece {
        op,
        count,
        size,
        offset,
    }
}

/// The fourth begins just before the place of the fifth, and reaches beyond it.
const PIECES: [Piece; 6] = [
    piece("read", 200, 4 * KIB, 0),
    piece("write", 70, 12 * KIB, 4 * MIB),
    piece("read", 40, 36 * KIB, 8 * MIB),
    piece("read", 1, 8 * KIB, 16 * MIB - 4 * KIB),
    piece("read", 100, 16 * KIB, 16 * MIB),
    piece("write", 50, 64 * KIB, 32 * MIB),
];
/// A sector, where the device has such small ones.
const SECTORS: Piece = piece("read", 30, 512, 48 * MIB + 512);

impl Piece {
    fn job(&self, device: &Path) -> String {
        let Piece {
            op, count, size, ..
        } = self;
        let (offset, length) = (self.offset, count * size);
        let job = format!("rw={op} bs={size} offset={offset} size={length} ioengine=psync");
        fio(device, &job).join(" ")
    }

    /// Its end.
    fn end(&self) -> u64 {
        self.offset + self.count * self.size
    }
}

/// All I/Os of `pieces` for which `what` holds: their number and bytes.
fn amount(pieces: &[&Piece], what: impl Fn(&Piece) -> bool) -> [f64; 2] {
    let each = pieces.iter().flat_map(|p| {
        let place = |n| p.offset + n * p.size;
        (0..p.count).map(move |n| piece(p.op, 1, p.size, place(n)))
    });
    each.filter(|io| what(io))
        .fold([0.0; 2], |[ios, bytes], io| {
            [ios + 1.0, bytes + io.size as f64]
        })
}

/// What a predicate selects is exactly what `what` does.
fn selects(run: &Path, pieces: &[&Piece], tests: &str, what: impl Fn(&Piece) -> bool) {
    let expected = amount(pieces, what);
    for (measure, expected) in ["ios", "bytes"].into_iter().zip(expected) {
        let expression = format!("disk.{measure} where {tests}");
        same(&expression, total(run, &expression), expected);
    }
}

fn sizes_agree(run: &Path, device: &str, pieces: &[&Piece], more: &str) {
    let part = format!("where device = {device}{more}");
    let sizes = buckets(run, &format!("disk.ios by size {part}"));
    for size in pieces.iter().map(|p| p.size) {
        let [expected, _] = amount(pieces, |p| p.size == size);
        let told = sizes.iter().filter(|b| b.from == size as f64);
        let told: f64 = told.map(|b| b.total).sum();
        same(&format!("of {size} bytes {part}"), told, expected);
    }
    same("of any size", sum(&sizes), amount(pieces, |_| true)[0]);
    selects(
        run,
        pieces,
        &format!("device = {device}{more} and size >= 16KiB"),
        |p| p.size >= 16 * KIB,
    );
    let two = format!("device = {device}{more} and op = read and size < 8KiB");
    selects(run, pieces, &two, |p| p.op == "read" && p.size < 8 * KIB);
}

fn places_agree(run: &Path, device: &str, pieces: &[&Piece]) {
    let only = format!("device = {device} and offset");
    for piece in pieces {
        let (from, to) = (piece.offset, piece.end());
        let within = |p: &Piece| (from..to).contains(&p.offset);
        selects(
            run,
            pieces,
            &format!("{only} >= {from} and offset < {to}"),
            within,
        );
        // To the sector: without the first of it, and with no more than that.
        let one = format!("{only} >= {from} and offset <= {from}");
        same(&one, total(run, &format!("disk.ios where {one}")), 1.0);
        let rest = format!("{only} > {from} and offset < {to}");
        selects(run, pieces, &rest, |p| from < p.offset && p.offset < to);
    }
    // What begins before and reaches beyond is before.
    selects(run, pieces, &format!("{only} < 16MiB"), |p| {
        p.offset < 16 * MIB
    });
    selects(
        run,
        pieces,
        &format!("{only} >= 16MiB and op = write"),
        |p| p.offset >= 16 * MIB && p.op == "write",
    );
    // All sizes of a place, all places of a size.
    let of = format!("disk.ios by offset where device = {device} and size = 36KiB");
    let at = buckets(run, &of);
    let places = at.first().map(|b| b.from).zip(at.last().map(|b| b.from));
    let (first, last) = places.expect("some");
    assert!(first >= 8e6 && last < 9.5 * MIB as f64, "{first} to {last}");
    same(&of, sum(&at), 40.0);
}

#[test]
fn sizes_and_places_are_those_of_each_io() {
    if !can_run("sizes_and_places_are_those_of_each_io", NEEDS) {
        return;
    }
    let _alone = alone();
    let pieces: Vec<&Piece> = PIECES.iter().chain([&SECTORS]).collect();
    let (_lock, device) = quiet_device("places");
    for look in [LOOK, EVENTS] {
        let record = || {
            let run = scratch("places").join("run");
            let jobs: Vec<String> = pieces.iter().map(|p| p.job(&device.path)).collect();
            record_script_with(&run, "100ms", look, &jobs.join(" >&2\n"));
            (run, ())
        };
        undisturbed(record, |run, ()| {
            sizes_agree(run, &device.name(), &pieces, "");
            if look == EVENTS {
                // The events, as the histogram.
                sizes_agree(run, &device.name(), &pieces, " and offset >= 0");
                places_agree(run, &device.name(), &pieces);
            }
        });
    }
}

#[test]
fn sizes_and_places_of_bios_are_those_of_each() {
    let name = "sizes_and_places_of_bios_are_those_of_each";
    if !can_run(name, &[NEEDS, NEEDS_ZRAM].concat()) {
        return;
    }
    let _alone = alone();
    let pieces: Vec<&Piece> = PIECES.iter().collect();
    let device = Zram::new("64M");
    // Device managers leave a locked one alone.
    let lock = File::open(&device.path).expect("the device opens");
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).expect("the device locks");
    let run = scratch("places-bios").join("run");
    let jobs: Vec<String> = pieces.iter().map(|p| p.job(&device.path)).collect();
    record_script_with(&run, "100ms", EVENTS, &jobs.join(" >&2\n"));
    sizes_agree(&run, &device.name, &pieces, "");
    sizes_agree(&run, &device.name, &pieces, " and offset >= 0");
    places_agree(&run, &device.name, &pieces);
}
