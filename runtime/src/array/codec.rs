//! Between an array and its bytes in memory.

use num_complex::{Complex32, Complex64};

use super::index::offsets;
use super::minifloat::{from_bits, to_bits};
use super::{Array, Data, Domain, domain, width};
use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

/// Reads an array that lies in `bytes` with the shape's layout; what follows it is not looked at.
pub(crate) fn decode(bytes: &[u8], shape: &ArrayShape) -> Result<Array> {
    let Some(bytes) = bytes.get(..shape.bytes()) else {
        return Err(Invalid::value("bytes", bytes.len(), format!("{} for {shape}", shape.bytes())));
    };
    let data = elements(bytes, shape)?;
    let array = Array { ty: shape.ty, dims: shape.dims.clone(), data };
    match memory_order(shape) {
        None => Ok(array),
        Some(order) => array.take(shape.dims.clone(), &order),
    }
}

/// Writes an array into `bytes` with the shape's layout.
pub(crate) fn encode(array: &Array, shape: &ArrayShape, bytes: &mut [u8]) -> Result<()> {
    if array.ty != shape.ty || array.dims != shape.dims {
        return Err(Invalid::value("value", array.shape(), shape.to_string()));
    }
    let have = bytes.len();
    let Some(bytes) = bytes.get_mut(..shape.bytes()) else {
        return Err(Invalid::value("bytes", have, format!("{} for {shape}", shape.bytes())));
    };
    let order = memory_order(shape);
    // Where in memory element `i` goes.
    let at = |i: usize| order.as_ref().map_or(i, |order| order[i]);
    match &array.data {
        Data::Pred(v) => {
            for (i, x) in v.iter().enumerate() {
                bytes[at(i)] = u8::from(*x);
            }
        }
        Data::Int(v) => integers(v.iter().map(|x| *x as u64), shape, &at, bytes),
        Data::Uint(v) => integers(v.iter().copied(), shape, &at, bytes),
        Data::F32(v) if shape.ty == PrimitiveType::F32 => {
            integers(v.iter().map(|x| u64::from(x.to_bits())), shape, &at, bytes);
        }
        Data::F32(v) => {
            integers(v.iter().map(|x| u64::from(to_bits(shape.ty, *x))), shape, &at, bytes);
        }
        Data::F64(v) => integers(v.iter().map(|x| x.to_bits()), shape, &at, bytes),
        Data::C64(v) => {
            for (i, x) in v.iter().enumerate() {
                let out = &mut bytes[at(i) * 8..][..8];
                out[..4].copy_from_slice(&x.re.to_le_bytes());
                out[4..].copy_from_slice(&x.im.to_le_bytes());
            }
        }
        Data::C128(v) => {
            for (i, x) in v.iter().enumerate() {
                let out = &mut bytes[at(i) * 16..][..16];
                out[..8].copy_from_slice(&x.re.to_le_bytes());
                out[8..].copy_from_slice(&x.im.to_le_bytes());
            }
        }
    }
    Ok(())
}

/// For each element in row-major order its place in memory; `None` where that is the same.
fn memory_order(shape: &ArrayShape) -> Option<Vec<usize>> {
    if shape.minor_to_major.iter().rev().copied().eq(0..shape.dims.len()) {
        return None;
    }
    let mut strides = vec![0; shape.dims.len()];
    let mut stride = 1;
    for dim in &shape.minor_to_major {
        strides[*dim] = stride;
        stride *= shape.dims[*dim];
    }
    Some(offsets(&shape.dims, &strides))
}

