//! Machine facts and settings.
