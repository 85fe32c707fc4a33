//! A kernel is launched under a name that its code does not have.
//!
//! ## What it flags
//!
//! A `kernel_name` that is no symbol of the code beside it, or of the module's own code where there is none
//! beside it; and a launch of such a kernel in an artifact without any code. Names of code that is given as
//! PTX are looked for in its text.
//!
//! ## Why it matters
//!
//! The driver does not find the function, and the artifact fails at the launch.
//!
//! ## What to do
//!
//! Store the name that the code generator returned, and the code that it returned with it.

use std::collections::BTreeSet;
use std::rc::Rc;

use prost_reflect::MessageDescriptor;

use super::elf::Elf;
use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::subject::{Subject, entries};
use crate::artifact::rope::Rope;
use crate::artifact::wire::{Fields, Wire};

pub(super) static RULE: RuleInfo = RuleInfo { id: "kernel-dangling", level: Level::Error };

/// Field of the wrappers of machine code and PTX with the code itself.
const DATA: u32 = 1;

pub(super) struct Check {
    cuda: bool,
    symbols: Option<Rc<BTreeSet<Vec<u8>>>>,
    opaque_binary: bool,
    entries: Option<Rc<BTreeSet<Vec<u8>>>>,
}

impl Check {
    pub(super) fn new(subject: &Subject) -> Self {
        Check {
            cuda: subject.is_cuda,
            symbols: subject.symbols.clone(),
            opaque_binary: subject.opaque_binary,
            entries: subject.entries.clone(),
        }
    }

    /// What is wrong with a kernel of the module's own code.
    fn in_module(&self, name: &[u8]) -> Option<&'static str> {
        if self.opaque_binary {
            return None; // another rule says that it is no ELF file
        }
        let has = |names: &Option<Rc<BTreeSet<Vec<u8>>>>| {
            names.as_ref().map(|names| names.contains(name))
        };
        match (has(&self.symbols), has(&self.entries)) {
            (Some(true), _) | (_, Some(true)) => None,
            (Some(false), _) => Some("the module's device code has no such symbol"),
            (None, Some(false)) => Some("the module's PTX has no such kernel"),
            (None, None) => Some("the artifact has no device code of the module"),
        }
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        let Some(known) = message.get_field_by_name("kernel_name") else { return };
        if !self.cuda || at.allocations().is_none() {
            return;
        }
        let mut name = Vec::new();
        let mut code = Code::Module;
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.next_field() {
            if field.wire != Wire::Length {
                continue;
            }
            let value = || bytes.slice(field.value.clone()).unwrap_or_default();
            if field.number == known.number() {
                name = value().to_bytes().to_vec();
            }
            let Some(field) = message.get_field(field.number) else { continue };
            match field.name() {
                "cubin" => code = Code::Elf(inner(&field, value())),
                "ptx" => code = Code::Ptx(inner(&field, value())),
                "in_process_symbol" => code = Code::Elsewhere,
                _ => {}
            }
        }
        if name.is_empty() {
            return; // a built-in kernel
        }
        let wrong = match code {
            Code::Module => self.in_module(&name),
            Code::Elsewhere => None,
            Code::Ptx(text) => {
                let missing = entries(&text).is_none_or(|entries| !entries.contains(&name));
                missing.then_some("its PTX has no such kernel")
            }
            Code::Elf(code) => {
                let code = code.to_bytes();
                let symbols = Elf::read(&code).and_then(|elf| elf.symbols());
                let missing = symbols.is_some_and(|symbols| !symbols.contains(&name));
                missing.then_some("its code has no such symbol")
            }
        };
        if let Some(wrong) = wrong {
            let text = format!("kernel {:?}: {wrong}", String::from_utf8_lossy(&name));
            at.report(&RULE, Draft::new(text));
        }
    }
}

/// Where a kernel's code is.
enum Code {
    Module,
    Elf(Rope),
    Ptx(Rope),
    Elsewhere,
}

/// The code in a field, itself or in its wrapper.
fn inner(field: &prost_reflect::FieldDescriptor, value: Rope) -> Rope {
    if !matches!(field.kind(), prost_reflect::Kind::Message(_)) {
        return value;
    }
    let mut code = Rope::default();
    let mut fields = Fields::new(&value);
    while let Ok(Some(field)) = fields.next_field() {
        if field.number == DATA && field.wire == Wire::Length {
            code = value.slice(field.value).unwrap_or_default();
        }
    }
    code
}
