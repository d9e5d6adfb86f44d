//! Lines of iperf's text that have no numbers to take, and the times before lines.

use crate::out::Out;
use crate::stamp_line;
use crate::time::Stamp;

/// How lines begin that have no numbers to take.
const CHATTER: &[&str] = &[
    "Connecting to",
    "Accepted connection",
    "Client connecting",
    "Server listening",
    "Reverse mode",
    "- - -",
    "-----",
    "TCP ",
    "UDP ",
    "iperf",
    "Sending ",
    "Receiving ",
    "TOS ",
    "Write buffer",
    "Bursting:",
    "Bounce-back test",
    "MSS size",
    "Setting UDP block size",
    "Target Bitrate:",
    "Congestion algorithm",
    "SNDBUF is",
    "RCVBUF is",
    "Read buffer",
    "Time:",
    "Test ",
    "Starting Test",
    "Cookie:",
    "CPU ",
    "Control connection",
    "Linux ",
    "Server output:",
    "snd_tcp",
    "rcv_tcp",
    "WARNING",
    "warning",
    "Bounceback test",
    "Event based writes",
    "Enabled ",
    "[ CT]",
];

/// The line without the time that `--timestamps` puts before it, and that time: lines of the server's output
/// have none, so that there is none before each.
pub(super) fn without_time<'a>(text: &'a str, out: &mut Out) -> (&'a str, Option<Stamp>) {
    let trimmed = text.trim();
    let begins = CHATTER.iter().filter_map(|begin| trimmed.find(begin));
    let from = match trimmed.find('[') {
        Some(at) => at,
        None => begins.min().unwrap_or(trimmed.len()),
    };
    let (before, rest) = trimmed.split_at(from);
    if before.is_empty() {
        return (rest, None);
    }
    match stamp_line::told(before.trim().as_bytes(), out) {
        Some(stamp) => (rest, Some(stamp)),
        None if rest.starts_with('[') => (rest, None),
        None => (trimmed, None),
    }
}

/// What `-d` tells meanwhile: what each side asks of the other, and each write.
#[derive(Default)]
pub(super) struct Debug {
    /// In the JSON that one side sends.
    is_sent: bool,
}

impl Debug {
    pub(super) fn is_told(&mut self, text: &str) -> bool {
        const SENT: [&str; 4] = [
            "send_parameters:",
            "get_parameters:",
            "send_results",
            "get_results",
        ];
        const TOLD: [&str; 4] = ["tcpi_", "interval_len ", "interval forces", "Late receive,"];
        if SENT.iter().any(|begin| text.starts_with(begin)) {
            self.is_sent = true;
            return true;
        }
        // The brackets within stand behind blanks. What does not look like JSON is none of it.
        let is_within = text.starts_with(['{', '}', '\t', ' ']);
        if self.is_sent && is_within {
            self.is_sent = text != "}";
            return true;
        }
        self.is_sent = false;
        let is_write = text.starts_with("sent ") && text.contains(", pending ");
        is_write || TOLD.iter().any(|begin| text.starts_with(begin))
    }
}

/// Whether the line is known to have none.
pub(super) fn is(text: &str) -> bool {
    const ABOUT_STREAM: [&str; 8] = [
        "local ",
        "Sent ",
        "Server Report",
        "WARNING",
        "connected",
        "Remote ",
        "received out-of-order",
        // A histogram, in bins that only its end tells.
        "-PDF: bin(",
    ];
    CHATTER.iter().any(|begin| text.starts_with(begin))
        || text.starts_with('[') && ABOUT_STREAM.iter().any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_side_sends_ends_where_rows_come() {
        let lines = [
            ("send_results", true),
            ("{", true),
            ("\t\"streams\":\t[{", true),
            ("}", true),
            ("[  5]   0.00-1.00   sec  1 MBytes  8 Mbits/sec", false),
            ("get_results", true),
            ("[  5]   1.00-2.00   sec  1 MBytes  8 Mbits/sec", false),
            ("\t\"cut\":\t1", false),
        ];
        let mut debug = Debug::default();
        for (line, is_told) in lines {
            assert_eq!(debug.is_told(line), is_told, "{line}");
        }
    }
}
