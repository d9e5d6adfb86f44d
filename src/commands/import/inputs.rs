//! What is to be imported: files, what is in directories and archives; compressed or not.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, Write};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::converted::{self, Kind, converted, is_beside_archive};
use super::packed::{TAR_HEADER, ZIP, decompressed, first_bytes, first_unpacked, is_tar};

/// Members of archives wait in memory up to so many bytes in all, others in a temporary file.
const IN_MEMORY: usize = 32 << 20;

/// What an archive may unpack to: so many times its size, and so much anyway. Text that tools
/// print over and over becomes a tenth to a fiftieth; what grows more was made to fill disks.
const GROWS: u64 = 100;
const ANYWAY: u64 = 1 << 30;

/// An archive in an archive is opened; deeper ones are not.
const DEEPEST: u32 = 4;

/// A file, wherever it lies.
pub(super) struct Input {
    /// Its path, as given; of a member of an archive with that of the archive.
    pub(super) name: String,
    content: Content,
}

enum Content {
    Path(PathBuf),
    Bytes(Arc<[u8]>),
    Part(Part),
}

/// A part of the temporary file.
#[derive(Clone)]
struct Part {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Part {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let most = left.min(to.len());
        let count = self.file.read_at(&mut to[..most], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Input {
    /// The file's text, from its beginning. What only its own tool reads is that tool's text.
    pub(super) fn open(&self) -> io::Result<Text> {
        let (raw, length): (Box<dyn Read + Send>, u64) = match &self.content {
            Content::Path(path) => {
                let file = File::open(path)?;
                let length = file.metadata()?.len();
                (Box::new(file), length)
            }
            Content::Bytes(bytes) => {
                let length = bytes.len() as u64;
                (Box::new(Cursor::new(Arc::clone(bytes))), length)
            }
            Content::Part(part) => (Box::new(part.clone()), part.end - part.at),
        };
        let mut text = decompressed(raw)?;
        let head = first_unpacked(&mut text.from, converted::MAGIC)?;
        let kind = converted::kind(&head);
        let whole: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(text.from));
        match (kind, &self.content) {
            (None, _) => Ok(Text::new(whole)),
            (Some(kind @ (Kind::Sadc | Kind::Atop)), Content::Path(path)) if !text.was_packed => {
                Ok(converted(kind, path, None)?.unwrap_or_else(|| Text::new(whole)))
            }
            (Some(kind @ (Kind::Sadc | Kind::Atop)), _) => {
                let most = length.saturating_mul(GROWS).max(ANYWAY);
                let file = temporary_of(whole, most)?;
                let path = Path::new("/dev/stdin");
                let found = converted(kind, path, Some(&file))?;
                Ok(found.unwrap_or_else(|| Text::new(Box::new(file))))
            }
            // Its libraries unpack it themselves.
            (Some(Kind::Pcp), Content::Path(path)) => {
                let path = if text.was_packed {
                    &converted::base(path)
                } else {
                    path
                };
                Ok(converted(Kind::Pcp, path, None)?.unwrap_or_else(|| Text::new(whole)))
            }
            (Some(Kind::Pcp), _) => Err(io::Error::other(
                "its own tools need all files of an archive of Performance Co-Pilot in a \
                 directory\nhint: unpack it and import that",
            )),
        }
    }
}

/// A temporary file that holds all of it, at its beginning.
fn temporary_of(from: impl Read, most: u64) -> io::Result<File> {
    let mut file = temporary()?;
    let copied = io::copy(&mut from.take(most.saturating_add(1)), &mut file)?;
    if copied > most {
        return Err(io::Error::other(
            "it unpacks to more than a hundred times its size",
        ));
    }
    file.rewind()?;
    Ok(file)
}

/// The text of a file or a pipe. One that was compressed and then cut off ends where no more can be
/// unpacked.
pub(super) struct Text {
    from: Box<dyn Read + Send>,
    /// Something was unpacked.
    any: bool,
    cut: Arc<AtomicBool>,
    /// What the reader should know of it.
    pub(super) note: Option<&'static str>,
}

/// Whether a text turned out to be cut off.
pub(super) struct Cut(Arc<AtomicBool>);

impl Cut {
    pub(super) fn is_cut(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Text {
    /// That of an unpacked stream.
    pub(super) fn new(from: Box<dyn Read + Send>) -> Text {
        Text {
            from,
            any: false,
            cut: Arc::default(),
            note: None,
        }
    }

    /// To be asked when all is read.
    pub(super) fn cut(&self) -> Cut {
        Cut(Arc::clone(&self.cut))
    }
}

impl Read for Text {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.cut.load(Ordering::Acquire) {
            return Ok(0);
        }
        match self.from.read(to) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && self.any => {
                self.cut.store(true, Ordering::Release);
                Ok(0)
            }
            read => {
                self.any |= matches!(read, Ok(1..));
                read
            }
        }
    }
}

/// All files at and below `paths`, in order; and what could not be opened.
pub(super) fn gather(paths: &[PathBuf]) -> (Vec<Input>, Vec<String>) {
    let mut gathered = Gathered::default();
    for path in paths {
        gathered.path(path);
    }
    (gathered.inputs, gathered.problems)
}

#[derive(Default)]
struct Gathered {
    inputs: Vec<Input>,
    problems: Vec<String>,
    /// Bytes of members that wait in memory.
    in_memory: usize,
    /// The others, one after the other, and how long they are.
    temporary: Option<Arc<File>>,
    written: u64,
    /// What the present archive, with those in it, may still unpack to.
    allowed: u64,
}

impl Gathered {
    fn path(&mut self, path: &Path) {
        if path.is_dir() {
            return self.directory(path);
        }
        let name = path.display().to_string();
        if let Some(kind) = path.metadata().ok().map(|m| m.file_type())
            && !kind.is_file()
        {
            // As `<(zcat old.gz)` is one.
            let hint = if kind.is_fifo() {
                "\nhint: a pipe is read from stdin: zcat old.gz | sonde import -"
            } else {
                ""
            };
            self.problems.push(format!("{name}: no plain file{hint}"));
            return;
        }
        let opened = File::open(path).and_then(|mut file| {
            self.allowed = file.metadata()?.len().saturating_mul(GROWS).max(ANYWAY);
            let head = first_bytes(&mut file, ZIP.len())?;
            file.rewind()?;
            if head == ZIP
                && let Ok(archive) = zip::ZipArchive::new(BufReader::new(file.try_clone()?))
            {
                return self.zip(&name, archive);
            }
            // One that was cut off has no directory, but perhaps members.
            file.rewind()?;
            self.archive(&name, Box::new(file), 0)
        });
        match opened {
            Ok(true) => {}
            Ok(false) => self.inputs.push(Input {
                name,
                content: Content::Path(path.to_owned()),
            }),
            Err(e) => self.problems.push(format!("{name}: {e}")),
        }
    }

