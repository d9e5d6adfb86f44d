//! Offloads: what the card or the kernel does to segments, by ethtool.
//!
//! The kernel keeps what was asked for apart from what is in force: an offload that was asked
//! for is off while something it needs is off. Such a one reads as `off(on)`, and written back
//! it is asked for again.

use netlink::attribute;
use netlink::ethtool::{Ethtool, FEATURES_GET, NESTED, bits, bitset};
use netlink::push_attribute;

use super::link::Link;
use crate::spot::{Identity, Spot, Values};
use crate::{KnobError, capability, namespace};

const FEATURES_SET: u8 = 12;
const HARDWARE: u16 = 2;
const WANTED: u16 = 3;
const ACTIVE: u16 = 4;
const NOT_CHANGEABLE: u16 = 5;

/// Names that stand for several of the kernel's.
const GROUPS: &[(&str, &[&str])] = &[
    ("gso", &["tx-generic-segmentation"]),
    ("gro", &["rx-gro"]),
    ("lro", &["rx-lro"]),
    (
        "tso",
        &[
            "tx-tcp-segmentation",
            "tx-tcp-ecn-segmentation",
            "tx-tcp6-segmentation",
        ],
    ),
];
/// Whether it is another kind of TSO. Most cards have those off while TSO is on (`mangleid`),
/// or on only with newer kernels (`accecn`); TSO is off only without all of them. So `tso = off`
/// switches them off too, and they are journaled beside.
fn is_also_tso(name: &str, main: &[&str]) -> bool {
    name.starts_with("tx-tcp") && name.ends_with("-segmentation") && !main.contains(&name)
}

/// Off, though it was asked for.
const HELD_OFF: &str = "off(on)";
/// On, though it was not asked for.
const HELD_ON: &str = "on(off)";

/// One or more offloads that are set together.
#[derive(Debug)]
pub(super) struct Features {
    link: Link,
    setting: String,
    /// Those that this interface lets one change.
    names: Vec<String>,
    /// What is switched off with them, but not on.
    also_off: Vec<String>,
}

/// An answer to the reading command.
struct Answer {
    changeable: Vec<String>,
    wanted: Vec<String>,
    active: Vec<String>,
}

impl Answer {
    fn of(link: &Link) -> Result<Answer, KnobError> {
        let answer = Ethtool::open().and_then(|mut e| e.get(&link.name, FEATURES_GET));
        let place = || format!("offloads of interface {}", link.name);
        let answer = answer.map_err(|e| KnobError::refused("read", place(), &e))?;
        let set = |kind| bits(attribute(&answer, kind).unwrap_or_default());
        let names = |kind| set(kind).map(|(name, _)| name).collect::<Vec<_>>();
        let fixed = names(NOT_CHANGEABLE);
        let changeable = set(HARDWARE).filter(|(name, can)| *can && !fixed.contains(name));
        Ok(Answer {
            changeable: changeable.map(|(name, _)| name).collect(),
            wanted: names(WANTED),
            active: names(ACTIVE),
        })
    }

    fn state(&self, name: &str) -> &'static str {
        let has = |list: &[String]| list.iter().any(|n| n == name);
        match (has(&self.active), has(&self.wanted)) {
            (true, true) => "on",
            (true, false) => HELD_ON,
            (false, true) => HELD_OFF,
            (false, false) => "off",
        }
    }
}

impl Features {
    /// The offloads of that name; `None` if the kernel knows none that can be changed.
    pub(super) fn of(link: &Link, setting: &str) -> Result<Option<Features>, KnobError> {
        let group = GROUPS.iter().find(|(name, _)| *name == setting);
        let wanted: Vec<&str> = group.map_or_else(|| vec![setting], |(_, names)| names.to_vec());
        let answer = Answer::of(link)?;
        let all = answer.changeable.iter().filter(|_| setting == "tso");
        let also_off = all.filter(|n| is_also_tso(n, &wanted)).cloned().collect();
        let names = answer
            .changeable
            .into_iter()
            .filter(|n| wanted.contains(&n.as_str()));
        let names: Vec<String> = names.collect();
        if names.is_empty() && group.is_some() {
            let place = format!("{setting} of interface {}", link.name);
            let unsupported = rustix::io::Errno::OPNOTSUPP.into();
            return Err(KnobError::refused("set", place, &unsupported));
        }
        Ok((!names.is_empty()).then(|| Features {
            link: link.clone(),
            setting: setting.to_owned(),
            names,
            also_off,
        }))
    }

    /// What is switched off beside, for `value`.
    fn also_off(&self, value: &str) -> &[String] {
        if value.trim() == "off" {
            &self.also_off
        } else {
            &[]
        }
    }

    /// What `value` asks for the offload `name`: the word for all, or its own.
    fn asked(value: &str, name: &str) -> Option<bool> {
        let mut words = value.split_whitespace();
        let own = words.find_map(|w| w.strip_prefix(name)?.strip_prefix('='));
        match own.unwrap_or(value.trim()) {
            "on" | HELD_OFF => Some(true),
            "off" | HELD_ON => Some(false),
            _ => None,
        }
    }
}

impl Spot for Features {
    fn read(&self) -> Result<String, KnobError> {
        let answer = Answer::of(&self.link)?;
        let mut states = self.names.iter().map(|n| answer.state(n));
        let first = states.next().unwrap_or("off");
        if states.all(|s| s == first) {
            return Ok(first.to_owned());
        }
        let each = self
            .names
            .iter()
            .map(|n| format!("{n}={}", answer.state(n)));
        Ok(each.collect::<Vec<_>>().join(" "))
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        let refused = |e: &std::io::Error| {
            let place = format!("{} of interface {}", self.setting, self.link.name);
            KnobError::refused(format!("write `{value}` to"), place, e)
        };
        let invalid = std::io::Error::from(rustix::io::Errno::INVAL);
        let mut changes = Vec::new();
        for name in &self.names {
            let on = Self::asked(value, name).ok_or_else(|| refused(&invalid))?;
            changes.push((name.as_str(), on));
        }
        let also = self.also_off(value).iter();
        changes.extend(also.map(|name| (name.as_str(), false)));
        let mut attributes = Vec::new();
        push_attribute(
            &mut attributes,
            WANTED | NESTED,
            &bitset(changes.into_iter()),
        );
        let mut ethtool = Ethtool::open().map_err(|e| refused(&e))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "settings are changed here, journaled"
        )]
        ethtool
            .set(&self.link.name, FEATURES_SET, &attributes)
            .map_err(|e| refused(&e))
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        Ok(self.link.now()?.identity())
    }

    fn values(&self) -> Values {
        Values::Words(vec!["on".into(), "off".into()])
    }

    fn writable(&self) -> Result<(), KnobError> {
        let place = format!("{} of interface {}", self.setting, self.link.name);
        capability::need(capability::NET_ADMIN, "set", &place)
    }

    fn command(&self, value: &str) -> String {
        let each = self.names.iter().map(|name| {
            let word = if Self::asked(value, name) == Some(true) {
                "on"
            } else {
                "off"
            };
            format!("{name} {word}")
        });
        let also = self.also_off(value).iter();
        let also = also.map(|name| format!("{name} off"));
        let inside = namespace::command_prefix();
        let each = each.chain(also).collect::<Vec<_>>().join(" ");
        format!("{inside}ethtool -K {} {each}", self.link.name)
    }

    fn companions(&self) -> Vec<String> {
        let also = self.also_off.iter();
        also.map(|name| format!("net:{}.{name}", self.link.name))
            .collect()
    }
}
