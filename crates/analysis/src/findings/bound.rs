//! What the run was bound by: processors, a disk, a network, memory, or by none of them, when
//! what ran was waiting. With what speaks for it and against it.

use run::unit::digits;

use super::look::Look;
use super::text::{count, quoted};
use super::{Finding, Rule};
use crate::limit::Limit;

pub(super) const RULE: Rule = Rule {
    name: "bound",
    help: "What was full, with what speaks for and against it, or that nothing was.",
    find,
};

const CPU: &[&str] = &[
    "work: look which process and mode took the time (cpu.time by process, mode)",
    "one thread that does everything, where a single processor is full",
];
const DISK: &[&str] = &[
    "more I/O than the device can do, or slower I/O than it could (size, randomness, sync)",
    "one I/O at a time: then the time of each is the limit, not the device",
];
const NETWORK: &[&str] = &["a link that is full: more than it carries is asked for"];
const MEMORY: &[&str] =
    &["less memory than what is in use: pages are reclaimed and read again, or swapped"];
const WAITING: &[&str] = &[
    "another machine that answers late",
    "sleeps and timers in the program or its script",
    "locks: one waits for the other, and no processor is needed",
];

/// Where to look at memory, as far as the run has it.
const SHORTAGE: &[&str] = &[
    "memory.available",
    "pressure.ratio by resource",
    "vm.swapped_in",
];

/// Below this processor time is told too coarsely, in ticks of 10 ms.
const TOO_SHORT: f64 = 0.2;
/// Processors in use below which a command mostly waited.
const IDLE: f64 = 0.25;
/// And every resource less full than this.
const LITTLE: f64 = 0.25;
/// Seconds; a shorter command has mostly started and ended.
const LONG: f64 = 1.0;
/// I/Os at a time up to which a busy disk has them one after the other.
const ONE: f64 = 1.5;

fn find(look: &Look<'_>) -> Vec<Finding> {
    if look.seconds() < TOO_SHORT {
        return vec![];
    }
    let limits = look.limits();
    let full = || limits.iter().filter(|l| l.full);
    if full().next().is_none() {
        return waiting(look, limits).into_iter().collect();
    }
    // Said once, with the fullest.
    let rest = std::iter::once(rest(limits)).chain(std::iter::repeat(String::new()));
    full().zip(rest).map(|(l, r)| bound(look, l, &r)).collect()
}

/// What was not full, as it speaks for what was.
fn rest(limits: &[Limit]) -> String {
    let rest: Vec<&str> = limits
        .iter()
        .filter(|l| !l.full)
        .map(|l| l.text.as_str())
        .collect();
    if rest.is_empty() {
        String::new()
    } else {
        format!(" Not full: {}.", rest.join("; "))
    }
}

fn finding(look: &Look<'_>, score: f64, sentence: String, ask: &str) -> Finding {
    let (from, to) = look.whole();
    Finding {
        name: RULE.name,
        score: if score.is_finite() {
            score.clamp(0.0, 1.0)
        } else {
            0.0
        },
        sentence,
        from,
        to,
        expression: ask.into(),
        causes: &[],
    }
}

fn bound(look: &Look<'_>, limit: &Limit, rest: &str) -> Finding {
    let name = quoted(&limit.name);
    let (word, against, expression, causes) = match limit.resource {
        "cpu" if limit.name.is_empty() => (
            "CPU-bound",
            cpu_against(look),
            "cpu.time by mode".into(),
            CPU,
        ),
        "cpu" => {
            let against = " Against it: the others were not full.".to_owned();
            (
                "CPU-bound",
                against,
                format!("cpu.time by mode where cpu = {name}"),
                CPU,
            )
        }
        "disk" => {
            let expression = format!("disk.utilisation where device = {name}");
            ("disk-bound", disk_against(look, &name), expression, DISK)
        }
        "network" => {
            let expression = format!("net.bytes by direction where interface = {name}");
            ("network-bound", String::new(), expression, NETWORK)
        }
        _ => (
            "short of memory",
            String::new(),
            look.answerable(SHORTAGE).into(),
            MEMORY,
        ),
    };
    let sentence = format!("{word}: {}.{against}{rest}", limit.text);
    Finding {
        causes,
        ..finding(look, limit.share, sentence, &expression)
    }
}

/// Full processors that nobody waits for are just used well.
fn cpu_against(look: &Look<'_>) -> String {
    let processors = look.processors();
    match look
        .mean("system.runnable")
        .filter(|_| look.knows_processors())
    {
        Some(ready) if ready > processors => format!(
            " For it: {} tasks ready for {} processors.",
            digits(ready),
            count(processors)
        ),
        Some(ready) => format!(
            " Against it: no more tasks ready ({}) than processors ({}).",
            digits(ready),
            count(processors)
        ),
        None => String::new(),
    }
}

fn disk_against(look: &Look<'_>, name: &str) -> String {
    match look.mean(&format!("disk.busy_depth where device = {name}")) {
        Some(depth) if depth <= ONE => " Against it: the I/Os came one after the other; a device \
                                         that serves several at once could do more."
            .into(),
        Some(depth) => format!(
            " For it: {} I/Os at a time while it was busy.",
            digits(depth)
        ),
        None => String::new(),
    }
}

fn waiting(look: &Look<'_>, limits: &[Limit]) -> Option<Finding> {
    // Without a command nobody expects the machine to work.
    look.manifest().command.as_ref()?;
    let used = look.mean("cpu.time")?;
    let little = limits.iter().all(|l| l.share < LITTLE);
    if look.seconds() < LONG || used > IDLE || !little {
        return None;
    }
    let texts: Vec<&str> = limits.iter().map(|l| l.text.as_str()).collect();
    let sentence = format!(
        "waiting: the command took {} s, and the machine used {} processors meanwhile. {}.",
        digits(look.seconds()),
        digits(used),
        texts.join("; "),
    );
    let expression = look.answerable(&["cpu.time by process", "cpu.time by mode"]);
    // It orders beside others by how idle everything was.
    Some(Finding {
        causes: WAITING,
        ..finding(look, 1.0 - used, sentence, expression)
    })
}
