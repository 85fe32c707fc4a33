//! The part of a line that an error is about, safe to show however long the line is.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::refused::Position;

/// Bytes shown on either side.
const AROUND: usize = 60;

/// A stretch of one line. Knows its place in the whole text, so that line numbers come out right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    text: String,
    /// Zero-based.
    line: usize,
    /// Zero-based column of the first byte.
    column: usize,
    span: (usize, usize),
}

impl Excerpt {
    pub(super) fn new(text: &[u8], at: Position) -> Self {
        let start = at.offset.saturating_sub((at.column - 1).min(AROUND));
        let end = text.len().min(at.offset.saturating_add(AROUND));
        let shown = text.get(start..end).unwrap_or_default();
        let before = at.offset - start;
        let after = shown.get(before..).unwrap_or_default();
        let length = after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len());
        // Byte by byte, so that the span stays right; nothing that could steer a terminal.
        let mut shown: String = shown
            .iter()
            .take(before + length)
            .map(|byte| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '?' })
            .collect();
        shown.push('\n');
        let marked = usize::from(length > 0);
        Excerpt {
            text: shown,
            line: at.line - 1,
            column: at.column - 1 - before,
            span: (before, marked),
        }
    }

    pub(super) fn span(&self) -> SourceSpan {
        self.span.into()
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        Ok(Box::new(MietteSpanContents::new(
            inner.data(),
            *inner.span(),
            inner.line() + self.line,
            inner.column() + self.column,
            inner.line_count(),
        )))
    }
}
