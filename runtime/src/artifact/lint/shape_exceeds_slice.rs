//! A slice is smaller than the array that is said to lie in it.
//!
//! ## What it flags
//!
//! A shaped slice whose shape takes more bytes than the slice has. Shapes with tiled layouts, and those
//! that are no arrays, are left out.
//!
//! ## Why it matters
//!
//! A kernel or copy that goes by the shape runs over the end of the slice into a neighbour's memory.
//!
//! ## What to do
//!
//! Make shape and slice from the same HLO value when the thunk is built.

use prost::Message as _;
use prost_reflect::MessageDescriptor;

use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::proto::xla::{PrimitiveType, ShapeProto, ShapedSliceProto};

pub(super) static RULE: RuleInfo = RuleInfo { id: "shape-exceeds-slice", level: Level::Error };

const SHAPED_SLICE: &str = "xla.ShapedSliceProto";

pub(super) struct Check;

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() != SHAPED_SLICE || at.allocations().is_none() {
            return;
        }
        let Ok(shaped) = ShapedSliceProto::decode(bytes.reader()) else { return };
        let (Some(slice), Some(shape)) = (shaped.slice, shaped.shape) else { return };
        let Some(needed) = bytes_of(&shape) else { return };
        if needed > i128::from(slice.size) {
            let size = slice.size;
            let message = format!("the shape takes {needed} bytes, the slice has {size}");
            at.report(&RULE, Draft::new(message));
        }
    }
}

/// Bytes of an array; `None` where the shape alone does not tell.
fn bytes_of(shape: &ShapeProto) -> Option<i128> {
    let layout = shape.layout.clone().unwrap_or_default();
    if !layout.tiles.is_empty() || layout.physical_shape.is_some() {
        return None;
    }
    let bits = match layout.element_size_in_bits {
        0 => bits(shape.element_type())?,
        stated => i128::from(stated),
    };
    let mut total = bits;
    for dimension in &shape.dimensions {
        if *dimension < 0 {
            return None;
        }
        total = total.checked_mul(i128::from(*dimension))?;
    }
    Some((total + 7) / 8)
}

/// Bits of an element in memory, unless the layout packs it.
fn bits(element: PrimitiveType) -> Option<i128> {
    use PrimitiveType as T;
    Some(match element {
        T::Invalid | T::Tuple | T::OpaqueType | T::Token | T::Buffer => return None,
        T::S16 | T::U16 | T::F16 | T::Bf16 => 16,
        T::S32 | T::U32 | T::F32 => 32,
        T::S64 | T::U64 | T::F64 | T::C64 => 64,
        T::C128 => 128,
        // One byte each, also where the type has fewer bits.
        _ => 8,
    })
}
