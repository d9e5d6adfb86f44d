//! The sides of NFS, as a dimension: `nfs.ops where side = server` is `nfsd.ops`.
//!
//! Each side is a subject of its own, since they measure different things: a mount has retransmissions
//! and a time on the network, a server has clients and threads, and a sum over both counts an operation
//! twice where a machine mounts from itself. So a side can be chosen and not added up.

use super::{Expression, Predicate, Test};
use crate::error::{Problem, near_or_all};

/// Sides, and the subject of each.
const SIDES: [(&str, &str); 2] = [("client", "nfs"), ("server", "nfsd")];

/// Makes of the predicates on `side` the subject that they choose.
pub(super) fn choose(expression: &mut Expression) -> Result<(), Problem> {
    let is_side = |p: &Predicate| p.dimension.text == "side";
    if !SIDES.iter().any(|(_, s)| *s == expression.subject.text) {
        return Ok(());
    }
    let apart = |text: &str, span| {
        let measure = &expression.measure.text;
        Problem::at(text, span, "the sides of NFS are told apart").hint(format!(
            "ask for one: nfs.{measure} where side = client, or nfs.{measure} where side = server"
        ))
    };
    if let Some(by) = expression.by.iter().find(|by| by.text == "side") {
        return Err(apart(&expression.text, by.span));
    }
    let mut left: Vec<&str> = SIDES.iter().map(|(side, _)| *side).collect();
    let sides = expression.predicates.iter().filter(|p| is_side(p));
    let mut last = None;
    for predicate in sides {
        last = Some(predicate.span);
        let (values, wanted) = match &predicate.test {
            Test::In(values) => (values, true),
            Test::NotIn(values) => (values, false),
            _ => return Err(apart(&expression.text, predicate.span)),
        };
        for value in values {
            if !SIDES.iter().any(|(side, _)| *side == value.text) {
                let what = format!("NFS has no side `{}`", value.text);
                let sides = SIDES.iter().map(|(side, _)| *side);
                return Err(Problem::at(&expression.text, value.span, what)
                    .hint(near_or_all(&value.text, sides)));
            }
        }
        left.retain(|side| values.iter().any(|v| v.text == *side) == wanted);
    }
    let Some(span) = last else {
        return Ok(());
    };
    let [side] = left[..] else {
        return Err(apart(&expression.text, span));
    };
    let chosen = SIDES.iter().find(|(name, _)| *name == side);
    if let Some((_, subject)) = chosen {
        (*subject).clone_into(&mut expression.subject.text);
    }
    expression.predicates.retain(|p| !is_side(p));
    Ok(())
}
