//! As much of an ELF file as rules need: who it is for, and its symbols.

use std::collections::BTreeSet;

use prost::bytes::Bytes;

/// ELF machine number of CUDA.
pub(super) const EM_CUDA: u16 = 190;
const SYMBOL_TABLE: u64 = 2;
const SYMBOL_SIZE: u64 = 24;
/// Sections, and symbols of all tables together, are looked at up to this many.
const MAX_SECTIONS: u64 = 1 << 16;
const MAX_SYMBOLS: u64 = 1 << 20;
const MAX_NAME: usize = 4096;

/// A 64-bit little-endian ELF file.
pub(super) struct Elf<'a> {
    bytes: &'a Bytes,
}

impl<'a> Elf<'a> {
    pub(super) fn read(bytes: &'a Bytes) -> Option<Self> {
        let elf = Elf { bytes };
        elf.number(62, 2)?; // a whole header
        bytes.starts_with(b"\x7fELF\x02\x01").then_some(elf)
    }

    /// What it runs on.
    pub(super) fn machine(&self) -> u16 {
        self.number(18, 2).and_then(|machine| u16::try_from(machine).ok()).unwrap_or(0)
    }

    /// Names of all symbols; `None` where the file has no table of them.
    pub(super) fn symbols(&self) -> Option<BTreeSet<Vec<u8>>> {
        let (table, size) = (self.number(40, 8)?, self.number(58, 2)?);
        let count = self.number(60, 2)?.min(MAX_SECTIONS);
        let section = |index: u64| table.checked_add(index.checked_mul(size)?);
        let mut found = None;
        let mut left = MAX_SYMBOLS;
        for index in 0..count {
            let at = section(index)?;
            if self.number(at.checked_add(4)?, 4)? != SYMBOL_TABLE {
                continue;
            }
            let field = |offset: u64, size| self.number(at.checked_add(offset)?, size);
            let (start, length) = (field(24, 8)?, field(32, 8)?);
            let names = section(field(40, 4)?)?;
            let (names, names_length) =
                (self.number(names.checked_add(24)?, 8)?, self.number(names.checked_add(32)?, 8)?);
            let end = names.checked_add(names_length)?;
            let found = found.get_or_insert_with(BTreeSet::new);
            let count = (length / SYMBOL_SIZE).min(left);
            left -= count;
            for symbol in 0..count {
                let name = self.number(start.checked_add(symbol * SYMBOL_SIZE)?, 4)?;
                if let Some(name) = self.text(names.checked_add(name)?, end) {
                    found.insert(name);
                }
            }
        }
        found
    }

    fn text(&self, at: u64, end: u64) -> Option<Vec<u8>> {
        let table = self.bytes.get(usize::try_from(at).ok()?..usize::try_from(end).ok()?)?;
        let length = table.iter().take(MAX_NAME).position(|byte| *byte == 0)?;
        table.get(..length).filter(|name| !name.is_empty()).map(<[u8]>::to_vec)
    }

    fn number(&self, at: u64, size: usize) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}
