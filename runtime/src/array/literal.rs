//! Constants of the HLO module.

use super::{Array, Data, decode};
use crate::program::shape::{ArrayShape, Shape};
use crate::program::{Invalid, Result};
use crate::proto::xla::{LiteralProto, PrimitiveType as P};

/// The array of a literal. Its elements are stored in row-major order, whatever its layout says: the
/// field of a type holds the elements of that type, bytes fields the little-endian elements.
///
/// `shape` is the instruction's.
pub(crate) fn literal(proto: &LiteralProto, shape: &ArrayShape) -> Result<Array> {
    // XLA writes literals in the layout of their own shape.
    let layout = match &proto.shape {
        Some(own) => {
            let own = Shape::new(own)?.array()?.clone();
            if own.ty != shape.ty || own.dims != shape.dims {
                return Err(Invalid::value("shape of the literal", own, shape.to_string()));
            }
            own.minor_to_major
        }
        None => (0..shape.dims.len()).rev().collect(),
    };
    let stored =
        ArrayShape { minor_to_major: layout, ..ArrayShape::row_major(shape.ty, &shape.dims) };
    let bytes: Vec<u8> = match shape.ty {
        P::Pred => proto.preds.iter().map(|b| u8::from(*b)).collect(),
        P::S32 => proto.s32s.iter().flat_map(|x| x.to_le_bytes()).collect(),
        P::S64 => proto.s64s.iter().flat_map(|x| x.to_le_bytes()).collect(),
        P::U32 => proto.u32s.iter().flat_map(|x| x.to_le_bytes()).collect(),
        P::U64 => proto.u64s.iter().flat_map(|x| x.to_le_bytes()).collect(),
        P::F32 => proto.f32s.iter().flat_map(|x| x.to_le_bytes()).collect(),
        P::F64 => proto.f64s.iter().flat_map(|x| x.to_le_bytes()).collect(),
        P::C64 => proto.c64s.iter().flat_map(|x| x.to_le_bytes()).collect(),
        P::C128 => proto.c128s.iter().flat_map(|x| x.to_le_bytes()).collect(),
        ty => {
            let bytes = match ty {
                P::U8 => &proto.u8s,
                P::S8 => &proto.s8s,
                P::U16 => &proto.u16s,
                P::S16 => &proto.s16s,
                P::F16 => &proto.f16s,
                P::Bf16 => &proto.bf16s,
                P::S4 => &proto.s4s,
                P::U4 => &proto.u4s,
                P::S2 => &proto.s2s,
                P::U2 => &proto.u2s,
                P::S1 => &proto.s1s,
                P::U1 => &proto.u1s,
                P::F8e5m2 => &proto.f8e5m2s,
                P::F8e4m3fn => &proto.f8e4m3fns,
                P::F8e4m3b11fnuz => &proto.f8e4m3b11fnuzs,
                P::F8e5m2fnuz => &proto.f8e5m2fnuzs,
                P::F8e4m3fnuz => &proto.f8e4m3fnuzs,
                P::F8e4m3 => &proto.f8e4m3s,
                P::F8e3m4 => &proto.f8e3m4s,
                P::F8e8m0fnu => &proto.f8e8m0fnus,
                P::F4e2m1fn => &proto.f4e2m1fns,
                P::F6e2m3fn => &proto.f6e2m3fns,
                P::F6e3m2fn => &proto.f6e3m2fns,
                _ => return Err(Invalid::unsupported(format!("literals of {}", ty.as_str_name()))),
            };
            return packed(bytes, &stored);
        }
    };
    exact(&bytes, &stored)
}

/// The field of a literal that holds elements of a type.
pub(crate) fn literal_field(ty: P) -> &'static str {
    match ty {
        P::Pred => "preds",
        P::S32 => "s32s",
        P::S64 => "s64s",
        P::U32 => "u32s",
        P::U64 => "u64s",
        P::F32 => "f32s",
        P::F64 => "f64s",
        P::C64 => "c64s",
        P::C128 => "c128s",
        P::U8 => "u8s",
        P::S8 => "s8s",
        P::U16 => "u16s",
        P::S16 => "s16s",
        P::F16 => "f16s",
        P::Bf16 => "bf16s",
        P::S4 => "s4s",
        P::U4 => "u4s",
        P::S2 => "s2s",
        P::U2 => "u2s",
        P::S1 => "s1s",
        P::U1 => "u1s",
        P::F8e5m2 => "f8e5m2s",
        P::F8e4m3fn => "f8e4m3fns",
        P::F8e4m3b11fnuz => "f8e4m3b11fnuzs",
        P::F8e5m2fnuz => "f8e5m2fnuzs",
        P::F8e4m3fnuz => "f8e4m3fnuzs",
        P::F8e4m3 => "f8e4m3s",
        P::F8e3m4 => "f8e3m4s",
        P::F8e8m0fnu => "f8e8m0fnus",
        P::F4e2m1fn => "f4e2m1fns",
        P::F6e2m3fn => "f6e2m3fns",
        P::F6e3m2fn => "f6e3m2fns",
        P::Invalid | P::Tuple | P::OpaqueType | P::Token | P::Buffer => "tuple_literals",
    }
}

fn exact(bytes: &[u8], shape: &ArrayShape) -> Result<Array> {
    if bytes.len() != shape.bytes() {
        let bound = format!("{} for {shape}", shape.bytes());
        return Err(Invalid::value("bytes of the literal", bytes.len(), bound));
    }
    decode(bytes, shape)
}

/// Types below a byte are stored packed, or a byte each.
fn packed(bytes: &[u8], shape: &ArrayShape) -> Result<Array> {
    let bits = super::width(shape.ty) as usize;
    if matches!(bits, 1 | 2 | 4) && bytes.len() < shape.elements() {
        return exact(bytes, &ArrayShape { element_bits: bits, ..shape.clone() });
    }
    exact(bytes, shape)
}

impl Array {
    /// A scalar `0` of a type.
    pub(crate) fn zero(ty: P) -> Result<Array> {
        Ok(Array { ty, dims: Vec::new(), data: Data::zeros(ty, 1)? })
    }
}
