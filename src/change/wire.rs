//! The wire-compatibility table: what a reader with one schema makes of bytes written with another.
//!
//! Everything is stated once, as "writer W, reader R". The backward effect of a change is base writing
//! and head reading, the forward effect is head writing and base reading. The reader is C++ protobuf,
//! which XLA's loader is: a value whose wire type does not fit goes to the unknown fields without an
//! error, unknown numbers of closed enums likewise, and a missing required field fails the parse.
//! Sources: protobuf.dev (proto3 guide, encoding, field presence, enum behaviour, dos and don'ts,
//! editions features).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::matcher::Pairs;
use crate::descriptor::{Contract, Enum, Field, Label, Message, Name, Presence, Scalar, Type};

/// How bad it is for the data that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Read as written.
    Safe,
    /// Only some values suffer.
    LossyInRange,
    /// The value is dropped without an error.
    SilentLoss,
    /// The value is read as something else.
    WrongValue,
    /// The parse fails.
    Fail,
}

impl Severity {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Safe => "safe",
            Severity::LossyInRange => "lossy-in-range",
            Severity::SilentLoss => "silent-loss",
            Severity::WrongValue => "wrong-value",
            Severity::Fail => "fail",
        }
    }
}

/// Effect of a change in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WireEffect {
    /// New reader, old data.
    pub backward: Severity,
    /// Old reader, new data.
    pub forward: Severity,
}

impl WireEffect {
    /// No effect either way.
    pub const SAFE: WireEffect = WireEffect { backward: Severity::Safe, forward: Severity::Safe };

    /// From the two severities.
    pub fn new(backward: Severity, forward: Severity) -> Self {
        WireEffect { backward, forward }
    }

    /// The worse of both effects, per direction.
    pub fn worst(self, other: WireEffect) -> WireEffect {
        WireEffect {
            backward: self.backward.max(other.backward),
            forward: self.forward.max(other.forward),
        }
    }

    /// Whether neither direction is affected.
    pub fn is_safe(self) -> bool {
        self == WireEffect::SAFE
    }
}

/// The wire types of the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Varint,
    Fixed32,
    Fixed64,
    Length,
    Group,
}

fn element_encoding(field: &Field) -> Encoding {
    match &field.ty {
        Type::Enum(_) => Encoding::Varint,
        Type::Message(_) if field.delimited => Encoding::Group,
        Type::Message(_) => Encoding::Length,
        Type::Scalar(scalar) => match scalar {
            Scalar::Fixed32 | Scalar::Sfixed32 | Scalar::Float => Encoding::Fixed32,
            Scalar::Fixed64 | Scalar::Sfixed64 | Scalar::Double => Encoding::Fixed64,
            Scalar::String | Scalar::Bytes => Encoding::Length,
            _ => Encoding::Varint,
        },
    }
}

fn packable(field: &Field) -> bool {
    !matches!(element_encoding(field), Encoding::Length | Encoding::Group)
}

/// Compares fields and types of two contracts, remembering message comparisons.
pub struct WireTable<'a, 'p> {
    base: &'a Contract,
    head: &'a Contract,
    pairs: &'p Pairs,
    messages: RefCell<HashMap<(Direction, Name, Name), Severity>>,
    depth: Cell<usize>,
}

/// Message types nested deeper than this in each other are not compared.
const MAX_DEPTH: usize = 200;

/// Who reads whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Direction {
    /// Head reads base's bytes.
    Backward,
    /// Base reads head's bytes.
    Forward,
}

impl<'a, 'p> WireTable<'a, 'p> {
    /// A table for two contracts whose types were paired.
    pub fn new(base: &'a Contract, head: &'a Contract, pairs: &'p Pairs) -> Self {
        WireTable { base, head, pairs, messages: RefCell::default(), depth: Cell::new(0) }
    }

    /// Effect of a field's new type, with everything else as it is.
    pub fn type_effect(&self, base: &Field, head: &Field) -> WireEffect {
        WireEffect {
            backward: self.read_type(Direction::Backward, base, head),
            forward: self.read_type(Direction::Forward, head, base),
        }
    }

