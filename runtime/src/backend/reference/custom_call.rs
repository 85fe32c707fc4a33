//! Registered functions. One that is not here is not supported.

use super::{Reference, Resolve, linear, radix_sort};
use crate::program::thunk::{CustomCall, Function, Step};
use crate::program::{Invalid, Result};

/// Calls the function of a custom call.
pub(super) fn run(
    device: &mut Reference<'_>,
    _step: &Step,
    call: &CustomCall,
    resolve: Resolve<'_>,
) -> Result<()> {
    match &call.function {
        Function::Sort(sort) => radix_sort::run(device, sort, call, resolve),
        Function::Linear(p) => linear::run(device, p, resolve),
        Function::Unknown => Err(Invalid::unsupported(format!("custom call {:?}", call.target))),
    }
}
