//! Lines of processors: shares by name, of each or of all, of NUMA nodes, or drawn.

use super::text::pairs;
use super::{Lines, Top};
use crate::Line;
use crate::cpu::{Shares, UNKNOWN};
use crate::number::decimal;
use crate::out::Out;

impl Top {
    /// `%Cpu(s): …`, `Cpu(s): …`, `%Cpu0  : …`, `%Node0 : …`, two of them side by side, or drawn.
    pub(super) fn processors(&mut self, line: &[u8], out: &mut Out) -> Line {
        let text = String::from_utf8_lossy(line).into_owned();
        let text = text
            .replace("CПроц.", "Cpu")
            .replace("CPU", "Cpu")
            .replace("Node", "Cpunode ");
        let mut seen = Line::Unknown;
        for part in text.split("Cpu").skip(1) {
            if let Some((before, _)) = part.split_once(['[', '|']) {
                match self.graph(before, out) {
                    Some(Line::Noise) if seen == Line::Data => {}
                    Some(found) => seen = found,
                    None => return Line::Unknown,
                }
                continue;
            }
            let Some((label, rest)) = part.split_once(':') else {
                return Line::Unknown;
            };
            let Some(pairs) = pairs(rest.trim_end_matches('%').as_bytes()) else {
                return Line::Unknown;
            };
            let share = |names: [&str; 2]| {
                let found = pairs.iter().find(|(n, _)| names.contains(&n.as_str()));
                found.map_or(f64::NAN, |(_, v)| v / 100.0)
            };
            let shares = Shares {
                user: share(["us", "user"]),
                system: share(["sy", "system"]),
                nice: share(["ni", "nice"]),
                idle: share(["id", "idle"]),
                iowait: share(["wa", "iowait"]),
                irq: share(["hi", "irq"]),
                softirq: share(["si", "softirq"]),
                steal: share(["st", "steal"]),
                ..UNKNOWN
            };
            if shares == UNKNOWN || shares.user.is_nan() {
                return Line::Unknown;
            }
            seen = Line::Data;
            let label = label.trim();
            if label.starts_with("node ") {
                // How many processors it has is not told.
                let node = out.word(label.as_bytes());
                let all = pairs.into_iter().map(|(name, share)| (name, node, share));
                self.now.others.extend(all);
                continue;
            }
            // Of all of them: `%Cpu(s)`, Swedish `%Cpu/er`, Polish and Korean `%Cpu`.
            let cpu = (!matches!(label, "(s)" | "/er" | "")).then(|| out.word(label.as_bytes()));
            if self.lines == Lines::OfProcessors
                && self.now.cpus.iter().any(|(known, _)| *known == cpu)
            {
                self.begin_bare(out);
            }
            self.now.cpus.push((cpu, shares));
        }
        seen
    }

    /// What stands before a graph: `0  :   6.7/0.3     7` or nothing. What counts as `us` and as `sy`
    /// there differs from version to version.
    fn graph(&mut self, text: &str, out: &mut Out) -> Option<Line> {
        let (label, shares) = text.split_once(':').unwrap_or((text, ""));
        let Some((user, rest)) = shares.split_once('/') else {
            return shares.trim().is_empty().then_some(Line::Noise);
        };
        let system = rest.split_whitespace().next()?;
        let label = match label.trim() {
            "(s)" => "all",
            label => label,
        };
        let cpu = out.word(label.as_bytes());
        for (column, share) in [("us", user), ("sy", system)] {
            let share = decimal(share.trim().as_bytes())?;
            self.now
                .others
                .push((format!("{column} of graph"), cpu, share));
        }
        Some(Line::Data)
    }
}
