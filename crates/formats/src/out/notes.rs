//! What is told of the text beside its numbers.

use super::Out;

impl Out {
    /// Something the reader of the numbers should know; told once.
    pub fn note(&mut self, text: &str) {
        if !self.notes.contains(text) {
            self.notes.insert(text.to_owned());
        }
    }

    /// The same, that something of the text is missing, as the end of its last line, or had to be
    /// mended: who asked that nothing be left out does not get the rest.
    pub(crate) fn lacks(&mut self, text: &str) {
        self.note(text);
        self.lacking.insert(text.to_owned());
    }

    /// A line that was thought to be data is not understood. `line` counts from 1; 0 is the
    /// present one.
    pub fn not_understood(&mut self, line: u64, why: &str) {
        let line = if line == 0 { self.line } else { line };
        self.unknown.push((line, why.to_owned()));
    }

    /// The same of a line that was thought to be a title, or names above a header: noise.
    pub(crate) fn noise_not_understood(&mut self, line: u64, why: &str) {
        self.not_understood(line, why);
        self.unknown_noise += 1;
    }

    /// What of the present line cannot be read: told where nothing of the file could be.
    pub(crate) fn fault(&mut self, what: &str, text: &[u8]) {
        let line = self.line;
        self.fault
            .get_or_insert_with(|| (line, format!("{what} `{}`", String::from_utf8_lossy(text))));
    }

    /// What of that line cannot be read.
    pub(crate) fn fault_of(&self, line: u64) -> Option<&str> {
        let (found, what) = self.fault.as_ref()?;
        (*found == line).then_some(what)
    }

    // ---- for who imports ----

    pub(crate) fn notes(&self) -> impl Iterator<Item = &String> {
        self.notes.iter()
    }

    pub(crate) fn lacking(&self) -> impl Iterator<Item = &String> {
        self.lacking.iter()
    }
}
