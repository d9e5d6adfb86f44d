//! Who may ask: one-time tokens that become sessions.
//!
//! The address that is printed holds a token. Whoever opens it first gets a session, kept by a
//! cookie that scripts cannot read and that other sites' pages do not send; the token is then
//! worth nothing, and a new one is made for the next browser. Secrets are compared in constant
//! time and never written to a log.

use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ring::rand::{SecureRandom, SystemRandom};
use subtle::ConstantTimeEq;

/// Sessions at once; the oldest ends when there is one more.
const MOST_SESSIONS: usize = 64;

/// A secret of 256 bits, as hexadecimal text.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(not shown)")
    }
}

impl Secret {
    /// A new one, from the kernel.
    pub(super) fn new() -> io::Result<Secret> {
        let mut bytes = [0; 32];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| io::Error::other("the kernel gives no random bytes"))?;
        Ok(Secret(bytes.iter().map(|b| format!("{b:02x}")).collect()))
    }

    /// Its text.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether `given` is it; takes as long wherever they differ.
    fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// The token that waits, and the sessions.
#[derive(Debug)]
pub(super) struct Access {
    /// The name of the cookie: of this server only, since browsers keep the cookies of all ports
    /// of a host together. With TLS it has the prefix for which browsers refuse one that was not
    /// set with TLS, by this very host and for all its paths (RFC 6265bis, 4.1.3.2).
    pub(super) cookie: String,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    token: Secret,
    sessions: Vec<Secret>,
}

impl Access {
    /// With a first token, for a server on `port`.
    pub(super) fn new(port: u16, tls: bool) -> io::Result<Access> {
        let prefix = if tls { "__Host-" } else { "" };
        Ok(Access {
            cookie: format!("{prefix}sonde-{port}"),
            held: Mutex::new(Held {
                token: Secret::new()?,
                sessions: Vec::new(),
            }),
        })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token that the next browser may use.
    pub(super) fn token(&self) -> Secret {
        self.held().token.clone()
    }

    /// The address that the next browser may open, at a host and a port.
    pub(super) fn token_address(&self, authority: &str, tls: bool) -> String {
        let scheme = if tls { "https" } else { "http" };
        format!("{scheme}://{authority}/?token={}", self.token().text())
    }

    /// Takes a token for a session, if it is the one that waits.
    pub(super) fn enter(&self, token: &str) -> Option<Secret> {
        let mut held = self.held();
        if !held.token.is(token) {
            return None;
        }
        // Without randomness nobody else enters.
        let (next, session) = (Secret::new().ok()?, Secret::new().ok()?);
        held.token = next;
        if held.sessions.len() >= MOST_SESSIONS {
            held.sessions.remove(0);
        }
        held.sessions.push(session.clone());
        Some(session)
    }

    /// Whether the `Cookie` headers of a request have a session.
    pub(super) fn has_session<'h>(&self, headers: impl Iterator<Item = &'h str>) -> bool {
        let held = self.held();
        let mut known = subtle::Choice::from(0);
        let pairs = headers.flat_map(|header| header.split(';'));
        let given = pairs.filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.cookie).then_some(value)
        });
        for value in given.take(8) {
            for session in &held.sessions {
                known |= session.0.as_bytes().ct_eq(value.as_bytes());
            }
        }
        known.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_one_session() {
        let access = Access::new(4711, false).unwrap();
        let token = access.token();
        assert_eq!(access.enter("guess"), None);
        assert_eq!(access.enter(""), None);
        let session = access.enter(token.text()).unwrap();
        assert_eq!(access.enter(token.text()), None, "used twice");
        assert_ne!(access.token(), token);
        let header = format!("other=1; sonde-4711={}", session.text());
        assert!(access.has_session([header.as_str()].into_iter()));
        let wrong = format!("sonde-4712={}; sonde-4711=x", session.text());
        assert!(!access.has_session([wrong.as_str()].into_iter()));
        assert!(!access.has_session(std::iter::empty()));
        // Another service of this host set one of the same name for some path, which browsers
        // send first.
        let both = format!("sonde-4711=x; theirs=1; sonde-4711={}", session.text());
        assert!(access.has_session([both.as_str()].into_iter()));
        let secured = Access::new(4711, true).unwrap();
        assert_eq!(secured.cookie, "__Host-sonde-4711");
        assert_eq!(session.text().len(), 64);
        assert!(!format!("{access:?}").contains(session.text()));
    }

    #[test]
    fn the_oldest_session_ends() {
        let access = Access::new(1, false).unwrap();
        let enter = || access.enter(access.token().text()).unwrap();
        let first = enter();
        let header = |s: &Secret| format!("sonde-1={}", s.text());
        (1..MOST_SESSIONS).for_each(|_| drop(enter()));
        assert!(access.has_session([header(&first).as_str()].into_iter()));
        let last = enter();
        assert!(!access.has_session([header(&first).as_str()].into_iter()));
        assert!(access.has_session([header(&last).as_str()].into_iter()));
    }
}
