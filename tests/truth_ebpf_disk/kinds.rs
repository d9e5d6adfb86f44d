//! What an I/O is for: whether somebody waits for it, and whether it is the file system's own.
//! Against commands of which that is known, and the letters of the kernel's own trace.

use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{AtEnd, Need, can_run, scratch, succeed, total};
use crate::truth::{DiskLine, Totals, record_script_with, same};
use crate::{EVENTS, NEEDS, alone, fio, quiet_device, undisturbed};

/// Where the kernel writes traces as text.
const INSTANCES: &str = "/sys/kernel/tracing/instances";

/// The kernel's own trace of what a device completes.
struct Trace(PathBuf);

/// A line of it.
struct Told {
    /// `R`, `WS`, `RM`, `FF`, `WFSM`: R, W, D or F first, S: somebody waits, M: metadata; an F before
    /// it a flush before it, an F behind one after it.
    letters: String,
    sectors: u64,
}

impl Told {
    /// `kworker/0:1-9 [000] d.h. 1.2: block_rq_complete: 7,0 WSM () 2048 + 8 none,0,0 [0]`.
    fn read(line: &str) -> Option<Told> {
        let (_, rest) = line.split_once(": block_rq_complete: ")?;
        let mut fields = rest.split_whitespace();
        let letters = fields.nth(1)?.to_owned();
        let sectors = fields.skip_while(|f| *f != "+").nth(1)?;
        let sectors = sectors.parse().ok()?;
        Some(Told { letters, sectors })
    }

    fn has(&self, letter: char) -> bool {
        self.letters.contains(letter)
    }

    /// Whether the kernel counts it as one that somebody waits for.
    fn is_sync(&self) -> bool {
        self.has('R') || self.has('S') || self.has('F')
    }

    fn op(&self) -> &'static str {
        match self.letters.trim_start_matches('F').chars().next() {
            Some('R') => "read",
            Some('W') => "write",
            Some('D') => "discard",
            _ => "flush",
        }
    }
}

impl Trace {
    /// Of a device, from now on.
    fn of(device: &Path) -> Trace {
        let dir = Path::new(INSTANCES).join(format!("sonde-test-{}", std::process::id()));
        fs::create_dir(&dir).expect("root may");
        let trace = Trace(dir);
        let number = fs::metadata(device).expect("a device").st_rdev();
        let kernels =
            u64::from(rustix::fs::major(number)) << 20 | u64::from(rustix::fs::minor(number));
        trace.set("buffer_size_kb", "16384");
        let event = "events/block/block_rq_complete";
        trace.set(&format!("{event}/filter"), &format!("dev == {kernels}"));
        trace.set(&format!("{event}/enable"), "1");
        trace
    }

    fn set(&self, file: &str, value: &str) {
        fs::write(self.0.join(file), value).unwrap_or_else(|e| panic!("{file}: {e}"));
    }

