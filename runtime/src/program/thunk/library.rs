//! Calls of libraries and registered functions.

use super::function::Function;
use super::{Reader, Thunk};
use crate::program::buffers::{shape_fits, size};
use crate::program::shape::ArrayShape;
use crate::program::{At as _, Invalid, Result, ShapedSlice, Slice, known};
use crate::proto::xla::ffi::ExecutionStateProto;
use crate::proto::xla::gpu::{CustomCallThunkProto, FftThunkProto, TriangularSolveThunkProto};
use crate::proto::xla::triangular_solve_options::Transpose;
use crate::proto::xla::{FftType, NullableShapedSliceProto, PrimitiveType};

/// A Fourier transform.
#[derive(Debug)]
pub struct Fft {
    /// Which.
    pub kind: FftType,
    /// Lengths of the transformed, minor dimensions.
    pub lengths: Vec<usize>,
    /// Operand.
    pub input: (Slice, ArrayShape),
    /// Result.
    pub output: (Slice, ArrayShape),
}

/// A triangular system; the solution replaces `b`.
#[derive(Debug)]
pub struct TriangularSolve {
    /// The triangular matrix.
    pub a: ShapedSlice,
    /// The right-hand side.
    pub b: ShapedSlice,
    /// `a * x = b` rather than `x * a = b`.
    pub left_side: bool,
    /// Which triangle counts.
    pub lower: bool,
    /// Whether the diagonal is taken for ones.
    pub unit_diagonal: bool,
    /// What is done to `a` first.
    pub transpose: Transpose,
}

/// A registered function.
#[derive(Debug)]
pub struct CustomCall {
    /// Its name.
    pub target: String,
    /// Operands; `None` for absent ones.
    pub operands: Vec<Option<ShapedSlice>>,
    /// Results; `None` for absent ones.
    pub results: Vec<Option<ShapedSlice>>,
    /// What it is, where its name is known.
    pub function: Function,
}

impl Reader<'_> {
    pub(super) fn fft(&mut self, p: &FftThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.FftThunkProto",
            &[
                "fft_type",
                "fft_length",
                "input_buffer",
                "output_buffer",
                "input_shape",
                "output_shape",
            ],
        );
        let mut side = |slice: Option<&_>, shape: Option<&_>, what: &str| {
            let slice = self.slice(slice, what)?;
            let shape = self.shape(shape, what)?;
            shape_fits(&slice, &shape).at(|| what.to_owned())?;
            Ok((slice, shape))
        };
        let input = side(p.input_buffer.as_ref(), p.input_shape.as_ref(), "input_buffer")?;
        let output = side(p.output_buffer.as_ref(), p.output_shape.as_ref(), "output_buffer")?;
        let kind: FftType = known("fft_type", "xla.FftType", p.fft_type)?;
        self.reads.value("xla.FftType", kind.as_str_name());
        let lengths =
            p.fft_length.iter().map(|n| size("fft_length", *n)).collect::<Result<Vec<_>>>()?;
        transformed(kind, &lengths, &input.1, &output.1)?;
        Ok(Thunk::Fft(Box::new(Fft { kind, lengths, input, output })))
    }

    pub(super) fn triangular_solve(&mut self, p: &TriangularSolveThunkProto) -> Result<Thunk> {
        self.reads
            .fields("xla.gpu.TriangularSolveThunkProto", &["options", "a_buffer", "b_buffer"]);
        self.reads.fields(
            "xla.TriangularSolveOptions",
            &["left_side", "lower", "unit_diagonal", "transpose_a"],
        );
        let options = p.options.unwrap_or_default();
        let transpose = match Transpose::try_from(options.transpose_a) {
            Ok(transpose) if transpose != Transpose::Invalid => transpose,
            _ => {
                let value = options.transpose_a;
                self.warn(format!(
                    "transpose_a is {value}: as XLA's loader does, the matrix is taken as it is"
                ));
                Transpose::NoTranspose
            }
        };
        self.reads.value("xla.TriangularSolveOptions.Transpose", transpose.as_str_name());
        if let Some(scratch) = &p.temp_buffer {
            self.slice(scratch.slice.as_ref(), "temp_buffer")?;
        }
        let a = column_major(self.shaped(p.a_buffer.as_ref(), "a_buffer")?, "a_buffer")?;
        let b = column_major(self.shaped(p.b_buffer.as_ref(), "b_buffer")?, "b_buffer")?;
        solvable(&a.shape, &b.shape, options.left_side)?;
        Ok(Thunk::TriangularSolve(Box::new(TriangularSolve {
            a,
            b,
            left_side: options.left_side,
            lower: options.lower,
            unit_diagonal: options.unit_diagonal,
            transpose,
        })))
    }

    pub(super) fn custom_call(&mut self, p: &CustomCallThunkProto) -> Result<Thunk> {
        self.reads.fields("xla.gpu.CustomCallThunkProto", &["target_name", "operands", "results"]);
        self.reads.fields("xla.NullableShapedSliceProto", &["shaped_slice"]);
        let mut list = |list: &[NullableShapedSliceProto], what: &str| {
            list.iter()
                .enumerate()
                .map(|(at, slice)| {
                    self.optional(slice.shaped_slice.as_ref(), &format!("{what}[{at}]"))
                })
                .collect::<Result<Vec<_>>>()
        };
        let (operands, results) = (list(&p.operands, "operands")?, list(&p.results, "results")?);
        if let Some(name) = &p.called_computation
            && !self.program.module.has_computation(name)
        {
            let bound = "the name of a computation in the HLO module";
            return Err(Invalid::value("called_computation", format!("{name:?}"), bound));
        }
        if let Some(state) = &p.execution_state {
            self.execution_state(state);
        }
        let (target, function) = (p.target_name.clone(), Function::Unknown);
        let mut call = CustomCall { target, operands, results, function };
        self.function(p, &mut call)?;
        Ok(Thunk::CustomCall(Box::new(call)))
    }

    /// State that a registered function left behind when it was compiled. It may hold code for the host,
    /// which is never loaded. XLA's loader too goes on without state that it cannot decode: the function
    /// makes its state anew.
    fn execution_state(&mut self, state: &ExecutionStateProto) {
        let bytes = state.state.len();
        let message = match (state.type_name.as_str(), bytes) {
            ("", 0) => return,
            ("", _) => format!(
                "execution_state has {bytes} bytes and no type_name: it cannot be decoded and is ignored, as XLA's loader does"
            ),
            (ty, _) => format!(
                "execution_state of type {ty:?} ({bytes} bytes) is not loaded, because it may hold code for the host; the call starts without it, as it does in XLA where the state cannot be decoded"
            ),
        };
        self.warn(message);
    }
}

