//! Working out answers: few at a time, stopped when they take too long, kept for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use analysis::bounds::{Bounds, Over};
use axum::body::Bytes;
use axum::http::StatusCode;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;

use super::refused::Refused;

/// What answers may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How long one may be worked on.
    pub longest: Duration,
    /// How many are worked on at once; each uses all processors.
    pub at_once: usize,
    /// Groups of one.
    pub groups: usize,
    /// Cells of group and column of time of one; each takes 48 bytes.
    pub cells: usize,
    /// Bytes of answers kept.
    pub kept_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Limits {
            longest: Duration::from_secs(30),
            at_once: processors.min(4),
            groups: 2_000_000,
            cells: 6_000_000,
            kept_bytes: 64 << 20,
        }
    }
}

/// Answers kept, beside those that are large.
const MOST_KEPT: usize = 512;

type Cell = Arc<OnceCell<Bytes>>;

/// Works answers out, and keeps them.
#[derive(Debug)]
pub(super) struct Answers {
    limits: Limits,
    at_once: Arc<Semaphore>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    cells: HashMap<String, (Cell, u64)>,
    /// Counts up with each use.
    clock: u64,
}

/// Stops an answer that nobody waits for any more.
struct Stop(Arc<Bounds>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Answers {
    pub(super) fn new(limits: Limits) -> Answers {
        Answers {
            limits,
            at_once: Arc::new(Semaphore::new(limits.at_once.max(1))),
            kept: Mutex::default(),
        }
    }

    /// Does `work` within the limits, when its turn comes.
    pub(super) async fn work_out<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Bounds>) -> Result<T, Refused> + Send + 'static,
    ) -> Result<T, Refused> {
        let busy = || {
            let text = "too many answers are being worked out\nhint: try again in a moment";
            Refused::new(StatusCode::SERVICE_UNAVAILABLE, text)
        };
        let turn = self.at_once.clone().acquire_owned();
        let turn = timeout(self.limits.longest, turn).await;
        let Ok(Ok(turn)) = turn else {
            return Err(busy());
        };
        let bounds = Arc::new(Bounds::new(self.limits.groups, self.limits.cells));
        let stop = Stop(bounds.clone());
        let task = tokio::task::spawn_blocking(move || {
            let result = work(&bounds);
            // The next one's turn comes when this has really ended.
            drop(turn);
            result
        });
        let result = timeout(self.limits.longest, task).await;
        drop(stop);
        match result {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => {
                let text = "the answer could not be worked out: a fault of this program";
                Err(Refused::new(StatusCode::INTERNAL_SERVER_ERROR, text))
            }
            Err(_) => Err(analysis::Error::Over(Over::Stopped).into()),
        }
    }

    /// The answer kept by `key`; if there is none, `work` makes it, once for all who ask.
    pub(super) async fn kept(
        &self,
        key: String,
        work: impl FnOnce(&Arc<Bounds>) -> Result<Vec<u8>, Refused> + Send + 'static,
    ) -> Result<Bytes, Refused> {
        let cell = self.cell(key);
        let make = || async { self.work_out(work).await.map(Bytes::from) };
        let answer = cell.get_or_try_init(make).await.cloned();
        self.make_room();
        answer
    }

    fn cell(&self, key: String) -> Cell {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let now = kept.clock;
        let (cell, used) = kept.cells.entry(key).or_default();
        *used = now;
        cell.clone()
    }

    /// Forgets what was not used for longest, until the rest is within the limits.
    fn make_room(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let size = |cell: &Cell| cell.get().map_or(0, Bytes::len);
        let mut bytes: usize = kept.cells.values().map(|(cell, _)| size(cell)).sum();
        while bytes > self.limits.kept_bytes || kept.cells.len() > MOST_KEPT {
            let oldest = kept.cells.iter().min_by_key(|(_, (_, used))| *used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            if let Some((cell, _)) = kept.cells.remove(&key) {
                bytes -= size(&cell);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(future)
    }

    #[test]
    fn an_answer_is_worked_out_once_and_forgotten_in_time() {
        let answers = Answers::new(Limits {
            kept_bytes: 250,
            ..Limits::default()
        });
        let made = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let ask = |key: &str| {
            let made = made.clone();
            answers.kept(key.to_owned(), move |_| {
                made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                Ok(vec![0; 100])
            })
        };
        let count = || made.load(std::sync::atomic::Ordering::SeqCst);
        block_on(async {
            let (a, b) = tokio::join!(ask("a"), ask("a"));
            assert_eq!((a.unwrap().len(), b.unwrap().len(), count()), (100, 100, 1));
            ask("b").await.unwrap();
            ask("a").await.unwrap();
            assert_eq!(count(), 2);
            // The third is one too many; `b` was not used for longest.
            ask("c").await.unwrap();
            ask("a").await.unwrap();
            assert_eq!(count(), 3);
            ask("b").await.unwrap();
            assert_eq!(count(), 4);
        });
    }

    #[test]
    fn what_takes_too_long_is_stopped_and_its_turn_ends() {
        let answers = Answers::new(Limits {
            longest: Duration::from_millis(200),
            at_once: 1,
            ..Limits::default()
        });
        block_on(async {
            let endless = answers.work_out(|bounds: &Arc<Bounds>| -> Result<(), Refused> {
                while bounds.check().is_ok() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            });
            let refused = endless.await.unwrap_err();
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
            assert_eq!(answers.work_out(|_| Ok(7)).await, Ok(7));
            let patient = Answers::new(Limits::default());
            let fell = patient.work_out(|_| -> Result<(), Refused> { panic!("in a test") });
            assert_eq!(
                fell.await.unwrap_err().status,
                StatusCode::INTERNAL_SERVER_ERROR
            );
            assert_eq!(answers.work_out(|_| Ok(8)).await, Ok(8));
        });
    }
}
