//! I/Os that the driver hands back: the loop driver does so with the rest of a read of which it got
//! only the beginning.

use crate::slow_fuse::{Answer, SlowDisk};
use crate::support::{can_run, scratch, total};
use crate::truth::{DiskLine, Totals, record_script_with, same};
use crate::{EVENTS, LOOK, MIB, NEEDS_FUSE, alone, buckets, fio, sum, undisturbed};

const BYTES: f64 = 16384.0;
const READS: f64 = 2000.0;

/// It stays one I/O of all its bytes, where it began.
fn a_rest_is_issued_again(name: &str, look: &[&str]) {
    if !can_run(name, NEEDS_FUSE) {
        return;
    }
    let _alone = alone();
    let disk = SlowDisk::new("requeued", 64 * MIB);
    let record = || {
        disk.answers(Answer::PageOneIn(10));
        let run = scratch("requeued").join("run");
        let job = format!("rw=read bs={BYTES} ioengine=psync number_ios={READS}");
        let before = DiskLine::now(&disk.name());
        record_script_with(&run, "100ms", look, &fio(&disk.path, &job).join(" "));
        let counted = DiskLine::now(&disk.name()).since(&before).of(0);
        let handed_back = disk.answered_otherwise() as f64;
        disk.answers(Answer::Whole);
        same("reads", counted[0], READS);
        same("bytes", counted[1], READS * BYTES);
        (run, handed_back)
    };
    undisturbed(record, |run, handed_back| {
        assert!(*handed_back >= 200.0, "only {handed_back} were handed back");
        let part = format!("where device = {}", disk.name());
        let requeues = Totals::of(run, &format!("disk.requeues by op {part}"));
        same("handed back", requeues.get("read"), *handed_back);
        same("all that were", requeues.sum(), *handed_back);
        for dimension in ["latency", "queue_time", "depth", "size", "distance"] {
            let of = |measure: &str| {
                let expression = format!("disk.{measure} by {dimension} {part}");
                sum(&buckets(run, &expression))
            };
            same(&format!("reads by {dimension}"), of("ios"), READS);
            same(&format!("bytes by {dimension}"), of("bytes"), READS * BYTES);
        }
        let sizes = buckets(run, &format!("disk.ios by size {part}"));
        assert!(sizes.iter().all(|s| s.from == BYTES), "{sizes:?}");
        // One after the other.
        same("random", total(run, &format!("disk.random {part}")), 0.0);
        let depths = buckets(run, &format!("disk.ios by depth {part}"));
        assert!(depths.iter().all(|d| d.from == 1.0), "{depths:?}");
        if look == EVENTS {
            let half = READS / 2.0 * BYTES;
            let first = format!("disk.ios {part} and offset < {half}");
            same(&first, total(run, &first), READS / 2.0);
            let odd = buckets(run, &format!("disk.ios by size {part} and offset >= 0"));
            assert!(odd.iter().all(|s| s.from == BYTES), "{odd:?}");
            let bytes = format!("disk.bytes {part} and offset >= 0");
            same(&bytes, total(run, &bytes), READS * BYTES);
        }
    });
}

#[test]
fn a_rest_that_is_issued_again_is_of_the_same_io() {
    let name = "a_rest_that_is_issued_again_is_of_the_same_io";
    a_rest_is_issued_again(name, LOOK);
}

#[test]
fn the_event_of_a_rest_that_is_issued_again_has_all_of_the_io() {
    let name = "the_event_of_a_rest_that_is_issued_again_has_all_of_the_io";
    a_rest_is_issued_again(name, EVENTS);
}
