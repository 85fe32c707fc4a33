//! Device code is no CUDA machine code.
//!
//! ## What it flags
//!
//! Code of a kernel or of the whole module, in an artifact for CUDA, that is no 64-bit ELF file for a CUDA
//! device: empty, cut short, a file for the host, or something else.
//!
//! ## Why it matters
//!
//! The driver refuses to load it, and the artifact fails when it is loaded or at the kernel's first
//! launch.
//!
//! ## What to do
//!
//! Compile ahead of time for the target, and store the assembler's output unchanged.

use prost_reflect::{FieldDescriptor, MessageDescriptor};

use super::code::is_device_code;
use super::elf::{EM_CUDA, Elf};
use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::artifact::wire::preview;

pub(super) static RULE: RuleInfo = RuleInfo { id: "code-not-elf", level: Level::Error };

const CUBIN: &str = "stream_executor.CudaCubinProto";

pub(super) struct Check {
    cuda: bool,
}

impl Check {
    pub(super) fn new(subject: &Subject) -> Self {
        Check { cuda: subject.is_cuda }
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        // Empty data is not on the wire.
        if self.cuda && message.full_name() == CUBIN && bytes.is_empty() {
            at.report(&RULE, Draft::new("expected an ELF file for CUDA, found nothing"));
        }
    }

    fn content(&mut self, at: &mut At<'_>, field: &FieldDescriptor, bytes: &Rope) {
        // An empty binary of the module says that there is none.
        if !self.cuda || !is_device_code(field) || field.name() == "binary" && bytes.is_empty() {
            return;
        }
        let code = bytes.to_bytes();
        let found = match Elf::read(&code) {
            Some(elf) if elf.machine() == EM_CUDA => return,
            Some(elf) => format!("an ELF file for machine {}", elf.machine()),
            None => preview(bytes),
        };
        let text = format!("expected an ELF file for CUDA, found {found}");
        at.report(&RULE, Draft::new(text).bytes(bytes.len()));
    }
}
