//! Matrix products in full generality: any number of batch and contracting dimensions.

use num_complex::{Complex32, Complex64};

use super::moving::transposed;
use super::{Family, Op, Value};
use crate::array::{Array, Data, Domain, domain, round, wrap_int, wrap_uint};
use crate::program::{Invalid, Result};
use crate::proto::xla::{HloInstructionProto, PrimitiveType};

pub(super) const FAMILY: Family =
    Family { opcodes: &["dot"], evaluate: |op| dot(op).map(Value::from), passes: false };

fn dot(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(2)?;
    let (lhs, rhs) = (op.array(0)?, op.array(1)?);
    let numbers = op.instruction.proto.dot_dimension_numbers.as_ref();
    let numbers = numbers.ok_or_else(|| Invalid::missing("dot_dimension_numbers"))?;
    let side = |x: &Array, which: &str, batch: &[i64], contracting: &[i64]| {
        let rank = x.dims.len();
        let batch = op.dims(&format!("{which}_batch_dimensions"), batch, rank)?;
        let contracting = op.dims(&format!("{which}_contracting_dimensions"), contracting, rank)?;
        let free: Vec<usize> =
            (0..rank).filter(|d| !batch.contains(d) && !contracting.contains(d)).collect();
        if batch.len() + contracting.len() + free.len() != rank {
            return Err(Invalid::value(
                format!("{which}_batch_dimensions"),
                format!("{batch:?}"),
                "none that are contracted",
            ));
        }
        let order: Vec<usize> = [&batch[..], &free, &contracting].concat();
        let sizes = |dims: &[usize]| dims.iter().map(|d| x.dims[*d]).collect();
        Ok(Side {
            batch: sizes(&batch),
            free: sizes(&free),
            contracted: sizes(&contracting),
            data: transposed(x, &order)?,
        })
    };
    let l = side(lhs, "lhs", &numbers.lhs_batch_dimensions, &numbers.lhs_contracting_dimensions)?;
    let r = side(rhs, "rhs", &numbers.rhs_batch_dimensions, &numbers.rhs_contracting_dimensions)?;
    if l.batch != r.batch || l.contracted != r.contracted {
        let sizes = |side: &Side| format!("{:?} and {:?}", side.batch, side.contracted);
        return Err(Invalid::value("batch and contracting sizes of rhs", sizes(&r), sizes(&l)));
    }
    let shape = op.results(1, &[&l.batch[..], &l.free, &r.free].concat())?[0];
    let k = l.contracted.iter().product::<usize>() as u64;
    op.evaluator.steps((shape.elements() as u64).saturating_mul(k))?;
    let coarse = rounds_operands(&op.instruction.proto);
    let data = product(&l, &r, shape.ty, coarse)?;
    Ok(Array { ty: shape.ty, dims: shape.dims.clone(), data })
}

/// An operand as batches of rows, each with the contracted elements next to each other.
struct Side {
    /// Sizes of the batch dimensions.
    batch: Vec<usize>,
    free: Vec<usize>,
    contracted: Vec<usize>,
    data: Array,
}

/// Whether a GPU may take the operands of an `f32` product as TF32: that is what XLA allows where no
/// precision is asked for.
pub(super) fn rounds_operands(proto: &HloInstructionProto) -> bool {
    use crate::proto::xla::precision_config::{Algorithm, Precision};
    let Some(config) = &proto.precision_config else { return true };
    match config.algorithm() {
        Algorithm::AlgUnset => config.operand_precision().all(|p| p == Precision::Default),
        algorithm => algorithm == Algorithm::AlgDotTf32Tf32F32,
    }
}

/// A float with TF32's ten bits of mantissa: to nearest, ties away from zero, as the GPU converts.
pub(crate) fn tf32(x: f32) -> f32 {
    if x.is_finite() { f32::from_bits(x.to_bits().wrapping_add(0x1000) & !0x1fff) } else { x }
}

