//! Reading a text with a contract, by the rules of C++ protobuf.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::excerpt::Excerpt;
use super::literal::found;
use super::refused::{Failure, Position, Reason, TextRefused, fail};
use super::token::{Token, Tokenizer};
use crate::descriptor::{Contract, Message};
use crate::view::Limits;
use crate::view::canonical::encode;
use crate::view::decode::decode_as;
use crate::view::held::Node;
use crate::view::path::Path;

/// What a text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The message's canonical bytes, to be read with [`decode`](crate::view::decode).
    pub bytes: Vec<u8>,
    /// Fields that were passed over because their names are reserved, sorted.
    pub skipped: Vec<Skipped>,
}

/// A removed field with a reserved name. C++ passes over its value, whatever it is, and tells nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Message and field.
    pub field: String,
    /// Where it was given first.
    pub first: Position,
    /// How often it was given.
    pub times: usize,
}

/// Reads `text` as C++'s `TextFormat::Parser` with this contract would read a message of type `root`.
///
/// Other than there, nesting is limited as in binary, and a string that must be UTF-8 is checked: its
/// binary form would be refused. The memory limit counts the binary form, strings included.
///
/// # Errors
/// What C++ refuses, and what is larger than `limits` allow.
pub fn parse(
    text: &[u8],
    contract: &Contract,
    root: &str,
    limits: Limits,
) -> Result<Parsed, TextRefused> {
    let Some(ty) = contract.message(root) else {
        let at = Position { offset: 0, line: 1, column: 1 };
        let reason = Reason::NoSuchType(root.to_owned());
        return Err(refused(text, String::new(), (at, reason)));
    };
    let draft = draft(text, contract, ty, limits)?;
    let bytes = encode(contract, &draft.hold(text, contract, ty, limits)?);
    Ok(Parsed { bytes, skipped: draft.skipped })
}

/// A text as wire bytes in its own order.
pub(super) struct Drafted {
    bytes: Vec<u8>,
    pub(super) skipped: Vec<Skipped>,
    end: Position,
}

impl Drafted {
    /// The message, borrowed from the bytes.
    pub(super) fn hold<'a>(
        &'a self,
        text: &[u8],
        contract: &'a Contract,
        ty: &'a Message,
        limits: Limits,
    ) -> Result<Node<'a>, TextRefused> {
        decode_as(&self.bytes, contract, ty, limits)
            .map_err(|e| refused(text, e.path, (self.end, e.reason.into())))
    }
}

/// Reads a text with a message type that need not be in the contract.
pub(super) fn draft(
    text: &[u8],
    contract: &Contract,
    ty: &Message,
    limits: Limits,
) -> Result<Drafted, TextRefused> {
    let mut parser =
        Parser::new(text, contract, limits).map_err(|e| refused(text, String::new(), *e))?;
    let mut draft = Draft::default();
    match parser.fields(ty, &mut draft, None) {
        Ok(()) => Ok(Drafted {
            bytes: draft.into_bytes(),
            skipped: parser.skipped.into_values().collect(),
            end: parser.token.at,
        }),
        Err(failure) => Err(refused(text, parser.path.to_string(), *failure)),
    }
}

pub(super) fn refused(text: &[u8], path: String, (at, reason): (Position, Reason)) -> TextRefused {
    TextRefused { at, path, reason, excerpt: Box::new(Excerpt::new(text, at)) }
}

pub(super) struct Parser<'a> {
    pub(super) contract: &'a Contract,
    pub(super) limits: Limits,
    pub(super) tokens: Tokenizer<'a>,
    /// The token that is next to be used.
    pub(super) token: Token<'a>,
    depth: usize,
    /// Not unwound on failure: it then tells where.
    pub(super) path: Path<'a>,
    /// The string being put together.
    pub(super) scratch: Vec<u8>,
    /// By message and name.
    pub(super) skipped: BTreeMap<(&'a str, &'a str), Skipped>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(
        text: &'a [u8],
        contract: &'a Contract,
        limits: Limits,
    ) -> Result<Self, Failure> {
        let mut tokens = Tokenizer::new(text);
        Ok(Parser {
            contract,
            limits,
            token: tokens.next()?,
            tokens,
            depth: 0,
            path: Path::default(),
            scratch: Vec::new(),
            skipped: BTreeMap::new(),
        })
    }

    /// Goes on to the next token and returns the used one.
    pub(super) fn advance(&mut self) -> Result<Token<'a>, Failure> {
        let next = self.tokens.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Whether the symbol is next; it is used up then.
    pub(super) fn eat(&mut self, symbol: u8) -> Result<bool, Failure> {
        let found = self.token.is(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, symbol: u8, expected: &'static str) -> Result<(), Failure> {
        if self.eat(symbol)? { Ok(()) } else { self.expected(expected) }
    }

    /// The next token is none of those that may stand here.
    pub(super) fn expected<T>(&self, expected: &'static str) -> Result<T, Failure> {
        fail(self.token.at, Reason::Expected { expected, found: found(&self.token) })
    }

    /// Opens a message and returns what closes it.
    pub(super) fn open(&mut self) -> Result<u8, Failure> {
        self.enter()?;
        if self.eat(b'<')? {
            return Ok(b'>');
        }
        self.expect(b'{', "`{` or `<`")?;
        Ok(b'}')
    }

    /// Closes a message.
    pub(super) fn close(&mut self, symbol: u8) -> Result<(), Failure> {
        self.leave();
        self.expect(symbol, if symbol == b'>' { "a field or `>`" } else { "a field or `}`" })
    }

    /// Whether something that closes a message is next; whether it closes this one, [`Parser::close`] tells.
    pub(super) fn at_close(&self) -> bool {
        self.token.is(b'}') || self.token.is(b'>')
    }

    /// One of the separators that may follow a field.
    pub(super) fn separator(&mut self) -> Result<(), Failure> {
        if !self.eat(b';')? {
            self.eat(b',')?;
        }
        Ok(())
    }

    pub(super) fn enter(&mut self) -> Result<(), Failure> {
        if self.depth >= self.limits.depth {
            return fail(self.token.at, Reason::TooDeep(self.limits.depth));
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
