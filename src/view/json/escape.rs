//! Strings as C++ protobuf prints them.

use std::fmt::Write as _;

/// Quotes a string. What JSON does not demand is escaped too where C++ protobuf does so: angle
/// brackets, and characters that nobody sees.
pub(super) fn quoted(text: &[u8], out: &mut String) {
    out.push('"');
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            character(c, out);
        }
        // C++ writes a space for what is no UTF-8.
        if !chunk.invalid().is_empty() {
            out.push(' ');
        }
    }
    out.push('"');
}

fn character(c: char, out: &mut String) {
    let plain = match c {
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '"' => "\\\"",
        '\u{c}' => "\\f",
        '\u{8}' => "\\b",
        '\\' => "\\\\",
        c if hidden(c) => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
            return;
        }
        c => return out.push(c),
    };
    out.push_str(plain);
}

fn hidden(c: char) -> bool {
    matches!(c,
        '<' | '>' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{ad}' | '\u{6dd}' | '\u{70f}'
        | '\u{17b4}' | '\u{17b5}' | '\u{e0001}'
        | '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{600}'..='\u{603}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0020}'..='\u{e007f}')
}
