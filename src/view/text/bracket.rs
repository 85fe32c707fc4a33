//! Names in brackets: extensions, and the content of `google.protobuf.Any`.

use super::draft::Draft;
use super::field::Given;
use super::literal::shown;
use super::parse::Parser;
use super::refused::{Failure, Position, Reason, fail};
use super::token::is_alphanumeric;
use crate::descriptor::{Field, Message};
use crate::view::canonical::encode;
use crate::view::decode::decode_as;
use crate::view::sink::Sink as _;

/// What stood in brackets, blanks and comments taken out.
pub(super) struct Bracketed {
    name: String,
    at: Position,
    /// Bytes before the last slash, that one included.
    prefix: usize,
}

impl<'a> Parser<'a> {
    /// Reads a name in brackets: that of a type, with a URL before it or not, or of an extension.
    pub(super) fn bracketed(&mut self) -> Result<Bracketed, Failure> {
        let at = self.tokens.position();
        let mut name = String::new();
        while let Some(byte) = self.tokens.next_if(in_url) {
            name.push(char::from(byte));
        }
        self.advance()?;
        let prefix = name.rfind('/').map_or(0, |slash| slash + 1);
        let (url, ty) = name.split_at(prefix);
        if url == "/" {
            return fail(at, Reason::BracketedName("a prefix before the slash"));
        }
        if !percent_encoded(url) {
            return fail(at, Reason::BracketedName("two hexadecimal digits after each %"));
        }
        if !ty.split('.').all(is_identifier) {
            return fail(at, Reason::BracketedName("a full name"));
        }
        self.expect(b']', "`]`")?;
        Ok(Bracketed { name, at, prefix })
    }

    pub(super) fn extension(
        &self,
        ty: &'a Message,
        name: &Bracketed,
        at: Position,
    ) -> Result<&'a Field, Failure> {
        if name.prefix > 0 {
            return fail(at, Reason::BracketedName("the name of an extension, not a URL,"));
        }
        if ty.message_set {
            return fail(at, Reason::MessageSet(ty.name.to_string()));
        }
        match ty.field_named(&format!("[{}]", name.name)) {
            Some(field) => Ok(field),
            None => {
                let name = format!("[{}]", shown(name.name.as_bytes()));
                fail(at, Reason::UnknownExtension { name, of: ty.name.to_string() })
            }
        }
    }

    /// Reads the content of `Any`, whose type the brackets name.
    pub(super) fn any(
        &mut self,
        name: &Bracketed,
        (url, value): (&'a Field, &'a Field),
        given: &mut Given<'a>,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        if name.prefix == 0 {
            return fail(
                name.at,
                Reason::BracketedName("a type URL, such as type.googleapis.com/x.Y,"),
            );
        }
        let ty = name.name.get(name.prefix..).unwrap_or_default();
        let Some(ty) = self.contract.message(ty) else {
            return fail(name.at, Reason::NoSuchType(shown(ty.as_bytes())));
        };
        if given.has(url) || given.has(value) {
            return fail(name.at, Reason::GivenTwice("google.protobuf.Any".to_owned()));
        }
        self.eat(b':')?;
        let close = self.open()?;
        let mut content = Draft::default();
        self.fields(ty, &mut content, Some(close))?;
        let content = content.into_bytes();
        let content = match decode_as(&content, self.contract, ty, self.limits) {
            Ok(node) => encode(self.contract, &node),
            Err(refused) => return fail(name.at, refused.reason.into()),
        };
        draft.length_delimited(url.number as u32, name.name.as_bytes());
        draft.length_delimited(value.number as u32, &content);
        given.add(url);
        if !content.is_empty() {
            given.add(value);
        }
        Ok(())
    }
}

/// What a URL consists of here; only some of it may stand in a name.
fn in_url(byte: u8) -> bool {
    is_alphanumeric(byte) || b"-.~!$&()*+,;=%/".contains(&byte)
}

fn percent_encoded(url: &str) -> bool {
    url.split('%').skip(1).all(|after| {
        let digits = after.bytes().take(2).filter(u8::is_ascii_hexdigit);
        digits.count() == 2
    })
}

fn is_identifier(part: &str) -> bool {
    part.bytes().all(is_alphanumeric)
        && !part.starts_with(|c: char| c.is_ascii_digit())
        && !part.is_empty()
}
