//! Values that may be secret are not kept.
//!
//! Options and kernel parameters are read for what they set; a few carry credentials. The
//! name of such a one is kept, its value is not.

/// What stands in place of a masked value.
pub(super) const MASK: &str = "(masked)";

/// Whether a parameter of this name may hold a secret.
pub(super) fn suggests_secret(name: &str) -> bool {
    // `iommu.passthrough` and its like are settings of performance.
    let name = name.to_ascii_lowercase().replace("passthrough", "");
    ["pass", "secret", "token", "key", "cred", "pwd"]
        .iter()
        .any(|word| name.contains(word))
}

/// One `name=value` or other word, with what may be secret in it masked.
pub(super) fn mask_word(word: &str) -> String {
    match word.split_once('=') {
        Some((name, _)) if suggests_secret(name) => format!("{name}={MASK}"),
        _ => mask_address(word),
    }
}

/// `scheme://user:password@host` without the password, wherever in the word it stands.
pub(super) fn mask_address(word: &str) -> String {
    let mut masked = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(start) = rest.find("//").map(|at| at + 2) {
        let end = rest[start..].find('/').map_or(rest.len(), |n| start + n);
        let host = &rest[start..end];
        let secret = host
            .rfind('@')
            .and_then(|at| host[..at].find(':').map(|colon| (colon, at)));
        masked.push_str(&rest[..start]);
        match secret {
            Some((colon, at)) => {
                masked.push_str(&host[..=colon]);
                masked.push_str(MASK);
                masked.push_str(&host[at..]);
            }
            None => masked.push_str(host),
        }
        rest = &rest[end..];
    }
    masked + rest
}

/// Words of a command, masked: `--token=x` and `--token x` both lose their `x`.
pub(super) fn mask_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<String> {
    let mut masked = Vec::new();
    let mut value_is_secret = false;
    for word in words {
        let is_option = word.starts_with('-');
        masked.push(if value_is_secret && !is_option {
            MASK.to_owned()
        } else {
            mask_word(word)
        });
        value_is_secret = is_option && !word.contains('=') && suggests_secret(word);
    }
    masked
}

/// The words of a kernel command line; blanks within double quotes do not part words.
pub(super) fn command_line_words(line: &str) -> Vec<&str> {
    let mut quoted = false;
    line.split(|c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    })
    .filter(|word| !word.is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_settings_stay() {
        let line = r#"root=/dev/vda iommu.passthrough=1 my.Password="a b" quiet -- --token abc --api-key=x --v 2"#;
        assert_eq!(
            mask_words(command_line_words(line)).join(" "),
            "root=/dev/vda iommu.passthrough=1 my.Password=(masked) quiet -- --token (masked) --api-key=(masked) --v 2"
        );
    }

    #[test]
    fn passwords_in_addresses_go() {
        for (word, expected) in [
            ("//files/share", "//files/share"),
            ("nfs:/export@1", "nfs:/export@1"),
            ("https://joe@host/x", "https://joe@host/x"),
            (
                "https://joe:pw@host/x:y@z",
                "https://joe:(masked)@host/x:y@z",
            ),
            ("ks=ftp://a:b@c@host", "ks=ftp://a:(masked)@host"),
            (
                "m=http://a/,ftp://b:c@d/e",
                "m=http://a/,ftp://b:(masked)@d/e",
            ),
            ("a////", "a////"),
            ("addr=10.0.0.1", "addr=10.0.0.1"),
        ] {
            assert_eq!(mask_word(word), expected);
        }
    }
}
