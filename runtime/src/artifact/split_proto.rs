//! Split protos: a record file whose first record, the manifest, says how the others make up one message.

use std::collections::BTreeSet;

use prost::Message as _;

use super::limits::{self, Budget};
use super::manifest::Manifest;
use super::riegeli::{self, Compression};
use super::rope::Rope;
use super::wire::{Fields, Wire, WireError, push_field};
use super::{RecordInfo, RecordRole, field_path};
use crate::error::{Error, ErrorKind};
use crate::proto::xla::record::field_override_record::{FieldDescriptorType, FieldPathPart};
use crate::proto::xla::record::{FieldOverrideRecord, ProtoMergeRecord, RecordType};
use crate::proto::xla::{Record, SplitProtoManifest};

/// A split proto, put together.
pub(super) struct Split {
    /// Full name of the message that the manifest states.
    pub(super) message_type: String,
    pub(super) message: Rope,
    pub(super) records: Vec<RecordInfo>,
    /// Their bytes, in the same order.
    pub(super) data: Vec<Rope>,
}

/// Whether `bytes` is a record file.
pub(super) fn detect(bytes: &Rope) -> bool {
    bytes.starts_with(&riegeli::SIGNATURE)
}

/// Reads the file and assembles its message. Payloads are not copied, except where a record file's
/// compression makes it necessary.
pub(super) fn read(file: &Rope, layer: &str, budget: &mut Budget<'_>) -> Result<Split, Error> {
    let records = riegeli::read_records(file, layer, budget)?;
    let Some((first, rest)) = records.split_first() else {
        return Err(malformed(layer, 0, "records of a split proto", "a manifest", "no record"));
    };
    let size = first.data.len() as u64;
    limits::check(layer, first.chunk, "manifest", size, budget.limits.metadata, "metadata")?;
    let manifest = Manifest::read(&first.data, first.chunk, layer)?;
    if manifest.entries != rest.len() {
        let expected = format!("{} as the manifest says", manifest.entries);
        let found = rest.len().to_string();
        return Err(malformed(layer, first.chunk, "records after the manifest", &expected, &found));
    }
    let mut message = Rope::default();
    let mut seen = BTreeSet::new();
    let mut infos = Vec::with_capacity(records.len());
    infos.push(RecordInfo { role: RecordRole::Manifest, size: first.data.len() });
    let mut roles = manifest.roles();
    for (index, record) in rest.iter().enumerate() {
        let role = match roles.next_role(budget.limits)? {
            Some(RecordType::ProtoMergeRecord(ProtoMergeRecord {})) => {
                // Merging is joining, given that each part is whole.
                numbers(&record.data, &mut seen)
                    .map_err(|error| error.in_layer(&place(layer, index)))?;
                message.append(&record.data);
                RecordRole::Merge
            }
            Some(RecordType::FieldOverrideRecord(field)) => {
                let place = place(layer, index);
                replace(&mut message, &mut seen, &field, record, &place, budget)?;
                RecordRole::Override(path_text(&field.field_path))
            }
            // XLA's reader passes over a kind of record that it does not know.
            None => RecordRole::Unknown,
        };
        infos.push(RecordInfo { role, size: record.data.len() });
    }
    let message_type = manifest.message_type;
    let data = records.into_iter().map(|record| record.data).collect();
    Ok(Split { message_type, message, records: infos, data })
}

/// What a record after the manifest is called; `index` counts from the first of them.
fn place(layer: &str, index: usize) -> String {
    format!("{layer}, record {}", index + 1)
}