    fn directory(&mut self, dir: &Path) {
        if dir.join("run.json").exists() {
            let name = dir.display();
            self.problems.push(format!("{name}: is a run already"));
            return;
        }
        let names = std::fs::read_dir(dir).map(|entries| {
            let paths = entries.flatten().map(|e| e.path());
            // The parts of an archive of PCP are read with its first volume.
            let paths = paths.filter(|p| !is_beside_archive(p));
            paths.collect::<BTreeSet<_>>()
        });
        match names {
            Ok(names) => {
                for path in &names {
                    // What a link to a directory leads to may lead back.
                    if path.is_symlink() && path.is_dir() {
                        let name = path.display();
                        self.problems.push(format!(
                            "{name}: a link to a directory, which is not followed"
                        ));
                    } else {
                        self.path(path);
                    }
                }
            }
            Err(e) => self.problems.push(format!("{}: {e}", dir.display())),
        }
    }

    /// Takes the members by the directory at the archive's end, where even those are that were
    /// written to a pipe.
    fn zip(
        &mut self,
        name: &str,
        mut archive: zip::ZipArchive<BufReader<File>>,
    ) -> io::Result<bool> {
        for place in 0..archive.len() {
            match archive.by_index(place) {
                Ok(entry) => self.zipped(name, entry, 0)?,
                Err(e) => self
                    .problems
                    .push(format!("{name}: member {}: {e}", place + 1)),
            }
        }
        Ok(true)
    }

    fn zipped<R: Read>(
        &mut self,
        name: &str,
        entry: zip::read::ZipFile<'_, R>,
        deep: u32,
    ) -> io::Result<()> {
        if !entry.is_file() {
            return Ok(());
        }
        let raw = || String::from_utf8_lossy(entry.name_raw());
        let path = entry.name().unwrap_or_else(|_| raw()).into_owned();
        self.member(&format!("{name}:{path}"), entry, deep)
    }

