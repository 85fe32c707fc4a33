//! Work that recurses as deep as a message nests.

use std::thread;

use crate::error::{Error, ErrorKind};

/// Enough for protobuf's 100 levels of thunks in an unoptimised build, several times over.
pub(crate) const DEEP_STACK: usize = 32 << 20;

/// Runs `work` on a stack that decoding a message of any nesting fits on. Decoders stop at 100 levels,
/// but in an unoptimised build the default stack of a thread ends before that.
pub(crate) fn on_deep_stack<T: Send>(
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("aotgate-decode".to_owned())
            .stack_size(DEEP_STACK)
            .spawn_scoped(scope, work)
            .map_err(|error| ErrorKind::Thread { reason: error.to_string() })?;
        let Ok(result) = thread.join() else {
            return Err(ErrorKind::Thread { reason: "it panicked".to_owned() }.into());
        };
        result
    })
}
