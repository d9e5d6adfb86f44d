//! Processes against what they know of themselves.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs and write files"
)]

mod support;
mod truth;

use std::path::Path;

use support::{AtEnd, Need, can_run, scratch, total};
use truth::{Totals, record_script_with, same};

/// `where process ~ …` for these process numbers.
fn of_processes(numbers: &[&str]) -> String {
    format!("process ~ \"\\[({})@\"", numbers.join("|"))
}

/// Whether direct I/O to files in `dir` reaches a block device.
fn is_on_a_device(dir: &Path) -> bool {
    use std::os::linux::fs::MetadataExt;
    let number = std::fs::metadata(dir).expect("a directory").st_dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    Path::new(&format!("/sys/dev/block/{major}:{minor}")).exists()
}

/// Bytes read and written in a copy of `/proc/PID/io`.
fn io(text: &str) -> [f64; 2] {
    ["read_bytes: ", "write_bytes: "].map(|name| {
        let line = text.lines().find_map(|l| l.strip_prefix(name));
        line.expect("a counter").parse().expect("a number")
    })
}

/// The bytes of a process that lives and of one that ended between two samples. The kernel
/// adds those of a process to the one that waited for it: in the end the shell has all.
#[test]
fn direct_io_is_charged_to_who_did_it() {
    let name = "direct_io_is_charged_to_who_did_it";
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    if !is_on_a_device(dir) {
        can_run(name, &[Need::Path("a build directory on a block device")]);
        return;
    }
    let file = dir.join(format!("process-{}", std::process::id()));
    let _remove = AtEnd(|| _ = std::fs::remove_file(&file));
    let run = scratch("process-io").join("run");
    let show = file.display();
    // To a pipe: a file would count.
    let copy = "while read line; do echo $line; done < /proc/$$/io";
    let script = format!(
        "echo $$
         dd if=/dev/zero of={show} bs=64k count=97 oflag=direct status=none & echo $!; wait
         dd if=/dev/zero of={show} bs=64k count=1531 oflag=direct status=none & echo $!; wait
         dd if={show} of=/dev/null bs=64k count=1201 iflag=direct status=none & echo $!; wait
         sleep 0.3 & echo $!; wait; {copy}"
    );
    let text = record_script_with(&run, "20ms", &["--top", "1000"], &script);
    // The shell and all its children: the program of any of them may have to be read.
    let numbers: Vec<&str> = text.lines().take(5).collect();
    let part = of_processes(&numbers);
    // The shell was born and read its own program while it was recorded.
    let end = io(&text);
    let moved = [65536.0 * 1201.0, 65536.0 * f64::from(97 + 1531)];
    for (i, op) in ["read", "write"].into_iter().enumerate() {
        let recorded = total(&run, &format!("process.bytes where {part} and op = {op}"));
        let counted = end[i];
        same(&format!("bytes of {op}"), recorded, counted);
        // Reading programs and changing the file's inode is theirs as well.
        assert!(
            moved[i] <= counted && counted < moved[i] + 4e6,
            "{op}: {counted} bytes"
        );
    }
}

/// The recorded command itself, which ends before the first whole multiple of the interval:
/// its bytes are its own, not those of the recorder that waits for it.
#[test]
fn a_command_shorter_than_the_interval_has_its_own_bytes() {
    let name = "a_command_shorter_than_the_interval_has_its_own_bytes";
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    if !is_on_a_device(dir) {
        can_run(name, &[Need::Path("a build directory on a block device")]);
        return;
    }
    let file = dir.join(format!("command-{}", std::process::id()));
    let _remove = AtEnd(|| _ = std::fs::remove_file(&file));
    let run = scratch("process-command").join("run");
    let script = format!(
        "echo $$; exec dd if=/dev/zero of={} bs=64k count=97 oflag=direct status=none",
        file.display()
    );
    let text = record_script_with(&run, "1h", &["--top", "1000"], &script);
    let part = of_processes(&[text.trim()]);
    let written = total(&run, &format!("process.bytes where {part} and op = write"));
    let least = 65536.0 * 97.0;
    assert!(
        (least..least + 1e6).contains(&written),
        "{written} bytes, not {least}"
    );
}

/// A shell that counts, and knows its own time and that of the children it waited for.
#[test]
fn time_of_processes_is_what_they_know_themselves() {
    let run = scratch("process-time").join("run");
    let child = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
    let short = "sh -c 'i=0; while [ $i -lt 500 ]; do i=$((i+1)); done'";
    let script = format!(
        "echo $$; sh -c '{child}; times' & echo $!; wait
         i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done
         i=0; while [ $i -lt 300 ]; do {short}; i=$((i+1)); done
         times"
    );
    let text = record_script_with(&run, "100ms", &["--top", "1000"], &script);
    let lines: Vec<&str> = text.lines().collect();
    // `0m1.230000s 0m0.040000s`: user and system; the shell's own, then its children's.
    let times = |line: &str| -> f64 {
        let one = |field: &str| {
            let (minutes, seconds) = field.split_once('m').expect("minutes and seconds");
            let number = |text: &str| text.parse::<f64>().expect("a number");
            number(minutes) * 60.0 + number(seconds.trim_end_matches('s'))
        };
        line.split_whitespace().map(one).sum()
    };
    let (child_own, shell_own, all_children) = (times(lines[2]), times(lines[4]), times(lines[5]));
    let of = |number: &str| {
        total(
            &run,
            &format!("process.time where {}", of_processes(&[number])),
        )
    };
    let exited = Totals::of(&run, "process.time by process").get("(exited)");
    let tick = 1.0 / rustix::param::clock_ticks_per_second() as f64;
    assert!(
        shell_own > 0.1 && child_own > 0.1,
        "{shell_own} s and {child_own} s"
    );
    // User and system time are rounded down to ticks each; its end comes after `times`.
    let (shell, child) = (of(lines[0]), of(lines[1]));
    assert!(
        (shell - shell_own).abs() <= 3.0 * tick,
        "{shell} s, the shell says {shell_own} s"
    );
    // What the child ran after it was last seen is told with the exited ones.
    assert!(
        child <= child_own + 2.0 * tick,
        "{child} s, the child says {child_own} s"
    );
    // Others' children end meanwhile, too: together they have no less than these.
    assert!(
        child + exited >= all_children - 3.0 * tick,
        "{child} s alive and {exited} s exited, the shell says {all_children} s"
    );
}
