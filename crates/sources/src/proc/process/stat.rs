//! The files of one process: `stat`, `io`, `schedstat`.

use crate::read::{fields, lines, number};

/// A task of the kernel's own (`PF_KTHREAD`).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// What is used of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat<'a> {
    /// Name of the program: any bytes.
    pub command: &'a [u8],
    /// Whether it is a task of the kernel's own.
    pub is_kernel: bool,
    /// The process that waits for it.
    pub parent: u32,
    /// Ticks in user mode, ticks in the kernel, major faults: its own, all threads.
    pub own: [u64; 3],
    /// The same, of the children it has waited for, and theirs.
    pub reaped: [u64; 3],
    /// Minor faults of children waited for: as every process has some, they grow whenever it
    /// waits for one.
    pub reaped_minor: u64,
    /// Threads.
    pub threads: u64,
    /// When it started, in ticks after boot.
    pub start: u64,
    /// Pages of memory.
    pub resident: u64,
}

/// Reads `/proc/PID/stat`; `None` if it is not one.
///
/// ```text
/// 812 (tmux: server) S 1 812 812 0 -1 4194560 1022 7713 2 11 341 295 40 18 20 0 1 0 1604 8761344 1070 18446744073709551615 …
/// ```
/// The name stands in parentheses and may hold parentheses, spaces and line ends itself, so
/// the last `)` ends it. Then, counted from 1 at the pid: 4 parent, 9 flags, 11 minor
/// faults of children waited for, 12 major faults, 13 those of such children, 14 user and 15 system ticks, 16 and 17 those of children,
/// 20 threads, 22 start, 24 resident pages.
///
/// <https://docs.kernel.org/filesystems/proc.html>
pub fn parse(bytes: &[u8]) -> Option<Stat<'_>> {
    let from = bytes.iter().position(|&b| b == b'(')? + 1;
    let to = bytes.iter().rposition(|&b| b == b')')?;
    let command = bytes.get(from..to)?;
    let mut values = [0_u64; 25];
    let mut found = 3;
    let rest = bytes[to + 1..]
        .strip_suffix(b"\n")
        .unwrap_or(&bytes[to + 1..]);
    for (place, field) in (3..25).zip(fields(rest)) {
        // Some that are not used here are negative or letters.
        values[place] = number(field).unwrap_or(0);
        found = place;
    }
    if found < 24 {
        return None;
    }
    let v = values;
    let is_kernel = v[9] & KERNEL_THREAD != 0;
    Some(Stat {
        command: if is_kernel {
            without_job(command)
        } else {
            command
        },
        is_kernel,
        parent: v[4] as u32,
        own: [v[14], v[15], v[12]],
        reaped: [v[16], v[17], v[13]],
        reaped_minor: v[11],
        threads: v[20],
        start: v[22],
        resident: v[24],
    })
}

/// A kernel worker's name without what it works on or worked on last.
///
/// `kworker/1:2-events` is `kworker/1:2`: else a worker would have a new name at each
/// sample. `kworker/R-xfs` (a rescuer) keeps what follows its first hyphen.
fn without_job(command: &[u8]) -> &[u8] {
    let Some(id) = command.strip_prefix(b"kworker/") else {
        return command;
    };
    let ends = |b: &u8| *b == b'+' || (*b == b'-' && !id.starts_with(b"R-"));
    let length = id.iter().position(ends).unwrap_or(id.len());
    &command[..command.len() - id.len() + length]
}

/// Reads `/proc/PID/io`: bytes read from and written to block devices.
///
/// ```text
/// rchar: 323934931
/// wchar: 323929600
/// syscr: 632687
/// syscw: 632675
/// read_bytes: 4096
/// write_bytes: 323932160
/// cancelled_write_bytes: 0
/// ```
/// `write_bytes` grows when a page is made dirty. What was dropped before it reached the
/// device (`cancelled_write_bytes`) is charged to whoever dropped it, often another process,
/// and is not taken off.
pub fn parse_io(bytes: &[u8]) -> Option<[u64; 2]> {
    let (mut read, mut written) = (None, None);
    for line in lines(bytes) {
        if let Some(value) = line.strip_prefix(b"read_bytes:") {
            read = number(value.trim_ascii());
        } else if let Some(value) = line.strip_prefix(b"write_bytes:") {
            written = number(value.trim_ascii());
        }
    }
    Some([read?, written?])
}

/// Reads `/proc/PID/schedstat`: nanoseconds run, nanoseconds waited, times it was put on a
/// processor; of the first thread only. `None` if this kernel does not count them.
pub fn parse_schedstat(bytes: &[u8]) -> Option<[u64; 3]> {
    let mut fields = fields(bytes.trim_ascii_end()).map(number);
    let values = [fields.next()??, fields.next()??, fields.next()??];
    (values[2] != 0).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &[u8] = b" S 7 10 10 0 -1 4194560 1 2 3 4 14 15 16 17 20 -5 9 0 2204 8761344 1070 18446744073709551615 1 1 0\n";

    #[test]
    fn each_field_is_in_its_place() {
        let bytes = [b"10 (sh)", TAIL].concat();
        let stat = parse(&bytes).unwrap();
        assert_eq!(
            stat,
            Stat {
                command: b"sh",
                is_kernel: false,
                parent: 7,
                own: [14, 15, 3],
                reaped: [16, 17, 4],
                reaped_minor: 2,
                threads: 9,
                start: 2204,
                resident: 1070,
            }
        );
    }

    #[test]
    fn a_name_may_hold_anything() {
        for name in [&b") R 1 (x"[..], b"a b\nc", b"\xff\x00((", b"", b")"] {
            let bytes = [b"10 (", name, b")", TAIL].concat();
            let stat = parse(&bytes).unwrap();
            assert_eq!((stat.command, stat.parent), (name, 7));
        }
    }

    #[test]
    fn what_is_cut_short_is_no_process() {
        let bytes = [b"10 (sh)", TAIL].concat();
        let whole = bytes.windows(5).position(|w| w == b" 1070").unwrap() + 2;
        for length in 0..whole {
            assert!(parse(&bytes[..length]).is_none(), "{length}");
        }
        assert!(parse(b")(").is_none());
    }

    #[test]
    fn kernel_workers_keep_one_name() {
        for (shown, name) in [
            ("kworker/0:1H-kblockd", "kworker/0:1H"),
            ("kworker/u8:2+flush-254:0", "kworker/u8:2"),
            ("kworker/R-xfs-a+b", "kworker/R-xfs-a"),
            ("ksoftirqd/0", "ksoftirqd/0"),
        ] {
            let line =
                format!("9 ({shown}) I 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 30 0 0 0");
            assert_eq!(parse(line.as_bytes()).unwrap().command, name.as_bytes());
        }
        // A program of that name is no kernel thread.
        let bytes = [b"10 (kworker/0:1-x)", TAIL].concat();
        assert_eq!(parse(&bytes).unwrap().command, b"kworker/0:1-x");
    }

    #[test]
    fn io_and_schedstat() {
        let io = b"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 7\n";
        assert_eq!(parse_io(io), Some([4096, 8192]));
        assert_eq!(parse_io(b"rchar: 1\n"), None);
        assert_eq!(parse_schedstat(b"12 3 4\n"), Some([12, 3, 4]));
        assert_eq!(parse_schedstat(b"0 0 0\n"), None);
        assert_eq!(parse_schedstat(b"\n"), None);
    }
}
