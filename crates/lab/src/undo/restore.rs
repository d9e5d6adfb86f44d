//! Putting settings back, in the right order, and looking whether they are.
//!
//! Settings disturb each other: a scheduler resets the length of its queue, `vm.dirty_ratio`
//! zeroes `vm.dirty_bytes`. So entries go by rank, those that already are right are not
//! written, and passes are made until one finds nothing to write. Doing it twice does no harm:
//! an interrupted restore is simply begun again.

use std::time::Duration;

use super::journal::Entry;
use crate::KnobError;
use crate::knobs::Knob;
use crate::namespace;
use crate::spot::{Identity, NETWORK_NAMESPACE};

/// What became of the settings of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// They are what they were at the start.
    pub done: Vec<PutBack>,
    /// They are not.
    pub failed: Vec<NotRestored>,
    /// They are whatever the kernel starts with: the machine was started anew since.
    pub volatile: Vec<String>,
}

/// A setting that is what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutBack {
    /// The knob's name.
    pub knob: String,
    /// Its value.
    pub value: String,
    /// Whether it was another, and had to be written.
    pub written: bool,
}

/// A setting that could not be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRestored {
    /// The knob's name.
    pub knob: String,
    /// What it was at the start.
    pub wanted: String,
    /// What it is now, if that can be read.
    pub is: Option<String>,
    /// Why.
    pub why: String,
    /// What a person types into a root shell to put it back.
    pub command: String,
    /// What carried the setting is not there any more: nothing is left to put back.
    pub gone: bool,
}

impl Restored {
    /// Whether nothing is left changed.
    pub fn is_whole(&self) -> bool {
        self.failed.is_empty()
    }

    /// How many settings had to be written.
    pub fn written(&self) -> usize {
        self.done.iter().filter(|d| d.written).count()
    }

    /// For people: each setting that is not back, with what to type.
    pub fn complaint(&self) -> String {
        let mut text = String::new();
        for lost in &self.failed {
            let is = lost
                .is
                .as_deref()
                .map_or("not readable".into(), |v| format!("`{v}`"));
            text += &format!(
                "NOT PUT BACK: {} is {is} and was `{}`: {}\n",
                lost.knob, lost.wanted, lost.why
            );
            if !lost.gone {
                text += &format!("  to put it back, as root: {}\n", lost.command);
            }
        }
        text.trim_end().to_owned()
    }

    pub(super) fn join(&mut self, other: Restored) {
        self.done.extend(other.done);
        self.failed.extend(other.failed);
        self.volatile.extend(other.volatile);
    }
}

/// More than any order of dependences needs.
const PASSES: usize = 5;
/// A device that is busy may be so for a moment only.
const PAUSE: Duration = Duration::from_millis(20);

/// Puts every entry back to what it was.
pub(super) fn put_back(entries: &[Entry]) -> Restored {
    let mut restored = Restored::default();
    let own = namespace::network();
    let place = |e: &Entry| e.identity.get(NETWORK_NAMESPACE).cloned();
    let here = |e: &&Entry| place(e).is_none_or(|n| Some(n) == own);
    let near: Vec<&Entry> = entries.iter().filter(here).collect();
    restored.join(put_back_here(&near));
    let mut far: Vec<&Entry> = entries.iter().filter(|e| !here(e)).collect();
    while let Some(namespace) = far.first().and_then(|e| place(e)) {
        let (inside, rest): (Vec<_>, Vec<_>) = far
            .into_iter()
            .partition(|e| place(e).as_ref() == Some(&namespace));
        restored.join(put_back_inside(&namespace, &inside));
        far = rest;
    }
    restored
}

/// The same in another network namespace.
fn put_back_inside(namespace: &str, entries: &[&Entry]) -> Restored {
    match namespace::inside(namespace, || put_back_here(entries)) {
        Ok(restored) => restored,
        Err(why) => Restored {
            failed: entries
                .iter()
                .map(|e| not_restored(e, None, &why.to_string(), why.is_gone()))
                .collect(),
            ..Restored::default()
        },
    }
}