    fn read_type(&self, direction: Direction, writer: &Field, reader: &Field) -> Severity {
        let (written, wanted) = (element_encoding(writer), element_encoding(reader));
        if written != wanted {
            return read_other_encoding(writer, reader);
        }
        match (&writer.ty, &reader.ty) {
            (Type::Scalar(writer_type), Type::Scalar(reader_type)) => {
                read_scalar(*writer_type, *reader_type, reader.verify_utf8)
            }
            (Type::Enum(writer_enum), Type::Enum(reader_enum)) => {
                self.read_enum(direction, writer_enum, reader_enum, reader.closed_enum)
            }
            (Type::Enum(writer_enum), Type::Scalar(scalar)) => match scalar {
                Scalar::Bool => Severity::LossyInRange,
                // Negative numbers are sign-extended.
                Scalar::Uint32 | Scalar::Uint64 if self.has_negative(direction, writer_enum) => {
                    Severity::LossyInRange
                }
                Scalar::Sint32 | Scalar::Sint64 => Severity::WrongValue,
                _ => Severity::Safe,
            },
            (Type::Scalar(scalar), Type::Enum(_)) => match scalar {
                Scalar::Sint32 | Scalar::Sint64 => Severity::WrongValue,
                _ if reader.closed_enum => Severity::LossyInRange,
                Scalar::Int32 | Scalar::Bool => Severity::Safe,
                _ => Severity::LossyInRange,
            },
            (Type::Message(writer_type), Type::Message(reader_type)) => {
                self.read_message(direction, writer_type, reader_type)
            }
            // The bytes are not that message, or only by luck.
            (Type::Scalar(_), Type::Message(_)) => Severity::Fail,
            (Type::Message(_), Type::Scalar(_)) if reader.verify_utf8 => Severity::Fail,
            (Type::Message(_), Type::Scalar(_)) => Severity::WrongValue,
            // Encodings of enums and messages never agree.
            (Type::Enum(_), Type::Message(_)) | (Type::Message(_), Type::Enum(_)) => {
                Severity::SilentLoss
            }
        }
    }

    fn sides(&self, direction: Direction) -> (&'a Contract, &'a Contract) {
        match direction {
            Direction::Backward => (self.base, self.head),
            Direction::Forward => (self.head, self.base),
        }
    }

    /// Whether the writer's enum has a negative number.
    fn has_negative(&self, direction: Direction, writer: &Name) -> bool {
        let writer = self.sides(direction).0.enumeration(writer);
        writer.is_some_and(|e| e.values.iter().any(|v| v.number < 0))
    }

    /// Reading one message type as another. Types that are each other's counterpart are safe here:
    /// what changed inside them is reported where it changed.
    fn read_message(&self, direction: Direction, writer: &Name, reader: &Name) -> Severity {
        let paired = match direction {
            Direction::Backward => self.pairs.message_in_head(writer) == Some(reader),
            Direction::Forward => self.pairs.message_in_head(reader) == Some(writer),
        };
        if paired {
            return Severity::Safe;
        }
        let key = (direction, writer.clone(), reader.clone());
        if let Some(known) = self.messages.borrow().get(&key) {
            return *known;
        }
        if self.depth.get() >= MAX_DEPTH {
            return Severity::SilentLoss; // deeper than any real schema: not vouched for
        }
        // Recursive types: what is being compared counts as equal until shown otherwise.
        self.messages.borrow_mut().insert(key.clone(), Severity::Safe);
        let (writers, readers) = self.sides(direction);
        let severity = match (writers.message(writer), readers.message(reader)) {
            (Some(writer), Some(reader)) => {
                self.depth.set(self.depth.get() + 1);
                let severity = self.read_fields(direction, writer, reader);
                self.depth.set(self.depth.get() - 1);
                severity
            }
            _ => Severity::SilentLoss,
        };
        self.messages.borrow_mut().insert(key, severity);
        severity
    }

