//! The HLO module of a program: who calls whom, checked.

mod attributes;
mod order;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

pub(crate) use attributes::{record_evaluated, record_instruction, record_window};

use super::Reads;
use super::invalid::{At as _, Invalid, Result};
use super::shape::Shape;
use crate::proto::xla::{HloComputationProto, HloInstructionProto, HloModuleProto};

/// A module whose references are resolved.
#[derive(Debug, Default)]
pub struct Module {
    pub(crate) computations: Vec<Computation>,
    computation_names: HashSet<String>,
    /// Instructions by name.
    by_name: HashMap<String, Named>,
    /// The same under the names that kernels and constants have: other characters as `_`.
    by_symbol: HashMap<String, Named>,
}

/// Computation and instruction that have a name; `None` where several have it.
type Named = Option<(usize, usize)>;

/// A computation; instructions come after their operands.
#[derive(Debug)]
pub(crate) struct Computation {
    pub(crate) name: String,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) root: usize,
    /// The instruction of each parameter.
    pub(crate) parameters: Vec<usize>,
    /// How often each instruction is an operand, or the root.
    pub(crate) uses: Vec<u32>,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Instruction {
    pub(crate) name: String,
    pub(crate) opcode: String,
    pub(crate) shape: Shape,
    /// Indices into the computation's instructions, each below this one's own.
    pub(crate) operands: Vec<usize>,
    /// Indices into the module's computations.
    pub(crate) calls: Vec<usize>,
    /// Its attributes.
    pub(crate) proto: HloInstructionProto,
}

impl Module {
    /// Resolves a module.
    pub(crate) fn new(proto: HloModuleProto, reads: &mut Reads) -> Result<Module> {
        attributes::record_module(&proto, reads);
        let mut ids = HashMap::new();
        for (at, computation) in proto.computations.iter().enumerate() {
            if ids.insert(computation.id, at).is_some() {
                return Err(Invalid::value("id", computation.id, "an id of its own")
                    .at(format!("computation {:?}", computation.name)));
            }
        }
        let mut module = Module::default();
        for computation in proto.computations {
            let name = computation.name.clone();
            module.computation_names.insert(name.clone());
            let computation =
                Computation::new(computation, &ids).at(|| format!("computation {name:?}"))?;
            module.computations.push(computation);
        }
        order::check_calls(&module.computations)?;
        for (c, computation) in module.computations.iter().enumerate() {
            for (i, instruction) in computation.instructions.iter().enumerate() {
                let name = instruction.name.clone();
                enter(&mut module.by_symbol, symbol(&name), (c, i));
                enter(&mut module.by_name, name, (c, i));
            }
        }
        Ok(module)
    }

    /// Whether a computation has a name.
    pub(crate) fn has_computation(&self, name: &str) -> bool {
        self.computation_names.contains(name)
    }

    /// The instruction that a thunk was compiled from: by its exact name, else by the name a symbol has.
    /// An error where several instructions have it.
    pub(crate) fn instruction(&self, name: &str) -> Result<Option<(&Computation, &Instruction)>> {
        let found = self.by_name.get(name).or_else(|| self.by_symbol.get(&symbol(name)));
        match found {
            None => Ok(None),
            Some(None) => {
                let value = format!("{name:?}, which several instructions have");
                Err(Invalid::value("name of an instruction", value, "one that is unique"))
            }
            Some(Some((computation, instruction))) => {
                let computation = self.computations.get(*computation);
                Ok(computation.and_then(|c| Some((c, c.instructions.get(*instruction)?))))
            }
        }
    }
}

fn enter(names: &mut HashMap<String, Named>, name: String, at: (usize, usize)) {
    match names.entry(name) {
        Entry::Vacant(entry) => {
            entry.insert(Some(at));
        }
        Entry::Occupied(mut entry) => *entry.get_mut() = None,
    }
}

