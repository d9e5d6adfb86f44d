//! The pictures of a report in Markdown, in a directory beside it: those who read Markdown show
//! files, and few of them pictures within the text.

use std::path::{Path, PathBuf};

use super::Files;
use crate::failure::Failure;
use crate::output;

/// Where they are.
pub(super) struct Beside<'p> {
    text: &'p Path,
    name: String,
    dir: PathBuf,
}

impl Beside<'_> {
    /// Of the report in that file.
    pub(super) fn of(text: &Path) -> Beside<'_> {
        let stem = text.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}-pictures");
        let dir = text.with_file_name(&name);
        Beside { text, name, dir }
    }

    /// What the text calls the one at that place.
    pub(super) fn target(&self, place: usize) -> String {
        format!("{}/{}.png", self.name, place + 1)
    }

    /// All files; the directory is made if there is a picture, and the text can be written.
    pub(super) fn files(
        &self,
        text: String,
        pictures: Vec<(usize, Vec<u8>)>,
    ) -> Result<Files, Failure> {
        if self.text.is_dir() {
            let text = self.text.display();
            return Err(Failure::input(format!(
                "cannot write {text}: it is a directory"
            )));
        }
        if !pictures.is_empty() {
            output::directory(&self.dir)?;
        }
        let pictures = pictures
            .into_iter()
            .map(|(place, bytes)| (self.dir.join(format!("{}.png", place + 1)), bytes));
        let mut files: Files = pictures.collect();
        files.push((self.text.to_owned(), text.into_bytes()));
        Ok(files)
    }
}
