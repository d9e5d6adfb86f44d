//! `irq:NUMBER`: which processors handle an interrupt.

use std::path::Path;
use std::sync::Arc;

use super::{Allow, Family, Field, Opened, entries, no_field};
use crate::KnobError;
use crate::kernel_file::{self, FileSpot, Holds};
use crate::spot::Identity;

pub(super) const FAMILY: Family = Family {
    prefix: "irq",
    form: "irq:NUMBER",
    about: "The processors that may handle an interrupt, as a list such as 0-3,8",
    link: "https://docs.kernel.org/core-api/irq/irq-affinity.html",
    fields: &[Field {
        name: "*",
        about: "Processors that may handle it; managed interrupts of fast disks refuse to be moved",
        reset_by: "irqbalance; processors that go offline; new queues of the device",
        rank: 2,
    }],
    open,
    list,
};

const DIR: &str = "/proc/irq";
const FILE: &str = "smp_affinity_list";

fn open(name: &str, rest: &str, _: Allow) -> Result<Opened, KnobError> {
    if rest.is_empty() || !rest.bytes().all(|b| b.is_ascii_digit()) {
        return Err(KnobError::Unknown {
            name: name.to_owned(),
            why: "an interrupt has a number".into(),
            hint: "/proc/interrupts lists them; for example irq:24".into(),
        });
    }
    let dir = Path::new(DIR).join(rest);
    if !dir.join(FILE).exists() {
        return Err(KnobError::Missing {
            name: name.to_owned(),
            path: dir.display().to_string(),
            hint: "/proc/interrupts lists the interrupts of this machine".into(),
        });
    }
    let Some(field) = FAMILY.fields.first() else {
        return Err(no_field(name, rest, FAMILY.fields));
    };
    // The number is given anew when a device is; what handles it tells.
    let mut more = Identity::new();
    let actions = kernel_file::read(&Path::new("/sys/kernel/irq").join(rest).join("actions"));
    if let Ok(actions) = actions {
        more.insert("handled by".into(), actions);
    }
    let spot = FileSpot {
        path: dir.join(FILE),
        holds: Holds::Text,
        owner: Path::new("/sys/kernel/irq").join(rest),
        more,
        companions: Vec::new(),
        write: kernel_file::write,
    };
    Ok(Opened {
        field,
        spot: Arc::new(spot),
    })
}

/// The numbers of all interrupts that have a device.
pub(super) fn names() -> Vec<String> {
    let mut numbers: Vec<u32> = entries(DIR).iter().filter_map(|n| n.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.iter().map(ToString::to_string).collect()
}

fn list(rest: &str) -> Vec<String> {
    let names = names().into_iter().filter(|n| n.starts_with(rest));
    names.map(|n| format!("irq:{n}")).collect()
}
