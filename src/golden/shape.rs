//! The type and dimensions of an array, written as HLO writes them: `f32[2,3]`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// Most dimensions that an array may have.
const MAX_RANK: usize = 64;

/// Element types that arrays have: XLA's name, and the type that stands for it in an `.npz` file (the same
/// width where NumPy lacks the type; a 4- or 2-bit number takes a byte).
const ELEMENTS: [(&str, &str); 30] = [
    ("pred", "|b1"),
    ("s2", "|u1"),
    ("s4", "|u1"),
    ("s8", "|i1"),
    ("s16", "<i2"),
    ("s32", "<i4"),
    ("s64", "<i8"),
    ("u2", "|u1"),
    ("u4", "|u1"),
    ("u8", "|u1"),
    ("u16", "<u2"),
    ("u32", "<u4"),
    ("u64", "<u8"),
    ("f4e2m1fn", "|u1"),
    ("f8e3m4", "|u1"),
    ("f8e4m3", "|u1"),
    ("f8e4m3fn", "|u1"),
    ("f8e4m3b11fnuz", "|u1"),
    ("f8e4m3fnuz", "|u1"),
    ("f8e5m2", "|u1"),
    ("f8e5m2fnuz", "|u1"),
    ("f8e8m0fnu", "|u1"),
    ("bf16", "<u2"),
    ("f16", "<f2"),
    ("f32", "<f4"),
    ("f64", "<f8"),
    ("c64", "<c8"),
    ("c128", "<c16"),
    ("s1", "|u1"),
    ("u1", "|u1"),
];

/// Type and dimensions of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayShape {
    /// XLA's name of the element type in lower case, such as `bf16`.
    pub element: String,
    /// Sizes, outermost first; none for a scalar.
    pub dimensions: Vec<u64>,
}

impl ArrayShape {
    /// The NumPy type that its elements have in an `.npz` file, such as `<u2` for `bf16`.
    pub fn stored_as(&self) -> &'static str {
        let known = ELEMENTS.iter().find(|(name, _)| *name == self.element);
        known.map_or("", |(_, stored)| stored)
    }

    /// Bytes of its elements in an `.npz` file; `None` where that is no number.
    pub fn stored_bytes(&self) -> Option<u64> {
        let digits = self.stored_as().trim_start_matches(|c: char| !c.is_ascii_digit());
        self.elements()?.checked_mul(digits.parse().ok()?)
    }

    /// Number of elements; `None` where it has no number.
    pub fn elements(&self) -> Option<u64> {
        self.dimensions.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))
    }
}

impl FromStr for ArrayShape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected a shape like `f32[2,3]`, found `{text}`");
        let (element, rest) = text.split_once('[').ok_or_else(expected)?;
        if !ELEMENTS.iter().any(|(name, _)| *name == element) {
            let names = ELEMENTS.iter().map(|(name, _)| *name);
            let hint = crate::triage::policy::closest(element, names)
                .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            return Err(format!("no element type is called `{element}`{hint}"));
        }
        let inner = rest.strip_suffix(']').ok_or_else(expected)?;
        let mut dimensions = Vec::new();
        for size in inner.split(',').filter(|_| !inner.is_empty()) {
            dimensions.push(size.trim().parse().map_err(|_| expected())?);
            if dimensions.len() > MAX_RANK {
                return Err(format!("an array has at most {MAX_RANK} dimensions"));
            }
        }
        let shape = ArrayShape { element: element.to_owned(), dimensions };
        shape.elements().ok_or_else(|| format!("`{text}` has too many elements"))?;
        Ok(shape)
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        for (at, size) in self.dimensions.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{size}")?;
        }
        f.write_str("]")
    }
}

impl<'de> Deserialize<'de> for ArrayShape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_read_back() {
        for text in ["f32[]", "bf16[2,3]", "pred[0,4]", "s4[7]"] {
            assert_eq!(text.parse::<ArrayShape>().unwrap().to_string(), text);
        }
        for (text, why) in [
            ("f32", "expected a shape like"),
            ("f32[1,]", "expected a shape like"),
            ("f32[-1]", "expected a shape like"),
            ("f31[1]", "did you mean `f32`?"),
            ("f32[99999999999,99999999999]", "too many elements"),
        ] {
            assert!(text.parse::<ArrayShape>().unwrap_err().contains(why), "{text}");
        }
    }
}
