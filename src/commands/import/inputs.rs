//! What is to be imported: files, what is in directories and archives; compressed or not.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::converted::{converted, is_beside_archive};

/// Members of an archive larger than this wait in a temporary file.
const IN_MEMORY: u64 = 16 << 20;

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
    Bytes(Vec<u8>),
    Temporary(File),
}

impl Input {
    /// The file's text, from its beginning.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        decompressed(match &self.content {
            Content::Path(path) => match converted(path)? {
                Some(text) => text,
                None => Box::new(File::open(path)?),
            },
            Content::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            Content::Temporary(file) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
        })
    }
}

/// The first bytes of a stream; fewer only if it is shorter.
pub(super) fn first_bytes(from: &mut dyn Read, most: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    from.take(most as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The stream without its compression, if it begins as a compressed one.
pub(super) fn decompressed<'r>(mut from: Box<dyn Read + 'r>) -> io::Result<Box<dyn Read + 'r>> {
    let head = first_bytes(&mut from, 6)?;
    let whole = Box::new(Cursor::new(head.clone()).chain(from));
    Ok(match head[..] {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => {
            Box::new(liblzma::read::XzDecoder::new_multi_decoder(whole))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(zstd::Decoder::new(whole)?),
        _ => whole,
    })
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
}

impl Gathered {
    fn path(&mut self, path: &Path) {
        if path.is_dir() {
            return self.directory(path);
        }
        let name = path.display().to_string();
        if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            self.problems.push(format!("{name}: no plain file"));
            return;
        }
        match File::open(path).and_then(|f| self.archive(&name, Box::new(f), 0)) {
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
            // What a link to a directory leads to may lead back.
            // The parts of an archive of PCP are read with its first volume.
            let left_out = |p: &PathBuf| (p.is_symlink() && p.is_dir()) || is_beside_archive(p);
            paths.filter(|p| !left_out(p)).collect::<BTreeSet<_>>()
        });
        match names {
            Ok(names) => names.iter().for_each(|path| self.path(path)),
            Err(e) => self.problems.push(format!("{}: {e}", dir.display())),
        }
    }

    /// Takes the members, if it is an archive.
    fn archive(&mut self, name: &str, from: Box<dyn Read + '_>, deep: u32) -> io::Result<bool> {
        let mut from = decompressed(from)?;
        let head = first_bytes(&mut from, 512)?;
        let is_tar = head.get(257..262) == Some(b"ustar");
        let is_zip = head.starts_with(b"PK\x03\x04");
        if !(is_tar || is_zip) || deep >= DEEPEST {
            return Ok(false);
        }
        let mut whole = Cursor::new(head).chain(from);
        if is_tar {
            let mut archive = tar::Archive::new(whole);
            for entry in archive.entries()? {
                let entry = entry?;
                if entry.header().entry_type().is_file() {
                    let path = entry.path()?.display().to_string();
                    self.member(&format!("{name}:{path}"), entry, deep)?;
                }
            }
        } else {
            while let Some(entry) = zip::read::read_zipfile_from_stream(&mut whole)? {
                if entry.is_file() {
                    let path = entry.name().to_owned();
                    self.member(&format!("{name}:{path}"), entry, deep)?;
                }
            }
        }
        Ok(true)
    }

    fn member(&mut self, name: &str, mut from: impl Read, deep: u32) -> io::Result<()> {
        let bytes = first_bytes(&mut from, IN_MEMORY as usize)?;
        let content = if (bytes.len() as u64) < IN_MEMORY {
            Content::Bytes(bytes)
        } else {
            let mut file = temporary()?;
            io::copy(&mut Cursor::new(bytes).chain(from), &mut file)?;
            Content::Temporary(file)
        };
        let input = Input {
            name: name.to_owned(),
            content,
        };
        let inner = match &input.content {
            Content::Bytes(bytes) => {
                self.archive(name, Box::new(Cursor::new(bytes.clone())), deep + 1)?
            }
            _ => false,
        };
        if !inner {
            self.inputs.push(input);
        }
        Ok(())
    }
}

/// A file that is gone when it is closed.
fn temporary() -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let dir = std::env::temp_dir();
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(File::from(open(dir, flags, Mode::RUSR | Mode::WUSR)?))
}
