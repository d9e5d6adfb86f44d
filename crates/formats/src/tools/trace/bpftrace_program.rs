//! What the program of a bpftrace command tells, where its command line was kept.

/// Whether that program clears the map of that name when it prints it; `None` where it does not
/// tell that it prints it at all.
pub(super) fn clears(program: &str, map: &str) -> Option<bool> {
    let calls = |function: &str| {
        let call = format!("{function}({map}");
        let mut ends = program.match_indices(&call).map(|(at, _)| at + call.len());
        ends.any(|end| program[end..].trim_start().starts_with([')', ',', '[']))
    };
    if ["clear", "zero", "delete"].iter().any(|f| calls(f)) {
        return Some(true);
    }
    calls("print").then_some(false)
}

/// Seconds of `interval:s:5`.
pub(super) fn interval(probe: &str) -> Option<f64> {
    let mut parts = probe.strip_prefix("interval:")?.split(':');
    let (unit, count) = (parts.next()?, parts.next()?);
    let count: f64 = count.parse().ok().filter(|n| *n > 0.0)?;
    Some(match unit {
        "s" => count,
        "ms" => count / 1e3,
        "us" => count / 1e6,
        "hz" => 1.0 / count,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_clear_what_they_print() {
        let program = "bpftrace -e 'k:f { @ = hist(1); @us = hist(2); @us2 = hist(3); } \
                       interval:s:1 { print(@); print(@us, 5); print( @x); clear(@us2); }'";
        assert_eq!(clears(program, "@"), Some(false));
        assert_eq!(clears(program, "@us"), Some(false));
        assert_eq!(clears(program, "@us2"), Some(true));
        assert_eq!(clears(program, "@none"), None);
        assert_eq!(clears("", "@us"), None);
    }
}
