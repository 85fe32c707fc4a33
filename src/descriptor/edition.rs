//! Lowering of `edition = "2023"` sources to what protox parses.
//!
//! protox 0.10 knows proto2 and proto3 only. The text is rewritten so that every line and (but for
//! the edition statement's own line) every column stays where it was; what the rewrite takes away is
//! returned and put back by [`super::features`].

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, ErrorKind};

/// Start of the option name that stands in for `default`, which protox refuses outside proto2.
const DEFAULT_STAND_IN: &str = "D";

/// A source text that protox can parse.
pub(super) struct Lowered<'a> {
    /// The text; borrowed when the file is no edition file.
    pub(super) text: Cow<'a, str>,
    /// Whether the file is an edition 2023 file.
    pub(super) edition: bool,
    /// Reserved names written as identifiers, with the 0-based position of their statement.
    pub(super) reserved: Vec<ReservedIdentifiers>,
    /// Values of the option `default` as written; see [`Lowered::default_of`].
    defaults: Vec<String>,
    /// Where the edition statement ended, and by how many bytes its stand-in is longer.
    longer: (usize, usize),
}

impl Lowered<'_> {
    /// The offset in the original text that an offset in the lowered one stands for.
    pub(super) fn original_offset(&self, offset: usize) -> usize {
        if offset >= self.longer.0 { offset.saturating_sub(self.longer.1) } else { offset }
    }

    /// The value that was written for an option `default`, given the name that stands in for it.
    pub(super) fn default_of(&self, stand_in: &str) -> Option<&str> {
        let digits = stand_in.strip_prefix(DEFAULT_STAND_IN).filter(|d| d.len() == 6)?;
        self.defaults.get(digits.parse::<usize>().ok()?).map(String::as_str)
    }
}

/// One `reserved A, B;` statement of an edition file.
pub(super) struct ReservedIdentifiers {
    pub(super) line: i32,
    pub(super) column: i32,
    pub(super) names: Vec<String>,
}

/// Rewrites an edition 2023 file; other files pass through unchanged.
pub(super) fn lower<'a>(path: &str, text: &'a str) -> Result<Lowered<'a>, Error> {
    let mut tokens = Tokens { text, at: 0 };
    let unchanged = Lowered {
        text: Cow::Borrowed(text),
        edition: false,
        reserved: Vec::new(),
        defaults: Vec::new(),
        longer: (0, 0),
    };
    let Some(first) = tokens.next() else { return Ok(unchanged) };
    if &text[first.clone()] != "edition" {
        return Ok(unchanged);
    }
    let (Some(equals), Some(value), Some(end)) = (tokens.next(), tokens.next(), tokens.next())
    else {
        return Ok(unchanged); // the parser reports the syntax error
    };
    if &text[equals] != "=" || &text[end.clone()] != ";" {
        return Ok(unchanged);
    }
    let edition = text[value.clone()].trim_matches(['"', '\'']);
    if edition != "2023" {
        return Err(ErrorKind::Edition {
            path: path.to_owned(),
            line: line_of(text, value.start),
            what: format!("edition \"{edition}\""),
        }
        .into());
    }

    let statement = first.start..end.end;
    let stand_in = pad("syntax=\"proto3\";", &text[statement.clone()]);
    let longer = (statement.end, stand_in.len().saturating_sub(statement.len()));
    let mut edits: Vec<(Range<usize>, String)> = vec![(statement, stand_in)];
    let (mut reserved, mut defaults) = (Vec::new(), Vec::new());
    let mut lines = Lines::default();
    let mut brackets = 0usize;
    let mut previous = end;
    while let Some(token) = tokens.next() {
        let word = &text[token.clone()];
        let before = &text[previous.clone()];
        match word {
            "[" => brackets += 1,
            "]" => brackets = brackets.saturating_sub(1),
            "default" if brackets > 0 && matches!(before, "[" | ",") => {
                if let Some(value) = default_value(&mut tokens) {
                    // As long as `default`; the value is replaced by one that fits every parser.
                    edits.push((
                        token,
                        format!("{DEFAULT_STAND_IN}{:06}", defaults.len() % 1_000_000),
                    ));
                    edits.push((value.clone(), pad("0", &text[value.clone()])));
                    defaults.push(text[value.clone()].to_owned());
                    previous = value.end - 1..value.end;
                    continue;
                }
            }
            "reserved" if brackets == 0 && matches!(before, "{" | "}" | ";") => {
                if let Some((statement, names)) = reserved_identifiers(&mut tokens, token.start) {
                    let (line, column) = lines.position(text, statement.start);
                    edits.push((statement.clone(), pad("", &text[statement.clone()])));
                    reserved.push(ReservedIdentifiers { line, column, names });
                    // What follows stands at the start of a statement again.
                    previous = statement.end - 1..statement.end;
                    continue;
                }
            }
            _ => {}
        }
        previous = token;
    }

    let mut lowered = String::with_capacity(text.len() + 1);
    let mut copied = 0;
    for (range, replacement) in edits {
        lowered.push_str(&text[copied..range.start]);
        lowered.push_str(&replacement);
        copied = range.end;
    }
    lowered.push_str(&text[copied..]);
    Ok(Lowered { text: Cow::Owned(lowered), edition: true, reserved, defaults, longer })
}

