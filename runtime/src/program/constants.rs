//! What the constant allocations hold.

use std::collections::BTreeSet;

use prost::bytes::Bytes;

use super::buffers::{Allocation, below};
use super::hlo::{Instruction, Module};
use super::invalid::{At as _, Invalid, Result};
use super::{Constant, Reads};
use crate::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto;

/// Reads the constants. Since jaxlib 0.11 the content is only in the HLO module, under the name that the
/// global's symbol is made from.
///
/// Also the constant allocations that none of them fills: compilers leave some behind that nothing uses.
pub(super) fn constants(
    protos: &[ConstantInfoProto],
    allocations: &[Allocation],
    module: &Module,
    reads: &mut Reads,
) -> Result<(Vec<Constant>, BTreeSet<usize>)> {
    reads.fields("xla.gpu.GpuExecutableProto.ConstantInfoProto", &["content", "allocation_index"]);
    let mut filled = BTreeSet::new();
    let mut out = Vec::new();
    for (at, proto) in protos.iter().enumerate() {
        let place = || format!("constants[{at}] ({:?})", proto.symbol_name);
        if proto.allocation_index == -1 {
            continue; // nothing but a symbol of the module's own code
        }
        let index = usize::try_from(proto.allocation_index).ok();
        let found = index.and_then(|at| Some((at, allocations.get(at)?)));
        let (index, allocation) = found
            .ok_or_else(|| {
                let bound = format!("-1, or {}", below(allocations.len()));
                Invalid::value("allocation_index", proto.allocation_index, bound)
            })
            .at(place)?;
        if !allocation.constant {
            let bound = "an allocation that is_constant";
            return Err(Invalid::value("allocation_index", index, bound)).at(place);
        }
        if !filled.insert(index) {
            let bound = "an allocation that no other constant fills";
            return Err(Invalid::value("allocation_index", index, bound)).at(place);
        }
        let bytes = content(proto, allocation.size, module, reads).at(place)?;
        out.push(Constant { allocation: index, bytes });
    }
    let constant = allocations.iter().enumerate().filter(|(_, allocation)| allocation.constant);
    let unfilled = constant.map(|(at, _)| at).filter(|at| !filled.contains(at)).collect();
    Ok((out, unfilled))
}

/// The content, which may be at most `size` bytes.
fn content(
    proto: &ConstantInfoProto,
    size: usize,
    module: &Module,
    reads: &mut Reads,
) -> Result<Bytes> {
    let fits = |bytes: usize| {
        let bound = format!("at most the {size} of its allocation");
        if bytes > size { Err(Invalid::value("bytes", bytes, bound)) } else { Ok(()) }
    };
    if let Some(stored) = proto.content.as_ref().filter(|content| !content.data.is_empty()) {
        reads.fields("xla.gpu.DenseDataIntermediateProto", &["data"]);
        fits(stored.data.len())?;
        return Ok(stored.data.clone());
    }
    reads.fields("xla.gpu.GpuExecutableProto.ConstantInfoProto", &["symbol_name"]);
    reads.fields("xla.HloInstructionProto", &["name"]);
    let instruction = constant(&proto.symbol_name, module)?;
    super::hlo::record_instruction(instruction, reads);
    let literal = instruction.proto.literal.as_ref().ok_or_else(|| Invalid::missing("literal"))?;
    let shape = instruction.shape.array()?;
    fits(shape.bytes())?;
    let array = crate::array::literal(literal, shape)?;
    let mut bytes = vec![0; shape.bytes()];
    crate::array::encode(&array, shape, &mut bytes)?;
    Ok(bytes.into())
}

fn constant<'m>(symbol: &str, module: &'m Module) -> Result<&'m Instruction> {
    let name = symbol.strip_prefix("buffer_for_").unwrap_or(symbol);
    let bound = "the name of a constant in the HLO module";
    match module.instruction(name)? {
        Some((_, instruction)) if instruction.opcode == "constant" => Ok(instruction),
        _ => Err(Invalid::value("symbol_name", format!("{symbol:?}"), bound)),
    }
}