/// What a transform's operand and result have to look like.
fn transformed(
    kind: FftType,
    lengths: &[usize],
    input: &ArrayShape,
    output: &ArrayShape,
) -> Result<()> {
    let (rank, count) = (input.dims.len(), lengths.len());
    if !(1..=3).contains(&count) || count > rank {
        let bound = format!("1 to 3 of the {rank} dimensions of the operand");
        return Err(Invalid::value("fft_length", format!("{lengths:?}"), bound));
    }
    // Of a real array the second half of the minor dimension is the conjugate of the first.
    let mut half = lengths.to_vec();
    half[count - 1] = half[count - 1] / 2 + 1;
    let (from, to) = match kind {
        FftType::Fft | FftType::Ifft => (lengths, lengths),
        FftType::Rfft => (lengths, &half[..]),
        FftType::Irfft => (&half[..], lengths),
    };
    let sides = [("input_shape", input, from), ("output_shape", output, to)];
    for (field, shape, minor) in sides {
        let want = [&input.dims[..rank - count], minor].concat();
        if shape.dims != want {
            return Err(Invalid::value(
                field,
                shape,
                format!("dimensions {want:?}, by fft_length"),
            ));
        }
    }
    use PrimitiveType as P;
    let types = match kind {
        FftType::Fft | FftType::Ifft => [(P::C64, P::C64), (P::C128, P::C128)],
        FftType::Rfft => [(P::F32, P::C64), (P::F64, P::C128)],
        FftType::Irfft => [(P::C64, P::F32), (P::C128, P::F64)],
    };
    if !types.contains(&(input.ty, output.ty)) {
        let value = format!("{input} and {output}");
        let bound = format!("types that {} has", kind.as_str_name());
        return Err(Invalid::value("input_shape and output_shape", value, bound));
    }
    Ok(())
}

/// cuBLAS takes matrices column by column, and XLA's thunk does not look at the layout of the shapes,
/// which is that of the instruction that made the buffer.
fn column_major(mut slice: ShapedSlice, field: &str) -> Result<ShapedSlice> {
    let rank = slice.shape.dims.len();
    if rank < 2 {
        return Err(Invalid::value(format!("{field}.shape"), &slice.shape, "a matrix"));
    }
    slice.shape.minor_to_major = (0..rank).rev().collect();
    slice.shape.minor_to_major.swap(0, 1);
    Ok(slice)
}

/// Square matrices `a`, and as many right-hand sides of fitting size.
fn solvable(a: &ArrayShape, b: &ArrayShape, left_side: bool) -> Result<()> {
    use PrimitiveType as P;
    if !matches!(a.ty, P::F32 | P::F64 | P::C64 | P::C128) {
        return Err(Invalid::value("a_buffer.shape", a, "f32, f64, c64 or c128"));
    }
    let rank = a.dims.len();
    let (batch, matrix) = a.dims.split_at(rank - 2);
    if matrix[0] != matrix[1] {
        return Err(Invalid::value("a_buffer.shape", a, "square matrices"));
    }
    let same = b.ty == a.ty && b.dims.len() == rank && b.dims[..rank - 2] == *batch;
    let side = if left_side { rank - 2 } else { rank - 1 };
    if !same || b.dims[side] != matrix[0] {
        return Err(Invalid::value("b_buffer.shape", b, format!("right-hand sides for {a}")));
    }
    Ok(())
}
