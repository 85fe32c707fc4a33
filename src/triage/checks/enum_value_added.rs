//! An enum got another value.
//!
//! ## What it flags
//! An enum number that head has and base has not.
//!
//! ## Why it breaks
//! A runtime up to 2 weeks older does not know the number. An open enum keeps it, and code that switches over
//! the known values takes its default branch; a closed enum drops it, and the field reads as unset.
//!
//! ## What to do
//! Land the value with the code that handles it. Write it only 2 weeks later, or behind a flag that is off by
//! default until then.
//!
//! ## Example
//! ```proto
//! enum ReductionKindProto {
//!   REDUCTION_KIND_SUM = 0;
//!   REDUCTION_KIND_XOR = 5;   // new: written from the forward window's end on
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::{enum_value_reused, wording};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-value-added",
    step: Some(Step::R4),
    kinds: &[ChangeKind::EnumValueAdded],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::EnumValue(owner, value) = &change.subject else { return None };
    let (owner, value) = (owner.base?, value.head?);
    if enum_value_reused::certain(owner, value) {
        return None;
    }
    let effect = if owner.closed {
        "the enum is closed: a runtime that does not know the number reads the field as unset"
    } else {
        "the enum is open: a runtime that does not know the number has no case for it"
    };
    Some(wording::added(change, context, &wording::value(value), effect))
}
