//! Conversions between element types, by value and by bits.

use num_complex::{Complex32, Complex64};

use super::scalar::Scalar;
use super::{Family, Op};
use crate::array::{
    Array, Data, Domain, decode, domain, encode, from_bits, round, round_f64, to_bits, width,
    wrap_int, wrap_uint,
};
use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

pub(super) const FAMILY: Family = Family {
    opcodes: &["convert", "bitcast-convert", "reduce-precision"],
    evaluate: |op| {
        op.arity(1)?;
        Ok(match op.instruction.opcode.as_str() {
            "convert" => {
                let x = op.array(0)?;
                convert(x, op.results(1, &x.dims)?[0].ty)?
            }
            "bitcast-convert" => bitcast_convert(op)?,
            _ => reduce_precision(op)?,
        }
        .into())
    },
    passes: false,
};

/// Converts every element. Floats are cut towards zero and kept inside the integer's range, NaN gives
/// 0; integers wrap; anything but zero is true.
pub(super) fn convert(x: &Array, ty: PrimitiveType) -> Result<Array> {
    let mut out = Array::zeros(ty, &x.dims)?;
    // The common ones without going through scalars.
    match (&x.data, &mut out.data) {
        (Data::F32(v), Data::F32(out)) => {
            for (o, x) in out.iter_mut().zip(v) {
                *o = round(ty, *x);
            }
        }
        (Data::Int(v), Data::F32(out)) => {
            for (o, x) in out.iter_mut().zip(v) {
                *o = round(ty, *x as f32);
            }
        }
        _ => {
            for at in 0..x.len() {
                if let Some(value) = x.get(at) {
                    out.set(at, convert_scalar(value, ty)?)?;
                }
            }
        }
    }
    Ok(out)
}

/// Converts one value.
pub(super) fn convert_scalar(x: Scalar, ty: PrimitiveType) -> Result<Scalar> {
    /// The value as a signed or unsigned integer, a float and a complex number.
    fn real(x: Scalar) -> f64 {
        match x {
            Scalar::Pred(x) => f64::from(u8::from(x)),
            Scalar::Int(x) => x as f64,
            Scalar::Uint(x) => x as f64,
            Scalar::F32(x) => f64::from(x),
            Scalar::F64(x) => x,
            Scalar::C64(x) => f64::from(x.re),
            Scalar::C128(x) => x.re,
        }
    }
    let bits = width(ty);
    Ok(match domain(ty)? {
        Domain::Pred => Scalar::Pred(match x {
            Scalar::Pred(x) => x,
            Scalar::Int(x) => x != 0,
            Scalar::Uint(x) => x != 0,
            Scalar::C64(x) => x != Complex32::default(),
            Scalar::C128(x) => x != Complex64::default(),
            x => real(x) != 0.0,
        }),
        Domain::Int => Scalar::Int(match x {
            Scalar::Pred(x) => i64::from(x),
            Scalar::Int(x) => wrap_int(ty, x),
            Scalar::Uint(x) => wrap_int(ty, x as i64),
            x => {
                let max = i64::MAX >> (64 - bits);
                (real(x) as i64).clamp(-max - 1, max)
            }
        }),
        Domain::Uint => Scalar::Uint(match x {
            Scalar::Pred(x) => u64::from(x),
            Scalar::Int(x) => wrap_uint(ty, x as u64),
            Scalar::Uint(x) => wrap_uint(ty, x),
            x => (real(x) as u64).min(u64::MAX >> (64 - bits)),
        }),
        Domain::F32 => Scalar::F32(match x {
            // Integers straight to f32, so that they are rounded once.
            Scalar::Int(x) => round(ty, x as f32),
            Scalar::Uint(x) => round(ty, x as f32),
            Scalar::F32(x) => round(ty, x),
            Scalar::C64(x) => round(ty, x.re),
            x => round_f64(ty, real(x)),
        }),
        Domain::F64 => Scalar::F64(real(x)),
        Domain::C64 => Scalar::C64(match x {
            Scalar::C64(x) => x,
            Scalar::C128(x) => Complex32::new(x.re as f32, x.im as f32),
            Scalar::Int(x) => Complex32::from(x as f32),
            Scalar::Uint(x) => Complex32::from(x as f32),
            x => Complex32::from(real(x) as f32),
        }),
        Domain::C128 => Scalar::C128(match x {
            Scalar::C64(x) => Complex64::new(x.re.into(), x.im.into()),
            Scalar::C128(x) => x,
            x => Complex64::from(real(x)),
        }),
    })
}