/// An entry that is being put back.
struct Work<'e> {
    entry: &'e Entry,
    knob: Knob,
    written: bool,
    refused: Option<KnobError>,
}

fn put_back_here(entries: &[&Entry]) -> Restored {
    let mut restored = Restored::default();
    let mut work = Vec::new();
    for entry in entries {
        match recognised(entry) {
            Ok(knob) => work.push(Work {
                entry,
                knob,
                written: false,
                refused: None,
            }),
            Err(lost) => restored.failed.push(*lost),
        }
    }
    work.sort_by_key(|w| w.entry.rank);
    for pass in 0..PASSES {
        // The second looks whether the first was enough.
        if pass > 1 {
            std::thread::sleep(PAUSE);
        }
        if !one_pass(&mut work) {
            break;
        }
    }
    for w in work {
        match w.knob.read() {
            Ok(is) if w.knob.is_back(&is, &w.entry.was) => restored.done.push(PutBack {
                knob: w.entry.knob.clone(),
                value: is,
                written: w.written,
            }),
            Ok(is) => {
                let why = w
                    .refused
                    .map_or("the kernel keeps another value".into(), |e| e.to_string());
                restored
                    .failed
                    .push(not_restored(w.entry, Some(is), &why, false));
            }
            Err(e) => {
                restored
                    .failed
                    .push(not_restored(w.entry, None, &e.to_string(), e.is_gone()));
            }
        }
    }
    restored
}

/// Writes what is not as it was; whether anything was.
fn one_pass(work: &mut [Work]) -> bool {
    let mut wrote = false;
    for w in work {
        // What cannot be read may still be written, or appear with another knob.
        if w.knob
            .read()
            .is_ok_and(|is| w.knob.is_back(&is, &w.entry.was))
        {
            continue;
        }
        wrote = true;
        w.written = true;
        w.refused = w.knob.put_back(&w.entry.was).err();
    }
    wrote
}

/// The knob of an entry, if what carries it is the same thing.
fn recognised(entry: &Entry) -> Result<Knob, Box<NotRestored>> {
    let lost = |e: &KnobError| Box::new(not_restored(entry, None, &e.to_string(), e.is_gone()));
    let knob = entry.open().map_err(|e| lost(&e))?;
    let now = knob.identity().map_err(|e| lost(&e))?;
    match difference(&entry.identity, &now) {
        None => Ok(knob),
        Some(what) => {
            let why = format!("it is another one of the same name ({what}), and is not written to");
            let lost = not_restored(entry, knob.read().ok(), &why, true);
            Err(Box::new(lost))
        }
    }
}

/// In what two identities differ, if they do.
fn difference(then: &Identity, now: &Identity) -> Option<String> {
    let name = then.iter().find(|(name, was)| now.get(*name) != Some(was));
    let (name, was) = name?;
    let is = now.get(name).map_or("none", String::as_str);
    Some(format!("{name} was {was}, is {is}"))
}

fn not_restored(entry: &Entry, is: Option<String>, why: &str, gone: bool) -> NotRestored {
    NotRestored {
        knob: entry.knob.clone(),
        wanted: entry.was.clone(),
        is,
        why: why.replace("\nhint: ", "; "),
        command: entry.command.clone(),
        gone: gone && !entry.lasts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_all_its_fields() {
        let of = |pairs: &[(&str, &str)]| -> Identity {
            pairs
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                .collect()
        };
        let then = of(&[("node", "7"), ("serial", "a")]);
        assert_eq!(difference(&then, &then), None);
        // What is known only now says nothing.
        assert_eq!(
            difference(&then, &of(&[("node", "7"), ("serial", "a"), ("wwid", "w")])),
            None
        );
        let other = difference(&then, &of(&[("node", "8"), ("serial", "a")]));
        assert_eq!(other.unwrap(), "node was 7, is 8");
        assert_eq!(
            difference(&then, &of(&[("node", "7")])).unwrap(),
            "serial was a, is none"
        );
    }
}
