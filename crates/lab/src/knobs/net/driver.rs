//! Rings, channels and coalescing: numbers that the driver keeps, by ethtool.

use netlink::ethtool::Ethtool;
use netlink::{attribute, number_of, push_attribute};

use super::link::Link;
use crate::spot::{Identity, Spot, Values, number};
use crate::{KnobError, capability, namespace};

/// A number of a driver.
#[derive(Debug)]
struct Kept {
    name: &'static str,
    /// The reading command; the writing one is the next.
    get: u8,
    attribute: u16,
    /// The attribute of its largest value; 0 if there is none.
    most: u16,
    /// A flag is one byte, a number four.
    flag: bool,
    /// How `ethtool` has it.
    word: &'static str,
}

const RINGS: u8 = 15;
const CHANNELS: u8 = 17;
const COALESCING: u8 = 19;

const fn kept(name: &'static str, get: u8, attribute: u16, most: u16, word: &'static str) -> Kept {
    Kept {
        name,
        get,
        attribute,
        most,
        flag: false,
        word,
    }
}

/// <https://docs.kernel.org/networking/ethtool-netlink.html>
const KEPT: &[Kept] = &[
    kept("rx_ring", RINGS, 6, 2, "-G DEV rx"),
    kept("tx_ring", RINGS, 9, 5, "-G DEV tx"),
    kept("rx_channels", CHANNELS, 6, 2, "-L DEV rx"),
    kept("tx_channels", CHANNELS, 7, 3, "-L DEV tx"),
    kept("combined_channels", CHANNELS, 9, 5, "-L DEV combined"),
    kept("rx_usecs", COALESCING, 2, 0, "-C DEV rx-usecs"),
    kept("rx_frames", COALESCING, 3, 0, "-C DEV rx-frames"),
    kept("tx_usecs", COALESCING, 6, 0, "-C DEV tx-usecs"),
    kept("tx_frames", COALESCING, 7, 0, "-C DEV tx-frames"),
    Kept {
        flag: true,
        ..kept("adaptive_rx", COALESCING, 11, 0, "-C DEV adaptive-rx")
    },
    Kept {
        flag: true,
        ..kept("adaptive_tx", COALESCING, 12, 0, "-C DEV adaptive-tx")
    },
];

/// A number or flag of an interface's driver.
#[derive(Debug)]
pub(super) struct DriverSpot {
    link: Link,
    kept: &'static Kept,
}

impl DriverSpot {
    pub(super) fn of(link: &Link, setting: &str) -> Option<DriverSpot> {
        let kept = KEPT.iter().find(|k| k.name == setting)?;
        Some(DriverSpot {
            link: link.clone(),
            kept,
        })
    }

    fn place(&self) -> String {
        format!("{} of interface {}", self.kept.name, self.link.name)
    }

    /// The driver's number in attribute `kind`.
    fn number(&self, kind: u16) -> Result<Option<u64>, KnobError> {
        let answer = Ethtool::open().and_then(|mut e| e.get(&self.link.name, self.kept.get));
        let answer = answer.map_err(|e| KnobError::refused("read", self.place(), &e))?;
        Ok(attribute(&answer, kind).and_then(number_of))
    }
}

impl Spot for DriverSpot {
    fn read(&self) -> Result<String, KnobError> {
        let unsupported = rustix::io::Errno::OPNOTSUPP.into();
        let number = self.number(self.kept.attribute)?;
        let number =
            number.ok_or_else(|| KnobError::refused("read", self.place(), &unsupported))?;
        Ok(match (self.kept.flag, number) {
            (true, 0) => "off".into(),
            (true, _) => "on".into(),
            (false, number) => number.to_string(),
        })
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        let refused =
            |e: &std::io::Error| KnobError::refused(format!("write `{value}` to"), self.place(), e);
        let invalid = std::io::Error::from(rustix::io::Errno::INVAL);
        let mut attributes = Vec::new();
        if self.kept.flag {
            push_attribute(
                &mut attributes,
                self.kept.attribute,
                &[u8::from(value == "on")],
            );
        } else {
            let wanted = number(value).and_then(|n| u32::try_from(n).ok());
            let wanted = wanted.ok_or_else(|| refused(&invalid))?;
            push_attribute(&mut attributes, self.kept.attribute, &wanted.to_ne_bytes());
        }
        let mut ethtool = Ethtool::open().map_err(|e| refused(&e))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "settings are changed here, journaled"
        )]
        let set = ethtool.set(&self.link.name, self.kept.get + 1, &attributes);
        match set {
            // Some drivers say so where nothing changes.
            Err(e) if self.read().is_ok_and(|is| self.same(&is, value)) => drop(e),
            other => other.map_err(|e| refused(&e))?,
        }
        Ok(())
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        Ok(self.link.now()?.identity())
    }

    fn values(&self) -> Values {
        if self.kept.flag {
            return Values::Words(vec!["on".into(), "off".into()]);
        }
        let most = (self.kept.most != 0).then(|| self.number(self.kept.most).ok().flatten());
        let most = most.flatten().and_then(|n| i64::try_from(n).ok());
        Values::Numbers(0, most.unwrap_or(i64::from(u32::MAX)))
    }

    fn writable(&self) -> Result<(), KnobError> {
        capability::need(capability::NET_ADMIN, "set", &self.place())
    }

    fn command(&self, value: &str) -> String {
        let inside = namespace::command_prefix();
        let arguments = self.kept.word.replace("DEV", &self.link.name);
        format!("{inside}ethtool {arguments} {value}")
    }
}
