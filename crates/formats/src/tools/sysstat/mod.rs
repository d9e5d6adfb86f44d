//! Tools of the sysstat package: `iostat`, `mpstat`, `pidstat`, `sar`, `sadf`; and the `sar` of
//! Solaris, AIX and HP-UX, which looks alike.
//!
//! Sizes in kB are of 1,024 bytes, sectors and blocks of 512 (`iostat(1)`, `sar(1)`).

mod cut;
mod device;
pub(crate) mod iostat;
pub(crate) mod iostat_json;
mod json;
mod missing;
mod moments;
mod mounts;
pub(crate) mod mpstat;
mod named;
mod outputs;
pub(crate) mod pidstat;
pub(crate) mod pidstat_json;
mod place;
mod records;
mod rules;
pub(crate) mod sadf;
pub(crate) mod sadf_text;
pub(crate) mod sar;
mod shares;
mod sheet;
mod table;
mod timed;
mod told;
mod when;
mod xml;

use crate::number::whole;
use crate::out::Out;
use crate::prompt;
use crate::time::Refused;

pub(crate) const KIB: f64 = 1024.0;
pub(crate) const SECTOR: f64 = 512.0;

/// What the first line says: `Linux 5.8.0 (host) 12/02/2021 _x86_64_ (2 CPU)`.
#[derive(Debug, Default)]
pub(crate) struct Banner {
    /// The date, as printed.
    pub(crate) date: Vec<u8>,
    /// The machine's kind, as `x86_64`; empty where it is not told.
    pub(crate) machine: Vec<u8>,
    /// How many processors there are.
    pub(crate) processors: Option<u32>,
}

/// Bytes of a page of memory, of machines that have one size only.
pub(crate) fn page_of(machine: &[u8]) -> Option<f64> {
    let known = [
        &b"x86_64"[..],
        b"i386",
        b"i486",
        b"i586",
        b"i686",
        b"amd64",
        b"s390x",
        b"i86pc",
    ];
    if known.contains(&machine) {
        return Some(4096.0);
    }
    (machine.starts_with(b"sun4u") || machine.starts_with(b"sun4v")).then_some(8192.0)
}

/// Reads a banner of Linux, and tells `out` the host and the processors.
pub(crate) fn banner(line: &[u8], out: &mut Out) -> Option<Banner> {
    let rest = line.trim_ascii_start().strip_prefix(b"Linux ")?;
    let open = memchr::memchr(b'(', rest).filter(|at| *at > 0)?;
    let close = open + memchr::memchr(b')', &rest[open..])?;
    // Who made the host unknown may have taken its brackets, too.
    let host = Some(&rest[open + 1..close]).filter(|host| !host.ends_with(b" CPU"));
    let release = rest.iter().position(u8::is_ascii_whitespace)?;
    let told = &rest[host.map_or(release, |_| close + 1)..];
    let mut banner = Banner::default();
    let mut before: &[u8] = b"";
    let mut words_of_day = 0;
    for field in crate::fields(told) {
        if words_of_day > 0 {
            words_of_day -= 1;
            banner.date.push(b' ');
            banner.date.extend(field);
            continue;
        }
        if let Some(machine) = field.strip_prefix(b"_").and_then(|f| f.strip_suffix(b"_")) {
            banner.machine = machine.to_vec();
        } else if field.starts_with(b"CPU")
            && let Some(count) = before.strip_prefix(b"(").and_then(whole)
            && let Ok(count) = u32::try_from(count)
            && count > 0
        {
            out.has_processors(count);
            banner.processors = Some(count);
        } else if banner.date.is_empty() && field.first().is_some_and(u8::is_ascii_digit) {
            banner.date = field.to_vec();
            // `27. 11. 2026`, `2026년 11월 27일`.
            let is_first = field.ends_with(b".") && field.len() <= 3;
            words_of_day = 2 * u8::from(is_first || field.ends_with("년".as_bytes()));
        }
        before = field;
    }
    if banner.date.is_empty() {
        return None;
    }
    if let Some(host) = host {
        of_host(host, out);
    }
    Some(banner)
}

/// How many processors the machine has since a restart: `LINUX RESTART (8 CPU)`.
pub(super) fn processors_since(restart: &[u8]) -> Option<u32> {
    let (_, told) = restart.split_at(memchr::memchr(b'(', restart)?);
    let (count, _) = told.split_at(memchr::memmem::find(told, b" CPU")?);
    let count = whole(count.strip_prefix(b"(")?)?;
    u32::try_from(count).ok().filter(|count| *count > 0)
}

/// A banner names the host. Outputs of two in one file are none of either.
pub(crate) fn of_host(host: &[u8], out: &mut Out) {
    let name = String::from_utf8_lossy(host);
    if let Some(first) = out.host_name().filter(|first| **first != *name) {
        let why = format!(
            "it has outputs of two hosts, {first} and, from line {} on, {name}\n\
             hint: put those of each host into a file of its own",
            out.line_number()
        );
        out.refuse(Refused(why));
        return;
    }
    out.host(host);
}

/// The arguments of a command line that somebody left in the text: `$ iostat -xz 5`.
pub(crate) fn command<'a>(line: &'a [u8], tool: &str) -> Option<Vec<&'a [u8]>> {
    let all: Vec<&[u8]> = crate::fields(line).collect();
    let is_tool = |f: &&[u8]| f.rsplit(|b| *b == b'/').next() == Some(tool.as_bytes());
    let at = all.iter().position(is_tool)?;
    let arguments = &all[at + 1..];
    let plausible = arguments.first().is_none_or(|a| {
        a.starts_with(b"-") || whole(a).is_some() || a.iter().all(u8::is_ascii_alphanumeric)
    });
    let before = &all[..at];
    let is_command =
        plausible && prompt::is_prompt(before) || prompt::is_labelled(before, arguments);
    is_command.then(|| arguments.to_vec())
}

/// The unit of a column that has no place elsewhere, as its name tells it.
pub(crate) fn unit_of(name: &str) -> &'static str {
    let kib = name.starts_with("kb") || name.contains("kB");
    match name.ends_with("/s") {
        true if kib => "KiB/s",
        true if name.contains("MB") => "MiB/s",
        true => "1/s",
        _ if name.starts_with('%') || name.ends_with("-percent") => "%",
        _ if kib => "KiB",
        _ if name.starts_with("MB") => "MiB",
        _ => "",
    }
}

#[cfg(test)]
mod tests;
