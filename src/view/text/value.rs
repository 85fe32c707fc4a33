//! Reading scalars, strings and enums.

use super::draft::Draft;
use super::literal::{decimal, found, integer, is_based, shown, to_float, unescape};
use super::parse::Parser;
use super::refused::{Failure, Reason, fail};
use super::token::Kind;
use crate::descriptor::{Field, Name, Scalar, Type};
use crate::view::canonical;
use crate::view::sink::Sink as _;

impl Parser<'_> {
    /// Reads one value; true when it is the zero of its type.
    pub(super) fn scalar(&mut self, field: &Field, draft: &mut Draft) -> Result<bool, Failure> {
        let bits = match &field.ty {
            Type::Enum(name) => self.enumeration(field, name)?,
            Type::Scalar(scalar) => match scalar {
                Scalar::String | Scalar::Bytes => {
                    self.string(field)?;
                    draft.length_delimited(field.number as u32, &self.scratch);
                    return Ok(self.scratch.is_empty());
                }
                Scalar::Bool => self.boolean()?,
                Scalar::Double => self.double()?.to_bits(),
                Scalar::Float => u64::from(to_float(self.double()?).to_bits()),
                Scalar::Uint32 | Scalar::Fixed32 => {
                    self.unsigned(u32::MAX.into(), scalar.name())?
                }
                Scalar::Uint64 | Scalar::Fixed64 => self.unsigned(u64::MAX, scalar.name())?,
                Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => {
                    self.signed(i32::MAX as u64, scalar.name())?
                }
                Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => {
                    self.signed(i64::MAX as u64, scalar.name())?
                }
            },
            // Has no value but fields.
            Type::Message(name) => {
                return fail(self.token.at, Reason::NoSuchType(name.to_string()));
            }
        };
        canonical::scalar(field, bits, draft);
        Ok(bits == 0)
    }

    /// Reads literals in a row into `scratch`.
    fn string(&mut self, field: &Field) -> Result<(), Failure> {
        if self.token.kind != Kind::String {
            return self.expected("a string");
        }
        let at = self.token.at;
        self.scratch.clear();
        while self.token.kind == Kind::String {
            unescape(self.token.text, &mut self.scratch);
            self.advance()?;
        }
        if field.verify_utf8 && std::str::from_utf8(&self.scratch).is_err() {
            return fail(at, Reason::InvalidUtf8);
        }
        Ok(())
    }

    fn boolean(&mut self) -> Result<u64, Failure> {
        let value = match (self.token.kind, self.token.word()) {
            (Kind::Integer, _) => return self.unsigned(1, "bool"),
            (Kind::Identifier, "true" | "True" | "t") => 1,
            (Kind::Identifier, "false" | "False" | "f") => 0,
            _ => return self.expected("`true` or `false`"),
        };
        self.advance()?;
        Ok(value)
    }

    fn unsigned(&mut self, most: u64, ty: &'static str) -> Result<u64, Failure> {
        if self.token.kind != Kind::Integer {
            return self.expected("an integer");
        }
        match integer(self.token.word()).filter(|value| *value <= most) {
            Some(value) => {
                self.advance()?;
                Ok(value)
            }
            None => {
                let literal = found(&self.token);
                fail(self.token.at, Reason::OutOfRange { literal, ty })
            }
        }
    }

    /// The bits of an integer from `-most - 1` to `most`.
    fn signed(&mut self, most: u64, ty: &'static str) -> Result<u64, Failure> {
        if self.eat(b'-')? {
            return Ok(self.unsigned(most + 1, ty)?.wrapping_neg());
        }
        self.unsigned(most, ty)
    }

    fn double(&mut self) -> Result<f64, Failure> {
        let negative = self.eat(b'-')?;
        let word = self.token.word();
        let value = match self.token.kind {
            Kind::Integer if is_based(word) => return self.expected("a decimal number"),
            Kind::Integer | Kind::Float => decimal(word),
            Kind::Identifier if word.eq_ignore_ascii_case("inf") => Some(f64::INFINITY),
            Kind::Identifier if word.eq_ignore_ascii_case("infinity") => Some(f64::INFINITY),
            Kind::Identifier if word.eq_ignore_ascii_case("nan") => Some(f64::NAN),
            _ => None,
        };
        let Some(value) = value else { return self.expected("a number") };
        self.advance()?;
        Ok(if negative { -value } else { value })
    }

    fn enumeration(&mut self, field: &Field, name: &Name) -> Result<u64, Failure> {
        let at = self.token.at;
        let Some(ty) = self.contract.enumeration(name) else {
            return fail(at, Reason::NoSuchType(name.to_string()));
        };
        let unknown = |value: &str| {
            let reserved = ty.reserves_name(value);
            let name = format!("{name}.{}", shown(value.as_bytes()));
            fail(at, Reason::UnknownEnumValue { name, reserved })
        };
        match self.token.kind {
            Kind::Identifier => {
                let word = self.advance()?.word();
                match ty.value_named(word) {
                    Some(value) => Ok(i64::from(value.number) as u64),
                    None => unknown(word),
                }
            }
            Kind::Integer | Kind::Symbol(b'-') => {
                let bits = self.signed(i32::MAX as u64, "enum")?;
                let number = bits as i32;
                if field.closed_enum && ty.value(number).is_none() {
                    return unknown(&number.to_string());
                }
                Ok(bits)
            }
            _ => self.expected("an enum value"),
        }
    }
}
