//! A column of a row group on its way: its pages, encoded, in memory.
//!
//! Pages are of version 1 (parquet-format, `README.md`, "Data Pages"): definition levels where a
//! value may be unknown, then the values, all of it compressed if that is worth it. A page's
//! header is a struct of Thrift's compact protocol.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Type, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::bits;
use super::dictionary::{Numbers, Texts, page_of_codes, page_of_runs};
use crate::{Nanos, Word};

/// What is stored compressed takes at most this share of what it would take. Codes of numbers
/// that are spread evenly shrink by a fifth, and that takes longer than all else with them.
const WORTH_IT: f64 = 0.65;

/// The level of zstd: the fastest that the format's libraries all have.
const LEVEL: i32 = 1;

/// Of so few numbers nobody can tell how many are different.
const FEW: usize = 1000;

/// What a page is made in; used again by each.
pub(super) struct Scratch {
    body: Vec<u8>,
    compressed: Vec<u8>,
    codes: Vec<u32>,
    /// Numbers that are known.
    known: Vec<f64>,
    compressor: zstd::bulk::Compressor<'static>,
}

impl Scratch {
    pub(super) fn new() -> std::io::Result<Scratch> {
        Ok(Scratch {
            body: Vec::new(),
            compressed: Vec::new(),
            codes: Vec::new(),
            known: Vec::new(),
            compressor: zstd::bulk::Compressor::new(LEVEL)?,
        })
    }
}

