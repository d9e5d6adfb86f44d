//! The guides: their commands run, their expressions can be asked, their links lead somewhere.
//!
//! A fence says how its block is treated. `sh` runs, in one shell a guide; `sh fails=2` must
//! end with that status; `sh needs=fio,root` runs where that is; `text` is output, and is not
//! run. A block that needs `nfs` or `zfs` is left out on a machine without them, also in CI,
//! and its expressions are asked of a run all the same.
//!
//! That a command succeeds does not say that it answers what the guide says. So behind a block
//! may stand, unseen by readers, what its output must show and what it must lack, as regular
//! expressions of `grep -P`: `<!-- shows: churn.log +1000 -->`, `<!-- lacks: latency-bubble -->`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files and tell why they skip"
)]

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Need, can_run, output, scratch, sonde, succeed};

/// Seconds that all blocks of a guide may take.
const LONGEST: &str = "120";

/// A fenced block.
#[derive(Debug, Default, PartialEq)]
struct Block {
    /// Line of its fence, from 1.
    line: usize,
    language: String,
    /// Exit status it must have.
    status: i32,
    needs: Vec<String>,
    text: String,
    /// Patterns that its output must match, and those that it must not.
    shows: Vec<String>,
    lacks: Vec<String>,
}

/// The fenced blocks of a page, and the page without them.
fn blocks(page: &str) -> (Vec<Block>, String) {
    let (mut found, mut rest) = (Vec::new(), String::new());
    let mut open: Option<Block> = None;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => found.push(block),
            (Some(head), None) => open = Some(block_of(head, i + 1)),
            (None, Some(mut block)) => {
                block.text += line;
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => match promise(line) {
                Some((must_match, pattern)) => {
                    let block = found.last_mut().filter(|b| b.language == "sh");
                    let block = block.unwrap_or_else(|| panic!("line {}: of no block", i + 1));
                    let patterns = if must_match {
                        &mut block.shows
                    } else {
                        &mut block.lacks
                    };
                    patterns.push(pattern.to_owned());
                }
                None => {
                    rest += line;
                    rest.push('\n');
                }
            },
        }
    }
    assert!(open.is_none(), "a fence is not closed: {open:?}");
    (found, rest)
}

/// The pattern of a line behind a block, and whether its output must match.
fn promise(line: &str) -> Option<(bool, &str)> {
    let comment = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    let shows = comment.strip_prefix("shows: ").map(|p| (true, p));
    shows.or_else(|| comment.strip_prefix("lacks: ").map(|p| (false, p)))
}

fn block_of(head: &str, line: usize) -> Block {
    let mut words = head.split_whitespace();
    let mut block = Block {
        line,
        language: words.next().unwrap_or_default().to_owned(),
        ..Block::default()
    };
    for word in words {
        match word.split_once('=') {
            Some(("fails", status)) => block.status = status.parse().expect("an exit status"),
            Some(("needs", list)) => block.needs = list.split(',').map(str::to_owned).collect(),
            _ => panic!("line {line}: what does `{word}` on a fence mean?"),
        }
    }
    assert!(
        ["sh", "text"].contains(&block.language.as_str()),
        "line {line}: a fence says `sh` or `text`, not `{}`",
        block.language
    );
    block
}

/// What a word of `needs=` stands for, and whether a machine for tests may lack it.
fn needs_of(word: &str) -> (Vec<Need>, bool) {
    match word {
        "root" => (vec![Need::Root], false),
        "curl" => (vec![Need::Program("curl")], false),
        "fio" => (vec![Need::Program("fio")], false),
        "python3" => (vec![Need::Program("python3")], false),
        "loop" => (vec![Need::Root, Need::Program("losetup")], false),
        "ebpf" => (
            vec![Need::Root, Need::Path("/sys/kernel/btf/vmlinux")],
            false,
        ),
        "netns" => (vec![Need::Root, Need::Program("ip")], false),
        "nfs" => (vec![Need::Path("/proc/net/rpc/nfs")], true),
        "nfsd" => (vec![Need::Path("/proc/net/rpc/nfsd")], true),
        "zfs" => (vec![Need::Path("/proc/spl/kstat/zfs")], true),
        _ => panic!("what does needs={word} mean?"),
    }
}

