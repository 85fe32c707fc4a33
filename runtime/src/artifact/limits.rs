//! Caps on what a reader takes in, so that a hostile file costs little.

use crate::error::{Error, ErrorKind};

/// Caps of [`Artifact::read_with`](super::Artifact::read_with). Each stops the reader *before* the
/// memory is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the input.
    pub input: u64,
    /// Bytes that decompression may yield, all layers together.
    pub decompressed: u64,
    /// Records of one split-proto file.
    pub records: u64,
    /// Bytes of one envelope's metadata message or one manifest.
    pub metadata: u64,
    /// Steps of a field path.
    pub nesting: u64,
    /// Fields that are walked for overrides along a path of more than one step, all records together.
    pub walked_fields: u64,
    /// Bytes that a message may take once decoded, payloads not counted: about, and rather too high.
    /// Several are decoded at a time where an artifact is inspected.
    pub decoded: u64,
}

impl Default for Limits {
    /// 1 GiB in, 256 MiB decompressed, a million records, 16 MiB of metadata, paths of 100 steps and 16
    /// million fields walked for them, 1 GiB for a decoded message. Recorded artifacts have less than 64 MiB.
    fn default() -> Self {
        Limits {
            input: 1 << 30,
            decompressed: 256 << 20,
            records: 1 << 20,
            metadata: 16 << 20,
            nesting: 100,
            walked_fields: 1 << 24,
            decoded: 1 << 30,
        }
    }
}

/// Limits with what is used up so far, and the layer that is being read.
pub(crate) struct Budget<'a> {
    pub(crate) limits: &'a Limits,
    decompressed: u64,
    walked: u64,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Self {
        Budget { limits, decompressed: 0, walked: 0 }
    }

    /// Takes `bytes` of decompressed data off the budget.
    pub(crate) fn decompress(
        &mut self,
        layer: &str,
        offset: usize,
        bytes: u64,
    ) -> Result<(), Error> {
        let value = self.decompressed.saturating_add(bytes);
        let limit = self.limits.decompressed;
        check(layer, offset, "decompressed bytes", value, limit, "decompressed")?;
        self.decompressed = value;
        Ok(())
    }

    /// Takes `fields` that are walked off the budget.
    pub(crate) fn walk(&mut self, layer: &str, fields: u64) -> Result<(), Error> {
        let value = self.walked.saturating_add(fields);
        let limit = self.limits.walked_fields;
        check(layer, 0, "fields walked for overrides", value, limit, "walked_fields")?;
        self.walked = value;
        Ok(())
    }
}

/// An error where `value` is over `limit`.
pub(crate) fn check(
    layer: &str,
    offset: usize,
    what: &'static str,
    value: u64,
    limit: u64,
    setting: &'static str,
) -> Result<(), Error> {
    if value <= limit {
        return Ok(());
    }
    Err(ErrorKind::Limit { layer: layer.to_owned(), offset, what, value, limit, setting }.into())
}
