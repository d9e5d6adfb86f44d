//! That another table of an imported run tells the same of another time, as a trace does that was made
//! before the counters: one table answers.

use run::Nanos;
use run::manifest::rfc3339;

use super::Asked;
use crate::error::Error;
use crate::plan::plan;

impl Asked<'_> {
    /// The tables that could have answered, of times that are not in the answer.
    pub(super) fn elsewhere(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        if self.manifest().imported.is_empty() || !self.plan.over.times.is_empty() {
            return Ok(found);
        }
        let tables = self.run.tables();
        let mut without = vec![self.plan.over.table.name];
        let Some(own) = self.span(without[0])? else {
            return Ok(found);
        };
        while let Ok(other) = plan(&self.expression, self.manifest(), &|table| {
            !without.contains(&table) && tables.iter().any(|t| t == table)
        }) {
            let name = other.over.table.name;
            without.push(name);
            if let Some((from, to)) = self.span(name)?
                && (to < own.0 || own.1 < from)
            {
                found.push(format!(
                    "what `{name}` tells of another time, {} to {}, is not in it",
                    rfc3339(from),
                    rfc3339(to)
                ));
            }
        }
        Ok(found)
    }

    /// When the first interval of a table ends and the last, where that is known.
    fn span(&self, table: &str) -> Result<Option<(Nanos, Nanos)>, Error> {
        let Some(opened) = self.run.table(table)? else {
            return Ok(None);
        };
        let ranges = opened.parts.iter().filter_map(|part| part.range);
        Ok(ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))))
    }
}