/// Sets one field of `message`; `seen` has the numbers of the fields that were set before.
fn replace(
    message: &mut Rope,
    seen: &mut BTreeSet<u32>,
    field: &FieldOverrideRecord,
    record: &riegeli::Record,
    layer: &str,
    budget: &mut Budget<'_>,
) -> Result<(), Error> {
    if field.field_type() != FieldDescriptorType::TypeString {
        return Err(ErrorKind::Unsupported {
            layer: layer.to_owned(),
            offset: record.chunk,
            what: format!("a field override of type {}", field.field_type),
            help: "only strings and bytes are known; a newer compiler may have written this",
        }
        .into());
    }
    if let [FieldPathPart { field_number: number @ 1..=0x1fff_ffff, index: None }] =
        field.field_path.as_slice()
    {
        let number = number.cast_unsigned();
        // An empty value is the field's default: where nothing was set before, it stays unset.
        // Otherwise the last occurrence of a field is the one that counts.
        if seen.insert(number) && record.data.is_empty() {
            seen.remove(&number);
        } else {
            push_field(message, number, &record.data);
        }
        return Ok(());
    }
    for part in field.field_path.iter().take(1) {
        seen.insert(part.field_number.cast_unsigned());
    }
    *message = field_path::set(message, &field.field_path, &record.data, layer, budget)?;
    Ok(())
}

/// Adds the numbers of a message's fields to `seen`.
fn numbers(message: &Rope, seen: &mut BTreeSet<u32>) -> Result<(), WireError> {
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next_field()? {
        seen.insert(field.number);
    }
    Ok(())
}

fn path_text(path: &[FieldPathPart]) -> String {
    use crate::proto::xla::record::field_override_record::field_path_part::Index;
    let steps = path.iter().map(|part| match &part.index {
        None => part.field_number.to_string(),
        Some(Index::RepeatedFieldIndex(index)) => format!("{}[{index}]", part.field_number),
        Some(Index::StringMapKey(key)) => format!("{}[{key:?}]", part.field_number),
        Some(Index::IntMapKey(key)) => format!("{}[{key}]", part.field_number),
    });
    steps.collect::<Vec<_>>().join(".")
}

fn malformed(layer: &str, offset: usize, what: &str, expected: &str, found: &str) -> Error {
    ErrorKind::Malformed {
        layer: layer.to_owned(),
        offset,
        what: what.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
    .into()
}

/// How a message is taken apart, as XLA's writers do it.
pub(super) struct Plan {
    pub(super) message_type: &'static str,
    /// Singular string or bytes fields with a record each, in this order.
    pub(super) overrides: &'static [u32],
    /// A field whose elements share one record.
    pub(super) together: Option<u32>,
    /// A field whose elements have a record each.
    pub(super) each: Option<u32>,
}

/// Writes `message` as a split proto.
pub(super) fn write(
    message: &Rope,
    plan: &Plan,
    compression: Compression,
) -> Result<Vec<u8>, Error> {
    let mut overrides = vec![Rope::default(); plan.overrides.len()];
    let (mut together, mut rest) = (Rope::default(), Rope::default());
    let mut each = Vec::new();
    let mut fields = Fields::new(message);
    let in_layer = |error: WireError| error.in_layer(plan.message_type);
    while let Some(field) = fields.next_field().map_err(in_layer)? {
        let whole = message.slice(field.whole.clone()).unwrap_or_default();
        let length_delimited = field.wire == Wire::Length;
        let position = plan.overrides.iter().position(|number| *number == field.number);
        match position.and_then(|position| overrides.get_mut(position)) {
            Some(value) if length_delimited => {
                *value = message.slice(field.value).unwrap_or_default();
            }
            _ if plan.together == Some(field.number) && length_delimited => together.append(&whole),
            _ if plan.each == Some(field.number) && length_delimited => each.push(whole),
            _ => rest.append(&whole),
        }
    }

    let merge = || Record { record_type: Some(RecordType::ProtoMergeRecord(ProtoMergeRecord {})) };
    let mut manifest = SplitProtoManifest {
        result_proto_type: plan.message_type.to_owned(),
        ..Default::default()
    };
    for number in plan.overrides {
        let part = FieldPathPart { field_number: number.cast_signed(), index: None };
        let field = FieldOverrideRecord {
            field_path: vec![part],
            field_type: FieldDescriptorType::TypeString.into(),
        };
        let record_type = Some(RecordType::FieldOverrideRecord(field));
        manifest.records.push(Record { record_type });
    }
    let mut records = overrides;
    if plan.together.is_some() {
        records.push(together);
    }
    records.append(&mut each);
    records.push(rest);
    manifest.records.resize_with(records.len(), merge);
    records.insert(0, manifest.encode_to_vec().into());
    riegeli::write_records(&records, compression)
}
