//! Arrays as the reference backend computes with them: dense, row-major, one Rust type per domain.

mod codec;
mod index;
mod literal;
mod minifloat;

use num_complex::{Complex32, Complex64};

pub(crate) use codec::{decode, encode};
pub(crate) use index::{Odometer, offsets, strides};
pub(crate) use literal::{literal, literal_field};
pub(crate) use minifloat::{from_bits, round, round_f64, to_bits};

use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

/// A dense array in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    /// Type of the elements; says how many bits of what `data` holds count.
    pub(crate) ty: PrimitiveType,
    /// Sizes of the dimensions, outermost first.
    pub(crate) dims: Vec<usize>,
    pub(crate) data: Data,
}

/// The elements. Every narrower type is held exactly in the domain's Rust type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Pred(Vec<bool>),
    /// Signed integers, sign-extended.
    Int(Vec<i64>),
    /// Unsigned integers, zero-extended.
    Uint(Vec<u64>),
    /// `f32` and all narrower floats.
    F32(Vec<f32>),
    F64(Vec<f64>),
    C64(Vec<Complex32>),
    C128(Vec<Complex64>),
}

/// Which variant of [`Data`] holds a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    Pred,
    Int,
    Uint,
    F32,
    F64,
    C64,
    C128,
}

/// The domain of an element type.
pub(crate) fn domain(ty: PrimitiveType) -> Result<Domain> {
    use PrimitiveType as P;
    Ok(match ty {
        P::Pred => Domain::Pred,
        P::S1 | P::S2 | P::S4 | P::S8 | P::S16 | P::S32 | P::S64 => Domain::Int,
        P::U1 | P::U2 | P::U4 | P::U8 | P::U16 | P::U32 | P::U64 => Domain::Uint,
        P::F64 => Domain::F64,
        P::C64 => Domain::C64,
        P::C128 => Domain::C128,
        P::F32 | P::F16 | P::Bf16 => Domain::F32,
        P::F8e5m2 | P::F8e4m3fn | P::F8e4m3b11fnuz | P::F8e5m2fnuz | P::F8e4m3fnuz => Domain::F32,
        P::F8e4m3 | P::F8e3m4 | P::F8e8m0fnu | P::F4e2m1fn | P::F6e3m2fn | P::F6e2m3fn => {
            Domain::F32
        }
        P::Invalid | P::Tuple | P::OpaqueType | P::Token | P::Buffer => {
            return Err(Invalid::unsupported(format!("arrays of {}", ty.as_str_name())));
        }
    })
}

/// Bytes that one element takes here.
pub(crate) fn element_bytes(ty: PrimitiveType) -> Result<u64> {
    Ok(match domain(ty)? {
        Domain::Pred => 1,
        Domain::F32 => 4,
        Domain::Int | Domain::Uint | Domain::F64 | Domain::C64 => 8,
        Domain::C128 => 16,
    })
}

/// Bits of an integer type; of any other type the bits of its elements.
pub(crate) fn width(ty: PrimitiveType) -> u32 {
    use PrimitiveType as P;
    match ty {
        P::S1 | P::U1 | P::Pred => 1,
        P::S2 | P::U2 => 2,
        P::S4 | P::U4 | P::F4e2m1fn => 4,
        P::F6e2m3fn | P::F6e3m2fn => 6,
        _ => crate::program::shape::default_bits(ty).unwrap_or(0) as u32,
    }
}

/// Whether a type is a float of 8 bits or fewer, `bf16`, `f16`, `f32` or `f64`.
pub(crate) fn is_float(ty: PrimitiveType) -> bool {
    matches!(domain(ty), Ok(Domain::F32 | Domain::F64))
}

/// A signed integer cut to the width of its type.
pub(crate) fn wrap_int(ty: PrimitiveType, value: i64) -> i64 {
    let shift = 64 - width(ty);
    (value << shift) >> shift
}

/// An unsigned integer cut to the width of its type.
pub(crate) fn wrap_uint(ty: PrimitiveType, value: u64) -> u64 {
    let shift = 64 - width(ty);
    (value << shift) >> shift
}

