//! `arcstat`: the ZFS cache, with any columns (`-f`), letters or exact (`-p`).
//!
//! ```text
//!     time  arcsz  read  hits  miss  hit%  miss%
//! 14:44:34    59G   377   375     2    99      0
//! ```
//!
//! Counts are per second, with letters as steps of 1,000; sizes are bytes, with steps of 1,024
//! (the `cols` of `arcstat` in `OpenZFS` and in the scripts before it). The first row has all
//! since boot.
//!
//! Of the first script, whose header says `Time`, there are two with `arcsz` and `c`: its author's has
//! steps of 1,000 for sizes, too, and that of Sun's GUDS steps of 1,024. The one of `FreeBSD` has `size`
//! and `tsize` with steps of 1,000, and `l2read` is bytes.

use jiff::civil::Date;

use crate::lines::WRAPPED;
use crate::list::Format;
use crate::number::scaled;
use crate::out::{Out, Shape};
use crate::time::{DateOrder, Options, Refused, Stamp, date, time_of_day};
use crate::tools::solaris::dated;
use crate::{Line, Parser, prompt, stamp_line};

pub(crate) const FORMAT: Format = Format {
    name: "arcstat",
    tool: "arcstat",
    systems: "Solaris, illumos, Linux, FreeBSD",
    help: "hits, misses and size of the ZFS cache in memory, and of the one on devices",
    recognised: "a header of nothing but `arcstat`'s columns, as `time read miss miss% …`",
    yields: &["arc_lookups", "arc", "l2arc", "l2arc_bytes"],
    example: "\
    time  read  hits  miss  hit%  arcsz     c
14:44:32  1.2K  1.2K     0   100    59G   60G
14:44:33   377   375     2    99    59G   60G
",
    recognise: |head| if head.lines().any(is_header) { 85 } else { 0 },
    parser: || Box::new(Arcstat::new()),
};

/// Columns of sizes.
const SIZES: [&str; 22] = [
    "tsize", "comprs", "uncomp", "ovrhd", "arcsz", "size", "c", "avail", "free", "need", "l2size",
    "l2asize", "l2bytes", "waste", "l2wbytes", "data", "meta", "hdsz", "dnsz", "dbsz", "bonus",
    "abd",
];
/// Columns that only `arcstat` has, or in that sense.
const OWN: [&str; 47] = [
    "tsize", "hit%", "miss%", "ioh%", "iohs", "dhit", "dioh", "dmis", "dh%", "di%", "dm%", "dread",
    "phit", "pioh", "pmis", "ph%", "pi%", "pm%", "pread", "mhit", "mioh", "mmis", "mh%", "mi%",
    "mm%", "mread", "ddhit", "ddioh", "ddmis", "ddh%", "ddi%", "ddm%", "ddread", "dmhit", "dmmis",
    "dmh%", "dmm%", "dmread", "pdhit", "pdmis", "pdread", "pmhit", "pmmis", "pmread", "l2hits",
    "l2miss", "mtxmis",
];
const SHARED: [&str; 34] = [
    "cap%", "rat%", "redirt", "time", "read", "hits", "miss", "mfu", "mru", "mfug", "mrug",
    "eskip", "rmis", "grow", "l2read", "l2hit%", "l2miss%", "dmioh", "dmi%", "pdioh", "pdh%",
    "pdi%", "pdm%", "pmioh", "pmh%", "pmi%", "pmm%", "zhits", "zmiss", "zread", "zmax", "unc",
    "l2err", "l2pref",
];

/// The fields of a line: blanks stand between, or what `-s` says, if it is a comma, a
/// semicolon or a bar. The edge of a terminal's pane is none of them.
fn parts(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_edge = |f: &[u8]| ["│", "┃"].iter().any(|edge| f == edge.as_bytes());
    // The first versions wrote some with a capital.
    line.split(|b| b.is_ascii_whitespace() || matches!(b, b',' | b';' | b'|'))
        .filter(move |f| !f.is_empty() && !is_edge(f))
        .map(|f| match f {
            b"Time" => &b"time"[..],
            b"Hit%" => b"hit%",
            b"l2Hit%" => b"l2hit%",
            _ => f,
        })
}

/// Whether a header is that of one of the first scripts.
fn is_first(line: &[u8]) -> bool {
    let capitals: [&[u8]; 2] = [b"Time", b"Hit%"];
    capitals
        .iter()
        .any(|name| memchr::memmem::find(line, name).is_some())
}

