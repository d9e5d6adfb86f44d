//! What tools print to be looked at, which have another form to be read by programs:
//! recognised, to say which.

use super::inventory::Refusing;
use crate::fields;
use crate::list::Format;
use crate::prompt::is_chatter;
use crate::stamp_line::stamp_line;
use crate::time::Options;

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
        let group = |l: &[u8]| {
            let l = l.strip_prefix(b"#").unwrap_or_default();
            l.trim_ascii_start().starts_with(b"<--")
        };
        let shown = head.lines().any(group) || head.any_starts("### RECORD");
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

pub(crate) const IFTOP: Format = Format {
    name: "iftop",
    tool: "iftop",
    systems: "Linux, BSD",
    help: "iftop's report; refused: it tells means of the last 2, 10 and 40 s of some hosts",
    recognised: "a line `# Host name (port/service if enabled)  last 2s   last 10s …`",
    yields: &[],
    example: "\
interface: eth0
   # Host name (port/service if enabled)            last 2s   last 10s   last 40s cumulative
--------------------------------------------------------------------------------------------
   1 box                                      =>     1.20Kb     1.20Kb     1.20Kb       614B
     peer                                     <=       864b       864b       864b       432B
",
    recognise: |head| {
        let header = |l: &[u8]| memchr::memmem::find(l, b" last 2s ").is_some();
        let shown = head
            .lines()
            .any(|l| l.trim_ascii().starts_with(b"# Host name") && header(l));
        if shown { 70 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it is what iftop shows: means over times that overlap, of the hosts that sent most\n\
             hint: /proc/net/dev or `ip -s link`, read again and again, can be imported",
        ))
    },
};

pub(crate) const IFSTAT_IPROUTE: Format = Format {
    name: "ifstat-iproute",
    tool: "ifstat",
    systems: "Linux",
    help: "ifstat of iproute2; refused: `ip -s link` and /proc/net/dev, which it tells, are imported",
    recognised: "a header `Interface RX Pkts/Rate TX Pkts/Rate RX Data/Rate …`",
    yields: &[],
    example: "\
#kernel
Interface        RX Pkts/Rate    TX Pkts/Rate    RX Data/Rate    TX Data/Rate
                 RX Errs/Drop    TX Errs/Drop    RX Over/Rate    TX Coll/Rate
lo                   108 0           108 0         10368 0         10368 0
                       0 0             0 0             0 0             0 0
",
    recognise: |head| {
        let shown = head.any_fields(&["Interface", "RX", "Pkts/Rate", "TX", "Pkts/Rate"]);
        if shown { 88 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it is what ifstat of iproute2 counted since it was last run, which is not told, cut to \
             thousands\nhint: /proc/net/dev or `ip -s link`, read again and again, can be imported",
        ))
    },
};

pub(crate) const SLABTOP: Format = Format {
    name: "slabtop",
    tool: "slabtop",
    systems: "Linux",
    help: "the kernel's caches; refused: /proc/meminfo and /proc/vmstat are imported",
    recognised: "a header `OBJS ACTIVE USE OBJ SIZE SLABS OBJ/SLAB CACHE SIZE NAME`",
    yields: &[],
    example: "\
\x20Active / Total Objects (% used)    : 1786284 / 1876650 (95.2%)

  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME
163317 163152  99%    0.19K   7777       21     31108K dentry
",
    recognise: |head| {
        let shown = head.any_fields(&["OBJS", "ACTIVE", "USE", "OBJ", "SIZE", "SLABS", "OBJ/SLAB"]);
        if shown { 70 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it is what the kernel's caches had at one moment, of which nothing has a place in a run\n\
             hint: Slab, SReclaimable and SUnreclaim of /proc/meminfo can be imported",
        ))
    },
};

pub(crate) const TOP_BSD: Format = Format {
    name: "top-bsd",
    tool: "top",
    systems: "FreeBSD, OpenBSD, NetBSD, Solaris, illumos, HP-UX",
    help: "top of BSD, Solaris and HP-UX; refused: vmstat, iostat, prstat and ps are imported",
    recognised: "a line `last pid: 92652;  load averages: …`, or a header `PID USERNAME … SIZE RES \
                 STATE … TIME WCPU COMMAND`",
    yields: &[],
    example: "\
last pid: 92652;  load averages:  0.38,  1.31,  1.15    up 2+00:55:10  16:01:52
89 processes:  1 running, 88 sleeping
CPU:  0.1% user,  0.0% nice,  0.1% system,  0.1% interrupt, 99.7% idle
Mem: 433M Active, 1706M Inact, 12G Wired, 104K Buf, 111G Free

  PID USERNAME    THR PRI NICE   SIZE    RES STATE    C   TIME    WCPU COMMAND
 1234 work         31  20    0   713M   210M select   3   4:23   0.29% workd
",
    recognise: |head| {
        let summary = |l: &[u8]| {
            l.starts_with(b"last pid:") && memchr::memmem::find(l, b"load averages:").is_some()
        };
        // That of HP-UX has `%CPU`, as the top of procps.
        let table = |l: &[u8]| {
            let has = |name: &str| fields(l).any(|f| f == name.as_bytes());
            ["PID", "USERNAME", "SIZE", "RES", "STATE", "TIME", "COMMAND"]
                .iter()
                .all(|name| has(name))
        };
        let shown = head.lines().any(|l| summary(l) || table(l));
        if shown { 81 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it is what the top of BSD, Solaris or HP-UX shows, whose shares are weighted over time\n\
             hint: what vmstat, iostat and (Solaris) prstat print every few seconds can be imported, \
             and `ps aux` or `ps -ef` in a loop",
        ))
    },
};

