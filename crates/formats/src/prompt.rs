//! Command lines and prompts that stand among a tool's output.

use crate::around::is_around;
use crate::fields;
use crate::number::number;

/// The arguments of that command, where the line is a prompt or nothing and then the command:
/// `[root@node ~] zpool iostat -v tank 5 | tee log` gives `-v tank 5`.
pub(crate) fn arguments(line: &[u8], command: &[&str]) -> Option<Vec<String>> {
    let words: Vec<&[u8]> = fields(line).collect();
    let named = |w: &[&[u8]]| {
        w.iter().zip(command).enumerate().all(|(i, (word, name))| {
            let word = if i == 0 { program(word) } else { word };
            word == name.as_bytes()
        })
    };
    let at = words.windows(command.len()).position(named)?;
    let rest = words.get(at + command.len()..).unwrap_or_default();
    if at > 0 && !is_prompt(&words[..at]) && !is_labelled(&words[..at], rest) {
        return None;
    }
    let ends =
        |w: &&&[u8]| matches!(w.first(), Some(b'|' | b'>' | b'&' | b';')) || w.starts_with(b"2>");
    let mut arguments = Vec::new();
    for word in rest.iter().take_while(|w| !ends(w)) {
        // `5; sleep 4`: what follows is another command.
        let end = word.iter().position(|b| *b == b';');
        arguments.push(String::from_utf8_lossy(&word[..end.unwrap_or(word.len())]).into_owned());
        if end.is_some() {
            break;
        }
    }
    Some(arguments)
}

/// The file name of a program's path.
fn program(word: &[u8]) -> &[u8] {
    word.rsplit(|b| *b == b'/').next().unwrap_or(word)
}

/// Whether words before a command are a prompt, or a command that starts it.
pub(crate) fn is_prompt(words: &[&[u8]]) -> bool {
    let mut words = words;
    while let [before @ .., last] = words
        && starts(last)
    {
        words = before;
    }
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return true;
    };
    // Those of zsh's and fish's themes stand before the directory.
    let arrow = |w: &[u8]| ["❯", "➜", "»"].iter().any(|a| w == a.as_bytes());
    let ends = |w: &&&[u8]| matches!(w.last(), Some(b'$' | b'#' | b'>' | b'%' | b']'));
    if ends(&last) || arrow(last) || arrow(first) {
        return true;
    }
    // Between them may be a command that runs it: with arguments, in a loop, after another.
    let prompt = words.iter().rposition(|w| ends(&w));
    let between = &words[prompt.map_or(0, |at| at + 1)..];
    let first = between.iter().find(|w| !starts(w) || program(w) == b"sudo");
    let runs = first.is_some_and(|w| RUNS.iter().any(|r| program(w) == r.as_bytes()));
    let opens = |w: &[u8]| {
        w.ends_with(b";") || w.ends_with(b"(") || matches!(w, b"&&" | b"do" | b"then" | b"{")
    };
    runs || prompt.is_some() && opens(last)
}

/// Whether one word with a colon stands before a command, as a prompt of one's own: `shell: vmstat -S m
/// 1 3`. Of titles are no flags, their values and numbers alone.
pub(crate) fn is_labelled(before: &[&[u8]], arguments: &[&[u8]]) -> bool {
    let [label] = before else { return false };
    let Some(name) = label.strip_suffix(b":") else {
        return false;
    };
    let is_flag = |w: &[u8]| w.len() > 1 && w.starts_with(b"-");
    let plain = |(at, w): (usize, &&[u8])| {
        is_flag(w) || number(w).is_some() || at > 0 && is_flag(arguments[at - 1])
    };
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && !arguments.is_empty()
        && arguments.iter().enumerate().all(plain)
}

/// Commands that run another, which stands behind their own arguments.
const RUNS: [&str; 16] = [
    "sudo", "env", "nice", "ionice", "taskset", "chrt", "numactl", "timeout", "stdbuf", "unbuffer",
    "ssh", "setsid", "nohup", "time", "script", "cgexec",
];

/// Whether the word stands between a prompt and the command: what starts it, `LC_ALL=C`.
fn starts(word: &[u8]) -> bool {
    let name = word.split(|b| *b == b'=').next().unwrap_or_default();
    let variable = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    let sets = name.len() < word.len() && !name.is_empty() && name.iter().all(variable);
    let known = [
        "sudo", "pfexec", "time", "ptime", "nohup", "exec", "echo", "+", "Cmdline:",
    ];
    sets || known.iter().any(|k| word == k.as_bytes())
}

