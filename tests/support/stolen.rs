//! Whether the processors of this machine, where it is a virtual one, were another's for a while.
//!
//! Then what was to take microseconds takes milliseconds, at either end of what a test compares: a
//! recording is right, and yet not what the test supposes. The kernel counts that time.

use std::time::{Duration, Instant};

/// Of the time of all processors as much may be another's, in a test that compares microseconds:
/// three times what a machine loses that is as quiet as its host lets it be.
const MUCH: f64 = 0.01;

/// Looks at the processors from now on.
pub(crate) struct Stolen {
    before: Duration,
    since: Instant,
}

impl Stolen {
    pub(crate) fn from_now() -> Stolen {
        Stolen {
            before: counted(),
            since: Instant::now(),
        }
    }

    /// Which share of their time was another's, if that is much.
    pub(crate) fn much(&self) -> Option<f64> {
        let all = self.since.elapsed().as_secs_f64() * processors();
        let share = counted().saturating_sub(self.before).as_secs_f64() / all;
        (share > MUCH).then_some(share)
    }
}

/// Waits for a second in which little is another's, a minute at most.
pub(crate) fn wait_for_a_calm_second() {
    for _ in 0..60 {
        let now = Stolen::from_now();
        std::thread::sleep(Duration::from_secs(1));
        if now.much().is_none() {
            return;
        }
    }
}

/// Time of all processors that was another's, since the machine was started.
fn counted() -> Duration {
    let text = std::fs::read_to_string("/proc/stat").expect("the kernel counts");
    let all = text.lines().next().and_then(|l| l.strip_prefix("cpu "));
    let stolen = all.and_then(|l| l.split_whitespace().nth(7));
    // In hundredths of a second, on every kernel.
    let stolen: u64 = stolen.map_or(0, |n| n.parse().expect("a number"));
    Duration::from_millis(stolen * 10)
}

fn processors() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64)
}
