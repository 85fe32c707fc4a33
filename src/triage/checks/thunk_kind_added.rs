//! There is a new kind of program step.
//!
//! ## What it flags
//! A new member of a oneof whose members are kinds of program steps (`contract.dispatch` in the policy), such as
//! `xla.gpu.ThunkProto.impl`.
//!
//! ## Why it breaks
//! A runtime up to 2 weeks older sees the step as not set and cannot run the program. A program that needs the
//! step cannot do without it, so this is never an addition to ignore.
//!
//! ## What to do
//! Land the kind and the code that loads and executes it. Let compilers emit it only 2 weeks later, or behind a
//! flag that is off by default until then.
//!
//! ## Example
//! ```proto
//! message ThunkProto {
//!   oneof impl {
//!     CopyThunkProto copy_thunk = 3;
//!     AsyncStartThunkProto async_start_thunk = 60;   // new: emitted from the forward window's end on
//!   }
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::{field_number_reused, wording};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "thunk-kind-added",
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
    if !context.is_dispatch(&message.name, oneof)
        || field_number_reused::certain(owner.base?, field)
    {
        return None;
    }
    let what = format!("step {} = {}", field.name, field.number);
    let effect = "a runtime that does not know the step cannot run the program";
    Some(wording::added(change, context, &what, effect))
}
