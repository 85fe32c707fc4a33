//! The contract's text changed and its meaning did not.
//!
//! ## What it flags
//! Moves, renames of types, new types that nothing refers to yet, reservations, deprecation marks:
//! changes that leave every byte of every artifact with the meaning it had. It is reported so that the
//! reader sees why the change passed.
//!
//! ## Why it is safe
//! Binary protobuf carries numbers and wire types only. A type that moved to another file or package, or
//! got another name, is the same on the wire.
//!
//! ## What to do
//! Nothing. Text goldens that name the type in an extension or an `Any` need the new name.
//!
//! ## Example
//! ```proto
//! // moved from thunk.proto to shaped_slice.proto, same package, same fields
//! message ShapedSliceProto { /* ... */ }
//! ```

use crate::change::{Change, ChangeKind, Surface};
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "no-effective-change",
    step: None,
    kinds: &[
        ChangeKind::MessageAdded,
        ChangeKind::MessageRenamed,
        ChangeKind::MessageMoved,
        ChangeKind::FieldDeprecatedChanged,
        ChangeKind::OneofRenamed,
        ChangeKind::EnumAdded,
        ChangeKind::EnumRenamed,
        ChangeKind::EnumMoved,
        ChangeKind::ReservedAdded,
        ChangeKind::ReachabilityGained,
        ChangeKind::ReachabilityLost,
    ],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    let (message, because) = match change.kind {
        ChangeKind::MessageAdded | ChangeKind::EnumAdded => {
            ("the type is new", "no artifact holds it; the fields that use it are judged on their own")
        }
        ChangeKind::MessageRenamed | ChangeKind::EnumRenamed => {
            ("the type has another name", "the binary wire carries no type names")
        }
        ChangeKind::MessageMoved | ChangeKind::EnumMoved => {
            ("the type moved to another file", "the binary wire knows no files")
        }
        ChangeKind::FieldDeprecatedChanged => {
            ("the deprecation mark changed", "it has no effect on the wire")
        }
        ChangeKind::OneofRenamed => ("the oneof has another name", "the wire carries its members only"),
        ChangeKind::ReservedAdded => ("more is reserved", "reservations only prevent reuse"),
        ChangeKind::ReachabilityGained => {
            ("an existing type became part of the contract", "no artifact held it before")
        }
        ChangeKind::ReachabilityLost => (
            "the type is no part of the contract any more",
            "the fields that referred to it are judged on their own",
        ),
        _ => return None,
    };
    Some(Outcome::safe(message, because))
}
