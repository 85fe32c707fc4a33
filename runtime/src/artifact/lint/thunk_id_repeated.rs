//! Two thunks have the same id.
//!
//! ## What it flags
//!
//! Thunks of one executable with the same nonzero `thunk_id`.
//!
//! ## Why it matters
//!
//! Profiles, logs and debug tools tell thunks apart by the id.
//!
//! ## What to do
//!
//! Number thunks from one counter, also those that a pass makes of others.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_reflect::MessageDescriptor;

use super::finding::{Draft, Level, Sink};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::proto::xla::gpu::ThunkInfoProto;

pub(super) static RULE: RuleInfo = RuleInfo { id: "thunk-id-repeated", level: Level::Note };

const THUNK_INFO: &str = "xla.gpu.ThunkInfoProto";
/// Further places that are named.
const NAMED: usize = 10;

#[derive(Default)]
pub(super) struct Check {
    seen: BTreeMap<i64, Seen>,
}

#[derive(Default)]
struct Seen {
    first: String,
    thunk: Option<String>,
    also: Vec<String>,
    count: u64,
}

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check::default()
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() != THUNK_INFO {
            return;
        }
        let id = ThunkInfoProto::decode(bytes.reader()).unwrap_or_default().thunk_id;
        if id == 0 {
            return;
        }
        let seen = self.seen.entry(id).or_default();
        seen.count += 1;
        match seen.count {
            1 => (seen.first, seen.thunk) = (at.path(), at.thunk()),
            _ if seen.also.len() < NAMED => seen.also.push(at.path()),
            _ => {}
        }
    }

    fn finish(&mut self, sink: &mut Sink) {
        for (id, seen) in std::mem::take(&mut self.seen) {
            if seen.count > 1 {
                let draft = Draft::new(format!("{} thunks have the id {id}", seen.count));
                sink.add(&RULE, || (seen.first, seen.thunk), draft.also(seen.also));
            }
        }
    }
}
