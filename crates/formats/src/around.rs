//! Lines that others put around or among what a tool printed.

/// Whether a page (HTML, Markdown, wikis) or `script` puts such a line around text, or the kernel or
/// `wall` among it, and no tool prints it.
pub(crate) fn is_around(line: &[u8]) -> bool {
    const TAGS: [&[u8]; 6] = [
        b"<pre>",
        b"</pre>",
        b"<pre><code>",
        b"</code></pre>",
        b"{code}",
        b"{noformat}",
    ];
    let begins = |start: &[u8]| {
        let found = line.get(..start.len());
        found.is_some_and(|t| t.eq_ignore_ascii_case(start))
    };
    match line.first() {
        Some(b'`') => line.starts_with(b"```"),
        Some(b'~') => line.starts_with(b"~~~"),
        Some(b'<' | b'{') => TAGS.contains(&line.trim_ascii_end()),
        Some(b's' | b'S') => begins(b"script started on ") || begins(b"script done on "),
        Some(b'[') => is_of_kernel(line),
        Some(b'B') => line.starts_with(b"Broadcast message from "),
        Some(b'M') => line.starts_with(b"Message from syslogd@"),
        _ => false,
    }
}

/// Whether the kernel wrote it on the console: `[12345.678901] sd 2:0:0:0: [sdb] …`.
fn is_of_kernel(line: &[u8]) -> bool {
    let Some(end) = line.iter().position(|b| *b == b']') else {
        return false;
    };
    let time = line[1..end].trim_ascii_start();
    let Some(dot) = time.iter().position(|b| *b == b'.') else {
        return false;
    };
    let digits = |t: &[u8]| !t.is_empty() && t.iter().all(u8::is_ascii_digit);
    // As `%5lu.%06lu`. Ten digits are a date's, as `ts '[%.s]'` puts it before each line.
    let (seconds, rest) = (&time[..dot], &time[dot + 1..]);
    let is_since_boot = digits(seconds) && seconds.len() < 10;
    is_since_boot && digits(rest) && rest.len() == 6 && end > 12 && line[end..].starts_with(b"] ")
}

#[cfg(test)]
mod tests {
    use super::is_around;

    #[test]
    fn lines_that_no_tool_prints() {
        for around in [
            "```text",
            "~~~",
            "<pre>",
            "{code}",
            "Script started on Thu Jan  1 10:00:00 2026",
            "script done on Thu Jan  1 11:00:00 2026",
            "[    0.000000] Linux version 6.1",
            "[12345.678901] sd 2:0:0:0: [sdb] tag#17 timing out command, waited 180s",
            "[1234567.678901] eth0: link up",
            "Broadcast message from root@box (pts/1) (Fri Nov 27 10:00:00 2026):",
            "Message from syslogd@box at Nov 27 10:00:00 ...",
        ] {
            assert!(is_around(around.as_bytes()), "{around}");
        }
        for own in [
            "<pre> 1 2 3",
            "{code} 1",
            "script 1 2",
            "[  5]   0.00-1.00   sec  1.10 GBytes",
            "[1764000000.123456]",
            "[1764000000.123456]  1 0 2",
            "[ 1.5 ] 2",
            "[a]",
            "[",
            "`",
            "",
        ] {
            assert!(!is_around(own.as_bytes()), "{own}");
        }
    }
}