/// The cells of a page of one column.
#[derive(Clone, Copy)]
pub(super) enum Cells<'a> {
    /// Numbers of eight bytes, each so many times.
    Repeated(&'a [u64], usize),
    /// Numbers; NaN is one that is not known, if the column may have such.
    Numbers(&'a [f64]),
    /// So many numbers, none of them known.
    Unknown(usize),
    /// Words, all of them so many times over.
    Words(&'a [Word], usize),
}

impl Cells<'_> {
    fn len(&self) -> usize {
        match self {
            Cells::Repeated(numbers, each) => numbers.len() * each,
            Cells::Numbers(numbers) => numbers.len(),
            Cells::Unknown(count) => *count,
            Cells::Words(words, times) => words.len() * times,
        }
    }
}

/// A column of a row group.
pub(super) struct Chunk {
    descr: ColumnDescPtr,
    numbers: Numbers,
    texts: Texts,
    /// Nearly every number is another one: they are stored as they are.
    plain: bool,
    pages: Vec<u8>,
    /// Rows so far.
    rows: usize,
    /// Bytes of pages and their headers before compression.
    whole: usize,
    /// How it is compressed; the first page says.
    codec: Option<Compression>,
    encodings: Vec<Encoding>,
}

/// A column of a row group that is ready to be written: its bytes are the dictionary's page and
/// the other pages. Where they begin is counted from there.
pub(super) struct Encoded {
    pub(super) dictionary: Vec<u8>,
    pub(super) pages: Vec<u8>,
    descr: ColumnDescPtr,
    rows: usize,
    whole: usize,
    codec: Compression,
    encodings: Vec<Encoding>,
}

impl Chunk {
    pub(super) fn new(descr: ColumnDescPtr) -> Chunk {
        Chunk {
            descr,
            numbers: Numbers::new(),
            texts: Texts::default(),
            plain: false,
            pages: Vec::new(),
            rows: 0,
            whole: 0,
            codec: None,
            encodings: vec![Encoding::RLE],
        }
    }

    fn may_be_unknown(&self) -> bool {
        self.descr.max_def_level() > 0
    }

    /// Bytes that wait for the row group to end.
    pub(super) fn size(&self) -> usize {
        self.pages.len()
    }

    /// Adds a page.
    pub(super) fn page(&mut self, cells: Cells<'_>, scratch: &mut Scratch) -> std::io::Result<()> {
        if cells.len() == 0 {
            return Ok(());
        }
        scratch.body.clear();
        let known = if self.may_be_unknown() {
            levels(cells, &mut scratch.body)
        } else {
            cells.len()
        };
        let encoding = self.values(cells, known, scratch);
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
        self.rows += cells.len();
        let header = Header::Values(cells.len(), encoding);
        let codec = match self.codec {
            Some(codec) => codec,
            None => *self.codec.insert(worth(scratch)?),
        };
        self.whole += put(header, codec, scratch, &mut self.pages)?;
        Ok(())
    }

    /// Puts the known values of a page; in which encoding.
    fn values(&mut self, cells: Cells<'_>, known: usize, scratch: &mut Scratch) -> Encoding {
        let Scratch { body, codes, .. } = scratch;
        codes.clear();
        match cells {
            Cells::Words(words, times) => {
                codes.extend(words.iter().map(|word| self.texts.code(*word)));
                page_of_codes(codes, times, self.texts.len(), body);
            }
            Cells::Repeated(numbers, each) => return self.repeated(numbers, each, scratch),
            _ if known == 0 => return Encoding::PLAIN,
            Cells::Unknown(_) => return Encoding::PLAIN,
            Cells::Numbers(numbers) => {
                return self.numbers(numbers, known, scratch);
            }
        }
        Encoding::RLE_DICTIONARY
    }

    /// Numbers of which so many are known.
    fn numbers(&mut self, numbers: &[f64], known: usize, scratch: &mut Scratch) -> Encoding {
        let Scratch {
            body,
            codes,
            known: those,
            ..
        } = scratch;
        let those = if known == numbers.len() {
            numbers
        } else {
            those.clear();
            those.extend(numbers.iter().filter(|n| !n.is_nan()));
            &*those
        };
        if self.plain {
            plain(those.iter().map(|n| n.to_bits()), known, body);
            return Encoding::PLAIN;
        }
        let before = self.numbers.len();
        codes.resize(those.len(), 0);
        for (code, number) in codes.iter_mut().zip(those) {
            *code = self.numbers.code(number.to_bits());
        }
        self.look_at(self.numbers.len() - before, known);
        if self.plain && (before == 0 || self.numbers.is_full()) {
            plain(those.iter().map(|n| n.to_bits()), known, body);
            if before == 0 {
                self.numbers.clear();
            }
            return Encoding::PLAIN;
        }
        page_of_codes(codes, 1, self.numbers.len(), body);
        Encoding::RLE_DICTIONARY
    }

    fn repeated(&mut self, numbers: &[u64], each: usize, scratch: &mut Scratch) -> Encoding {
        let Scratch { body, codes, .. } = scratch;
        let is_whole = self.descr.physical_type() == Type::INT64;
        let different = 1 + numbers.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let apart = is_whole && different * 4 > numbers.len() * each;
        if !apart && !self.plain {
            let before = self.numbers.len();
            codes.extend(numbers.iter().map(|bits| self.numbers.code(*bits)));
            self.look_at(self.numbers.len() - before, numbers.len() * each);
            if !self.numbers.is_full() {
                page_of_runs(codes, each, self.numbers.len(), body);
                return Encoding::RLE_DICTIONARY;
            }
        }
        let all = numbers.iter().flat_map(|n| std::iter::repeat_n(*n, each));
        if is_whole {
            let all: Vec<i64> = all.map(|n| n as i64).collect();
            bits::differences(&all, body);
            return Encoding::DELTA_BINARY_PACKED;
        }
        plain(all, numbers.len() * each, body);
        Encoding::PLAIN
    }

    /// Whether numbers are worth a dictionary from here on, of so many of which so many were
    /// new.
    fn look_at(&mut self, new: usize, count: usize) {
        self.plain |= new * 8 > count * 7 && count > FEW || self.numbers.is_full();
    }

    /// Takes the room of what was written for the next row group.
    pub(super) fn reuse(&mut self, encoded: Encoded) {
        self.pages = encoded.pages;
        self.pages.clear();
    }

    /// The row group ends; what comes next is of another. `texts` are all words.
    pub(super) fn end(
        &mut self,
        texts: &[Arc<str>],
        scratch: &mut Scratch,
    ) -> std::io::Result<Encoded> {
        let mut dictionary = Vec::new();
        let codec = self.codec.take().unwrap_or(Compression::UNCOMPRESSED);
        let used = self.encodings.contains(&Encoding::RLE_DICTIONARY);
        if used {
            scratch.body.clear();
            self.numbers.plain(&mut scratch.body);
            self.texts.plain(texts, &mut scratch.body);
            let header = Header::Dictionary(self.numbers.len() + self.texts.len());
            self.whole += put(header, codec, scratch, &mut dictionary)?;
            self.encodings.push(Encoding::PLAIN);
        }
        // What the last one was like the next will be: no dictionary is tried for nothing.
        self.plain = self.plain && !used;
        self.numbers.clear();
        self.texts.clear();
        Ok(Encoded {
            dictionary,
            pages: std::mem::take(&mut self.pages),
            descr: Arc::clone(&self.descr),
            rows: std::mem::take(&mut self.rows),
            whole: std::mem::take(&mut self.whole),
            codec,
            encodings: std::mem::replace(&mut self.encodings, vec![Encoding::RLE]),
        })
    }
}

impl Encoded {
    /// Bytes in the file.
    pub(super) fn length(&self) -> usize {
        self.dictionary.len() + self.pages.len()
    }

    /// What the footer says of it, where it begins at `at` in the file.
    pub(super) fn described(
        &self,
        at: u64,
        range: Option<(Nanos, Nanos)>,
    ) -> Result<ColumnChunkMetaData, ParquetError> {
        let pages = at as i64 + self.dictionary.len() as i64;
        let mut encodings = self.encodings.clone();
        encodings.dedup();
        let mut made = ColumnChunkMetaData::builder(Arc::clone(&self.descr))
            .set_encodings(encodings)
            .set_compression(self.codec)
            .set_num_values(self.rows as i64)
            .set_total_compressed_size(self.length() as i64)
            .set_total_uncompressed_size(self.whole as i64)
            .set_data_page_offset(pages)
            .set_dictionary_page_offset((!self.dictionary.is_empty()).then_some(at as i64));
        if let Some((least, most)) = range {
            let range = Statistics::int64(Some(least), Some(most), None, Some(0), false);
            made = made.set_statistics(range);
        }
        made.build()
    }
}

/// Definition levels with their length before them; how many values are known.
fn levels(cells: Cells<'_>, body: &mut Vec<u8>) -> usize {
    let count = cells.len();
    let from = body.len();
    body.extend_from_slice(&[0; 4]);
    let known = match cells {
        Cells::Unknown(_) => 0,
        Cells::Numbers(numbers) => numbers.iter().filter(|n| !n.is_nan()).count(),
        _ => count,
    };
    match cells {
        Cells::Numbers(numbers) if known > 0 && known < count => {
            bits::known(numbers, body);
        }
        _ => bits::run(u32::from(known > 0), count, 1, body),
    }
    let length = (body.len() - from - 4) as u32;
    if let Some(to) = body.get_mut(from..from + 4) {
        to.copy_from_slice(&length.to_le_bytes());
    }
    known
}

fn plain(numbers: impl Iterator<Item = u64>, count: usize, body: &mut Vec<u8>) {
    let from = body.len();
    body.resize(from + count * 8, 0);
    let (places, _) = body[from..].as_chunks_mut::<8>();
    for (place, number) in places.iter_mut().zip(numbers) {
        *place = number.to_le_bytes();
    }
}

/// Whether a page like this one is worth compressing.
fn worth(scratch: &mut Scratch) -> std::io::Result<Compression> {
    compress(scratch)?;
    let (whole, less) = (scratch.body.len(), scratch.compressed.len());
    Ok(if less as f64 <= whole as f64 * WORTH_IT {
        Compression::ZSTD(ZstdLevel::default())
    } else {
        Compression::UNCOMPRESSED
    })
}

fn compress(scratch: &mut Scratch) -> std::io::Result<()> {
    let Scratch {
        body,
        compressed,
        compressor,
        ..
    } = scratch;
    compressed.clear();
    compressed.reserve(zstd::zstd_safe::compress_bound(body.len()));
    compressor.compress_to_buffer(body, compressed)?;
    Ok(())
}

/// What a page is.
#[derive(Clone, Copy)]
enum Header {
    Values(usize, Encoding),
    Dictionary(usize),
}

/// Adds a page with its header to `pages`; its bytes before compression.
fn put(
    header: Header,
    codec: Compression,
    scratch: &mut Scratch,
    pages: &mut Vec<u8>,
) -> std::io::Result<usize> {
    let content = if codec == Compression::UNCOMPRESSED {
        &scratch.body
    } else {
        compress(scratch)?;
        &scratch.compressed
    };
    let whole = scratch.body.len();
    if i32::try_from(whole.max(content.len())).is_err() {
        return Err(std::io::Error::other("a page is too large"));
    }
    let from = pages.len();
    // Each field: how far its number is from the last one's, and its type.
    let whole_number = |number: usize, out: &mut Vec<u8>| {
        out.push(0x15);
        bits::zigzag(number as i64, out);
    };
    let kind = match header {
        Header::Values(..) => 0,
        Header::Dictionary(_) => 2,
    };
    for number in [kind, whole, content.len()] {
        whole_number(number, pages);
    }
    match header {
        Header::Values(count, encoding) => {
            pages.push(0x2c);
            let rle = Encoding::RLE as usize;
            for number in [count, encoding as usize, rle, rle] {
                whole_number(number, pages);
            }
        }
        Header::Dictionary(count) => {
            pages.push(0x4c);
            for number in [count, Encoding::PLAIN as usize] {
                whole_number(number, pages);
            }
        }
    }
    pages.extend_from_slice(&[0, 0]);
    let head = pages.len() - from;
    pages.extend_from_slice(content);
    Ok(head + whole)
}
