//! What a program says it was read from is what it was read from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aotgate_runtime::program::Program;
use aotgate_runtime::proto::xla::gpu::GpuExecutableProto;
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, Kind, Value};

use crate::mutations::{deeply, dynamic, goldens, open, pool};
use crate::small::{attempt, tight};

/// A field, or an enum value, by its full name.
type Name = String;

/// What an executable has in it: fields that are set and enum values that are met.
fn constructs(message: &DynamicMessage, out: &mut BTreeSet<Name>) {
    for (field, value) in message.fields() {
        out.insert(field.full_name().to_owned());
        let mut each = |value: &Value| match (value, field.kind()) {
            (Value::Message(inner), _) => constructs(inner, out),
            (Value::EnumNumber(number), Kind::Enum(of)) => {
                if let Some(value) = of.get_value(*number) {
                    out.insert(format!("{}.{}", of.full_name(), value.name()));
                }
            }
            _ => {}
        };
        match value {
            Value::List(items) => items.iter().for_each(each),
            Value::Map(entries) => entries.values().for_each(each),
            value => each(value),
        }
    }
}

/// Takes a field out wherever it is, or gives an enum value a number that nothing has.
fn without(message: &mut DynamicMessage, name: &str) {
    const NO_NUMBER: i32 = 9999;
    let fields: Vec<_> = message.fields().map(|(field, _)| field).collect();
    for field in fields {
        if field.full_name() == name {
            message.clear_field(&field);
            continue;
        }
        let kind = field.kind();
        let each = |value: &mut Value| match (&mut *value, &kind) {
            (Value::Message(inner), _) => without(inner, name),
            (Value::EnumNumber(number), Kind::Enum(of)) => {
                let met = of.get_value(*number);
                if met.is_some_and(|met| format!("{}.{}", of.full_name(), met.name()) == name) {
                    *number = NO_NUMBER;
                }
            }
            _ => {}
        };
        match message.get_field_mut(&field) {
            Value::List(items) => items.iter_mut().for_each(each),
            Value::Map(entries) => entries.values_mut().for_each(each),
            value => each(value),
        }
    }
}

/// Whether a construct of the contract has this name.
fn exists(pool: &DescriptorPool, name: &str) -> bool {
    let Some((owner, own)) = name.rsplit_once('.') else { return false };
    pool.get_message_by_name(owner).is_some_and(|message| message.get_field_by_name(own).is_some())
        || pool.get_enum_by_name(owner).is_some_and(|of| of.get_value_by_name(own).is_some())
}

/// What is only checked: without it a program is refused, but no other result comes out, so that a run says nothing
/// about it and [`Reads`](aotgate_runtime::program::Reads) leaves it out.
const CHECKED: [&str; 10] = [
    // Within what CUDA launches; nothing is launched.
    "stream_executor.Dim3DProto.x",
    "stream_executor.Dim3DProto.y",
    "stream_executor.Dim3DProto.z",
    // Together with the rest, the declared shape of the result.
    "xla.PaddingConfig.PaddingConfigDimension.edge_padding_high",
    "xla.WindowDimension.padding_high",
    // Types of scratch memory, and of instructions that no kernel evaluates.
    "xla.PrimitiveType.S8",
    "xla.PrimitiveType.TUPLE",
    "xla.PrimitiveType.U32",
    "xla.PrimitiveType.U8",
    // The type of the buffer once more.
    "xla.gpu.CollectiveConfigProto.operand_element_type",
];

/// What each golden that runs is read from, and which of it makes a difference where it is missing.
struct Found {
    recorded: BTreeMap<Name, usize>,
    decisive: BTreeSet<Name>,
    ran: usize,
    missing: BTreeSet<String>,
}

fn look(chosen: impl Fn(&str) -> bool) -> Found {
    let mut found = Found {
        recorded: BTreeMap::new(),
        decisive: BTreeSet::new(),
        ran: 0,
        missing: BTreeSet::new(),
    };
    for (name, path) in goldens().into_iter().filter(|(name, _)| chosen(name)) {
        let executable = open(&path);
        let message = dynamic(&executable);
        let Ok((program, outputs)) = attempt(executable, &tight()) else { continue };
        found.ran += 1;
        for read in program.reads.names() {
            *found.recorded.entry(read).or_default() += 1;
        }
        let mut there = BTreeSet::new();
        constructs(&message, &mut there);
        for construct in there {
            let mut changed = message.clone();
            without(&mut changed, &construct);
            let bytes = changed.encode_to_vec();
            let changed = GpuExecutableProto::decode(&bytes[..]).expect("it was encoded just now");
            let other = attempt(changed, &tight()).map(|(_, other)| other);
            if other.as_ref() != Ok(&outputs) {
                let checked = other.is_err() && CHECKED.contains(&construct.as_str());
                if !checked && !program.reads.contains(&construct) {
                    found.missing.insert(format!("{construct} ({name})"));
                }
                found.decisive.insert(construct);
            }
        }
    }
    found
}

