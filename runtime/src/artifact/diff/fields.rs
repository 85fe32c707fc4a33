//! Two messages field by field.

use std::collections::{BTreeMap, HashMap};

use prost_reflect::{Cardinality, DynamicMessage, FieldDescriptor, Kind, Value};

use super::{Change, FieldChange, Section};
use crate::artifact::reflect::{inner, key_text, name_of, sorted, value_text};

/// Differences that are kept; further ones are counted.
const MOST: usize = 50_000;

/// Compares messages and keeps what differs.
#[derive(Default)]
pub(super) struct Comparison {
    found: Vec<FieldChange>,
    total: usize,
    path: Vec<Step>,
    /// Section of what is being compared.
    section: Option<Section>,
    /// Length of `path` up to the innermost thunk.
    thunk: Option<usize>,
}

enum Step {
    Field(FieldDescriptor),
    Element(String),
}

impl Comparison {
    /// Differences so far.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// The differences, and how many more there are.
    pub(super) fn finish(mut self) -> (Vec<FieldChange>, usize) {
        // Stable: within a section in the order of the messages.
        self.found.sort_by_key(|change| change.section);
        let omitted = self.total - self.found.len();
        (self.found, omitted)
    }

    /// Notes a layer that only one artifact has.
    pub(super) fn layer(&mut self, section: Section, a: bool, b: bool) {
        self.section = Some(section);
        let there = |is: bool| is.then(|| "present".to_owned());
        match (a, b) {
            (true, false) => self.add(Change::Removed, there(a), None),
            (false, true) => self.add(Change::Added, None, there(b)),
            _ => {}
        }
    }

    /// Compares two messages of one type. Fields of an executable choose their own sections.
    pub(super) fn messages(&mut self, section: Section, a: &DynamicMessage, b: &DynamicMessage) {
        self.section = Some(section);
        self.message(a, b);
    }

    fn message(&mut self, a: &DynamicMessage, b: &DynamicMessage) {
        let mut fields: BTreeMap<u32, (FieldDescriptor, Option<&Value>, Option<&Value>)> =
            BTreeMap::new();
        for (field, value) in a.fields() {
            fields.insert(field.number(), (field, Some(value), None));
        }
        for (field, value) in b.fields() {
            fields.entry(field.number()).or_insert((field, None, None)).2 = Some(value);
        }
        for (field, a, b) in fields.into_values() {
            let outside = self.section;
            self.section = Some(section(&field, outside.unwrap_or(Section::Other)));
            self.path.push(Step::Field(field.clone()));
            match (a, b) {
                (Some(a), Some(b)) => self.field(&field, a, b),
                (a, b) => {
                    let change = if a.is_some() { Change::Removed } else { Change::Added };
                    let text = |value: Option<&Value>| value.map(|v| value_text(&field, v));
                    self.add(change, text(a), text(b));
                }
            }
            self.path.pop();
            self.section = outside;
        }
        if !a.unknown_fields().eq(b.unknown_fields()) {
            let text = |message: &DynamicMessage| {
                let numbers: Vec<_> =
                    message.unknown_fields().map(|f| f.number().to_string()).collect();
                (!numbers.is_empty()).then(|| format!("unknown fields {}", numbers.join(" ")))
            };
            self.add(Change::Changed, text(a), text(b));
        }
    }

