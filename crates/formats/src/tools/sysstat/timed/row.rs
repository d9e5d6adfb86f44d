//! A row of a table with times: whose numbers they are.

use super::super::moments::Kind;
use super::super::named::{for_people, value};
use super::super::shares::of_tickless;
use super::{Doubtful, Timed};
use crate::Line;
use crate::out::Out;

impl Timed {
    /// A row of the table there, without its time.
    pub(super) fn row(&mut self, place: usize, all: &[&[u8]], out: &mut Out) -> Line {
        let Some((table, header)) = self
            .tables
            .get(place)
            .and_then(|t| Some((t, self.moments.headers.get(t.header)?)))
        else {
            return Line::Unknown;
        };
        if header.kind == Kind::Inventory {
            return Line::Noise;
        }
        let with_blanks = table.with_blanks(all, self.here);
        let all = with_blanks.as_deref().unwrap_or(all);
        let of_idle = of_tickless(header, table.width, all);
        let all = of_idle.as_deref().unwrap_or(all);
        let Some(all) = (match table.cut {
            Some(cut) => cut.row(all, self.here),
            None => Some(all),
        }) else {
            return Line::Unknown;
        };
        let text_last = table.instances.contains(&(table.width - 1));
        let Some(when) = table.clock.as_ref().and_then(|c| c.when) else {
            return Line::Unknown;
        };
        // Of all processors their place (`mpstat -T`) is blank.
        let blank = table.width.saturating_sub(all.len());
        let is_all = all.first() == Some(&&b"all"[..]) && blank + 1 == table.instances.len();
        if blank > 0 && !is_all {
            return Line::Unknown;
        }
        // Where something is mounted may have blanks in its name.
        let (all, more) = all.split_at(all.len().min(table.width));
        // A battery's state is told in words: `Not charging`.
        let told_in_words = header.names.last().is_some_and(|n| n == "status");
        if !(more.is_empty() || (text_last || told_in_words) && header.kind == Kind::Plain) {
            return Line::Unknown;
        }
        let mut name: Vec<&[u8]> = Vec::new();
        let mut values = Vec::new();
        for (i, field) in all.iter().enumerate() {
            let place = if i == 0 { 0 } else { i + blank };
            if table.instances.contains(&place) {
                name.push(field);
                continue;
            }
            let column = header.names.get(values.len()).map_or("", String::as_str);
            match value(field).or_else(|| for_people(column, field)) {
                Some(value) => values.push(value),
                None if column == "status" => values.push(f64::NAN),
                None => return Line::Unknown,
            }
        }
        if text_last {
            name.extend(more);
        }
        if header.kind == Kind::Processors {
            // Where it is (`CORE SOCK NODE`) is no part of its name.
            name.truncate(1);
        }
        let mut name = name.join(&b' ');
        if header.of_nodes {
            name.splice(0..0, b"node ".iter().copied());
        }
        let word = out.word(&name);
        let header = table.header;
        let Some(table) = self.tables.get_mut(place) else {
            return Line::Unknown;
        };
        if let Some(by) = table.told.told_by(word, &when, &values) {
            self.left_out.row(by, out);
            return Line::Unknown;
        }
        if text_last && table.names.is_stump(&name) {
            self.doubtful = Some(Doubtful {
                line: out.line_number(),
                when,
                header,
                name: word,
                values,
            });
            return Line::Data;
        }
        self.moments.row(&when, header, word, &values);
        Line::Data
    }
}