/// Runs an expression over the vector of every domain: `each!(data, v => expression)`.
macro_rules! each {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            $crate::array::Data::Pred($v) => $body,
            $crate::array::Data::Int($v) => $body,
            $crate::array::Data::Uint($v) => $body,
            $crate::array::Data::F32($v) => $body,
            $crate::array::Data::F64($v) => $body,
            $crate::array::Data::C64($v) => $body,
            $crate::array::Data::C128($v) => $body,
        }
    };
}
/// The same, wrapping the result into the same domain again.
macro_rules! map_each {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            $crate::array::Data::Pred($v) => $crate::array::Data::Pred($body),
            $crate::array::Data::Int($v) => $crate::array::Data::Int($body),
            $crate::array::Data::Uint($v) => $crate::array::Data::Uint($body),
            $crate::array::Data::F32($v) => $crate::array::Data::F32($body),
            $crate::array::Data::F64($v) => $crate::array::Data::F64($body),
            $crate::array::Data::C64($v) => $crate::array::Data::C64($body),
            $crate::array::Data::C128($v) => $crate::array::Data::C128($body),
        }
    };
}
/// The same over two arrays of one domain; a mismatch gives `None`.
macro_rules! zip_each {
    ($a:expr, $b:expr, ($x:ident, $y:ident) => $body:expr) => {
        match ($a, $b) {
            ($crate::array::Data::Pred($x), $crate::array::Data::Pred($y)) => {
                Some($crate::array::Data::Pred($body))
            }
            ($crate::array::Data::Int($x), $crate::array::Data::Int($y)) => {
                Some($crate::array::Data::Int($body))
            }
            ($crate::array::Data::Uint($x), $crate::array::Data::Uint($y)) => {
                Some($crate::array::Data::Uint($body))
            }
            ($crate::array::Data::F32($x), $crate::array::Data::F32($y)) => {
                Some($crate::array::Data::F32($body))
            }
            ($crate::array::Data::F64($x), $crate::array::Data::F64($y)) => {
                Some($crate::array::Data::F64($body))
            }
            ($crate::array::Data::C64($x), $crate::array::Data::C64($y)) => {
                Some($crate::array::Data::C64($body))
            }
            ($crate::array::Data::C128($x), $crate::array::Data::C128($y)) => {
                Some($crate::array::Data::C128($body))
            }
            _ => None,
        }
    };
}
pub(crate) use {each, map_each, zip_each};

impl Array {
    /// An array of `dims` that repeats what `gather` names: element `i` is element `gather[i]` here.
    pub(crate) fn take(&self, dims: Vec<usize>, gather: &[usize]) -> Result<Array> {
        let len = self.len();
        if let Some(bad) = gather.iter().find(|at| **at >= len) {
            return Err(Invalid::value("element", bad, format!("below {len}")));
        }
        let data = map_each!(&self.data, v => gather.iter().map(|at| v[*at]).collect());
        Ok(Array { ty: self.ty, dims, data })
    }

    /// An array of `dims` whose elements come, one after the other, from where `next` says; the places are never held
    /// all at once.
    pub(crate) fn pick(
        &self,
        dims: Vec<usize>,
        mut next: impl FnMut() -> Result<usize>,
    ) -> Result<Array> {
        let (len, count) = (self.len(), dims.iter().product());
        let data = map_each!(&self.data, v => {
            let mut picked = Vec::with_capacity(count);
            for _ in 0..count {
                let at = next()?;
                let element = v.get(at);
                let bound = || Invalid::value("element", at, format!("below {len}"));
                picked.push(*element.ok_or_else(bound)?);
            }
            picked
        });
        Ok(Array { ty: self.ty, dims, data })
    }

    /// The same elements under other dimensions.
    pub(crate) fn reshaped(self, dims: &[usize]) -> Result<Array> {
        let count: usize = dims.iter().product();
        if count != self.len() {
            return Err(Invalid::value("elements", self.len(), count.to_string()));
        }
        Ok(Array { dims: dims.to_vec(), ..self })
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        each!(&self.data, v => v.len())
    }

    /// A row-major shape of this type and these dimensions.
    pub(crate) fn shape(&self) -> ArrayShape {
        ArrayShape::row_major(self.ty, &self.dims)
    }

    /// An integer element, as an index.
    pub(crate) fn index_at(&self, at: usize) -> Result<i64> {
        let found = match &self.data {
            Data::Int(v) => v.get(at).copied(),
            // Beyond any array either way.
            Data::Uint(v) => v.get(at).map(|x| i64::try_from(*x).unwrap_or(i64::MAX)),
            Data::Pred(v) => v.get(at).map(|x| i64::from(*x)),
            _ => None,
        };
        found.ok_or_else(|| Invalid::value("index", self.shape(), format!("an integer at {at}")))
    }

    /// The only element of a predicate.
    pub(crate) fn truth(&self) -> Result<bool> {
        match &self.data {
            Data::Pred(v) if v.len() == 1 => Ok(v[0]),
            _ => Err(Invalid::value("predicate", self.shape(), "pred[]")),
        }
    }
}

impl Data {
    /// `count` zeros.
    pub(crate) fn zeros(ty: PrimitiveType, count: usize) -> Result<Data> {
        Ok(match domain(ty)? {
            Domain::Pred => Data::Pred(vec![false; count]),
            Domain::Int => Data::Int(vec![0; count]),
            Domain::Uint => Data::Uint(vec![0; count]),
            Domain::F32 => Data::F32(vec![0.0; count]),
            Domain::F64 => Data::F64(vec![0.0; count]),
            Domain::C64 => Data::C64(vec![Complex32::default(); count]),
            Domain::C128 => Data::C128(vec![Complex64::default(); count]),
        })
    }
}
