//! About how much memory a message takes once it is decoded, told before it is.
//!
//! `6a 00` is a thunk, whose type takes nine thousand bytes. A decoder that only minds the length of its
//! input takes thousands of times that.

use std::collections::HashMap;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::limits;
use super::reflect::descriptor;
use super::rope::Rope;
use super::wire::{Fields, Wire};
use crate::error::Error;

/// What a message is decoded into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The contract's Rust types: a message in a list takes what its type takes.
    Typed,
    /// Messages by reflection: a tree per message.
    Dynamic,
}

/// Bytes of memory for one of the encoding that no message of the contract exceeds, in any form. What is
/// small enough by this is not looked through.
const WORST: u64 = 1 << 15;
/// Levels that decoders go down.
const DEPTH: usize = 100;
/// A list's buffer may be twice as large as its content.
const GROWTH: u64 = 2;
/// What a dynamic message takes for its fields, and for a field that no schema has.
const NODE: u64 = 1024;
const VALUE: u64 = 64;

/// An error where decoding `message` would take more than `limit` bytes, payloads not counted. What does
/// not parse is left to the decoder.
pub(super) fn check(
    message: &Rope,
    name: &'static str,
    form: Form,
    limit: u64,
) -> Result<(), Error> {
    if (message.len() as u64).saturating_mul(WORST) <= limit {
        return Ok(());
    }
    let ty = descriptor(name)?;
    let mut walk = Walk { sizes: HashMap::new(), spent: 0, limit, name, form };
    walk.message(message, &ty, 0, 0)
}

struct Walk {
    sizes: HashMap<String, u64>,
    spent: u64,
    limit: u64,
    name: &'static str,
    form: Form,
}

impl Walk {
    fn spend(&mut self, bytes: u64, offset: usize) -> Result<(), Error> {
        self.spent = self.spent.saturating_add(bytes);
        let what = "bytes of the decoded message";
        limits::check(self.name, offset, what, self.spent, self.limit, "decoded")
    }

    /// `base` is where the bytes begin in the whole message.
    fn message(
        &mut self,
        bytes: &Rope,
        ty: &MessageDescriptor,
        base: usize,
        depth: usize,
    ) -> Result<(), Error> {
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.next_field() {
            let at = base + field.whole.start;
            let length = field.value.len() as u64;
            let Some(known) = ty.get_field(field.number) else {
                // A group nobody knows has no more fields than half its bytes.
                let inner = if field.wire == Wire::Group { length / 2 } else { 0 };
                self.spend(VALUE.saturating_mul(inner + 1) * GROWTH, at)?;
                continue;
            };
            match (known.kind(), field.wire) {
                (Kind::Message(inner), Wire::Length) if depth < DEPTH => {
                    let each = match self.form {
                        Form::Typed => size(&inner, &mut self.sizes),
                        Form::Dynamic => NODE,
                    };
                    self.spend(if known.is_list() { each * GROWTH } else { each }, at)?;
                    let content = bytes.slice(field.value.clone()).unwrap_or_default();
                    self.message(&content, &inner, base + field.value.start, depth + 1)?;
                }
                (Kind::Message(_) | Kind::String | Kind::Bytes, _) => {
                    self.spend(VALUE * GROWTH, at)?;
                }
                // Packed: a value takes a byte or more.
                (_, Wire::Length) => self.spend(length.saturating_mul(VALUE), at)?,
                _ if known.is_list() => self.spend(VALUE * GROWTH, at)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Bytes of the Rust type: what it holds in line.
fn size(ty: &MessageDescriptor, sizes: &mut HashMap<String, u64>) -> u64 {
    if let Some(size) = sizes.get(ty.full_name()) {
        return *size;
    }
    // A type inside itself is a pointer there.
    sizes.insert(ty.full_name().to_owned(), 8);
    let mut whole = 0;
    for field in ty.fields().filter(|field| field.containing_oneof().is_none()) {
        whole += field_size(&field, sizes);
    }
    for oneof in ty.oneofs() {
        whole += 8 + oneof.fields().map(|field| field_size(&field, sizes)).max().unwrap_or(0);
    }
    let whole = whole.next_multiple_of(8) + 8;
    sizes.insert(ty.full_name().to_owned(), whole);
    whole
}

fn field_size(field: &FieldDescriptor, sizes: &mut HashMap<String, u64>) -> u64 {
    // An optional number has room for saying that it is not set.
    let number = |bytes| if field.supports_presence() { 2 * bytes } else { bytes };
    match field.kind() {
        _ if field.is_list() || field.is_map() => 24,
        Kind::Message(inner) => size(&inner, sizes),
        Kind::String => 24,
        Kind::Bytes => 32,
        Kind::Bool => 1,
        Kind::Int32 | Kind::Uint32 | Kind::Sint32 | Kind::Enum(_) => number(4),
        Kind::Fixed32 | Kind::Sfixed32 | Kind::Float => number(4),
        _ => number(8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::xla::gpu::{GpuExecutableProto, ThunkProto};
    use crate::proto::xla::{HloInstructionProto, HloModuleConfigProto, ShapeProto};

    fn estimate(name: &str) -> u64 {
        size(&descriptor(name).unwrap(), &mut HashMap::new())
    }

    #[test]
    fn estimates_cover_the_types() {
        for (name, actual) in [
            ("xla.gpu.GpuExecutableProto", size_of::<GpuExecutableProto>()),
            ("xla.gpu.ThunkProto", size_of::<ThunkProto>()),
            ("xla.HloInstructionProto", size_of::<HloInstructionProto>()),
            ("xla.HloModuleConfigProto", size_of::<HloModuleConfigProto>()),
            ("xla.ShapeProto", size_of::<ShapeProto>()),
        ] {
            let (estimate, actual) = (estimate(name), actual as u64);
            assert!(actual <= estimate && estimate <= 4 * actual, "{name}: {estimate}, {actual}");
        }
        for ty in crate::artifact::reflect::pool().unwrap().all_messages() {
            let most = estimate(ty.full_name()).max(NODE) * GROWTH / 2;
            assert!(most <= WORST, "{}: {most} bytes of memory for one", ty.full_name());
        }
    }

    #[test]
    fn the_field_that_is_too_much_is_named() {
        let bytes = Rope::from([0x6a, 0].repeat(1 << 10));
        let each = estimate("xla.gpu.ThunkProto") * GROWTH;
        let executable = "xla.gpu.GpuExecutableProto";
        let error = check(&bytes, executable, Form::Typed, 100 * each).unwrap_err();
        assert!(error.is_limit());
        assert_eq!(error.offset(), Some(200), "{error}");
    }

    #[test]
    fn payloads_do_not_count() {
        let mut bytes = vec![0x22, 0x80, 0x80, 0x80, 0x20];
        bytes.resize(bytes.len() + (64 << 20), 7);
        let (bytes, executable) = (Rope::from(bytes), "xla.gpu.GpuExecutableProto");
        assert!(check(&bytes, executable, Form::Typed, 1 << 20).is_ok());
        assert!(check(&bytes, executable, Form::Dynamic, 1 << 20).is_ok());
    }
}
