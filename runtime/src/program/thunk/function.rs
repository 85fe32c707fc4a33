//! Registered functions that are known by name.

use super::Reader;
use super::library::CustomCall;
use super::linear::Linear;
use crate::program::{Invalid, Result, ShapedSlice};
use crate::proto::xla::ffi::attribute_proto::Value as Attribute;
use crate::proto::xla::ffi::scalar_proto::Value as Scalar;
use crate::proto::xla::gpu::CustomCallThunkProto;

/// What a custom call calls.
#[derive(Debug)]
pub enum Function {
    /// CUB's radix sort.
    Sort(Sort),
    /// Linear algebra.
    Linear(Box<Linear>),
    /// Something else.
    Unknown,
}

/// Sorts keys, and values along with them: operands are the keys and the values, if any, results the same
/// and scratch.
#[derive(Debug)]
pub struct Sort {
    /// Largest first.
    pub descending: bool,
    /// Parts that are sorted each for itself.
    pub batches: usize,
}

impl Reader<'_> {
    /// Checks a call of a function that is known.
    pub(super) fn function(
        &mut self,
        p: &CustomCallThunkProto,
        call: &mut CustomCall,
    ) -> Result<()> {
        let arrays = match call.target.as_str() {
            "xla.gpu.ext.cub_sort_keys" => 1,
            "xla.gpu.ext.cub_sort_pairs" => 2,
            _ => {
                if let Some(linear) = self.linear(p, call)? {
                    call.function = Function::Linear(Box::new(linear));
                }
                return Ok(());
            }
        };
        self.reads.fields("xla.gpu.CustomCallThunkProto", &["attributes"]);
        self.reads.fields("xla.ffi.AttributesMapProto", &["attrs"]);
        self.reads.fields("xla.ffi.AttributeProto", &["scalar"]);
        self.reads.fields("xla.ffi.ScalarProto", &["b", "i64"]);
        let descending = boolean(p, "descending")?;
        let batches = match attribute(p, "batch_size")? {
            Scalar::I64(batches) => *batches,
            other => {
                return Err(Invalid::value(
                    "attributes.batch_size",
                    format!("{other:?}"),
                    "an i64",
                ));
            }
        };
        let count = |what: &str, have: usize, want: usize| match have == want {
            true => Ok(()),
            false => Err(Invalid::value(what, have, want.to_string())),
        };
        count("operands", call.operands.len(), arrays)?;
        count("results", call.results.len(), arrays + 1)?;
        let keys = present(&call.operands, 0, "operands")?.shape.clone();
        for at in 0..arrays {
            let (from, to) =
                (present(&call.operands, at, "operands")?, present(&call.results, at, "results")?);
            if from.shape.dims != keys.dims {
                return Err(Invalid::value(
                    format!("operands[{at}].shape"),
                    &from.shape,
                    keys.to_string(),
                ));
            }
            if to.shape != from.shape {
                return Err(Invalid::value(
                    format!("results[{at}].shape"),
                    &to.shape,
                    from.shape.to_string(),
                ));
            }
        }
        // XLA sorts all as one where there are no several batches.
        let batches = usize::try_from(batches.max(1)).unwrap_or(usize::MAX);
        if keys.elements() % batches != 0 {
            let bound = format!("a divisor of {} elements", keys.elements());
            return Err(Invalid::value("attributes.batch_size", batches, bound));
        }
        call.function = Function::Sort(Sort { descending, batches });
        Ok(())
    }
}

pub(super) fn boolean(p: &CustomCallThunkProto, name: &str) -> Result<bool> {
    match attribute(p, name)? {
        Scalar::B(value) => Ok(*value),
        other => {
            let value = format!("{other:?}");
            Err(Invalid::value(format!("attributes.{name}"), value, "a bool"))
        }
    }
}

pub(super) fn attribute<'p>(p: &'p CustomCallThunkProto, name: &str) -> Result<&'p Scalar> {
    let found = p.attributes.as_ref().and_then(|attributes| attributes.attrs.get(name));
    match found.and_then(|attribute| attribute.value.as_ref()) {
        Some(Attribute::Scalar(scalar)) => scalar.value.as_ref(),
        _ => None,
    }
    .ok_or_else(|| Invalid::missing(&format!("attributes.{name}")))
}

pub(super) fn present<'s>(
    slices: &'s [Option<ShapedSlice>],
    at: usize,
    what: &str,
) -> Result<&'s ShapedSlice> {
    slices
        .get(at)
        .and_then(Option::as_ref)
        .ok_or_else(|| Invalid::missing(&format!("{what}[{at}]")))
}
