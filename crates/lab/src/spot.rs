//! Where one setting lives: how it is read, written and recognised again.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::KnobError;

/// What tells the thing that carries a setting from another of the same name. Fields by name;
/// all of them must be the same for a value to be put back.
pub(crate) type Identity = BTreeMap<String, String>;

/// The field of an [`Identity`] that names a network namespace. A setting of another
/// namespace than ours is put back from inside it.
pub(crate) const NETWORK_NAMESPACE: &str = "network namespace";

/// The values a knob can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these words.
    Words(Vec<String>),
    /// A whole number from the first to the second, both allowed.
    Numbers(i64, i64),
    /// A whole number; the kernel decides which.
    Number,
    /// Any text; the kernel decides which.
    Text,
}

impl Values {
    /// For people: `none mq-deadline`, `0 to 4096`.
    pub fn described(&self) -> String {
        match self {
            Values::Words(words) => words.join(" "),
            Values::Numbers(least, most) => match (*least, *most) {
                (least, i64::MAX) => format!("{least} or more"),
                (least, most) => format!("{least} to {most}"),
            },
            Values::Number => "a whole number".to_owned(),
            Values::Text => "a text".to_owned(),
        }
    }

    /// Whether `value` can be one of them.
    pub fn allow(&self, value: &str) -> bool {
        match self {
            Values::Words(words) => words.iter().any(|w| w == value),
            Values::Numbers(least, most) => {
                number(value).is_some_and(|n| (i128::from(*least)..=i128::from(*most)).contains(&n))
            }
            Values::Number => number(value).is_some(),
            // The kernel reads a line: what ends it would end the value.
            Values::Text => !value.contains('\0'),
        }
    }
}

/// A place that holds one setting.
pub(crate) trait Spot: Debug + Send + Sync {
    /// The present value, as it would be written.
    fn read(&self) -> Result<String, KnobError>;

    /// Writes a value; whether the kernel kept it is seen by reading.
    fn write(&self, value: &str) -> Result<(), KnobError>;

    /// Puts `value`, read earlier, in the place of what is there now. Differs from writing
    /// where a file holds a line a device, or two files exclude each other.
    fn put_back(&self, value: &str) -> Result<(), KnobError> {
        self.write(value)
    }

    /// What carries the setting.
    fn identity(&self) -> Result<Identity, KnobError>;

    /// What it can be set to.
    fn values(&self) -> Values;

    /// Whether this process may write here, as far as that can be told without writing.
    fn writable(&self) -> Result<(), KnobError>;

    /// What a person types into a root shell to write `value`.
    fn command(&self, value: &str) -> String;

    /// Whether two texts are the same value.
    fn same(&self, one: &str, other: &str) -> bool {
        same(one, other)
    }

    /// Whether `now` is what `was` at the start; stricter than the same value where that is
    /// all there is to it.
    fn is_back(&self, now: &str, was: &str) -> bool {
        self.same(now, was)
    }

    /// Other knobs whose values this one disturbs: they are journaled with it.
    fn companions(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether the value outlives a restart of the machine.
    fn lasts(&self) -> bool {
        false
    }
}

/// `text` with blanks between words made single and none around lines.
pub(crate) fn normal(text: &str) -> String {
    let lines = text.trim().lines();
    let lines = lines.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the kernel means the same by both: numbers by their value (`64k` is 65536), flags
/// by theirs (`Y` is 1), texts by their words.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (normal(one), normal(other));
    if one == other {
        return true;
    }
    match (number(&one), number(&other)) {
        (Some(a), Some(b)) => a == b,
        _ => matches!((flag(&one), flag(&other)), (Some(a), Some(b)) if a == b),
    }
}

/// A whole number in decimal or hexadecimal, with a suffix of powers of 1024 as the kernel's
/// `memparse` takes them.
pub(crate) fn number(text: &str) -> Option<i128> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(i128::from);
    }
    let shift = match text.chars().last()?.to_ascii_lowercase() {
        'k' => 10,
        'm' => 20,
        'g' => 30,
        't' => 40,
        _ => 0,
    };
    let digits = if shift > 0 {
        &text[..text.len() - 1]
    } else {
        text
    };
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let whole: i128 = digits.parse().ok()?;
    whole.checked_mul(1 << shift)
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "Y" | "y" | "1" => Some(true),
        "N" | "n" | "0" => Some(false),
        _ => None,
    }
}

/// `text` as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_the_kernel_means_them() {
        for (one, other, equal) in [
            ("64", " 64\n", true),
            ("4096\t87380\t6291456", "4096 87380 6291456", true),
            ("64k", "65536", true),
            ("0x40", "64", true),
            ("Y", "1", true),
            ("N", "0", true),
            ("-1", "-1", true),
            ("64", "63", false),
            ("max", "max 100000", false),
            ("", "0", false),
            ("99999999999999999999", "99999999999999999999", true),
            ("99999999999999999999", "99999999999999999998", false),
            ("18446744073709551615", "-1", false),
        ] {
            assert_eq!(same(one, other), equal, "{one} {other}");
        }
    }

    #[test]
    fn ranges_hold_their_ends() {
        let values = Values::Numbers(0, 8);
        assert!(values.allow("0") && values.allow("8"));
        assert!(!values.allow("9") && !values.allow("-1") && !values.allow("x"));
    }

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quoted("mq-deadline"), "mq-deadline");
        assert_eq!(quoted("write back"), "'write back'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
