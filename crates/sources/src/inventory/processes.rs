//! Which programs run, with their arguments. Only with `--with-arguments`: they may tell what
//! nobody should read.

use serde_json::Value;

use super::leaf::{Dir, Fields};
use super::secret::mask_words;
use crate::Host;

/// At most this many processes, those of least number.
const MOST: usize = 500;

/// The section `processes`: by process number. Kernel threads have no arguments and are left
/// out; so is everything unless it was asked for.
pub(super) fn take(host: &Host) -> Value {
    let mut all = Fields::default();
    if !host.with_arguments {
        return all.into();
    }
    let proc = Dir::new(host.root.join("proc"));
    let names = proc.names();
    let numbers = names
        .iter()
        .filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let mut found = 0;
    for number in numbers {
        let dir = proc.join(number);
        // One read gives at most a page, 4 KiB: enough to tell a program by.
        let Some(line) = dir.text("cmdline").filter(|line| !line.is_empty()) else {
            continue;
        };
        let arguments = line.split('\0');
        let mut fields = Fields::default();
        fields.put("name", dir.text("comm"));
        fields.put("arguments", Some(mask_words(arguments)));
        all.nest(number, fields);
        found += 1;
        if found == MOST {
            break;
        }
    }
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::tree::Tree;
    use serde_json::json;

    #[test]
    fn arguments_only_when_asked_for() {
        let tree = Tree::of(
            "> proc/12\ncmdline = srv\0--password\0hunter2\0-v\0\ncomm = srv\n> proc/2\ncmdline = \ncomm = kthreadd\n",
        );
        let mut host = tree.host();
        assert_eq!(take(&host), json!({}));
        host.with_arguments = true;
        let expected =
            json!({"12": {"name": "srv", "arguments": ["srv", "--password", "(masked)", "-v"]}});
        assert_eq!(take(&host), expected);
    }
}