/// Reads the rest of a `reserved` statement that starts at `start`; `None` (and nothing consumed)
/// unless it lists identifiers.
fn reserved_identifiers(
    tokens: &mut Tokens<'_>,
    start: usize,
) -> Option<(Range<usize>, Vec<String>)> {
    let rewind = tokens.at;
    let mut names = Vec::new();
    loop {
        let name = tokens.next();
        let separator = tokens.next();
        let (Some(name), Some(separator)) = (name, separator) else { break };
        let word = &tokens.text[name];
        if !word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            break;
        }
        names.push(word.to_owned());
        match &tokens.text[separator.clone()] {
            "," => {}
            ";" => return Some((start..separator.end, names)),
            _ => break,
        }
    }
    tokens.at = rewind;
    None
}

/// Reads `= VALUE` up to the `,` or `]` behind it; `None` (and nothing consumed) for anything else.
fn default_value(tokens: &mut Tokens<'_>) -> Option<Range<usize>> {
    let rewind = tokens.at;
    let mut value: Option<Range<usize>> = None;
    if tokens.next().is_some_and(|t| &tokens.text[t] == "=") {
        loop {
            let before = tokens.at;
            let Some(token) = tokens.next() else { break };
            match &tokens.text[token.clone()] {
                "," | "]" => {
                    tokens.at = before;
                    return value;
                }
                ";" | "{" | "}" | "[" | "=" => break,
                _ => value = Some(value.map_or(token.start, |v| v.start)..token.end),
            }
        }
    }
    tokens.at = rewind;
    None
}

/// `replacement` followed by what keeps the line structure (and the length, where it fits) of
/// `original`.
fn pad(replacement: &str, original: &str) -> String {
    let mut padded = replacement.to_owned();
    for (at, byte) in original.bytes().enumerate() {
        if byte == b'\n' {
            padded.push('\n');
        } else if at >= replacement.len() {
            padded.push(' ');
        }
    }
    padded
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset].iter().filter(|b| **b == b'\n').count() + 1
}

/// Positions of ascending offsets.
#[derive(Default)]
struct Lines {
    /// Start of the line reached so far, and its number.
    start: usize,
    line: usize,
}

impl Lines {
    fn position(&mut self, text: &str, offset: usize) -> (i32, i32) {
        while let Some(length) = text[self.start..offset].find('\n') {
            self.start += length + 1;
            self.line += 1;
        }
        let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        (number(self.line), number(offset - self.start))
    }
}