    /// What moved data until now.
    fn moved(&self) -> Vec<Told> {
        let text = fs::read_to_string(self.0.join("trace")).expect("a trace");
        let per_cpu = fs::read_dir(self.0.join("per_cpu")).expect("processors");
        for cpu in per_cpu.flatten() {
            let stats = fs::read_to_string(cpu.path().join("stats")).expect("counters");
            let lost = stats.lines().filter(|l| l.starts_with("overrun:"));
            assert!(lost.clone().all(|l| l == "overrun: 0"), "{stats}");
        }
        let lines = text.lines().filter(|l| !l.starts_with('#'));
        let lines: Vec<Told> = lines.filter_map(Told::read).collect();
        // What waits for a flush is told again, without data, when that is done.
        lines.into_iter().filter(|t| t.sectors > 0).collect()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn somebody_waits_for_reads_and_synchronous_writes_nobody_for_writing_back() {
    let name = "somebody_waits_for_reads_and_synchronous_writes_nobody_for_writing_back";
    if !can_run(name, &[NEEDS, &[Need::Program("dd")]].concat()) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("sync");
    let record = || {
        let run = scratch("sync").join("run");
        let path = device.path.display();
        // The kernel is told to begin with each page but the last, and nobody waits. With holes
        // between, none is merged with another.
        let back = "rw=write:4k bs=4k direct=0 ioengine=psync sync_file_range=write:1 \
                    offset=32m size=8m number_ios=61";
        let back = fio(&device.path, back).join(" ");
        // The kernel marks a read only if its process sleeps until then, as that of `dd` does.
        let many = "rw=randread bs=4k ioengine=libaio iodepth=8 number_ios=100 size=8m";
        let many = fio(&device.path, many).join(" ");
        let script = format!(
            "dd if={path} of=/dev/null bs=4k count=300 iflag=direct
             {many} >&2
             dd if=/dev/zero of={path} bs=4k count=70 oflag=direct conv=notrunc
             dd if=/dev/zero of={path} bs=4k count=40 seek=2048 oflag=sync conv=notrunc
             {back} >&2"
        );
        let before = DiskLine::now(&device.name());
        record_script_with(&run, "100ms", EVENTS, &script);
        let counted = DiskLine::now(&device.name()).since(&before);
        same("flushes", counted.of(3)[0], 40.0);
        succeed(
            Command::new("blockdev")
                .arg("--flushbufs")
                .arg(&device.path),
        );
        (run, ())
    };
    undisturbed(record, |run, ()| {
        let by = |op: &str, measure: &str| {
            let part = format!("where device = {} and op = {op}", device.name());
            let all = Totals::of(run, &format!("disk.{measure} by sync {part}"));
            [all.get("sync"), all.get("async")]
        };
        assert_eq!(by("read", "ios"), [400.0, 0.0], "reads");
        // Forty writes ask for a flush, and move nothing.
        assert_eq!(by("write", "ios"), [150.0, 60.0], "writes");
        assert_eq!(by("write", "bytes"), [110.0 * 4096.0, 60.0 * 4096.0]);
        assert_eq!(by("flush", "ios"), [40.0, 0.0], "flushes");
    });
}

/// A file system at work: many names, a journal, data past the cache and through it. It is there until
/// the recorder has looked where it is mounted, which it does at the next sample.
fn a_file_system_at_work(device: &Path, at: &Path) -> String {
    let (device, at) = (device.display(), at.display());
    format!(
        "mount {device} {at}
         mkdir {at}/many; cd {at}/many; seq 2000 | xargs touch; cd /; sync
         dd if=/dev/zero of={at}/data bs=64k count=100 oflag=direct
         dd if=/dev/zero of={at}/cached bs=4k count=500 conv=fsync
         sleep 0.3
         umount {at}; mount {device} {at}
         ls -l {at}/many | wc -l >&2
         umount {at}"
    )
}

#[test]
fn metadata_of_a_file_system_is_what_the_kernel_marks_so() {
    let name = "metadata_of_a_file_system_is_what_the_kernel_marks_so";
    let more = [
        Need::Program("mkfs.ext4"),
        Need::Program("mount"),
        Need::Path(INSTANCES),
    ];
    if !can_run(name, &[NEEDS, &more].concat()) {
        return;
    }
    let _alone = alone();
    let (_lock, device) = quiet_device("metadata");
    let dir = scratch("metadata");
    let at = dir.join("mounted");
    fs::create_dir(&at).expect("a directory");
    let _end = AtEnd(|| _ = Command::new("umount").arg("-q").arg(&at).output());
    let record = || {
        succeed(Command::new("mkfs.ext4").args(["-qF"]).arg(&device.path));
        let run = dir.join("run");
        let _ = fs::remove_dir_all(&run);
        let trace = Trace::of(&device.path);
        let before = DiskLine::now(&device.name());
        let work = a_file_system_at_work(&device.path, &at);
        record_script_with(&run, "100ms", EVENTS, &work);
        let counted = DiskLine::now(&device.name()).since(&before);
        (run, (trace.moved(), counted))
    };
    undisturbed(record, |run, (told, counted)| {
        let only = format!("where device = {}", device.name());
        let moved = format!("{only} and size > 0");
        let count = |what: &dyn Fn(&Told) -> bool| told.iter().filter(|t| what(t)).count() as f64;
        for (place, op) in ["read", "write"].into_iter().enumerate() {
            let is = |t: &Told| t.op() == op;
            let part = format!("{moved} and op = {op}");
            let by = Totals::of(run, &format!("disk.ios by metadata {part}"));
            let own = count(&|t| is(t) && t.has('M'));
            assert!(own > 30.0, "only {own} {op}s of metadata");
            same(&format!("{op}s of metadata"), by.get("yes"), own);
            same(&format!("other {op}s"), by.get("no"), count(&is) - own);
            let sync = Totals::of(run, &format!("disk.ios by sync {part}"));
            let waited = count(&|t| is(t) && t.is_sync());
            same(&format!("{op}s waited for"), sync.get("sync"), waited);
            same(
                &format!("other {op}s"),
                sync.get("async"),
                count(&is) - waited,
            );
            // With those that move nothing, as the kernel counts.
            let all = format!("{only} and op = {op}");
            for (at, measure) in ["ios", "bytes"].into_iter().enumerate() {
                let parts = Totals::of(run, &format!("disk.{measure} by metadata {all}"));
                let both = parts.get("yes") + parts.get("no");
                same(&format!("parts of {measure}"), both, parts.sum());
                let expected = counted.of(place)[at];
                same(&format!("{measure} of {op}s"), both, expected);
            }
        }
        // Content that went past the cache is nobody's metadata.
        let data = format!("{only} and file = \"{}/data\"", at.display());
        let direct = format!("disk.bytes {data} and metadata = no");
        same(&direct, total(run, &direct), 100.0 * 65536.0);
        let direct = format!("disk.ios {data} and metadata = yes");
        same(&direct, total(run, &direct), 0.0);
    });
}
