//! `sonde view`: the web page of one or more runs, or of this host live.

mod browser;
mod names;
mod observe;

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Signal;
use surfaces::server::{
    Certificate, Limits, ServeError, Server, Settings, Showing, WITHOUT_PAGE, has_page,
};

use super::record::signals::Signals;
use super::{Entry, experiment, flag, option};
use crate::failure::Failure;
use crate::output;
use observe::Observer;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "view",
    about: "The web page: worksheets, heat maps, drill-down; of runs, or live",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(
            Arg::new("runs")
                .value_name("RUN")
                .action(ArgAction::Append)
                .value_parser(value_parser!(PathBuf))
                .value_hint(clap::ValueHint::DirPath)
                .help("Directories of runs; none: this host, live"),
        )
        .arg(
            option(
                "listen",
                "ADDRESS",
                "Address and port; port 0 takes a free one",
            )
            .default_value("127.0.0.1:0"),
        )
        .arg(flag("no-open", "Do not open a browser"))
        .arg(pem(
            "cert",
            "Certificate for TLS; beyond this machine one is made if none is given",
        ))
        .arg(pem("key", "Its key"))
        .arg(
            option("every", "TIME", "Live: interval of the samples, 10ms to 1h")
                .default_value("1s"),
        )
        .arg(
            option(
                "detail",
                "LEVEL",
                "Live: how deep to look, as of `sonde record`",
            )
            .value_parser(["samples", "distributions", "events"])
            .default_value("events"),
        )
        .arg(
            option(
                "sources",
                "LIST",
                "Live: only these sources, separated by commas",
            )
            .value_delimiter(','),
        )
        .after_help(
            "Prints an address that opens the page once; a fresh one is printed each time one\n\
             was used, for another browser. Ctrl-C ends it.\n\n\
             Examples:\n  sonde view RUN\n  sonde view BEFORE AFTER --no-open",
        )
}

fn pem(name: &'static str, help: &'static str) -> Arg {
    option(name, "FILE", help)
        .value_parser(value_parser!(PathBuf))
        .value_hint(clap::ValueHint::FilePath)
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let signals = Signals::catch().map_err(|e| Failure::work(format!("catching signals: {e}")))?;
    let paths: Vec<PathBuf> = matches
        .get_many::<PathBuf>("runs")
        .map(|p| p.cloned().collect())
        .unwrap_or_default();
    if let Some(failure) = paths.iter().find_map(|p| experiment::an_experiment(p)) {
        return Err(failure);
    }
    if !paths.is_empty() {
        of_live_only(matches)?;
    }
    let settings = Settings {
        listen: listen(matches)?,
        names: names::names(),
        addresses: names::addresses(),
        limits: Limits::default(),
        certificate: certificate(matches)?,
        keep_in: std::env::current_dir().map_err(Failure::work)?,
    };
    let (showing, observer) = if paths.is_empty() {
        let observer = Observer::start(matches)?;
        (Showing::Live(observer.live()), Some(observer))
    } else {
        (Showing::Runs(paths), None)
    };
    // Each browser uses an address up.
    let entered = |next: &str| output::data_if_read(&format!("{next}\n"));
    let server = Server::new(&settings, &showing, entered).map_err(|e| match e {
        ServeError::System(_) => Failure::work(e),
        ServeError::Listen { .. } | ServeError::Read(_) | ServeError::Tls(_) => Failure::input(e),
    })?;
    if !has_page() {
        output::message(WITHOUT_PAGE);
    }
    if let Some(fingerprint) = server.fingerprint() {
        output::message(&format!(
            "the certificate was made for this session; the browser asks about it once. SHA-256:\n\
             {fingerprint}"
        ));
    }
    let address = server.address();
    output::data(&format!("{address}\n"));
    let opened = (!matches.get_flag("no-open")).then(|| browser::open(&address));
    let end = server.end();
    let waiting = std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            wait_for_end(signals);
            // First, so that pages hear that the observation has ended.
            drop(observer);
            end.end();
        });
    waiting.map_err(Failure::work)?;
    server.run();
    drop(opened);
    Ok(ExitCode::SUCCESS)
}

/// What says how to observe has no meaning with runs.
fn of_live_only(matches: &ArgMatches) -> Result<(), Failure> {
    let given = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
    match ["every", "detail", "sources"].into_iter().find(given) {
        None => Ok(()),
        Some(name) => Err(Failure::input(format!(
            "--{name} is for observing this host live, not for a run\nhint: leave it out, or the run"
        ))),
    }
}

/// Waits for a signal that ends the program.
fn wait_for_end(mut signals: Signals) {
    loop {
        let come = {
            let fds: Vec<_> = signals.fds().collect();
            let mut wanted: Vec<PollFd<'_>> = fds
                .iter()
                .map(|fd| PollFd::new(fd, PollFlags::IN))
                .collect();
            if wanted.is_empty() {
                // All are ignored: only SIGKILL is left.
                std::thread::park();
                continue;
            }
            poll(&mut wanted, None)
        };
        if come.is_ok() && signals.come().into_iter().any(|s| s != Signal::WINCH) {
            return;
        }
    }
}

/// The user's own certificate.
fn certificate(matches: &ArgMatches) -> Result<Option<Certificate>, Failure> {
    let file = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    match (file("cert"), file("key")) {
        (Some(certificate), Some(key)) => Ok(Some(Certificate::Files { certificate, key })),
        (None, None) => Ok(None),
        _ => Err(Failure::input("--cert and --key belong together")),
    }
}

fn listen(matches: &ArgMatches) -> Result<SocketAddr, Failure> {
    let text = matches.get_one::<String>("listen").expect("has a default");
    let mut found = text.to_socket_addrs().map_err(|e| {
        Failure::input(format!(
            "--listen {text}: {e}\nhint: an address and a port, as 127.0.0.1:8080 or [::1]:0"
        ))
    })?;
    found
        .next()
        .ok_or_else(|| Failure::input(format!("--listen {text}: this name has no address")))
}
