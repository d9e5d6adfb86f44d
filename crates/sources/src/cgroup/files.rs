//! The files of one control group.
//!
//! <https://docs.kernel.org/admin-guide/cgroup-v2.html>,
//! <https://docs.kernel.org/admin-guide/cgroup-v1/index.html>

use crate::read::{fields, lines, number};

/// A limit from here on is none: version 1 writes the largest number of pages.
const NO_LIMIT: u64 = 1 << 62;

/// The number of a file that holds only one.
pub fn single(bytes: &[u8]) -> Option<u64> {
    number(bytes.trim_ascii())
}

/// The value after `key` in a file of lines `key value`.
///
/// ```text
/// nr_periods 12
/// nr_throttled 3
/// throttled_usec 4500
/// ```
pub fn keyed(bytes: &[u8], key: &[u8]) -> Option<u64> {
    lines(bytes).find_map(|line| {
        let mut words = fields(line);
        (words.next()? == key).then(|| words.next().and_then(number))?
    })
}

/// Bytes of a limit, NaN if it is none.
pub fn limit(bytes: &[u8]) -> f64 {
    match single(bytes) {
        Some(limit) if limit < NO_LIMIT => limit as f64,
        _ => f64::NAN,
    }
}

/// Processors of a limit: `quota period` in one file (`max 100000`: none), or from a quota
/// (`-1`: none) and a period.
pub fn processors(quota: &[u8], period: Option<&[u8]>) -> f64 {
    let mut words = fields(quota.trim_ascii());
    let quota = words.next().and_then(number);
    let period = period.map(<[u8]>::trim_ascii).or_else(|| words.next());
    match (quota, period.and_then(number)) {
        (Some(quota), Some(period)) if period > 0 => quota as f64 / period as f64,
        _ => f64::NAN,
    }
}

/// What a device did: I/Os of reads, writes, discards; then their bytes.
pub type Io = [u64; 6];

/// The devices of version 2's `io.stat`.
///
/// ```text
/// 254:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0
/// ```
pub fn io(bytes: &[u8]) -> impl Iterator<Item = ((u32, u32), Io)> {
    lines(bytes).filter_map(|line| {
        let mut words = fields(line);
        let device = device(words.next()?)?;
        let mut io = Io::default();
        for word in words {
            let split = word.iter().position(|&b| b == b'=')?;
            let place = match &word[..split] {
                b"rios" => 0,
                b"wios" => 1,
                b"dios" => 2,
                b"rbytes" => 3,
                b"wbytes" => 4,
                b"dbytes" => 5,
                // io.cost and io.latency add their own, not all of them numbers.
                _ => continue,
            };
            io[place] = number(&word[split + 1..])?;
        }
        Some((device, io))
    })
}

/// The devices and operations (0 read, 1 write, 2 discard) of version 1's
/// `blkio.throttle.io_service_bytes` and `io_serviced`.
///
/// ```text
/// 254:0 Read 4096
/// 254:0 Write 0
/// 254:0 Total 4096
/// Total 4096
/// ```
pub fn io_v1(bytes: &[u8]) -> impl Iterator<Item = ((u32, u32), usize, u64)> {
    lines(bytes).filter_map(|line| {
        let mut words = fields(line);
        let device = device(words.next()?)?;
        let op = match words.next()? {
            b"Read" => 0,
            b"Write" => 1,
            b"Discard" => 2,
            _ => return None,
        };
        Some((device, op, number(words.next()?)?))
    })
}

fn device(text: &[u8]) -> Option<(u32, u32)> {
    let colon = text.iter().position(|&b| b == b':')?;
    let part = |text| u32::try_from(number(text)?).ok();
    Some((part(&text[..colon])?, part(&text[colon + 1..])?))
}

/// Microseconds stalled: `some`, `full`.
///
/// ```text
/// some avg10=0.34 avg60=0.63 avg300=0.66 total=16128160
/// full avg10=0.00 avg60=0.00 avg300=0.00 total=0
/// ```
pub fn pressure(bytes: &[u8]) -> [Option<u64>; 2] {
    let total = |share: &[u8]| {
        let line = lines(bytes).find(|l| l.starts_with(share))?;
        number(fields(line).find_map(|w| w.strip_prefix(b"total="))?)
    };
    [total(b"some "), total(b"full ")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        assert_eq!(limit(b"1048576\n"), 1048576.0);
        assert!(limit(b"9223372036854771712\n").is_nan());
        assert!(limit(b"max\n").is_nan());
        assert_eq!(processors(b"150000 100000\n", None), 1.5);
        assert!(processors(b"max 100000\n", None).is_nan());
        assert_eq!(processors(b"50000\n", Some(b"100000\n")), 0.5);
        assert!(processors(b"-1\n", Some(b"100000\n")).is_nan());
        assert!(processors(b"1 0", None).is_nan());
    }

    #[test]
    fn keys_are_whole_words() {
        let text = b"usage_usec 9\nuser_usec 5\nsystem_usec 4\n";
        assert_eq!(keyed(text, b"user_usec"), Some(5));
        assert_eq!(keyed(text, b"user"), None);
        assert_eq!(
            keyed(b"oom_kill_disable 0\noom_kill 3\n", b"oom_kill"),
            Some(3)
        );
    }

    #[test]
    fn devices_of_both_versions() {
        let v2 = b"254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6 cost.vrate=100.00\n8:16\n";
        let all: Vec<_> = io(v2).collect();
        assert_eq!(all, [((254, 0), [3, 4, 6, 1, 2, 5]), ((8, 16), [0; 6])]);
        let v1 = b"254:0 Read 7\n254:0 Write 8\n254:0 Sync 9\n254:0 Discard 1\n254:0 Total 16\nTotal 16\n";
        let all: Vec<_> = io_v1(v1).collect();
        assert_eq!(all, [((254, 0), 0, 7), ((254, 0), 1, 8), ((254, 0), 2, 1)]);
    }

    #[test]
    fn pressure_totals() {
        let text = b"some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n";
        assert_eq!(pressure(text), [Some(12), Some(3)]);
        assert_eq!(pressure(b"some total=x\n"), [None, None]);
    }
}
