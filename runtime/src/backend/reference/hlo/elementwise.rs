//! Operations on each element: one function per operation and domain.

use num_complex::{Complex, Complex32, Complex64};
use num_traits::{Float, FloatConst};

use super::bits::{integer1, integer2};
use super::scalar::Scalar;
use super::{Op, Value};
use crate::array::{Array, Data, Domain, domain, round, wrap_int, wrap_uint};
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

/// An operation on one value; the type tells the width of integers.
type F1<T> = fn(T, u32) -> T;
/// An operation on two values.
type F2<T> = fn(T, T, u32) -> T;

/// An operation on one value, by domain.
#[derive(Clone, Copy)]
pub(super) enum Unary {
    Pred(F1<bool>),
    Int(F1<i64>),
    Uint(F1<u64>),
    F32(F1<f32>),
    F64(F1<f64>),
    C64(F1<Complex32>),
    C128(F1<Complex64>),
}

/// An operation on two values, by domain.
#[derive(Clone, Copy)]
pub(super) enum Binary {
    Pred(F2<bool>),
    Int(F2<i64>),
    Uint(F2<u64>),
    F32(F2<f32>),
    F64(F2<f64>),
    C64(F2<Complex32>),
    C128(F2<Complex64>),
}

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    let opcode = op.instruction.opcode.as_str();
    Some(match op.operands.len() {
        1 if is_unary(opcode) => op.array(0).and_then(|x| unary(opcode, x)).map(Value::from),
        2 if is_binary(opcode) => {
            op.array(0).and_then(|a| binary(opcode, a, op.array(1)?)).map(Value::from)
        }
        _ => return None,
    })
}

/// Whether [`Unary::of`] has it for some domain.
pub(super) fn is_unary(opcode: &str) -> bool {
    let some = |ty| Unary::of(opcode, ty).is_some();
    use PrimitiveType::{C64, F32, Pred, S32, U32};
    [F32, S32, U32, Pred, C64].into_iter().any(some)
}

/// Whether [`Binary::of`] has it for some domain.
pub(super) fn is_binary(opcode: &str) -> bool {
    let some = |ty| Binary::of(opcode, ty).is_some();
    use PrimitiveType::{C64, F32, Pred, S32, U32};
    [F32, S32, U32, Pred, C64].into_iter().any(some)
}

impl Unary {
    /// The operation on a type; `None` where the type has none.
    pub(super) fn of(opcode: &str, ty: PrimitiveType) -> Option<Unary> {
        Some(match domain(ty).ok()? {
            Domain::Pred => Unary::Pred(match opcode {
                "not" => |x, _| !x,
                _ => return None,
            }),
            Domain::Int => Unary::Int(integer1(opcode)?),
            Domain::Uint => Unary::Uint(integer1(opcode)?),
            Domain::F32 => Unary::F32(float1(opcode)?),
            Domain::F64 => Unary::F64(float1(opcode)?),
            Domain::C64 => Unary::C64(complex1(opcode)?),
            Domain::C128 => Unary::C128(complex1(opcode)?),
        })
    }

    /// Applies it to one value.
    pub(super) fn apply(self, ty: PrimitiveType, x: Scalar) -> Result<Scalar> {
        let width = crate::array::width(ty);
        Ok(match (self, x) {
            (Unary::Pred(f), Scalar::Pred(x)) => Scalar::Pred(f(x, width)),
            (Unary::Int(f), Scalar::Int(x)) => Scalar::Int(wrap_int(ty, f(x, width))),
            (Unary::Uint(f), Scalar::Uint(x)) => Scalar::Uint(wrap_uint(ty, f(x, width))),
            (Unary::F32(f), Scalar::F32(x)) => Scalar::F32(round(ty, f(x, width))),
            (Unary::F64(f), Scalar::F64(x)) => Scalar::F64(f(x, width)),
            (Unary::C64(f), Scalar::C64(x)) => Scalar::C64(f(x, width)),
            (Unary::C128(f), Scalar::C128(x)) => Scalar::C128(f(x, width)),
            _ => return Err(mismatch()),
        })
    }
}

