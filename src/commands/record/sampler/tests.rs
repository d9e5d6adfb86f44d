use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// Counts how often it is gathered from; whether it need be.
struct Counting(Arc<AtomicU32>, bool);

impl Source for Counting {
    fn sample(&mut self, _: Option<f64>, _: &mut Sink) -> std::io::Result<()> {
        Ok(())
    }

    fn gather(&mut self) -> std::io::Result<bool> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(self.1)
    }
}

#[test]
fn what_could_run_over_is_gathered_between_samples_that_are_far_apart() {
    let clock = RunClock::start();
    for is_narrow in [true, false] {
        let gathered = Arc::new(AtomicU32::new(0));
        let source = Box::new(Counting(gathered.clone(), is_narrow));
        let mut sampler = Sampler {
            observed: vec![Observed::new(&SOURCES[0], Ok(source))],
            events: Budget::new(&sources::Look::default(), 3600.0),
            spells: Spells::new(3600.0),
            sink: Sink::new(),
            own: Own::new(),
            every: 3600.0,
        };
        let (observed, sink) = (&mut sampler.observed[0], &mut sampler.sink);
        observed.read(&clock, None, 0, sink);
        let due = observed.last + GATHER_AFTER;
        assert_eq!(sampler.due(), due);
        sampler.between(&clock);
        assert_eq!(gathered.load(Ordering::Relaxed), 0, "it was just read");
        // As if that time had passed.
        sampler.observed[0].gather = clock.now();
        sampler.between(&clock);
        assert_eq!(gathered.load(Ordering::Relaxed), 1);
        let next = sampler.due();
        assert!(if is_narrow {
            next >= due
        } else {
            next == Nanos::MAX
        });
    }
}
