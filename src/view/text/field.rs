//! Reading the fields of a message.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::literal::shown;
use super::names::{any_fields, find, similar};
use super::parse::{Parser, Skipped};
use super::refused::{Failure, Position, Reason, fail};
use super::token::Kind;
use crate::descriptor::{Field, Label, Message, Presence, Type};
use crate::view::bits::{END_GROUP, LENGTH, START_GROUP};
use crate::view::sink::Sink as _;

/// What a message was given so far.
#[derive(Default)]
pub(super) struct Given<'a> {
    /// How often, by number. C++ asks whether the field is set: a zero without presence does not count.
    times: BTreeMap<i32, usize>,
    /// The member of each oneof.
    oneofs: BTreeMap<&'a str, &'a str>,
}

impl<'a> Given<'a> {
    pub(super) fn has(&self, field: &Field) -> bool {
        self.times.contains_key(&field.number)
    }

    pub(super) fn add(&mut self, field: &'a Field) {
        *self.times.entry(field.number).or_default() += 1;
        if let Some(oneof) = &field.oneof {
            self.oneofs.insert(oneof, &field.name);
        }
    }

    /// Whether the field may be given here.
    fn check(&self, ty: &Message, field: &Field, at: Position) -> Result<(), Failure> {
        if field.label == Label::Repeated {
            return Ok(());
        }
        if self.has(field) {
            return fail(at, Reason::GivenTwice(field.name.to_string()));
        }
        match field.oneof.as_deref().and_then(|oneof| self.oneofs.get_key_value(oneof)) {
            Some((oneof, other)) => {
                let by = format!("{other} of {}.{oneof}", ty.name);
                fail(at, Reason::OneofTaken { name: field.name.to_string(), by })
            }
            None => Ok(()),
        }
    }
}

impl<'a> Parser<'a> {
    /// Reads fields up to what closes the message, or to the end of the text.
    pub(super) fn fields(
        &mut self,
        ty: &'a Message,
        draft: &mut Draft,
        close: Option<u8>,
    ) -> Result<(), Failure> {
        let mut given = Given::default();
        loop {
            match close {
                Some(close) if self.at_close() => return self.close(close),
                None if self.token.kind == Kind::End => return Ok(()),
                _ => self.field(ty, &mut given, draft)?,
            }
            if draft.len() > self.limits.memory {
                return fail(self.token.at, Reason::TooLarge(self.limits.memory));
            }
        }
    }

    fn field(
        &mut self,
        ty: &'a Message,
        given: &mut Given<'a>,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        let at = self.token.at;
        let field = match self.token.kind {
            Kind::Symbol(b'[') => {
                let name = self.bracketed()?;
                if let Some((url, value)) = any_fields(ty) {
                    self.any(&name, (url, value), given, draft)?;
                    return self.separator();
                }
                self.extension(ty, &name, at)?
            }
            Kind::Identifier => {
                let name = self.advance()?.word();
                match find(ty, name) {
                    Some(field) => field,
                    None if ty.reserves_name(name) => {
                        self.reserved(ty, name, at);
                        return self.skip_value();
                    }
                    None => {
                        let similar = similar(ty, name);
                        let name = format!("{}.{}", ty.name, shown(name.as_bytes()));
                        return fail(at, Reason::UnknownField { name, similar });
                    }
                }
            }
            _ => return self.expected("the name of a field"),
        };
        given.check(ty, field, at)?;
        self.path.field(&field.name);
        self.values(field, given, draft)?;
        self.path.pop();
        self.separator()
    }

    /// Notes a field that is passed over.
    fn reserved(&mut self, ty: &'a Message, name: &'a str, first: Position) {
        let new = || Skipped { field: format!("{}.{name}", ty.name), first, times: 0 };
        self.skipped.entry((&ty.name, name)).or_insert_with(new).times += 1;
    }

    /// Reads the value of a field, or a list of values.
    fn values(
        &mut self,
        field: &'a Field,
        given: &mut Given<'a>,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        if let Type::Message(_) = field.ty {
            self.eat(b':')?;
        } else {
            self.expect(b':', "`:`")?;
        }
        if field.label != Label::Repeated || !self.eat(b'[')? {
            return self.one(field, given, draft);
        }
        if self.eat(b']')? {
            return Ok(());
        }
        loop {
            self.one(field, given, draft)?;
            if self.eat(b']')? {
                return Ok(());
            }
            self.expect(b',', "`,` or `]`")?;
        }
    }

    fn one(
        &mut self,
        field: &'a Field,
        given: &mut Given<'a>,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        let Type::Message(name) = &field.ty else {
            let zero = self.scalar(field, draft)?;
            if !zero || field.presence != Presence::Implicit {
                given.add(field);
            }
            return Ok(());
        };
        let Some(ty) = self.contract.message(name) else {
            return fail(self.token.at, Reason::NoSuchType(name.to_string()));
        };
        let repeated = field.label == Label::Repeated;
        if repeated {
            self.path.index(given.times.get(&field.number).copied().unwrap_or_default());
        }
        let close = self.open()?;
        let number = field.number as u32;
        if field.delimited {
            draft.tag(number, START_GROUP);
            self.fields(ty, draft, Some(close))?;
            draft.tag(number, END_GROUP);
        } else {
            draft.tag(number, LENGTH);
            let start = draft.open();
            self.fields(ty, draft, Some(close))?;
            draft.close(start);
        }
        if repeated {
            self.path.pop();
        }
        given.add(field);
        Ok(())
    }
}