/// Accumulates as the GPU does: `f32` for all floats up to that, `f64` and integers in themselves.
fn product(l: &Side, r: &Side, ty: PrimitiveType, coarse: bool) -> Result<Data> {
    use crate::array::each;
    /// Rows of the right side that are gone through together, so that they stay in the cache.
    const TILE: usize = 1 << 16;
    fn rows<T: Copy, A: Copy + Default>(
        (l, r): (&[T], &[T]),
        (b, m, n, k): (usize, usize, usize, usize),
        dot: impl Fn(&[T], &[T]) -> A,
    ) -> Vec<A> {
        let mut out = vec![A::default(); b * m * n];
        let tile = (TILE / (k * size_of::<T>()).max(1)).max(1);
        // Of an empty result, the sizes that are not zero may be any.
        let batches = if out.is_empty() { 0 } else { b };
        for batch in 0..batches {
            for start in (0..n).step_by(tile) {
                for i in 0..m {
                    let row = &l[(batch * m + i) * k..][..k];
                    for j in start..n.min(start + tile) {
                        out[(batch * m + i) * n + j] = dot(row, &r[(batch * n + j) * k..][..k]);
                    }
                }
            }
        }
        out
    }
    let count = |sizes: &[usize]| sizes.iter().product::<usize>();
    let sizes = (count(&l.batch), count(&l.free), count(&r.free), count(&l.contracted));
    let (lhs, rhs) = (&l.data.data, &r.data.data);
    // Operands of mixed types are widened to the result's domain.
    let out = match domain(ty)? {
        Domain::F32 => {
            let (mut a, mut b) = (floats(lhs), floats(rhs));
            if coarse && l.data.ty == PrimitiveType::F32 && r.data.ty == PrimitiveType::F32 {
                a.iter_mut().chain(&mut b).for_each(|x| *x = tf32(*x));
            }
            let sum = |a: &[f32], b: &[f32]| round(ty, dot_f32(a, b));
            Data::F32(rows((&a, &b), sizes, sum))
        }
        Domain::F64 => {
            let (a, b) = (doubles(lhs), doubles(rhs));
            Data::F64(rows((&a, &b), sizes, |a, b| a.iter().zip(b).map(|(a, b)| a * b).sum()))
        }
        Domain::C64 => {
            let (a, b) = (complex(lhs), complex(rhs));
            let sum = |a: &[Complex64], b: &[Complex64]| {
                let sum: Complex64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                Complex32::new(sum.re as f32, sum.im as f32)
            };
            Data::C64(rows((&a, &b), sizes, sum))
        }
        Domain::C128 => {
            let (a, b) = (complex(lhs), complex(rhs));
            Data::C128(rows((&a, &b), sizes, |a, b| a.iter().zip(b).map(|(a, b)| a * b).sum()))
        }
        Domain::Int | Domain::Uint => {
            let integers = |data: &Data| -> Vec<i64> {
                match data {
                    Data::Int(v) => v.clone(),
                    Data::Uint(v) => v.iter().map(|x| *x as i64).collect(),
                    Data::Pred(v) => v.iter().map(|x| i64::from(*x)).collect(),
                    other => each!(other, v => vec![0; v.len()]),
                }
            };
            let (a, b) = (integers(lhs), integers(rhs));
            let sum = |a: &[i64], b: &[i64]| {
                a.iter().zip(b).fold(0_i64, |s, (a, b)| s.wrapping_add(a.wrapping_mul(*b)))
            };
            let sums = rows((&a, &b), sizes, sum);
            if domain(ty)? == Domain::Int {
                Data::Int(sums.into_iter().map(|x| wrap_int(ty, x)).collect())
            } else {
                Data::Uint(sums.into_iter().map(|x| wrap_uint(ty, x as u64)).collect())
            }
        }
        Domain::Pred => match (lhs, rhs) {
            (Data::Pred(a), Data::Pred(b)) => {
                Data::Pred(rows((a, b), sizes, |a, b| a.iter().zip(b).any(|(a, b)| *a && *b)))
            }
            _ => return Err(Invalid::value("operands", "of different types", "pred")),
        },
    };
    Ok(out)
}

/// In eight lanes, as a GPU sums in several; also lets the compiler use vectors.
pub(crate) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let (chunks_a, rest_a) = a.as_chunks::<8>();
    let (chunks_b, rest_b) = b.as_chunks::<8>();
    for (a, b) in chunks_a.iter().zip(chunks_b) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    let halves =
        [lanes[0] + lanes[4], lanes[1] + lanes[5], lanes[2] + lanes[6], lanes[3] + lanes[7]];
    (halves[0] + halves[2]) + (halves[1] + halves[3]) + rest
}

fn floats(data: &Data) -> Vec<f32> {
    match data {
        Data::F32(v) => v.clone(),
        other => doubles(other).into_iter().map(|x| x as f32).collect(),
    }
}

/// Real parts.
pub(crate) fn doubles(data: &Data) -> Vec<f64> {
    match data {
        Data::F32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        Data::F64(v) => v.clone(),
        other => complex(other).into_iter().map(|x| x.re).collect(),
    }
}

fn complex(data: &Data) -> Vec<Complex64> {
    match data {
        Data::Pred(v) => v.iter().map(|x| Complex64::from(f64::from(u8::from(*x)))).collect(),
        Data::Int(v) => v.iter().map(|x| Complex64::from(*x as f64)).collect(),
        Data::Uint(v) => v.iter().map(|x| Complex64::from(*x as f64)).collect(),
        Data::F32(v) => v.iter().map(|x| Complex64::from(f64::from(*x))).collect(),
        Data::F64(v) => v.iter().map(|x| Complex64::from(*x)).collect(),
        Data::C64(v) => v.iter().map(|x| Complex64::new(x.re.into(), x.im.into())).collect(),
        Data::C128(v) => v.clone(),
    }
}
