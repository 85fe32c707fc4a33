//! Matrix products as cuBLAS computes them.

use num_complex::Complex64;

use super::hlo::tf32;
use super::{Place, Reference, Resolve};
use crate::array::{Array, Data, decode, encode};
use crate::program::shape::ArrayShape;
use crate::program::thunk::{Matmul, MatrixLayout};
use crate::program::{Invalid, Result};
use crate::proto::xla::BlasLtEpilogueProto as Epilogue;
use crate::proto::xla::PrimitiveType;

/// All elements of an operand's slice, as wide as the computation.
enum Elements {
    F32(Vec<f32>),
    Wide(Vec<Complex64>),
}

pub(super) fn run(device: &mut Reference<'_>, matmul: &Matmul, resolve: Resolve<'_>) -> Result<()> {
    let (d_slice, d) = &matmul.d;
    let ((m, n), (_, k)) = (d.size(), matmul.a.1.size());
    if m == 0 || n == 0 {
        return Ok(()); // the other sizes may be any
    }
    let work = [m, n, k.max(1), d.batch]
        .into_iter()
        .fold(1_u64, |work, size| work.saturating_mul(size as u64));
    device.budget.steps(work)?;
    let wide = matches!(d.ty, PrimitiveType::F64 | PrimitiveType::C64 | PrimitiveType::C128);
    let mut a = Operand::load(device, resolve(&matmul.a.0), &matmul.a.1, wide)?;
    let mut b = Operand::load(device, resolve(&matmul.b.0), &matmul.b.1, wide)?;
    if matmul.coarse {
        a.round();
        b.round();
    }
    let c = match matmul.beta {
        0.0 => None,
        _ => Some(Operand::load(device, resolve(&matmul.c.0), &matmul.c.1, true)?),
    };
    let vector = |slice: &Option<crate::program::ShapedSlice>| -> Result<Option<Vec<Complex64>>> {
        slice
            .as_ref()
            .map(|s| Ok(wide_elements(&device.load(resolve(&s.slice), &s.shape)?.data)))
            .transpose()
    };
    let bias = vector(&matmul.bias)?;
    let scale =
        |s: Option<Vec<Complex64>>| s.and_then(|v| v.first().copied()).unwrap_or(Complex64::ONE);
    let [a_scale, b_scale] = &matmul.scales;
    let alpha = Complex64::new(matmul.alpha.0, matmul.alpha.1)
        * scale(vector(a_scale)?)
        * scale(vector(b_scale)?);
    let activation = activation(matmul.epilogue)?;

    // The output goes through its own layout; what lies between rows stays as it was.
    let place = resolve(d_slice);
    let shape = flat(d, place);
    let mut out = device.load_before(place, &shape)?;
    let mut aux = match &matmul.aux {
        Some(aux) => Some((aux, device.load_before(resolve(&aux.slice), &aux.shape)?)),
        None => None,
    };
    for batch in 0..d.batch {
        for row in 0..m {
            for column in 0..n {
                let mut value = alpha * Operand::dot(&a, &b, batch, row, column, k);
                if let Some(c) = &c {
                    value += matmul.beta * c.element(batch, row, column);
                }
                if let Some(bias) = &bias {
                    // Along the dimension whose elements lie together.
                    let at = if d.row_major { column } else { row };
                    let bound = format!("above {at}");
                    value +=
                        bias.get(at).ok_or_else(|| Invalid::value("bias", bias.len(), bound))?;
                }
                let at = d.offset(batch, row, column);
                if let Some((_, aux)) = &mut aux {
                    put(aux, at, value)?;
                }
                put(&mut out, at, activation(value))?;
            }
        }
    }
    encode(&out, &shape, device.bytes_mut(place))?;
    if let Some((slice, aux)) = aux {
        device.store(resolve(&slice.slice), &slice.shape, &aux)?;
    }
    Ok(())
}

/// Everything in a slice, as one dimension.
fn flat(layout: &MatrixLayout, place: Place) -> ArrayShape {
    let mut shape = ArrayShape::row_major(layout.ty, &[0]);
    shape.dims[0] = place.size * 8 / shape.element_bits;
    shape
}

struct Operand<'l> {
    layout: &'l MatrixLayout,
    elements: Elements,
}

impl<'l> Operand<'l> {
    fn load(
        device: &Reference<'_>,
        place: Place,
        layout: &'l MatrixLayout,
        wide: bool,
    ) -> Result<Self> {
        let shape = flat(layout, place);
        device.counted(&shape)?;
        device.budget.room((shape.elements() as u64).saturating_mul(16))?;
        let array = decode(device.bytes(place)?, &shape)?;
        let elements = match array.data {
            Data::F32(v) if !wide => Elements::F32(v),
            data => Elements::Wide(wide_elements(&data)),
        };
        Ok(Operand { layout, elements })
    }

