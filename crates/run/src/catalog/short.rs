//! Short forms, so that a subject reads as a list.

use super::{Derived, Detail, Dimension, Kind, Measure, Stored, Subject, Table, Under};
use crate::Unit;

pub(super) const fn sum(name: &'static str, unit: Unit, help: &'static str) -> Measure {
    Measure {
        name,
        unit,
        kind: Kind::Sum,
        help,
    }
}

pub(super) const fn level(name: &'static str, unit: Unit, help: &'static str) -> Measure {
    Measure {
        name,
        unit,
        kind: Kind::Level,
        help,
    }
}

pub(super) const fn peak(name: &'static str, unit: Unit, help: &'static str) -> Measure {
    Measure {
        name,
        unit,
        kind: Kind::Peak,
        help,
    }
}

pub(super) const fn word(name: &'static str, help: &'static str) -> Dimension {
    Dimension {
        name,
        number: None,
        step: None,
        help,
    }
}

pub(super) const fn number(name: &'static str, unit: Unit, help: &'static str) -> Dimension {
    Dimension {
        name,
        number: Some(unit),
        step: None,
        help,
    }
}

/// A number of bytes in whole sectors, in which the block layer counts whatever the device has.
pub(super) const fn sectors(name: &'static str, help: &'static str) -> Dimension {
    Dimension {
        step: Some(512.0),
        ..number(name, Unit::Bytes, help)
    }
}

/// A sample table in which every instance has a row in every interval.
pub(super) const fn dense(
    name: &'static str,
    source: &'static str,
    dimensions: &'static [&'static str],
    measures: &'static [&'static str],
) -> Table {
    Table {
        name,
        detail: Detail::Sample,
        dimensions,
        measures,
        made: &[],
        sums: &[],
        source,
        sparse: false,
    }
}

/// A sample table that leaves instances with nothing to say out.
pub(super) const fn sparse(
    name: &'static str,
    source: &'static str,
    dimensions: &'static [&'static str],
    measures: &'static [&'static str],
) -> Table {
    Table {
        sparse: true,
        ..dense(name, source, dimensions, measures)
    }
}

/// A table with a row for each bucket that is not empty.
pub(super) const fn histogram(
    name: &'static str,
    source: &'static str,
    dimensions: &'static [&'static str],
    measures: &'static [&'static str],
) -> Table {
    Table {
        detail: Detail::Histogram,
        ..sparse(name, source, dimensions, measures)
    }
}

/// A table with a row an event.
pub(super) const fn events(
    name: &'static str,
    source: &'static str,
    dimensions: &'static [&'static str],
    made: &'static [(&'static str, Stored)],
    sums: &'static [(&'static str, &'static [&'static str])],
) -> Table {
    Table {
        detail: Detail::Event,
        made,
        sums,
        ..sparse(name, source, dimensions, &[])
    }
}

pub(super) const fn ratio(
    name: &'static str,
    unit: Unit,
    over: &'static str,
    under: &'static [&'static str],
    help: &'static str,
) -> Derived {
    Derived {
        name,
        unit,
        over,
        under: Under::Sum(under),
        times: 1.0,
        or: None,
        of_whole: false,
        without: None,
        exact: None,
        help,
    }
}

impl Derived {
    /// The same, a share of the whole where what is below the line is not kept by what is named.
    pub(super) const fn of_whole(self) -> Derived {
        Derived {
            of_whole: true,
            ..self
        }
    }

    /// The same, by another statistic where nothing has both by what is named.
    pub(super) const fn or(self, under: &'static str) -> Derived {
        Derived {
            or: Some(under),
            ..self
        }
    }

    /// The same, by a table in which what is above the line is exact.
    pub(super) const fn exact_in(self, table: &'static str) -> Derived {
        Derived {
            exact: Some(table),
            ..self
        }
    }

    /// The same, of all but some words of a dimension.
    pub(super) const fn without(
        self,
        dimension: &'static str,
        words: &'static [&'static str],
    ) -> Derived {
        Derived {
            without: Some((dimension, words)),
            ..self
        }
    }
}

pub(super) const fn share_of_time(
    name: &'static str,
    over: &'static str,
    help: &'static str,
) -> Derived {
    Derived {
        name,
        unit: Unit::Ratio,
        over,
        under: Under::Elapsed,
        times: 1.0,
        or: None,
        of_whole: false,
        without: None,
        exact: None,
        help,
    }
}

/// How many things there were on average, by the time of all of them added up.
pub(super) const fn mean_number(
    name: &'static str,
    over: &'static str,
    help: &'static str,
) -> Derived {
    Derived {
        name,
        unit: Unit::Count,
        over,
        under: Under::Elapsed,
        times: 1.0,
        or: None,
        of_whole: false,
        without: None,
        exact: None,
        help,
    }
}

/// A subject with nothing in it, to name only what it has.
pub(super) const PLAIN: Subject = Subject {
    name: "",
    help: "",
    measures: &[],
    dimensions: &[],
    tables: &[],
    derived: &[],
    also: &[],
    unless_named: &[],
    kinds: &[],
};
