//! Conversions between element types, by value and by bits.

use num_complex::{Complex32, Complex64};

use super::scalar::Scalar;
use super::{Op, Value};
use crate::array::{
    Array, Data, Domain, decode, domain, encode, round, width, wrap_int, wrap_uint,
};
use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    Some(
        match op.instruction.opcode.as_str() {
            "convert" => op.shape().and_then(|shape| convert(op.array(0)?, shape.ty)),
            "bitcast-convert" => bitcast_convert(op),
            "reduce-precision" => reduce_precision(op),
            _ => return None,
        }
        .map(Value::from),
    )
}

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
            x => round(ty, real(x) as f32),
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
    reinterpret(op.array(0)?, op.shape()?)
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
    if exponent < 1 || mantissa < 0 {
        let value = format!("{exponent} and {mantissa}");
        return Err(Invalid::value("exponent_bits and mantissa_bits", value, "at least 1 and 0"));
    }
    let data = match &x.data {
        Data::F32(v) => Data::F32(
            v.iter().map(|x| reduced(f64::from(*x), exponent, mantissa.min(23)) as f32).collect(),
        ),
        Data::F64(v) => {
            Data::F64(v.iter().map(|x| reduced(*x, exponent, mantissa.min(52))).collect())
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

/// Values whose exponent does not fit become infinite or zero; there are no denormals.
fn reduced(x: f64, exponent: i32, mantissa: i32) -> f64 {
    if !x.is_finite() || x == 0.0 {
        return x;
    }
    let dropped = 52 - mantissa;
    let bits = x.to_bits();
    let rounded = if dropped == 0 {
        bits
    } else {
        let half = 1_u64 << (dropped - 1);
        let odd = bits >> dropped & 1;
        (bits + half - 1 + odd) & !((1 << dropped) - 1)
    };
    let rounded = f64::from_bits(rounded);
    let bias = (1_i64 << (exponent.min(11) - 1)) - 1;
    let own = i64::from((rounded.to_bits() >> 52 & 0x7ff) as i32 - 1023);
    if own > bias {
        f64::INFINITY.copysign(x)
    } else if own < 1 - bias {
        0.0_f64.copysign(x)
    } else {
        rounded
    }
}