impl Binary {
    /// The operation on a type; `None` where the type has none.
    pub(super) fn of(opcode: &str, ty: PrimitiveType) -> Option<Binary> {
        Some(match domain(ty).ok()? {
            Domain::Pred => Binary::Pred(match opcode {
                "and" | "multiply" | "minimum" => |a, b, _| a && b,
                "or" | "add" | "maximum" => |a, b, _| a || b,
                "xor" => |a, b, _| a != b,
                _ => return None,
            }),
            Domain::Int => Binary::Int(integer2(opcode)?),
            Domain::Uint => Binary::Uint(integer2(opcode)?),
            Domain::F32 => Binary::F32(float2(opcode)?),
            Domain::F64 => Binary::F64(float2(opcode)?),
            Domain::C64 => Binary::C64(complex2(opcode)?),
            Domain::C128 => Binary::C128(complex2(opcode)?),
        })
    }

    /// Applies it to two values.
    pub(super) fn apply(self, ty: PrimitiveType, a: Scalar, b: Scalar) -> Result<Scalar> {
        let width = crate::array::width(ty);
        Ok(match (self, a, b) {
            (Binary::Pred(f), Scalar::Pred(a), Scalar::Pred(b)) => Scalar::Pred(f(a, b, width)),
            (Binary::Int(f), Scalar::Int(a), Scalar::Int(b)) => {
                Scalar::Int(wrap_int(ty, f(a, b, width)))
            }
            (Binary::Uint(f), Scalar::Uint(a), Scalar::Uint(b)) => {
                Scalar::Uint(wrap_uint(ty, f(a, b, width)))
            }
            (Binary::F32(f), Scalar::F32(a), Scalar::F32(b)) => {
                Scalar::F32(round(ty, f(a, b, width)))
            }
            (Binary::F64(f), Scalar::F64(a), Scalar::F64(b)) => Scalar::F64(f(a, b, width)),
            (Binary::C64(f), Scalar::C64(a), Scalar::C64(b)) => Scalar::C64(f(a, b, width)),
            (Binary::C128(f), Scalar::C128(a), Scalar::C128(b)) => Scalar::C128(f(a, b, width)),
            _ => return Err(mismatch()),
        })
    }
}

fn mismatch() -> Invalid {
    Invalid::value("operands", "of different types", "one type")
}

fn missing(opcode: &str, ty: PrimitiveType) -> Invalid {
    Invalid::unsupported(format!("{opcode} of {}", ty.as_str_name()))
}

fn unary(opcode: &str, x: &Array) -> Result<Array> {
    let f = Unary::of(opcode, x.ty).ok_or_else(|| missing(opcode, x.ty))?;
    let (ty, width) = (x.ty, crate::array::width(x.ty));
    let data = match (f, &x.data) {
        (Unary::Pred(f), Data::Pred(v)) => Data::Pred(v.iter().map(|x| f(*x, width)).collect()),
        (Unary::Int(f), Data::Int(v)) => {
            Data::Int(v.iter().map(|x| wrap_int(ty, f(*x, width))).collect())
        }
        (Unary::Uint(f), Data::Uint(v)) => {
            Data::Uint(v.iter().map(|x| wrap_uint(ty, f(*x, width))).collect())
        }
        (Unary::F32(f), Data::F32(v)) => {
            Data::F32(v.iter().map(|x| round(ty, f(*x, width))).collect())
        }
        (Unary::F64(f), Data::F64(v)) => Data::F64(v.iter().map(|x| f(*x, width)).collect()),
        (Unary::C64(f), Data::C64(v)) => Data::C64(v.iter().map(|x| f(*x, width)).collect()),
        (Unary::C128(f), Data::C128(v)) => Data::C128(v.iter().map(|x| f(*x, width)).collect()),
        _ => return Err(mismatch()),
    };
    Ok(Array { ty, dims: x.dims.clone(), data })
}

/// An operation on two arrays of one shape.
pub(super) fn binary(opcode: &str, a: &Array, b: &Array) -> Result<Array> {
    if a.ty != b.ty || a.dims != b.dims {
        return Err(Invalid::value("operand 1", b.shape(), a.shape().to_string()));
    }
    let f = Binary::of(opcode, a.ty).ok_or_else(|| missing(opcode, a.ty))?;
    let (ty, width) = (a.ty, crate::array::width(a.ty));
    fn zip<T: Copy, U>(a: &[T], b: &[T], f: impl Fn(T, T) -> U) -> Vec<U> {
        a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
    }
    let data = match (f, &a.data, &b.data) {
        (Binary::Pred(f), Data::Pred(a), Data::Pred(b)) => {
            Data::Pred(zip(a, b, |a, b| f(a, b, width)))
        }
        (Binary::Int(f), Data::Int(a), Data::Int(b)) => {
            Data::Int(zip(a, b, |a, b| wrap_int(ty, f(a, b, width))))
        }
        (Binary::Uint(f), Data::Uint(a), Data::Uint(b)) => {
            Data::Uint(zip(a, b, |a, b| wrap_uint(ty, f(a, b, width))))
        }
        (Binary::F32(f), Data::F32(a), Data::F32(b)) => {
            Data::F32(zip(a, b, |a, b| round(ty, f(a, b, width))))
        }
        (Binary::F64(f), Data::F64(a), Data::F64(b)) => Data::F64(zip(a, b, |a, b| f(a, b, width))),
        (Binary::C64(f), Data::C64(a), Data::C64(b)) => Data::C64(zip(a, b, |a, b| f(a, b, width))),
        (Binary::C128(f), Data::C128(a), Data::C128(b)) => {
            Data::C128(zip(a, b, |a, b| f(a, b, width)))
        }
        _ => return Err(mismatch()),
    };
    Ok(Array { ty, dims: a.dims.clone(), data })
}

