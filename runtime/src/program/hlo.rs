//! The HLO module of a program: who calls whom, checked.

use std::collections::HashMap;

use super::invalid::{At as _, Invalid, Result};
use super::shape::Shape;
use crate::proto::xla::{HloComputationProto, HloInstructionProto, HloModuleProto};

/// Calls may nest this deep.
const MAX_CALLS: usize = 64;

/// A module whose references are resolved.
#[derive(Debug, Default)]
pub struct Module {
    pub(crate) computations: Vec<Computation>,
    /// Instructions by name, as (computation, instruction).
    by_name: HashMap<String, (usize, usize)>,
    /// The same under the names that kernels and constants have: other characters as `_`.
    by_symbol: HashMap<String, (usize, usize)>,
}

/// A computation; instructions come after their operands.
#[derive(Debug)]
pub struct Computation {
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
pub struct Instruction {
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
    pub(crate) fn new(proto: HloModuleProto) -> Result<Module> {
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
            let computation =
                Computation::new(computation, &ids).at(|| format!("computation {name:?}"))?;
            module.computations.push(computation);
        }
        module.check_calls()?;
        for (c, computation) in module.computations.iter().enumerate() {
            for (i, instruction) in computation.instructions.iter().enumerate() {
                let name = instruction.name.clone();
                module.by_symbol.entry(symbol(&name)).or_insert((c, i));
                module.by_name.entry(name).or_insert((c, i));
            }
        }
        Ok(module)
    }

    /// The instruction that a thunk was compiled from: by its exact name, else by the name a symbol has.
    pub(crate) fn instruction(&self, name: &str) -> Option<(&Computation, &Instruction)> {
        let at = self.by_name.get(name).or_else(|| self.by_symbol.get(&symbol(name)))?;
        let computation = self.computations.get(at.0)?;
        Some((computation, computation.instructions.get(at.1)?))
    }

    /// Computations call each other without cycles and not too deep.
    fn check_calls(&self) -> Result<()> {
        let mut depth: Vec<Option<usize>> = vec![None; self.computations.len()];
        for start in 0..self.computations.len() {
            // Depth-first; a computation on the path that is met again closes a cycle.
            let mut path = vec![(start, 0)];
            let mut on_path = vec![false; self.computations.len()];
            on_path[start] = true;
            if depth[start].is_some() {
                continue;
            }
            while let Some((at, next)) = path.last().copied() {
                let computation = &self.computations[at];
                let mut calls = computation.instructions.iter().flat_map(|i| &i.calls);
                let Some(&callee) = calls.nth(next) else {
                    let below = computation.instructions.iter().flat_map(|i| &i.calls);
                    let own = below.filter_map(|c| depth[*c]).max().map_or(0, |d| d + 1);
                    if own > MAX_CALLS {
                        return Err(Invalid::value(
                            "depth of calls",
                            own,
                            format!("at most {MAX_CALLS}"),
                        )
                        .at(format!("computation {:?}", computation.name)));
                    }
                    depth[at] = Some(own);
                    on_path[at] = false;
                    path.pop();
                    continue;
                };
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                if on_path[callee] {
                    return Err(Invalid::value("calls", "a cycle", "none")
                        .at(format!("computation {:?}", self.computations[callee].name)));
                }
                if depth[callee].is_none() {
                    on_path[callee] = true;
                    path.push((callee, 0));
                }
            }
        }
        Ok(())
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
        let local: HashMap<i64, usize> =
            ids.iter().map(|(id, at)| (id & 0xffff_ffff, *at)).collect();
        let find = |id: i64| ids.get(&id).or_else(|| local.get(&id)).copied();
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
        let order = topological(&operands)?;
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
        // What cannot be held matters only when it is evaluated.
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

/// Instructions so that operands come first; the order given is kept where it is one.
fn topological(operands: &[Vec<usize>]) -> Result<Vec<usize>> {
    let mut state = vec![0_u8; operands.len()];
    let mut order = Vec::with_capacity(operands.len());
    for start in 0..operands.len() {
        if state[start] != 0 {
            continue;
        }
        let mut path = vec![(start, 0)];
        state[start] = 1;
        while let Some((at, next)) = path.last().copied() {
            let Some(&operand) = operands[at].get(next) else {
                state[at] = 2;
                order.push(at);
                path.pop();
                continue;
            };
            if let Some(last) = path.last_mut() {
                last.1 += 1;
            }
            match state[operand] {
                0 => {
                    state[operand] = 1;
                    path.push((operand, 0));
                }
                1 => return Err(Invalid::value("operands", "a cycle", "none")),
                _ => {}
            }
        }
    }
    Ok(order)
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

/// Notes what [`Module::new`] and the evaluator read.
pub(crate) fn record(reads: &mut super::Reads) {
    reads.fields("xla.HloModuleProto", &["computations"]);
    reads.fields("xla.HloComputationProto", &["name", "instructions", "id", "root_id"]);
    reads.fields(
        "xla.HloInstructionProto",
        &[
            "name",
            "opcode",
            "shape",
            "id",
            "operand_ids",
            "called_computation_ids",
            "parameter_number",
        ],
    );
    reads.fields(
        "xla.ShapeProto",
        &["element_type", "dimensions", "tuple_shapes", "layout", "is_dynamic_dimension"],
    );
    reads.fields("xla.LayoutProto", &["minor_to_major", "tiles", "element_size_in_bits"]);
}
