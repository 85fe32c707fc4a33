//! Shapes of arrays and tuples, checked.

use super::enumeration::known;
use super::invalid::{At as _, Invalid, Result};
use super::reads::Reads;
use crate::proto::xla::{LayoutProto, PrimitiveType, ShapeProto};

/// At most this many dimensions; XLA's own arrays stay far below.
const MAX_RANK: usize = 64;

/// At most this many levels of tuples.
const MAX_DEPTH: usize = 32;

const TYPES: &str = "xla.PrimitiveType";

/// The shape of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A dense array.
    Array(ArrayShape),
    /// Several values.
    Tuple(Vec<Shape>),
    /// An ordering token; no data.
    Token,
}

/// The shape and layout of a dense array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayShape {
    /// Type of the elements.
    pub ty: PrimitiveType,
    /// Sizes of the dimensions, outermost first.
    pub dims: Vec<usize>,
    /// Dimensions from the one whose elements lie next to each other outwards.
    pub minor_to_major: Vec<usize>,
    /// Bits that one element takes in memory.
    pub element_bits: usize,
}

impl Shape {
    /// Checks a shape. Dynamic dimensions, tiles and types without a memory format are not supported.
    pub(crate) fn new(proto: &ShapeProto) -> Result<Shape> {
        Shape::at_depth(proto, 0)
    }

    /// The same, of a shape that takes part in running the program.
    pub(crate) fn read(proto: &ShapeProto, reads: &mut Reads) -> Result<Shape> {
        let shape = Shape::new(proto)?;
        shape.record(reads);
        Ok(shape)
    }

    /// Notes what was read to get here.
    pub(crate) fn record(&self, reads: &mut Reads) {
        reads.fields("xla.ShapeProto", &["element_type"]);
        match self {
            Shape::Array(array) => array.record(reads),
            Shape::Tuple(shapes) => {
                reads.fields("xla.ShapeProto", &["tuple_shapes"]);
                reads.value(TYPES, PrimitiveType::Tuple.as_str_name());
                shapes.iter().for_each(|shape| shape.record(reads));
            }
            Shape::Token => reads.value(TYPES, PrimitiveType::Token.as_str_name()),
        }
    }

    fn at_depth(proto: &ShapeProto, depth: usize) -> Result<Shape> {
        match element_type(proto.element_type)? {
            PrimitiveType::Tuple if depth >= MAX_DEPTH => {
                Err(Invalid::value("nesting of tuple shapes", depth, format!("below {MAX_DEPTH}")))
            }
            PrimitiveType::Tuple => proto
                .tuple_shapes
                .iter()
                .map(|shape| Shape::at_depth(shape, depth + 1))
                .collect::<Result<_>>()
                .map(Shape::Tuple),
            PrimitiveType::Token => Ok(Shape::Token),
            _ => ArrayShape::new(proto).map(Shape::Array),
        }
    }

    /// The arrays inside, in depth-first order.
    pub fn leaves(&self) -> Vec<&ArrayShape> {
        match self {
            Shape::Array(array) => vec![array],
            Shape::Tuple(shapes) => shapes.iter().flat_map(Shape::leaves).collect(),
            Shape::Token => Vec::new(),
        }
    }

    /// The shape as an array.
    pub(crate) fn array(&self) -> Result<&ArrayShape> {
        match self {
            Shape::Array(array) => Ok(array),
            Shape::Tuple(_) => Err(Invalid::value("shape", "a tuple", "an array")),
            Shape::Token => Err(Invalid::value("shape", "a token", "an array")),
        }
    }
}

impl ArrayShape {
    /// A row-major shape.
    pub fn row_major(ty: PrimitiveType, dims: &[usize]) -> ArrayShape {
        ArrayShape {
            ty,
            dims: dims.to_vec(),
            minor_to_major: (0..dims.len()).rev().collect(),
            element_bits: default_bits(ty).unwrap_or(8),
        }
    }

    /// Checks the shape of an array.
    pub(crate) fn new(proto: &ShapeProto) -> Result<ArrayShape> {
        let ty = element_type(proto.element_type)?;
        let Some(bits) = default_bits(ty) else {
            return Err(Invalid::unsupported(format!("element type {}", ty.as_str_name())));
        };
        if proto.dimensions.len() > MAX_RANK {
            let rank = proto.dimensions.len();
            return Err(Invalid::value("dimensions", rank, format!("at most {MAX_RANK}")));
        }
        if proto.is_dynamic_dimension.contains(&true) {
            return Err(Invalid::unsupported("dynamic dimensions"));
        }
        let dims: Vec<usize> = proto
            .dimensions
            .iter()
            .map(|d| usize::try_from(*d).map_err(|_| Invalid::value("dimension", d, "0 or more")))
            .collect::<Result<_>>()?;
        let (mut minor_to_major, mut element_bits) = ((0..dims.len()).rev().collect(), bits);
        if let Some(layout) = &proto.layout {
            if !layout.tiles.is_empty() {
                return Err(Invalid::unsupported("tiled layouts"));
            }
            // Absent for arrays that have none yet, as in the bodies of fusions.
            if !layout.minor_to_major.is_empty() {
                minor_to_major = permutation(&layout.minor_to_major, dims.len())
                    .at(|| "minor_to_major".to_owned())?;
            }
            element_bits = bits_in_memory(ty, bits, layout.element_size_in_bits)?;
            padding(layout)?;
        }
        let shape = ArrayShape { ty, dims, minor_to_major, element_bits };
        shape.checked_bytes().ok_or_else(|| {
            Invalid::value("shape", shape.to_string(), "a size that fits into memory")
        })?;
        Ok(shape)
    }

