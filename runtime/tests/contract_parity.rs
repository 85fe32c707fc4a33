//! `proto/` states XLA's wire facts: every construct that a released compiler could put into an
//! artifact is there under the same name and number, with the same type and presence.
//!
//! The releases are the descriptor sets under `tests/data/released`. Where `proto/` must differ from
//! one of them (a name or number that XLA itself gave to something else later), a table below says
//! so, and an entry that no release needs any more fails the test.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet,
};

/// The release that `proto/` follows without any exception.
const NEWEST: &str = "0.12.0";

/// Messages that an artifact holds or that its payloads are made of.
const ROOTS: &[&str] = &[
    "xla.gpu.GpuExecutableProto",
    "xla.ExecutableAndOptionsProto",
    "xla.SplitProtoManifest",
    "xla.gpu.GpuBackendConfig",
    "xla.WhileLoopBackendConfig",
    "xla.SortOptions",
    "xla.CubScanOptions",
];

/// Types that XLA renamed or moved inside the window: former name, name in `proto/`.
const RENAMED_TYPES: &[(&str, &str)] = &[
    ("xla.gpu.AllGatherStartThunkProto", "xla.gpu.AllGatherThunkProto"),
    ("xla.gpu.AllReduceStartThunkProto", "xla.gpu.AllReduceThunkProto"),
    ("xla.gpu.AllToAllStartThunkProto", "xla.gpu.AllToAllThunkProto"),
    ("xla.gpu.RaggedAllToAllStartThunkProto", "xla.gpu.RaggedAllToAllThunkProto"),
    ("xla.gpu.CollectivePermuteStartThunkProto", "xla.gpu.CollectivePermuteThunkProto"),
    ("xla.gpu.CollectiveBroadcastStartThunkProto", "xla.gpu.CollectiveBroadcastThunkProto"),
    ("xla.gpu.NvshmemAllReduceStartThunkProto", "xla.gpu.NvshmemAllReduceThunkProto"),
    (
        "xla.gpu.NvshmemCollectivePermuteStartThunkProto",
        "xla.gpu.NvshmemCollectivePermuteThunkProto",
    ),
    ("xla.gpu.BlockLevelFusionConfig", "xla.xtile.BlockLevelFusionConfig"),
    ("xla.gpu.CustomFusionConfig", "xla.xtile.CustomFusionConfig"),
    ("xla.gpu.Tile", "xla.xtile.Tile"),
];

/// Fields that XLA renamed with their number and meaning kept: message, former name, name here.
const RENAMED_FIELDS: &[(&str, &str, &str)] = &[
    ("xla.gpu.ThunkProto", "all_gather_start_thunk", "all_gather_thunk"),
    ("xla.gpu.ThunkProto", "all_reduce_start_thunk", "all_reduce_thunk"),
    ("xla.gpu.ThunkProto", "all_to_all_start_thunk", "all_to_all_thunk"),
    ("xla.gpu.ThunkProto", "ragged_all_to_all_start_thunk", "ragged_all_to_all_thunk"),
    ("xla.gpu.ThunkProto", "collective_permute_start_thunk", "collective_permute_thunk"),
    ("xla.gpu.ThunkProto", "collective_broadcast_start_thunk", "collective_broadcast_thunk"),
    ("xla.gpu.ThunkProto", "nvshmem_all_reduce_start_thunk", "nvshmem_all_reduce_thunk"),
    (
        "xla.gpu.ThunkProto",
        "nvshmem_collective_permute_start_thunk",
        "nvshmem_collective_permute_thunk",
    ),
];

/// Fields whose presence or oneof XLA changed with the wire format kept; `proto/` has the newest.
const PRESENCE_CHANGED: &[(&str, &str)] = &[
    ("xla.gpu.CuDnnFusionConfig.plan_id", "explicit presence since 0.11.1"),
    ("xla.gpu.CublasLtMatmulThunkProto.gemm_config", "in a oneof since 0.10.2"),
    ("xla.gpu.CublasLtMatmulThunkProto.grouped_gemm_config", "in a oneof since 0.10.2"),
    ("xla.gpu.GroupedGemmBackendConfig.gemm_backend_config", "out of its oneof since 0.11.0"),
];

