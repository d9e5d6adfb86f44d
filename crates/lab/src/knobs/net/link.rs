//! What the kernel itself keeps of an interface, by rtnetlink.

use netlink::{Ask, Socket, attribute, number_of, push_attribute, text_of, u32_of};

use crate::spot::{Identity, NETWORK_NAMESPACE, Spot, Values, number};
use crate::{KnobError, capability, namespace};

const GET_LINK: u16 = 18;
const NEW_LINK: u16 = 16;
/// Length of the fixed part that leads the attributes.
const HEAD: usize = 16;
const NAME: u16 = 3;
const PERMANENT_ADDRESS: u16 = 54;
const LEAST_MTU: u16 = 50;
const MOST_MTU: u16 = 51;
const MOST_SEGMENT: u16 = 59;
/// Below this the kernel takes IPv6 with its addresses from the interface.
const LEAST_IPV6: i64 = 1280;

/// Settings that are attributes of a link, and the word `ip link` has for them.
const ATTRIBUTES: &[(&str, u16, &str)] = &[
    ("mtu", 4, "mtu"),
    ("txqueuelen", 13, "txqueuelen"),
    ("gso_max_size", 41, "gso_max_size"),
    ("gso_ipv4_max_size", 63, "gso_ipv4_max_size"),
];

/// An interface as it is now.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) name: String,
    index: u32,
    attributes: Vec<u8>,
}

impl Link {
    /// The interface of that name; `None` if there is none.
    pub(super) fn of(name: &str) -> Result<Option<Link>, KnobError> {
        const LONGEST: usize = 15;
        if name.len() > LONGEST || name.contains(['/', '\0']) || name.contains(char::is_whitespace)
        {
            return Ok(None);
        }
        let mut payload = vec![0; HEAD];
        let mut text = name.as_bytes().to_vec();
        text.push(0);
        push_attribute(&mut payload, NAME, &text);
        let mut found = None;
        let asked = Socket::open(None).and_then(|mut socket| {
            socket.ask(GET_LINK, Ask::One, &payload, |answer| {
                found = Link::parsed(answer);
            })
        });
        match asked {
            Ok(()) => Ok(found),
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::NODEV.raw_os_error()) => Ok(None),
            Err(e) => Err(KnobError::refused("read", format!("interface {name}"), &e)),
        }
    }

    /// `family, -, type:2, index:4, flags:4, change:4`, then attributes.
    fn parsed(answer: &[u8]) -> Option<Link> {
        let attributes = answer.get(HEAD..)?.to_vec();
        Some(Link {
            name: text_of(attribute(&attributes, NAME)?),
            index: u32_of(answer.get(4..)?)?,
            attributes,
        })
    }

    fn number(&self, kind: u16) -> Option<u64> {
        attribute(&self.attributes, kind).and_then(number_of)
    }

    /// The namespace, and the index in it, which no other interface gets; and what is burnt
    /// into the card.
    pub(super) fn identity(&self) -> Identity {
        let mut identity = Identity::new();
        identity.insert("index".into(), self.index.to_string());
        if let Some(namespace) = namespace::network() {
            identity.insert(NETWORK_NAMESPACE.into(), namespace);
        }
        if let Some(address) = attribute(&self.attributes, PERMANENT_ADDRESS) {
            let bytes = address.iter().map(|b| format!("{b:02x}"));
            identity.insert(
                "permanent address".into(),
                bytes.collect::<Vec<_>>().join(":"),
            );
        }
        identity
    }

    /// The interface of the same name now; it may be another.
    pub(super) fn now(&self) -> Result<Link, KnobError> {
        let missing = || KnobError::Missing {
            name: format!("net:{}", self.name),
            path: format!("interface {}", self.name),
            hint: "it was removed, and its settings with it".into(),
        };
        Link::of(&self.name)?.ok_or_else(missing)
    }
}

/// The interfaces of this namespace.
pub(super) fn names() -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(mut socket) = Socket::open(None) {
        let _ = socket.ask(GET_LINK, Ask::All, &[0; HEAD], |answer| {
            names.extend(Link::parsed(answer).map(|l| l.name));
        });
    }
    names
}

/// An attribute of a link.
#[derive(Debug)]
pub(super) struct LinkSpot {
    link: Link,
    setting: &'static str,
    kind: u16,
    word: &'static str,
}

impl LinkSpot {
    pub(super) fn of(link: &Link, setting: &str) -> Option<LinkSpot> {
        let known = ATTRIBUTES.iter().find(|(name, _, _)| *name == setting);
        known.map(|(setting, kind, word)| LinkSpot {
            link: link.clone(),
            setting,
            kind: *kind,
            word,
        })
    }

    fn place(&self) -> String {
        format!("{} of interface {}", self.setting, self.link.name)
    }
}

impl Spot for LinkSpot {
    fn read(&self) -> Result<String, KnobError> {
        let number = self.link.now()?.number(self.kind);
        let unsupported = rustix::io::Errno::OPNOTSUPP.into();
        let number =
            number.ok_or_else(|| KnobError::refused("read", self.place(), &unsupported))?;
        Ok(number.to_string())
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        let refused =
            |e: &std::io::Error| KnobError::refused(format!("write `{value}` to"), self.place(), e);
        let wanted = number(value).and_then(|n| u32::try_from(n).ok());
        let invalid = std::io::Error::from(rustix::io::Errno::INVAL);
        let wanted = wanted.ok_or_else(|| refused(&invalid))?;
        let mut payload = vec![0; 4];
        payload.extend(self.link.now()?.index.to_ne_bytes());
        payload.resize(HEAD, 0);
        push_attribute(&mut payload, self.kind, &wanted.to_ne_bytes());
        let mut socket = Socket::open(None).map_err(|e| refused(&e))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "settings are changed here, journaled"
        )]
        socket.change(NEW_LINK, &payload).map_err(|e| refused(&e))
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        Ok(self.link.now()?.identity())
    }

    fn values(&self) -> Values {
        let limit = |kind, otherwise: i64| {
            let number = self.link.number(kind).and_then(|n| i64::try_from(n).ok());
            number.filter(|n| *n > 0).unwrap_or(otherwise)
        };
        match self.setting {
            "mtu" => {
                let least = if has_ipv6(&self.link.name) {
                    LEAST_IPV6
                } else {
                    1
                };
                Values::Numbers(limit(LEAST_MTU, 0).max(least), limit(MOST_MTU, i64::MAX))
            }
            "txqueuelen" => Values::Numbers(0, i64::from(u32::MAX)),
            _ => Values::Numbers(1, limit(MOST_SEGMENT, i64::from(u32::MAX))),
        }
    }

    fn writable(&self) -> Result<(), KnobError> {
        capability::need(capability::NET_ADMIN, "set", &self.place())
    }

    fn command(&self, value: &str) -> String {
        let inside = namespace::command_prefix();
        format!(
            "{inside}ip link set dev {} {} {value}",
            self.link.name, self.word
        )
    }

    fn companions(&self) -> Vec<String> {
        let disturbs = self.setting == "gso_max_size";
        let name = format!("net:{}.gso_ipv4_max_size", self.link.name);
        disturbs.then_some(name).into_iter().collect()
    }
}

/// Whether the interface has addresses of IPv6, which a small MTU takes away for good.
fn has_ipv6(interface: &str) -> bool {
    let table = std::fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
    table
        .lines()
        .any(|line| line.split_whitespace().next_back() == Some(interface))
}
