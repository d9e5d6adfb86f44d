//! Who an interrupt's line belongs to.
//!
//! From `/sys/kernel/irq/36/actions` (4.9 and newer: one small file a line), else from
//! `/proc/interrupts`, which has a column a processor and is read whole:
//!
//! ```text
//!            CPU0       CPU1
//!  36:          0      82335 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
//! LOC:      74804      74347   Local timer interrupts
//! ```
//!
//! <https://docs.kernel.org/filesystems/proc.html#kernel-data>

use crate::Host;
use crate::read::{fields, lines, number, once, text};

/// The names of a line's handlers, with its number: `virtio1-req.0 (36)`.
pub(super) fn kind(host: &Host, irq: u32) -> String {
    let actions = host.sys("kernel/irq").join(irq.to_string()).join("actions");
    let name = match once(&actions) {
        Some(name) => name,
        None => std::fs::read(host.proc("interrupts"))
            .ok()
            .and_then(|all| handlers(&all, irq))
            .unwrap_or_default(),
    };
    if name.is_empty() {
        format!("unnamed ({irq})")
    } else {
        format!("{name} ({irq})")
    }
}

/// The handlers of `irq` in the text of `/proc/interrupts`.
fn handlers(all: &[u8], irq: u32) -> Option<String> {
    let mut lines = lines(all);
    let processors = fields(lines.next()?).count();
    let described = lines.find_map(|line| {
        let colon = line.iter().position(|&b| b == b':')?;
        let number = number(line[..colon].trim_ascii())?;
        (number == u64::from(irq)).then_some(&line[colon + 1..])
    })?;
    let mut described = text(described).trim().to_owned();
    for _ in 0..processors {
        let count = described.find(' ')?;
        described = described[count..].trim_start().to_owned();
    }
    // Controller, number there with trigger; then, after two spaces or more, the handlers.
    // A line whose handlers are gone ends before.
    let (line, handlers) = described.rsplit_once("  ")?;
    (line.split_whitespace().count() >= 2).then(|| handlers.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(case: &str) -> Host {
        Host::at(format!(
            "{}/fixtures/cpu/{case}",
            env!("CARGO_MANIFEST_DIR")
        ))
    }

    #[test]
    fn each_line_has_a_file() {
        let host = host("names");
        assert_eq!(kind(&host, 36), "virtio1-req.0 (36)");
        assert_eq!(kind(&host, 17), "ehci_hcd:usb1,snd hda (17)");
        assert_eq!(kind(&host, 40), "unnamed (40)", "its handlers are gone");
        assert_eq!(kind(&host, 99), "unnamed (99)");
    }

    #[test]
    fn older_kernels_have_one_file_for_all() {
        let host = host("old_names");
        assert_eq!(kind(&host, 0), "timer (0)");
        assert_eq!(kind(&host, 17), "ehci_hcd:usb1, snd hda (17)");
        assert_eq!(kind(&host, 27), "arch_timer (27)");
        assert_eq!(kind(&host, 36), "virtio1-req.0 (36)");
        assert_eq!(kind(&host, 40), "unnamed (40)", "its handlers are gone");
        assert_eq!(kind(&host, 7), "unnamed (7)", "a cut line");
    }
}