#[test]
#[ignore = "takes two minutes: cargo test -p aotgate-runtime --test hostile_programs -- --ignored"]
fn what_decides_a_result_is_listed() {
    const SOME: [&str; 17] = [
        "0.10.1/fft",
        "0.10.1/matmul_cublaslt_bias_gelu",
        "0.10.1/trisolve",
        "0.11.2/constants",
        "0.12.0/conv2d",
        "0.11.2/conv_depthwise",
        "0.11.2/eigh",
        "0.11.2/mg_all_reduce",
        "0.11.2/mg_ppermute",
        "0.11.2/qr",
        "0.11.2/reduce_window_general",
        "0.11.2/solve",
        "0.11.2/while_of_gemms",
        "0.12.0/cond_switch",
        "0.12.0/concat_pad_rev",
        "0.12.0/gather_scatter",
        "0.12.0/scan_rnn",
    ];
    let found = deeply(|| look(|name| SOME.contains(&name)));
    assert_eq!(found.ran, SOME.len());
    assert!(found.missing.is_empty(), "{:#?}", found.missing);
}

/// The same of all goldens. Prints what was recorded and made no difference anywhere.
#[test]
#[ignore = "takes a quarter of an hour: all goldens, by hand after changes of what is read"]
fn what_decides_a_result_is_listed_for_all() {
    let found = deeply(|| look(|_| true));
    println!("{} programs ran, {} constructs decide", found.ran, found.decisive.len());
    for (name, programs) in &found.recorded {
        if !found.decisive.contains(name) {
            println!("no difference: {name} ({programs} programs)");
        }
    }
    assert!(found.missing.is_empty(), "{:#?}", found.missing);
}

#[test]
fn all_that_goldens_are_read_from_exists() {
    let pool = pool();
    let mut opened = 0;
    for (name, path) in goldens() {
        let Ok(program) = Program::new(deeply(|| open(&path)), &tight()) else { continue };
        opened += 1;
        for read in program.reads.names().chain(program.reads.device_names()) {
            assert!(exists(&pool, &read), "{name}: {read}");
        }
    }
    assert!(opened > 80, "{opened} programs");
}

/// Constructs that no golden has are checked where the sources name them.
#[test]
fn all_that_the_sources_name_exists() {
    let pool = pool();
    let mut names = BTreeSet::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/program"), &mut |text| {
        named(text, &mut names)
    });
    assert!(names.len() > 200, "{} names", names.len());
    let unknown: Vec<&Name> = names.iter().filter(|name| !exists(&pool, name)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

fn sources(folder: &Path, read: &mut dyn FnMut(&str)) {
    for entry in folder.read_dir().expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, read);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            read(&std::fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// `"message", &["field", …]` and `("message", "field")`, where the message may be a constant of the file.
fn named(text: &str, names: &mut BTreeSet<Name>) {
    let mut constants: BTreeMap<String, String> = BTreeMap::new();
    let mut message: Option<String> = None;
    let mut rest = text;
    while let Some(at) = rest.find(['"', ',', '(']) {
        let (before, after) = rest.split_at(at);
        // Between a message and its fields stands nothing but punctuation.
        if !before.chars().all(|c| c.is_whitespace() || ",&[".contains(c)) {
            message =
                before.trim_start().split(' ').next().and_then(|word| constants.get(word)).cloned();
        }
        let Some(quoted) = after.strip_prefix('"') else {
            rest = &after[1..];
            continue;
        };
        let Some(end) = closing(quoted) else { return };
        let literal = &quoted[..end];
        rest = &quoted[end + 1..];
        let declared =
            before.trim_end().strip_suffix(": &str =").and_then(|b| b.rsplit(' ').next());
        match (declared, &message) {
            _ if !literal.starts_with("xla.") && !literal.starts_with("stream_executor.") => {
                if let Some(message) = &message {
                    names.insert(format!("{message}.{literal}"));
                }
            }
            (Some(constant), _) => {
                constants.insert(constant.to_owned(), literal.to_owned());
                message = None;
            }
            (None, _) => message = Some(literal.to_owned()),
        }
    }
}

/// Where a string literal ends.
fn closing(quoted: &str) -> Option<usize> {
    let mut escaped = false;
    quoted.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}
