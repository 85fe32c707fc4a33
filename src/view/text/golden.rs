//! Text goldens: which message they are, and the two messages in one that most of them hold.

use std::collections::BTreeSet;

use aotgate_runtime::artifact::Artifact;
use prost::bytes::Bytes;

use super::names;
use super::parse::{Drafted, Parser, Skipped, draft, refused};
use super::print::{Printed, print_node};
use super::refused::{Position, Reason, TextRefused};
use super::token::Kind;
use crate::descriptor::{Contract, Message};
use crate::error::{Error, ErrorKind};
use crate::view::canonical::encode;
use crate::view::decode::{Limits, decode_as};
use crate::view::held::{Node, Slot, Value};
use crate::view::open::{EXECUTABLE, OUTER};

/// The message that holds an artifact's two messages side by side. No contract has it.
const WRAPPER: &str = "xla.HumanReadableAotExecutable";
const WRAPPER_FILE: &str = "xla/util/split_proto/human_readable_aot_executable.proto";
/// What it was called until 2026-08-04.
const OLD_WRAPPER: &str = "xla.split_proto_cli.DeserializedSplitExecutableAndOptions";

/// Fields of the wrapper.
const OUTER_FIELD: i32 = 1;
const EXECUTABLE_FIELD: i32 = 2;
/// The executable's field in the outer message.
const SERIALIZED_EXECUTABLE: i32 = 1;

fn wrapper() -> Message {
    let fields = [
        ("executable_and_options", OUTER_FIELD, OUTER),
        ("gpu_executable", EXECUTABLE_FIELD, EXECUTABLE),
    ];
    Message::of_messages(WRAPPER, &fields)
}

/// The messages of a text golden, canonical.
pub(in crate::view) struct Parts {
    pub(in crate::view) outer: Option<Bytes>,
    /// The executable where it stands as a message of its own.
    pub(in crate::view) executable: Option<Bytes>,
    /// The executable where it is still serialized, in whatever container.
    pub(in crate::view) serialized: Option<Bytes>,
    pub(in crate::view) skipped: Vec<Skipped>,
}

/// Reads a text golden of the message that its header names, or that has all of its fields.
pub(in crate::view) fn read(
    text: &[u8],
    header: Option<&str>,
    contract: &Contract,
) -> Result<Parts, Error> {
    let limits = Limits::default();
    let wrapper = wrapper();
    let known = || -> Vec<&Message> {
        let parts = [OUTER, EXECUTABLE].into_iter().filter_map(|name| contract.message(name));
        std::iter::once(&wrapper).chain(parts).collect()
    };
    let ty = match header {
        Some(WRAPPER | OLD_WRAPPER) => &wrapper,
        Some(name @ (OUTER | EXECUTABLE)) => match contract.message(name) {
            Some(ty) => ty,
            None => return Err(missing(text, name).into()),
        },
        Some(other) => {
            let found = super::literal::shown(other.as_bytes());
            return Err(ErrorKind::TextMessage {
                message: format!(
                    "the header of the text golden names {found}, which is no artifact"
                ),
                help: format!("artifacts are {WRAPPER}, {OUTER} and {EXECUTABLE}"),
            }
            .into());
        }
        None => recognise(text, contract, &known(), limits)?,
    };
    let drafted = draft(text, contract, ty, limits).map_err(text_error)?;
    parts(text, &drafted, contract, ty, limits).map_err(text_error)
}

/// The names of the fields of the outermost message, in order; those in brackets left out.
fn field_names<'a>(
    text: &'a [u8],
    contract: &'a Contract,
    limits: Limits,
) -> Result<BTreeSet<&'a str>, TextRefused> {
    let mut parser =
        Parser::new(text, contract, limits).map_err(|e| refused(text, String::new(), *e))?;
    let mut names = BTreeSet::new();
    while parser.token.kind != Kind::End {
        if parser.token.kind == Kind::Identifier {
            names.insert(parser.token.word());
        }
        parser.skip_field().map_err(|e| refused(text, String::new(), *e))?;
    }
    Ok(names)
}

