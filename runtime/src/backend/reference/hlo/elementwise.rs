//! Operations on each element: one function per operation and domain.

use num_complex::{Complex32, Complex64};

use super::bits::{integer1, integer2};
use super::complex::{complex1, complex2};
use super::float::{float1, float2};
use super::scalar::Scalar;
use super::{Family, Value};
use crate::array::{Array, Data, Domain, domain, round, wrap_int, wrap_uint};
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

/// An operation on one value; the type tells the width of integers.
pub(super) type F1<T> = fn(T, u32) -> T;
/// An operation on two values.
pub(super) type F2<T> = fn(T, T, u32) -> T;

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

/// Operations on one operand that some domain has.
const UNARY: &[&str] = &[
    "abs",
    "negate",
    "sign",
    "not",
    "popcnt",
    "count-leading-zeros",
    "ceil",
    "floor",
    "round-nearest-afz",
    "round-nearest-even",
    "exponential",
    "exponential-minus-one",
    "log",
    "log-plus-one",
    "logistic",
    "sqrt",
    "rsqrt",
    "cbrt",
    "erf",
    "sine",
    "cosine",
    "tan",
    "asin",
    "acos",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
];

/// Operations on two operands that some domain has.
const BINARY: &[&str] = &[
    "add",
    "subtract",
    "multiply",
    "mulhi",
    "divide",
    "remainder",
    "maximum",
    "minimum",
    "power",
    "atan2",
    "and",
    "or",
    "xor",
    "shift-left",
    "shift-right-logical",
    "shift-right-arithmetic",
];

pub(super) const UNARY_FAMILY: Family = Family {
    opcodes: UNARY,
    evaluate: |op| {
        op.arity(1)?;
        let (opcode, x) = (op.instruction.opcode.as_str(), op.array(0)?);
        Ok(match (opcode, &x.data) {
            ("abs", Data::C64(_) | Data::C128(_)) => super::complex::part(op)?,
            _ => unary(opcode, x)?,
        }
        .into())
    },
    passes: false,
};

pub(super) const BINARY_FAMILY: Family = Family {
    opcodes: BINARY,
    evaluate: |op| {
        op.arity(2)?;
        binary(&op.instruction.opcode, op.array(0)?, op.array(1)?).map(Value::from)
    },
    passes: false,
};

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
