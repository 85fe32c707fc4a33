//! Source excerpts, drawn by miette, and the look that a caller asks for.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode,
    ThemeCharacters, ThemeStyles,
};

use crate::finding::SourceLocation;
use crate::report::excerpt::Excerpt;
use crate::report::text;

/// How the report looks.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Columns to fill; text is wrapped to this.
    pub width: usize,
    /// ANSI colours; off for `NO_COLOR` and for files.
    pub color: bool,
    /// Box drawing characters instead of ASCII.
    pub unicode: bool,
    /// Every note in full.
    pub verbose: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 100, color: false, unicode: true, verbose: false }
    }
}

impl Style {
    /// Text in an ANSI style such as `1;31`, or as it is.
    pub(in crate::report) fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(super) fn handler(&self) -> GraphicalReportHandler {
        let theme = GraphicalTheme {
            characters: if self.unicode {
                ThemeCharacters::unicode()
            } else {
                ThemeCharacters::ascii()
            },
            styles: if self.color { ThemeStyles::ansi() } else { ThemeStyles::none() },
        };
        GraphicalReportHandler::new_themed(theme)
            .with_width(self.width.max(40))
            .with_links(false)
            .with_context_lines(1)
            .with_break_words(false)
            .tab_width(4)
    }
}

/// Lets miette draw a message with the excerpt below it.
pub(super) fn show(
    out: &mut String,
    handler: &GraphicalReportHandler,
    severity: Severity,
    message: String,
    place: Option<&SourceLocation>,
    excerpt: Option<Excerpt>,
) {
    let label = place.map_or(String::new(), |p| text::clip(&p.label, 120));
    // Writing to a string cannot fail.
    let _ = handler.render_report(out, &Shown { severity, message, label, excerpt });
}

#[derive(Debug)]
struct Shown {
    severity: Severity,
    message: String,
    label: String,
    excerpt: Option<Excerpt>,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|e| e as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        let label = LabeledSpan::new_with_span(Some(self.label.clone()), excerpt.span());
        Some(Box::new(std::iter::once(label)))
    }
}
