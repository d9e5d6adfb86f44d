//! Compression and archives, told by their first bytes.

use std::io::{self, BufRead, BufReader, Cursor, Read};

/// The first bytes of a stream; fewer only if it is shorter.
pub(super) fn first_bytes(from: &mut dyn Read, most: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    from.take(most as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The same of a compressed stream that may be cut off there: what can be unpacked.
pub(super) fn first_unpacked(from: &mut dyn Read, most: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    match from.take(most as u64).read_to_end(&mut head) {
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof || head.is_empty() => Err(e),
        _ => Ok(head),
    }
}

/// A stream without its compression.
pub(super) struct Unpacked<'r> {
    pub(super) from: Box<dyn Read + Send + 'r>,
    /// It had one.
    pub(super) was_packed: bool,
}

/// The stream without its compression, if it begins as a compressed one.
pub(super) fn decompressed<'r>(mut from: Box<dyn Read + Send + 'r>) -> io::Result<Unpacked<'r>> {
    let head = first_bytes(&mut from, 6)?;
    let whole = Box::new(Cursor::new(head.clone()).chain(from));
    let unpacked: Box<dyn Read + Send + 'r> = match head[..] {
        [0x1f, 0x8b, ..] => Box::new(Members::new(Member::gzip, whole)),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Box::new(Members::new(Member::bzip2, whole)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => {
            Box::new(liblzma::read::XzDecoder::new_multi_decoder(whole))
        }
        // The second is a frame that is skipped, as `pzstd` writes one first.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Box::new(zstd::Decoder::new(whole)?)
        }
        _ => {
            return Ok(Unpacked {
                from: whole,
                was_packed: false,
            });
        }
    };
    Ok(Unpacked {
        from: unpacked,
        was_packed: true,
    })
}

/// What is compressed, and where the next one may begin.
type Rest<'r> = BufReader<Box<dyn Read + Send + 'r>>;

/// Bytes that are read at a time.
const PIECE: usize = 32 << 10;

/// One of several that stand one after the other, as `cat a.gz b.gz` puts them.
enum Member<'r> {
    Gzip(Box<flate2::bufread::GzDecoder<Rest<'r>>>),
    Bzip2(bzip2::bufread::BzDecoder<Rest<'r>>),
}

impl<'r> Member<'r> {
    fn gzip(rest: Rest<'r>) -> Member<'r> {
        Member::Gzip(Box::new(flate2::bufread::GzDecoder::new(rest)))
    }

    fn bzip2(rest: Rest<'r>) -> Member<'r> {
        Member::Bzip2(bzip2::bufread::BzDecoder::new(rest))
    }

    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Member::Gzip(member) => member.read(to),
            Member::Bzip2(member) => member.read(to),
        }
    }

    fn rest(self) -> Rest<'r> {
        match self {
            Member::Gzip(member) => member.into_inner(),
            Member::Bzip2(member) => member.into_inner(),
        }
    }
}

/// All of them. Zeros behind one are none of it: tapes and disks are filled up with them.
struct Members<'r> {
    begin: fn(Rest<'r>) -> Member<'r>,
    now: Option<Member<'r>>,
}

impl<'r> Members<'r> {
    fn new(begin: fn(Rest<'r>) -> Member<'r>, from: Box<dyn Read + Send + 'r>) -> Members<'r> {
        let rest = BufReader::with_capacity(PIECE, from);
        Members {
            begin,
            now: Some(begin(rest)),
        }
    }
}

impl Read for Members<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.now {
            let count = member.read(to)?;
            if count > 0 || to.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.now.take().map(Member::rest) else {
                break;
            };
            if goes_on(&mut rest)? {
                self.now = Some((self.begin)(rest));
            }
        }
        Ok(0)
    }
}

/// Whether anything but zeros follows, which are skipped.
fn goes_on(rest: &mut Rest<'_>) -> io::Result<bool> {
    loop {
        let bytes = rest.fill_buf()?;
        let (length, zeros) = (bytes.len(), bytes.iter().take_while(|b| **b == 0).count());
        rest.consume(zeros);
        if zeros < length {
            return Ok(true);
        }
        if length == 0 {
            return Ok(false);
        }
    }
}

/// How an archive of zip begins.
pub(super) const ZIP: &[u8] = b"PK\x03\x04";

/// How long a header of tar is.
pub(super) const TAR_HEADER: usize = 512;

