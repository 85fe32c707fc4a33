//! Values that come from no operand.

use super::convert::convert_scalar;
use super::scalar::Scalar;
use super::{Family, Op};
use crate::array::{Array, Data, Domain, Odometer, domain, literal, wrap_int, wrap_uint};
use crate::program::{Invalid, Result};

pub(super) const FAMILY: Family = Family {
    opcodes: &["constant", "iota", "replica-id", "partition-id", "get-dimension-size"],
    evaluate: |op| {
        Ok(match op.instruction.opcode.as_str() {
            "constant" => constant(op)?,
            "iota" => iota(op)?,
            "replica-id" => number(op, op.evaluator.device.replica.into())?,
            "partition-id" => number(op, op.evaluator.device.partition.into())?,
            // Sizes are fixed here.
            _ => {
                let x = op.array(0)?;
                let size = x.dims[op.dimension(x.dims.len())?];
                number(op, size as u64)?
            }
        }
        .into())
    },
    passes: false,
};

fn constant(op: &Op<'_, '_>) -> Result<Array> {
    let proto = op.instruction.proto.literal.as_ref().ok_or_else(|| Invalid::missing("literal"))?;
    literal(proto, op.shape()?)
}

/// An integer scalar.
fn number(op: &Op<'_, '_>, number: u64) -> Result<Array> {
    let ty = op.shape()?.ty;
    let data = match domain(ty)? {
        Domain::Int => Data::Int(vec![wrap_int(ty, number as i64)]),
        Domain::Uint => Data::Uint(vec![wrap_uint(ty, number)]),
        _ => return Err(Invalid::value("result", op.shape()?, "an integer")),
    };
    Ok(Array { ty, dims: Vec::new(), data })
}

/// The index along one dimension.
fn iota(op: &Op<'_, '_>) -> Result<Array> {
    let shape = op.shape()?;
    let dimension = op.dimension(shape.dims.len())?;
    let mut out = Array::zeros(shape.ty, &shape.dims)?;
    let mut odometer = Odometer::new(&shape.dims);
    for at in 0..out.len() {
        let index = Scalar::Int(odometer.index[dimension] as i64);
        out.set(at, convert_scalar(index, shape.ty)?)?;
        odometer.advance();
    }
    Ok(out)
}