/// Whether the line is a prompt with another command or none, an interrupt's echo, or what others
/// put around a tool's output.
pub(crate) fn is_chatter(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    text == b"^C" || is_frame(text) || behind(line).is_some_and(|rest| !is_data(rest))
}

/// Whether `watch`, `more`, `telnet` or `ansible` puts such a line around text, or a shell that ends.
fn is_frame(text: &[u8]) -> bool {
    const LINES: [&[u8]; 4] = [
        b"exit",
        b"logout",
        b"--More--",
        b"Connection closed by foreign host.",
    ];
    let ends = |start: &[u8], end: &[u8]| text.starts_with(start) && text.ends_with(end);
    LINES.contains(&text)
        || is_around(text)
        || text.starts_with(b"Escape character is ")
        || text.starts_with(b"Every ") && text.contains(&b':')
        || ends(b"Trying ", b"...")
        || ends(b"Connected to ", b".")
        // `host1 | CHANGED | rc=0 >>`
        || text.ends_with(b" >>") && memchr::memmem::find(text, b" | rc=").is_some()
}

/// What a tool printed behind a prompt: of one in the background the shell's prompt came first.
pub(crate) fn data_behind(line: &[u8]) -> Option<&[u8]> {
    behind(line).filter(|rest| is_data(rest))
}

/// What is behind the prompt that a line begins with.
fn behind(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_start();
    let end = match line.first()? {
        b'[' => {
            let end = line.iter().position(|b| *b == b']')? + 1;
            line[..end].contains(&b'@').then_some(())?;
            let mark = matches!(line.get(end), Some(b'$' | b'#' | b'>' | b'%'));
            end + usize::from(mark)
        }
        b'$' | b'#' => 1,
        _ => {
            let word = fields(line).next()?;
            let is_user = word.contains(&b'@') && word.contains(&b':');
            let marked = word.ends_with(b"#") || word.ends_with(b"$");
            if (is_user || is_shell(word)) && marked {
                word.len()
            } else {
                behind_mark(line)?
            }
        }
    };
    let rest = &line[end..];
    (rest.is_empty() || rest.starts_with(b" ")).then_some(rest)
}

/// Whether it is a shell's name and version, and the mark of its prompt: `-bash-4.2$`.
fn is_shell(word: &[u8]) -> bool {
    let name = word.strip_prefix(b"-").unwrap_or(word);
    let shells = ["bash", "sh", "ksh", "ash", "dash"];
    let version = shells.iter().find_map(|s| name.strip_prefix(s.as_bytes()));
    let is_version = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'.');
    version.is_some_and(|v| {
        v.split_last()
            .is_some_and(|(_, v)| v.iter().all(is_version))
    })
}

/// Where a prompt ends whose mark stands alone, as zsh's does: `me@host ~ %`.
fn behind_mark(line: &[u8]) -> Option<usize> {
    let alone = |at: usize| {
        let is_mark = matches!(line[at], b'%' | b'$' | b'#') && line[at - 1] == b' ';
        is_mark && line.get(at + 1).is_none_or(|b| *b == b' ')
    };
    let mark = (1..line.len()).find(|at| alone(*at))?;
    let mut words = fields(&line[..mark]);
    let user = words.next()?.contains(&b'@');
    (user && words.count() <= 1).then_some(mark + 1)
}

/// Whether it is no command, but a row of numbers or the banner of sysstat.
fn is_data(text: &[u8]) -> bool {
    let numbers = fields(text).filter(|w| number(w).is_some()).count();
    let is_flag = |w: &[u8]| matches!(w, [b'-', b'-' | b'a'..=b'z' | b'A'..=b'Z', ..]);
    numbers > 2 && !fields(text).any(is_flag)
        || text.trim_ascii_start().starts_with(b"Linux ") && text.ends_with(b"CPU)")
}

/// The interval of arguments that end in `interval [count]`.
pub(crate) fn interval(arguments: &[String]) -> Option<f64> {
    last_numbers(arguments).last().copied()
}

/// How many reports a command with such arguments prints: one where they have no interval; `None` where
/// it goes on.
pub(crate) fn count(arguments: &[String]) -> Option<f64> {
    match last_numbers(arguments)[..] {
        [] => Some(1.0),
        [_] => None,
        [count, ..] => Some(count),
    }
}