/// Whether `block` is to run. A module that is not there is no failure, even in CI.
fn runs(guide: &str, block: &Block) -> bool {
    let place = format!("{guide} line {}", block.line);
    block.needs.iter().all(|word| {
        let (needs, may_lack) = needs_of(word);
        let lacking = needs
            .iter()
            .any(|n| matches!(n, Need::Path(p) if !Path::new(p).exists()));
        if may_lack && lacking {
            eprintln!("left out: {place} needs {word}");
            return false;
        }
        can_run(&place, &needs)
    })
}

/// The Markdown files directly in `dir`, in order.
fn pages(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let mut pages: Vec<PathBuf> = entries
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    pages
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn guides() -> Vec<PathBuf> {
    let guides = pages(&root().join("docs/guides"));
    assert!(guides.len() >= 7, "where are the guides? {guides:?}");
    guides
}

/// The script of a guide: says in the file `at` which block it is at. What a block prints goes to
/// a file named for its line.
fn script(guide: &str, blocks: &[Block]) -> (String, Vec<usize>) {
    let (mut script, mut left_out) = (String::from("set -eu\n"), Vec::new());
    for (i, block) in blocks.iter().enumerate() {
        if block.language != "sh" {
            continue;
        }
        if !runs(guide, block) {
            left_out.push(i);
            continue;
        }
        let line = block.line;
        let _ = writeln!(script, "echo {line} >\"$GUIDE_AT\"");
        let _ = writeln!(script, "exec >\"$GUIDE_AT.{line}\" 2>&1");
        if block.status == 0 {
            script += &block.text;
        } else {
            let _ = write!(
                script,
                "set +e\n(set -eu\n{})\nended=$?\nset -e\n\
                 [ $ended = {status} ] || {{ echo \"ended with $ended, not {status}\" >&2; exit 1; }}\n",
                block.text,
                status = block.status
            );
        }
    }
    (script, left_out)
}

/// Runs a guide's blocks in an empty directory, which it answers with.
fn walk(name: &str, script: &str) -> PathBuf {
    let dir = scratch(name);
    let (work, at) = (dir.join("work"), dir.join("at"));
    std::fs::create_dir(&work).expect("a directory");
    std::fs::write(dir.join("script"), script).expect("a file");
    // A place that every user may enter, as the directory of the build may not be.
    let bin = dir.join("bin");
    std::fs::create_dir(&bin).expect("a directory");
    let binary = Path::new(env!("CARGO_BIN_EXE_sonde"));
    std::fs::hard_link(binary, bin.join("sonde"))
        .or_else(|_| std::fs::copy(binary, bin.join("sonde")).map(drop))
        .expect("the binary");
    let mut path = vec![bin];
    path.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let out = output(
        Command::new("timeout")
            .args(["--kill-after=5", LONGEST, "sh", "-eu"])
            .arg(dir.join("script"))
            .current_dir(&work)
            .env("PATH", std::env::join_paths(path).expect("a PATH"))
            .env("GUIDE_AT", &at)
            .env_remove("SONDE_RUN")
            .stdin(std::process::Stdio::null()),
    );
    let line = std::fs::read_to_string(&at).unwrap_or_default();
    assert!(
        out.status.success(),
        "{name}: the block at line {} ended with {}\n{}\n{}",
        line.trim(),
        out.status,
        printed(&dir, line.trim()),
        String::from_utf8_lossy(&out.stderr)
    );
    dir
}

/// What the block at `line` printed.
fn printed(dir: &Path, line: impl std::fmt::Display) -> String {
    let bytes = std::fs::read(dir.join(format!("at.{line}"))).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether what a block printed into `file` matches; `^` and `$` are ends of lines.
fn matches(file: &Path, pattern: &str) -> bool {
    let pattern = format!("(?m){pattern}");
    let grep = &mut Command::new("grep");
    let out = output(grep.args(["-Pzq", "-e", &pattern]).arg(file));
    let status = out.status.code();
    assert!(
        matches!(status, Some(0 | 1)),
        "`{pattern}`: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    status == Some(0)
}

/// The blocks that ran printed what the guide promises.
fn answers_are_as_told(name: &str, dir: &Path, ran: &[&Block]) {
    for block in ran {
        let line = block.line;
        let file = dir.join(format!("at.{line}"));
        let of = |patterns: &[String], must_match: bool| {
            for pattern in patterns {
                assert!(
                    matches(&file, pattern) == must_match,
                    "{name}: the block at line {line} {} `{pattern}`:\n{}",
                    if must_match { "lacks" } else { "shows" },
                    printed(dir, line)
                );
            }
        };
        of(&block.shows, true);
        of(&block.lacks, false);
    }
}

/// The words of the `sonde` commands in a block; quotes keep words together.
fn commands(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    lines
        .filter(|line| line.starts_with("sonde "))
        .map(|line| {
            let mut words = vec![String::new()];
            let mut quote = None;
            for c in line.chars() {
                match (quote, c) {
                    (None, '\'' | '"') => quote = Some(c),
                    (Some(q), c) if q == c => quote = None,
                    (None, ' ') => words.push(String::new()),
                    (_, c) => words.last_mut().expect("a word").push(c),
                }
            }
            words.retain(|w| !w.is_empty());
            words
        })
        .collect()
}

/// The expressions in a block's commands and, between backticks, in a page's text.
fn expressions(blocks: &[&Block], prose: &str) -> Vec<String> {
    let words = blocks
        .iter()
        .flat_map(|b| commands(&b.text))
        .flatten()
        .collect::<Vec<_>>();
    let spans = prose
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    [words, spans]
        .concat()
        .into_iter()
        // A metric says which way is better.
        .map(|text| {
            let asked = text.strip_suffix(":lower");
            let asked = asked.or_else(|| text.strip_suffix(":higher"));
            asked.unwrap_or(&text).to_owned()
        })
        .filter(|text| {
            let subject = text.split('.').next().unwrap_or_default();
            let is_file = [".png", ".svg", ".json", ".csv", ".md", ".parquet"]
                .iter()
                .any(|e| text.ends_with(e));
            text.contains('.') && !is_file && run::catalog::subject(subject).is_some()
        })
        .collect()
}

/// Asks `run` for an expression; only a table that the run lacks is an excuse.
fn can_be_asked(run: &Path, expression: &str) -> Result<(), String> {
    let out = output(sonde().arg("get").arg(run).arg(expression));
    let said = String::from_utf8_lossy(&out.stderr);
    if out.status.success() || said.contains("this run has no table") {
        Ok(())
    } else {
        Err(said.into_owned())
    }
}

/// Every picture that the blocks wrote is one.
fn pictures_are_there(work: &Path, blocks: &[&Block]) {
    for words in blocks.iter().flat_map(|b| commands(&b.text)) {
        let Some(at) = words.iter().position(|w| w == "-o") else {
            continue;
        };
        if words[1] == "plot" {
            let bytes = std::fs::read(work.join(&words[at + 1])).expect("a picture");
            let png = bytes.starts_with(b"\x89PNG\r\n\x1a\n");
            let svg = bytes.starts_with(b"<svg");
            assert!((png || svg) && bytes.len() > 2000, "{words:?}");
        }
    }
}

/// The blocks that were not left out.
fn ran<'b>(blocks: &'b [Block], left_out: &[usize]) -> Vec<&'b Block> {
    let ran = blocks.iter().enumerate();
    let ran = ran.filter(|(i, b)| b.language == "sh" && !left_out.contains(i));
    ran.map(|(_, b)| b).collect()
}

#[test]
fn every_command_of_the_guides_runs_and_answers() {
    let mut promises = 0;
    for path in guides() {
        let name = path.file_name().expect("a name").to_string_lossy();
        let page = std::fs::read_to_string(&path).expect("a page");
        let (blocks, _) = blocks(&page);
        let (script, left_out) = script(&name, &blocks);
        let dir = walk(&name, &script);
        let ran = ran(&blocks, &left_out);
        answers_are_as_told(&name, &dir, &ran);
        let told = blocks.iter().map(|b| b.shows.len() + b.lacks.len());
        promises += told.sum::<usize>();
        let good: Vec<&Block> = ran.into_iter().filter(|b| b.status == 0).collect();
        pictures_are_there(&dir.join("work"), &good);
        std::fs::remove_dir_all(&dir).expect("gone");
    }
    assert!(promises > 25, "only {promises} answers are looked at");
}

#[test]
fn every_expression_in_the_pages_can_be_asked() {
    let dir = scratch("guides-expressions");
    let run = dir.join("run");
    succeed(
        sonde()
            .arg("record")
            .arg("-o")
            .arg(&run)
            .args(["--every", "100ms", "--for", "300ms"]),
    );
    let mut asked = 0;
    for path in guides() {
        let page = std::fs::read_to_string(&path).expect("a page");
        let (of_page, prose) = blocks(&page);
        let good: Vec<&Block> = of_page.iter().filter(|b| b.status == 0).collect();
        for expression in expressions(&good, &prose) {
            asked += 1;
            if let Err(why) = can_be_asked(&run, &expression) {
                panic!("{}: `{expression}`: {why}", path.display());
            }
        }
    }
    assert!(asked > 80, "only {asked} expressions were found");
    std::fs::remove_dir_all(&dir).expect("gone");
}

/// Every Markdown page of the project.
fn all_pages(dir: &Path, found: &mut Vec<PathBuf>) {
    found.extend(pages(dir));
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        if entry.path().is_dir() {
            all_pages(&entry.path(), found);
        }
    }
}