impl Computation {
    fn new(proto: HloComputationProto, computations: &HashMap<i64, usize>) -> Result<Computation> {
        let count = proto.instructions.len();
        let mut ids: HashMap<i64, usize> = HashMap::with_capacity(count);
        for (at, instruction) in proto.instructions.iter().enumerate() {
            if ids.insert(instruction.id, at).is_some() {
                return Err(Invalid::value("id", instruction.id, "an id of its own")
                    .at(instruction.name.clone()));
            }
        }
        // Ids are either global (computation in the upper half) or local to the computation.
        let mut local: HashMap<i64, Option<usize>> = HashMap::with_capacity(count);
        for (id, at) in &ids {
            local
                .entry(id & 0xffff_ffff)
                .and_modify(|several| *several = None)
                .or_insert(Some(*at));
        }
        let find = |id: i64| ids.get(&id).copied().or_else(|| local.get(&id).copied().flatten());
        let operands: Vec<Vec<usize>> = proto
            .instructions
            .iter()
            .map(|instruction| {
                let found = instruction.operand_ids.iter().map(|id| {
                    find(*id).ok_or_else(|| {
                        Invalid::value("operand id", id, "the id of an instruction here")
                            .at(instruction.name.clone())
                    })
                });
                found.collect()
            })
            .collect::<Result<_>>()?;
        let order = order::topological(&operands).map_err(|cycle| {
            let place = proto.instructions[cycle].name.clone();
            Invalid::value("operand_ids", "a cycle", "none").at(place)
        })?;
        let mut place = vec![0; count];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new;
        }
        let root = find(proto.root_id)
            .ok_or_else(|| Invalid::value("root_id", proto.root_id, "the id of an instruction"))?;
        let root = place[root];
        let mut protos: Vec<Option<HloInstructionProto>> =
            proto.instructions.into_iter().map(Some).collect();
        let mut instructions: Vec<Instruction> = Vec::with_capacity(count);
        for old in order {
            let Some(proto) = protos[old].take() else { continue };
            let operands = operands[old].iter().map(|at| place[*at]).collect();
            let name = proto.name.clone();
            instructions.push(Instruction::new(proto, operands, computations).at(|| name)?);
        }
        let parameters = parameters(&instructions)?;
        let mut uses = vec![0; count];
        for operand in instructions.iter().flat_map(|i| &i.operands) {
            uses[*operand] += 1;
        }
        uses[root] += 1;
        Ok(Computation { name: proto.name, instructions, root, parameters, uses })
    }
}

impl Instruction {
    fn new(
        mut proto: HloInstructionProto,
        operands: Vec<usize>,
        computations: &HashMap<i64, usize>,
    ) -> Result<Instruction> {
        let shape = proto.shape.take().ok_or_else(|| Invalid::missing("shape"))?;
        let shape = Shape::new(&shape)?;
        let calls = proto
            .called_computation_ids
            .iter()
            .map(|id| {
                computations.get(id).copied().ok_or_else(|| {
                    Invalid::value("called computation", id, "the id of a computation")
                })
            })
            .collect::<Result<_>>()?;
        let (name, opcode) = (std::mem::take(&mut proto.name), std::mem::take(&mut proto.opcode));
        Ok(Instruction { name, opcode, shape, operands, calls, proto })
    }

    /// A called computation.
    pub(crate) fn callee<'m>(&self, module: &'m Module, at: usize) -> Result<&'m Computation> {
        self.calls.get(at).and_then(|c| module.computations.get(*c)).ok_or_else(|| {
            Invalid::value("called computations", self.calls.len(), format!("more than {at}"))
        })
    }
}

fn parameters(instructions: &[Instruction]) -> Result<Vec<usize>> {
    let mut found: Vec<(i64, usize)> = instructions
        .iter()
        .enumerate()
        .filter(|(_, i)| i.opcode == "parameter")
        .map(|(at, i)| (i.proto.parameter_number, at))
        .collect();
    found.sort_unstable();
    for (expected, (number, _)) in found.iter().enumerate() {
        if *number != expected as i64 {
            return Err(Invalid::value("parameter_number", number, expected.to_string()));
        }
    }
    Ok(found.into_iter().map(|(_, at)| at).collect())
}

/// The name that a kernel or global made from an instruction's name has.
pub(crate) fn symbol(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}