/// The last two arguments that are numbers, the last one first.
fn last_numbers(arguments: &[String]) -> Vec<f64> {
    let from_last = arguments.iter().rev();
    let numbers = from_last.map_while(|a| number(a.as_bytes()));
    numbers.take(2).collect()
}

/// Whether one of the arguments is the flag of that letter, perhaps among others: `-lv`.
pub(crate) fn has_flag(arguments: &[String], letter: char) -> bool {
    arguments
        .iter()
        .any(|a| a.starts_with('-') && !a.starts_with("--") && a[1..].contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_way_to_a_machine_prints() {
        for line in [
            "Trying 127.0.0.1...",
            "Connected to localhost.",
            "Escape character is '^]'.",
            "Connection closed by foreign host.",
            "web1 | CHANGED | rc=0 >>",
        ] {
            assert!(is_chatter(line.as_bytes()), "{line}");
        }
        for line in ["Trying", "sda 1 2 3", "1 | 2 >>"] {
            assert!(!is_chatter(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn commands_behind_prompts() {
        let of = |line: &str| arguments(line.as_bytes(), &["zpool", "iostat"]);
        let words = |w: &[&str]| Some(w.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            of("[root@n ~] zpool iostat -v zones 5"),
            words(&["-v", "zones", "5"])
        );
        assert_eq!(of("# /sbin/zpool iostat 1 3 > x"), words(&["1", "3"]));
        assert_eq!(of("$ sudo zpool iostat | head"), words(&[]));
        let in_loop = of("$ while :; do zpool iostat -y tank 5 2; sleep 4; done").unwrap();
        assert_eq!(in_loop, ["-y", "tank", "5", "2"]);
        assert_eq!(
            (interval(&in_loop), count(&in_loop)),
            (Some(5.0), Some(2.0))
        );
        assert_eq!(of("see zpool iostat"), None);
        assert_eq!(of("zpool status"), None);
        let time = |w: &[&str]| interval(&words(w).unwrap());
        assert_eq!(time(&["-v", "tank", "5"]), Some(5.0));
        assert_eq!(time(&["tank", "0.5", "10"]), Some(0.5));
        assert_eq!(time(&["5", "tank"]), None);
        assert!(has_flag(&words(&["-lvy"]).unwrap(), 'y'));
        assert!(is_chatter(b"root@box:~# ls"));
        assert!(is_chatter(b"[me@box ~]$") && is_chatter(b"$ vmstat 1 5") && is_chatter(b"^C"));
        assert!(!is_chatter(b"[me@box ~]$  3  0  0 8000000 12 3"));
        assert!(
            is_chatter(b"-bash-4.2$ ls") && is_chatter(b"bash-5.1# ls") && is_chatter(b"sh$ ls")
        );
        assert!(is_chatter(b"$ pgbench -c 200 -j 200 -t 10 test"));
        assert!(is_chatter(b"me@mac ~ % ls") && is_chatter(b"me@mac logs %"));
        assert!(!is_chatter(b"bashful-4$ ls") && !is_chatter(b"me@mac ~ ls"));
        assert_eq!(
            data_behind(b"root@box:~# sda 2.00 3.0 4"),
            Some(&b" sda 2.00 3.0 4"[..])
        );
        assert_eq!(data_behind(b"root@box:~# ls"), None);
        assert_eq!(data_behind(b"#sda 2.00 3.0 4"), None);
        for runs in [
            "root@box:~# timeout 60 zpool iostat 5",
            "$ nice -n 5 zpool iostat 5",
            "$ while true; do zpool iostat 5",
            "$ date; zpool iostat 5",
            "# ( zpool iostat 5",
            "$ sudo -u me zpool iostat 5",
            "ssh db1 zpool iostat 5",
            "/usr/bin/time -v zpool iostat 5",
        ] {
            assert_eq!(of(runs), words(&["5"]), "{runs}");
        }
        assert!(!is_chatter(b"tank  1 2"));
        for frame in [
            "```text",
            "</pre>",
            "Script started on Thu Jan  1 10:00:00 2026",
            "--More--",
            "exit",
            "Every 2.0s: vmstat        box: Sun Nov 22 02:44:43 2026",
            "Connected to box.",
            "host1 | CHANGED | rc=0 >>",
        ] {
            assert!(is_chatter(frame.as_bytes()), "{frame}");
        }
        assert!(!is_chatter(b"<pre> 1 2 3") && !is_chatter(b"a | b >>"));
    }
}
