//! Places for connections. Those without a session never take all of them: when there are too
//! many, the oldest of them ends, so that who has a session can always come in.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Connections at once; more wait.
const MOST: usize = 256;
/// How many of them may be without a session.
const MOST_OUTSIDE: usize = 128;

/// Connections that have not shown a session, the oldest first, each with what ends it.
type Outside = Arc<Mutex<VecDeque<Arc<Notify>>>>;

fn locked(outside: &Outside) -> MutexGuard<'_, VecDeque<Arc<Notify>>> {
    outside.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All places.
#[derive(Debug)]
pub(super) struct Places {
    room: Arc<Semaphore>,
    outside: Outside,
}

/// The place of a connection, free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    mark: Mark,
    _room: OwnedSemaphorePermit,
}

/// What a request knows of the connection that it came by.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    ended: Arc<Notify>,
    outside: Outside,
}

impl Places {
    /// All free.
    pub(super) fn new() -> Places {
        Places {
            room: Arc::new(Semaphore::new(MOST)),
            outside: Outside::default(),
        }
    }

    /// A place for one that has not shown a session yet, when there is one.
    pub(super) async fn take(&self) -> Place {
        {
            let mut outside = locked(&self.outside);
            if outside.len() >= MOST_OUTSIDE || self.room.available_permits() == 0 {
                outside.pop_front().inspect(|oldest| oldest.notify_one());
            }
        }
        let room = self.room.clone().acquire_owned().await;
        let mark = Mark {
            ended: Arc::default(),
            outside: self.outside.clone(),
        };
        locked(&self.outside).push_back(mark.ended.clone());
        Place {
            mark,
            _room: room.expect("it is never closed"),
        }
    }

    /// Waits until all are free.
    pub(super) async fn all_free(&self) {
        let all = u32::try_from(MOST).unwrap_or(u32::MAX);
        let _ = self.room.acquire_many(all).await;
    }
}

impl Place {
    /// For the requests of this connection.
    pub(super) fn mark(&self) -> Mark {
        self.mark.clone()
    }

    /// Waits until another needs the place more.
    pub(super) async fn ended(&self) {
        self.mark.ended.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.mark.has_session();
    }
}

impl Mark {
    /// The connection is no longer one of those without a session.
    pub(super) fn has_session(&self) {
        locked(&self.outside).retain(|one| !Arc::ptr_eq(one, &self.ended));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn is_ended(place: &Place) -> bool {
        timeout(Duration::from_millis(1), place.ended())
            .await
            .is_ok()
    }

    #[tokio::test]
    async fn the_oldest_without_a_session_makes_room() {
        let places = Places::new();
        let known = places.take().await;
        known.mark().has_session();
        let mut outside = Vec::new();
        for _ in 0..MOST_OUTSIDE {
            outside.push(places.take().await);
        }
        assert!(!is_ended(&outside[0]).await);
        let newest = places.take().await;
        assert!(is_ended(&outside[0]).await && !is_ended(&outside[1]).await);
        assert!(!is_ended(&known).await && !is_ended(&newest).await);
        // Those with a session may take the rest, and then one without goes too.
        drop(outside.remove(0));
        newest.mark().has_session();
        let mut inside = vec![known, newest];
        while inside.len() < MOST - outside.len() {
            inside.push(places.take().await);
            inside[inside.len() - 1].mark().has_session();
        }
        let left = outside.remove(0);
        assert!(!is_ended(&left).await);
        let waiting = tokio::spawn(async move { places.take().await });
        assert!(
            timeout(Duration::from_secs(9), left.ended()).await.is_ok(),
            "nobody made room"
        );
        drop(left);
        assert!(waiting.await.is_ok());
    }
}
