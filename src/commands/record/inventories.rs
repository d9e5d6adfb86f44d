//! The machine and its settings, taken while the recording starts and again when it ends.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use run::manifest::Change;
use run::write::write_durably;
use sources::Host;
use sources::inventory::{self, Difference, Inventory};

use crate::output;

/// The inventory at the start, taken and written beside everything else.
pub(super) struct Inventories {
    place: mpsc::Sender<PathBuf>,
    receive: mpsc::Receiver<()>,
    thread: Option<JoinHandle<Inventory>>,
    /// What was found at the start, and what changed by the end.
    taken: Option<(Inventory, Vec<Difference>)>,
}

impl Inventories {
    pub(super) fn start(host: &Host) -> Inventories {
        let (send, receive) = mpsc::channel();
        let (place, dir) = mpsc::channel::<PathBuf>();
        let host = host.clone();
        // Without a thread there is no inventory.
        let thread = std::thread::Builder::new()
            .name("inventory".into())
            .spawn(move || {
                let taken = inventory::take(&host);
                let _ = send.send(());
                // Without a run there is no place.
                if let Ok(dir) = dir.recv() {
                    write_inventory(&dir, &taken, None);
                }
                taken
            });
        Inventories {
            place,
            receive,
            thread: thread.ok(),
            taken: None,
        }
    }

    /// Has it written into the run's directory.
    pub(super) fn write_into(&self, dir: PathBuf) {
        // Who took it and fell over does not write.
        let _ = self.place.send(dir);
    }

    pub(super) fn wait(&mut self, most: Duration) {
        let _ = self.receive.recv_timeout(most);
    }

    /// Waits until it no longer writes anything.
    pub(super) fn end(self) {
        self.thread.map(JoinHandle::join);
    }

    /// Answers with what changed since the start, and adds it to `inventory.json`.
    pub(super) fn finish(&mut self, host: &Host, dir: &Path) -> Vec<Change> {
        let Some(start) = self.thread.take().and_then(|t| t.join().ok()) else {
            return vec![];
        };
        let changes = inventory::differences(&start, &inventory::take(host));
        if !changes.is_empty() && dir.join("run.json").exists() {
            write_inventory(dir, &start, Some(&changes));
        }
        let text = |v: Option<serde_json::Value>| {
            v.map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
        };
        let change = |d: &Difference| Change {
            path: d.path.clone(),
            before: text(d.before.clone()),
            after: text(d.after.clone()),
        };
        let described = changes.iter().map(change).collect();
        self.taken = Some((start, changes));
        described
    }

    /// Writes what [`Inventories::finish`] had into another directory.
    pub(super) fn write_again(&self, dir: &Path) {
        if let Some((start, changes)) = &self.taken {
            let changes = Some(changes.as_slice()).filter(|c| !c.is_empty());
            write_inventory(dir, start, changes);
        }
    }
}

fn write_inventory(dir: &Path, taken: &Inventory, changes: Option<&[Difference]>) {
    let mut text = format!("{:#}", taken.document(changes));
    text.push('\n');
    if let Err(e) = write_durably(&dir.join("inventory.json"), text.as_bytes()) {
        output::message(&format!("the inventory could not be written: {e}"));
    }
}
