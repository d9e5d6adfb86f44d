//! Outputs of several tools in one file, as a script leaves them that runs these in turn.

use formats::{Beside, Format, Options};

use super::begun::{Why, begin, open_as};
use super::files::{Looked, look};
use super::inputs::Input;
use super::{Known, Wanted};
use crate::commands::record::signals::Signals;

/// Said of what stands below a date and another tool's output.
const LATER: &str =
    "it is taken to be of the dates above, though it was printed after what is between";

/// What is in a file: of one format, or of several tools that were run in turn.
pub(super) fn look_at_all<'i>(
    wanted: &Wanted,
    input: &'i Input,
    options: &Options,
    signals: &mut Signals,
) -> Result<Vec<Looked<'i>>, Why> {
    let begun = begin(wanted, input)?;
    let mut beside = Beside {
        elsewhere: begun.together.clone(),
        ..Beside::default()
    };
    if beside.elsewhere.len() > 1 {
        let parts = look_at_parts(input, &mut beside, options, signals)?;
        if parts.len() > 1 {
            return Ok(parts);
        }
        if let &[only] = &beside.elsewhere[..] {
            beside.elsewhere.clear();
            let begun = open_as(input, Known::Listed(only))?;
            return Ok(vec![look(begun, input, &beside, options, signals)?]);
        }
        // Of none it can be said when: the surest, or what is to be asked.
        if let Err(not) = formats::recognise(&begun.head) {
            let mut why = not.to_string();
            for (format, reason) in &beside.refused {
                let reason = reason.replace('\n', "\n  ");
                why += &format!("\nas {}: {reason}", format.name);
            }
            return Err(Why::Refused(why));
        }
        beside.elsewhere.clear();
    }
    Ok(vec![look(begun, input, &beside, options, signals)?])
}

/// The outputs of tools in one file that tell when they were: of those without times nobody can say
/// whether they are of the same time or came after one another. `beside` has all of them, and those
/// that are read and the reasons of the others afterwards.
fn look_at_parts<'i>(
    input: &'i Input,
    beside: &mut Beside,
    options: &Options,
    signals: &mut Signals,
) -> Result<Vec<Looked<'i>>, Why> {
    let mut look_at = |format: &'static Format, beside: &Beside| {
        let begun = open_as(input, Known::Listed(format))?;
        look(begun, input, beside, options, signals)
    };
    let (mut found, mut read) = (Vec::new(), Vec::new());
    for format in &beside.elsewhere {
        match look_at(format, beside) {
            Ok(looked) if looked.times == "text" => {
                read.push(*format);
                found.push(looked);
            }
            Ok(_) => {}
            Err(Why::Refused(why) | Why::Unknown(why)) => beside.refused.push((*format, why)),
            Err(why) => return Err(why),
        }
    }
    // The first one tells the lines of those that are not read.
    let all = read.len() == beside.elsewhere.len();
    beside.elsewhere = read;
    if let ([first, _, ..], false) = (&beside.elsewhere[..], all) {
        found[0] = look_at(first, beside)?;
    }
    for later in found.iter_mut().skip(1) {
        later.report.notes.push(LATER.to_owned());
    }
    Ok(found)
}
