//! History: what the contract was, commit by commit along first parents, with dates as evidence.
//!
//! [`chain`] lists the commits, [`walk`] finds those that touch the contract and compiles them, [`timeline`] keeps
//! what was ever declared with the commits between which it was, [`index`] keeps that on disk, and [`History::open`] puts
//! it together. [`ledger`] keeps it as text in the governed tree. Messages of commits ([`reverts`]) explain what happened; no fact rests on them.

pub mod chain;
pub mod index;
pub mod ledger;
mod open;
mod past;
pub mod reverts;
pub mod timeline;
pub mod walk;

pub use index::Cache;
pub use open::{History, Options, default_since, since_for_check};
pub use timeline::{
    Begin, ChangeLine, Confidence, Gap, Landed, Moment, Period, Position, Reuse, Scope, ScopeId,
    ScopeKind, Span, Timeline, Use, Used, View,
};
