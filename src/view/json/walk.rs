//! Where payloads are: instructions of HLO modules, wherever in a message these are.

use std::collections::{HashMap, HashSet};

use super::super::bits;
use super::super::held::{Held, Node, Slot, Value};
use super::super::path::Path;

const MODULE: &str = "xla.HloModuleProto";
const COMPUTATION: &str = "xla.HloComputationProto";
const INSTRUCTION: &str = "xla.HloInstructionProto";
/// The field that holds a payload, or refers to one.
pub(super) const REFERENCE: &str = "backend_config_payload";

/// An instruction and what is around it.
pub(super) struct Site<'w, 'n, 'a> {
    pub(super) instruction: &'n Node<'a>,
    /// Whether its computation is the body of a fusion.
    pub(super) fused: bool,
    /// Whether the module is for the CPU.
    pub(super) cpu: bool,
    /// Whether the module is the one that the runtime builds while it loads the executable.
    pub(super) loaded: bool,
    pub(super) module: Option<&'w Module<'n, 'a>>,
}

/// Where an instruction has its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text<'a> {
    /// In the instruction.
    Inline(&'a [u8]),
    /// In the message that stands in for it.
    Value(&'a [u8]),
    /// In the module's table, which may lack the entry.
    Shared(Option<&'a [u8]>),
}

/// A module's computations and instructions by id.
pub(super) struct Module<'n, 'a> {
    /// Its position among the modules met.
    pub(super) ordinal: usize,
    payloads: &'n [&'a [u8]],
    roots: HashMap<u64, u64>,
    instructions: HashMap<u64, &'n Node<'a>>,
    /// Computations that a collective stands in.
    communicating: HashSet<u64>,
}

/// What the walk meets, a module before what is in it.
pub(super) enum Met<'w, 'n, 'a> {
    Module,
    Instruction(&'w Site<'w, 'n, 'a>),
    /// A reference to the module's table that is no instruction's payload.
    Reference(Option<&'w Module<'n, 'a>>, &'n Node<'a>),
}

/// Visits all modules, instructions and references, in order.
pub(super) fn walk<'n, 'a>(held: &'n Held<'a>, visit: &mut impl FnMut(Met<'_, 'n, 'a>, &Path<'n>)) {
    let reference = held.contract.message(INSTRUCTION).and_then(|m| m.field_named(REFERENCE));
    let mut walk = Walk {
        visit,
        path: Path::default(),
        modules: 0,
        reference: reference.and_then(|field| Some(&**field.ty.named()?)),
    };
    let context = Context { module: None, fused: false, cpu: false, loaded: false };
    if &*held.root.ty.name == "xla.gpu.GpuExecutableProto" {
        for (field, slot) in held.root.fields() {
            let loaded = &*field.name == "hlo_module_with_config";
            walk.path.field(&field.name);
            walk.slot(slot, Context { loaded, ..context }, false);
            walk.path.pop();
        }
    } else {
        walk.node(&held.root, context, false);
    }
}

struct Walk<'v, 'n, V> {
    visit: &'v mut V,
    path: Path<'n>,
    modules: usize,
    reference: Option<&'n str>,
}

#[derive(Clone, Copy)]
struct Context<'w, 'n, 'a> {
    module: Option<&'w Module<'n, 'a>>,
    fused: bool,
    cpu: bool,
    loaded: bool,
}

impl<'n, 'a, V: FnMut(Met<'_, 'n, 'a>, &Path<'n>)> Walk<'_, 'n, V> {
    /// `own` says that the node is the payload of the instruction just visited.
    fn node(&mut self, node: &'n Node<'a>, context: Context<'_, 'n, 'a>, own: bool) {
        let indexed;
        let mut context = context;
        let name = &*node.ty.name;
        match name {
            MODULE => {
                indexed = Module::new(self.modules, node);
                self.modules += 1;
                context.module = Some(&indexed);
                (self.visit)(Met::Module, &self.path);
            }
            COMPUTATION => context.fused = number(node, "is_fusion_computation") == Some(1),
            INSTRUCTION => {
                let Context { module, fused, cpu, loaded } = context;
                let site = Site { instruction: node, fused, cpu, loaded, module };
                (self.visit)(Met::Instruction(&site), &self.path);
            }
            "xla.HostOffloadingExecutableProto" => context.cpu = true,
            name if name.starts_with("xla.cpu.") => context.cpu = true,
            name if !own && Some(name) == self.reference => {
                (self.visit)(Met::Reference(context.module, node), &self.path);
            }
            _ => {}
        }
        for (field, slot) in node.fields() {
            self.path.field(&field.name);
            self.slot(slot, context, name == INSTRUCTION && &*field.name == REFERENCE);
            self.path.pop();
        }
    }

    fn slot(&mut self, slot: &'n Slot<'a>, context: Context<'_, 'n, 'a>, own: bool) {
        match slot {
            Slot::One(Value::Message(node)) => self.node(node, context, own),
            Slot::Messages(list) => {
                for (at, node) in list.iter().enumerate() {
                    self.path.index(at);
                    self.node(node, context, own);
                    self.path.pop();
                }
            }
            Slot::Map(map) => {
                for (key, value) in map {
                    let Value::Message(node) = value else { break };
                    self.path.key(*key);
                    self.node(node, context, own);
                    self.path.pop();
                }
            }
            _ => {}
        }
    }
}