/// The same bits as another type. Types of different width add or take away the minor dimension.
fn bitcast_convert(op: &Op<'_, '_>) -> Result<Array> {
    let (x, shape) = (op.array(0)?, op.shape()?);
    let (from, to) = (width_in_memory(x.ty), width_in_memory(shape.ty));
    let mut dims = x.dims.clone();
    if from > to {
        dims.push(from / to);
    } else if from < to && dims.pop() != Some(to / from) {
        let bound = format!("a minor dimension of {}", to / from);
        return Err(Invalid::value("operand 0", x.shape(), bound));
    }
    op.results(1, &dims)?;
    reinterpret(x, shape)
}

/// The row-major bytes of an array read as another shape of the same size.
pub(super) fn reinterpret(x: &Array, shape: &ArrayShape) -> Result<Array> {
    let packed =
        |shape: ArrayShape| ArrayShape { element_bits: width_in_memory(shape.ty), ..shape };
    let from = packed(x.shape());
    let to = packed(ArrayShape::row_major(shape.ty, &shape.dims));
    if from.bytes() != to.bytes() {
        let bound = format!("{} bytes, as {}", from.bytes(), x.shape());
        return Err(Invalid::value("bytes of the result", to.bytes(), bound));
    }
    let mut bytes = vec![0; from.bytes()];
    encode(x, &from, &mut bytes)?;
    decode(&bytes, &to)
}

/// Bits of an element where several lie in a byte.
fn width_in_memory(ty: PrimitiveType) -> usize {
    match width(ty) {
        bits @ (2 | 4) => bits as usize,
        bits => (bits as usize).max(8),
    }
}

/// Rounds to a float with fewer bits, and back.
fn reduce_precision(op: &Op<'_, '_>) -> Result<Array> {
    let x = op.array(0)?;
    let proto = &op.instruction.proto;
    let (exponent, mantissa) = (proto.exponent_bits, proto.mantissa_bits);
    let (Some(exponent @ 1..), Some(mantissa)) =
        (u32::try_from(exponent).ok(), u32::try_from(mantissa).ok())
    else {
        let value = format!("{exponent} and {mantissa}");
        return Err(Invalid::value("exponent_bits and mantissa_bits", value, "at least 1 and 0"));
    };
    let to = (exponent, mantissa);
    let data = match (&x.data, x.ty) {
        (Data::F64(v), _) => Data::F64(
            v.iter().map(|x| f64::from_bits(reduced(x.to_bits(), (11, 52), to))).collect(),
        ),
        (Data::F32(v), PrimitiveType::F32) => {
            let f = |x: &f32| f32::from_bits(reduced(x.to_bits().into(), (8, 23), to) as u32);
            Data::F32(v.iter().map(f).collect())
        }
        (Data::F32(v), ty @ (PrimitiveType::F16 | PrimitiveType::Bf16)) => {
            let from = if ty == PrimitiveType::F16 { (5, 10) } else { (8, 7) };
            let f = |x: &f32| from_bits(ty, reduced(to_bits(ty, *x).into(), from, to) as u16);
            Data::F32(v.iter().map(f).collect())
        }
        _ => {
            return Err(Invalid::unsupported(format!(
                "reduce-precision of {}",
                x.ty.as_str_name()
            )));
        }
    };
    Ok(Array { ty: x.ty, dims: x.dims.clone(), data })
}

/// The bits of a float with fewer bits of exponent and mantissa: to nearest, ties to even. With a smaller
/// exponent there are no denormals; what is too large becomes infinite, what is too small zero.
fn reduced(
    bits: u64,
    (own_exponent, own_mantissa): (u32, u32),
    (exponent, mantissa): (u32, u32),
) -> u64 {
    let sign = bits & 1 << (own_exponent + own_mantissa);
    let top = ((1_u64 << own_exponent) - 1) << own_mantissa;
    let mut rest = bits & !sign;
    if rest > top {
        return bits; // NaN
    }
    if mantissa < own_mantissa {
        let dropped = own_mantissa - mantissa;
        let odd = rest >> dropped & 1;
        rest = (rest + (1 << (dropped - 1)) - 1 + odd) & !((1 << dropped) - 1);
    }
    if exponent < own_exponent {
        let bias = |bits: u32| (1_u64 << (bits - 1)) - 1;
        let own = rest >> own_mantissa;
        if own > bias(own_exponent) + bias(exponent) {
            rest = top;
        } else if own <= bias(own_exponent) - bias(exponent) {
            rest = 0;
        }
    }
    sign | rest
}
