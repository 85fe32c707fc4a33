//! A field was added.
//!
//! ## What it flags
//! A field number that head has and base has not, outside oneofs, in a message that artifacts can hold.
//! Members of oneofs are [`oneof-variant-added`](#oneof-variant-added) or
//! [`thunk-kind-added`](#thunk-kind-added).
//!
//! ## Why it breaks
//! A runtime up to 2 weeks older does not know the number and ignores the value. That is fine where the
//! value is optional and "unset" keeps the old meaning, and wrong where correctness needs it. Two
//! schemas do not tell which; until it is known whether compilers write the field, the cautious answer
//! applies.
//!
//! ## What to do
//! Land the field with the code that reads it. Write it only 2 weeks later, or behind a flag that is off
//! by default until then. If an older runtime may ignore it, have it waived: an attestation
//! does not cover emission.
//!
//! ## Example
//! ```proto
//! message KernelThunkProto {
//!   bool use_pdl = 10;   // new: written from the forward window's end on
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::descriptor::Label;
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::{field_number_reused, wording};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-added",
    step: Some(Step::R4),
    kinds: &[ChangeKind::FieldAdded],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let field = field.head?;
    if field.oneof.is_some()
        || field.label == Label::Required
        || field_number_reused::certain(owner.base?, field)
    {
        return None;
    }
    let effect = "a runtime that does not know the number drops the value without an error";
    let mut outcome = wording::added(change, context, &wording::field(field), effect);
    outcome.remedy.push_str(
        " If older runtimes may ignore it and still compute the same, waive this with that reason.",
    );
    Some(outcome)
}
