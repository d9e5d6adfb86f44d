//! Energy and heat.

use super::{PLAIN, Subject, UnlessNamed, dense, level, sum, word};
use crate::Unit::{Celsius, Joules};

pub(super) const POWER: Subject = Subject {
    name: "power",
    help: "Energy, as the processor meters it (RAPL).",
    measures: &[sum("energy", Joules, "Energy used; per second, watts.")],
    dimensions: &[
        word(
            "domain",
            "What is metered: package-0, package-0/dram, psys.",
        ),
        word(
            "layer",
            "package (counted once), part (listed below a package; its energy holds core and \
             uncore, not dram), platform (psys).",
        ),
    ],
    tables: &[dense("power", "power", &["domain", "layer"], &["energy"])],
    unless_named: &[UnlessNamed {
        dimensions: &["domain", "layer"],
        dimension: "layer",
        value: "package",
    }],
    ..PLAIN
};

pub(super) const TEMPERATURE: Subject = Subject {
    name: "temperature",
    help: "Temperatures (hwmon). Ask by sensor: a sum of temperatures means nothing.",
    measures: &[level(
        "celsius",
        Celsius,
        "Temperature of the sensor, at most two seconds old.",
    )],
    dimensions: &[
        word("chip", "Name of the chip, and of its device: nvme/nvme0."),
        word("sensor", "Label of the sensor."),
    ],
    tables: &[dense(
        "temperature",
        "temperature",
        &["chip", "sensor"],
        &["celsius"],
    )],
    ..PLAIN
};
