//! Rows of a table as its readers get them: columns, borrowed where that can be.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal64Type, Float64Type, Int32Type, Int64Type, TimestampNanosecondType,
};
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use parquet::errors::ParquetError;

use crate::whole::Step;
use crate::{Nanos, seal};

/// Rows of a table, some columns of them.
pub struct Batch<'a> {
    /// End of the interval, one a row; never falling within a part. Of an event: when it
    /// happened, in any order.
    pub times: &'a [Nanos],
    /// True length of the interval in seconds, one a row; none of events.
    pub intervals: &'a [f64],
    /// The columns asked for, in the order asked for.
    pub columns: Vec<Values<'a>>,
}

/// Values of a column.
pub enum Values<'a> {
    /// Words: a number a row into `texts`, below zero for none.
    Words {
        /// Number a row.
        codes: &'a [i32],
        /// What the numbers mean.
        texts: Texts<'a>,
    },
    /// Numbers; NaN is "not known".
    Numbers(Cow<'a, [f64]>),
    /// Whole numbers of a table of events, all of them known.
    Whole(&'a [i64], Step),
}

/// What the codes of a word column mean.
#[derive(Clone, Copy)]
pub enum Texts<'a> {
    /// The dictionary of one batch.
    Batch(&'a StringArray),
    /// The words of a journal; a code keeps its meaning from batch to batch.
    Journal(&'a [Arc<str>]),
}

impl<'a> Texts<'a> {
    /// The text of `code`; empty for none.
    pub fn get(&self, code: i32) -> &'a str {
        let Ok(at) = usize::try_from(code) else {
            return "";
        };
        match self {
            Texts::Batch(texts) if at < texts.len() => texts.value(at),
            Texts::Journal(words) => words.get(at).map_or("", |w| w),
            Texts::Batch(_) => "",
        }
    }

    /// One more than the largest code.
    pub fn len(&self) -> usize {
        match self {
            Texts::Batch(texts) => texts.len(),
            Texts::Journal(words) => words.len(),
        }
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether codes mean the same in the next batch.
    pub fn are_lasting(&self) -> bool {
        matches!(self, Texts::Journal(_))
    }
}

/// The columns of `batch`, which is of a table of events or not.
pub(super) fn borrow_batch<'b>(
    batch: &'b RecordBatch,
    columns: &[&str],
    event: bool,
) -> Result<Batch<'b>, ParquetError> {
    let wrong = |name: &str| ParquetError::General(format!("column `{name}` has another type"));
    let column = |name: &str| batch.column_by_name(name).map(AsRef::as_ref);
    let times = column(seal::TIMESTAMP)
        .and_then(|c: &dyn Array| c.as_primitive_opt::<TimestampNanosecondType>())
        .ok_or_else(|| wrong(seal::TIMESTAMP))?;
    let intervals: &[f64] = if event {
        &[]
    } else {
        column("interval")
            .and_then(|c: &dyn Array| c.as_primitive_opt::<Float64Type>())
            .ok_or_else(|| wrong("interval"))?
            .values()
    };
    let mut values = Vec::with_capacity(columns.len());
    for name in columns {
        values.push(match column(name) {
            Some(array) => borrow_column(array, event).ok_or_else(|| wrong(name))?,
            None => Values::Numbers(Cow::Owned(vec![f64::NAN; batch.num_rows()])),
        });
    }
    Ok(Batch {
        times: times.values(),
        intervals,
        columns: values,
    })
}

fn borrow_column(array: &dyn Array, event: bool) -> Option<Values<'_>> {
    if let Some(words) = array.as_dictionary_opt::<Int32Type>() {
        let texts = words.values().as_string_opt::<i32>()?;
        return Some(Values::Words {
            codes: words.keys().values(),
            texts: Texts::Batch(texts),
        });
    }
    let whole = match array.data_type() {
        DataType::Int64 => Some((array.as_primitive::<Int64Type>().values(), Step::One)),
        DataType::Decimal64(_, 9) => {
            Some((array.as_primitive::<Decimal64Type>().values(), Step::Nano))
        }
        _ => None,
    };
    if let Some((values, step)) = whole {
        if event && array.null_count() == 0 {
            return Some(Values::Whole(values, step));
        }
        let mut values: Vec<f64> = values.iter().map(|&v| step.real(v)).collect();
        unknown(array, &mut values);
        return Some(Values::Numbers(Cow::Owned(values)));
    }
    let real = array.as_primitive_opt::<Float64Type>()?;
    if array.null_count() == 0 {
        return Some(Values::Numbers(Cow::Borrowed(real.values())));
    }
    let mut values = real.values().to_vec();
    unknown(array, &mut values);
    Some(Values::Numbers(Cow::Owned(values)))
}

/// Makes the nulls of `array` NaN in `values`.
fn unknown(array: &dyn Array, values: &mut [f64]) {
    if array.null_count() > 0 {
        for (i, value) in values.iter_mut().enumerate() {
            if array.is_null(i) {
                *value = f64::NAN;
            }
        }
    }
}
