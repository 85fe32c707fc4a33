//! Real artifacts with one thing in them changed at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use aotgate_runtime::artifact::Artifact;
use aotgate_runtime::proto::xla::gpu::GpuExecutableProto;
use prost::Message as _;
use prost::bytes::Bytes;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage, Value,
};

use crate::small::{attempt, tight};

/// Where a value is, from the executable down.
#[derive(Clone)]
enum Step {
    Field(FieldDescriptor),
    Item(usize),
    Entry(MapKey),
}

/// A value, its field and what it is.
struct Place {
    path: Vec<Step>,
    field: FieldDescriptor,
}

pub(crate) fn pool() -> DescriptorPool {
    DescriptorPool::decode(aotgate_runtime::DESCRIPTOR_SET).expect("the contract")
}

/// An executable as a message without a type of its own.
pub(crate) fn dynamic(executable: &GpuExecutableProto) -> DynamicMessage {
    let root = pool().get_message_by_name("xla.gpu.GpuExecutableProto").expect("the root");
    DynamicMessage::decode(root, &executable.encode_to_vec()[..]).expect("it was encoded just now")
}

/// The programs in `golden/`, as `<release>/<program>`.
pub(crate) fn goldens() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
    let list = |folder: &Path| {
        let mut entries: Vec<PathBuf> =
            folder.read_dir().expect("a folder").map(|e| e.expect("an entry").path()).collect();
        entries.retain(|entry| entry.is_dir());
        entries.sort();
        entries
    };
    let mut found = Vec::new();
    for release in list(&root) {
        for program in list(&release) {
            let name = program.strip_prefix(&root).expect("inside").display().to_string();
            found.push((
                name.trim_start_matches("jaxlib-").to_owned(),
                program.join("executable.bin"),
            ));
        }
    }
    assert!(found.len() > 50, "{} goldens", found.len());
    found
}

pub(crate) fn open(path: &Path) -> GpuExecutableProto {
    let bytes = std::fs::read(path).expect("readable");
    Artifact::read(bytes).expect("an artifact").decode().expect("an executable")
}

/// Every scalar, list, map and message in it. Fields that are not set count, too.
fn places(message: &DynamicMessage, path: &mut Vec<Step>, out: &mut Vec<Place>) {
    for field in message.descriptor().fields() {
        let absent = field.containing_oneof().is_some() && !message.has_field(&field);
        let unset = matches!(field.kind(), Kind::Message(_)) && !message.has_field(&field);
        if absent || unset {
            continue;
        }
        path.push(Step::Field(field.clone()));
        out.push(Place { path: path.clone(), field: field.clone() });
        match message.get_field(&field).as_ref() {
            Value::Message(inner) => places(inner, path, out),
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push(Step::Item(at));
                    out.push(Place { path: path.clone(), field: field.clone() });
                    if let Value::Message(inner) = item {
                        places(inner, path, out);
                    }
                    path.pop();
                }
            }
            Value::Map(entries) => {
                let mut keys: Vec<&MapKey> = entries.keys().collect();
                keys.sort_by_key(|key| format!("{key:?}"));
                for key in keys {
                    path.push(Step::Entry(key.clone()));
                    if let Value::Message(inner) = &entries[key] {
                        places(inner, path, out);
                    }
                    path.pop();
                }
            }
            _ => {}
        }
        path.pop();
    }
}

/// Puts another value in a place; the one that was there comes back. `None` clears a field, or takes an
/// item out of its list.
fn swap(message: &mut DynamicMessage, path: &[Step], value: Option<Value>) -> Option<Value> {
    let [Step::Field(field), rest @ ..] = path else { panic!("a path begins with a field") };
    if rest.is_empty() {
        let before = message.has_field(field).then(|| message.get_field(field).into_owned());
        match value {
            Some(value) => message.set_field(field, value),
            None => message.clear_field(field),
        }
        return before;
    }
    match (message.get_field_mut(field), rest) {
        (Value::Message(inner), rest) => swap(inner, rest, value),
        (Value::List(items), [Step::Item(at)]) => {
            let value = value.expect("items are replaced");
            Some(std::mem::replace(&mut items[*at], value))
        }
        (Value::List(items), [Step::Item(at), rest @ ..]) => match &mut items[*at] {
            Value::Message(inner) => swap(inner, rest, value),
            _ => panic!("a path goes on in a message"),
        },
        (Value::Map(entries), [Step::Entry(key), rest @ ..]) => match entries.get_mut(key) {
            Some(Value::Message(inner)) => swap(inner, rest, value),
            _ => panic!("a path goes on in a message"),
        },
        _ => panic!("a path goes on in a message"),
    }
}