/// Enum values whose number XLA gave to something else inside the window: value, number in
/// `proto/` (none where no reader needs the value), reason.
const REUSED_NUMBERS: &[(&str, Option<i32>, &str)] = &[
    (
        "xla.DebugOptions.CommandBufferUpdateMode.NEVER_UPDATE",
        Some(500_000_001),
        "SKIP_TEMP took 1 in 0.11.0; the runtime reads the mode from the artifact",
    ),
    (
        "xla.DebugOptions.CommandBufferUpdateMode.CAPTURE_CMD_NEVER_UPDATE",
        Some(500_000_002),
        "SKIP_PROFILED took 2 in 0.11.1; the runtime reads the mode from the artifact",
    ),
    (
        "xla.gpu.ThunkKindProto.THUNK_KIND_GROUP_DONE",
        None,
        "THUNK_KIND_GROUP took 34 in 0.10.1; no thunk of 0.10.0 stores the old kind",
    ),
];

/// A descriptor set, indexed by full name.
#[derive(Default)]
struct Schema {
    messages: BTreeMap<String, DescriptorProto>,
    enums: BTreeMap<String, EnumDescriptorProto>,
    files: BTreeMap<String, FileDescriptorProto>,
}

impl Schema {
    fn decode(bytes: &[u8]) -> Self {
        let mut schema = Self::default();
        for file in FileDescriptorSet::decode(bytes).expect("a descriptor set").file {
            for message in &file.message_type {
                schema.add_message(file.package(), message);
            }
            for item in &file.enum_type {
                schema.add_enum(file.package(), item);
            }
            schema.files.insert(file.name().to_owned(), file);
        }
        schema
    }

    fn add_message(&mut self, scope: &str, message: &DescriptorProto) {
        let name = format!("{scope}.{}", message.name());
        for nested in &message.nested_type {
            self.add_message(&name, nested);
        }
        for nested in &message.enum_type {
            self.add_enum(&name, nested);
        }
        self.messages.insert(name, message.clone());
    }

    fn add_enum(&mut self, scope: &str, item: &EnumDescriptorProto) {
        self.enums.insert(format!("{scope}.{}", item.name()), item.clone());
    }

    /// Names of the messages and enums that the roots reach.
    fn reachable(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut messages, mut enums) = (BTreeSet::new(), BTreeSet::new());
        let mut queue: Vec<String> = ROOTS.iter().map(|&root| root.to_owned()).collect();
        while let Some(name) = queue.pop() {
            if !messages.insert(name.clone()) {
                continue;
            }
            let message = self.messages.get(&name);
            for field in &message.unwrap_or_else(|| panic!("{name} is not declared")).field {
                match field.r#type() {
                    Type::Message | Type::Group => queue.push(target(field)),
                    Type::Enum => drop(enums.insert(target(field))),
                    _ => {}
                }
            }
        }
        (messages, enums)
    }
}

/// Full name of the type a field refers to, empty for a scalar.
fn target(field: &FieldDescriptorProto) -> String {
    field.type_name().trim_start_matches('.').to_owned()
}

/// The name under which `proto/` has a type of an older release.
fn canonical(name: &str) -> &str {
    RENAMED_TYPES.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// The oneof a field stands in, if it is one that the source declares.
fn oneof<'a>(message: &'a DescriptorProto, field: &FieldDescriptorProto) -> Option<&'a str> {
    match field.oneof_index {
        Some(index) if !field.proto3_optional() => {
            Some(message.oneof_decl[usize::try_from(index).expect("an index")].name())
        }
        _ => None,
    }
}

