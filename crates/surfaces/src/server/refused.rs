//! Why a request has no answer: a status, a sentence, and what to do.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A request that is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// Characters of the expression that are meant.
    pub(super) at: Option<(usize, usize)>,
}

impl Refused {
    /// With a text that may end in `hint: ...`, as this program's messages do.
    pub(super) fn new(status: StatusCode, text: impl std::fmt::Display) -> Refused {
        let text = text.to_string();
        let (message, hint) = match text.split_once("\nhint: ") {
            Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
            None => (text, None),
        };
        Refused {
            status,
            message,
            hint,
            at: None,
        }
    }

    /// What was asked cannot be.
    pub(super) fn bad(text: impl std::fmt::Display) -> Refused {
        Refused::new(StatusCode::BAD_REQUEST, text)
    }
}

impl From<analysis::Error> for Refused {
    fn from(error: analysis::Error) -> Refused {
        match error {
            analysis::Error::Problem(problem) => problem.into(),
            analysis::Error::Over(over) => Refused::new(StatusCode::UNPROCESSABLE_ENTITY, over),
            analysis::Error::Read(e) => e.into(),
        }
    }
}

impl From<analysis::Problem> for Refused {
    fn from(problem: analysis::Problem) -> Refused {
        // Places are bytes; who shows them counts characters.
        let characters = |byte: usize| {
            let before = problem.text.char_indices().take_while(|(at, _)| *at < byte);
            before.count()
        };
        let (from, to) = problem.span;
        Refused {
            status: StatusCode::BAD_REQUEST,
            message: problem.what.clone(),
            hint: problem.hint.clone(),
            at: Some((characters(from), characters(to))),
        }
    }
}

impl From<run::read::ReadError> for Refused {
    fn from(error: run::read::ReadError) -> Refused {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let at = self.at.map(|(from, to)| [from, to]);
        let error = json!({"message": self.message, "hint": self.hint, "at": at});
        (self.status, Json(json!({"error": error}))).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_characters_and_hints_stand_apart() {
        let problem = analysis::Problem::at("é.x by ü", (6, 8), "no").hint("do");
        let refused = Refused::from(problem);
        assert_eq!(refused.at, Some((5, 7)));
        assert_eq!(refused.hint.as_deref(), Some("do"));
        let over = Refused::from(analysis::Error::Over(analysis::bounds::Over::Stopped));
        assert_eq!(over.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(over.hint.is_some() && !over.message.contains("hint"));
    }
}
