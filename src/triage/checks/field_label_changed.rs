//! A field went from one value to a list, or back.
//!
//! ## What it flags
//! A field that became `repeated` or ceased to be. To and from `required` there are checks of their own.
//!
//! ## Why it breaks
//! A reader of one value takes the last element of a list (and merges messages); packed numbers it drops whole,
//! without an error. So a list that becomes one value loses data of old artifacts, and one value that becomes a
//! list is misread by older runtimes as soon as it has two elements.
//!
//! ## What to do
//! Add a new repeated field beside the old one, and stage the switch.
//!
//! ## Example
//! ```proto
//! message CustomCallThunkProto {
//!   string target = 1;             // keep reading
//!   repeated string targets = 9;   // new
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::descriptor::Label;
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-label-changed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldLabelChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(_, field) = &change.subject else { return None };
    let (base, head) = (field.base?, field.head?);
    if base.label == Label::Required || head.label == Label::Required {
        return None;
    }
    let message = format!(
        "{} is {} instead of {}",
        wording::field(head),
        head.label.name(),
        base.label.name()
    );
    let remedy = wording::replace(context, "the new form");
    Some(wording::by_wire_effect(CHECK.id, change, context, message, remedy))
}
