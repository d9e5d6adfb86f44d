//! Outputs of several tools in one file, as a script leaves them that runs these in turn.

use formats::{Format, Options};

use super::files::{Looked, Why, begin, look, open_as};
use super::inputs::Input;
use super::{Known, Wanted};
use crate::commands::record::signals::Signals;

/// What is in a file: of one format, or of several tools that were run in turn.
pub(super) fn look_at_all<'i>(
    wanted: &Wanted,
    input: &'i Input,
    options: &Options,
    signals: &mut Signals,
) -> Result<Vec<Looked<'i>>, Why> {
    let begun = begin(wanted, input)?;
    let together = begun.together.clone();
    if together.len() > 1 {
        let (parts, refused) = look_at_parts(input, &together, options, signals)?;
        if parts.len() > 1 {
            return Ok(parts);
        }
        // Of one only it can be said when: that, or what is to be asked.
        if let Err(not) = formats::recognise(&begun.head) {
            let mut why = not.to_string();
            for (format, reason) in refused {
                let reason = reason.replace('\n', "\n  ");
                why += &format!("\nas {}: {reason}", format.name);
            }
            return Err(Why::Refused(why));
        }
    }
    Ok(vec![look(begun, input, &[], options, signals)?])
}

/// Said of what stands below a date and another tool's output.
const LATER: &str =
    "it is taken to be of the dates above, though it was printed after what is between";

/// What stands in a remark on lines of another tool before the reason.
const NOT_READ: &str = "and not read: ";

/// Why a part of a file is not read as that.
type Reason = (&'static Format, String);

/// The outputs of tools in one file that tell when they were, and why others are not read: of those without times nobody can say
/// whether they are of the same time or came after one another.
fn look_at_parts<'i>(
    input: &'i Input,
    together: &[&'static Format],
    options: &Options,
    signals: &mut Signals,
) -> Result<(Vec<Looked<'i>>, Vec<Reason>), Why> {
    let mut look_at = |format: &&'static Format, elsewhere: &[&'static Format]| {
        let begun = open_as(input, Known::Listed(format))?;
        look(begun, input, elsewhere, options, signals)
    };
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for format in together {
        match look_at(format, together) {
            Ok(looked) if looked.times == "text" => found.push((*format, looked)),
            Ok(_) => {}
            Err(Why::Refused(why) | Why::Unknown(why)) => refused.push((*format, why)),
            Err(why) => return Err(why),
        }
    }
    let read: Vec<&'static Format> = found.iter().map(|(format, _)| *format).collect();
    // The first one tells the lines of those that are not read.
    if read.len() > 1 && read.len() < together.len() {
        found[0].1 = look_at(&read[0], &read)?;
        let report = &mut found[0].1.report;
        for (format, why) in &refused {
            let of = format!(" of {},", format.name);
            for note in report.notes.iter_mut().chain(&mut report.faults) {
                if let Some((lines, _)) = note.split_once(NOT_READ).filter(|n| n.0.contains(&of)) {
                    let why = why.replace('\n', "; ");
                    *note = format!("{lines}{NOT_READ}{why}");
                }
            }
        }
    }
    for (_, later) in found.iter_mut().skip(1) {
        later.report.notes.push(LATER.to_owned());
    }
    let found = found.into_iter().map(|(_, looked)| looked);
    Ok((found.collect(), refused))
}