    fn read_fields(&self, direction: Direction, writer: &Message, reader: &Message) -> Severity {
        let mut worst = Severity::Safe;
        // Members of one oneof clear each other; the last one that was written wins.
        let mut members: HashMap<&str, &Field> = HashMap::new();
        for written in &writer.fields {
            let Some(read) = reader.field(written.number) else {
                worst = worst.max(Severity::SilentLoss);
                continue;
            };
            if read.name != written.name {
                return Severity::WrongValue;
            }
            worst = worst
                .max(self.read_type(direction, written, read))
                .max(read_label(written, read))
                .max(self.read_unset(direction, written, read))
                .max(read_utf8(written, read));
            if let Some(oneof) = &read.oneof {
                let other = members.insert(oneof, written);
                let together = other.is_none_or(|o| o.oneof.is_some() && o.oneof == written.oneof);
                if !together {
                    worst = worst.max(Severity::LossyInRange);
                }
            }
        }
        if reader.map_entry && !writer.map_entry {
            // The last entry of a key wins.
            worst = worst.max(Severity::LossyInRange);
        }
        let lacks_required = reader
            .fields
            .iter()
            .any(|f| f.label == Label::Required && writer.field(f.number).is_none());
        if lacks_required { Severity::Fail } else { worst }
    }

    /// What a reader makes of a field that was not written, or of a zero that was not.
    fn read_unset(&self, direction: Direction, writer: &Field, reader: &Field) -> Severity {
        let (writers, readers) = self.sides(direction);
        let unset = implied_default(writers, writer).zip(implied_default(readers, reader));
        if unset.is_some_and(|(writer, reader)| writer != reader) {
            Severity::WrongValue
        } else if writer.presence == Presence::Implicit && reader.presence == Presence::Explicit {
            Severity::LossyInRange
        } else {
            Severity::Safe
        }
    }

    /// Reading one enum type as another.
    fn read_enum(
        &self,
        direction: Direction,
        writer: &Name,
        reader: &Name,
        closed: bool,
    ) -> Severity {
        let paired = match direction {
            Direction::Backward => self.pairs.enum_in_head(writer) == Some(reader),
            Direction::Forward => self.pairs.enum_in_head(reader) == Some(writer),
        };
        if paired {
            return Severity::Safe;
        }
        let (writers, readers) = self.sides(direction);
        let (Some(writer), Some(reader)) =
            (writers.enumeration(writer), readers.enumeration(reader))
        else {
            return Severity::SilentLoss;
        };
        let (written, read) =
            (super::matcher::stripped_names(writer), super::matcher::stripped_names(reader));
        if written.iter().any(|(number, name)| read.get(number).is_some_and(|other| other != name))
        {
            return Severity::WrongValue;
        }
        let unknown = writer.values.iter().any(|value| reader.value(value.number).is_none());
        if unknown { unknown_enum_number(closed) } else { Severity::Safe }
    }
}

/// Reading a field whose values have another wire type than the reader's.
fn read_other_encoding(writer: &Field, reader: &Field) -> Severity {
    // A packed list has a length, and whatever has one is read as a packed list where numbers may
    // repeat. Lengths and ends seldom fit.
    let length = writer.packed || element_encoding(writer) == Encoding::Length;
    if length && reader.label == Label::Repeated && packable(reader) {
        return Severity::Fail;
    }
    match &reader.ty {
        _ if !writer.packed || element_encoding(reader) != Encoding::Length => Severity::SilentLoss,
        Type::Message(_) => Severity::Fail,
        _ if reader.verify_utf8 => Severity::Fail,
        _ => Severity::WrongValue,
    }
}

/// Effect on a reader of an enum number that it does not know.
pub fn unknown_enum_number(closed: bool) -> Severity {
    // Open: the raw number is kept. Closed: the value goes to the unknown fields, repeated values are
    // reordered, and a map loses the whole entry.
    if closed { Severity::SilentLoss } else { Severity::LossyInRange }
}

