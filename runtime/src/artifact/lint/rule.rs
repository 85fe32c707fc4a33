//! What a rule is, and how all of them see one walk.

use std::collections::HashMap;

use prost::Message as _;
use prost_reflect::{FieldDescriptor, MessageDescriptor};

use super::catalog;
use super::finding::{Draft, Level, Sink};
use super::place::Place;
use super::scope::{Allocations, bringing_field, holds_thunks};
use super::walk::{Visitor, walk};
use crate::artifact::limits::Budget;
use crate::artifact::reflect::pool;
use crate::artifact::rope::Rope;
use crate::artifact::wire::{Field, Fields, Wire};
use crate::error::{Error, ErrorKind};
use crate::proto::xla::gpu::ThunkInfoProto;

pub(super) const THUNK: &str = "xla.gpu.ThunkProto";
const THUNK_INFO: u32 = 1;
/// Messages of XLA:CPU programs inside the executable. Their slices count in allocations of their own.
const HOST_PACKAGE: &str = "xla.cpu.";

/// A rule as people name it.
#[derive(Debug)]
pub struct RuleInfo {
    /// Kebab-case.
    pub id: &'static str,
    /// Level of its findings, unless one says otherwise.
    pub level: Level,
}

/// A rule while an artifact is walked.
pub(super) trait Rule {
    fn enter(&mut self, _at: &mut At<'_>, _message: &MessageDescriptor, _bytes: &Rope) {}
    fn leave(&mut self, _at: &mut At<'_>, _message: &MessageDescriptor) {}
    fn content(&mut self, _at: &mut At<'_>, _field: &FieldDescriptor, _bytes: &Rope) {}
    fn unknown(
        &mut self,
        _at: &mut At<'_>,
        _owner: &MessageDescriptor,
        _field: &Field,
        _declared: bool,
    ) {
    }
    fn finish(&mut self, _sink: &mut Sink) {}
}

/// Where the walk is.
pub(super) struct At<'a> {
    place: &'a Place,
    frames: &'a [Frame],
    sink: &'a mut Sink,
}

/// A message that is open.
struct Frame {
    message: String,
    /// Its bytes, for thunks.
    thunk: Option<Rope>,
    /// What slices directly in it count in; `None` where that is not known.
    scope: Option<Allocations>,
    /// What slices of thunks in it count in.
    inside: Option<Allocations>,
}

impl At<'_> {
    pub(super) fn report(&mut self, rule: &'static RuleInfo, draft: Draft) {
        let (place, frames) = (self.place, self.frames);
        self.sink.add(rule, || (place.to_string(), thunk(frames)), draft);
    }

    pub(super) fn path(&self) -> String {
        self.place.to_string()
    }

    pub(super) fn thunk(&self) -> Option<String> {
        thunk(self.frames)
    }

    /// What slices here count in.
    pub(super) fn allocations(&self) -> Option<&Allocations> {
        self.frames.last()?.scope.as_ref()
    }

    /// Whether one of the messages around, or this one, has the type.
    pub(super) fn within(&self, message: &str) -> bool {
        self.frames.iter().any(|frame| frame.message == message)
    }

    /// The type of the message around this one.
    pub(super) fn parent(&self) -> Option<&str> {
        let at = self.frames.len().checked_sub(2)?;
        self.frames.get(at).map(|frame| frame.message.as_str())
    }

    /// The name of the field that this is in.
    pub(super) fn field_name(&self) -> &str {
        self.place.field().map_or("", FieldDescriptor::name)
    }
}

/// The innermost thunk: its kind and the instruction it was compiled from.
fn thunk(frames: &[Frame]) -> Option<String> {
    let bytes = frames.iter().rev().find_map(|frame| frame.thunk.as_ref())?;
    let descriptor = pool().ok()?.get_message_by_name(THUNK)?;
    let mut kind = "unknown kind".to_owned();
    let mut annotation = String::new();
    let mut fields = Fields::new(bytes);
    while let Ok(Some(field)) = fields.next_field() {
        let Some(known) = descriptor.get_field(field.number) else { continue };
        if known.containing_oneof().is_some() {
            kind = known.name().trim_end_matches("_thunk").to_owned();
        } else if field.number == THUNK_INFO && field.wire == Wire::Length {
            let info = bytes.slice(field.value).unwrap_or_default();
            let info = ThunkInfoProto::decode(info.reader()).unwrap_or_default();
            annotation = info.profile_annotation;
        }
    }
    Some(if annotation.is_empty() { kind } else { format!("{kind} {annotation}") })
}

/// All rules, for one artifact.
pub(super) struct Rules {
    rules: Vec<Box<dyn Rule>>,
}

impl Rules {
    pub(super) fn new(executable: &Rope) -> Result<Self, Error> {
        Ok(Rules { rules: catalog::rules(executable)? })
    }

