//! A few lines of a source file, safe to show, with the span of a construct inside.

use miette::{MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::text;
use crate::finding::SourceLocation;

/// Lines longer than this are no hand-written source; no excerpt is made of them.
const MAX_LINE: usize = 400;

/// Lines around a location. Knows its place in the whole file, so that line numbers come out right.
#[derive(Debug, Clone)]
pub(super) struct Excerpt {
    file: String,
    text: String,
    /// Zero-based line where `text` begins.
    first_line: usize,
    span: SourceSpan,
}

impl Excerpt {
    /// The line of a location with `context` lines on either side; `None` where the revision has no
    /// sources, the line is not known, or the file does not fit the location.
    pub(super) fn new(place: &SourceLocation, context: usize) -> Option<Self> {
        let source = place.source.as_deref()?;
        let location = &place.location;
        let line = usize::try_from(location.line).ok()?.checked_sub(1)?;
        let first_line = line.saturating_sub(context);
        let mut excerpt = Excerpt {
            file: text::line(&location.file),
            text: String::new(),
            first_line,
            span: SourceSpan::from((0, 0)),
        };
        for (at, content) in
            source.lines().enumerate().skip(first_line).take(line - first_line + 1 + context)
        {
            if content.len() > MAX_LINE {
                return None;
            }
            if at == line {
                let (from, to) = columns(content, location);
                excerpt.span = SourceSpan::from((excerpt.text.len() + from, to - from));
            }
            excerpt.text.push_str(&mask(content));
            excerpt.text.push('\n');
        }
        (!excerpt.span.is_empty()).then_some(excerpt)
    }

    /// Span of the construct's first line inside [`Excerpt::text`].
    pub(super) fn span(&self) -> SourceSpan {
        self.span
    }

    /// The lines.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// First byte and end of what a location marks on its first line. A location of several lines (a whole
/// message) marks its first line only: the rest would bury the point.
fn columns(line: &str, location: &crate::descriptor::Location) -> (usize, usize) {
    let text_end = line.trim_end().len();
    let from = usize::try_from(location.column).unwrap_or(0).saturating_sub(1).min(text_end);
    let end = if location.end_line == location.line {
        usize::try_from(location.end_column).unwrap_or(0).saturating_sub(1).min(text_end)
    } else {
        text_end
    };
    let (from, end) =
        if end > from { (from, end) } else { (line.len() - line.trim_start().len(), text_end) };
    if line.is_char_boundary(from) && line.is_char_boundary(end) && from < end {
        (from, end)
    } else {
        (0, text_end)
    }
}

/// Replaces what could steer a terminal by something of the same length, so that columns stay right.
fn mask(line: &str) -> String {
    line.chars().fold(String::with_capacity(line.len()), |mut out, c| {
        match (c, c.len_utf8()) {
            ('\t', _) => out.push('\t'),
            (c, 1) if text::is_hostile(c) => out.push('?'),
            (c, 2) if text::is_hostile(c) => out.push('·'),
            (c, 3) if text::is_hostile(c) => out.push(char::REPLACEMENT_CHARACTER),
            (c, _) if text::is_hostile(c) => out.push_str("????"),
            (c, _) => out.push(c),
        }
        out
    })
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, miette::MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.clone(),
            inner.data(),
            *inner.span(),
            inner.line() + self.first_line,
            inner.column(),
            inner.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_keep_their_length() {
        let line = "a\u{1b}b\u{9b}c\u{202e}d\u{e0041}e\tf";
        assert_eq!(mask(line).len(), line.len());
        assert_eq!(mask(line), "a?b·c\u{fffd}d????e\tf");
    }
}
