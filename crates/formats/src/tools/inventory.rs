//! What lists settings and is no measurement: recognised, to say so.

use crate::list::Format;
use crate::out::Out;
use crate::recognise::Head;
use crate::time::Refused;
use crate::{Line, Parser, fields};

/// Refuses at its first line.
pub(super) struct Refusing(pub(super) &'static str);

impl Parser for Refusing {
    fn line(&mut self, _line: &[u8], out: &mut Out) -> Line {
        out.refuse(Refused(self.0.to_owned()));
        Line::Noise
    }

    fn sees_cut(&self, _line: &[u8]) -> bool {
        true
    }
}

/// Whether the head has lines that begin with all of these.
fn all_start(head: &Head, starts: &[&str]) -> bool {
    starts.iter().all(|s| head.any_starts(s))
}

pub(crate) const MPATHADM: Format = Format {
    name: "mpathadm",
    tool: "mpathadm",
    systems: "Solaris, illumos",
    help: "paths to disks; refused: settings and states, no measurements",
    recognised: "`Logical Unit:` and `mpath-support:`, or `Total Path Count:`",
    yields: &[],
    example: "    Logical Unit:  /dev/rdsk/c0t1d0s2\n        mpath-support:  libmpscsi_vhci.so\n",
    recognise: |head| {
        let shown = all_start(head, &["Logical Unit:", "mpath-support:"]);
        let listed = all_start(head, &["Total Path Count:", "Operational Path Count:"]);
        if shown || listed { 90 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it lists disks and the paths to them (mpathadm), which are settings, not measurements",
        ))
    },
};

pub(crate) const STMSBOOT: Format = Format {
    name: "stmsboot",
    tool: "stmsboot",
    systems: "Solaris, illumos",
    help: "names of disks with and without multipathing; refused: no measurements",
    recognised: "`non-STMS device name` and `STMS device name`",
    yields: &[],
    example: "\
non-STMS device name                    STMS device name
------------------------------------------------------------------
/dev/rdsk/c1t50060E801049CF50d0         /dev/rdsk/c2t4849544143484920373330d0
",
    recognise: |head| {
        let named = head.any_fields(&["STMS", "device", "name"]);
        if named && head.any_fields(&["non-STMS", "device", "name"]) {
            90
        } else {
            0
        }
    },
    parser: || {
        Box::new(Refusing(
            "it lists names of disks with and without multipathing (stmsboot), which are \
             settings, not measurements",
        ))
    },
};

pub(crate) const IPADM: Format = Format {
    name: "ipadm",
    tool: "ipadm",
    systems: "Solaris, illumos",
    help: "network addresses and properties; refused: settings, no measurements",
    recognised: "`ADDROBJ TYPE STATE ADDR`, `IFNAME CLASS STATE` or `PROTO PROPERTY PERM`",
    yields: &[],
    example: "\
ADDROBJ           TYPE     STATE        ADDR
lo0/v4            static   ok           127.0.0.1/8
",
    recognise: |head| {
        let known = head.lines().any(|line| {
            let mut words = fields(line);
            let (first, second) = (words.next(), words.next());
            matches!(
                (first, second),
                (Some(b"ADDROBJ"), Some(b"TYPE" | b"PROPERTY"))
                    | (Some(b"IFNAME"), Some(b"STATE" | b"CLASS" | b"PROPERTY"))
                    | (Some(b"PROTO"), Some(b"PROPERTY"))
                    | (Some(b"NAME"), Some(b"CLASS/TYPE"))
            )
        });
        if known { 90 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it lists network addresses (ipadm), which are settings, not measurements",
        ))
    },
};

pub(crate) const ZONECFG: Format = Format {
    name: "zonecfg",
    tool: "zonecfg",
    systems: "Solaris, illumos",
    help: "the configuration of a zone; refused: settings, no measurements",
    recognised: "`zonename:` and `zonepath:`, or `create -b` and `set zonepath=`",
    yields: &[],
    example: "zonename: dummy\nzonepath: /dummy/z\nbrand: native\nautoboot: true\n",
    recognise: |head| {
        let info = all_start(head, &["zonename:", "zonepath:"]);
        let export = head.any_starts("set zonepath=");
        if info || export { 90 } else { 0 }
    },
    parser: || {
        Box::new(Refusing(
            "it lists the configuration of a zone (zonecfg), which is settings, not measurements",
        ))
    },
};