/// Whether a file that begins so is an archive of tar: of POSIX, or one of older programs, which
/// has a sum over its header and nothing else.
pub(super) fn is_tar(head: &[u8]) -> bool {
    let Some(head) = head.get(..TAR_HEADER) else {
        return false;
    };
    let digits = head[148..156].trim_ascii_start();
    let digits = digits.iter().take_while(|b| (b'0'..=b'7').contains(b));
    let told = digits.fold(0_i64, |sum, b| sum * 8 + i64::from(b - b'0'));
    let is_sum = |place: &usize| !(148..156).contains(place);
    let bytes = || head.iter().enumerate().filter(|(at, _)| is_sum(at));
    let blanks = 8 * i64::from(b' ');
    let sum = blanks + bytes().map(|(_, b)| i64::from(*b)).sum::<i64>();
    // Some programs added them as numbers with a sign.
    let signed = blanks
        + bytes()
            .map(|(_, b)| i64::from(b.cast_signed()))
            .sum::<i64>();
    head.get(257..262) == Some(b"ustar") || (head[0] != 0 && (told == sum || told == signed))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pack = fn(&[u8]) -> Vec<u8>;

    fn packed() -> [(&'static str, Pack); 4] {
        fn all(mut from: impl Read) -> Vec<u8> {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).expect("packed");
            bytes
        }
        [
            ("gzip", |text| {
                all(flate2::read::GzEncoder::new(
                    text,
                    flate2::Compression::default(),
                ))
            }),
            ("bzip2", |text| {
                all(bzip2::read::BzEncoder::new(
                    text,
                    bzip2::Compression::fast(),
                ))
            }),
            ("xz", |text| all(liblzma::read::XzEncoder::new(text, 6))),
            ("zstd", |text| {
                let mut packed = zstd::Encoder::new(Vec::new(), 3).expect("zstd");
                packed.include_checksum(true).expect("zstd");
                io::Write::write_all(&mut packed, text).expect("packed");
                packed.finish().expect("packed")
            }),
        ]
    }

    fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>, io::ErrorKind> {
        let mut text = Vec::new();
        let from = decompressed(Box::new(Cursor::new(bytes))).map_err(|e| e.kind())?;
        assert!(from.was_packed);
        let mut from = from.from;
        from.read_to_end(&mut text).map_err(|e| e.kind())?;
        Ok(text)
    }

    #[test]
    fn one_after_the_other_is_one_text() {
        for (name, pack) in packed() {
            let all = [pack(b"first\n"), pack(b""), pack(b"second\n")].concat();
            assert_eq!(
                unpacked(all).as_deref(),
                Ok(&b"first\nsecond\n"[..]),
                "{name}"
            );
        }
    }

    #[test]
    fn zeros_behind_are_left_out() {
        for (name, pack) in packed().into_iter().take(3) {
            for zeros in [4, 512, 100_000] {
                let padded = [pack(b"first\n"), vec![0; zeros]].concat();
                assert_eq!(unpacked(padded).as_deref(), Ok(&b"first\n"[..]), "{name}");
            }
        }
        // Anything else is none of it, and no end.
        for (name, pack) in packed() {
            let more = [pack(b"first\n"), b"second\n".to_vec()].concat();
            assert!(unpacked(more).is_err(), "{name}");
        }
    }

    /// What is cut off is told from what is damaged.
    #[test]
    fn damage_is_no_end() {
        let text: Vec<u8> = (0..50_000_u32)
            .flat_map(|i| i.wrapping_mul(i).to_le_bytes())
            .collect();
        for (name, pack) in packed() {
            let whole = pack(&text);
            let cut = whole[..whole.len() - 5].to_vec();
            assert_eq!(unpacked(cut), Err(io::ErrorKind::UnexpectedEof), "{name}");
            // Of each the sums of what is in it are told: in the middle, or at the end.
            let mut damaged = whole.clone();
            let at = match name {
                "gzip" => whole.len() - 6,
                _ => whole.len() / 2,
            };
            damaged[at] ^= 0x55;
            let found = unpacked(damaged);
            assert!(
                found.is_err() && found != Err(io::ErrorKind::UnexpectedEof),
                "{name}: {found:?}"
            );
        }
    }

    #[test]
    fn a_frame_that_is_skipped_comes_first() {
        let frame = [&[0x5a, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], b"skip"].concat();
        let text = zstd::encode_all(&b"first\n"[..], 3).expect("packed");
        let found = unpacked([frame, text].concat());
        assert_eq!(found.as_deref(), Ok(&b"first\n"[..]));
    }

    #[test]
    fn archives_of_old_programs_have_a_sum() {
        let mut header = tar::Header::new_old();
        header.set_path("vmstat.out").expect("a name");
        header.set_size(3);
        header.set_cksum();
        let bytes = header.as_bytes();
        assert_ne!(bytes.get(257..262), Some(&b"ustar"[..]));
        assert!(is_tar(bytes));
        let mut other = *bytes;
        other[0] ^= 1;
        assert!(!is_tar(&other) && !is_tar(&bytes[..511]));
        assert!(!is_tar(&[0; 512]) && !is_tar(&[b' '; 512]) && !is_tar(&[b'7'; 512]));
    }
}
