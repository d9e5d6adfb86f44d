//! What tools print to be looked at, which have another form to be read by programs:
//! recognised, to say which.

use super::inventory::Refusing;
use crate::fields;
use crate::list::Format;

pub(crate) const ATOP: Format = Format {
    name: "atop-text",
    tool: "atop",
    systems: "Linux",
    help: "atop's screen; refused: `atop -P ALL` is imported",
    recognised: "a line `ATOP - HOST DATE TIME …`",
    yields: &[],
    example: "ATOP - box      2026/11/23  05:22:57      -----------------      10s elapsed\n",
    recognise: |head| if head.any_starts("ATOP - ") { 70 } else { 0 },
    parser: || {
        Box::new(Refusing(
            "it is what atop shows on a terminal\nhint: `atop -r FILE -P ALL` prints what can be \
             imported",
        ))
    },
};

pub(crate) const COLLECTL: Format = Format {
    name: "collectl-text",
    tool: "collectl",
    systems: "Linux",
    help: "collectl's terminal output; refused: `collectl -P` and its raw files are imported",
    recognised: "a line `#<----CPU---->…`, or `### RECORD 1 >>> HOST <<< …`",
    yields: &[],
    example: "\
#<--------CPU--------><----------Disks----------->
#cpu sys inter  ctxsw KBRead  Reads KBWrit Writes
  10   2   582    443      0      0      0      0
",
    recognise: |head| {
        let shown = head.any_starts("#<-") || head.any_starts("### RECORD");
        if shown { 70 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it is what collectl shows on a terminal\nhint: its raw file can be imported, or \
             what `collectl -P` prints, also of a raw file (-p FILE)",
        ))
    },
};

pub(crate) const DSTAT: Format = Format {
    name: "dstat-text",
    tool: "dstat",
    systems: "Linux",
    help: "dstat's terminal output; refused: `dstat --output FILE` is imported",
    recognised: "a line of groups in dashes, as `----total-cpu-usage---- -dsk/total-`",
    yields: &[],
    example: "\
----total-cpu-usage---- -dsk/total-
usr sys idl wai hiq siq| read  writ
  1   0  98   0   0   0|  34k   76k
",
    recognise: |head| if head.lines().any(is_dstat) { 70 } else { 0 },
    parser: || {
        Box::new(Refusing(
            "it is what dstat shows on a terminal, where numbers are cut\nhint: the file that \
             `dstat --output FILE` writes can be imported",
        ))
    },
};

pub(crate) const MOUNTSTATS: Format = Format {
    name: "mountstats-text",
    tool: "mountstats",
    systems: "Linux",
    help: "the command mountstats; refused: /proc/self/mountstats, which it tells, is imported",
    recognised: "a line `Stats for X mounted on Y:`",
    yields: &[],
    example: "Stats for box:/x mounted on /mnt:\n  NFS mount age: 0:10:00\n",
    recognise: |head| {
        if head.lines().any(is_mountstats) {
            70
        } else {
            0
        }
    },
    parser: || {
        Box::new(Refusing(
            "it is what the command mountstats makes of counters\nhint: /proc/self/mountstats, \
             where they stand, can be imported, and so can `nfsiostat`",
        ))
    },
};

/// Names of groups stand between dashes, one at least that no other tool has.
fn is_dstat(line: &[u8]) -> bool {
    let group = |word: &[u8]| word.starts_with(b"-") && word.ends_with(b"-");
    let known = |word: &[u8]| {
        let known = ["total-cpu-usage", "total-usage", "dsk/", "net/", "io/"];
        let text = String::from_utf8_lossy(word);
        let text = text.trim_matches('-');
        known.iter().any(|k| text.starts_with(k))
    };
    let words: Vec<&[u8]> = fields(line).collect();
    words.iter().all(|w| group(w)) && words.iter().any(|w| known(w))
}

fn is_mountstats(line: &[u8]) -> bool {
    line.starts_with(b"Stats for ") && memchr::memmem::find(line, b" mounted on ").is_some()
}
