//! Convolutions in full generality, and their gradients.

use super::dot::{doubles, rounds_operands, tf32};
use super::window::{points, sizes, under, windowed};
use super::{Family, Op};
use crate::array::{
    Array, Data, Domain, Odometer, domain, round_f64, strides, wrap_int, wrap_uint,
};
use crate::program::shape::{ArrayShape, permutation};
use crate::program::{Invalid, Result};
use crate::proto::xla::{ConvolutionDimensionNumbers, PrimitiveType, WindowDimension};

pub(super) const FAMILY: Family =
    Family { opcodes: &["convolution"], evaluate: |op| Ok(convolution(op)?.into()), passes: false };

fn convolution(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(2)?;
    let (x, kernel, shape) = (op.array(0)?, op.array(1)?, op.shape()?);
    let proto = &op.instruction.proto;
    let numbers = proto.convolution_dimension_numbers.as_ref();
    let numbers = numbers.ok_or_else(|| Invalid::missing("convolution_dimension_numbers"))?;
    let window = proto.window.as_ref().map_or(&[][..], |window| &window.dimensions);
    let groups = [proto.feature_group_count, proto.batch_group_count];
    let convolved = Convolved::new(window, numbers, groups, [&x.dims, &kernel.dims, &shape.dims])?;
    op.evaluator.steps(convolved.work())?;
    let sums = convolved.sums(Which::Output, x, kernel, rounds_operands(proto))?;
    narrowed(&sums, shape)
}

/// Which of the three arrays of a convolution is computed from the other two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// From kernel and output, in this order reversed: operands are output, kernel.
    Input,
    /// Operands are input, output.
    Kernel,
    /// Operands are input, kernel.
    Output,
}

/// A convolution whose sizes fit together.
pub(crate) struct Convolved<'w> {
    window: &'w [WindowDimension],
    input: Side,
    /// `rows` are its output features, `features` its input features.
    kernel: Side,
    output: Side,
    groups: usize,
    batch_groups: usize,
}

/// An array by the roles of its dimensions.
struct Side {
    /// The batch.
    rows: Axis,
    features: Axis,
    spatial: Vec<usize>,
    spatial_strides: Vec<usize>,
    elements: usize,
}

/// A dimension: its size, and the distance between neighbours in a row-major array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) count: usize,
    pub(crate) stride: usize,
}

impl Side {
    fn new(what: &str, dims: &[usize], rows: i64, features: i64, spatial: &[i64]) -> Result<Side> {
        let roles = [&[rows, features], spatial].concat();
        let roles = permutation(&roles, dims.len()).map_err(|_| {
            Invalid::value(
                format!("{what} dimensions"),
                format!("{roles:?}"),
                format!("each of 0..{} once", dims.len()),
            )
        })?;
        let own = strides(dims);
        let axis = |d: usize| Axis { count: dims[d], stride: own[d] };
        let pick = |of: &[usize]| roles[2..].iter().map(|d| of[*d]).collect();
        Ok(Side {
            rows: axis(roles[0]),
            features: axis(roles[1]),
            spatial: pick(dims),
            spatial_strides: pick(&own),
            elements: dims.iter().product(),
        })
    }

    fn offset(&self, index: &[usize]) -> usize {
        index.iter().zip(&self.spatial_strides).map(|(i, s)| i * s).sum()
    }
}

impl<'w> Convolved<'w> {
    /// Checks that dimensions of input, kernel and output fit `numbers`, the window and the groups of
    /// features and of the batch; 0 groups are one.
    pub(crate) fn new(
        window: &'w [WindowDimension],
        numbers: &ConvolutionDimensionNumbers,
        groups: [i64; 2],
        [input, kernel, output]: [&[usize]; 3],
    ) -> Result<Self> {
        let n = numbers;
        let input = Side::new(
            "input",
            input,
            n.input_batch_dimension,
            n.input_feature_dimension,
            &n.input_spatial_dimensions,
        )?;
        let (o, i) = (n.kernel_output_feature_dimension, n.kernel_input_feature_dimension);
        let kernel = Side::new("kernel", kernel, o, i, &n.kernel_spatial_dimensions)?;
        let (b, f) = (n.output_batch_dimension, n.output_feature_dimension);
        let output = Side::new("output", output, b, f, &n.output_spatial_dimensions)?;
        let count = |what: &str, n: i64| {
            usize::try_from(n.max(1))
                .ok()
                .filter(|_| n >= 0)
                .ok_or_else(|| Invalid::value(what, n, "0 or more"))
        };
        let (groups, batch_groups) =
            (count("feature_group_count", groups[0])?, count("batch_group_count", groups[1])?);
        let fits = |what: &str, have: Option<usize>, want: usize| match have == Some(want) {
            true => Ok(()),
            false => {
                let have = have.map_or("too large".to_owned(), |have| have.to_string());
                Err(Invalid::value(what, have, want.to_string()))
            }
        };
        let divided = |what: &str, features: usize, by: usize| match features % by {
            0 => Ok(()),
            _ => Err(Invalid::value(what, features, format!("a multiple of {by} groups"))),
        };
        fits(
            "input features of the kernel times groups",
            kernel.features.count.checked_mul(groups),
            input.features.count,
        )?;
        fits("output features of the kernel", Some(kernel.rows.count), output.features.count)?;
        fits(
            "batch of the output times groups",
            output.rows.count.checked_mul(batch_groups),
            input.rows.count,
        )?;
        divided("output features", output.features.count, groups)?;
        divided("output features", output.features.count, batch_groups)?;
        let places = windowed(window, &input.spatial)?;
        if sizes(window) != kernel.spatial {
            return Err(Invalid::value(
                "window sizes",
                format!("{:?}", sizes(window)),
                format!("{:?}", kernel.spatial),
            ));
        }
        if places != output.spatial {
            return Err(Invalid::value(
                "spatial sizes of the output",
                format!("{:?}", output.spatial),
                format!("{places:?}"),
            ));
        }
        Ok(Convolved { window, input, kernel, output, groups, batch_groups })
    }