/// The only message that has all the fields of the text.
fn recognise<'m>(
    text: &[u8],
    contract: &Contract,
    known: &[&'m Message],
    limits: Limits,
) -> Result<&'m Message, Error> {
    let names = field_names(text, contract, limits).map_err(text_error)?;
    let fits = |ty: &&&Message| {
        names.iter().all(|name| names::find(ty, name).is_some() || ty.reserves_name(name))
    };
    let fitting: Vec<&'m Message> = known.iter().filter(fits).copied().collect();
    let list = |types: &[&Message]| {
        types.iter().map(|ty| ty.name.to_string()).collect::<Vec<_>>().join(", ")
    };
    let message = match fitting.as_slice() {
        [only] => return Ok(only),
        [] => format!(
            "the text golden has no header, and no message has all its fields; tried {}",
            list(known)
        ),
        several => format!("the text golden has no header, and may be any of {}", list(several)),
    };
    let help =
        format!("put `# proto-message: {WRAPPER}`, or the message that it is, on its first line");
    Err(ErrorKind::TextMessage { message, help }.into())
}

fn parts(
    text: &[u8],
    drafted: &Drafted,
    contract: &Contract,
    ty: &Message,
    limits: Limits,
) -> Result<Parts, TextRefused> {
    let node = drafted.hold(text, contract, ty, limits)?;
    let bytes = |node: &Node<'_>| Bytes::from(encode(contract, node));
    let (outer, executable) = match &*ty.name {
        WRAPPER => (message(&node, OUTER_FIELD), message(&node, EXECUTABLE_FIELD)),
        OUTER => (Some(&node), None),
        _ => (None, Some(&node)),
    };
    let serialized = match outer.and_then(|outer| outer.slot(SERIALIZED_EXECUTABLE)) {
        Some(Slot::One(Value::Bytes(bytes))) => Some(Bytes::copy_from_slice(bytes)),
        _ => None,
    };
    let skipped = drafted.skipped.clone();
    Ok(Parts { outer: outer.map(bytes), executable: executable.map(bytes), serialized, skipped })
}

fn message<'n, 'a>(node: &'n Node<'a>, number: i32) -> Option<&'n Node<'a>> {
    match node.slot(number) {
        Some(Slot::One(Value::Message(message))) => Some(message),
        _ => None,
    }
}

/// An artifact as a text golden, with what could not be written.
///
/// # Errors
/// An artifact that a reader with this contract refuses.
pub fn print_artifact(artifact: &Artifact, contract: &Contract) -> Result<Printed, Error> {
    let wrapper = wrapper();
    let mut root = Node::new(&wrapper);
    let outer = artifact.outer().map(|outer| outer.message().to_bytes());
    let executable = artifact.executable().to_bytes();
    let parts =
        [(OUTER_FIELD, OUTER, outer.as_ref()), (EXECUTABLE_FIELD, EXECUTABLE, Some(&executable))];
    for (number, name, bytes) in parts {
        let Some(bytes) = bytes else { continue };
        let unreadable = |reason: String| ErrorKind::Unreadable { message: name, reason };
        let ty = contract
            .message(name)
            .ok_or_else(|| unreadable("the contract has no such message".to_owned()))?;
        let node = decode_as(bytes, contract, ty, Limits::default())
            .map_err(|refused| unreadable(refused.to_string()))?;
        root.slots.push((number, Slot::One(Value::Message(Box::new(node)))));
    }
    let mut printed = print_node(contract, &root);
    let count: usize = printed.left_out.iter().map(|left_out| left_out.times).sum();
    let note = match count {
        0 => String::new(),
        1 => "# left out: 1 value, see the comment below\n".to_owned(),
        count => format!("# left out: {count} values, see the comments below\n"),
    };
    let header = format!("# proto-file: {WRAPPER_FILE}\n# proto-message: {WRAPPER}\n{note}\n");
    printed.text.insert_str(0, &header);
    Ok(printed)
}

/// A text golden of the artifact, header included, that [`open`](crate::view::open) reads back with the
/// same contract.
///
/// What the contract does not know is named in comments; [`print_artifact`] lists it.
///
/// # Errors
/// An artifact that a reader with this contract refuses.
pub fn write_text(artifact: &Artifact, contract: &Contract) -> Result<String, Error> {
    print_artifact(artifact, contract).map(|printed| printed.text)
}

fn text_error(refused: TextRefused) -> Error {
    ErrorKind::Text(refused).into()
}

fn missing(text: &[u8], name: &str) -> ErrorKind {
    let at = Position { offset: 0, line: 1, column: 1 };
    ErrorKind::Text(refused(text, String::new(), (at, Reason::NoSuchType(name.to_owned()))))
}
