//! Series of several machines in one text, as a server's `/federate` has them.
//!
//! ```text
//! node_load1{instance="a:9100",job="node"} 0.5 1600000000000
//! node_load1{instance="b:9100",job="node"} 0.7 1600000003000
//! ```
//!
//! Who records series adds both labels. A metric may have an `instance` of its own.

use std::collections::HashMap;

use super::text::Sample;
use crate::time::Refused;

/// By metric: instance and job of the series that came first.
#[derive(Default)]
pub(super) struct Targets {
    of: HashMap<String, (String, String)>,
}

impl Targets {
    /// Looks at a sample of that line.
    ///
    /// # Errors
    /// Where the metric came of another machine.
    pub(super) fn look(&mut self, sample: &Sample, line: u64) -> Result<(), Refused> {
        let (Some(instance), Some(job)) = (sample.label("instance"), sample.label("job")) else {
            return Ok(());
        };
        // What batch jobs push has an empty one.
        if instance.is_empty() {
            return Ok(());
        }
        let Some((first, of)) = self.of.get(&sample.name) else {
            let target = (instance.to_owned(), job.to_owned());
            self.of.insert(sample.name.clone(), target);
            return Ok(());
        };
        // One machine may have several exporters.
        if first == instance || (of != job && host(first) == host(instance)) {
            return Ok(());
        }
        Err(Refused(format!(
            "it has series of several machines, instance=\"{first}\" and, in line {line}, \
             instance=\"{instance}\"\n\
             hint: import one of them: grep -v 'instance=\"{instance}\"' leaves the other out"
        )))
    }
}

/// `a` of `a:9100`.
fn host(instance: &str) -> &str {
    instance.rsplit_once(':').map_or(instance, |(host, _)| host)
}
