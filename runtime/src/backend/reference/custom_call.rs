//! Registered functions. One that is not here is not supported.

use super::{Reference, Resolve};
use crate::program::thunk::{CustomCall, Step};
use crate::program::{Invalid, Result};

/// Calls the function of a custom call.
pub(super) fn run(
    _device: &mut Reference<'_>,
    _step: &Step,
    call: &CustomCall,
    _resolve: Resolve<'_>,
) -> Result<()> {
    Err(Invalid::unsupported(format!("custom call {:?}", call.target)))
}