fn read_scalar(writer: Scalar, reader: Scalar, verify_utf8: bool) -> Severity {
    use Scalar::{
        Bool, Bytes, Double, Fixed32, Fixed64, Float, Int32, Int64, Sfixed32, Sfixed64, Sint32,
        Sint64, String, Uint32, Uint64,
    };
    match (writer, reader) {
        (a, b) if a == b => Severity::Safe,
        // Widening.
        (Int32, Int64) | (Uint32, Uint64 | Int64) | (Sint32, Sint64) => Severity::Safe,
        (Bool, Int32 | Int64 | Uint32 | Uint64) => Severity::Safe,
        // Truncation, sign, and everything nonzero as true.
        (Sint64, Sint32) => Severity::LossyInRange,
        (_, Bool) => Severity::LossyInRange,
        // Zigzag on one side only: 5 reads as -3.
        (Sint32 | Sint64, _) | (_, Sint32 | Sint64) => Severity::WrongValue,
        (Int32 | Int64 | Uint32 | Uint64, Int32 | Int64 | Uint32 | Uint64) => {
            Severity::LossyInRange
        }
        (Fixed32, Sfixed32) | (Sfixed32, Fixed32) | (Fixed64, Sfixed64) | (Sfixed64, Fixed64) => {
            Severity::LossyInRange
        }
        (Fixed32 | Sfixed32, Float) | (Float, Fixed32 | Sfixed32) => Severity::WrongValue,
        (Fixed64 | Sfixed64, Double) | (Double, Fixed64 | Sfixed64) => Severity::WrongValue,
        (String, Bytes) => Severity::Safe,
        (Bytes, String) => {
            if verify_utf8 {
                Severity::Fail
            } else {
                Severity::Safe
            }
        }
        // Any other pair has different encodings and never gets here.
        _ => Severity::SilentLoss,
    }
}

/// Cardinality of one field read with another's.
fn read_label(writer: &Field, reader: &Field) -> Severity {
    match (writer.label, reader.label) {
        (a, b) if a == b => Severity::Safe,
        (Label::Singular, Label::Required) => Severity::Fail,
        (Label::Required, Label::Singular) => Severity::Safe,
        // A zero is not written at all: one element becomes none.
        (Label::Singular, Label::Repeated) if writer.presence == Presence::Implicit => {
            Severity::LossyInRange
        }
        (Label::Singular | Label::Required, Label::Repeated) => Severity::Safe,
        (Label::Repeated, Label::Required) => Severity::Fail,
        // The last one wins, messages merge; a packed list is dropped whole.
        _ => Severity::SilentLoss,
    }
}

/// Effect of another cardinality.
pub fn label_effect(base: &Field, head: &Field) -> WireEffect {
    WireEffect::new(read_label(base, head), read_label(head, base))
}

/// Effect of another presence discipline.
pub fn presence_effect(base: Presence, head: Presence) -> WireEffect {
    match (base, head) {
        // Set-to-default cannot be told from unset any more; a default is no longer sent.
        (Presence::Explicit, Presence::Implicit) => {
            WireEffect::new(Severity::LossyInRange, Severity::LossyInRange)
        }
        // An old zero was never written and reads as absent.
        (Presence::Implicit, Presence::Explicit) => {
            WireEffect::new(Severity::LossyInRange, Severity::Safe)
        }
        _ => WireEffect::SAFE,
    }
}

/// Effect of moving a field into, out of, or between oneofs.
///
/// `base` and `head` count the other members of the oneof that existed in base too.
pub fn oneof_effect(
    base: &Field,
    head: &Field,
    base_siblings: usize,
    head_siblings: usize,
) -> WireEffect {
    let lossy = Severity::LossyInRange;
    match (&base.oneof, &head.oneof) {
        // Old artifacts may have set both: reading the second clears the first.
        (None, Some(_)) if head_siblings > 0 => WireEffect::new(lossy, Severity::Safe),
        // A zero was not sent, and an old reader takes a zero that is set for none.
        (None, Some(_)) if base.presence == Presence::Implicit => WireEffect::new(lossy, lossy),
        (None, Some(_)) => WireEffect::SAFE,
        // New artifacts may set both: an old reader clears the first.
        (Some(_), None) if base_siblings > 0 => WireEffect::new(Severity::Safe, lossy),
        (Some(_), None) => WireEffect::SAFE,
        (Some(a), Some(b)) if a != b => WireEffect::new(lossy, lossy),
        _ => WireEffect::SAFE,
    }
}

