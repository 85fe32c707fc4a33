//! Evaluates HLO: what a kernel was compiled from, computed plainly.
//!
//! Semantics are those of XLA's operation-semantics document. One file per family of operations; this one
//! finds the family.

mod bits;
mod collective;
mod compare;
mod complex;
mod control;
mod convert;
mod convolution;
mod dot;
mod elementwise;
mod evaluator;
mod float;
mod fourier;
mod indexed;
mod moving;
mod op;
mod reduce;
mod scalar;
mod slicing;
mod sort;
mod source;
mod structure;
#[cfg(test)]
mod tests;
mod top_k;
mod window;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::array::Array;
use crate::program::shape::Shape;
use crate::program::{Invalid, Result};

pub(crate) use collective::reduce_arrays;
pub(crate) use convolution::{Convolved, Which, narrowed};
pub(crate) use dot::{doubles, tf32};
pub(crate) use evaluator::{DeviceIds, Evaluator};
pub(crate) use op::Op;
pub(crate) use scalar::Scalar;
pub(crate) use top_k::CUSTOM_CALLS;

/// A value while it is computed.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Array(Arc<Array>),
    Tuple(Arc<Vec<Value>>),
    Token,
}

/// A family of operations.
struct Family {
    /// The opcodes that `evaluate` knows.
    opcodes: &'static [&'static str],
    evaluate: fn(&mut Op<'_, '_>) -> Result<Value>,
    /// Whether results are operands passed on, or were counted where they were made: no new memory.
    passes: bool,
}

/// All that can be evaluated. `parameter` is the computation's own.
const FAMILIES: [&Family; 19] = [
    &structure::FAMILY,
    &source::FAMILY,
    &elementwise::UNARY_FAMILY,
    &elementwise::BINARY_FAMILY,
    &complex::FAMILY,
    &compare::FAMILY,
    &convert::FAMILY,
    &moving::FAMILY,
    &slicing::FAMILY,
    &reduce::FAMILY,
    &dot::FAMILY,
    &control::FAMILY,
    &collective::FAMILY,
    &sort::FAMILY,
    &window::FAMILY,
    &indexed::FAMILY,
    &fourier::FAMILY,
    &convolution::FAMILY,
    &top_k::FAMILY,
];

static BY_OPCODE: LazyLock<HashMap<&'static str, &'static Family>> = LazyLock::new(|| {
    let pairs = FAMILIES.iter().flat_map(|f| f.opcodes.iter().map(|opcode| (*opcode, *f)));
    pairs.collect()
});

/// The family that an opcode is of.
fn family(opcode: &str) -> Result<&'static Family> {
    let found = BY_OPCODE.get(opcode).copied();
    found.ok_or_else(|| Invalid::unsupported(format!("opcode {opcode}")))
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Value::Array(Arc::new(array))
    }
}

impl FromIterator<Value> for Value {
    /// A tuple.
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Value::Tuple(Arc::new(values.into_iter().collect()))
    }
}

impl Value {
    /// The arrays inside, in depth-first order.
    pub(crate) fn leaves(&self) -> Vec<&Array> {
        match self {
            Value::Array(array) => vec![array],
            Value::Tuple(values) => values.iter().flat_map(Value::leaves).collect(),
            Value::Token => Vec::new(),
        }
    }

    /// An operation must yield what its instruction says.
    fn check_shape(&self, shape: &Shape) -> Result<()> {
        match (self, shape) {
            (Value::Array(array), Shape::Array(shape))
                if array.ty == shape.ty
                    && array.dims == shape.dims
                    && array.len() == shape.elements() =>
            {
                Ok(())
            }
            (Value::Tuple(values), Shape::Tuple(shapes)) if values.len() == shapes.len() => {
                values.iter().zip(shapes).try_for_each(|(value, shape)| value.check_shape(shape))
            }
            (Value::Token, Shape::Token) => Ok(()),
            (Value::Array(array), Shape::Array(shape)) => {
                Err(Invalid::value("result", array.shape(), shape.to_string()))
            }
            _ => Err(Invalid::value("result", "of another structure", "what the shape says")),
        }
    }
}
