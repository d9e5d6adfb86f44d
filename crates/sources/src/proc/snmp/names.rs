//! Counters by name, at places that are looked up once.

use crate::read::{fields, lines, number};

/// The wanted counters of a file of pairs of lines, named `Group Name`.
pub(super) struct Pairs {
    /// Name and place of each wanted counter.
    wanted: Vec<(&'static str, usize)>,
    groups: Vec<Group>,
}

/// A pair of lines.
#[derive(Default)]
struct Group {
    /// The line of names that `columns` was made from.
    names: Vec<u8>,
    /// Column and place of each wanted counter, by column.
    columns: Vec<(usize, usize)>,
}

impl Pairs {
    /// Looks for `wanted`; a counter's place is its place there.
    pub(super) fn new(wanted: &[&'static str]) -> Pairs {
        Pairs {
            wanted: wanted.iter().copied().zip(0..).collect(),
            groups: Vec::new(),
        }
    }

    /// Puts the counters of `text` into their places.
    pub(super) fn take(&mut self, text: &[u8], values: &mut [Option<u64>]) {
        let mut rest = text;
        let mut at = 0;
        while !rest.is_empty() {
            if self.groups.len() == at {
                self.groups.push(Group::default());
            }
            let group = &mut self.groups[at];
            // The names are as long as the counters and stay the same: comparing them is much
            // cheaper than looking for their end.
            let known = rest.strip_prefix(&group.names[..]);
            let after = known.and_then(|r| r.strip_prefix(b"\n"));
            rest = after.unwrap_or_else(|| {
                let (names, after) = first_line(rest);
                group.look_up(names, &self.wanted);
                after
            });
            let (counters, after) = first_line(rest);
            rest = after;
            group.take(counters, values);
            at += 1;
        }
    }
}

/// The first line of `text`, without its end, and what follows it.
fn first_line(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&b| b == b'\n') {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &[]),
    }
}

impl Group {
    fn look_up(&mut self, names: &[u8], wanted: &[(&'static str, usize)]) {
        self.names.clear();
        self.names.extend_from_slice(names);
        self.columns.clear();
        let mut words = fields(names);
        let Some(group) = words.next().and_then(|g| g.strip_suffix(b":")) else {
            return;
        };
        for (column, name) in words.enumerate() {
            let is_this = |full: &str| {
                full.split_once(' ')
                    .is_some_and(|(g, n)| g.as_bytes() == group && n.as_bytes() == name)
            };
            let found = wanted.iter().find(|(full, _)| is_this(full));
            self.columns
                .extend(found.map(|&(_, place)| (column, place)));
        }
    }

    fn take(&self, counters: &[u8], values: &mut [Option<u64>]) {
        let mut words = fields(counters);
        // A pair that does not belong together has nothing to say.
        if words.next() != fields(&self.names).next() {
            return;
        }
        let mut next = 0;
        for &(column, place) in &self.columns {
            let Some(word) = words.nth(column - next) else {
                return;
            };
            values[place] = number(word);
            next = column + 1;
        }
    }
}

/// The wanted counters of a file with a name and a value a line.
pub(super) struct Names {
    /// Name and place of each wanted counter.
    wanted: Vec<(&'static str, usize)>,
    /// Those that the file has, in its order.
    found: Vec<(&'static str, usize)>,
}

impl Names {
    /// Looks for `wanted`; a counter's place is its place there.
    pub(super) fn new(wanted: &[&'static str]) -> Names {
        Names {
            wanted: wanted.iter().copied().zip(0..).collect(),
            found: Vec::new(),
        }
    }

    /// Puts the counters of `text` into their places.
    pub(super) fn take(&mut self, text: &[u8], values: &mut [Option<u64>]) {
        if !self.follow(text, values) || self.found.is_empty() {
            self.look_up(text);
            self.follow(text, values);
        }
    }

    fn look_up(&mut self, text: &[u8]) {
        self.found.clear();
        for name in lines(text).filter_map(|line| fields(line).next()) {
            let known = self.wanted.iter().find(|(n, _)| n.as_bytes() == name);
            self.found.extend(known);
        }
    }

    /// Walks the lines and the found names together; whether all were met. Lines may come
    /// between them (of messages by type), the order stays.
    fn follow(&self, text: &[u8], values: &mut [Option<u64>]) -> bool {
        let mut found = self.found.iter().peekable();
        for line in lines(text) {
            let Some((name, place)) = found.peek() else {
                break;
            };
            let value = line.strip_prefix(name.as_bytes());
            if let Some(value) = value.filter(|v| v.first().is_some_and(u8::is_ascii_whitespace)) {
                values[*place] = number(value.trim_ascii());
                found.next();
            }
        }
        found.next().is_none()
    }
}
