//! Values of open enums.

use super::invalid::{Invalid, Result};

/// The value with a number. A number that the contract has no name for is an error: prost's own getters
/// take it for the default, which is a meaning that the writer did not have in mind.
pub(crate) fn known<E: TryFrom<i32>>(field: &str, of: &str, number: i32) -> Result<E> {
    E::try_from(number).map_err(|_| Invalid::value(field, number, format!("a value of {of}")))
}
