//! Between arrays in files and arrays of a program, bit for bit.

use prost::bytes::Bytes;

use super::{Array, Element, malformed};
use crate::backend::HostArray;
use crate::error::Error;
use crate::program::ArrayShape;
use crate::proto::xla::PrimitiveType;

/// How elements of a type are stored: as themselves where NumPy has the type, else as unsigned integers of the
/// same width, numbers below a byte in one each. `None` for what is no array element.
pub fn stored_as(ty: PrimitiveType) -> Option<Element> {
    use PrimitiveType as P;
    Some(match ty {
        P::Pred => Element::Bool,
        P::S8 => Element::Signed(1),
        P::S16 => Element::Signed(2),
        P::S32 => Element::Signed(4),
        P::S64 => Element::Signed(8),
        P::F16 => Element::Float(2),
        P::F32 => Element::Float(4),
        P::F64 => Element::Float(8),
        P::C64 => Element::Complex(8),
        P::C128 => Element::Complex(16),
        _ => {
            let bits = crate::program::shape::default_bits(ty)?;
            Element::Unsigned(u8::try_from(bits / 8).ok()?)
        }
    })
}

impl HostArray {
    /// The array of a file as one of a given type and size. `name` is for messages, such as `input 3`.
    ///
    /// # Errors
    /// Another size, or another type than the one that stands for it ([`stored_as`]).
    pub fn from_npz(name: &str, array: &Array, shape: &ArrayShape) -> Result<HostArray, Error> {
        let shape = ArrayShape::row_major(shape.ty, &shape.dims);
        let wanted = stored_as(shape.ty);
        let sizes = shape.dims.iter().map(|size| *size as u64);
        if wanted != Some(array.element) || !sizes.eq(array.shape.iter().copied()) {
            let sizes: Vec<String> = array.shape.iter().map(u64::to_string).collect();
            let found = format!("{} [{}]", array.element.descr(), sizes.join(","));
            let stored = wanted.map_or_else(|| "nothing".to_owned(), Element::descr);
            let expected = format!("{shape}, stored as {stored}");
            return Err(malformed("npz archive", name, &expected, &found));
        }
        HostArray::new(&shape, &array.data)
    }

    /// The array as a file holds it.
    pub fn to_npz(&self) -> Array {
        let shape = self.shape();
        Array {
            // Every array has a type that can be stored.
            element: stored_as(shape.ty).unwrap_or(Element::Unsigned(1)),
            shape: shape.dims.iter().map(|size| *size as u64).collect(),
            data: Bytes::from(self.bytes()),
        }
    }
}
