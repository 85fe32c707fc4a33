//! The start or the end of something asynchronous is missing.
//!
//! ## What it flags
//!
//! A thunk that waits for an id which no earlier thunk of its kind started (error), a start that nothing
//! waits for (warning), and an asynchronous start that names no stream (error). Ids are fields named
//! `async_execution_id` or `async_events_unique_id`; a message with `Done` in its name waits.
//!
//! ## Why it matters
//!
//! Loaders pair the two while they read and refuse a wait without a start. Without a wait, later thunks
//! read buffers that are not written yet.
//!
//! ## What to do
//!
//! Serialize both halves, the start first.

use std::collections::BTreeMap;

use prost_reflect::{Kind, MessageDescriptor};

use super::finding::{Draft, Level, Sink};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::artifact::wire::Fields;

pub(super) static RULE: RuleInfo = RuleInfo { id: "async-dangling", level: Level::Error };

const IDS: [&str; 2] = ["async_execution_id", "async_events_unique_id"];
const STREAM: &str = "execution_stream_id";

#[derive(Default)]
pub(super) struct Check {
    /// By family and id: where it was started, and whether something waits.
    started: BTreeMap<(String, u64), Started>,
}

struct Started {
    path: String,
    thunk: Option<String>,
    awaited: bool,
}

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check::default()
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        let Some(known) = IDS.iter().find_map(|name| message.get_field_by_name(name)) else {
            return;
        };
        if known.kind() != Kind::Uint64 || at.allocations().is_none() {
            return;
        }
        let stream = message.oneofs().find(|oneof| oneof.name() == STREAM);
        let mut has_stream = stream.is_none();
        let mut id = 0;
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.next_field() {
            if field.number == known.number() {
                id = field.scalar;
            }
            let field = message.get_field(field.number);
            has_stream |= field.and_then(|f| f.containing_oneof()).is_some() && stream.is_some();
        }
        if !has_stream {
            at.report(&RULE, Draft::new("the start names no stream that the contract knows"));
        }
        let done = message.name().contains("Done");
        let family = message.name().replace("Start", "").replace("Done", "");
        let key = (family, id);
        if !done {
            self.started.entry(key).or_insert_with(|| Started {
                path: at.path(),
                thunk: at.thunk(),
                awaited: false,
            });
        } else if let Some(started) = self.started.get_mut(&key) {
            started.awaited = true;
        } else {
            let text = format!("waits for id {id}, which nothing before it started");
            at.report(&RULE, Draft::new(text));
        }
    }

    fn finish(&mut self, sink: &mut Sink) {
        for ((_, id), started) in std::mem::take(&mut self.started) {
            if !started.awaited {
                let draft = Draft::new(format!("nothing waits for id {id}, which is started here"));
                sink.add(&RULE, || (started.path, started.thunk), draft.level(Level::Warning));
            }
        }
    }
}
