//! What a recording will not have, told once before it begins.

use run::manifest::{SameReason, SourceState, by_reason};
use sources::{Detail, Entry, SOURCES};

/// What was asked for by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Sources, with `--sources`.
    pub(super) sources: Vec<String>,
    /// Subjects, with `--with`.
    pub(super) with: Vec<String>,
    /// Subjects, with `--events`.
    pub(super) events: Vec<String>,
    /// Only what the kernel counts anyway, with `--detail samples`: whoever asks for that does
    /// not miss the rest.
    pub(super) only_samples: bool,
}

impl Asked {
    /// The options that asked for the source.
    fn options(&self, source: &str) -> Vec<String> {
        let has = |subjects: &[String]| {
            let of = |s: &&String| source_of_events(s) == Some(source);
            subjects.iter().find(of).cloned()
        };
        let with = has(&self.with).map(|s| format!("--with {s}"));
        let events = has(&self.events).map(|s| format!("--events {s}"));
        let by_name = self.sources.iter().any(|s| s == source);
        let by_name = by_name.then(|| format!("--sources {source}"));
        [with, events, by_name].into_iter().flatten().collect()
    }
}

/// The source that tells the events of a subject.
pub(super) fn source_of_events(subject: &str) -> Option<&'static str> {
    let subject = run::catalog::subject(subject)?;
    let mut tables = subject.tables.iter();
    let of_events = tables.find(|t| t.detail == run::catalog::Detail::Event);
    of_events.map(|t| t.source)
}

/// What is not observed, why, and what would help; `None` if nothing is missing that anybody
/// expects. What this machine does not have is missed only by who asked for it, but for what
/// programs in the kernel tell: every host has disks, networks and processors. Not every one is an
/// NFS server.
pub(super) fn told(states: &[SourceState], asked: &Asked) -> Option<String> {
    let mut missing: Vec<&SourceState> = vec![];
    let mut in_vain: Vec<String> = vec![];
    let mut no_ebpf = false;
    for source in states.iter().filter(|s| s.state != "available") {
        let options = asked.options(&source.name);
        let entry = SOURCES.iter().find(|e| e.name == source.name);
        let is_ebpf = entry.is_some_and(|e| e.detail > Detail::Samples && has_subject(states, e));
        let expected = !asked.only_samples && (is_ebpf || source.state != "unsupported");
        if !expected && options.is_empty() {
            continue;
        }
        in_vain.extend(options);
        no_ebpf |= is_ebpf;
        missing.push(source);
    }
    if missing.is_empty() {
        return None;
    }
    let because = |m: &SameReason<'_>| {
        let why = match m.state {
            "denied" => format!("denied; allowed with: {}", m.why),
            "unsupported" => m.why.to_owned(),
            state => format!("{state}: {}", m.why),
        };
        format!("{} ({why})", m.names.join(", "))
    };
    let all: Vec<String> = by_reason(missing).iter().map(because).collect();
    let mut text = format!("not observed: {}", all.join("; "));
    if !in_vain.is_empty() {
        text += &format!(". There will be nothing of {}", in_vain.join(", "));
    }
    if no_ebpf {
        text += ". `--detail samples` records without eBPF";
    }
    Some(text)
}

/// Whether this machine has what the source observes.
fn has_subject(states: &[SourceState], entry: &Entry) -> bool {
    let available = |name| {
        states
            .iter()
            .any(|s| s.name == name && s.state == "available")
    };
    entry.only_where().is_none_or(available)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_an_nfs_server_are_missed_where_there_is_one() {
        let without = state("bpf-nfs", "unsupported", "needs a server");
        let nfsd = |is| state("nfsd", is, "");
        let asked = Asked::default();
        assert_eq!(told(&[without.clone(), nfsd("unsupported")], &asked), None);
        let said = told(&[without.clone(), nfsd("available")], &asked).unwrap();
        assert!(said.contains("bpf-nfs (needs a server)"), "{said}");
        let asked = Asked {
            events: vec!["nfsd".into()],
            ..Asked::default()
        };
        let said = told(&[without, nfsd("unsupported")], &asked).unwrap();
        assert!(said.contains("nothing of --events nfsd"), "{said}");
    }

    fn state(name: &str, state: &str, detail: &str) -> SourceState {
        SourceState {
            name: name.into(),
            state: state.into(),
            detail: detail.into(),
            ..SourceState::default()
        }
    }

    #[test]
    fn sources_missing_for_one_reason_are_told_together() {
        let states = [
            state("cpu", "available", ""),
            state("nfs", "unsupported", "needs a mount"),
            state("power", "denied", "chmod a+r"),
            state("bpf-disk", "denied", "sudo"),
            state("bpf-net", "denied", "sudo"),
        ];
        let text = told(&states, &Asked::default()).unwrap();
        assert_eq!(
            text,
            "not observed: power (denied; allowed with: chmod a+r); bpf-disk, bpf-net (denied; \
             allowed with: sudo). `--detail samples` records without eBPF"
        );
        assert_eq!(told(&states[..2], &Asked::default()), None);
        let kernel = state("bpf-net", "unsupported", "needs BTF");
        assert_eq!(
            told(std::slice::from_ref(&kernel), &Asked::default()).unwrap(),
            "not observed: bpf-net (needs BTF). `--detail samples` records without eBPF"
        );
        let only_samples = Asked {
            only_samples: true,
            ..Asked::default()
        };
        assert_eq!(told(&states, &only_samples), None);
        assert_eq!(told(&[kernel], &only_samples), None);
    }

    #[test]
    fn what_was_asked_for_by_name_is_told_even_where_the_machine_lacks_it() {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let asked = Asked {
            sources: list(&["cpu", "nfs"]),
            with: list(&["file"]),
            events: list(&["disk", "file"]),
            only_samples: false,
        };
        let states = [
            state("nfs", "unsupported", "needs a mount"),
            state("bpf-disk", "available", ""),
            state("bpf-file", "unsupported", "needs BTF"),
        ];
        let text = told(&states, &asked).unwrap();
        assert_eq!(
            text,
            "not observed: nfs (needs a mount); bpf-file (needs BTF). There will be nothing of \
             --sources nfs, --with file, --events file. `--detail samples` records without eBPF"
        );
    }
}
