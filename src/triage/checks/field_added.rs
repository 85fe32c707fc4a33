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
//! Goldens can show it. Those that carry the field are executed as base understands them, which drops it, and as head does.
//! Where all results agree bit for bit, and one of them made the bundled runtime read the field, the finding is satisfied:
//! the field can be ignored. Where one runs, or gives what was recorded, only with the field, the finding says so.
//!
//! ## Example
//! ```proto
//! message KernelThunkProto {
//!   bool use_pdl = 10;   // new: written from the forward window's end on
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::descriptor::Label;
use crate::finding::{Finding, Step};
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

/// The way out for what can be ignored.
const WAIVE: &str =
    " If older runtimes may ignore it and still compute the same, waive this with that reason.";

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
    outcome.remedy.push_str(WAIVE);
    Some(outcome)
}

/// What remains to be done where this many goldens gave the same without the field.
pub fn ignorable(finding: &mut Finding, goldens: usize) {
    let many = match goldens {
        1 => "a golden that carries and reads it gives".to_owned(),
        count => format!("{count} goldens that carry and read it give"),
    };
    finding.remedy = format!(
        "Nothing to do: {many} the same without it. Should a program depend on it that no golden is like, its author says so."
    );
    finding.earliest_safe = None;
}

/// Says that goldens show that runtimes need the field; `alone` is false where it may be another new one.
pub fn needed(finding: &mut Finding, alone: bool) {
    finding.message.push_str(match alone {
        true => "; execution shows that it is needed",
        false => "; execution shows that it or another new field is needed",
    });
    finding.remedy = finding.remedy.replace(WAIVE, "");
}
