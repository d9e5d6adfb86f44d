//! Small segments reach the driver although the card would cut large ones itself.

use super::bars::Bars;
use super::look::Look;
use super::stretch::{Stretch, above};
use super::text::{bytes, percent, quoted, rate};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "small-segments",
    help: "Small segments are sent although the card's segmentation offload is on.",
    find,
};

const CAUSES: &[&str] = &[
    "programs that write little at a time with TCP_NODELAY, or wait for each answer",
    "UDP or QUIC without segmentation offload (UDP_SEGMENT)",
    "many connections, each with a small window or slow pacing",
    "a bridge, tunnel or filter that cuts segments before the card",
];

/// Segments per second from which their number costs: at 1 to 2 µs each some percent of a
/// processor.
const MANY: f64 = 20_000.0;
/// Seconds of that; less is a burst.
const LONG: f64 = 1.0;
/// Small: half of the bytes go in segments of at most so many MTUs. A bulk sender with
/// offload hands over up to 64 KiB at a time.
const SMALL_MTUS: f64 = 2.0;
/// Without a known MTU: Ethernet's.
const USUAL_MTU: f64 = 1500.0;
/// Mean of segments that carry no data: bare acknowledgements, which cannot be larger.
const BARE: f64 = 100.0;
/// What one segment costs a processor in the kernel, roughly; for the order of findings.
const COST: f64 = 1.5e-6;

fn find(look: &Look<'_>) -> Vec<Finding> {
    let all = look.bars("net.bytes by interface, size where direction = transmit");
    all.iter().filter_map(|bars| small(look, bars)).collect()
}

fn small(look: &Look<'_>, sizes: &Bars) -> Option<Finding> {
    let interface = sizes.word(0);
    let offload = ["tx-tcp-segmentation", "tx-tcp6-segmentation"]
        .iter()
        .any(|name| {
            look.setting(&["net", interface, "offloads", name])
                .as_deref()
                == Some("true")
        });
    if !offload {
        return None;
    }
    let mtu = look
        .number(&["net", interface, "mtu_bytes"])
        .filter(|mtu| *mtu > 0.0)
        .unwrap_or(USUAL_MTU);
    let part = format!("interface = {} and direction = transmit", quoted(interface));
    let segments = look.whole_series(&format!("net.segments where {part}"))?;
    let stretch = above(&segments, MANY).filter(|s| s.seconds >= LONG)?;
    let total = segments.iter().fold(0.0, |sum, s| sum + s.1);
    let mean = sizes.total() / total;
    let (_, half) = sizes.quantile(0.5)?;
    if mean < BARE || half > SMALL_MTUS * mtu {
        return None;
    }
    Some(Finding {
        name: RULE.name,
        score: (stretch.amount * COST / look.seconds()).min(1.0),
        sentence: format!(
            "{} left {interface}, {} each on average, although its segmentation offload is on: \
             half of the bytes went in segments of less than {} (MTU {}).{}",
            rate(stretch.rate()).replace("/s", " segments a second"),
            bytes(mean),
            bytes(half),
            bytes(mtu),
            context(look, &part),
        ),
        from: stretch.from,
        to: stretch.to,
        expression: expression(look, &part, &stretch),
        causes: CAUSES,
    })
}

fn expression(look: &Look<'_>, part: &str, stretch: &Stretch) -> String {
    look.narrowed(
        &format!("net.segments by size, context where {part}"),
        stretch.time(),
    )
}

/// Who handed most of them over.
fn context(look: &Look<'_>, part: &str) -> String {
    let largest = look.largest(&format!("net.segments by context where {part}"));
    largest.map_or(String::new(), |(context, share)| {
        let who = match context.as_str() {
            "process" => "by the writing process itself",
            "softirq" => "in a soft interrupt",
            "ksoftirqd" => "by ksoftirqd",
            other => other,
        };
        format!(" {} of them were handed over {who}.", percent(share))
    })
}