/// The elements in the order of memory.
fn elements(bytes: &[u8], shape: &ArrayShape) -> Result<Data> {
    let ty = shape.ty;
    Ok(match domain(ty)? {
        // Any other byte than 0 is true to a GPU kernel, too.
        Domain::Pred => Data::Pred(bytes.iter().map(|b| *b != 0).collect()),
        Domain::Int => {
            let unused = 64 - width(ty);
            Data::Int(raw(bytes, shape).map(|x| ((x << unused) as i64) >> unused).collect())
        }
        Domain::Uint => {
            let unused = 64 - width(ty);
            Data::Uint(raw(bytes, shape).map(|x| (x << unused) >> unused).collect())
        }
        Domain::F32 if ty == PrimitiveType::F32 => {
            Data::F32(raw(bytes, shape).map(|x| f32::from_bits(x as u32)).collect())
        }
        Domain::F32 => Data::F32(raw(bytes, shape).map(|x| from_bits(ty, x as u16)).collect()),
        Domain::F64 => Data::F64(raw(bytes, shape).map(f64::from_bits).collect()),
        Domain::C64 => Data::C64(
            bytes
                .as_chunks::<8>()
                .0
                .iter()
                .map(|c| {
                    let [a, b, c, d, e, f, g, h] = *c;
                    Complex32::new(
                        f32::from_le_bytes([a, b, c, d]),
                        f32::from_le_bytes([e, f, g, h]),
                    )
                })
                .collect(),
        ),
        Domain::C128 => {
            let halves: Vec<f64> =
                bytes.as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect();
            Data::C128(
                halves.as_chunks::<2>().0.iter().map(|[re, im]| Complex64::new(*re, *im)).collect(),
            )
        }
    })
}

/// The bits of each element, zero-extended.
fn raw<'a>(bytes: &'a [u8], shape: &ArrayShape) -> Box<dyn Iterator<Item = u64> + 'a> {
    match shape.element_bits {
        packed @ (1 | 2 | 4) => {
            let (per_byte, mask) = (8 / packed, (1_u64 << packed) - 1);
            let count = shape.elements();
            Box::new(
                (0..count)
                    .map(move |i| u64::from(bytes[i / per_byte]) >> (i % per_byte * packed) & mask),
            )
        }
        16 => Box::new(bytes.as_chunks::<2>().0.iter().map(|c| u64::from(u16::from_le_bytes(*c)))),
        32 => Box::new(bytes.as_chunks::<4>().0.iter().map(|c| u64::from(u32::from_le_bytes(*c)))),
        64 => Box::new(bytes.as_chunks::<8>().0.iter().map(|c| u64::from_le_bytes(*c))),
        _ => Box::new(bytes.iter().map(|b| u64::from(*b))),
    }
}

/// Writes the low bits of each value.
fn integers(
    values: impl Iterator<Item = u64>,
    shape: &ArrayShape,
    at: &dyn Fn(usize) -> usize,
    bytes: &mut [u8],
) {
    match shape.element_bits {
        packed @ (1 | 2 | 4) => {
            let (per_byte, mask) = (8 / packed, (1_u8 << packed) - 1);
            for (i, x) in values.enumerate() {
                let shift = at(i) % per_byte * packed;
                let byte = &mut bytes[at(i) / per_byte];
                *byte = *byte & !(mask << shift) | (x as u8 & mask) << shift;
            }
        }
        bits => {
            let size = bits / 8;
            // A type below a byte that has a byte to itself leaves the rest zero.
            let mask = u64::MAX >> (64 - width(shape.ty));
            for (i, x) in values.enumerate() {
                bytes[at(i) * size..][..size].copy_from_slice(&(x & mask).to_le_bytes()[..size]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::xla::PrimitiveType as P;

    #[test]
    fn honours_the_layout() {
        let mut shape = ArrayShape::row_major(P::S16, &[2, 3]);
        shape.minor_to_major = vec![0, 1];
        let bytes: Vec<u8> = [0_i16, 3, 1, 4, 2, -5].iter().flat_map(|x| x.to_le_bytes()).collect();
        let array = decode(&bytes, &shape).unwrap();
        assert_eq!(array.data, Data::Int(vec![0, 1, 2, 3, 4, -5]));
        let mut out = vec![0; bytes.len()];
        encode(&array, &shape, &mut out).unwrap();
        assert_eq!(out, bytes);
    }

    #[test]
    fn packs_four_bits() {
        let mut shape = ArrayShape::row_major(P::S4, &[3]);
        shape.element_bits = 4;
        let array = decode(&[0x71, 0x0f], &shape).unwrap();
        assert_eq!(array.data, Data::Int(vec![1, 7, -1]));
        let mut out = [0; 2];
        encode(&array, &shape, &mut out).unwrap();
        assert_eq!(out, [0x71, 0x0f]);
    }

    #[test]
    fn says_what_is_too_short() {
        let shape = ArrayShape::row_major(P::F32, &[4]);
        let error = decode(&[0; 15], &shape).unwrap_err().to_string();
        assert_eq!(error, "bytes is 15, expected 16 for f32[4]{0}");
    }
}
