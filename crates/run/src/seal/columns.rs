//! Columns on their way from blocks of a journal to Arrow arrays.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, Decimal64Array, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
};
use parquet::errors::ParquetError;

use super::{Amounts, DIGITS};
use crate::catalog::Column;
use crate::journal::{Numbers, RowsBlock};
use crate::whole::Step;
use crate::{Unit, Word};

/// The largest whole number with as many digits as a decimal has.
const LARGEST: i64 = 10_i64.pow(DIGITS.0 as u32) - 1;

/// Values of a column.
pub(super) enum Kept {
    Words(Vec<i32>),
    Real(Vec<f64>),
    /// Of events.
    Whole(Vec<Option<i64>>, Step),
}

impl Kept {
    pub(super) fn new(column: &Column, event: bool) -> Kept {
        match column {
            Column::Dimension(d) if d.number.is_none() => Kept::Words(Vec::new()),
            Column::Dimension(d) if event && d.number == Some(Unit::Seconds) => {
                Kept::Whole(Vec::new(), Step::Nano)
            }
            Column::Measure(m) if event => Kept::Whole(Vec::new(), Step::of(m.unit)),
            _ => Kept::Real(Vec::new()),
        }
    }

    /// Takes the column `name` of a block; `rows` are the rows after it, known or not.
    pub(super) fn push(&mut self, block: &RowsBlock<'_>, name: &str, rows: usize) {
        let numbers = || {
            let place = block.schema.numbers.iter().position(|c| c == name);
            place.map(|i| &block.numbers[i])
        };
        match self {
            Kept::Words(codes) => {
                if let Some(i) = block.schema.words.iter().position(|c| c == name) {
                    codes.extend_from_slice(&block.words[i]);
                }
                codes.resize(rows, -1);
            }
            Kept::Real(values) => {
                if let Some(numbers) = numbers() {
                    values.extend_from_slice(&numbers.real());
                }
                values.resize(rows, f64::NAN);
            }
            Kept::Whole(values, step) => {
                let within = |v: i64| v.clamp(-LARGEST, LARGEST);
                match numbers() {
                    Some(Numbers::Whole(whole, of)) if of == step => {
                        values.extend(whole.iter().map(|v| Some(within(*v))));
                    }
                    Some(other) => {
                        let real = other.real();
                        values.extend(real.iter().map(|v| step.whole(*v).map(within)));
                    }
                    None => {}
                }
                values.resize(rows, None);
            }
        }
    }

    /// Takes words of a column of rows.
    pub(super) fn push_words(&mut self, column: Option<&Vec<Word>>, range: Range<usize>) {
        if let (Kept::Words(codes), Some(column)) = (self, column) {
            codes.extend(column[range].iter().map(|w| w.0 as i32));
        }
    }

    /// Takes numbers of a column of rows.
    pub(super) fn push_values(&mut self, column: Option<&Vec<f64>>, range: Range<usize>) {
        let Some(column) = column else { return };
        match self {
            Kept::Words(_) => {}
            Kept::Real(values) => values.extend_from_slice(&column[range]),
            Kept::Whole(values, step) => {
                let within = |v: i64| v.clamp(-LARGEST, LARGEST);
                values.extend(column[range].iter().map(|v| step.whole(*v).map(within)));
            }
        }
    }

    pub(super) fn array(
        self,
        column: &Column,
        event: bool,
        amounts: Amounts,
        words: &[Arc<str>],
    ) -> Result<ArrayRef, ParquetError> {
        Ok(match (self, column) {
            (Kept::Words(codes), _) => dictionary(&codes, words),
            (Kept::Whole(values, Step::One), _) => Arc::new(Int64Array::from(values)),
            (Kept::Whole(values, Step::Nano), _) => {
                let (digits, decimals) = DIGITS;
                let array = Decimal64Array::from(values);
                let array = array.with_precision_and_scale(digits, decimals);
                Arc::new(array.map_err(|e| ParquetError::General(e.to_string()))?)
            }
            (Kept::Real(values), Column::Dimension(_)) if event => {
                let known = |v: f64| (!v.is_nan()).then(|| v.round_ties_even());
                Arc::new(values.into_iter().map(known).collect::<Float64Array>())
            }
            (Kept::Real(values), Column::Dimension(_)) => Arc::new(Float64Array::from(values)),
            (Kept::Real(values), Column::Measure(m)) => {
                let known = values.into_iter().map(|v| (!v.is_nan()).then_some(v));
                if amounts.whole(m.unit, m.kind) {
                    let whole = known.map(|v| v.map(|v| v.round() as i64));
                    Arc::new(whole.collect::<Int64Array>())
                } else {
                    Arc::new(known.collect::<Float64Array>())
                }
            }
        })
    }
}

/// Word numbers of the journal as an Arrow dictionary of only the words in this batch.
fn dictionary(codes: &[i32], words: &[Arc<str>]) -> ArrayRef {
    let mut local: HashMap<i32, i32> = HashMap::new();
    let mut texts: Vec<&str> = Vec::new();
    // Most rows have the word of the one before.
    let mut last: Option<(i32, i32)> = None;
    let mut key = |code: i32| match last {
        Some((same, key)) if same == code => key,
        _ => {
            let key = *local.entry(code).or_insert_with(|| {
                let text = usize::try_from(code).ok().and_then(|c| words.get(c));
                texts.push(text.map_or("", |t| t));
                texts.len() as i32 - 1
            });
            last = Some((code, key));
            key
        }
    };
    let keys: Vec<i32> = codes.iter().map(|code| key(*code)).collect();
    let values = Arc::new(StringArray::from(texts));
    Arc::new(DictionaryArray::<Int32Type>::new(
        Int32Array::from(keys),
        values,
    ))
}