/// `03/14/14`, as `%D` is of any language.
fn month_first(text: &[u8], out: &Out) -> Option<Date> {
    let options = Options {
        dates: Some(DateOrder::Mdy),
        ..out.options().clone()
    };
    date(text, &options).ok()?
}

fn is_header(line: &[u8]) -> bool {
    let known = |list: &[&str], f: &[u8]| list.iter().any(|n| n.as_bytes() == f);
    let (mut own, mut all) = (0, 0);
    for field in parts(line) {
        own += usize::from(known(&OWN, field) || field == b"arcsz");
        if !(known(&OWN, field)
            || known(&SIZES, field)
            || known(&SHARED, field)
            || field.starts_with(b"l2"))
        {
            return false;
        }
        all += 1;
    }
    all >= 2 && (own >= 1 || all >= 4)
}

/// Kinds of look-ups, and what their columns begin with.
const KINDS: [(&str, &str); 4] = [
    ("demand_data", "dd"),
    ("demand_metadata", "dm"),
    ("prefetch_data", "pd"),
    ("prefetch_metadata", "pm"),
];

struct Arcstat {
    columns: Vec<String>,
    /// They are of one of the first scripts.
    is_first: bool,
    /// No row came below the header.
    is_bare: bool,
    rows: u64,
    lookups: Shape,
    arc: Shape,
    l2arc: Shape,
    l2bytes: Shape,
}

impl Arcstat {
    fn new() -> Arcstat {
        Arcstat {
            columns: Vec::new(),
            is_first: false,
            is_bare: false,
            rows: 0,
            lookups: Shape::of("arc_lookups", &["hits", "misses", "joined"]),
            arc: Shape::of("arc", &["size", "target"]),
            l2arc: Shape::of("l2arc", &["hits", "misses", "size", "allocated"]),
            l2bytes: Shape::of("l2arc_bytes", &["bytes"]),
        }
    }

    fn row(&mut self, line: &[u8], out: &mut Out) -> Line {
        let mut texts: Vec<&[u8]> = parts(line).collect();
        // One version prints `%D` before the time, in the column of both.
        let day = match texts[..] {
            [day, ..] if texts.len() == self.columns.len() + 1 => month_first(day, out),
            _ => None,
        };
        if day.is_some() && self.columns.first().is_some_and(|c| c == "time") {
            texts.remove(0);
        }
        if self.columns.is_empty() || texts.len() != self.columns.len() {
            return Line::Unknown;
        }
        let mut values = Vec::with_capacity(texts.len());
        let mut stamp = None;
        for (column, text) in self.columns.iter().zip(&texts) {
            if column == "time" {
                stamp = match (time_of_day(text, None), day) {
                    (Some(time), Some(day)) => Some(Stamp::Civil(day.to_datetime(time))),
                    (Some(time), None) => Some(dated(time, out)),
                    // Of illumos' -r.
                    (None, _) => stamp_line::epoch(text),
                };
                if stamp.is_none() {
                    return Line::Unknown;
                }
                values.push(f64::NAN);
                continue;
            }
            match self.value(column, text, out) {
                Some(value) => values.push(value),
                None if *text == b"-" => values.push(f64::NAN),
                None => return Line::Unknown,
            }
        }
        out.sample_since_boot_first(stamp);
        if self.rows == 0 {
            out.since_boot();
        }
        self.rows += 1;
        self.put(&values, out);
        Line::Data
    }

    /// A value, NaN where its letter may be one of two.
    fn value(&self, column: &str, text: &[u8], out: &mut Out) -> Option<f64> {
        let is_size = SIZES.contains(&column);
        if !self.is_first {
            return scaled(text, if is_size { 1024.0 } else { 1000.0 });
        }
        let value = scaled(text, 1000.0)?;
        let is_lettered = text.last().is_some_and(u8::is_ascii_alphabetic);
        if is_lettered && matches!(column, "arcsz" | "c") {
            out.note(
                "sizes of the first `arcstat` are left out: its author's counts their letters in \
                 steps of 1,000, and another with the same header in steps of 1,024",
            );
            return Some(f64::NAN);
        }
        Some(value)
    }

