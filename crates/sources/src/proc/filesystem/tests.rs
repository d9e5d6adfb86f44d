use super::*;
use std::io::Write;

/// Mount, device and type of each row, with its values.
fn rows(out: &Sink) -> Vec<([String; 3], Vec<f64>)> {
    let rows = out.rows(TableId::of("filesystem"));
    (0..rows.len())
        .map(|i| {
            let word = |w: usize| out.words.text(rows.words[w][i]).unwrap().to_owned();
            let values = rows.values.iter().map(|v| v[i]).collect();
            ([word(0), word(1), word(2)], values)
        })
        .collect()
}

#[test]
fn sizes_are_whole_and_every_path_is_the_mount_it_says() {
    let mut source = new(&Host::default()).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    assert!(rows(&out).is_empty());
    source.sample(Some(1.0), &mut out).unwrap();
    let rows = rows(&out);
    if rows.is_empty() {
        assert!(std::env::var_os("CI").is_none(), "no local file system");
        let _ = writeln!(std::io::stderr(), "skipped: no local file system here");
        return;
    }
    for ([mount, device, kind], v) in &rows {
        assert!(
            v[0] > 0.0 && v[1] <= v[0] && v[2] <= v[0] - v[1],
            "{mount}: {v:?}"
        );
        assert!(v[4] <= v[3], "{mount}: {v:?}");
        assert!(mount.starts_with('/') && !device.is_empty() && !kind.is_empty());
        assert!(v[1] % 512.0 == 0.0);
    }
    let mut mounts: Vec<_> = rows.iter().map(|r| &r.0[0]).collect();
    mounts.dedup();
    assert_eq!(mounts.len(), rows.len());
}

/// A file of a known size on a `tmpfs`, whose space is exact.
#[test]
fn a_file_takes_its_space() {
    let folder = "/dev/shm";
    let mut source = new(&Host::default()).unwrap();
    let mut out = Sink::new();
    let used = |source: &mut FileSystems, out: &mut Sink| {
        out.clear();
        source.sample(Some(1.0), out).unwrap();
        let row = rows(out).into_iter().find(|r| r.0[0] == folder)?;
        Some((row.1[1], row.1[4]))
    };
    let Some(_) = used(&mut source, &mut out) else {
        assert!(std::env::var_os("CI").is_none(), "no {folder}");
        let _ = writeln!(std::io::stderr(), "skipped: no {folder}");
        return;
    };
    // Others may write there too: tried a few times.
    let agreed = (0..20).any(|_| {
        let before = used(&mut source, &mut out).unwrap();
        let path = format!("{folder}/sonde-filesystem-{}", std::process::id());
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path);
        file.unwrap().write_all(&vec![1; 3 << 20]).unwrap();
        let after = used(&mut source, &mut out).unwrap();
        // Within a tenth of a second the answer is repeated.
        std::fs::remove_file(&path).unwrap();
        out.clear();
        source.sample(Some(0.05), &mut out).unwrap();
        let row = rows(&out).into_iter().find(|r| r.0[0] == folder).unwrap();
        assert_eq!(row.1[1], after.0);
        (after.0 - before.0, after.1 - before.1) == (f64::from(3 << 20), 1.0)
    });
    assert!(agreed);
}

#[test]
fn a_mount_that_is_covered_is_not_asked() {
    let mut source = new(&Host::default()).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    let table = mounts::parse(source.file.read(&mut source.buffer).unwrap());
    for fs in &source.all {
        let mount = out.words.text(fs.words[0]).unwrap();
        // Of mounts at one path the last in the table is on top.
        let top = table.iter().rfind(|m| m.point == mount.as_bytes()).unwrap();
        let kind = out.words.text(fs.words[2]).unwrap();
        assert_eq!(top.kind, kind.as_bytes(), "{mount}");
        assert_eq!(source.all.iter().filter(|o| o.path == fs.path).count(), 1);
    }
    assert!(!changed(&source.file));
}

#[test]
fn where_another_file_system_answers_there_is_no_row() {
    let mut source = new(&Host::default()).unwrap();
    let mut out = Sink::new();
    source.sample(None, &mut out).unwrap();
    let Some(first) = source.all.first_mut() else {
        return;
    };
    first.id ^= 1;
    assert!(first.ask().is_none() && first.values.is_none());
}
