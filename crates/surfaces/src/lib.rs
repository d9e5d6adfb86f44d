//! What people see: tables and pictures.

pub mod table;
