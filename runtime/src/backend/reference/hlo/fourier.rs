//! Fourier transforms.

use super::{Family, Op, Value};
use crate::backend::reference::fft::transform;
use crate::program::{Invalid, Result};

pub(super) const FAMILY: Family =
    Family { opcodes: &["fft"], evaluate: |op| fft(op), passes: false };

fn fft(op: &Op<'_, '_>) -> Result<Value> {
    let proto = &op.instruction.proto;
    let lengths = proto
        .fft_length
        .iter()
        .map(|n| usize::try_from(*n).map_err(|_| Invalid::value("fft_length", n, "0 or more")))
        .collect::<Result<Vec<_>>>()?;
    transform(proto.fft_type(), &lengths, op.array(0)?, op.shape()?).map(Value::from)
}
