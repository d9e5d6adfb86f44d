//! Headers that lost their end, as of text that was cut or pasted at a width.
//!
//! What is left of the last word may be the name of another column: of `kB_wrtn/s` it is `kB_wrtn`.
//! So the last column of such a header is not taken, and a remark says so.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::device;
use super::named::instances;
use super::rules;
use crate::out::Out;

/// Why a last row is not taken whose name may have lost its end.
pub(super) const NAME_CUT: &str = "the text ends here, and the name at the end of this row is the \
                                   beginning of one that is known: it was cut";

/// Names at the ends of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeSet<Vec<u8>>);

impl Names {
    /// Whether the name is new, and one that is known begins with it. It is known from now on. What a
    /// folder is mounted on may be the beginning of a path.
    pub(super) fn is_stump(&mut self, name: &[u8]) -> bool {
        if self.0.contains(name) {
            return false;
        }
        let after = (Bound::Excluded(name), Bound::Unbounded);
        let next = self.0.range::<[u8], _>(after).next();
        let rest = next.and_then(|next| next.strip_prefix(name));
        let is_stump = rest.is_some_and(|rest| !rest.starts_with(b"/")) && !name.ends_with(b"/");
        self.0.insert(name.to_vec());
        is_stump
    }
}

/// A header that lost its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// Columns before the last one.
    pub(super) whole: usize,
    /// Where they end.
    end: usize,
    /// What the rows are of was behind that.
    nameless: bool,
}

impl Cut {
    /// Of the names, which end `length` bytes after the line's beginning.
    fn of(names: &[&[u8]], length: usize) -> Cut {
        let end = |name: &&[u8]| name.as_ptr_range().end as usize;
        let ends: Vec<usize> = names.iter().rev().take(2).map(end).collect();
        let last = match ends[..] {
            [last, before] => last - before,
            _ => length,
        };
        Cut {
            whole: names.len().saturating_sub(1),
            end: length.saturating_sub(last),
            nameless: false,
        }
    }

    /// Fields of a row that are in columns before the last; `length` is the line's. A number is
    /// whole where another is behind it, or where it ends no later than its column.
    pub(super) fn row<'a, 'b>(&self, all: &'b [&'a [u8]], length: usize) -> Option<&'b [&'a [u8]]> {
        let whole = match all.len().checked_sub(self.whole)? {
            0 => length <= self.end,
            more => more <= 2,
        };
        (whole && self.whole > 0 && !self.nameless).then(|| &all[..self.whole])
    }

    /// Says it of the present line.
    pub(super) fn note(&self, names: &[&[u8]], out: &mut Out) {
        let last = String::from_utf8_lossy(names.last().unwrap_or(&&b""[..])).into_owned();
        let of_processors = is_shares(names) && !has(names, &["%idle"]);
        let what = if self.nameless {
            "what its rows are of is missing, and they are left out"
        } else if of_processors {
            "its last column is left out, and without `%idle` the shares are not in all tables"
        } else {
            "its last column is left out"
        };
        out.note(&format!(
            "line {}: the header lost its end after `{last}`, as text does that is cut at a \
             width: {what}",
            out.line_number()
        ));
    }
}

fn has(names: &[&[u8]], any: &[&str]) -> bool {
    names.iter().any(|n| any.iter().any(|a| a.as_bytes() == *n))
}

fn is_shares(names: &[&[u8]]) -> bool {
    has(names, &["%usr", "%user"])
}

/// Whether the word is what is left of a known one.
fn is_stump<'a>(word: &[u8], mut known: impl Iterator<Item = &'a str> + Clone) -> bool {
    !known.clone().any(|k| k.as_bytes() == word) && known.any(|k| k.as_bytes().starts_with(word))
}

/// Whether the columns stand as the tool puts them: who chooses some with `awk` has one blank
/// between them, and the last may be any.
fn is_laid_out(names: &[&[u8]]) -> bool {
    names.windows(2).any(|pair| {
        let (end, next) = (pair[0].as_ptr_range().end, pair[1].as_ptr());
        next as usize - end as usize > 1
    })
}

/// Of a header of `iostat`'s devices, whose name is in the first column.
pub(super) fn of_devices(names: &[&[u8]], length: usize) -> Option<Cut> {
    let (last, before) = names.get(1..)?.split_last()?;
    let read = |n: &&[u8]| n.ends_with(b"_read/s");
    let ends_early = if has(names, &["tps"]) && names.iter().any(read) {
        let amount = last.ends_with(b"_wrtn") && before.last().is_some_and(read);
        amount || is_laid_out(names) && !is_halves(&names[2..])
    } else {
        let extended = ["r/s", "w/s", "rrqm/s", "wrqm/s", "rqm/s", "kB/s", "MB/s"];
        is_laid_out(names) && has(names, &extended) && *last != b"%util"
    };
    let cut = ends_early || is_stump(last, device::names());
    cut.then(|| Cut::of(names, length))
}

/// Whether the columns after `tps` are rates, and the amounts of the same.
fn is_halves(columns: &[&[u8]]) -> bool {
    let (rates, amounts) = columns.split_at(columns.len() / 2);
    let same = |(rate, amount): (&&[u8], &&[u8])| rate.strip_suffix(b"/s") == Some(*amount);
    rates.len() == amounts.len() && rates.iter().zip(amounts).all(same)
}

