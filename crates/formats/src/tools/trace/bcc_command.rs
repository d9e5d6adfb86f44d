//! What the command lines of bcc and perf-tools tell.

use super::first_number;

/// The disk that a tool was to look at alone: `biolatency -d nvme0n1`.
pub(super) fn disk_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = words.iter().position(|w| matches!(*w, "-d" | "--disk"))?;
    words.get(at + 1).copied()
}

/// Seconds between outputs, as the tool's arguments say.
pub(super) fn interval(words: &[&str]) -> Option<f64> {
    let (name, arguments) = words.split_first()?;
    if matches!(*name, "funclatency" | "argdist") {
        // Their first argument is a function; -i says how often.
        let at = arguments
            .iter()
            .position(|w| matches!(*w, "-i" | "--interval"))?;
        return arguments.get(at + 1)?.parse().ok();
    }
    if *name == "bitesize" && arguments.contains(&"-b") {
        // Sizes follow. That of perf-tools says itself how long it traces.
        return None;
    }
    // With these, -d is no disk but asks for a histogram.
    let flags = matches!(*name, "hardirqs" | "softirqs");
    first_number(arguments, if flags { "pc" } else { "pdc" })
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn where_the_interval_stands() {
        assert_eq!(interval(&["biolatency", "-mT", "1", "5"]), Some(1.0));
        assert_eq!(interval(&["bitesize", "-b", "\"8", "16\""]), None);
        assert_eq!(interval(&["funclatency", "vfs_read"]), None);
        assert_eq!(interval(&["funclatency", "-i", "2", "do_*"]), Some(2.0));
        assert_eq!(interval(&["runqlat", "-p", "185", "10", "1"]), Some(10.0));
    }
}