    fn put(&self, values: &[f64], out: &mut Out) {
        let mut taken = vec!["time"];
        let mut of = |name: &'static str| {
            let at = self.columns.iter().position(|c| c == name);
            taken.push(name);
            at.and_then(|at| values.get(at))
                .copied()
                .unwrap_or(f64::NAN)
        };
        let arc = [of("arcsz"), of("size"), of("c"), of("tsize")];
        let size = if arc[0].is_nan() { arc[1] } else { arc[0] };
        let target = if arc[2].is_nan() { arc[3] } else { arc[2] };
        if !(size.is_nan() && target.is_nan()) {
            out.put(&self.arc, &[], &[size, target]);
        }
        let second = ["l2hits", "l2miss", "l2size", "l2asize"].map(&mut of);
        if second.iter().any(|v| !v.is_nan()) {
            out.put(&self.l2arc, &[], &second);
        }
        let read = of("l2bytes");
        if !read.is_nan() {
            let words = [out.word(b"read")];
            out.put(&self.l2bytes, &words, &[read]);
        }
        taken.extend(self.lookups(values, out));
        let none = out.word(b"");
        for (column, value) in self.columns.iter().zip(values) {
            if taken.contains(&column.as_str()) {
                continue;
            }
            let unit = match column.as_str() {
                name if name.ends_with('%') => "%",
                name if SIZES.contains(&name) => "B",
                "l2read" | "l2write" if self.is_first => "B/s",
                "grow" => "",
                _ => "/s",
            };
            out.other(column, unit, none, *value);
        }
    }

    /// Look-ups by kind, if all kinds are there, or all as one; with the columns it took.
    fn lookups(&self, values: &[f64], out: &mut Out) -> Vec<&'static str> {
        let of = |name: &str| {
            let at = self.columns.iter().position(|c| c == name);
            at.and_then(|at| values.get(at))
                .copied()
                .unwrap_or(f64::NAN)
        };
        let counts = |start: &str| ["hit", "mis", "ioh"].map(|end| of(&format!("{start}{end}")));
        let by_kind = KINDS.map(|(kind, start)| (kind, counts(start)));
        if by_kind
            .iter()
            .all(|(_, n)| !n[0].is_nan() && !n[1].is_nan())
        {
            for (kind, counts) in by_kind {
                let words = [out.word(kind.as_bytes())];
                out.put(&self.lookups, &words, &counts);
            }
            return vec![
                "ddhit", "ddmis", "ddioh", "dmhit", "dmmis", "dmioh", "pdhit", "pdmis", "pdioh",
                "pmhit", "pmmis", "pmioh",
            ];
        }
        let all = [of("hits"), of("miss"), of("iohs")];
        if all[0].is_nan() && all[1].is_nan() {
            return Vec::new();
        }
        let words = [out.word(b"(all)")];
        out.put(&self.lookups, &words, &all);
        vec!["hits", "miss", "iohs"]
    }
}

impl Parser for Arcstat {
    fn is_printed_at_once(&self) -> bool {
        true
    }

    fn lost(&mut self, line: &[u8], out: &mut Out) {
        let time = self.columns.iter().position(|c| c == "time");
        let stamp = time
            .and_then(|at| parts(line).nth(at))
            .and_then(|text| time_of_day(text, None))
            .map(|time| dated(time, out));
        for _ in 0..crate::lines::rows_in(line, self.columns.len()) {
            match stamp {
                Some(stamp) => {
                    out.sample_once_or_same(stamp);
                    out.gap();
                }
                // Before any time nothing has to be kept free.
                None if time.is_some() && !out.is_stamped() => {}
                None => out.lost(),
            }
            if self.rows == 0 {
                out.since_boot();
            }
            self.rows += 1;
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Out) -> Line {
        if parts(line).next().is_none() {
            return Line::Noise;
        }
        for name in ["arcstat", "arcstat.pl", "arcstat.py"] {
            if let Some(arguments) = prompt::arguments(line, &[name]) {
                if let Some(seconds) = prompt::interval(&arguments) {
                    out.every(seconds);
                }
                return Line::Noise;
            }
        }
        // Of the kernel's statistics some came or went.
        if line.trim_ascii() == b"<State Changed>" {
            return Line::Noise;
        }
        if is_header(line) {
            let names = parts(line).map(|f| String::from_utf8_lossy(f).into_owned());
            let above = std::mem::replace(&mut self.columns, names.collect());
            if self.is_bare && above != self.columns {
                out.refuse(Refused(WRAPPED.into()));
            }
            self.is_bare = true;
            self.is_first = is_first(line);
            return Line::Noise;
        }
        self.is_bare = false;
        self.row(line, out)
    }
}
