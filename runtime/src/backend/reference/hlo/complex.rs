//! Complex numbers: their parts and their arithmetic.

use num_complex::Complex;

use super::elementwise::{F1, F2};
use super::float::Real;
use super::{Family, Op};
use crate::array::{Array, Data, map_each};
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

pub(super) const FAMILY: Family = Family {
    opcodes: &["real", "imag", "complex"],
    evaluate: |op| {
        Ok(match op.instruction.opcode.as_str() {
            "complex" => complex(op)?,
            _ => part(op)?,
        }
        .into())
    },
    passes: false,
};

/// `real`, `imag` and `abs` of complex numbers.
pub(super) fn part(op: &Op<'_, '_>) -> Result<Array> {
    let x = op.array(0)?;
    let opcode = op.instruction.opcode.as_str();
    let (ty, data) = match &x.data {
        Data::C64(v) => {
            let f = |x: &num_complex::Complex32| match opcode {
                "real" => x.re,
                "imag" => x.im,
                _ => x.norm(),
            };
            (PrimitiveType::F32, Data::F32(v.iter().map(f).collect()))
        }
        Data::C128(v) => {
            let f = |x: &num_complex::Complex64| match opcode {
                "real" => x.re,
                "imag" => x.im,
                _ => x.norm(),
            };
            (PrimitiveType::F64, Data::F64(v.iter().map(f).collect()))
        }
        // A real number is its own real part.
        data => {
            let real = opcode == "real";
            let zero = Data::zeros(x.ty, x.len())?;
            (x.ty, if real { map_each!(data, v => v.clone()) } else { zero })
        }
    };
    Ok(Array { ty, dims: x.dims.clone(), data })
}

fn complex(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(2)?;
    let (re, im) = (op.array(0)?, op.array(1)?);
    if re.dims != im.dims {
        return Err(Invalid::value("operand 1", im.shape(), re.shape().to_string()));
    }
    let (ty, data) = match (&re.data, &im.data) {
        (Data::F32(re), Data::F32(im)) => {
            let pairs = re.iter().zip(im).map(|(re, im)| Complex::new(*re, *im));
            (PrimitiveType::C64, Data::C64(pairs.collect()))
        }
        (Data::F64(re), Data::F64(im)) => {
            let pairs = re.iter().zip(im).map(|(re, im)| Complex::new(*re, *im));
            (PrimitiveType::C128, Data::C128(pairs.collect()))
        }
        _ => return Err(Invalid::value("operands", re.shape(), "f32 or f64")),
    };
    Ok(Array { ty, dims: re.dims.clone(), data })
}

pub(super) fn complex1<T: Real>(opcode: &str) -> Option<F1<Complex<T>>> {
    Some(match opcode {
        "negate" => |x, _| -x,
        "sign" => |x, _| if x.re.is_zero() && x.im.is_zero() { x } else { x / x.norm() },
        "exponential" => |x, _| x.exp(),
        "exponential-minus-one" => |x, _| {
            // exp(x) - 1 without cancellation near 0.
            let half = (x.im / (T::one() + T::one())).sin();
            let re = x.re.exp_m1() * x.im.cos() - (half * half + half * half);
            Complex::new(re, x.re.exp() * x.im.sin())
        },
        "log" => |x, _| x.ln(),
        "log-plus-one" => |x, _| {
            let two = T::one() + T::one();
            if x.norm() * two > T::one() {
                return (x + T::one()).ln();
            }
            // log|1 + x| is half of log(1 + (|1 + x|² - 1)), without cancellation near 0.
            let rest = (two + x.re) * x.re + x.im * x.im;
            Complex::new(rest.ln_1p() / two, x.im.atan2(T::one() + x.re))
        },
        "logistic" => |x, _| (Complex::new(T::one(), T::zero()) + (-x).exp()).inv(),
        "sqrt" => |x, _| x.sqrt(),
        "rsqrt" => |x, _| x.sqrt().inv(),
        "cbrt" => |x, _| x.cbrt(),
        "sine" => |x, _| x.sin(),
        "cosine" => |x, _| x.cos(),
        "tan" => |x, _| x.tan(),
        "tanh" => |x, _| x.tanh(),
        "sinh" => |x, _| x.sinh(),
        "cosh" => |x, _| x.cosh(),
        _ => return None,
    })
}

pub(super) fn complex2<T: Real>(opcode: &str) -> Option<F2<Complex<T>>> {
    Some(match opcode {
        "add" => |a, b, _| a + b,
        "subtract" => |a, b, _| a - b,
        "multiply" => |a, b, _| a * b,
        "divide" => |a, b, _| over(a, b),
        "power" => |a, b, _| {
            if a.re.is_zero() && a.im.is_zero() {
                if b.re.is_zero() && b.im.is_zero() {
                    Complex::new(T::one(), T::zero())
                } else {
                    Complex::new(T::zero(), T::zero())
                }
            } else {
                a.powc(b)
            }
        },
        "atan2" => |a, b, _| {
            // -i log((b + i a) / sqrt(a² + b²))
            let i = Complex::new(T::zero(), T::one());
            -i * ((b + i * a) / (a * a + b * b).sqrt()).ln()
        },
        _ => return None,
    })
}

/// Smith's division: what is squared on the way neither overflows nor vanishes.
fn over<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if b.re.is_zero() && b.im.is_zero() {
        return Complex::new(a.re / b.re, a.im / b.re);
    }
    if b.re.abs() >= b.im.abs() {
        let ratio = b.im / b.re;
        let whole = b.re + b.im * ratio;
        Complex::new((a.re + a.im * ratio) / whole, (a.im - a.re * ratio) / whole)
    } else {
        let ratio = b.re / b.im;
        let whole = b.re * ratio + b.im;
        Complex::new((a.re * ratio + a.im) / whole, (a.im * ratio - a.re) / whole)
    }
}
