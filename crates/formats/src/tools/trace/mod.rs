//! What tracing scripts print: histograms of DTrace, bcc and bpftrace, and lists of events.

pub(crate) mod bcc;
mod bcc_command;
mod bitesize;
mod blanks;
pub(crate) mod bpftrace;
mod bpftrace_end;
mod bpftrace_json;
mod bpftrace_program;
mod buckets;
pub(crate) mod connections;
pub(crate) mod counts;
mod cumulative;
pub(crate) mod dtrace;
mod dtrace_list;
mod dtrace_rows;
mod dtrace_script;
pub(crate) mod file_events;
mod histogram;
pub(crate) mod interrupts;
pub(crate) mod io_events;
pub(crate) mod io_pattern;
mod table;

use jiff::civil::Date;
use run::Word;
use run::rows::TableId;

use crate::out::Out;
use crate::time::{Stamp, time_of_day};

/// Names of months as dates print them.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The words of a command that was echoed after a prompt, as `# ./biolatency -mT 1 5`: its name
/// without path and ending, then its arguments. `None` if the line is none.
pub(super) fn echoed(line: &str) -> Option<Vec<&str>> {
    let line = line.trim();
    let rest = match line.strip_prefix(['#', '$', '%']) {
        Some(rest) if rest.starts_with([' ', '.', '/']) => rest,
        _ if stands_alone(line) => line,
        // `[root@host ~]# `, `user@host:~$ `
        _ => {
            let (prompt, rest) = ["# ", "$ ", "% "]
                .iter()
                .find_map(|end| line.split_once(end))?;
            let is_prompt = prompt.contains(['@', '~', ']']) && prompt.len() < 60;
            is_prompt.then_some(rest)?
        }
    };
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    while words.first().is_some_and(|w| {
        matches!(*w, "sudo" | "time" | "python" | "python3") || (w.contains('=') && w.len() > 2)
    }) {
        words.remove(0);
    }
    let name = words.first_mut()?;
    *name = script_name(name);
    (!name.is_empty()).then_some(words)
}

/// Whether that is a command without a prompt: of a package that names its programs so, or a path with
/// an option. A path with a number may be a file that was counted.
fn stands_alone(line: &str) -> bool {
    let mut words = line.split(' ').filter(|w| *w != "sudo");
    let (program, argument) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let option = argument.strip_prefix('-').unwrap_or("");
    program.ends_with("-bpfcc")
        || program.starts_with(['.', '/'])
            && program.contains('/')
            && option.starts_with(|c: char| c == '-' || c.is_ascii_alphabetic())
}

/// `biolatency` of `/usr/share/bcc/tools/biolatency`, `biolatency.py` or `biolatency-bpfcc`.
pub(super) fn script_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = [".py", ".bt", ".d", ".ksh", ".sh", "-bpfcc"];
    ends.iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name)
}

/// The name of the script among the words of a command: what ends so, or the command itself.
pub(super) fn script_of<'a>(words: &[&'a str], end: &str) -> &'a str {
    let file = words.iter().find(|w| w.strip_suffix(end).is_some());
    file.or(words.first()).map_or("", |w| script_name(w))
}

/// Seconds between outputs, if the arguments of a bcc tool tell: its first plain number that is
/// no option's value.
pub(super) fn first_number(arguments: &[&str], valued: &str) -> Option<f64> {
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        if let Some(option) = word.strip_prefix('-') {
            let valued = match option.strip_prefix('-') {
                Some(long) => matches!(long, "pid" | "disk" | "cgroupmap" | "mntnsmap"),
                None => option.ends_with(|c| valued.contains(c)),
            };
            if valued {
                arguments.next();
            }
        } else if let Ok(seconds) = word.parse::<f64>() {
            return (seconds > 0.0).then_some(seconds);
        }
    }
    None
}

