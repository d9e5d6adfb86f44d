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

/// Finds names of interrupts.
pub(super) struct Names {
    host: Host,
    /// `/proc/interrupts`, while one sample needs it.
    all: Option<Vec<u8>>,
}

impl Names {
    pub(super) fn new(host: &Host) -> Names {
        Names {
            host: host.clone(),
            all: None,
        }
    }

    /// The names of a line's handlers, with its number: `virtio1-req.0 (36)`.
    pub(super) fn kind(&mut self, irq: u32) -> String {
        let line = self.host.sys("kernel/irq").join(irq.to_string());
        let name = once(&line.join("actions")).or_else(|| {
            let read = || std::fs::read(self.host.proc("interrupts")).unwrap_or_default();
            handlers(self.all.get_or_insert_with(read), irq)
        });
        match name.as_deref() {
            None | Some("") => format!("unnamed ({irq})"),
            Some(name) => format!("{name} ({irq})"),
        }
    }

    /// Names asked for from now on are looked up anew.
    pub(super) fn forget(&mut self) {
        self.all = None;
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

    fn names(case: &str) -> Names {
        let root = format!("{}/fixtures/cpu/{case}", env!("CARGO_MANIFEST_DIR"));
        Names::new(&Host::at(root))
    }

    #[test]
    fn each_line_has_a_file() {
        let mut names = names("names");
        assert_eq!(names.kind(36), "virtio1-req.0 (36)");
        assert_eq!(names.kind(17), "ehci_hcd:usb1,snd hda (17)");
        assert_eq!(names.kind(40), "unnamed (40)", "its handlers are gone");
        assert_eq!(names.kind(99), "unnamed (99)");
    }

    #[test]
    fn older_kernels_have_one_file_for_all() {
        let mut names = names("old_names");
        assert_eq!(names.kind(0), "timer (0)");
        assert_eq!(names.kind(17), "ehci_hcd:usb1, snd hda (17)");
        assert_eq!(names.kind(27), "arch_timer (27)");
        assert_eq!(names.kind(36), "virtio1-req.0 (36)");
        assert_eq!(names.kind(40), "unnamed (40)", "its handlers are gone");
        assert_eq!(names.kind(7), "unnamed (7)", "a cut line");
    }
}
