//! Parameters and results: what the caller brings and gets.

use std::collections::HashMap;

use super::buffers::{Allocation, below};
use super::enumeration::known;
use super::invalid::{At as _, Invalid, Result};
use super::{ArrayShape, Output, Reads, Shape, Warning};
use crate::proto::xla::gpu::gpu_executable_proto::{OutputInfoMapEntry, OutputInfoProto};
use crate::proto::xla::{Kind, ProgramShapeProto};

/// The shapes of the parameters; each allocation that is one has to hold it.
pub(super) fn parameters(
    shape: &ProgramShapeProto,
    allocations: &[Allocation],
    reads: &mut Reads,
) -> Result<Vec<Shape>> {
    reads.fields("xla.ProgramShapeProto", &["parameters"]);
    let shapes: Vec<Shape> = shape
        .parameters
        .iter()
        .enumerate()
        .map(|(at, shape)| Shape::read(shape, reads).at(|| format!("parameter {at}")))
        .collect::<Result<_>>()?;
    for (at, allocation) in allocations.iter().enumerate() {
        let Some((number, index)) = &allocation.parameter else { continue };
        let place = || format!("allocation {at}");
        let leaf = element(&shapes, *number, index).at(place)?;
        if let Shape::Array(shape) = leaf
            && shape.bytes() > allocation.size
        {
            let bound = format!("at least {} for {shape}", shape.bytes());
            return Err(Invalid::value("size", allocation.size, bound)).at(place);
        }
    }
    Ok(shapes)
}

/// The part of a parameter at an index.
fn element<'s>(shapes: &'s [Shape], number: usize, index: &[usize]) -> Result<&'s Shape> {
    let mut leaf = shapes
        .get(number)
        .ok_or_else(|| Invalid::value("parameter_number", number, below(shapes.len())))?;
    for at in index {
        leaf = match leaf {
            Shape::Tuple(shapes) => shapes.get(*at),
            _ => None,
        }
        .ok_or_else(|| {
            Invalid::value("parameter_shape_index", at, "an element of the parameter")
        })?;
    }
    Ok(leaf)
}

/// Where the arrays of the result are.
pub(super) fn outputs(
    shape: &ProgramShapeProto,
    entries: &[OutputInfoMapEntry],
    allocations: &[Allocation],
    reads: &mut Reads,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Output>> {
    reads.fields("xla.ProgramShapeProto", &["result"]);
    reads.fields("xla.gpu.GpuExecutableProto.OutputInfoMapEntry", &["shape_index", "output_info"]);
    reads.fields("xla.gpu.GpuExecutableProto.OutputInfoProto", &["allocation_index"]);
    reads.fields("xla.ShapeIndexProto", &["indexes"]);
    let result = shape.result.as_ref().ok_or_else(|| Invalid::missing("program_shape.result"))?;
    let result = Shape::read(result, reads).at(|| "result".to_owned())?;
    let mut infos: HashMap<&[i64], &OutputInfoProto> = HashMap::with_capacity(entries.len());
    for entry in entries {
        let index = entry.shape_index.as_ref().map_or(&[][..], |i| &i.indexes);
        let place = || format!("output {index:?}");
        let info =
            entry.output_info.as_ref().ok_or_else(|| Invalid::missing("output_info")).at(place)?;
        alias(info, allocations).at(place)?;
        // XLA's loader keeps the first.
        if infos.contains_key(index) {
            let message = "output_info_map has another entry for it, which is ignored";
            warnings.push(Warning { place: vec![place()], message: message.to_owned() });
        } else {
            infos.insert(index, info);
        }
    }
    let mut out = Vec::new();
    arrays(&result, &mut Vec::new(), &mut |index, shape| {
        let output = match infos.get(index) {
            Some(info) => output(info, shape, allocations),
            None => Err(Invalid::missing("output_info_map")),
        };
        out.push(output.at(|| format!("output {index:?}"))?);
        Ok(())
    })?;
    Ok(out)
}

fn output(
    info: &OutputInfoProto,
    shape: &ArrayShape,
    allocations: &[Allocation],
) -> Result<Output> {
    let (allocation, content) = allocation(info, allocations)?;
    if shape.bytes() > content.size {
        let bound = format!("at most the {} bytes of allocation {allocation}", content.size);
        return Err(Invalid::value(format!("size of {shape}"), shape.bytes(), bound));
    }
    Ok(Output { allocation, shape: shape.clone() })
}

fn allocation<'a>(
    info: &OutputInfoProto,
    allocations: &'a [Allocation],
) -> Result<(usize, &'a Allocation)> {
    let index = usize::try_from(info.allocation_index).ok();
    index.and_then(|at| Some((at, allocations.get(at)?))).ok_or_else(|| {
        Invalid::value("allocation_index", info.allocation_index, below(allocations.len()))
    })
}

/// What a result that lies in a parameter's memory says about it. Running does not depend on it, because
/// every run has memory of its own.
fn alias(info: &OutputInfoProto, allocations: &[Allocation]) -> Result<()> {
    let (at, content) = allocation(info, allocations)?;
    if info.passthrough && content.parameter.is_none() {
        let bound = format!("false, because allocation {at} is no parameter");
        return Err(Invalid::value("passthrough", true, bound));
    }
    let Some(config) = &info.alias_config else { return Ok(()) };
    if known::<Kind>("alias_config.kind", "xla.Kind", config.kind)? == Kind::UndefinedAlias {
        return Err(Invalid::value(
            "alias_config.kind",
            "UNDEFINED_ALIAS",
            "MAY_ALIAS or MUST_ALIAS",
        ));
    }
    let stated = usize::try_from(config.parameter_number).ok().and_then(|number| {
        let index = config.parameter_shape_index.iter().map(|i| usize::try_from(*i).ok());
        Some((number, index.collect::<Option<Vec<_>>>()?))
    });
    if stated.is_none() || stated != content.parameter {
        let value = format!("{} {:?}", config.parameter_number, config.parameter_shape_index);
        let bound = match &content.parameter {
            Some((number, index)) => format!("{number} {index:?}, which allocation {at} is for"),
            None => format!("none, because allocation {at} is no parameter"),
        };
        return Err(Invalid::value("alias_config: parameter and index", value, bound));
    }
    Ok(())
}

/// Visits the arrays of a shape with their index.
fn arrays(
    shape: &Shape,
    index: &mut Vec<i64>,
    visit: &mut dyn FnMut(&[i64], &ArrayShape) -> Result<()>,
) -> Result<()> {
    match shape {
        Shape::Array(array) => visit(index, array),
        Shape::Tuple(shapes) => {
            for (at, shape) in shapes.iter().enumerate() {
                index.push(at as i64);
                arrays(shape, index, visit)?;
                index.pop();
            }
            Ok(())
        }
        Shape::Token => Ok(()),
    }
}