impl<'n, 'a> Module<'n, 'a> {
    fn new(ordinal: usize, node: &'n Node<'a>) -> Self {
        let mut module = Module {
            ordinal,
            payloads: match node.slot_named("payloads") {
                Some(Slot::Bytes(list)) => list,
                _ => &[],
            },
            roots: HashMap::new(),
            instructions: HashMap::new(),
            communicating: HashSet::new(),
        };
        let Some(Slot::Messages(computations)) = node.slot_named("computations") else {
            return module;
        };
        for computation in computations {
            let id = number(computation, "id").unwrap_or_default();
            module.roots.insert(id, number(computation, "root_id").unwrap_or_default());
            let instructions = match computation.slot_named("instructions") {
                Some(Slot::Messages(list)) => list.as_slice(),
                _ => &[],
            };
            for instruction in instructions {
                module
                    .instructions
                    .insert(number(instruction, "id").unwrap_or_default(), instruction);
                if is_collective(instruction) {
                    module.communicating.insert(id);
                }
            }
        }
        module
    }

    pub(super) fn payload(&self, at: u64) -> Option<&'a [u8]> {
        self.payloads.get(usize::try_from(at).ok()?).copied()
    }
}

impl<'a> Site<'_, '_, 'a> {
    /// Its payload; what stands in for it goes first, as in XLA.
    pub(super) fn text(&self) -> Option<Text<'a>> {
        if let Some(Slot::One(Value::Message(reference))) = self.instruction.slot_named(REFERENCE) {
            return Some(match reference_id(reference) {
                Some(id) => Text::Shared(self.module.and_then(|module| module.payload(id))),
                None => Text::Value(bytes(reference, "value").unwrap_or_default()),
            });
        }
        bytes(self.instruction, "backend_config").map(Text::Inline)
    }

    pub(super) fn opcode(&self) -> &'a str {
        opcode(self.instruction)
    }

    /// What a custom call calls.
    pub(super) fn target(&self) -> &'a str {
        text(self.instruction, "custom_call_target")
    }

    /// Whether the runtime parses the payload while it loads the executable: it asks each collective
    /// outside of fusions whether it runs synchronously, and fails to load where the payload is refused.
    pub(super) fn parsed_at_load(&self) -> bool {
        if !self.loaded || self.fused {
            return false;
        }
        let Some(module) = self.module else { return false };
        let called = |node: &Node<'_>| match node.slot_named("called_computation_ids") {
            Some(Slot::Bits(list)) => list.first().copied(),
            _ => None,
        };
        match self.opcode() {
            "fusion" => {
                text(self.instruction, "fusion_kind") == "kCustom"
                    && called(self.instruction).is_some_and(|id| module.communicating.contains(&id))
            }
            "async-start" | "async-update" | "async-done" => {
                let mut at = self.instruction;
                // Updates are few; the bound is for artifacts that nobody should have written.
                for _ in 0..64 {
                    if let Some(id) = called(at) {
                        let root = module.roots.get(&id).and_then(|r| module.instructions.get(r));
                        return root.is_some_and(|root| is_collective(root));
                    }
                    let operand = match at.slot_named("operand_ids") {
                        Some(Slot::Bits(list)) => list.first(),
                        _ => None,
                    };
                    match operand.and_then(|id| module.instructions.get(id)) {
                        Some(next) => at = next,
                        None => return false,
                    }
                }
                false
            }
            _ => is_collective(self.instruction),
        }
    }
}

/// Which entry of the module's table a reference means; none where it has the text itself.
pub(super) fn reference_id(reference: &Node<'_>) -> Option<u64> {
    number(reference, "id")
}

fn is_collective(instruction: &Node<'_>) -> bool {
    match opcode(instruction) {
        "all-reduce"
        | "all-reduce-start"
        | "all-reduce-done"
        | "all-gather"
        | "all-gather-start"
        | "all-gather-done"
        | "all-to-all"
        | "collective-broadcast"
        | "collective-permute"
        | "collective-permute-start"
        | "collective-permute-done"
        | "ragged-all-to-all"
        | "reduce-scatter" => true,
        "send" | "recv" => number(instruction, "is_host_transfer") != Some(1),
        _ => false,
    }
}

fn opcode<'a>(instruction: &Node<'a>) -> &'a str {
    text(instruction, "opcode")
}

fn bytes<'a>(node: &Node<'a>, field: &str) -> Option<&'a [u8]> {
    match node.slot_named(field) {
        Some(Slot::One(Value::Bytes(bytes))) if !bytes.is_empty() => Some(bytes),
        _ => None,
    }
}

fn text<'a>(node: &Node<'a>, field: &str) -> &'a str {
    bytes(node, field).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// A whole number.
fn number(node: &Node<'_>, field: &str) -> Option<u64> {
    let field = node.ty.field_named(field)?;
    match node.slot(field.number)? {
        Slot::One(Value::Bits(bits)) if bits::wire_type(field) == bits::VARINT => Some(*bits),
        _ => None,
    }
}
