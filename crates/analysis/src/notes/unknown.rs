//! That nobody is known to have made I/Os of a disk, where those above it tell.

use super::{Asked, is_name};
use crate::answer::Answer;
use crate::error::Error;
use crate::scan::KeyValue;
use crate::syntax::Predicate;

/// Who made an I/O, and of what. Below a device that is made of others (dm, md, a loop) it is a
/// worker of the kernel, and no file.
const WHO: [&str; 4] = ["process", "command", "cgroup", "file"];

impl Asked<'_> {
    /// That the devices above the disks know what the disks do not.
    pub(super) fn unknown(&self) -> Result<Option<String>, Error> {
        let scan = &self.plan.over;
        let is_of_disks = scan.implied.contains(&("layer", "disk"));
        if scan.table.name != "disk_event" || !is_of_disks {
            return Ok(None);
        }
        for name in WHO.into_iter().filter(|name| self.names(name)) {
            if self.is_unknown(name)? && self.is_known_above(name)? {
                return Ok(Some(format!(
                    "no {name} is known of these I/Os; of those of devices that are made of others \
                     (dm, md, loop) some are: name `layer = stacked`"
                )));
            }
        }
        Ok(None)
    }

    fn names(&self, name: &str) -> bool {
        let e = &self.expression;
        let tested = || e.predicates.iter().any(|p| p.dimension.text == name);
        e.by.iter().any(|d| d.text == name) || tested()
    }

    /// Whether the answer has I/Os, or would have without its predicates of who made them, and
    /// nobody is known of any.
    fn is_unknown(&self, name: &str) -> Result<bool, Error> {
        let none =
            |answer: &Answer, place: usize| !answer.groups.is_empty() && !is_known(answer, place);
        let by = self.expression.by.iter();
        if let Some(place) = by.clone().position(|d| d.text == name) {
            if !self.answer.groups.is_empty() {
                return Ok(none(self.answer, place));
            }
        } else if !self.answer.groups.is_empty() {
            // What was asked for by name was found.
            return Ok(false);
        }
        Ok(none(&self.instead("ios", &[name], &is_other, &[])?, 0))
    }

    fn is_known_above(&self, name: &str) -> Result<bool, Error> {
        let above = ["layer = stacked".to_owned()];
        let answer = self.instead("ios", &[name], &is_other, &above)?;
        Ok(is_known(&answer, 0))
    }
}

/// Whether a predicate is not of who made an I/O.
fn is_other(predicate: &Predicate) -> bool {
    !WHO.contains(&predicate.dimension.text.as_str())
}

/// Whether a group has a name at that place of its key.
fn is_known(answer: &Answer, place: usize) -> bool {
    let mut keys = answer.groups.iter().filter_map(|g| g.key.get(place));
    keys.any(|key| matches!(key, KeyValue::Word(word) if is_name(word)))
}
