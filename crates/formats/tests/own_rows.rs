//! Rows and cells of tables that a user describes: what tells rows apart, and what a cell says.

mod described;

use described::{READS, every, import, rows};
use formats::{Options, own};

#[test]
fn rows_that_no_word_tells_apart_are_not_added() {
    let of = |is: &str| {
        format!(
            "name = \"t\"\n[column]\nvol = {{ is = \"{is}\" }}\n\
             MBs = {{ measure = \"disk.bytes\", unit = \"MB/s\", op = \"read\" }}\n\
             heat = {{}}\n"
        )
    };
    let text = "vol MBs heat\nsda 10 40\nsdb 20 41\nsda 1 42\nsdb 2 43\n";
    let why = import(&of("instance"), text, every(1.0)).unwrap_err();
    assert!(
        why.contains("line 3") && why.contains("\"sdb\" from \"sda\""),
        "{why}"
    );
    assert!(why.contains("MBs\nhint"), "{why}");
    let (_, sink) = import(&of("device"), text, every(1.0)).unwrap();
    assert_eq!(rows(&sink, "disk").len(), 4);
    // A row that has none of it is no other one.
    let text = "vol MBs heat\nsda 10 40\nsdb - 41\n";
    let (_, sink) = import(&of("instance"), text, every(1.0)).unwrap();
    assert_eq!(rows(&sink, "disk"), ["1 all/disk/read bytes=10000000"]);
}

#[test]
fn rows_sorted_by_name_are_told_apart_too() {
    let toml = "name = \"t\"\n[column]\nat = { time = \"epoch\" }\nvol = { is = \"instance\" }\n\
                MBs = { measure = \"disk.bytes\", unit = \"MB/s\", op = \"read\" }\n";
    let text = "at vol MBs\n100 a 1\n110 a 2\n120 a 3\n100 b 4\n110 b 5\n120 b 6\n";
    let why = import(toml, text, Options::default()).unwrap_err();
    assert!(why.contains("\"b\" from \"a\""), "{why}");
}

#[test]
fn every_is_a_number_or_a_length_of_time() {
    let of = |every: &str| format!("name = \"t\"\nevery = {every}\n[column]\nn = {{}}\n");
    for (every, second) in [
        ("2", "2"),
        ("2.5", "2.5"),
        ("\"2s\"", "2"),
        ("\"500ms\"", "0.5"),
    ] {
        let (_, sink) = import(&of(every), "n\n7\n", Options::default()).unwrap();
        assert_eq!(
            rows(&sink, "other"),
            [format!("{second} t/n// value=7")],
            "{every}"
        );
    }
    for every in ["\"2 B\"", "\"soon\"", "0", "\"0s\""] {
        let why = own(&of(every)).unwrap_err().to_string();
        assert!(
            why.contains("line 2") && why.contains("`every`"),
            "{every}: {why}"
        );
    }
}

#[test]
fn a_cell_can_tell_its_unit() {
    let toml = r#"
name = "t"
separator = "comma"
every = 1
[column]
who = { is = "instance" }
cpu = {}
held = { measure = "memory.bytes", unit = "B", kind = "free" }
in = {}
heat = { unit = "C" }
"#;
    let text = "who,cpu,held,in,heat\n\
                a,0.25%,2KiB,1.5 kB,45 degrees C\n";
    let toml = toml.replace("heat = { unit = \"C\" }", "heat = {}");
    let (_, sink) = import(&toml, text, Options::default()).unwrap();
    assert_eq!(rows(&sink, "memory"), ["1 free bytes=2048"]);
    assert_eq!(
        rows(&sink, "other"),
        [
            "1 t/cpu/%/a value=0.25",
            "1 t/heat/C/a value=45",
            "1 t/in/B/a value=1500"
        ]
    );
    // Which can be two things, which is none, and a rate of what is none.
    for held in ["2K", "2 furlongs", "2 B/s", "2 s"] {
        let text = format!("who,cpu,held,in,heat\na,1%,{held},1 B,45 C\n");
        let why = import(&toml, &text, Options::default()).unwrap_err();
        assert!(
            why.contains(&format!("held of `{held}` cannot be read")),
            "{why}"
        );
    }
}

#[test]
fn quotes_commas_and_columns_that_come_twice() {
    let toml = r#"
name = "csv"
separator = "comma"
[column]
Date = { time = "%Y-%m-%d" }
Time = { time = "%H:%M" }
"Name, full" = { is = "instance" }
"load" = { unit = "" }
"load#2" = { unit = "%" }
note = { is = "nothing" }
"#;
    let text = "Date,Time,\"Name, full\",load,load,note\r\n\
                2024-03-01,12:00,\"a \"\"b\"\", c\",1.5,\"1,234\",fine\r\n\
                2024-03-01,12:01,\"open,1,2,3\r\n\
                2024-03-01,12:01,d,2,\"12,34\",\r\n\
                2024-03-01,12:01,d,2,n/a,,\r\n";
    let (report, sink) = import(toml, text, every(60.0)).unwrap();
    assert_eq!((report.data, report.unknown), (2, 2), "{report:?}");
    assert_eq!(
        rows(&sink, "other"),
        [
            "1709294400 csv/load//a \"b\", c value=1.5",
            "1709294400 csv/load#2/%/a \"b\", c value=1234",
            "1709294460 csv/load//d value=2",
        ]
    );
}

#[test]
fn a_cell_that_is_no_time_is_named() {
    let text = "at,dev,rd\n3/1/2024 1:00,sda,1\n3/1/2024 1:01,sda,2\n";
    let why = import(READS, text, Options::default()).unwrap_err();
    assert!(why.contains("line 2 has \"3/1/2024 1:00\""), "{why}");
    assert!(why.contains("epoch-ms"), "{why}");
}