/// Effect of a field that exists in head only.
pub fn added_field_effect(head: &Field) -> WireEffect {
    let backward = if head.label == Label::Required { Severity::Fail } else { Severity::Safe };
    WireEffect::new(backward, Severity::SilentLoss)
}

/// Effect of a field that exists in base only.
pub fn removed_field_effect(base: &Field) -> WireEffect {
    let forward = if base.label == Label::Required { Severity::Fail } else { Severity::Safe };
    WireEffect::new(Severity::SilentLoss, forward)
}

/// What an unset field reads: its default, else the zero of its type. Numbers of enums, 0 and 1 of
/// booleans, so that values compare across types; `None` where unset has no value to read.
pub(crate) fn implied_default(contract: &Contract, field: &Field) -> Option<String> {
    if field.label == Label::Repeated {
        return None;
    }
    let number = |text: &str| match text {
        "false" => "0".to_owned(),
        "true" => "1".to_owned(),
        // A float's zero is spelled in several ways; -0 is another value.
        _ if !text.starts_with('-') && text.parse() == Ok(0.0_f64) => "0".to_owned(),
        _ => text.to_owned(),
    };
    let default = field.default.as_deref();
    match &field.ty {
        Type::Message(_) => None,
        Type::Scalar(Scalar::String | Scalar::Bytes) => Some(default.unwrap_or("").to_owned()),
        Type::Scalar(_) => Some(number(default.unwrap_or("0"))),
        Type::Enum(name) => {
            let values = contract.enumeration(name)?;
            let value = match default {
                Some(name) => values.value_named(name),
                None => values.values.first(),
            };
            value.map(|value| value.number.to_string())
        }
    }
}

/// Effect of another explicit default: unset fields read each reader's own.
pub const DEFAULT_CHANGED: WireEffect =
    WireEffect { backward: Severity::WrongValue, forward: Severity::WrongValue };

/// Effect of a number that went to another field.
pub const RENUMBERED: WireEffect =
    WireEffect { backward: Severity::SilentLoss, forward: Severity::SilentLoss };

/// Effect of switching UTF-8 validation of a string field.
pub fn utf8_effect(base: &Field, head: &Field) -> WireEffect {
    WireEffect::new(read_utf8(base, head), read_utf8(head, base))
}

/// Reading strings that may not be UTF-8.
fn read_utf8(writer: &Field, reader: &Field) -> Severity {
    let strings = writer.ty == Type::Scalar(Scalar::String) && reader.ty == writer.ty;
    if strings && reader.verify_utf8 && !writer.verify_utf8 {
        Severity::Fail
    } else {
        Severity::Safe
    }
}

/// Effect of switching between length-prefixed and delimited sub-messages.
pub const ENCODING_CHANGED: WireEffect =
    WireEffect { backward: Severity::SilentLoss, forward: Severity::SilentLoss };

/// Effect of an enum number that exists in head only, on a reader with base's enum.
pub fn added_value_effect(base: &Enum) -> WireEffect {
    WireEffect::new(Severity::Safe, unknown_enum_number(base.closed))
}

/// Effect of an enum number that exists in base only, on a reader with head's enum.
pub fn removed_value_effect(head: &Enum) -> WireEffect {
    WireEffect::new(unknown_enum_number(head.closed), Severity::Safe)
}

/// Effect of opening or closing an enum: a closed reader drops the numbers that it does not know.
pub fn closedness_effect(head_closed: bool) -> WireEffect {
    if head_closed {
        WireEffect::new(Severity::LossyInRange, Severity::Safe)
    } else {
        WireEffect::new(Severity::Safe, Severity::LossyInRange)
    }
}