    fn field(&mut self, field: &FieldDescriptor, a: &Value, b: &Value) {
        match (a, b) {
            (Value::Message(a), Value::Message(b)) => self.message(a, b),
            (Value::Map(a), Value::Map(b)) => {
                let entries = |map| sorted(map).into_iter().collect::<BTreeMap<_, _>>();
                let (a, b) = (entries(a), entries(b));
                for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                    self.path.push(Step::Element(key_text(key)));
                    self.element(&map_value(field), a.get(key).copied(), b.get(key).copied());
                    self.path.pop();
                }
            }
            (Value::List(a), Value::List(b)) => self.list(field, a, b),
            (a, b) => {
                if !same(a, b) {
                    self.add(
                        Change::Changed,
                        Some(value_text(field, a)),
                        Some(value_text(field, b)),
                    );
                }
            }
        }
    }

    fn element(&mut self, field: &FieldDescriptor, a: Option<&Value>, b: Option<&Value>) {
        match (a, b) {
            (Some(Value::Message(a)), Some(Value::Message(b))) => {
                let outside = self.thunk;
                if name_of(a) == "xla.gpu.ThunkProto" {
                    self.thunk = Some(self.path.len());
                }
                self.message(a, b);
                self.thunk = outside;
            }
            (Some(a), Some(b)) if same(a, b) => {}
            (a, b) => {
                let change = match (a, b) {
                    (Some(_), None) => Change::Removed,
                    (None, _) => Change::Added,
                    _ => Change::Changed,
                };
                let text = |value: Option<&Value>| value.map(|v| value_text(field, v));
                self.add(change, text(a), text(b));
            }
        }
    }

    fn list(&mut self, field: &FieldDescriptor, a: &[Value], b: &[Value]) {
        if !matches!(field.kind(), Kind::Message(_)) {
            // Numbers and names: one difference, with the place of the first.
            let first = a.iter().zip(b).position(|(a, b)| !same(a, b));
            if first.is_some() || a.len() != b.len() {
                let at = first.unwrap_or(a.len().min(b.len()));
                let text = |values: &[Value]| {
                    let from = values.get(at.saturating_sub(at.min(2))..).unwrap_or_default();
                    let text = value_text(field, &Value::List(from.to_vec()));
                    if at > 2 { format!("from [{}] on {text}", at - 2) } else { text }
                };
                self.add(Change::Changed, Some(text(a)), Some(text(b)));
            }
            return;
        }
        let (keys_a, keys_b) = (keys(a), keys(b));
        let place: HashMap<&str, usize> =
            keys_b.iter().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
        let mut matched = vec![false; b.len()];
        let (mut last, mut disorder) = (None, None);
        for (key, value) in keys_a.iter().zip(a) {
            let at = place.get(key.as_str()).copied();
            if let Some(at) = at {
                if let Some(seen) = matched.get_mut(at) {
                    *seen = true;
                }
                if last.is_some_and(|last| at < last) {
                    disorder.get_or_insert_with(|| key.clone());
                }
                last = Some(at);
            }
            self.path.push(Step::Element(key.clone()));
            self.element(field, Some(value), at.and_then(|at| b.get(at)));
            self.path.pop();
        }
        for ((key, value), _) in keys_b.iter().zip(b).zip(&matched).filter(|(_, seen)| !**seen) {
            self.path.push(Step::Element(key.clone()));
            self.element(field, None, Some(value));
            self.path.pop();
        }
        if let Some(key) = disorder {
            self.add(Change::Reordered, None, Some(format!("{key} comes earlier")));
        }
    }

    fn add(&mut self, change: Change, a: Option<String>, b: Option<String>) {
        self.total += 1;
        if self.found.len() < MOST {
            let thunk = self.thunk.map(|end| text(self.path.get(..end).unwrap_or_default()));
            let section = self.section.unwrap_or(Section::Other);
            self.found.push(FieldChange { section, path: text(&self.path), thunk, change, a, b });
        }
    }
}

/// Where a field's differences belong, given where those of its message do.
fn section(field: &FieldDescriptor, outside: Section) -> Section {
    match field.name() {
        "debug_options" | "env_option_overrides" => Section::DebugOptions,
        name if field.parent_message().full_name() == "xla.gpu.GpuExecutableProto" => match name {
            "hlo_module_with_config" => Section::Module,
            "thunks" => Section::Thunks,
            "buffer_allocations" | "buffer_allocations_debug_summary" => Section::Allocations,
            "constants" => Section::Constants,
            "gpu_compute_capability"
            | "module_name"
            | "program_shape"
            | "output_info_map"
            | "executable_abi_version"
            | "cpu_target_machine_options"
            | "gpu_topology" => Section::Program,
            _ => Section::Other,
        },
        _ => outside,
    }
}

/// The field of an entry's value, so that it is written as one.
fn map_value(field: &FieldDescriptor) -> FieldDescriptor {
    match field.kind() {
        Kind::Message(entry) if field.cardinality() == Cardinality::Repeated => {
            entry.get_field_by_name("value").unwrap_or_else(|| field.clone())
        }
        _ => field.clone(),
    }
}

/// What tells the elements of a list apart: a name or number of their own, else their position.
fn keys(values: &[Value]) -> Vec<String> {
    let mut count: HashMap<String, usize> = HashMap::new();
    let key = |(at, value): (usize, &Value)| {
        let Some(key) = value.as_message().and_then(own_key) else { return at.to_string() };
        let seen = count.entry(key.clone()).or_default();
        *seen += 1;
        if *seen == 1 { key } else { format!("{key} #{seen}") }
    };
    values.iter().enumerate().map(key).collect()
}

fn own_key(message: &DynamicMessage) -> Option<String> {
    let text = |message: &DynamicMessage, field: &str| {
        let value = message.get_field_by_name(field)?;
        value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let number = |message: &DynamicMessage, field: &str| {
        message.get_field_by_name(field)?.as_i64().map(|number| number.to_string())
    };
    match name_of(message).as_str() {
        "xla.gpu.ThunkProto" => {
            let info = inner(message, &["thunk_info"])?;
            text(&info, "profile_annotation")
                .or_else(|| number(&info, "thunk_id").map(|id| format!("thunk {id}")))
        }
        "xla.gpu.GpuExecutableProto.ConstantInfoProto" => text(message, "symbol_name"),
        "xla.BufferAllocationProto" => number(message, "index"),
        "xla.LogicalBufferProto" => number(message, "id"),
        "xla.HloComputationProto" | "xla.HloInstructionProto" => text(message, "name"),
        _ => None,
    }
}

/// Whether two values are the same bit for bit.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits(),
        (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

fn text(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Element(key) => text.push_str(&format!("[{key}]")),
            Step::Field(field) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(field.name());
            }
        }
    }
    text
}
