//! `compare`, `select`, `clamp` and predicates.

use std::cmp::Ordering;

use super::scalar::Scalar;
use super::{Family, Op, elementwise};
use crate::array::{Array, Data, zip_each};
use crate::program::{Invalid, Result};
use crate::proto::xla::{HloInstructionProto, PrimitiveType};

/// How two values are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison {
    direction: Direction,
    /// -NaN < -inf < … < -0 < +0 < … < inf < NaN instead of IEEE's order.
    total: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Eq,
    Ne,
    Ge,
    Gt,
    Le,
    Lt,
}

impl Comparison {
    /// Reads it off an instruction on operands of type `ty`.
    pub(super) fn of(proto: &HloInstructionProto, ty: PrimitiveType) -> Result<Comparison> {
        let direction = match proto.comparison_direction.as_str() {
            "EQ" => Direction::Eq,
            "NE" => Direction::Ne,
            "GE" => Direction::Ge,
            "GT" => Direction::Gt,
            "LE" => Direction::Le,
            "LT" => Direction::Lt,
            other => {
                let bound = "EQ, NE, GE, GT, LE or LT";
                return Err(Invalid::value("comparison_direction", format!("{other:?}"), bound));
            }
        };
        #[allow(deprecated, reason = "what older compilers wrote")]
        let kind = (proto.comparison_type.as_str(), proto.comparison_order.as_str());
        let total = match kind {
            ("TOTALORDER", _) | (_, "TOTALORDER" | "TOTAL") => crate::array::is_float(ty),
            _ => false,
        };
        Ok(Comparison { direction, total })
    }

    /// Whether it holds for two values.
    pub(super) fn holds(self, ty: PrimitiveType, a: Scalar, b: Scalar) -> Result<bool> {
        let ordering = match (a, b) {
            (Scalar::Pred(a), Scalar::Pred(b)) => Some(a.cmp(&b)),
            (Scalar::Int(a), Scalar::Int(b)) => Some(a.cmp(&b)),
            (Scalar::Uint(a), Scalar::Uint(b)) => Some(a.cmp(&b)),
            (Scalar::F32(a), Scalar::F32(b)) if self.total => Some(a.total_cmp(&b)),
            (Scalar::F64(a), Scalar::F64(b)) if self.total => Some(a.total_cmp(&b)),
            (Scalar::F32(a), Scalar::F32(b)) => a.partial_cmp(&b),
            (Scalar::F64(a), Scalar::F64(b)) => a.partial_cmp(&b),
            (Scalar::C64(a), Scalar::C64(b)) => (a == b).then_some(Ordering::Equal),
            (Scalar::C128(a), Scalar::C128(b)) => (a == b).then_some(Ordering::Equal),
            _ => return Err(Invalid::value("operands", "of different types", ty.as_str_name())),
        };
        Ok(self.direction.accepts(ordering))
    }
}

impl Direction {
    fn accepts(self, ordering: Option<Ordering>) -> bool {
        match self {
            Direction::Eq => ordering == Some(Ordering::Equal),
            Direction::Ne => ordering != Some(Ordering::Equal),
            Direction::Ge => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
            Direction::Gt => ordering == Some(Ordering::Greater),
            Direction::Le => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
            Direction::Lt => ordering == Some(Ordering::Less),
        }
    }
}

pub(super) const FAMILY: Family = Family {
    opcodes: &["compare", "select", "clamp", "is-finite"],
    evaluate: |op| {
        Ok(match op.instruction.opcode.as_str() {
            "compare" => compare(op)?,
            "select" => select(op)?,
            "clamp" => clamp(op)?,
            _ => is_finite(op)?,
        }
        .into())
    },
    passes: false,
};

fn compare(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(2)?;
    let (a, b) = (op.array(0)?, op.array(1)?);
    if a.ty != b.ty || a.dims != b.dims {
        return Err(Invalid::value("operand 1", b.shape(), a.shape().to_string()));
    }
    let comparison = Comparison::of(&op.instruction.proto, a.ty)?;
    let direction = comparison.direction;
    fn zip<T: Copy>(a: &[T], b: &[T], f: impl Fn(T, T) -> bool) -> Vec<bool> {
        a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
    }
    let answers = match (&a.data, &b.data) {
        (Data::Int(a), Data::Int(b)) => zip(a, b, |a, b| direction.accepts(Some(a.cmp(&b)))),
        (Data::Uint(a), Data::Uint(b)) => zip(a, b, |a, b| direction.accepts(Some(a.cmp(&b)))),
        (Data::F32(a), Data::F32(b)) if !comparison.total => {
            zip(a, b, |a, b| direction.accepts(a.partial_cmp(&b)))
        }
        _ => (0..a.len())
            .map(|at| match (a.get(at), b.get(at)) {
                (Some(x), Some(y)) => comparison.holds(a.ty, x, y),
                _ => Err(Invalid::missing("element")),
            })
            .collect::<Result<_>>()?,
    };
    Ok(Array { ty: PrimitiveType::Pred, dims: a.dims.clone(), data: Data::Pred(answers) })
}

fn select(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(3)?;
    let (predicate, on_true, on_false) = (op.array(0)?, op.array(1)?, op.array(2)?);
    if on_true.dims != on_false.dims || on_true.ty != on_false.ty {
        return Err(Invalid::value("operand 2", on_false.shape(), on_true.shape().to_string()));
    }
    let scalar = predicate.dims.is_empty();
    let which = match &predicate.data {
        Data::Pred(which) if scalar || predicate.dims == on_true.dims => which,
        _ => {
            let bound = format!("a predicate or one for each of {}", on_true.shape());
            return Err(Invalid::value("operand 0", predicate.shape(), bound));
        }
    };
    let at = |i: usize| if scalar { which[0] } else { which[i] };
    let data = zip_each!(&on_true.data, &on_false.data, (a, b) => {
        a.iter().zip(b).enumerate().map(|(i, (a, b))| if at(i) { *a } else { *b }).collect()
    });
    let data = data.ok_or_else(|| {
        Invalid::value("operand 2", on_false.shape(), on_true.shape().to_string())
    })?;
    Ok(Array { ty: on_true.ty, dims: on_true.dims.clone(), data })
}

/// `min(max(low, x), high)`; the bounds may be scalars.
fn clamp(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(3)?;
    let x = op.array(1)?;
    let spread = |bound: &Array| match (bound.dims.is_empty(), bound.get(0)) {
        (true, Some(value)) => Array::filled(bound.ty, &x.dims, value),
        _ => bound.clone(),
    };
    let low = elementwise::binary("maximum", &spread(op.array(0)?), x)?;
    elementwise::binary("minimum", &low, &spread(op.array(2)?))
}

fn is_finite(op: &Op<'_, '_>) -> Result<Array> {
    let x = op.array(0)?;
    let answers = match &x.data {
        Data::F32(v) => v.iter().map(|x| x.is_finite()).collect(),
        Data::F64(v) => v.iter().map(|x| x.is_finite()).collect(),
        _ => return Err(Invalid::unsupported(format!("is-finite of {}", x.ty.as_str_name()))),
    };
    Ok(Array { ty: PrimitiveType::Pred, dims: x.dims.clone(), data: Data::Pred(answers) })
}