/// What `num_traits` lacks.
pub(super) trait Real: Float + FloatConst {
    fn erf(self) -> Self;
    fn round_even(self) -> Self;
}

impl Real for f32 {
    fn erf(self) -> f32 {
        libm::erff(self)
    }
    fn round_even(self) -> f32 {
        self.round_ties_even()
    }
}

impl Real for f64 {
    fn erf(self) -> f64 {
        libm::erf(self)
    }
    fn round_even(self) -> f64 {
        self.round_ties_even()
    }
}

fn float1<T: Real>(opcode: &str) -> Option<F1<T>> {
    Some(match opcode {
        "abs" => |x, _| x.abs(),
        "negate" => |x, _| -x,
        "sign" => |x, _| if x.is_nan() || x.is_zero() { x } else { x.signum() },
        "ceil" => |x, _| x.ceil(),
        "floor" => |x, _| x.floor(),
        "round-nearest-afz" => |x, _| x.round(),
        "round-nearest-even" => |x, _| x.round_even(),
        "exponential" => |x, _| x.exp(),
        "exponential-minus-one" => |x, _| x.exp_m1(),
        "log" => |x, _| x.ln(),
        "log-plus-one" => |x, _| x.ln_1p(),
        "logistic" => |x, _| T::one() / (T::one() + (-x).exp()),
        "sqrt" => |x, _| x.sqrt(),
        "rsqrt" => |x, _| T::one() / x.sqrt(),
        "cbrt" => |x, _| x.cbrt(),
        "erf" => |x, _| x.erf(),
        "sine" => |x, _| x.sin(),
        "cosine" => |x, _| x.cos(),
        "tan" => |x, _| x.tan(),
        "asin" => |x, _| x.asin(),
        "acos" => |x, _| x.acos(),
        "atan" => |x, _| x.atan(),
        "sinh" => |x, _| x.sinh(),
        "cosh" => |x, _| x.cosh(),
        "tanh" => |x, _| x.tanh(),
        "asinh" => |x, _| x.asinh(),
        "acosh" => |x, _| x.acosh(),
        "atanh" => |x, _| x.atanh(),
        _ => return None,
    })
}

fn float2<T: Real>(opcode: &str) -> Option<F2<T>> {
    Some(match opcode {
        "add" => |a, b, _| a + b,
        "subtract" => |a, b, _| a - b,
        "multiply" => |a, b, _| a * b,
        "divide" => |a, b, _| a / b,
        "remainder" => |a, b, _| a % b,
        // A NaN wins; otherwise +0 over -0.
        "maximum" => |a, b, _| {
            if a.is_nan() || b.is_nan() {
                T::nan()
            } else if a == b {
                if a.is_sign_negative() { b } else { a }
            } else {
                a.max(b)
            }
        },
        "minimum" => |a, b, _| {
            if a.is_nan() || b.is_nan() {
                T::nan()
            } else if a == b {
                if a.is_sign_negative() { a } else { b }
            } else {
                a.min(b)
            }
        },
        "power" => |a, b, _| a.powf(b),
        "atan2" => |a, b, _| a.atan2(b),
        _ => return None,
    })
}

fn complex1<T: Real>(opcode: &str) -> Option<F1<Complex<T>>> {
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
        "log-plus-one" => |x, _| (x + T::one()).ln(),
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

fn complex2<T: Real>(opcode: &str) -> Option<F2<Complex<T>>> {
    Some(match opcode {
        "add" => |a, b, _| a + b,
        "subtract" => |a, b, _| a - b,
        "multiply" => |a, b, _| a * b,
        "divide" => |a, b, _| a / b,
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