pub(crate) const TOP_BUSYBOX: Format = Format {
    name: "top-busybox",
    tool: "top",
    systems: "Linux",
    help: "BusyBox' top; refused: /proc/stat and /proc/meminfo, which it tells, are imported",
    recognised: "a line `CPU:  5% usr …`, and the header `PID PPID USER STAT VSZ %VSZ …`",
    yields: &[],
    example: "\
Mem: 120000K used, 80000K free, 800K shrd, 5000K buff, 60000K cached
CPU:   5% usr   2% sys   0% nic  93% idle   0% io   0% irq   0% sirq
Load average: 0.10 0.20 0.15 2/96 3774
  PID  PPID USER     STAT   VSZ %VSZ %CPU COMMAND
  124     1 root     S     2040   1%   5% work
",
    recognise: |head| {
        let shares = head
            .lines()
            .any(|l| l.starts_with(b"CPU:") && memchr::memmem::find(l, b"% usr").is_some());
        let tasks = head.any_fields(&["VSZ", "%VSZ"]);
        if shares && tasks { 70 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it is what the top of BusyBox shows, whose shares are whole percents and whose lines \
             are cut\nhint: /proc/stat and /proc/meminfo, read again and again, can be imported",
        ))
    },
};

pub(crate) const TOP_TOYBOX: Format = Format {
    name: "top-toybox",
    tool: "top",
    systems: "Android",
    help: "toybox' top; refused: /proc/stat and /proc/meminfo, which it tells, are imported",
    recognised: "a line `800%cpu  40%user …`, or the header `PID USER … S[%CPU] %MEM TIME+ ARGS`",
    yields: &[],
    example: "\
Tasks: 600 total,   1 running, 598 sleeping,   0 stopped,   1 zombie
800%cpu  40%user   0%nice  30%sys 720%idle   0%iow   5%irq   5%sirq   0%host
  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS
 1234 system       18  -2  14G 301M 190M S 25.0   5.4  12:34.56 work
",
    recognise: |head| {
        let shares = |l: &[u8]| fields(l).next().is_some_and(|w| w.ends_with(b"%cpu"));
        let header = |l: &[u8]| fields(l).any(|w| w == b"S[%CPU]");
        let shown = head.lines().any(|l| shares(l) || header(l));
        if shown { 70 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it is what the top of toybox (Android) shows\nhint: /proc/stat and /proc/meminfo, read \
             again and again, can be imported",
        ))
    },
};

pub(crate) const FREE: Format = Format {
    name: "free",
    tool: "free",
    systems: "Linux",
    help: "memory; refused: /proc/meminfo, which it tells, is imported",
    recognised: "a header `total used free …`, and a line `Mem: …`",
    yields: &[],
    example: "\
               total        used        free      shared  buff/cache   available
Mem:         8000000     1000000     5000000        8000     2000000     6900000
Swap:              0           0           0
",
    recognise: |head| {
        let shown = head.any_fields(&["total", "used", "free"]) && head.any_starts("Mem:");
        if shown { 60 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it is what free makes of /proc/meminfo\nhint: that file, read again and again, can be \
             imported: while :; do date; cat /proc/meminfo; sleep 5; done",
        ))
    },
};

pub(crate) const UPTIME: Format = Format {
    name: "uptime",
    tool: "uptime",
    systems: "Linux",
    help: "load; refused: /proc/loadavg, which it tells, is imported",
    recognised: "a line ` 09:28:15 up 11:38,  1 user,  load average: …`",
    yields: &[],
    example: " 09:28:15 up 11:38,  1 user,  load average: 1.86, 2.67, 2.15\n",
    recognise: |head| if head.lines().any(is_uptime) { 50 } else { 0 },
    parser: || {
        Box::new(Refusing(
            "it is what uptime makes of /proc/loadavg\nhint: that file, read again and again, can be \
             imported: while :; do date; cat /proc/loadavg; sleep 5; done",
        ))
    },
};

pub(crate) const AVERAGES: Format = Format {
    name: "sysstat-averages",
    tool: "sar",
    systems: "Linux",
    help: "means alone of mpstat, pidstat or sar; refused: the reports above them are imported",
    recognised: "lines `Average: CPU %usr …` or `Average: all 1.00 …`, and none with a time",
    yields: &[],
    example: "\
Average:     CPU    %usr   %nice    %sys   %idle
Average:     all    1.00    0.00    0.50   98.50
",
    recognise: |head| {
        let means = head.lines().any(is_average);
        let beside = |l: &[u8]| l.is_empty() || l.starts_with(b"Average:") || is_beside_means(l);
        if means && head.lines().all(beside) {
            40
        } else {
            0
        }
    },
    parser: || {
        Box::new(Refusing(
            "it has means alone, and does not tell over which time they are\nhint: the reports that \
             mpstat, pidstat and sar print above their means have times, and can be imported",
        ))
    },
};

/// A time, how long it is up, and the load; `top` has a name before that.
fn is_uptime(line: &[u8]) -> bool {
    let mut words = fields(line);
    let timed = words
        .next()
        .is_some_and(|w| w[0].is_ascii_digit() && w.contains(&b':'));
    let up = words.next() == Some(b"up");
    timed && up && memchr::memmem::find(line, b"load average").is_some()
}

/// What a script leaves or puts beside means.
fn is_beside_means(line: &[u8]) -> bool {
    let is_time = || matches!(stamp_line(line, &Options::default()), Ok(Some(_)) | Err(_));
    line.starts_with(b"Linux ") || is_chatter(line) || is_time()
}

fn is_average(line: &[u8]) -> bool {
    let mut words = fields(line);
    let known: [&[u8]; 6] = [b"CPU", b"all", b"UID", b"PID", b"DEV", b"IFACE"];
    words.next() == Some(b"Average:") && words.next().is_some_and(|w| known.contains(&w))
}

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