/// What to put in the place of a value; `None` for nothing.
fn others(value: &Value, field: &FieldDescriptor, item: bool) -> Vec<Option<Value>> {
    let garbage = Bytes::from_static(b"\x00\xff garbage \x80\n%s%n");
    let mut out: Vec<Option<Value>> = match value {
        Value::I32(_) => [-1, 0, 1, 7, i32::MAX, i32::MIN].map(|x| Some(Value::I32(x))).into(),
        Value::I64(_) => {
            let some = [-1, 0, 1, 7, i64::from(i32::MAX), 1 << 40, i64::MIN, i64::MAX];
            some.map(|x| Some(Value::I64(x))).into()
        }
        Value::U32(_) => [0, 1, u32::MAX].map(|x| Some(Value::U32(x))).into(),
        Value::U64(_) => [0, 1, u64::MAX].map(|x| Some(Value::U64(x))).into(),
        Value::EnumNumber(_) => {
            [0, 1, 2, 13, 99, -1, i32::MIN].map(|x| Some(Value::EnumNumber(x))).into()
        }
        Value::Bool(x) => vec![Some(Value::Bool(!x))],
        Value::F32(_) => [f32::NAN, f32::INFINITY, 0.0, -1e30].map(|x| Some(Value::F32(x))).into(),
        Value::F64(_) => [f64::NAN, f64::INFINITY, 0.0, -1e300].map(|x| Some(Value::F64(x))).into(),
        Value::String(_) => {
            ["", "\u{0}garbage ✗", "add.1", "while"].map(|x| Some(Value::String(x.into()))).into()
        }
        Value::Bytes(_) => vec![Some(Value::Bytes(Bytes::new())), Some(Value::Bytes(garbage))],
        Value::Message(inner) => {
            vec![Some(Value::Message(DynamicMessage::new(inner.descriptor())))]
        }
        Value::List(items) => {
            let mut out = vec![Some(Value::List(Vec::new()))];
            if let Some(last) = items.last() {
                out.push(Some(Value::List(items[..items.len() - 1].to_vec())));
                out.push(Some(Value::List([&items[..], std::slice::from_ref(last)].concat())));
                let mut turned = items.clone();
                turned.reverse();
                out.push(Some(Value::List(turned)));
            }
            out
        }
        Value::Map(_) => vec![],
    };
    if !item && !field.is_list() && !field.is_map() && matches!(value, Value::Message(_)) {
        out.push(None);
    }
    out.retain(|other| other.as_ref() != Some(value));
    out
}

/// Panics of any thread while `work` runs, where they happened.
fn panics(work: impl FnOnce()) -> Vec<String> {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        SEEN.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_string());
    }));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    std::panic::set_hook(before);
    let seen = std::mem::take(&mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner));
    if let Err(panic) = result
        && seen.is_empty()
    {
        std::panic::resume_unwind(panic);
    }
    seen
}

/// What mutating artifacts came to.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) ran: usize,
    pub(crate) refused: usize,
    pub(crate) slowest: Duration,
    pub(crate) slowest_at: String,
}