/// Of the names after `avg-cpu:`.
pub(super) fn of_processors(names: &[&[u8]], length: usize) -> Option<Cut> {
    (names.last() != Some(&&b"%idle"[..])).then(|| Cut::of(names, length))
}

/// Columns of `sar` and `mpstat` of Linux that have no rule, where the beginning of one may be
/// taken for another.
const OTHERS: &[&str] = &[
    "%user",
    "%usr",
    "%nice",
    "%system",
    "%sys",
    "%iowait",
    "%irq",
    "%soft",
    "%steal",
    "%guest",
    "%gnice",
    "%idle",
    "tps",
    "rtps",
    "wtps",
    "dtps",
    "bread/s",
    "bwrtn/s",
    "bdscd/s",
    "rkB/s",
    "wkB/s",
    "dkB/s",
    "rMB/s",
    "wMB/s",
    "dMB/s",
    "rd_sec/s",
    "wr_sec/s",
    "areq-sz",
    "avgrq-sz",
    "aqu-sz",
    "avgqu-sz",
    "await",
    "svctm",
    "%util",
    "kbmemused",
    "%memused",
    "%commit",
    "kbactive",
    "kbinact",
    "kbvmused",
    "kbswpfree",
    "%swpused",
    "kbswpcad",
    "%swpcad",
    "kbmemshrd",
    "kbhugfree",
    "kbhugused",
    "%hugused",
    "kbhugrsvd",
    "kbhugsurp",
    "frmpg/s",
    "bufpg/s",
    "campg/s",
    "pgfree/s",
    "%vmeff",
    "pgprom/s",
    "pgdem/s",
    "rxcmp/s",
    "txcmp/s",
    "%ifutil",
    "txcarr/s",
    "rxfram/s",
    "intr/s",
    "totsck",
    "tcpsck",
    "udpsck",
    "rawsck",
    "ip-frag",
    "tcp-tw",
    "tcp6sck",
    "udp6sck",
    "raw6sck",
    "ip6-frag",
    "call/s",
    "read/s",
    "write/s",
    "access/s",
    "getatt/s",
    "scall/s",
    "udp/s",
    "tcp/s",
    "miss/s",
    "sread/s",
    "swrite/s",
    "saccess/s",
    "sgetatt/s",
    "idel/s",
    "asmrq/s",
    "asmok/s",
    "fragok/s",
    "ihdrerr/s",
    "iadrerr/s",
    "iukwnpr/s",
    "fragf/s",
    "dentunusd",
    "file-nr",
    "inode-nr",
    "pty-nr",
    "rcvin/s",
    "xmtin/s",
    "framerr/s",
    "prtyerr/s",
    "brk/s",
    "ovrun/s",
    "MBfsfree",
    "MBfsused",
    "%fsused",
    "%ufsused",
    "Ifree",
    "Iused",
    "%Iused",
    "%temp",
    "degC",
    "drpm",
    "rpm",
    "inV",
    "%in",
    "MHz",
    "wghMHz",
    "total/s",
    "dropd/s",
    "squeezd/s",
    "rx_rps/s",
    "flw_lim/s",
    "blg_len",
    "%scpu-10",
    "%scpu-60",
    "%scpu-300",
    "%sio-10",
    "%sio-60",
    "%sio-300",
    "%fio-10",
    "%fio-60",
    "%fio-300",
    "%smem-10",
    "%smem-60",
    "%smem-300",
    "%fmem-10",
    "%fmem-60",
    "%fmem-300",
];

/// Of the names in a header of `sar` or `mpstat` of Linux, without its time.
pub(super) fn of_times(names: &[&[u8]], length: usize) -> Option<Cut> {
    let (last, before) = names
        .split_last()
        .filter(|(_, before)| !before.is_empty())?;
    let text = |n: &&[u8]| String::from_utf8_lossy(n).into_owned();
    let of: Vec<String> = names.iter().map(text).collect();
    let values = of.len() - instances(&of).len();
    // With `--pretty` the name is last.
    let many = ["rxpck/s", "rxerr/s", "areq-sz", "avgrq-sz", "MBfsfree"];
    let named = values < of.len();
    let name_lost = !named && has(before, &many);
    let whole = rules::names().chain(OTHERS.iter().copied());
    let rates = |n: &[&[u8]]| n.len() > 1 && n.iter().all(|n| n.ends_with(b"/s"));
    let of_lines = before.first() == Some(&&b"CPU"[..]) && rates(&before[1..]);
    let pressure = has(&[last], &["%scpu", "%sio", "%fio", "%smem", "%fmem"]);
    // Sysstat 4 and 5 end so.
    let of_old = *names == [&b"DEV"[..], b"tps", b"sect/s"]
        || *names == [&b"DEV"[..], b"tps", b"rd_sec/s", b"wr_sec/s"];
    let ends_early = is_laid_out(names)
        && (is_shares(names) && !has(names, &["%idle", "PID", "PPID"])
            || before.first() == Some(&&b"DEV"[..]) && *last != b"%util" && !of_old);
    let cut = name_lost
        || ends_early
        || of_lines && !last.ends_with(b"/s") && !OTHERS.iter().any(|o| o.as_bytes() == *last)
        || pressure && !values.is_multiple_of(4)
        || is_stump(last, whole.chain(super::named::KNOWN));
    let mut cut = cut.then(|| Cut::of(names, length))?;
    cut.nameless = name_lost || !named && is_stump(last, super::named::KNOWN.into_iter());
    Some(cut)
}
