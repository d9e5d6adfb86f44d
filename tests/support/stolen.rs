//! Whether the processors of this machine, where it is a virtual one, were another's for a while.
//!
//! Then what was to take microseconds takes milliseconds, at either end of what a test compares: a
//! recording is right, and yet not what the test supposes. The kernel counts that time.

use std::time::Duration;

/// Of the time of all processors as much may be another's, in a test that compares microseconds:
/// three times what a machine loses that is as quiet as its host lets it be.
const MUCH: f64 = 0.01;

/// Looks at the processors from now on.
pub(crate) struct Stolen {
    before: Times,
}

impl Stolen {
    pub(crate) fn from_now() -> Stolen {
        Stolen {
            before: Times::now(),
        }
    }

    /// Which share of their time was another's, if that is much.
    pub(crate) fn much(&self) -> Option<f64> {
        let now = Times::now();
        let all = now.all - self.before.all;
        let share = (now.stolen - self.before.stolen) / all.max(1.0);
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

/// Ticks of all processors since the machine was started.
struct Times {
    all: f64,
    stolen: f64,
}

impl Times {
    fn now() -> Times {
        let text = std::fs::read_to_string("/proc/stat").expect("the kernel counts");
        let line = text.lines().next().and_then(|l| l.strip_prefix("cpu "));
        let ticks = line.expect("all processors").split_whitespace();
        // User, nice, system, idle, iowait, irq, softirq, steal; guests are in the first two.
        let ticks: Vec<f64> = ticks
            .take(8)
            .map(|n| n.parse().expect("a number"))
            .collect();
        Times {
            all: ticks.iter().sum(),
            stolen: ticks[7],
        }
    }
}