/// Changes one thing after the other, at most `each` of every field, and checks and runs what comes out.
fn mutate(name: &str, executable: &GpuExecutableProto, each: usize, tally: &mut Tally) {
    let mut message = dynamic(executable);
    let mut found = Vec::new();
    places(&message, &mut Vec::new(), &mut found);
    // Of every field some, spread over where it occurs.
    let mut by_field: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, place) in found.iter().enumerate() {
        let item = matches!(place.path.last(), Some(Step::Item(_)));
        by_field.entry(format!("{}{item}", place.field.full_name())).or_default().push(at);
    }
    let mut chosen: Vec<usize> = Vec::new();
    for places in by_field.values() {
        let stride = places.len().div_ceil(each).max(1);
        chosen.extend(places.iter().step_by(stride));
    }
    chosen.sort_unstable();
    for at in chosen {
        let place = &found[at];
        let item = matches!(place.path.last(), Some(Step::Item(_)));
        let before = value(&message, &place.path);
        for other in others(&before, &place.field, item) {
            let told = format!("{name}: {} = {}", told(&place.path), shown(other.as_ref()));
            let was = swap(&mut message, &place.path, other);
            let bytes = message.encode_to_vec();
            match was {
                Some(was) => swap(&mut message, &place.path, Some(was)),
                None => swap(&mut message, &place.path, None),
            };
            // Text that is not UTF-8 and the like: refused before this crate sees it.
            let Ok(changed) = GpuExecutableProto::decode(&bytes[..]) else { continue };
            let start = Instant::now();
            let result = attempt(changed, &tight());
            let taken = start.elapsed();
            match &result {
                Err(error) if error.contains("panic") => panic!("{told}: {error}"),
                Err(error) => {
                    tally.refused += 1;
                    assert!(error.len() < 5000, "{told}: a message of {} bytes", error.len());
                }
                Ok(_) => tally.ran += 1,
            }
            assert!(taken < Duration::from_secs(20), "{told}: {taken:?}");
            if taken > tally.slowest {
                (tally.slowest, tally.slowest_at) = (taken, told);
            }
        }
    }
}

/// The value in a place.
fn value(message: &DynamicMessage, path: &[Step]) -> Value {
    let mut value = Value::Message(message.clone());
    for step in path {
        value = match (step, &value) {
            (Step::Field(field), Value::Message(message)) => message.get_field(field).into_owned(),
            (Step::Item(at), Value::List(items)) => items[*at].clone(),
            (Step::Entry(key), Value::Map(entries)) => entries[key].clone(),
            _ => panic!("a path fits its message"),
        };
    }
    value
}

fn told(path: &[Step]) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Field(field) => format!(".{}", field.name()),
        Step::Item(at) => format!("[{at}]"),
        Step::Entry(key) => format!("[{key:?}]"),
    });
    steps.collect()
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::Message(_)) => "an empty message".to_owned(),
        Some(Value::List(items)) => format!("{} items", items.len()),
        Some(value) => value.to_string().chars().take(80).collect(),
    }
}

/// Decoding takes more stack than a test's thread has where nothing is optimised.
pub(crate) fn deeply<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work);
        match thread.expect("a thread").join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn run(chosen: impl Fn(&str) -> bool + Sync, each: usize) {
    let mut tally = Tally::default();
    let seen = panics(|| {
        deeply(|| {
            for (name, path) in goldens().into_iter().filter(|(name, _)| chosen(name)) {
                mutate(&name, &open(&path), each, &mut tally);
            }
        });
    });
    println!(
        "{} ran, {} were refused; slowest {:?} at {}",
        tally.ran, tally.refused, tally.slowest, tally.slowest_at
    );
    assert!(seen.is_empty(), "panics:\n{}", seen.join("\n"));
    if let Some(peak) = peak_memory() {
        assert!(peak < 1 << 30, "{peak} bytes of memory");
    }
}

/// The most memory that this process ever held, in bytes, where the system says so.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok()? * 1024)
}

/// A few of every construct that some golden has, on few programs.
#[test]
#[ignore = "takes minutes: cargo test -p aotgate-runtime --test hostile_programs -- --ignored"]
fn changed_artifacts_end_with_an_error_or_a_result() {
    const SOME: [&str; 12] = [
        "0.10.1/fft",
        "0.10.1/matmul_cublaslt_bias_gelu",
        "0.10.1/trisolve",
        "0.11.2/constants",
        "0.11.2/conv_depthwise",
        "0.11.2/eigh",
        "0.11.2/mg_all_gather",
        "0.11.2/mg_reduce_scatter",
        "0.11.2/solve",
        "0.11.2/while_of_gemms",
        "0.12.0/cond_switch",
        "0.12.0/gather_scatter",
    ];
    run(|name| SOME.contains(&name), 2);
}

/// Everything in all goldens: an hour or so. `AOTGATE_ONLY` takes those whose name contains it, and
/// `AOTGATE_EACH` says how many of each field are changed.
#[test]
#[ignore = "takes long"]
fn all_changed_artifacts_end_with_an_error_or_a_result() {
    let only = std::env::var("AOTGATE_ONLY").unwrap_or_default();
    let each =
        std::env::var("AOTGATE_EACH").ok().and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
    run(|name| name.contains(&only), each);
}
