//! Tokens of the text format, as C++'s tokenizer cuts them.

use super::refused::{Failure, Position, Reason, fail};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Identifier,
    Integer,
    Float,
    /// One literal with its quotes; escapes are known to be well-formed.
    String,
    Symbol(u8),
    End,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a [u8],
    pub(super) at: Position,
}

impl<'a> Token<'a> {
    pub(super) fn is(&self, symbol: u8) -> bool {
        self.kind == Kind::Symbol(symbol)
    }

    /// The text of anything but a string, which is ASCII.
    pub(super) fn word(&self) -> &'a str {
        std::str::from_utf8(self.text).unwrap_or_default()
    }
}

#[derive(Debug, Clone)]
pub(super) struct Tokenizer<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    line_start: usize,
    /// Where the last identifier ended.
    identifier_end: Option<usize>,
}

impl<'a> Tokenizer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Tokenizer { text, at: 0, line: 1, line_start: 0, identifier_end: None }
    }

    pub(super) fn position(&self) -> Position {
        let column = self.at - self.line_start + 1;
        Position { offset: self.at, line: self.line, column }
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, Failure> {
        self.skip_blanks();
        let at = self.position();
        let kind = match self.peek(0) {
            None => Kind::End,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                self.run(is_alphanumeric);
                self.identifier_end = Some(self.at);
                Kind::Identifier
            }
            Some(b'0'..=b'9') => self.number()?,
            Some(b'.') if self.peek(1).is_some_and(|c| c.is_ascii_digit()) => {
                if self.identifier_end == Some(self.at) {
                    return fail(at, Reason::Literal("a space between a name and a number"));
                }
                self.number()?
            }
            Some(quote @ (b'"' | b'\'')) => self.string(quote)?,
            Some(byte @ (0..b' ' | 0x80..)) => return fail(at, Reason::Byte(byte)),
            Some(symbol) => {
                self.at += 1;
                Kind::Symbol(symbol)
            }
        };
        let text = self.text.get(at.offset..self.at).unwrap_or_default();
        Ok(Token { kind, text, at })
    }

    /// The next byte inside brackets, where blanks and comments do not count either.
    pub(super) fn next_if(&mut self, accept: impl Fn(u8) -> bool) -> Option<u8> {
        self.skip_blanks();
        let byte = self.peek(0).filter(|byte| accept(*byte))?;
        self.at += 1;
        Some(byte)
    }

    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                // A comment ends before NUL, which then is an error.
                b'#' => self.run(|c| c != b'\n' && c != 0),
                _ => return,
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Passes over all bytes that fit.
    fn run(&mut self, fits: impl Fn(u8) -> bool) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !fits(*byte)).unwrap_or(rest.len());
    }

    /// Passes over at least one byte that fits.
    fn some(&mut self, fits: impl Fn(u8) -> bool, wanted: &'static str) -> Result<(), Failure> {
        let start = self.at;
        self.run(fits);
        if self.at == start { fail(self.position(), Reason::Literal(wanted)) } else { Ok(()) }
    }

    fn eat(&mut self, bytes: [u8; 2]) -> bool {
        let found = self.peek(0).is_some_and(|byte| bytes.contains(&byte));
        self.at += usize::from(found);
        found
    }

    fn number(&mut self) -> Result<Kind, Failure> {
        let digit = |c: u8| c.is_ascii_digit();
        let mut kind = Kind::Integer;
        let zero = self.peek(0) == Some(b'0');
        if zero && matches!(self.peek(1), Some(b'x' | b'X')) {
            self.at += 2;
            self.some(|c| c.is_ascii_hexdigit(), "hexadecimal digits after 0x")?;
        } else if zero && self.peek(1).is_some_and(digit) {
            self.run(|c| (b'0'..=b'7').contains(&c));
            if self.peek(0).is_some_and(digit) {
                let wanted = "octal digits after a leading 0";
                return fail(self.position(), Reason::Literal(wanted));
            }
        } else {
            self.run(digit);
            if self.eat([b'.'; 2]) {
                kind = Kind::Float;
                self.run(digit);
            }
            if self.eat([b'e', b'E']) {
                kind = Kind::Float;
                self.eat([b'-', b'+']);
                self.some(digit, "digits of an exponent")?;
            }
            if self.eat([b'f', b'F']) {
                kind = Kind::Float;
            }
        }
        match self.peek(0) {
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                fail(self.position(), Reason::Literal("a space between a number and a name"))
            }
            Some(b'.') => fail(self.position(), Reason::Literal("one decimal number at a time")),
            _ => Ok(kind),
        }
    }

    fn string(&mut self, quote: u8) -> Result<Kind, Failure> {
        let start = self.position();
        self.at += 1;
        loop {
            self.run(|c| c != quote && !matches!(c, b'\\' | b'\n' | 0));
            match self.peek(0) {
                Some(b'\\') => self.escape()?,
                Some(b'\n') => return fail(self.position(), Reason::LineBreak(start.into())),
                None | Some(0) => return fail(self.position(), Reason::Unterminated(start.into())),
                Some(_) => {
                    self.at += 1;
                    return Ok(Kind::String);
                }
            }
        }
    }

    /// Passes over an escape as far as it has to be checked; further digits pass as any other byte.
    fn escape(&mut self) -> Result<(), Failure> {
        let at = self.position();
        let hex = |ahead: std::ops::Range<usize>| {
            ahead.into_iter().all(|n| self.peek(n).is_some_and(|c| c.is_ascii_hexdigit()))
        };
        let (length, good, wanted) = match self.peek(1) {
            Some(
                b'a'
                | b'b'
                | b'f'
                | b'n'
                | b'r'
                | b't'
                | b'v'
                | b'\\'
                | b'?'
                | b'\''
                | b'"'
                | b'0'..=b'7',
            ) => (2, true, ""),
            Some(b'x' | b'X') => (3, hex(2..3), "hexadecimal digits after \\x"),
            Some(b'u') => (6, hex(2..6), "four hexadecimal digits after \\u"),
            Some(b'U') => {
                let small = self.peek(2) == Some(b'0')
                    && self.peek(3) == Some(b'0')
                    && matches!(self.peek(4), Some(b'0' | b'1'));
                (10, small && hex(5..10), "eight hexadecimal digits up to 0010ffff after \\U")
            }
            _ => (
                2,
                false,
                "one of the escapes \\a \\b \\f \\n \\r \\t \\v \\\\ \\? \\' \\\" \\x \\u \\U or an octal number",
            ),
        };
        if !good {
            return fail(at, Reason::Literal(wanted));
        }
        self.at += length;
        Ok(())
    }
}

pub(super) fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
