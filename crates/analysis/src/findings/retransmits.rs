//! TCP sends again, or receives out of order.

use super::look::Look;
use super::stretch::{Stretch, share_above, within};
use super::text::{count, percent};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "retransmits",
    help: "TCP segments are sent again, or arrive out of order.",
    find,
};

const LOST: &[&str] = &[
    "a full queue on the way: a switch port, a slower link, the receiver's ring",
    "a bad cable, optic or duplex setting (look at net.errors)",
    "a policer, or a firewall that drops",
    "reordering taken for loss: dsacks tell how many were sent without need",
];

const REORDERED: &[&str] = &[
    "packets of a connection spread over several links (bonding, ECMP) or receive queues",
    "loss: what follows a lost segment arrives out of order",
];

/// Share of sent segments that are sent again. TCP's throughput falls with the root of the
/// loss (Mathis and others, 1997): at 1 % a connection carries some twelve segments per
/// round trip.
const AGAIN: f64 = 0.01;
/// Share of received segments out of order. Receive offload joins those in order into one, so
/// the share is overstated.
const DISORDER: f64 = 0.05;
/// Fewer can be a server that does not answer.
const FEWEST: f64 = 100.0;
/// A share of one in twenty stops bulk transfers almost; for the order of findings.
const WORST: f64 = 0.05;

fn find(look: &Look<'_>) -> Vec<Finding> {
    [again(look), disorder(look)]
        .into_iter()
        .flatten()
        .collect()
}

/// A stretch with too many of `what` among `segments`: it, and the share.
fn too_many(look: &Look<'_>, what: &str, of: &str, limit: f64) -> Option<(Stretch, f64, f64)> {
    let segments = look.whole_series(of)?;
    let stretch = share_above(&look.whole_series(what)?, &segments, limit)?;
    let all = within(&segments, &stretch);
    let enough = stretch.amount >= FEWEST && all > 0.0;
    enough.then(|| (stretch, all, stretch.amount / all))
}

fn score(look: &Look<'_>, share: f64, stretch: &Stretch) -> f64 {
    (share / WORST).min(1.0) * (stretch.seconds / look.seconds()).min(1.0)
}

fn again(look: &Look<'_>) -> Option<Finding> {
    let sent = "tcp.segments where direction = transmit";
    let (stretch, all, share) = too_many(look, "tcp.retransmits", sent, AGAIN)?;
    let during = |name: &str| {
        let number = within(&look.whole_series(name)?, &stretch);
        Some(count(number))
    };
    let mut sentence = format!(
        "{} segments were sent again, {} of the {} sent",
        count(stretch.amount),
        percent(share),
        count(all),
    );
    if let Some(timeouts) = during("tcp.timeouts") {
        sentence += &format!(", with {timeouts} timeouts");
    }
    if let Some(dsacks) = during("tcp.dsacks") {
        sentence += &format!("; the other side told of {dsacks} that it had already");
    }
    sentence.push('.');
    let by_remote = "tcp.retransmits by remote, remote_port";
    let mut expression = "tcp.retransmits";
    if let Some((remote, part)) = look.largest("tcp.retransmits by remote") {
        sentence += &format!(" {} of them went to {remote}.", percent(part));
        expression = by_remote;
    }
    Some(Finding {
        name: RULE.name,
        score: score(look, share, &stretch),
        sentence,
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed(expression, stretch.time()),
        causes: LOST,
    })
}

fn disorder(look: &Look<'_>) -> Option<Finding> {
    let received = "tcp.segments where direction = receive";
    let (stretch, all, share) = too_many(look, "tcp.out_of_order", received, DISORDER)?;
    Some(Finding {
        name: RULE.name,
        score: score(look, share, &stretch),
        sentence: format!(
            "{} segments came out of order, {} of the {} received.",
            count(stretch.amount),
            percent(share),
            count(all),
        ),
        from: stretch.from,
        to: stretch.to,
        expression: look.narrowed("tcp.out_of_order", stretch.time()),
        causes: REORDERED,
    })
}
