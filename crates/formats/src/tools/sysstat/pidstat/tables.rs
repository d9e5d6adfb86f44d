//! The tables of a report, by their columns: of the last one some may be cut off.

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
    /// Means of the whole text came: the report above them is whole.
    pub(super) averaged: bool,
}

impl Tables {
    pub(super) fn header(&mut self, names: &[String]) {
        let found = self.all.iter().position(|n| n == names);
        self.current = found.unwrap_or(self.all.len());
        if found.is_none() {
            self.all.push(names.to_vec());
        }
        self.headers.push(self.current);
    }

    pub(super) fn begin_report(&mut self) {
        self.usual = self.usual.max(self.here.len());
        self.here.clear();
        self.averaged = false;
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
    }
}
