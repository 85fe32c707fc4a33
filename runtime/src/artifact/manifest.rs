//! Reading the manifest of a split proto entry by entry: it may be large, and decoded whole it would take
//! many times its size.

use prost::Message as _;

use super::limits::{self, Limits};
use super::rope::Rope;
use super::wire::{Fields, Wire, WireError};
use crate::error::{Error, ErrorKind};
use crate::proto::xla::Record;
use crate::proto::xla::record::RecordType;

const RESULT_PROTO_TYPE: u32 = 1;
const RECORDS: u32 = 2;
/// In an entry, and in what it holds.
const FIELD_OVERRIDE: u32 = 3;
const FIELD_PATH: u32 = 1;

/// A manifest whose entries are still encoded.
pub(super) struct Manifest<'a> {
    /// Full name of the message that the records make up.
    pub(super) message_type: String,
    /// How many records follow.
    pub(super) entries: usize,
    bytes: &'a Rope,
    chunk: usize,
    layer: &'a str,
}

impl<'a> Manifest<'a> {
    /// `chunk` is where the record lies in its file.
    pub(super) fn read(bytes: &'a Rope, chunk: usize, layer: &'a str) -> Result<Self, Error> {
        let mut manifest =
            Manifest { message_type: String::new(), entries: 0, bytes, chunk, layer };
        let mut fields = Fields::new(bytes);
        while let Some(field) = fields.next_field().map_err(|error| manifest.damaged(error))? {
            let value = || bytes.slice(field.value.clone()).unwrap_or_default();
            match (field.number, field.wire) {
                (RESULT_PROTO_TYPE, Wire::Length) => {
                    let name = String::from_utf8(value().to_bytes().into());
                    manifest.message_type =
                        name.map_err(|_| manifest.malformed("a name that is not UTF-8"))?;
                }
                (RECORDS, Wire::Length) => manifest.entries += 1,
                (RESULT_PROTO_TYPE | RECORDS, _) => {
                    let found = format!("field {} with another wire type", field.number);
                    return Err(manifest.malformed(&found));
                }
                _ => {}
            }
        }
        Ok(manifest)
    }

    /// The roles of the records, in order.
    pub(super) fn roles(&self) -> Roles<'_> {
        Roles { manifest: self, fields: Fields::new(self.bytes) }
    }

    fn damaged(&self, error: WireError) -> Error {
        self.malformed(&error.to_string())
    }

    fn malformed(&self, found: &str) -> Error {
        ErrorKind::Malformed {
            layer: self.layer.to_owned(),
            offset: self.chunk,
            what: "first record".to_owned(),
            expected: "a SplitProtoManifest".to_owned(),
            found: found.to_owned(),
        }
        .into()
    }
}

/// What the records are for, one after the other.
pub(super) struct Roles<'a> {
    manifest: &'a Manifest<'a>,
    fields: Fields<'a>,
}

impl Roles<'_> {
    /// The next record's role; `None` where it is not known.
    pub(super) fn next_role(&mut self, limits: &Limits) -> Result<Option<RecordType>, Error> {
        let manifest = self.manifest;
        while let Some(field) = self.fields.next_field().map_err(|e| manifest.damaged(e))? {
            if field.number == RECORDS {
                let entry = manifest.bytes.slice(field.value).unwrap_or_default();
                let steps = steps(&entry).map_err(|error| manifest.damaged(error))?;
                let (layer, chunk) = (manifest.layer, manifest.chunk);
                limits::check(layer, chunk, "steps of a path", steps, limits.nesting, "nesting")?;
                let entry = Record::decode(entry.reader())
                    .map_err(|error| manifest.malformed(&error.to_string()))?;
                return Ok(entry.record_type);
            }
        }
        Ok(None)
    }
}

/// Steps of the paths in an entry.
fn steps(entry: &Rope) -> Result<u64, WireError> {
    let mut steps = 0;
    let mut fields = Fields::new(entry);
    while let Some(field) = fields.next_field()? {
        if field.number == FIELD_OVERRIDE && field.wire == Wire::Length {
            let content = entry.slice(field.value).unwrap_or_default();
            let mut inner = Fields::new(&content);
            while let Some(field) = inner.next_field()? {
                steps += u64::from(field.number == FIELD_PATH);
            }
        }
    }
    Ok(steps)
}
