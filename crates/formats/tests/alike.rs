//! Reports that are printed again and again are handed out with their words once.

use formats::{Head, Import, Options, recognise};
use run::rows::TableId;

/// Samples of `iostat -nxcz` on so many devices, each of which is idle now and then.
fn text(samples: usize, devices: usize) -> String {
    let mut text = String::new();
    for sample in 0..samples {
        // One line in all is garbled: its sample has no rows of devices that are not printed.
        let times = if sample == 200 {
            "  3  2 ?? 95"
        } else {
            "  3  2  0 95"
        };
        text += &format!("     cpu\n us sy wt id\n{times}\n");
        text += "                    extended device statistics\n";
        text += "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n";
        for device in 0..devices {
            if (sample * 7 + device * 3) % 5 != 0 {
                let reads = sample % 100 + device;
                text += &format!(
                    "{reads:7}.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t{device}d0\n"
                );
            }
        }
    }
    text
}

#[test]
fn nearly_all_samples_of_a_report_are_alike() {
    let text = text(400, 20);
    let head = Head::new(text.as_bytes());
    let options = Options {
        every: Some(1.0),
        processors: Some(4),
        ..Options::default()
    };
    let mut import = Import::new(recognise(&head).unwrap(), &head, options);
    import.hand_out_alike();
    let first = text.match_indices("     cpu").nth(20).unwrap().0;
    // All devices are seen in the first few.
    import.feed(&text.as_bytes()[..first]).unwrap();
    import.rows().clear();
    import.feed(&text.as_bytes()[first..]).unwrap();
    import.finish().unwrap();
    for (table, each) in [
        ("disk", 60),
        ("disk_io", 20),
        ("disk_device", 20),
        ("other", 20),
    ] {
        let table = TableId::of(table);
        let sink = import.rows();
        let blocks = sink.alike(table);
        let largest = blocks.iter().map(run::rows::Alike::len).max();
        assert!(largest >= Some(199 * each), "{largest:?} of {each}");
        assert_eq!((blocks.len(), sink.rows(table).len()), (3, 0));
    }
}

/// What becomes of a text that comes in pieces of so many bytes: its lines, and all rows.
fn taken(text: &[u8], piece: usize) -> String {
    let head = Head::new(text);
    let options = Options {
        every: Some(1.0),
        processors: Some(4),
        ..Options::default()
    };
    let mut import = Import::new(recognise(&head).unwrap(), &head, options);
    let fed = text.chunks(piece).try_for_each(|p| import.feed(p));
    let report = match fed.and_then(|()| import.finish()) {
        Ok(report) => report,
        Err(refused) => return format!("{refused:?}"),
    };
    let sink = std::mem::take(import.rows());
    let rows = ["disk", "disk_io", "disk_device", "other", "cpu"]
        .map(|table| format!("{:?}", sink.rows(TableId::of(table))));
    format!("{report:?} {rows:?}")
}

#[test]
fn rows_taken_at_once_are_those_taken_one_by_one() {
    let odd = [
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0      ",
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0\r",
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t33d0",
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d",
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t1d0",
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1",
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0",
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1   1 c0t3d0",
        "  123456.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0",
        "        0.5 12345678.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0",
        "        0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0  1  c0t3d0",
        "12345678.5 1234567.0  16.25   8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0",
        "    0,5    1,0   16,0    8,0  0,0  0,1    0,0    2,0   0   1 c0t3d0",
        "   -0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0",
        "    .5     1.    16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0",
        "\t 0.5\t   1.0   16.0    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0",
        "1 2 3 4 5 6 7 8 9 10 c0t3d0",
        "1 2 3 4 5 6 7 8 9 10                                                                 c0t3d0",
        "                                                    1 2 3 4 5 6 7 8 9 10 c0t3d0",
        "    0.5    1.0   16.0    8.0  0.0  0.1    0.0    2.0   0 100 c0t3d0 x",
        "    0.0    0.0    0.0    0.0  0.0  0.0    0.0    0.0   0   0 c0t3d0",
        "    0.5    1.0   ????    8.0  0.0  0.1    0.0    2.0   0   1 c0t3d0",
        "db01:",
        "---------------",
        "[db01]",
        "",
    ];
    for line in odd {
        for more in [0, 1, 5] {
            let mut lines: Vec<String> = text(40, 6).lines().map(str::to_owned).collect();
            // Among the rows of a report that is like those before, after some of its own.
            let at = lines.iter().rposition(|l| l.contains("device")).unwrap() - 100 + more;
            // Once, or so often that the others are taken for odd.
            for again in 0..=more % 3 {
                lines.insert(at + 2 * again, line.to_owned());
            }
            let text = lines.join("\n") + "\n";
            let whole = taken(text.as_bytes(), text.len());
            assert_eq!(whole, taken(text.as_bytes(), 7), "{line:?}");
        }
    }
}
