//! Everything that the contract's messages and enums ever declared, with the commits between which they did.
//!
//! A timeline is built by observing the contracts of a chain of commits in order, oldest first, and depends on nothing
//! else. Places are [`Position`]s on the chain; the commits at which something happened are kept with id and date
//! ([`Landed`]), so every answer names both.
//!
//! - A **scope** is a message or an enum through all its moves and renames. One that comes back under the name that it
//!   had is the same scope, with a hole in its life.
//! - A **use** is one meaning of a number under one name and type. It may be declared several times: what was removed
//!   (or reverted) and declared again with the same number, name and type is the same use with one more span.
//! - Uses of a scope that follow one another by a rename or a change of type, label or presence share their
//!   [`Use::meaning`]. A number, or a name, is *reused* where it has uses of different meanings.
//!
//! What was declared when the chain begins is older than that by an unknown time, unless the chain goes back to a root
//! commit. Commits whose protos do not compile are gaps: what changed across one changed somewhere inside it.
//! [`Confidence`] says so for each [`Moment`].

mod cut;
mod difference;
mod model;
mod observe;
pub(in crate::history) mod spans;
mod view;

pub use difference::Difference;
pub use model::{
    Begin, ChangeLine, Confidence, FieldShape, Gap, Landed, Moment, Period, Position, Scope,
    ScopeId, ScopeKind, Span, Timeline, Titled, Undo, Use,
};
pub use observe::Commit;
pub use view::{Reuse, Used, View};