/// Adds an event. One whose time is told in whole seconds was at some time of that second.
fn event(table: TableId, stamp: Stamp, words: &[Word], values: &[f64], out: &mut Out) {
    let is_whole = match stamp {
        Stamp::Clock(time) => time.subsec_nanosecond() == 0,
        Stamp::Civil(time) => time.subsec_nanosecond() == 0,
        _ => false,
    };
    if is_whole {
        out.event_in_second(table, stamp, words, values);
    } else {
        out.event(table, stamp, words, values);
    }
}

/// Seconds between outputs, if a banner tells: `Tracing... Output every 5 secs. Hit Ctrl-C to end`.
pub(super) fn output_every(banner: &str) -> Option<f64> {
    let (_, rest) = banner.split_once("Output every ")?;
    let (seconds, _) = rest.split_once(" sec")?;
    seconds.parse().ok()
}

/// A line that is a time and nothing else: `06:55:41`, `06:55:41:`, `[06:55:41]`, `2005 Jul 16 00:34:40`,
/// `2020-12-30 15:20:11`, `Sat Jul 16 00:34:40 2005`.
pub(super) fn stamp(line: &str) -> Option<Stamp> {
    let line = line.trim().trim_end_matches([':', ',']);
    let inner = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
    let line = inner.unwrap_or(line);
    let clock = |text: &str| time_of_day(text.as_bytes(), None).filter(|_| text.len() >= 7);
    let month = |text: &str| MONTHS.iter().position(|m| *m == text);
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = |year: &str, named: &str, day: &str, time: &str| {
        let month = month(named)? as i8 + 1;
        let date = Date::new(year.parse().ok()?, month, day.parse().ok()?).ok()?;
        Some(Stamp::Civil(date.to_datetime(clock(time)?)))
    };
    match words[..] {
        [time] => clock(time).map(Stamp::Clock),
        [date, time] if date.len() == 10 => {
            let date: Date = date.parse().ok()?;
            Some(Stamp::Civil(date.to_datetime(clock(time)?)))
        }
        [year, month, day, time] if year.len() == 4 => at(year, month, day, time),
        [_, month, day, time, year] if year.len() == 4 => at(year, month, day, time),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_after_a_prompt() {
        let words = |line| echoed(line).unwrap_or_default();
        assert_eq!(
            words("# ./biolatency -mT 1 5"),
            ["biolatency", "-mT", "1", "5"]
        );
        assert_eq!(words("# biolatency.bt"), ["biolatency"]);
        assert_eq!(words("$ sudo /usr/sbin/runqlat-bpfcc 5"), ["runqlat", "5"]);
        assert_eq!(words("[root@box ~]# bitesize.d"), ["bitesize"]);
        assert_eq!(words("./biolatency.py -Fm"), ["biolatency", "-Fm"]);
        assert_eq!(words("sudo biolatency-bpfcc 1"), ["biolatency", "1"]);
        for no in ["/usr/bin/ls 12", "/usr/bin/ls -12", "./a", "biolatency 1"] {
            assert!(echoed(no).is_none(), "{no}");
        }
        assert!(echoed("operation = 'read'").is_none());
        assert!(echoed("#include <x>").is_none());
    }

    #[test]
    fn the_interval_is_the_first_number_that_is_no_options() {
        let of = |text: &str| first_number(&text.split(' ').collect::<Vec<_>>(), "p");
        assert_eq!(of("-mT 1 5"), Some(1.0));
        assert_eq!(of("-p 185 10 1"), Some(10.0));
        assert_eq!(of("-D"), None);
    }

    #[test]
    fn lines_that_are_times() {
        assert!(matches!(stamp("06:55:41:"), Some(Stamp::Clock(_))));
        assert!(matches!(stamp("[06:55:41]"), Some(Stamp::Clock(_))));
        assert!(matches!(
            stamp("2005 Jul 16 00:34:40"),
            Some(Stamp::Civil(_))
        ));
        assert!(matches!(
            stamp("2020-12-30 15:20:11"),
            Some(Stamp::Civil(_))
        ));
        for no in ["", "12", "1:2", "[06:55:41", "Sat", "a b c d", "06:55:41 x"] {
            assert_eq!(stamp(no), None, "{no}");
        }
    }
}
