use super::*;

#[test]
fn the_designs_examples_parse() {
    for text in [
        "disk.bytes by op where device = vda",
        "disk.ios by latency where device = vda and op = read and phase = steady",
        "net.segments by size, context where interface = eth0",
        "cpu.time by cgroup",
        "file.opens by path where process = bash",
        "disk.ios where latency in 10ms..1s and time in 10s..40s",
        "disk.ios where device in sda, sdb,nvme0n1 and op!=read",
        "disk.bytes where device~^nvme and process = \"a b, c\"",
    ] {
        parse(text).unwrap_or_else(|p| panic!("{p}"));
    }
}

#[test]
fn a_column_of_a_tool_is_two_predicates() {
    for (text, column, by) in [
        ("other.iostat.%util by instance", "%util", 1),
        ("other.sar.\"a b\" where instance = sda", "a b", 0),
        ("other.nicstat.r/s", "r/s", 0),
    ] {
        let e = parse(text).unwrap();
        assert_eq!(
            (e.measure.text.as_str(), e.by.len()),
            ("value", by),
            "{text}"
        );
        let Test::In(values) = &e.predicates[1].test else {
            panic!("{text}");
        };
        assert_eq!(values[0].text, column);
        assert_eq!(e.predicates[0].dimension.text, "tool");
    }
    assert!(
        parse("other.value by column")
            .unwrap()
            .predicates
            .is_empty()
    );
    assert!(parse("other.iostat.").is_err());
    assert!(parse("disk.bytes.x").is_err());
}

#[test]
fn a_side_of_nfs_is_a_subject() {
    for (text, subject) in [
        ("nfs.ops by op where side = server", "nfsd"),
        ("nfs.ops where side = client and op = READ", "nfs"),
        ("nfs.ops where side != client", "nfsd"),
        ("nfsd.time by op where side in client", "nfs"),
        ("nfs.ops by op", "nfs"),
    ] {
        let e = parse(text).unwrap_or_else(|p| panic!("{p}"));
        assert_eq!(e.subject.text, subject, "{text}");
        assert!(e.predicates.iter().all(|p| p.dimension.text != "side"));
    }
    for (text, why) in [
        ("nfs.ops by side", "told apart"),
        ("nfs.ops where side in client, server", "told apart"),
        (
            "nfs.ops where side = client and side = server",
            "told apart",
        ),
        ("nfs.ops where side ~ s", "told apart"),
        ("nfs.ops where side = severs", "did you mean server?"),
    ] {
        let problem = parse(text).expect_err(text).to_string();
        assert!(problem.contains(why), "{problem}");
    }
    // Of others it is what their planner says it is.
    assert_eq!(
        parse("disk.ios where side = a").unwrap().predicates.len(),
        1
    );
}

#[test]
fn values_ranges_and_lists() {
    let e = parse("a.b by c, d where x in 10..40s and y in a,b , 'c d' and z >= 4KiB").unwrap();
    assert_eq!(
        e.by.iter().map(|b| b.text.as_str()).collect::<Vec<_>>(),
        ["c", "d"]
    );
    let Test::Range(low, high) = &e.predicates[0].test else {
        panic!()
    };
    assert_eq!((low.value, high.value), (10.0, 40.0));
    let Test::In(list) = &e.predicates[1].test else {
        panic!()
    };
    assert_eq!(
        list.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(),
        ["a", "b", "c d"]
    );
    let Test::Compare(Order::AtLeast, amount) = &e.predicates[2].test else {
        panic!()
    };
    assert_eq!(amount.value, 4096.0);
}

#[test]
fn a_doubled_quote_stands_for_itself() {
    for (quoted, value) in [
        (r#""a ""b"" 'c'""#, r#"a "b" 'c'"#),
        ("'it''s'", "it's"),
        (r#""""""#, r#"""#),
        (r#""""#, ""),
        ("\"two\nlines\"", "two\nlines"),
    ] {
        let text = format!("x.y where z = {quoted} and z != b");
        let e = parse(&text).unwrap_or_else(|p| panic!("{p}"));
        let Test::In(list) = &e.predicates[0].test else {
            panic!()
        };
        assert_eq!(list[0].text, value, "{text}");
        assert_eq!(e.predicates.len(), 2, "{text}");
    }
}

#[test]
fn errors_point_at_the_word() {
    for (text, word) in [
        ("", ""),
        ("disk", "disk"),
        ("disk.", ""),
        ("disk.bytes for device", "for"),
        ("disk.bytes by", ""),
        ("disk.bytes by device device", "device"),
        ("disk.bytes where device", ""),
        ("disk.bytes where device ? sda", "?"),
        ("disk.bytes where latency > fast", "fast"),
        ("disk.bytes where latency in 40s..10s", "40s..10s"),
        ("disk.bytes where device ~ [a", "[a"),
        ("disk.bytes where device = 'sda", "'sda"),
        ("disk.bytes where device = sda or op = read", "or"),
        ("disk.bytes where latency > 10xs", "10xs"),
        ("disk.bytes where op in (read, write)", "(read,"),
    ] {
        let p = parse(text).expect_err(text);
        assert_eq!(&text[p.span.0..p.span.1], word, "{text}: {p}");
    }
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "disk", ".", "by", " ", "where", "=", "~", "'", "\"", ",", "in", "..", "é", "\n", "10ms",
        "<",
    ];
    let mut state = 7_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..(state >> 60) {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        if let Err(p) = parse(&text) {
            let _ = p.to_string();
        }
    }
}
