//! Headers of the tables: what stands below them.

use crate::disk::layer;
use crate::fields;

/// What the rows below a header are of, in the order of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Nothing,
    Processors,
    /// `-s`: all disks together.
    System,
    /// `-a`, each before its disks.
    Adapters,
    Disks,
    /// `-m`: paths to the disk above.
    Paths,
    /// `-D`: groups of numbers below each other, and those whose names came.
    Groups,
    /// `-D -l`, and what its rows are of.
    Long,
}

/// The part that a header begins, and its columns: `% user` is `%user` there.
pub(super) fn header(line: &[u8]) -> Option<(Part, Vec<String>)> {
    let mut words = fields(line);
    let first = words.next()?;
    let part = match first {
        // `aio:` of `-A`, whose requests stand where terminals do.
        b"tty:" | b"aio:" => Part::Processors,
        b"Disks:" | b"Paths/Disks:" => Part::Disks,
        b"Paths:" => Part::Paths,
        b"Adapter:" | b"Vadapter:" => Part::Adapters,
        // Its line above has the name of the machine.
        b"Kbps" => Part::System,
        _ => return None,
    };
    let (mut names, mut percent) = (Vec::new(), "");
    if part == Part::System {
        words = fields(line);
    }
    for word in words.filter(|w| *w != b"avg-cpu:") {
        if word == b"%" {
            percent = "%";
            continue;
        }
        let name = String::from_utf8_lossy(word);
        names.push(format!("{}{name}", std::mem::take(&mut percent)));
    }
    let has = |name: &str| names.iter().any(|n| n == name);
    let begins = |columns: &[&str]| names.iter().take(columns.len()).eq(columns.iter());
    let sound = match part {
        Part::Disks if begins(&["xfers", "read", "write", "queue"]) => {
            return Some((Part::Long, names));
        }
        Part::Adapters if begins(&["xfers"]) => return Some((Part::Long, names)),
        Part::Disks | Part::Paths => has("%tm_act") && has("Kb_read") && has("Kb_wrtn"),
        Part::System => names == ["Kbps", "tps", "Kb_read", "Kb_wrtn"],
        Part::Adapters => begins(&["Kbps", "tps"]),
        _ => (has("tin") || has("avgc")) && has("%user") && has("%idle"),
    };
    (sound && percent.is_empty()).then_some((part, names))
}

/// The layer of a disk or of a path to one, `hdisk1_Path0`.
pub(super) fn layer_of(name: &[u8]) -> &'static str {
    let path = memchr::memmem::find(name, b"_Path");
    match path {
        Some(at) if layer(&name[..at]) == "disk" => "path",
        _ => layer(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_with_and_without_blanks() {
        let of = |line: &str| header(line.as_bytes()).map(|(part, names)| (part, names.join(" ")));
        let processors = "tin tout %user %sys %idle %iowait physc %entc";
        assert_eq!(
            of("tty: tin tout avg-cpu: % user % sys % idle % iowait physc % entc"),
            Some((Part::Processors, processors.into()))
        );
        assert_eq!(
            of("Disks:  %tm_act  Kbps  tps  Kb_read  Kb_wrtn  time"),
            Some((Part::Disks, "%tm_act Kbps tps Kb_read Kb_wrtn time".into()))
        );
        let requests = "avgc avfc maxgc maxfc maxreqs %user %sys %idle %iowait";
        assert_eq!(
            of("aio: avgc avfc maxgc maxfc maxreqs avg-cpu: % user % sys % idle % iowait"),
            Some((Part::Processors, requests.into()))
        );
        // Of Linux.
        assert_eq!(
            of("avg-cpu:  %user   %nice %system %iowait  %steal   %idle"),
            None
        );
    }
}
