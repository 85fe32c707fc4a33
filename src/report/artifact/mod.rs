//! What is in artifacts: trees and tables for people, and the stable formats `aotgate.inspect/1`,
//! `aotgate.size/1` and `aotgate.artifact-diff/1`.
//!
//! Every name comes from a file that anybody may have written, so all text goes through
//! [`text`](super::text).

pub mod diff;
pub mod inspect;
pub mod size;
mod tree;

use serde::Serialize;

use super::json::{Layout, to_text};

/// A document with the file that it is about.
#[derive(Serialize)]
struct OfFile<'a, T> {
    #[serde(flatten)]
    content: &'a T,
    file: &'a str,
}

/// The document of an artifact that could not be read, in a list of documents.
pub fn error(schema: &str, file: &str, error: &str) -> String {
    #[derive(Serialize)]
    struct Failure<'a> {
        schema: &'a str,
        file: &'a str,
        error: &'a str,
    }
    to_text(&Failure { schema, file, error }, Layout::Line)
}

/// `1 byte`, `2 bytes`.
fn bytes(number: usize) -> String {
    super::text::count(number, "byte")
}

/// Characters beyond ASCII escaped, for a locale that cannot show them.
fn for_locale(text: String, style: &super::human::Style) -> String {
    if style.unicode || text.is_ascii() {
        return text;
    }
    let escape =
        |c: char| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() };
    text.chars().map(escape).collect()
}
