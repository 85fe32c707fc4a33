//! Text goldens: what can be told of one without a schema.

use prost::bytes::Bytes;

use super::rope::Rope;

/// A text-format golden, recognised but not parsed.
///
/// Parsing needs the schema of the golden's own time; give what it yields to
/// [`Artifact::from_text_parts`](super::Artifact::from_text_parts).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextGolden {
    /// Full name of the message, where the header (`# proto-message: NAME`) states it.
    pub message: Option<String>,
    /// The whole text, header included.
    pub text: Bytes,
}

impl TextGolden {
    /// Recognises text format: UTF-8 without control characters, whose first line that is neither
    /// blank nor a comment begins with a field name and `{`, `<` or `:`.
    pub fn detect(bytes: &Rope) -> Option<TextGolden> {
        let first = bytes.pieces().first()?.first()?;
        if !first.is_ascii_whitespace() && !first.is_ascii_graphic() {
            return None;
        }
        let text = bytes.to_bytes();
        let content = std::str::from_utf8(&text).ok()?;
        if content.chars().any(|c| c.is_control() && !c.is_ascii_whitespace()) {
            return None;
        }
        let mut message = None;
        for line in content.lines().map(str::trim) {
            if let Some(comment) = line.strip_prefix('#') {
                if let Some(name) = comment.trim_start().strip_prefix("proto-message:") {
                    message.get_or_insert_with(|| name.trim().to_owned());
                }
            } else if !line.is_empty() {
                return begins_a_field(line).then_some(TextGolden { message, text });
            }
        }
        // Nothing but comments: an empty message, if the header says so.
        message.is_some().then_some(TextGolden { message, text })
    }
}

fn begins_a_field(line: &str) -> bool {
    let name = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.trim_start().starts_with(['{', '<', ':'])
}
