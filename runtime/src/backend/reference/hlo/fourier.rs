//! Fourier transforms.

use super::{Op, Value};
use crate::backend::reference::fft::transform;
use crate::program::{Invalid, Result};

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    (op.instruction.opcode == "fft").then(|| fft(op))
}

fn fft(op: &Op<'_, '_>) -> Result<Value> {
    let proto = &op.instruction.proto;
    let lengths = proto
        .fft_length
        .iter()
        .map(|n| usize::try_from(*n).map_err(|_| Invalid::value("fft_length", n, "0 or more")))
        .collect::<Result<Vec<_>>>()?;
    transform(proto.fft_type(), &lengths, op.array(0)?, op.shape()?).map(Value::from)
}