    /// Products that are added, those with padding included.
    pub(crate) fn work(&self) -> u64 {
        let (output, kernel) = (&self.output, &self.kernel);
        let counts = [output.rows.count, output.features.count, kernel.features.count];
        let inner = points(&counts).saturating_mul(points(&kernel.spatial));
        inner.saturating_mul(points(&output.spatial))
    }

    pub(crate) fn output_features(&self) -> Axis {
        self.output.features
    }

    /// The sums, in the order of the array that is computed.
    pub(crate) fn sums(
        &self,
        which: Which,
        a: &Array,
        b: &Array,
        coarse: bool,
    ) -> Result<Vec<f64>> {
        let complex = |x: &Array| matches!(x.data, Data::C64(_) | Data::C128(_));
        if complex(a) || complex(b) {
            return Err(Invalid::unsupported("convolution of complex numbers"));
        }
        let coarse = coarse && a.ty == PrimitiveType::F32 && b.ty == PrimitiveType::F32;
        let read = |x: &Array| match &x.data {
            Data::F32(v) if coarse => v.iter().map(|x| f64::from(tf32(*x))).collect(),
            data => doubles(data),
        };
        let (a, b) = (read(a), read(b));
        let elements = match which {
            Which::Input => self.input.elements,
            Which::Kernel => self.kernel.elements,
            Which::Output => self.output.elements,
        };
        let mut sums = vec![0.0; elements];
        self.each(|input, kernel, output| match which {
            Which::Input => sums[input] += a[output] * b[kernel],
            Which::Kernel => sums[kernel] += a[input] * b[output],
            Which::Output => sums[output] += a[input] * b[kernel],
        });
        Ok(sums)
    }

    /// Calls with the places, in their arrays, of each input, weight and output that belong together.
    fn each(&self, mut call: impl FnMut(usize, usize, usize)) {
        if self.work() == 0 {
            return;
        }
        let (x, w, y) = (&self.input, &self.kernel, &self.output);
        let features = w.features.count;
        let per_group = w.rows.count / self.groups;
        let per_batch_group = w.rows.count / self.batch_groups;
        let mut place = Odometer::new(&y.spatial);
        while place.valid() {
            let to = y.offset(&place.index);
            let mut point = Odometer::new(&w.spatial);
            while point.valid() {
                if let Some(index) = under(self.window, &x.spatial, &place.index, &point.index) {
                    let from = x.offset(&index);
                    let flipped =
                        self.window.iter().zip(&point.index).map(|(d, i)| {
                            if d.window_reversal { d.size as usize - 1 - i } else { *i }
                        });
                    let weight = w.offset(&flipped.collect::<Vec<_>>());
                    for o in 0..w.rows.count {
                        let first = o / per_group * features;
                        let batch = o / per_batch_group * y.rows.count;
                        for row in 0..y.rows.count {
                            let from = from + (batch + row) * x.rows.stride;
                            let to = to + row * y.rows.stride + o * y.features.stride;
                            for i in 0..features {
                                let from = from + (first + i) * x.features.stride;
                                call(from, weight + o * w.rows.stride + i * w.features.stride, to);
                            }
                        }
                    }
                }
                point.advance();
            }
            place.advance();
        }
    }
}

/// Sums as an array, each rounded to its type once.
pub(crate) fn narrowed(sums: &[f64], shape: &ArrayShape) -> Result<Array> {
    let ty = shape.ty;
    let data = match domain(ty)? {
        Domain::F32 => Data::F32(sums.iter().map(|x| round_f64(ty, *x)).collect()),
        Domain::F64 => Data::F64(sums.to_vec()),
        Domain::Int => Data::Int(sums.iter().map(|x| wrap_int(ty, *x as i64)).collect()),
        Domain::Uint => Data::Uint(sums.iter().map(|x| wrap_uint(ty, *x as i64 as u64)).collect()),
        _ => return Err(Invalid::unsupported(format!("convolution to {}", ty.as_str_name()))),
    };
    Ok(Array { ty, dims: shape.dims.clone(), data })
}
