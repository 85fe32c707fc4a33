//! Sets one field, named by a path, in the bytes of a message.
//!
//! XLA's own reader takes only a single singular field of the message itself; the manifest can say more, and
//! all of that is done here on wire level, without a schema. An element or map entry that is not there
//! is an error.

use super::limits::Budget;
use super::rope::Rope;
use super::wire::{Field, Fields, Wire, push_field};
use crate::error::{Error, ErrorKind};
use crate::proto::xla::record::field_override_record::FieldPathPart;
use crate::proto::xla::record::field_override_record::field_path_part::Index;

/// Number of the value in a map's entry.
const ENTRY_KEY: u32 = 1;
const ENTRY_VALUE: u32 = 2;

/// `message` with the field at `path` set to `value`.
///
/// The path's length bounds the recursion; the caller caps it. `budget` pays for what is walked.
pub(super) fn set(
    message: &Rope,
    path: &[FieldPathPart],
    value: &Rope,
    layer: &str,
    budget: &mut Budget<'_>,
) -> Result<Rope, Error> {
    let Some((part, rest)) = path.split_first() else {
        return Err(malformed(layer, "path of a field override", "a step", "no step"));
    };
    let number = match u32::try_from(part.field_number) {
        Ok(number @ 1..=0x1fff_ffff) => number,
        _ => {
            let found = part.field_number.to_string();
            return Err(malformed(layer, "step of a field path", "a field number", &found));
        }
    };
    let occurrences = occurrences(message, number, layer, budget)?;
    let Some(index) = &part.index else {
        return singular(message, &occurrences, number, rest, value, layer, budget);
    };
    let place = match index {
        Index::RepeatedFieldIndex(index) => {
            usize::try_from(*index).ok().and_then(|index| occurrences.get(index))
        }
        // The last entry with a key is the one that counts.
        key @ (Index::StringMapKey(_) | Index::IntMapKey(_)) => {
            let mut found = None;
            for field in &occurrences {
                if has_key(&content(message, field), key, layer)? {
                    found = Some(field);
                }
            }
            found
        }
    };
    let Some(field) = place else {
        let expected = match index {
            Index::RepeatedFieldIndex(index) => format!("element {index} of field {number}"),
            Index::StringMapKey(key) => format!("an entry {key:?} in field {number}"),
            Index::IntMapKey(key) => format!("an entry {key} in field {number}"),
        };
        let found = format!("{} elements without it", occurrences.len());
        return Err(malformed(layer, "step of a field path", &expected, &found));
    };
    let element = content(message, field);
    let element = match (index, rest) {
        (Index::RepeatedFieldIndex(_), []) => value.clone(),
        (Index::RepeatedFieldIndex(_), rest) => set(&element, rest, value, layer, budget)?,
        (_, rest) => {
            let occurrences = self::occurrences(&element, ENTRY_VALUE, layer, budget)?;
            singular(&element, &occurrences, ENTRY_VALUE, rest, value, layer, budget)?
        }
    };
    let mut result = message.slice(0..field.whole.start).unwrap_or_default();
    push_field(&mut result, number, &element);
    result.append(&message.slice(field.whole.end..message.len()).unwrap_or_default());
    Ok(result)
}

/// Sets a singular field. Its occurrences merge into one, which goes to the end, so that it also wins
/// over other members of a oneof.
fn singular(
    message: &Rope,
    occurrences: &[Field],
    number: u32,
    rest: &[FieldPathPart],
    value: &Rope,
    layer: &str,
    budget: &mut Budget<'_>,
) -> Result<Rope, Error> {
    let mut result = Rope::default();
    let mut merged = Rope::default();
    let mut kept = 0;
    for field in occurrences {
        result.append(&message.slice(kept..field.whole.start).unwrap_or_default());
        merged.append(&content(message, field));
        kept = field.whole.end;
    }
    result.append(&message.slice(kept..message.len()).unwrap_or_default());
    let inner =
        if rest.is_empty() { value.clone() } else { set(&merged, rest, value, layer, budget)? };
    push_field(&mut result, number, &inner);
    Ok(result)
}

/// Length-delimited occurrences of a field.
fn occurrences(
    message: &Rope,
    number: u32,
    layer: &str,
    budget: &mut Budget<'_>,
) -> Result<Vec<Field>, Error> {
    budget.walk(layer, message.pieces().len() as u64)?;
    let mut fields = Fields::new(message);
    let mut found = Vec::new();
    while let Some(field) = fields.next_field().map_err(|error| error.in_layer(layer))? {
        budget.walk(layer, 1)?;
        if field.number == number && field.wire == Wire::Length {
            found.push(field);
        }
    }
    Ok(found)
}

