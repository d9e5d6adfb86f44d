//! `file:PATH`: any file that holds a setting, for who allows it with `--allow-file`.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::statfs;

use super::{Allow, Family, Field, Opened};
use crate::KnobError;
use crate::kernel_file;
use crate::spot::{Identity, Spot, Values, quoted, same};

pub(super) const FAMILY: Family = Family {
    prefix: "file",
    form: "file:PATH",
    about: "The whole text of a file, with --allow-file: what no other knob reaches",
    link: "https://docs.kernel.org/filesystems/sysfs.html",
    fields: &[Field {
        name: "*",
        about: "The file's text; what reads it may have to be told",
        reset_by: "whatever writes the file",
        rank: 3,
    }],
    open,
    list: |_| Vec::new(),
};

fn open(name: &str, rest: &str, allow: Allow) -> Result<Opened, KnobError> {
    if !allow.files {
        return Err(KnobError::OneWay {
            name: name.to_owned(),
            why: "a file may be anything; --allow-file allows it".into(),
        });
    }
    let path = PathBuf::from(rest);
    if !path.is_absolute() {
        return Err(KnobError::Unknown {
            name: name.to_owned(),
            why: "the path must begin with /".into(),
            hint: "for example file:/etc/app.conf".into(),
        });
    }
    // What a name leads to is found once, here: the journal has to name the same file.
    let kind = std::fs::metadata(&path);
    let kind = kind.map_err(|e| KnobError::refused("find", rest, &e))?;
    if !kind.is_file() {
        return Err(KnobError::OneWay {
            name: name.to_owned(),
            why: format!("{rest} is not a plain file"),
        });
    }
    let field = &FAMILY.fields[0];
    Ok(Opened {
        field,
        spot: Arc::new(WholeFile { path }),
    })
}

#[derive(Debug)]
struct WholeFile {
    path: PathBuf,
}

/// File systems whose files are gone after a restart of the machine, by their magic numbers.
const VOLATILE: [i64; 9] = [
    0x6265_6572, // sysfs
    0x9fa0,      // proc
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x27_e0eb,   // cgroup
    0x6367_7270, // cgroup2
    0x6265_6570, // configfs
];

/// File systems of the kernel's own, which take a value by one write.
fn is_kernel(path: &Path) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    const RAMFS: i64 = 0x8584_58f6;
    statfs(path).is_ok_and(|s| {
        #[allow(clippy::unnecessary_cast, reason = "its width differs by machine")]
        let kind = s.f_type as i64;
        VOLATILE.contains(&kind) && kind != TMPFS && kind != RAMFS
    })
}

impl WholeFile {
    /// Makes `text` the whole of the file, durably. The file stays the same one, for who has
    /// it open and for its owner and links.
    fn replace(&self, text: &str) -> Result<(), KnobError> {
        let written = (|| {
            let mut file = std::fs::OpenOptions::new().write(true).open(&self.path)?;
            file.write_all(text.as_bytes())?;
            file.set_len(text.len() as u64)?;
            file.sync_all()
        })();
        written.map_err(|e| KnobError::refused("write to", self.path.display().to_string(), &e))
    }
}

/// Without the end of its last line.
fn last_line_open(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

impl Spot for WholeFile {
    fn read(&self) -> Result<String, KnobError> {
        if is_kernel(&self.path) {
            return kernel_file::read(&self.path);
        }
        kernel_file::read_whole(&self.path)
    }

    fn write(&self, value: &str) -> Result<(), KnobError> {
        if is_kernel(&self.path) {
            return kernel_file::write(&self.path, value);
        }
        self.replace(&format!("{}\n", last_line_open(value)))
    }

    fn put_back(&self, value: &str) -> Result<(), KnobError> {
        if is_kernel(&self.path) {
            return kernel_file::write(&self.path, value);
        }
        self.replace(value)
    }

    fn identity(&self) -> Result<Identity, KnobError> {
        let found = std::fs::metadata(&self.path);
        let found =
            found.map_err(|e| KnobError::refused("find", self.path.display().to_string(), &e))?;
        Ok(Identity::from([(
            "inode".to_owned(),
            found.ino().to_string(),
        )]))
    }

    fn values(&self) -> Values {
        Values::Text
    }

    fn writable(&self) -> Result<(), KnobError> {
        kernel_file::writable(&self.path)
    }

    fn command(&self, value: &str) -> String {
        if is_kernel(&self.path) {
            return kernel_file::command(&self.path, value);
        }
        let path = self.path.display().to_string();
        format!("printf %s {} > {}", quoted(value), quoted(&path))
    }

    fn same(&self, one: &str, other: &str) -> bool {
        if is_kernel(&self.path) {
            return same(one, other);
        }
        // Any other difference of a text may matter.
        last_line_open(one) == last_line_open(other)
    }

    fn is_back(&self, now: &str, was: &str) -> bool {
        now == was || is_kernel(&self.path) && same(now, was)
    }

    fn lasts(&self) -> bool {
        statfs(&self.path).is_ok_and(|s| {
            #[allow(clippy::unnecessary_cast, reason = "its width differs by machine")]
            let kind = s.f_type as i64;
            !VOLATILE.contains(&kind)
        })
    }
}