/// Tokens of a `.proto` file as byte ranges: words (identifiers and numbers), strings, single
/// punctuation characters. Comments and white space are skipped.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl Tokens<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at;
            let first = *bytes.get(start)?;
            match first {
                b'/' if bytes.get(start + 1) == Some(&b'/') => {
                    self.at = find(bytes, start, |b| b == b'\n');
                }
                b'/' if bytes.get(start + 1) == Some(&b'*') => {
                    self.at = self.text[start + 2..]
                        .find("*/")
                        .map_or(bytes.len(), |end| start + 2 + end + 2);
                }
                b'"' | b'\'' => {
                    let mut end = start + 1;
                    while end < bytes.len() && bytes[end] != first && bytes[end] != b'\n' {
                        end += if bytes[end] == b'\\' { 2 } else { 1 };
                    }
                    self.at = (end + 1).min(bytes.len());
                    // An escape may have stepped into a multi-byte character.
                    while !self.text.is_char_boundary(self.at) {
                        self.at += 1;
                    }
                    return Some(start..self.at);
                }
                b if b.is_ascii_whitespace() => self.at += 1,
                b if b.is_ascii_alphanumeric() || b == b'_' => {
                    self.at = find(bytes, start, |b| !(b.is_ascii_alphanumeric() || b == b'_'));
                    return Some(start..self.at);
                }
                _ => {
                    self.at += self.text[start..].chars().next().map_or(1, char::len_utf8);
                    return Some(start..self.at);
                }
            }
        }
    }
}

fn find(bytes: &[u8], start: usize, stop: impl Fn(u8) -> bool) -> usize {
    bytes[start..].iter().position(|b| stop(*b)).map_or(bytes.len(), |at| start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_pass_through() {
        for text in ["", "// edition = \"2023\";\nsyntax = \"proto3\";", "message M {}", "edition"]
        {
            let lowered = lower("a.proto", text).unwrap();
            assert!(!lowered.edition);
            assert_eq!(lowered.text, text);
        }
    }

    #[test]
    fn lines_and_columns_survive() {
        let text = "/* c */\nedition = \"2023\";\nenum E {\n  reserved 1;\n  reserved A, // gone\n    B;\n  Z = 0; }\n\
                    message M { int32 reserved = 1 [default = 5]; reserved \"x\"; }\n";
        let lowered = lower("a.proto", text).unwrap();
        assert!(lowered.edition);
        assert_eq!(lowered.text.lines().count(), text.lines().count());
        assert!(lowered.text.contains("int32 reserved = 1 [D000000 = 0]; reserved \"x\";"));
        assert_eq!(lowered.reserved.len(), 1);
        assert_eq!(lowered.reserved[0].names, ["A", "B"]);
        assert_eq!((lowered.reserved[0].line, lowered.reserved[0].column), (4, 2));
        assert_eq!(lowered.text.find("Z = 0"), text.find("Z = 0"));
    }

    #[test]
    fn defaults_are_set_aside() {
        let text = "edition = \"2023\";\nmessage M {\n  string a = 1 [default = \"],\" /* ] */ 'b', json_name = \"x\"];\n\
                      double b = 2 [deprecated = true, default = -inf];\n  int32 c = 3 [default = ; default = 1];\n}";
        let lowered = lower("a.proto", text).unwrap();
        assert_eq!(lowered.default_of("D000000"), Some("\"],\" /* ] */ 'b'"));
        assert_eq!(lowered.default_of("D000001"), Some("-inf"));
        assert_eq!(lowered.default_of("D000002"), None);
        assert_eq!(lowered.default_of("D0"), None);
        assert_eq!(lowered.text.find("json_name"), text.find("json_name"));
        assert!(lowered.text.contains("[default = ; default = 1]"));
    }

    #[test]
    fn a_later_edition_is_named_with_its_line() {
        let error = lower("dir/a.proto", "\n\nedition = \"2024\";").err().unwrap();
        assert_eq!(error.to_string(), "dir/a.proto:3: edition \"2024\" is not supported");
    }

    #[test]
    fn odd_text_does_not_panic() {
        for text in [
            "edition = \"2023\"; \"\\é",
            "edition=\"2023\";reserved",
            "edition = '2023'; /* é",
            "edition = \"2023\"; reserved é;",
        ] {
            assert!(lower("a.proto", text).is_ok());
        }
    }
}