    /// Takes the members, if it is an archive.
    fn archive(
        &mut self,
        name: &str,
        from: Box<dyn Read + Send + '_>,
        deep: u32,
    ) -> io::Result<bool> {
        let mut from = decompressed(from)?.from;
        let head = first_unpacked(&mut from, TAR_HEADER)?;
        let is_tar = is_tar(&head);
        let is_zip = head.starts_with(ZIP);
        if !(is_tar || is_zip) || deep >= DEEPEST {
            return Ok(false);
        }
        let mut whole = Cursor::new(head).chain(from);
        if is_tar {
            let mut archive = tar::Archive::new(whole);
            for entry in archive.entries()? {
                let entry = entry?;
                let path = entry.path()?.display().to_string();
                match entry.header().entry_type() {
                    kind if kind.is_file() => {
                        self.member(&format!("{name}:{path}"), entry, deep)?;
                    }
                    kind if kind.is_dir() => {}
                    _ => self.problems.push(format!(
                        "{name}:{path}: a link or no plain file, which is not followed in archives"
                    )),
                }
            }
        } else {
            while let Some(entry) = zip::read::read_zipfile_from_stream(&mut whole)? {
                self.zipped(name, entry, deep)?;
            }
        }
        Ok(true)
    }

    fn member(&mut self, name: &str, from: impl Read, deep: u32) -> io::Result<()> {
        let mut from = from.take(self.allowed.saturating_add(1));
        let room = IN_MEMORY.saturating_sub(self.in_memory);
        let bytes = first_bytes(&mut from, room)?;
        let (content, length) = if bytes.len() < room {
            self.in_memory += bytes.len();
            let length = bytes.len() as u64;
            (Content::Bytes(bytes.into()), length)
        } else {
            let part = self.part(&mut Cursor::new(bytes).chain(from))?;
            let length = part.end - part.at;
            (Content::Part(part), length)
        };
        self.allowed = self.allowed.saturating_sub(length);
        if self.allowed == 0 {
            return Err(io::Error::other(
                "it unpacks to more than a hundred times its size, as archives do that are made \
                 to fill disks: the rest was left out\n\
                 hint: where it is none, unpack it and import the directory",
            ));
        }
        let input = Input {
            name: name.to_owned(),
            content,
        };
        let inner: Box<dyn Read + Send> = match &input.content {
            Content::Bytes(bytes) => Box::new(Cursor::new(&bytes[..])),
            Content::Path(_) => Box::new(io::empty()),
            Content::Part(part) => Box::new(part.clone()),
        };
        let inner = match self.archive(name, inner, deep + 1) {
            Err(e) if self.allowed == 0 => return Err(e),
            Err(e) => {
                // The others are read.
                self.problems.push(format!("{name}: {e}"));
                true
            }
            Ok(inner) => inner,
        };
        if !inner {
            self.inputs.push(input);
        }
        Ok(())
    }

    /// All of it, put behind what is in the temporary file.
    fn part(&mut self, from: &mut dyn Read) -> io::Result<Part> {
        let file = match &self.temporary {
            Some(file) => Arc::clone(file),
            None => Arc::new(temporary()?),
        };
        self.temporary = Some(Arc::clone(&file));
        let at = self.written;
        // It is read by place, so that only this writes where the file is at.
        self.written += io::copy(from, &mut &*file)?;
        (&*file).flush()?;
        Ok(Part {
            file,
            at,
            end: self.written,
        })
    }
}

/// A file that is gone when it is closed.
fn temporary() -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let dir = std::env::temp_dir();
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(File::from(open(dir, flags, Mode::RUSR | Mode::WUSR)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &Input) -> String {
        let mut text = String::new();
        let read = input.open().and_then(|mut f| f.read_to_string(&mut text));
        read.map(|_| text).expect("a text")
    }

    #[test]
    fn members_beyond_what_fits_into_memory_are_kept_too() {
        let mut all = Gathered {
            allowed: ANYWAY,
            in_memory: IN_MEMORY - 4,
            ..Gathered::default()
        };
        for (name, content) in [("a", "abc"), ("b", "second"), ("c", "last"), ("d", "")] {
            all.member(name, content.as_bytes(), 1).expect(name);
        }
        let read: Vec<String> = all.inputs.iter().map(text).collect();
        assert_eq!(read, ["abc", "second", "last", ""]);
        // And again, in another order.
        assert_eq!(text(&all.inputs[1]), "second");
        assert!(all.problems.is_empty() && all.written == 10);
    }

    #[test]
    fn an_archive_that_grows_without_end_is_left() {
        let mut all = Gathered {
            allowed: 1000,
            ..Gathered::default()
        };
        all.member("a", &b"abc"[..], 1).expect("a small one");
        let why = all.member("b", io::repeat(b' '), 1).expect_err("too large");
        assert!(why.to_string().contains("more than a hundred times"));
        assert_eq!(all.inputs.len(), 1);
        assert!(all.in_memory <= 1001);
    }
}
