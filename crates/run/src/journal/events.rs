//! The block of rows of a table of events.
//!
//! Events come by the hundred thousand a second, so their block is made for the compressor:
//! times as differences, and every column in [planes](super::planes). Payload: table's place
//! in the schema `u16`, rows `u32`, first time `i64`, then a column of differences between
//! times (the first is 0), each word column, and each number column after its form `u8`:
//! whole numbers of the base unit, whole nanoseconds, or the bits of float64.

use super::planes::{self, Planes};
use super::read::{Columns, Numbers, Payload, RowsBlock, Wanted};
use super::{EVENTS, TableSchema, block, take_u32};
use crate::catalog::{self, Column};
use crate::rows::Rows;
use crate::whole::Step;

/// Rows of a block. A reader holds one block decoded, a writer the numbers of a column.
pub(super) const MOST_ROWS: usize = 1 << 16;

const WHOLE: u8 = 0;
const NANO: u8 = 1;
const FLOAT: u8 = 2;

/// Buffers for the numbers of a column.
#[derive(Default)]
struct Scratch {
    whole: Vec<i64>,
    bits: Vec<u64>,
}

/// Appends `rows` of the table at `place`, in blocks.
pub(super) fn encode(place: u16, rows: &Rows, out: &mut Vec<u8>) {
    // A source that pushes columns itself and forgets one loses rows, not the recorder.
    let words = rows.words.iter().map(Vec::len);
    let values = rows.values.iter().map(Vec::len);
    let count = words.chain(values).fold(rows.len(), usize::min);
    debug_assert_eq!(count, rows.len(), "columns of {}", rows.table.name);
    let mut scratch = Scratch::default();
    let mut from = 0;
    while from < count {
        let to = count.min(from + MOST_ROWS);
        block(EVENTS, out, |out| {
            out.extend_from_slice(&place.to_le_bytes());
            encode_block(rows, from..to, &mut scratch, out);
        });
        from = to;
    }
}

fn encode_block(
    rows: &Rows,
    range: std::ops::Range<usize>,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) {
    let Scratch { whole, bits } = scratch;
    let times = &rows.times[range.clone()];
    out.extend_from_slice(&(times.len() as u32).to_le_bytes());
    let first = times.first().copied().unwrap_or(0);
    out.extend_from_slice(&first.to_le_bytes());
    whole.clear();
    let mut before = first;
    whole.extend(
        times
            .iter()
            .map(|t| t.wrapping_sub(std::mem::replace(&mut before, *t))),
    );
    planes::encode(whole, bits, out);
    for column in &rows.words {
        let column = constant_as_one(&column[range.clone()], |w| w.0);
        whole.clear();
        whole.extend(column.iter().map(|w| i64::from(w.0)));
        planes::encode(whole, bits, out);
    }
    for (column, step) in rows.values.iter().zip(steps(rows)) {
        let column = constant_as_one(&column[range.clone()], |v| v.to_bits());
        whole.clear();
        if step.wholes(column, whole) {
            out.push(if step == Step::Nano { NANO } else { WHOLE });
        } else {
            out.push(FLOAT);
            whole.extend(column.iter().map(|v| v.to_bits() as i64));
        }
        planes::encode(whole, bits, out);
    }
}

/// The column, or its first value alone if all are the same: half of the columns of most blocks
/// are, they are encoded as that value, and it is found in a quarter of the time.
fn constant_as_one<T, B: PartialEq>(column: &[T], bits: impl Fn(&T) -> B) -> &[T] {
    let Some(first) = column.first().map(&bits) else {
        return column;
    };
    // Without an early end within a piece: many at a time.
    let same = |piece: &[T]| piece.iter().fold(true, |same, v| same & (bits(v) == first));
    let is_constant = column.chunks(1024).all(same);
    if is_constant { &column[..1] } else { column }
}

/// The step of each number column.
fn steps(rows: &Rows) -> impl Iterator<Item = Step> {
    let columns = catalog::table(rows.table.name).into_iter();
    let columns = columns.flat_map(|(subject, table)| catalog::columns(subject, table));
    columns.filter_map(|c| match c {
        Column::Dimension(d) => d.number.map(Step::of),
        Column::Measure(m) => Some(Step::of(m.unit)),
    })
}

/// Reads a payload. Columns that are not wanted stay empty.
pub(super) fn decode<'s>(
    payload: &[u8],
    schema: &'s [TableSchema],
    wanted: Wanted<'_, '_>,
) -> Payload<'s> {
    let mut rest = payload;
    let Some((schema, count)) = decode_head(&mut rest, schema) else {
        return Payload::Damaged;
    };
    let Some(columns) = wanted(&schema.name) else {
        return Payload::NotWanted;
    };
    match decode_columns(rest, schema, count, columns) {
        Some(rows) => Payload::Rows(rows),
        None => Payload::Damaged,
    }
}

fn decode_head<'s>(
    rest: &mut &[u8],
    schema: &'s [TableSchema],
) -> Option<(&'s TableSchema, usize)> {
    let place = rest.split_off(..2)?;
    let schema = schema.get(usize::from(u16::from_le_bytes(place.try_into().ok()?)))?;
    let count = take_u32(rest)? as usize;
    (count <= MOST_ROWS).then_some((schema, count))
}

fn decode_columns<'s>(
    mut rest: &[u8],
    schema: &'s TableSchema,
    count: usize,
    columns: Columns<'_>,
) -> Option<RowsBlock<'s>> {
    let mut time = i64::from_le_bytes(rest.split_off(..8)?.try_into().ok()?);
    let mut times = Planes::take(&mut rest, count)?.decode(count);
    for delta in &mut times {
        time = time.wrapping_add(*delta);
        *delta = time;
    }
    let mut words = Vec::with_capacity(schema.words.len());
    for name in &schema.words {
        let planes = Planes::take(&mut rest, count)?;
        let mut column = Vec::new();
        if columns.has(name) {
            column.extend(planes.decode(count).into_iter().map(|w| w as i32));
        }
        words.push(column);
    }
    let mut numbers = Vec::with_capacity(schema.numbers.len());
    for name in &schema.numbers {
        numbers.push(number_column(&mut rest, count, columns.has(name))?);
    }
    rest.is_empty().then_some(RowsBlock {
        schema,
        times,
        intervals: Vec::new(),
        words,
        numbers,
    })
}

fn number_column(rest: &mut &[u8], count: usize, wanted: bool) -> Option<Numbers> {
    let form = rest.split_off_first().copied()?;
    let planes = Planes::take(rest, count)?;
    if !wanted {
        return Some(Numbers::Real(Vec::new()));
    }
    let numbers = planes.decode(count);
    match form {
        WHOLE => Some(Numbers::Whole(numbers, Step::One)),
        NANO => Some(Numbers::Whole(numbers, Step::Nano)),
        FLOAT => {
            let real = numbers.into_iter().map(|v| f64::from_bits(v as u64));
            Some(Numbers::Real(real.collect()))
        }
        _ => None,
    }
}

impl Columns<'_> {
    fn has(&self, name: &str) -> bool {
        match self {
            Columns::All => true,
            Columns::Only(names) => names.contains(&name),
        }
    }
}