    /// Walks one message with all rules.
    pub(super) fn walk(
        &mut self,
        name: &str,
        bytes: &Rope,
        prefix: &'static str,
        allocations: Allocations,
        sink: &mut Sink,
        budget: &mut Budget<'_>,
    ) -> Result<(), Error> {
        let descriptor = pool()?
            .get_message_by_name(name)
            .ok_or_else(|| ErrorKind::Contract { reason: format!("{name} is not in it") })?;
        let mut shown = Shown {
            rules: &mut self.rules,
            frames: Vec::new(),
            root: Some(allocations),
            bringing: HashMap::new(),
            sink,
        };
        walk(&descriptor, bytes, prefix, &mut shown, budget)
    }

    pub(super) fn finish(&mut self, sink: &mut Sink) {
        for rule in &mut self.rules {
            rule.finish(sink);
        }
    }
}

/// Shows a walk to all rules.
struct Shown<'r> {
    rules: &'r mut [Box<dyn Rule>],
    frames: Vec<Frame>,
    root: Option<Allocations>,
    /// By type of message, the field in which it brings allocations.
    bringing: HashMap<String, Option<u32>>,
    sink: &'r mut Sink,
}

impl Shown<'_> {
    fn open(&mut self, message: &MessageDescriptor, bytes: &Rope) {
        let scope = match self.frames.last() {
            None => self.root.clone(),
            Some(_) if message.full_name().starts_with(HOST_PACKAGE) => None,
            Some(around) if holds_thunks(message) => around.inside.clone(),
            Some(around) => around.scope.clone(),
        };
        let name = message.full_name();
        let bringing = match self.bringing.get(name) {
            Some(known) => *known,
            None => {
                let found = bringing_field(message);
                self.bringing.insert(name.to_owned(), found);
                found
            }
        };
        let opened = bringing.and_then(|number| Allocations::inside(number, bytes));
        let thunk = (message.full_name() == THUNK).then(|| bytes.clone());
        let inside = opened.or_else(|| scope.clone());
        self.frames.push(Frame { message: message.full_name().to_owned(), thunk, scope, inside });
    }
}

impl Visitor for Shown<'_> {
    fn enter(&mut self, place: &Place, message: &MessageDescriptor, bytes: &Rope) {
        self.open(message, bytes);
        let mut at = At { place, frames: &self.frames, sink: self.sink };
        for rule in self.rules.iter_mut() {
            rule.enter(&mut at, message, bytes);
        }
    }

    fn leave(&mut self, place: &Place, message: &MessageDescriptor) {
        let mut at = At { place, frames: &self.frames, sink: self.sink };
        for rule in self.rules.iter_mut() {
            rule.leave(&mut at, message);
        }
        self.frames.pop();
    }

    fn content(&mut self, place: &Place, field: &FieldDescriptor, bytes: &Rope) {
        let mut at = At { place, frames: &self.frames, sink: self.sink };
        for rule in self.rules.iter_mut() {
            rule.content(&mut at, field, bytes);
        }
    }

    fn unknown(&mut self, place: &Place, owner: &MessageDescriptor, field: &Field, declared: bool) {
        let mut at = At { place, frames: &self.frames, sink: self.sink };
        for rule in self.rules.iter_mut() {
            rule.unknown(&mut at, owner, field, declared);
        }
    }
}
