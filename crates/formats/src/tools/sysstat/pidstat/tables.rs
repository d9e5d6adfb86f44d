//! The tables of a report, by their columns: of the last one some may be cut off.
//!
//! `-T ALL -p` of one task prints both headers once; then a row of the task and one of it with its
//! children follow each other below the latter's. What children's columns count is whole, and a
//! task's first value has decimals, unless `--dec=0` took them.

/// Which tables a report has.
#[derive(Default)]
pub(super) struct Tables {
    /// The columns of all there are.
    all: Vec<Vec<String>>,
    /// The one that the rows are of.
    current: usize,
    /// Those of the present report, and those whose headers came since its last row.
    here: Vec<usize>,
    headers: Vec<usize>,
    /// How many a report before it had.
    usual: usize,
    /// A task's table and the one of it with its children below it; the task's values have decimals.
    pair: Option<[usize; 2]>,
    has_decimals: bool,
    /// A header came in the present report.
    headed: bool,
    /// Means of the whole text came: the report above them is whole.
    pub(super) averaged: bool,
}

impl Tables {
    pub(super) fn header(&mut self, names: &[String]) {
        let found = self.all.iter().position(|n| n == names);
        let above = std::mem::replace(&mut self.current, found.unwrap_or(self.all.len()));
        if found.is_none() {
            self.all.push(names.to_vec());
        }
        self.headers.push(self.current);
        self.headed = true;
        if self.is_of_children(self.current) && !self.is_of_children(above) {
            self.pair = Some([above, self.current]);
        }
    }

    fn is_of_children(&self, table: usize) -> bool {
        let names = self.all.get(table).map_or(&[][..], Vec::as_slice);
        let counts = |name: &String| name.ends_with("-ms") || name.ends_with("-nr");
        names.iter().any(counts)
    }

    pub(super) fn begin_report(&mut self) {
        self.headed = !self.headers.is_empty();
        self.usual = self.usual.max(self.here.len());
        self.here.clear();
        self.averaged = false;
    }

    /// The columns of a row; `None` if nothing tells them.
    pub(super) fn of_row(&mut self, row: &[&[u8]]) -> Option<&[String]> {
        let is_id =
            |name: &String| matches!(name.as_str(), "UID" | "USER" | "PID" | "TGID" | "TID");
        let ids = self.all.get(self.current)?.iter().take_while(|n| is_id(n));
        let first = row.get(ids.count()).copied().unwrap_or_default();
        let decimals = first.contains(&b'.') || first.contains(&b',');
        match self.pair {
            Some([task, children]) if self.current == task || self.current == children => {
                if self.has_decimals {
                    self.current = if decimals { task } else { children };
                } else if !self.headed {
                    return None;
                }
            }
            _ => self.has_decimals = decimals,
        }
        self.all.get(self.current).map(Vec::as_slice)
    }

    pub(super) fn row(&mut self) {
        for table in self.headers.drain(..).chain([self.current]) {
            if !self.here.contains(&table) {
                self.here.push(table);
            }
        }
    }

    /// Whether the report lacks one that those before it had.
    pub(super) fn lacks_one(&self) -> bool {
        self.here.len() < self.usual && !self.averaged
    }

    /// Another output begins.
    pub(super) fn clear(&mut self) {
        self.here.clear();
        self.headers.clear();
        self.usual = 0;
        self.pair = None;
    }
}
