//! Texts whose lines were cut at the width of a terminal: no number appears that the text as it was
//! printed does not have.

mod texts;

use formats::Reading;
use texts::{Read, SPAN, assert_none, but_for, faults, printed};

/// Widths of terminals, of mail and of paper.
const WIDTHS: [usize; 8] = [72, 79, 80, 100, 120, 132, 160, 200];

/// Texts of which what was lost is not seen, and why.
const UNSEEN: &[(&str, &[&str])] = &[
    (
        "a number without decimals at the end of a line that has no fixed length",
        &[
            "arcstat day-and-time.txt",
            "atop atop-P-ALL-part1.txt",
            "atop control-groups.txt",
            "atop labels.txt",
            "iperf2-text dates-and-sums.txt",
            "iperf2-text full-duplex-headers.txt",
            "iperf2-text server-both-ways.txt",
            "mountstats procfs-26231-mountstats",
            "mountstats raw-of-the-command.txt",
            "mountstats telegraf-mountstats",
            "mountstats twice.txt",
            "proc diskstats",
            "proc nfs",
            "prometheus node.txt",
            "prometheus one-scrape.txt",
            "prometheus openmetrics.txt",
            "prstat processes.txt",
            "prstat smartos-prstat-Z.txt",
            "prstat together.txt",
            "ss head-lost.txt",
            "stress-ng columns.txt",
            "vmstat-linux disks-brazilian.txt",
            "vmstat-linux disks-french.txt",
            "zonestat-p resources-stamps.txt",
            "zpool-iostat scripted-exact-y.txt",
        ],
    ),
    (
        "decimals of a tool that prints as many as there are",
        &["dstat-csv pcp-dstat-5.0.3.csv"],
    ),
    (
        "what the command says behind that: a size, what is cleared",
        &[
            "dd dd-solaris-bintime-j4400.txt",
            "dtrace ended-early.txt",
            "dtrace kept-largest.txt",
            "dtrace normalized.txt",
            "dtrace tst.negquant.r",
            "dtrace uncleared.txt",
        ],
    ),
    (
        "how many processors there are, at the end of the banner",
        &[
            "iostat-linux centos7-iostat-1.out",
            "iostat-linux centos7-iostat-mx.out",
        ],
    ),
    (
        "a row that lacks something itself",
        &["mpstat-solaris lost-row.txt"],
    ),
    (
        "that processors did not wait either: what is left of the row could be",
        &["vmstat-linux neither-busy-nor-idle.txt"],
    ),
];

/// The first number that the whole text tells otherwise. Names and titles may be cut, too: what they
/// have is not looked at.
fn other_number(found: &Read, whole: &Read) -> Option<String> {
    for (key, all) in &found.rows {
        let Some(rows) = whole.rows.get(key) else {
            continue;
        };
        for values in all {
            for (column, value) in values.iter().enumerate() {
                let is_same = |row: &Vec<f64>| row[column].to_bits() == value.to_bits();
                if !value.is_nan() && !rows.iter().any(is_same) {
                    return Some(format!("{key} {values:?}, not {rows:?}"));
                }
            }
        }
    }
    None
}

fn fault(format: Reading, text: &[u8], looked_at: &mut usize) -> Option<String> {
    let whole = Read::of(format, text);
    if whole.rows.is_empty() {
        return None;
    }
    for width in WIDTHS {
        let lines = text.split(|b| *b == b'\n');
        let lines: Vec<&[u8]> = lines.map(|line| &line[..line.len().min(width)]).collect();
        let cut = lines.join(&b'\n');
        if cut == text {
            continue;
        }
        *looked_at += 1;
        let mut found = Read::of(format, &cut);
        // Times may be cut, too.
        found.rows.remove(SPAN);
        if let Some(what) = other_number(&found, &whole) {
            return Some(format!("at {width}\n    {what}"));
        }
    }
    None
}

#[test]
fn a_text_that_was_cut_at_a_width_makes_no_number_of_its_own() {
    let all = printed();
    let mut faults = faults(&all, 1_000, |(name, format, text), looked_at| {
        let fault = fault((*format).into(), text, looked_at)?;
        Some((format!("{} {name}", format.name), fault))
    });
    but_for(&mut faults, UNSEEN);
    assert_none(&faults);
}
