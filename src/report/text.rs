//! Text that is safe to show: control characters out, lines wrapped and clipped.

use std::fmt::Write as _;

/// Whether a character could steer a terminal, hide text or reorder it.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'
                | '\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// One line: whitespace of any kind becomes a space, what could steer a terminal becomes `U+FFFD`.
pub fn line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => ' ',
            c if is_hostile(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// Several lines: as [`line()`], but line ends stay.
pub fn block(text: &str) -> String {
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// One line of at most `max` characters; an ellipsis shows that something is missing.
pub fn clip(text: &str, max: usize) -> String {
    let mut clipped = line(text);
    let end = |at| clipped.char_indices().nth(at).map(|(byte, _)| byte);
    if let (Some(_), Some(cut)) = (end(max), end(max.saturating_sub(1))) {
        clipped.truncate(cut);
        clipped.push('…');
    }
    clipped
}

/// `1 error`, `2 errors`.
pub fn count(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// Appends formatted text; writing to a string cannot fail.
pub(super) fn put(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(arguments);
}

/// Breaks one line at spaces so that it fits `width` characters, the first line after `first`, the others
/// after as many spaces. Words that do not fit stay whole: they are names to be copied.
pub fn wrap(first: &str, text: &str, width: usize) -> String {
    let indent = first.chars().count();
    let mut out = first.to_owned();
    let mut column = indent;
    for (at, word) in text.split(' ').filter(|w| !w.is_empty()).enumerate() {
        let length = word.chars().count();
        if at > 0 {
            if column + 1 + length > width && column > indent {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            } else {
                out.push(' ');
                column += 1;
            }
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// Escapes text for element content and quoted attributes of XML and HTML.
pub fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if is_hostile(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(
            line("a\u{1b}[31mb\r\nc\u{9b}d\u{202e}e"),
            "a\u{fffd}[31mb  c\u{fffd}d\u{fffd}e"
        );
        assert_eq!(block("a\nb\u{7}"), "a\nb\u{fffd}");
    }

    #[test]
    fn clips_by_characters() {
        assert_eq!(clip("äöü", 3), "äöü");
        assert_eq!(clip("äöüß", 3), "äö…");
        assert_eq!(clip("ab", 0), "…");
    }

    #[test]
    fn wraps_at_spaces() {
        assert_eq!(wrap("  ", "aa bb cc", 7), "  aa bb\n  cc");
        assert_eq!(wrap("x: ", "a-long-word b", 5), "x: a-long-word\n   b");
    }
}