    /// Rounds `f32` and the parts of `c64` to TF32.
    fn round(&mut self) {
        let part = |x: f64| f64::from(tf32(x as f32));
        match (&mut self.elements, self.layout.ty) {
            (Elements::F32(v), PrimitiveType::F32) => v.iter_mut().for_each(|x| *x = tf32(*x)),
            (Elements::Wide(v), PrimitiveType::C64) => {
                v.iter_mut().for_each(|x| *x = Complex64::new(part(x.re), part(x.im)));
            }
            _ => {}
        }
    }

    fn element(&self, batch: usize, row: usize, column: usize) -> Complex64 {
        let at = self.layout.offset(batch, row, column);
        let value = match &self.elements {
            Elements::F32(v) => Complex64::from(f64::from(v[at])),
            Elements::Wide(v) => v[at],
        };
        if self.layout.conjugate { value.conj() } else { value }
    }

    /// Row times column; `f32` accumulates in `f32`, as the GPU does.
    fn dot(a: &Self, b: &Self, batch: usize, row: usize, column: usize, k: usize) -> Complex64 {
        if let (Elements::F32(x), Elements::F32(y)) = (&a.elements, &b.elements) {
            let mut lanes = [0.0_f32; 8];
            for i in 0..k {
                let (p, q) = (a.layout.offset(batch, row, i), b.layout.offset(batch, i, column));
                lanes[i % 8] += x[p] * y[q];
            }
            return Complex64::from(f64::from(lanes.iter().sum::<f32>()));
        }
        (0..k).map(|i| a.element(batch, row, i) * b.element(batch, i, column)).sum()
    }
}

fn wide_elements(data: &Data) -> Vec<Complex64> {
    match data {
        Data::Pred(v) => v.iter().map(|x| f64::from(u8::from(*x)).into()).collect(),
        Data::Int(v) => v.iter().map(|x| (*x as f64).into()).collect(),
        Data::Uint(v) => v.iter().map(|x| (*x as f64).into()).collect(),
        Data::F32(v) => v.iter().map(|x| f64::from(*x).into()).collect(),
        Data::F64(v) => v.iter().map(|x| (*x).into()).collect(),
        Data::C64(v) => v.iter().map(|x| Complex64::new(x.re.into(), x.im.into())).collect(),
        Data::C128(v) => v.clone(),
    }
}

fn put(out: &mut Array, at: usize, value: Complex64) -> Result<()> {
    use super::hlo::Scalar;
    let scalar = match &out.data {
        Data::F32(_) => Scalar::F32(crate::array::round(out.ty, value.re as f32)),
        Data::F64(_) => Scalar::F64(value.re),
        Data::C64(_) => Scalar::C64(num_complex::Complex32::new(value.re as f32, value.im as f32)),
        Data::C128(_) => Scalar::C128(value),
        Data::Int(_) => Scalar::Int(crate::array::wrap_int(out.ty, value.re as i64)),
        Data::Uint(_) => Scalar::Uint(crate::array::wrap_uint(out.ty, value.re as u64)),
        Data::Pred(_) => return Err(Invalid::unsupported("matrix products of pred")),
    };
    out.set(at, scalar)
}

fn activation(epilogue: Epilogue) -> Result<fn(Complex64) -> Complex64> {
    Ok(match epilogue {
        Epilogue::EpilogueDefault | Epilogue::EpilogueBias => |x| x,
        Epilogue::EpilogueRelu | Epilogue::EpilogueBiasThenRelu => |x| x.re.max(0.0).into(),
        Epilogue::EpilogueGelu
        | Epilogue::EpilogueGeluWithAux
        | Epilogue::EpilogueBiasThenGelu
        | Epilogue::EpilogueBiasThenGeluWithAux => |x| gelu(x.re).into(),
        Epilogue::EpilogueSilu
        | Epilogue::EpilogueSiluWithAux
        | Epilogue::EpilogueBiasThenSilu
        | Epilogue::EpilogueBiasThenSiluWithAux => |x| (x.re / (1.0 + (-x.re).exp())).into(),
    })
}

/// The tanh approximation that cuBLASLt uses.
fn gelu(x: f64) -> f64 {
    let inner = std::f64::consts::FRAC_2_PI.sqrt() * (x + 0.044_715 * x * x * x);
    0.5 * x * (1.0 + inner.tanh())
}