#[test]
fn every_link_leads_to_a_file() {
    let mut found = pages(root());
    all_pages(&root().join("docs"), &mut found);
    let mut dead = Vec::new();
    let mut links = 0;
    for page in &found {
        let text = std::fs::read_to_string(page).expect("a page");
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            if !page.parent().expect("a directory").join(file).exists() {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(links > 5, "only {links} links were found");
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn a_page_is_read_as_it_is_written() {
    let (found, prose) = blocks(
        "a `cpu.time`\n```sh fails=2 needs=fio,root\nsonde get run \\\n  'cpu.time by cpu'\n```\nb\n",
    );
    assert_eq!(prose, "a `cpu.time`\nb\n");
    assert_eq!(found.len(), 1);
    let one = &found[0];
    assert_eq!((one.line, one.status, one.needs.len()), (2, 2, 2));
    assert_eq!(
        commands(&one.text),
        [["sonde", "get", "run", "cpu.time by cpu"]]
    );
    assert_eq!(expressions(&[one], &prose), ["cpu.time by cpu", "cpu.time"]);
}

#[test]
fn a_block_that_ends_otherwise_is_noticed() {
    for (page, good) in [
        ("```sh\ntrue\n```\n", true),
        ("```sh\nfalse\n```\n", false),
        ("```sh\nfalse\ntrue\n```\n", false),
        ("```sh fails=2\nexit 2\n```\n```sh\ntrue\n```\n", true),
        ("```sh fails=2\ntrue\n```\n", false),
        ("```sh fails=2\nexit 1\n```\n", false),
        (
            "```sh\nx=1\n```\n```text\nfalse\n```\n```sh\n[ $x = 1 ]\n```\n",
            true,
        ),
        ("```sh\necho $nothing\n```\n", false),
        // What is printed, of each block by itself.
        ("```sh\necho a 17\n```\n<!-- shows: ^a +17$ -->\n", true),
        ("```sh\necho a 17\n```\n<!-- shows: ^a +18$ -->\n", false),
        ("```sh\necho a 17\n```\n<!-- lacks: ^a +18$ -->\n", true),
        ("```sh\necho a 17\n```\n<!-- lacks: ^a +17$ -->\n", false),
        (
            "```sh\necho a\n```\n<!-- shows: a -->\n<!-- lacks: b -->\n```sh\necho b >&2\n```\n\
             text\n<!-- shows: b -->\n<!-- lacks: a -->\n",
            true,
        ),
        (
            "```sh\necho a\n```\n<!-- shows: b -->\n```sh\necho b\n```\n",
            false,
        ),
        (
            "```sh\necho a; echo b\n```\n<!-- shows: ^a$\\s^b$ -->\n",
            true,
        ),
        (
            "```sh fails=2\necho a; exit 2\n```\n<!-- shows: b -->\n",
            false,
        ),
    ] {
        let blocks = blocks(page).0;
        let (script, left_out) = script("page", &blocks);
        let ended = std::panic::catch_unwind(|| {
            let dir = walk("guides-itself", &script);
            answers_are_as_told("page", &dir, &ran(&blocks, &left_out));
        });
        assert_eq!(ended.is_ok(), good, "{page}");
    }
    std::fs::remove_dir_all(scratch("guides-itself")).expect("gone");
}
