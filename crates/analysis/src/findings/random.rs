//! Random access on a device where the way between two I/Os costs time.
//!
//! "Random" alone says little: on flash it costs nothing, and on a disk a short seek costs
//! little. So the time an I/O keeps the device busy, and how far the seeks go, decide.

use super::bars::Bars;
use super::look::Look;
use super::stretch::above;
use super::text::{bytes, count, percent, quoted, time};
use super::{Finding, Rule, WORST, device};

pub(super) const RULE: Rule = Rule {
    name: "random",
    help: "Random I/O on a device where the distance between two I/Os costs time.",
    find,
};

const CAUSES: &[&str] = &[
    "several readers or writers of different places, with too little read-ahead each",
    "a database or mail store on rotating disks, larger than the cache",
    "fragmented files, or a file system's metadata far from its data",
    "copy on write: what was written in order is read in another",
];

/// I/Os; with less there is no pattern.
const ENOUGH: f64 = 200.0;
/// Share of the I/Os that do not continue one of the last 16.
const RANDOM: f64 = 0.5;
/// Seconds an I/O keeps the device busy beyond its transfer. Flash takes a tenth of this at
/// most; a rotating disk's mean seek and half a turn are 5 to 15 ms.
const SEEK: f64 = 0.002;
/// Bytes per second of a slow disk's inner tracks.
const TRANSFER: f64 = 100e6;
/// A way of this many bytes leaves the track, and with it the drive's cache of it.
const FAR: f64 = 1048576.0;
/// Share of the I/Os that went so far.
const FAR_SHARE: f64 = 0.25;
/// Share of the time that the device was busy; an idle one hurts nobody.
const BUSY: f64 = 0.5;
/// Seconds busy; less is a burst.
const LONG: f64 = 1.0;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let all = look.bars("disk.ios by device, distance").into_iter();
    let mut all: Vec<Bars> = all.map(Bars::folded).collect();
    all.retain(|b| b.total() >= ENOUGH && b.from(FAR) / b.total() >= FAR_SHARE);
    all.sort_by(|a, b| b.total().total_cmp(&a.total()));
    all.truncate(WORST);
    all.iter().filter_map(|bars| hurts(look, bars)).collect()
}

fn hurts(look: &Look<'_>, bars: &Bars) -> Option<Finding> {
    let device = bars.word(0);
    let ios = bars.total();
    let part = format!("device = {}", quoted(device));
    let random = look.total(&format!("disk.random where {part}"))? / ios;
    if random < RANDOM {
        return None;
    }
    let size = look.total(&format!("disk.bytes where {part}"))? / ios;
    let busy = look.whole_series(&format!("disk.busy where {part}"))?;
    let each = busy.iter().fold(0.0, |sum, b| sum + b.1) / ios;
    if each - size / TRANSFER < SEEK {
        return None;
    }
    let stretch = above(&busy, BUSY).filter(|s| s.amount >= LONG)?;
    let (_, half) = bars.quantile(0.5)?;
    let (_, most) = bars.quantile(0.9)?;
    let of_device = device::number(look, device, "size_bytes")
        .filter(|size| *size > 0.0)
        .map_or(String::new(), |size| {
            format!(" ({} of the device)", percent((half / size).min(1.0)))
        });
    let sentence = format!(
        "{} of {} I/Os of {device} were random: half began less than {}{of_device} from the end \
         of the one before, nine in ten less than {}. Each kept the device busy for {}, of which \
         the transfer of {} is little.{}",
        percent(random.min(1.0)),
        count(ios),
        bytes(half),
        bytes(most),
        time(each),
        bytes(size),
        rotational(look, device),
    );
    Some(Finding {
        name: RULE.name,
        score: (stretch.amount / look.seconds() * random).min(1.0),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(
            &format!("disk.ios by distance where {part}"),
            stretch.time(),
        ),
        causes: CAUSES,
    })
}

fn rotational(look: &Look<'_>, device: &str) -> &'static str {
    match device::setting(look, device, "rotational").as_deref() {
        Some("true") => " The device says that it rotates.",
        Some("false") => " The device says that it does not rotate.",
        _ => "",
    }
}
