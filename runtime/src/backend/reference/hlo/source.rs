//! Values that come from no operand.

use super::convert::convert;
use super::{Family, Op};
use crate::array::{Array, Data, Domain, Odometer, domain, literal, wrap_int, wrap_uint};
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

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
    let mut numbers = Vec::with_capacity(shape.elements());
    let mut odometer = Odometer::new(&shape.dims);
    while odometer.valid() {
        numbers.push(odometer.index[dimension] as i64);
        odometer.advance();
    }
    let numbers =
        Array { ty: PrimitiveType::S64, dims: shape.dims.clone(), data: Data::Int(numbers) };
    convert(&numbers, shape.ty)
}