    /// Notes what was read to get here.
    pub(crate) fn record(&self, reads: &mut Reads) {
        reads.fields(
            "xla.ShapeProto",
            &["element_type", "dimensions", "layout", "is_dynamic_dimension"],
        );
        reads.fields("xla.LayoutProto", &["minor_to_major", "tiles", "element_size_in_bits"]);
        reads.value(TYPES, self.ty.as_str_name());
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.dims.iter().product()
    }

    /// Bytes that the array takes in memory.
    pub fn bytes(&self) -> usize {
        (self.elements() * self.element_bits).div_ceil(8)
    }

    /// Bytes that the array takes while it is computed with, where narrow types are held in wider ones.
    pub(crate) fn held(&self) -> u64 {
        let element = match self.ty {
            PrimitiveType::Pred => 1,
            PrimitiveType::C128 => 16,
            _ => 8,
        };
        (self.elements() as u64).saturating_mul(element)
    }

    fn checked_bytes(&self) -> Option<usize> {
        let elements = self.dims.iter().try_fold(1_usize, |n, d| n.checked_mul(*d));
        // A zero does not make the other dimensions small.
        let extent = self.dims.iter().try_fold(1_usize, |n, d| n.checked_mul((*d).max(1)))?;
        let limit = isize::MAX as usize / 16;
        (extent < limit).then_some(elements?.checked_mul(self.element_bits)?.div_ceil(8))
    }
}

/// The type of a shape's elements.
pub(crate) fn element_type(number: i32) -> Result<PrimitiveType> {
    known("element_type", TYPES, number)
}

/// Bits of one element: those of its type, or fewer where the type has fewer and the layout packs them.
fn bits_in_memory(ty: PrimitiveType, bits: usize, stated: i64) -> Result<usize> {
    let width = crate::array::width(ty) as usize;
    match usize::try_from(stated) {
        Ok(0) => Ok(bits),
        Ok(n) if n == bits => Ok(bits),
        Ok(n @ (1 | 2 | 4)) if n == width && ty != PrimitiveType::Pred => Ok(n),
        _ => {
            let bound = format!("0, {bits} or what {} takes packed", ty.as_str_name());
            Err(Invalid::value("element_size_in_bits", stated, bound))
        }
    }
}

/// Layouts whose arrays take more memory than their elements do.
fn padding(layout: &LayoutProto) -> Result<()> {
    let (prefix, tail) =
        (layout.dynamic_shape_metadata_prefix_bytes, layout.tail_padding_alignment_in_elements);
    if prefix != 0 || !matches!(tail, 0 | 1) {
        return Err(Invalid::unsupported("layouts with metadata or padding"));
    }
    if layout.dim_level_types.iter().any(|level| *level != 0) || layout.physical_shape.is_some() {
        return Err(Invalid::unsupported("sparse layouts"));
    }
    Ok(())
}

impl std::fmt::Display for ArrayShape {
    /// As in HLO text, e.g. `f32[8,4]{1,0}`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list =
            |items: &[usize]| items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        write!(
            f,
            "{}[{}]{{{}}}",
            self.ty.as_str_name().to_ascii_lowercase(),
            list(&self.dims),
            list(&self.minor_to_major)
        )
    }
}

/// Checks a permutation of `0..rank`.
pub(crate) fn permutation(values: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut seen = vec![false; rank];
    let mut out = Vec::with_capacity(values.len());
    for value in values {
        match usize::try_from(*value).ok().filter(|at| seen.get(*at) == Some(&false)) {
            Some(at) => {
                seen[at] = true;
                out.push(at);
            }
            None => {
                let bound = format!("each of 0..{rank} once");
                return Err(Invalid::value("permutation", format!("{values:?}"), bound));
            }
        }
    }
    if out.len() != rank {
        return Err(Invalid::value(
            "permutation",
            format!("{values:?}"),
            format!("{rank} entries"),
        ));
    }
    Ok(out)
}

/// Bits of an element in memory where the layout does not say otherwise: types below a byte take one.
/// `None` for what is no array element.
pub(crate) fn default_bits(ty: PrimitiveType) -> Option<usize> {
    use PrimitiveType as P;
    Some(match ty {
        P::Pred | P::S8 | P::U8 | P::S4 | P::U4 | P::S2 | P::U2 | P::S1 | P::U1 => 8,
        P::F8e5m2 | P::F8e4m3fn | P::F8e4m3b11fnuz | P::F8e5m2fnuz | P::F8e4m3fnuz => 8,
        P::F8e4m3 | P::F8e3m4 | P::F8e8m0fnu | P::F4e2m1fn | P::F6e3m2fn | P::F6e2m3fn => 8,
        P::S16 | P::U16 | P::F16 | P::Bf16 => 16,
        P::S32 | P::U32 | P::F32 => 32,
        P::S64 | P::U64 | P::F64 | P::C64 => 64,
        P::C128 => 128,
        P::Invalid | P::Tuple | P::OpaqueType | P::Token | P::Buffer => return None,
    })
}
