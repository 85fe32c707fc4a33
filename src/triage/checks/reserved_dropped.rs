//! A reserved number or name is reserved no more.
//!
//! ## What it flags
//! Numbers and names that base reserves and head does not, ranges included, as far as nothing took them and history
//! does not know them in use ([`unreserved-again`](#unreserved-again)). What a
//! field or value took is [`field-number-reused`](#field-number-reused),
//! [`field-name-reused`](#field-name-reused) or [`enum-value-reused`](#enum-value-reused).
//!
//! ## Why it breaks
//! Nothing is misread today. But the reservation stands for something that old artifacts hold, and without it a
//! later change can take the number or the name without anyone noticing.
//!
//! ## What to do
//! Put the reservation back. There is no date from which on it is useless.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   reserved 3, 5 to 8;      // only ever grows
//!   reserved "instr_id";
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface, ranges, subtract};
use crate::descriptor::{Enum, Message, Name};
use crate::finding::{Level, Step};
use crate::triage::{Check, Context, Outcome};

use super::unreserved_again;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "reserved-dropped",
    step: Some(Step::R3),
    kinds: &[ChangeKind::ReservedDropped],
    surface: Surface::Proto,
    level: Some(Level::Warning),
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Dropped { owner, numbers, names } = dropped(change)?;
    // What history knows to have been in use is told by another check.
    let all = numbers.iter().flat_map(|&(lo, hi)| lo..=hi).take(unreserved_again::LOOKED_UP);
    let known = all.filter(|n| unreserved_again::number(owner, *n, context).is_some());
    let numbers = subtract(&numbers, &single(known));
    let unknown = names.iter().filter(|n| unreserved_again::name(owner, n, context).is_none());
    let mut dropped = Vec::new();
    if !numbers.is_empty() {
        dropped.push(ranges(&numbers));
    }
    dropped.extend(unknown.map(|name| format!("\"{name}\"")));
    if dropped.is_empty() {
        return None;
    }
    let dropped = dropped.join(", ");
    let mut outcome = Outcome::safe(
        format!("{dropped} is reserved no more"),
        "a later change could take it, and would be read out of old artifacts",
    );
    outcome.remedy = format!("Reserve {dropped} again.");
    Some(outcome)
}

/// What is reserved no more, and what nothing in head took.
pub(super) struct Dropped<'a> {
    /// The message or enum, by base's name.
    pub(super) owner: &'a Name,
    /// Ranges, both ends inclusive.
    pub(super) numbers: Vec<(i32, i32)>,
    pub(super) names: Vec<&'a Name>,
}

/// What a change of reservations drops; `None` if nothing.
pub(super) fn dropped<'a>(change: &Change<'a>) -> Option<Dropped<'a>> {
    let dropped = match &change.subject {
        Subject::Message(owner) => of_message(owner.base?, owner.head?),
        Subject::Enum(owner) => of_enum(owner.base?, owner.head?),
        _ => return None,
    };
    (!dropped.numbers.is_empty() || !dropped.names.is_empty()).then_some(dropped)
}

/// What a message reserves no more and no field of head took.
fn of_message<'a>(base: &'a Message, head: &Message) -> Dropped<'a> {
    let taken = single(head.fields.iter().map(|f| f.number));
    let numbers = subtract(&subtract(&base.reserved_numbers, &head.reserved_numbers), &taken);
    let free = |name: &&Name| !head.reserves_name(name) && head.field_named(name).is_none();
    Dropped { owner: &base.name, numbers, names: base.reserved_names.iter().filter(free).collect() }
}

/// What an enum reserves no more and no value of head took. An alias takes a name and no number, so
/// that no other check speaks of it.
fn of_enum<'a>(base: &'a Enum, head: &Enum) -> Dropped<'a> {
    let taken = single(head.values.iter().map(|v| v.number));
    let numbers = subtract(&subtract(&base.reserved_numbers, &head.reserved_numbers), &taken);
    let took = |name: &Name| {
        head.value_named(name).and_then(|v| head.value(v.number)).is_some_and(|v| v.name == *name)
    };
    let free = |name: &&Name| !head.reserves_name(name) && !took(name);
    Dropped { owner: &base.name, numbers, names: base.reserved_names.iter().filter(free).collect() }
}

/// Numbers as sorted ranges.
fn single(numbers: impl Iterator<Item = i32>) -> Vec<(i32, i32)> {
    let mut numbers: Vec<_> = numbers.map(|number| (number, number)).collect();
    numbers.sort_unstable();
    numbers
}
