//! What tools of AIX have in common: the line that says how the partition is configured.

use crate::fields;
use crate::number::number;

/// A number that `System configuration: lcpu=8 drives=1 ent=2.00 paths=1` tells; NaN if it does not.
/// AIX 5.3, and `vmstat -c`, write `Configuration`.
pub(super) fn configured(line: &[u8], name: &str) -> Option<f64> {
    let line = line.trim_ascii();
    let told = ["System configuration:", "System Configuration:"];
    let rest = told.iter().find_map(|t| line.strip_prefix(t.as_bytes()))?;
    let value = |f: &[u8]| number(f.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?);
    Some(fields(rest).find_map(value).unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::configured;

    #[test]
    fn what_the_configuration_tells() {
        let line = b"System configuration: lcpu=8 drives=1 ent=0.50 paths=2";
        assert_eq!(configured(line, "lcpu"), Some(8.0));
        assert_eq!(configured(line, "ent"), Some(0.5));
        assert!(configured(line, "mem").is_some_and(f64::is_nan));
        assert_eq!(configured(b"lcpu=8", "lcpu"), None);
    }
}
