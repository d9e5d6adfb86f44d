//! Command lines and prompts that stand among a tool's output.

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
    if at > 0 && !is_prompt(&words[..at]) {
        return None;
    }
    let rest = words.get(at + command.len()..).unwrap_or_default();
    let ends =
        |w: &&&[u8]| matches!(w.first(), Some(b'|' | b'>' | b'&' | b';')) || w.starts_with(b"2>");
    let arguments = rest.iter().take_while(|w| !ends(w));
    Some(
        arguments
            .map(|w| String::from_utf8_lossy(w).into_owned())
            .collect(),
    )
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
    let ends = |w: &[u8]| matches!(w.last(), Some(b'$' | b'#' | b'>' | b'%' | b']'));
    ends(last) || arrow(last) || arrow(first)
}

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

/// Whether the line is a prompt with another command or none, or an interrupt's echo.
pub(crate) fn is_chatter(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let host = line.starts_with(b"[") && line.contains(&b'@') && line.contains(&b']');
    let plain = line.starts_with(b"$ ") || line.starts_with(b"# ") || matches!(line, b"$" | b"#");
    let user = fields(line).next().is_some_and(|w| {
        w.contains(&b'@') && w.contains(&b':') && (w.ends_with(b"#") || w.ends_with(b"$"))
    });
    host || plain || user || line == b"^C"
}

/// The interval of arguments that end in `interval [count]`.
pub(crate) fn interval(arguments: &[String]) -> Option<f64> {
    let numbers: Vec<f64> = arguments
        .iter()
        .rev()
        .map_while(|a| number(a.as_bytes()))
        .take(2)
        .collect();
    numbers.last().copied()
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
    fn commands_behind_prompts() {
        let of = |line: &str| arguments(line.as_bytes(), &["zpool", "iostat"]);
        let words = |w: &[&str]| Some(w.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            of("[root@n ~] zpool iostat -v zones 5"),
            words(&["-v", "zones", "5"])
        );
        assert_eq!(of("# /sbin/zpool iostat 1 3 > x"), words(&["1", "3"]));
        assert_eq!(of("$ sudo zpool iostat | head"), words(&[]));
        assert_eq!(of("see zpool iostat"), None);
        assert_eq!(of("zpool status"), None);
        let time = |w: &[&str]| interval(&words(w).unwrap());
        assert_eq!(time(&["-v", "tank", "5"]), Some(5.0));
        assert_eq!(time(&["tank", "0.5", "10"]), Some(0.5));
        assert_eq!(time(&["5", "tank"]), None);
        assert!(has_flag(&words(&["-lvy"]).unwrap(), 'y'));
        assert!(is_chatter(b"root@box:~# ls"));
        assert!(!is_chatter(b"tank  1 2"));
    }
}
