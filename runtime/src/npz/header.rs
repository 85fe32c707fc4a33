//! The header of one `.npy` file: a magic, a version, and a Python dictionary.

use prost::bytes::Bytes;

use super::{Array, malformed};
use crate::error::Error;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longer headers are refused: a real one has 118 bytes.
const MAX_HEADER: usize = 1 << 16;
/// Bytes of a file before its elements, at most: magic, version, length and header.
pub(super) const MAX_FILE_HEADER: u64 = 12 + MAX_HEADER as u64;
/// NumPy itself allows no more.
const MAX_RANK: usize = 64;

/// Type of an array's elements, as NumPy stores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// One byte, 0 or 1 (`|b1`).
    Bool,
    /// Two's complement of so many bytes (`<i4`).
    Signed(u8),
    /// Without a sign, of so many bytes (`<u2`); also what stands for a type that NumPy lacks.
    Unsigned(u8),
    /// IEEE, of so many bytes (`<f2`, `<f4`, `<f8`).
    Float(u8),
    /// Two floats of half as many bytes each (`<c8`, `<c16`).
    Complex(u8),
}

impl Element {
    /// Bytes of one element.
    pub fn size(self) -> u8 {
        match self {
            Element::Bool => 1,
            Element::Signed(size)
            | Element::Unsigned(size)
            | Element::Float(size)
            | Element::Complex(size) => size,
        }
    }

    /// How NumPy writes it, such as `<f4`.
    pub fn descr(self) -> String {
        let (kind, size) = match self {
            Element::Bool => ('b', 1),
            Element::Signed(size) => ('i', size),
            Element::Unsigned(size) => ('u', size),
            Element::Float(size) => ('f', size),
            Element::Complex(size) => ('c', size),
        };
        format!("{}{kind}{size}", if size == 1 { '|' } else { '<' })
    }

    fn parse(descr: &str) -> Option<Element> {
        let mut chars = descr.chars();
        let order = chars.next()?;
        let kind = chars.next()?;
        let size: u8 = chars.as_str().parse().ok()?;
        if !(order == '<' || order == '|' && size == 1) {
            return None;
        }
        Some(match (kind, size) {
            ('b', 1) => Element::Bool,
            ('i', 1 | 2 | 4 | 8) => Element::Signed(size),
            ('u', 1 | 2 | 4 | 8) => Element::Unsigned(size),
            ('f', 2 | 4 | 8) => Element::Float(size),
            ('c', 8 | 16) => Element::Complex(size),
            _ => return None,
        })
    }
}

/// The array of a whole `.npy` file.
pub(super) fn array(layer: &str, file: Bytes) -> Result<Array, Error> {
    let header = |expected: &str, found: &str| malformed(layer, "header", expected, found);
    if !file.starts_with(MAGIC) {
        return Err(header("the magic of a .npy file", "something else"));
    }
    let (length, start) = match file.get(6..12) {
        Some(&[1, _, low, high, ..]) => (usize::from(u16::from_le_bytes([low, high])), 10),
        Some(&[2 | 3, _, a, b, c, d]) => (u32::from_le_bytes([a, b, c, d]) as usize, 12),
        _ => return Err(header("version 1, 2 or 3", "another one")),
    };
    let end = start + length;
    let text = file
        .get(start..end)
        .filter(|_| length <= MAX_HEADER)
        .and_then(|text| std::str::from_utf8(text).ok())
        .ok_or_else(|| header("a dictionary", &format!("{length} bytes of something else")))?;
    let dictionary = Dictionary::parse(text).ok_or_else(|| {
        let found: String = text.trim_end().chars().take(100).collect();
        header("descr, fortran_order and shape", &found)
    })?;
    let element = Element::parse(&dictionary.descr).ok_or_else(|| {
        let expected = "little-endian numbers of 1 to 16 bytes, or booleans";
        malformed(layer, "element type", expected, &dictionary.descr)
    })?;
    let shape = dictionary.shape;
    // With at most one size over 1, both orders are the same.
    if dictionary.fortran && shape.iter().filter(|size| **size > 1).count() > 1 {
        return Err(malformed(layer, "order", "C order", "Fortran order"));
    }
    let elements = shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
    let wanted = elements.and_then(|count| count.checked_mul(u64::from(element.size())));
    let data = file.slice(end..);
    if wanted != Some(data.len() as u64) {
        let expected = wanted.map_or("a size that fits".to_owned(), |n| format!("{n} bytes"));
        return Err(malformed(layer, "data", &expected, &format!("{} bytes", data.len())));
    }
    Ok(Array { element, shape, data })
}

#[derive(Debug, PartialEq, Eq)]
struct Dictionary {
    descr: String,
    fortran: bool,
    shape: Vec<u64>,
}

impl Dictionary {
    /// `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, the keys in any order.
    fn parse(text: &str) -> Option<Dictionary> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" if descr.is_none() => {
                    let (text, after) = quoted(value)?;
                    descr = Some(text.to_owned());
                    after
                }
                "fortran_order" if fortran.is_none() => {
                    let yes = value.strip_prefix("True");
                    fortran = Some(yes.is_some());
                    yes.or_else(|| value.strip_prefix("False"))?
                }
                "shape" if shape.is_none() => {
                    let (inner, after) = value.strip_prefix('(')?.split_once(')')?;
                    shape = Some(sizes(inner)?);
                    after
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Dictionary { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// `2, 3`, `2,`, or nothing for a scalar.
fn sizes(inner: &str) -> Option<Vec<u64>> {
    let inner = inner.trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Some(Vec::new());
    }
    let sizes: Option<Vec<u64>> = inner.split(',').map(|size| size.trim().parse().ok()).collect();
    sizes.filter(|sizes| sizes.len() <= MAX_RANK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_as_numpy_writes_them() {
        let parse = |text: &str| Dictionary::parse(text).map(|d| (d.descr, d.fortran, d.shape));
        assert_eq!(
            parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n"),
            Some(("<f4".to_owned(), false, vec![2, 3]))
        );
        assert_eq!(
            parse("{\"shape\": (5,), \"fortran_order\": True, \"descr\": \"|u1\"}"),
            Some(("|u1".to_owned(), true, vec![5]))
        );
        assert_eq!(
            parse("{'descr': '<f4', 'fortran_order': False, 'shape': ()}").map(|d| d.2),
            Some(vec![])
        );
        for text in [
            "",
            "{}",
            "{'descr': '<f4'}",
            "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,2)}",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn elements_read_back() {
        for descr in ["|b1", "|i1", "|u1", "<u2", "<f2", "<f8", "<c16"] {
            assert_eq!(Element::parse(descr).unwrap().descr(), descr);
        }
        for descr in [">f4", "<f16", "|O", "<U3", "|f4", "<i3", "", "é4", "<M8"] {
            assert_eq!(Element::parse(descr), None, "{descr}");
        }
    }
}
