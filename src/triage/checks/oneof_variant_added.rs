//! A oneof got another member.
//!
//! ## What it flags
//! A new member of a oneof, new oneofs included. Where the members are kinds of program steps it is
//! [`thunk-kind-added`](#thunk-kind-added).
//!
//! ## Why it breaks
//! A runtime up to 2 weeks older does not know the member. It sees the oneof as not set, which it never was
//! before, and takes whatever path that has.
//!
//! ## What to do
//! Land the member with the code that reads it. Write it only 2 weeks later, or behind a flag that is off by
//! default until then, and write the old member until that day.
//!
//! ## Example
//! ```proto
//! message OffsetProto {
//!   oneof offset {
//!     int64 constant = 2;
//!     OffsetExprProto expression = 4;   // new: written from the forward window's end on
//!   }
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::{field_number_reused, wording};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "oneof-variant-added",
    step: Some(Step::R4),
    kinds: &[ChangeKind::FieldAdded],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (message, field) = (owner.head?, field.head?);
    let oneof = field.oneof.as_deref()?;
    if context.is_dispatch(&message.name, oneof)
        || field_number_reused::certain(owner.base?, field)
    {
        return None;
    }
    let what = format!("member {} = {} of oneof {oneof}", field.name, field.number);
    let effect = "a runtime that does not know the member sees the oneof as not set";
    Some(wording::added(change, context, &what, effect))
}