fn content(message: &Rope, field: &Field) -> Rope {
    message.slice(field.value.clone()).unwrap_or_default()
}

/// Whether a map entry has the key. Integer keys are compared as stored; zigzag keys have no entry here.
fn has_key(entry: &Rope, key: &Index, layer: &str) -> Result<bool, Error> {
    let mut fields = Fields::new(entry);
    // An entry without a key has the type's zero.
    let mut equal = match key {
        Index::StringMapKey(key) => key.is_empty(),
        Index::IntMapKey(key) => *key == 0,
        Index::RepeatedFieldIndex(_) => false,
    };
    while let Some(field) = fields.next_field().map_err(|error| error.in_layer(layer))? {
        if field.number == ENTRY_KEY {
            equal = match (key, field.wire) {
                (Index::StringMapKey(key), Wire::Length) => {
                    content(entry, &field).to_bytes() == key.as_bytes()
                }
                (Index::IntMapKey(key), Wire::Varint | Wire::Fixed64) => {
                    field.scalar.cast_signed() == *key
                }
                (Index::IntMapKey(key), Wire::Fixed32) => field.scalar == *key as u64 & 0xffff_ffff,
                _ => false,
            };
        }
    }
    Ok(equal)
}

fn malformed(layer: &str, what: &str, expected: &str, found: &str) -> Error {
    ErrorKind::Malformed {
        layer: layer.to_owned(),
        offset: 0,
        what: what.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use prost::bytes::Bytes;

    use super::*;
    use crate::artifact::Limits;
    use crate::proto::xla::gpu::DenseDataIntermediateProto;
    use crate::proto::xla::gpu::GpuExecutableProto;
    use crate::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto;

    fn step(field_number: i32, index: Option<Index>) -> FieldPathPart {
        FieldPathPart { field_number, index }
    }

    fn message() -> GpuExecutableProto {
        let constant = |name: &str| ConstantInfoProto {
            symbol_name: name.to_owned(),
            content: Some(DenseDataIntermediateProto { data: Bytes::from_static(b"old") }),
            allocation_index: 7,
        };
        let mut message = GpuExecutableProto {
            asm_text: "text".to_owned(),
            constants: vec![constant("a"), constant("b")],
            ..Default::default()
        };
        message.dnn_compiled_graphs.insert("g".to_owned(), Bytes::from_static(b"graph"));
        message.dnn_compiled_graphs.insert("h".to_owned(), Bytes::from_static(b"other"));
        message
    }

    fn apply(path: &[FieldPathPart]) -> Result<GpuExecutableProto, Error> {
        let bytes = Rope::from(message().encode_to_vec());
        let value = Rope::from(b"new".to_vec());
        let limits = Limits::default();
        let result = set(&bytes, path, &value, "test", &mut Budget::new(&limits))?;
        Ok(GpuExecutableProto::decode(result.reader()).expect("decodes"))
    }

    #[test]
    fn a_singular_field_is_replaced() {
        let mut expected = message();
        expected.asm_text = "new".to_owned();
        assert_eq!(apply(&[step(3, None)]).unwrap(), expected);
    }

    #[test]
    fn a_field_of_an_element_is_replaced() {
        let mut expected = message();
        expected.constants[1].content.as_mut().unwrap().data = Bytes::from_static(b"new");
        let path = [step(12, Some(Index::RepeatedFieldIndex(1))), step(2, None), step(1, None)];
        assert_eq!(apply(&path).unwrap(), expected);
    }

    #[test]
    fn a_value_of_a_map_is_replaced() {
        let mut expected = message();
        expected.dnn_compiled_graphs.insert("g".to_owned(), Bytes::from_static(b"new"));
        let path = [step(5, Some(Index::StringMapKey("g".to_owned())))];
        assert_eq!(apply(&path).unwrap(), expected);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        for index in
            [Index::RepeatedFieldIndex(2), Index::RepeatedFieldIndex(-1), Index::IntMapKey(3)]
        {
            let error = apply(&[step(12, Some(index))]).unwrap_err().to_string();
            assert!(error.contains("field 12"), "{error}");
        }
        assert!(apply(&[]).is_err());
        assert!(apply(&[step(0, None)]).is_err());
        assert!(apply(&[step(-5, None)]).is_err());
    }
}