/// Whether a repeated field is written packed: proto3 packs what it can unless told otherwise.
fn packed(field: &FieldDescriptorProto) -> bool {
    let can = !matches!(field.r#type(), Type::String | Type::Bytes | Type::Message | Type::Group);
    let told = field.options.as_ref().and_then(|options| options.packed);
    field.label() == Label::Repeated && can && told.unwrap_or(true)
}

/// Compares releases with `proto/`, collecting differences and the table entries that were needed.
struct Parity {
    proto: Schema,
    problems: RefCell<Vec<String>>,
    needed: RefCell<BTreeSet<String>>,
}

impl Parity {
    fn problem(&self, text: String) {
        self.problems.borrow_mut().push(text);
    }

    /// Whether a table has the entry and the release may use it.
    fn excused(&self, release: &str, listed: bool, key: &str) -> bool {
        if listed && release != NEWEST {
            self.needed.borrow_mut().insert(key.to_owned());
        }
        listed && release != NEWEST
    }

    fn release(&self, release: &str, theirs: &Schema) {
        let (messages, enums) = theirs.reachable();
        assert!(messages.len() > 300 && enums.len() > 70, "{release}: the roots reach too little");
        for name in &messages {
            if self.excused(release, canonical(name) != name, name) || canonical(name) == name {
                self.message(release, name, &theirs.messages[name]);
            } else {
                self.problem(format!("{release}: {name} is listed as renamed"));
            }
        }
        for name in &enums {
            self.enumeration(release, name, &theirs.enums[name]);
        }
    }

    fn message(&self, release: &str, name: &str, theirs: &DescriptorProto) {
        let here = canonical(name);
        let Some(ours) = self.proto.messages.get(here) else {
            return self.problem(format!("{release}: message {here} is missing"));
        };
        for field in &theirs.field {
            let renamed = RENAMED_FIELDS
                .iter()
                .find(|(message, old, _)| *message == here && *old == field.name());
            let key = format!("{here}.{}", field.name());
            let expected = match renamed {
                Some((_, _, new)) if self.excused(release, true, &key) => new,
                _ => field.name(),
            };
            match ours.field.iter().find(|candidate| candidate.name() == expected) {
                Some(our_field) => self.field(release, &key, (theirs, field), (ours, our_field)),
                None => self.problem(format!("{release}: field {key} is missing")),
            }
        }
    }

    fn field(
        &self,
        release: &str,
        key: &str,
        (their_message, theirs): (&DescriptorProto, &FieldDescriptorProto),
        (our_message, ours): (&DescriptorProto, &FieldDescriptorProto),
    ) {
        let differs = |what: &str, theirs: String, ours: String| {
            if theirs != ours {
                self.problem(format!("{release}: {key}: {what} is {ours}, XLA has {theirs}"));
            }
        };
        differs("number", theirs.number().to_string(), ours.number().to_string());
        differs("type", format!("{:?}", theirs.r#type()), format!("{:?}", ours.r#type()));
        let their_target = target(theirs);
        differs("target", canonical(&their_target).to_owned(), target(ours));
        differs("label", format!("{:?}", theirs.label()), format!("{:?}", ours.label()));
        differs("packing", packed(theirs).to_string(), packed(ours).to_string());
        differs("default", theirs.default_value().to_owned(), ours.default_value().to_owned());
        let presence = (theirs.proto3_optional(), oneof(their_message, theirs));
        let our_presence = (ours.proto3_optional(), oneof(our_message, ours));
        if presence != our_presence {
            let listed = PRESENCE_CHANGED.iter().any(|(field, _)| *field == key);
            if !self.excused(release, listed, key) {
                differs("presence", format!("{presence:?}"), format!("{our_presence:?}"));
            }
        }
    }

    fn enumeration(&self, release: &str, name: &str, theirs: &EnumDescriptorProto) {
        let Some(ours) = self.proto.enums.get(name) else {
            return self.problem(format!("{release}: enum {name} is missing"));
        };
        for value in &theirs.value {
            let key = format!("{name}.{}", value.name());
            let reused = REUSED_NUMBERS.iter().find(|(value, _, _)| *value == key);
            let expected = match reused {
                Some((_, number, _)) if self.excused(release, true, &key) => *number,
                _ => Some(value.number()),
            };
            let found = ours.value.iter().find(|candidate| candidate.name() == value.name());
            let found = found.map(|candidate| candidate.number());
            if found != expected {
                self.problem(format!("{release}: {key} is {found:?}, should be {expected:?}"));
            }
        }
    }
}

#[test]
fn every_released_construct_is_in_proto() {
    let parity = Parity {
        proto: Schema::decode(aotgate_runtime::DESCRIPTOR_SET),
        problems: RefCell::default(),
        needed: RefCell::default(),
    };
    let released = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/released");
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(released).expect("the released descriptor sets") {
        let path = entry.expect("a directory entry").path();
        if path.extension().is_some_and(|extension| extension == "fds") {
            let release = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let bytes = fs::read(&path).expect("a readable file");
            parity.release(&release, &Schema::decode(&bytes));
            seen.insert(release);
        }
    }
    for release in ["0.10.0", "0.10.1", NEWEST] {
        assert!(seen.contains(release), "no descriptor set of {release}");
    }
    let problems = parity.problems.borrow();
    assert!(problems.is_empty(), "{} differences:\n{}", problems.len(), problems.join("\n"));

    let needed = parity.needed.borrow();
    let renamed = RENAMED_FIELDS.iter().map(|(message, old, _)| format!("{message}.{old}"));
    let listed = RENAMED_TYPES.iter().map(|(old, _)| (*old).to_owned());
    let listed = listed.chain(renamed);
    let listed = listed.chain(PRESENCE_CHANGED.iter().map(|(field, _)| (*field).to_owned()));
    let listed = listed.chain(REUSED_NUMBERS.iter().map(|(value, _, _)| (*value).to_owned()));
    let unneeded: Vec<String> = listed.filter(|entry| !needed.contains(entry)).collect();
    assert!(unneeded.is_empty(), "exceptions that no release needs: {unneeded:?}");
}

/// What `proto/` has beyond the newest release is marked, so that nobody writes it any more.
#[test]
fn only_older_constructs_are_deprecated_and_newer_ones_are_known() {
    let proto = Schema::decode(aotgate_runtime::DESCRIPTOR_SET);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/released");
    let newest = fs::read(path.join(format!("{NEWEST}.fds"))).expect("the newest descriptor set");
    let newest = Schema::decode(&newest);
    let mut unmarked = Vec::new();
    let (messages, _) = newest.reachable();
    for name in &messages {
        let theirs = &newest.messages[name].field;
        for field in &proto.messages[name].field {
            let known = theirs.iter().find(|candidate| candidate.name() == field.name());
            let deprecated = |field: &FieldDescriptorProto| {
                field.options.as_ref().is_some_and(|options| options.deprecated())
            };
            if known.is_none_or(deprecated) != deprecated(field) {
                unmarked.push(format!("{name}.{}", field.name()));
            }
        }
    }
    assert!(unmarked.is_empty(), "{unmarked:?}");
}

/// The entry files that the gate and its policy name stand where they are expected, and no file is
/// left that none of them needs.
#[test]
fn every_file_belongs_to_an_entry() {
    let proto = Schema::decode(aotgate_runtime::DESCRIPTOR_SET);
    let mut queue: Vec<&str> = vec![
        "xla/service/gpu/gpu_executable.proto",
        "xla/service/gpu/backend_configs.proto",
        "xla/xla_data.proto",
        "xla/pjrt/proto/compile_options.proto",
        "xla/util/split_proto/split_proto.proto",
        "xla/util/split_proto/human_readable_aot_executable.proto",
        "xla/ifrt/envelope.proto",
    ];
    let mut closure = BTreeSet::new();
    while let Some(name) = queue.pop() {
        if closure.insert(name) {
            let file = proto.files.get(name).unwrap_or_else(|| panic!("{name} is missing"));
            queue.extend(file.dependency.iter().map(String::as_str));
            assert!(file.source_code_info.is_none(), "{name} carries source information");
        }
    }
    let left: Vec<&String> =
        proto.files.keys().filter(|name| !closure.contains(name.as_str())).collect();
    assert!(left.is_empty(), "files outside every entry's closure: {left:?}");
    prost_reflect::DescriptorPool::decode(aotgate_runtime::DESCRIPTOR_SET).expect("a valid pool");
}
