//! The artifact carries code or state for the host.
//!
//! ## What it flags
//!
//! Serialized execution state of a custom call, and bytes anywhere else that begin like code for the
//! host: an ELF file that is not for CUDA, LLVM bitcode, MLIR bytecode, a Python pickle. What was recognised is
//! named.
//!
//! ## Why it matters
//!
//! Such bytes are loaded into the process that runs the artifact. They bind it to a host architecture and to
//! library versions that no schema states, and whoever can write the artifact can run code.
//!
//! ## What to do
//!
//! Do not load artifacts of unknown origin that have it. Where the state can be made anew from attributes,
//! leave it unset.

use prost::Message as _;
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::code::is_device_code;
use super::elf::{EM_CUDA, Elf};
use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::proto::xla::ffi::ExecutionStateProto;

pub(super) static RULE: RuleInfo = RuleInfo { id: "host-code", level: Level::Warning };

const STATE: &str = "xla.ffi.ExecutionStateProto";

/// What code for the host begins with.
const MARKS: [(&[u8], &str); 5] = [
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"ML\xefR", "MLIR bytecode"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x80\x05\x95", "a Python pickle"),
    (b"target triple = \"", "LLVM IR text"),
];

pub(super) struct Check;

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() != STATE {
            return;
        }
        let Ok(state) = ExecutionStateProto::decode(bytes.reader()) else { return };
        if state.state.is_empty() && state.type_name.is_empty() {
            return; // a handler without state
        }
        let found = inside(&state.state);
        let found = if found.is_empty() { "nothing known".to_owned() } else { found.join(", ") };
        let text = format!("execution state of type {:?}, with {found} in it", state.type_name);
        at.report(&RULE, Draft::new(text).bytes(state.state.len()));
    }

    fn content(&mut self, at: &mut At<'_>, field: &FieldDescriptor, bytes: &Rope) {
        let state = at.within(STATE);
        if field.kind() != Kind::Bytes || is_device_code(field) || state || bytes.len() < 4 {
            return;
        }
        let head = bytes.slice(0..bytes.len().min(64)).unwrap_or_default().to_bytes();
        let elf = || Elf::read(&head).filter(|elf| elf.machine() != EM_CUDA);
        let mark = MARKS.iter().find(|(mark, _)| head.starts_with(mark)).map(|(_, what)| *what);
        if let Some(what) = mark.or_else(|| elf().map(|_| "an ELF file for the host")) {
            let text = format!("{} holds {what}", at.field_name());
            at.report(&RULE, Draft::new(text).bytes(bytes.len()));
        }
    }
}

/// What is recognised anywhere in a state.
fn inside(state: &prost::bytes::Bytes) -> Vec<&'static str> {
    let mut found = Vec::new();
    for at in 0..state.len() {
        let Some(rest) = state.get(at..) else { break };
        let mark = MARKS.iter().find(|(mark, _)| rest.starts_with(mark)).map(|(_, what)| *what);
        let elf = || {
            let elf = rest.starts_with(b"\x7fELF").then(|| state.slice(at..))?;
            let machine = Elf::read(&elf)?.machine();
            Some(if machine == EM_CUDA { "a cubin" } else { "an ELF file for the host" })
        };
        if let Some(what) = mark.or_else(elf)
            && !found.contains(&what)
        {
            found.push(what);
        }
    }
    found
}
