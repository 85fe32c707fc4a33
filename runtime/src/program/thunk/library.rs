//! Calls of libraries.

use super::{Reader, Thunk};
use crate::program::buffers::{shape_fits, size};
use crate::program::shape::{ArrayShape, Shape};
use crate::program::{At as _, Invalid, Result, ShapedSlice, Slice};
use crate::proto::xla::gemm_config_proto::{MatrixLayout as LayoutProto, matrix_layout::Order};
use crate::proto::xla::gpu::cublas_lt_matmul_thunk_proto::Impl as MatmulImpl;
use crate::proto::xla::gpu::{
    CublasLtMatmulThunkProto, CustomCallThunkProto, FftThunkProto, GemmThunkProto,
    TriangularSolveThunkProto,
};
use crate::proto::xla::triangular_solve_options::Transpose;
use crate::proto::xla::{
    BlasLtEpilogueProto, BlasTransposeProto, FftType, GemmConfigProto, PrimitiveType,
};

/// `d = epilogue(alpha * a * b + beta * c)`.
#[derive(Debug)]
pub struct Matmul {
    /// Left operand.
    pub a: (Slice, MatrixLayout),
    /// Right operand.
    pub b: (Slice, MatrixLayout),
    /// What is added.
    pub c: (Slice, MatrixLayout),
    /// The result.
    pub d: (Slice, MatrixLayout),
    /// Real and imaginary part.
    pub alpha: (f64, f64),
    /// Whether `f32` operands may be rounded to TF32.
    pub coarse: bool,
    /// Factor of `c`.
    pub beta: f64,
    /// What is done to the product.
    pub epilogue: BlasLtEpilogueProto,
    /// Added to each row.
    pub bias: Option<ShapedSlice>,
    /// Gets the value before the activation.
    pub aux: Option<ShapedSlice>,
    /// Scales of `a` and `b`, where they have any.
    pub scales: [Option<ShapedSlice>; 2],
    /// Why it cannot be run, where that is so.
    pub unsupported: Option<String>,
}

/// A batch of matrices in memory.
#[derive(Debug, Clone)]
pub struct MatrixLayout {
    /// Whether rows lie together.
    pub row_major: bool,
    /// Rows as stored.
    pub rows: usize,
    /// Columns as stored.
    pub columns: usize,
    /// Matrices.
    pub batch: usize,
    /// Elements between neighbouring rows (or columns).
    pub leading_stride: usize,
    /// Elements between matrices.
    pub batch_stride: usize,
    /// Whether it is transposed before use.
    pub transpose: bool,
    /// Whether it is conjugated before use.
    pub conjugate: bool,
    /// Type of the elements.
    pub ty: PrimitiveType,
}

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
}

impl Reader<'_> {
    pub(super) fn gemm(&mut self, p: &GemmThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.GemmThunkProto",
            &["gemm_config", "lhs_buffer", "rhs_buffer", "output_buffer"],
        );
        let config = p.gemm_config.as_ref().ok_or_else(|| Invalid::missing("gemm_config"))?;
        let a = self.slice(p.lhs_buffer.as_ref()).at(|| "lhs_buffer".to_owned())?;
        let b = self.slice(p.rhs_buffer.as_ref()).at(|| "rhs_buffer".to_owned())?;
        let d = self.slice(p.output_buffer.as_ref()).at(|| "output_buffer".to_owned())?;
        self.matmul(config, [a, b, d, d])
    }

    pub(super) fn cublas_lt_matmul(&mut self, p: &CublasLtMatmulThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.CublasLtMatmulThunkProto",
            &["gemm_config", "epilogue", "a", "b", "c", "d", "bias", "aux", "a_scale", "b_scale"],
        );
        let config = match &p.r#impl {
            Some(MatmulImpl::GemmConfig(config)) => config,
            Some(MatmulImpl::GroupedGemmConfig(_)) => {
                return Ok(Thunk::Unsupported("grouped matrix products".to_owned()));
            }
            None => return Err(Invalid::missing("gemm_config")),
        };
        let a = self.shaped(p.a.as_ref(), "a")?.slice;
        let b = self.shaped(p.b.as_ref(), "b")?.slice;
        let c = self.shaped(p.c.as_ref(), "c")?.slice;
        let d = self.shaped(p.d.as_ref(), "d")?.slice;
        let mut optional = |slice: &Option<_>, field: &str| {
            slice.as_ref().map(|slice| self.shaped(Some(slice), field)).transpose()
        };
        let (bias, aux) = (optional(&p.bias, "bias")?, optional(&p.aux, "aux")?);
        let scales = [optional(&p.a_scale, "a_scale")?, optional(&p.b_scale, "b_scale")?];
        let scaled_result = p.c_scale.is_some() || p.d_scale.is_some() || p.d_amax.is_some();
        let Thunk::Matmul(mut matmul) = self.matmul(config, [a, b, c, d])? else {
            return Err(Invalid::missing("gemm_config"));
        };
        matmul.epilogue = p.epilogue();
        (matmul.bias, matmul.aux, matmul.scales) = (bias, aux, scales);
        if scaled_result {
            matmul.unsupported = Some("matrix products with a scaled result".to_owned());
        }
        Ok(Thunk::Matmul(matmul))
    }

    fn matmul(&mut self, config: &GemmConfigProto, slices: [Slice; 4]) -> Result<Thunk> {
        self.reads.fields(
            "xla.GemmConfigProto",
            &[
                "lhs_layout",
                "rhs_layout",
                "c_layout",
                "output_layout",
                "alpha_real",
                "alpha_imag",
                "beta",
                "compute_precision",
                "scale_mode",
            ],
        );
        self.reads.fields(
            "xla.GemmConfigProto.MatrixLayout",
            &[
                "order",
                "num_rows",
                "num_cols",
                "batch_size",
                "leading_dim_stride",
                "batch_stride",
                "transpose",
                "dtype",
            ],
        );
        let layout = |layout: Option<&LayoutProto>, slice: Slice, what: &str| {
            let layout = layout.ok_or_else(|| Invalid::missing(what))?;
            Ok((slice, MatrixLayout::new(layout, &slice).at(|| what.to_owned())?))
        };
        let [a, b, c, d] = slices;
        let (a, b) = (
            layout(config.lhs_layout.as_ref(), a, "lhs_layout")?,
            layout(config.rhs_layout.as_ref(), b, "rhs_layout")?,
        );
        let c = layout(config.c_layout.as_ref(), c, "c_layout")?;
        let d = layout(config.output_layout.as_ref(), d, "output_layout")?;
        let ((m, k), (k2, n)) = (a.1.size(), b.1.size());
        let fits = k == k2 && d.1.size() == (m, n) && c.1.size() == (m, n);
        if !fits {
            let value = format!("{m}x{k} * {k2}x{n} + {:?} = {:?}", c.1.size(), d.1.size());
            return Err(Invalid::value("sizes", value, "sizes that go together"));
        }
        if [&a.1, &b.1, &c.1].iter().any(|x| x.batch != d.1.batch && x.batch != 1) {
            return Err(Invalid::value("batch_size", a.1.batch, d.1.batch.to_string()));
        }
        let unsupported = (config.scale_mode != 0)
            .then(|| format!("matrix products with scale_mode {}", config.scale_mode));
        Ok(Thunk::Matmul(Box::new(Matmul {
            a,
            b,
            c,
            d,
            alpha: (config.alpha_real, config.alpha_imag),
            coarse: config.compute_precision <= 1,
            beta: config.beta,
            epilogue: BlasLtEpilogueProto::EpilogueDefault,
            bias: None,
            aux: None,
            scales: [None, None],
            unsupported,
        })))
    }

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
            let slice = self.slice(slice)?;
            let shape =
                Shape::new(shape.ok_or_else(|| Invalid::missing("shape"))?)?.array()?.clone();
            shape_fits(&slice, &shape).at(|| what.to_owned())?;
            Ok((slice, shape))
        };
        let input = side(p.input_buffer.as_ref(), p.input_shape.as_ref(), "input_buffer")?;
        let output = side(p.output_buffer.as_ref(), p.output_shape.as_ref(), "output_buffer")?;
        let lengths =
            p.fft_length.iter().map(|n| size("fft_length", *n)).collect::<Result<Vec<_>>>()?;
        let rank = input.1.dims.len();
        if lengths.is_empty()
            || lengths.len() > 3
            || lengths.len() > rank
            || output.1.dims.len() != rank
        {
            return Err(Invalid::value(
                "fft_length",
                format!("{lengths:?}"),
                "1 to 3 dimensions of the operand",
            ));
        }
        Ok(Thunk::Fft(Box::new(Fft { kind: p.fft_type(), lengths, input, output })))
    }

    pub(super) fn triangular_solve(&mut self, p: &TriangularSolveThunkProto) -> Result<Thunk> {
        self.reads
            .fields("xla.gpu.TriangularSolveThunkProto", &["options", "a_buffer", "b_buffer"]);
        self.reads.fields(
            "xla.TriangularSolveOptions",
            &["left_side", "lower", "unit_diagonal", "transpose_a"],
        );
        let options = p.options.clone().unwrap_or_default();
        Ok(Thunk::TriangularSolve(Box::new(TriangularSolve {
            a: column_major(self.shaped(p.a_buffer.as_ref(), "a_buffer")?)?,
            b: column_major(self.shaped(p.b_buffer.as_ref(), "b_buffer")?)?,
            left_side: options.left_side,
            lower: options.lower,
            unit_diagonal: options.unit_diagonal,
            transpose: options.transpose_a(),
        })))
    }

    pub(super) fn custom_call(&mut self, p: &CustomCallThunkProto) -> Result<Thunk> {
        self.reads.fields("xla.gpu.CustomCallThunkProto", &["target_name", "operands", "results"]);
        self.reads.fields("xla.NullableShapedSliceProto", &["shaped_slice"]);
        let list = |list: &[_], what: &str| {
            list.iter()
                .enumerate()
                .map(|(at, slice)| self.allocations.nullable(slice).at(|| format!("{what}[{at}]")))
                .collect::<Result<Vec<_>>>()
        };
        Ok(Thunk::CustomCall(Box::new(CustomCall {
            target: p.target_name.clone(),
            operands: list(&p.operands, "operands")?,
            results: list(&p.results, "results")?,
        })))
    }
}

/// cuBLAS takes matrices column by column, and XLA's thunk does not look at the layout of the shapes,
/// which is that of the instruction that made the buffer.
fn column_major(mut slice: ShapedSlice) -> Result<ShapedSlice> {
    let rank = slice.shape.dims.len();
    if rank < 2 {
        return Err(Invalid::value("shape", &slice.shape, "a matrix"));
    }
    slice.shape.minor_to_major = (0..rank).rev().collect();
    slice.shape.minor_to_major.swap(0, 1);
    Ok(slice)
}

impl MatrixLayout {
    fn new(proto: &LayoutProto, slice: &Slice) -> Result<MatrixLayout> {
        let layout = MatrixLayout {
            row_major: match proto.order() {
                Order::RowMajor => true,
                Order::ColumnMajor => false,
                Order::Unknown => return Err(Invalid::missing("order")),
            },
            rows: size("num_rows", proto.num_rows)?,
            columns: size("num_cols", proto.num_cols)?,
            batch: size("batch_size", proto.batch_size)?.max(1),
            leading_stride: size("leading_dim_stride", proto.leading_dim_stride)?,
            batch_stride: size("batch_stride", proto.batch_stride)?,
            transpose: proto.transpose() != BlasTransposeProto::BlasNoTranspose,
            conjugate: proto.transpose() == BlasTransposeProto::BlasConjugateTranspose,
            ty: proto.dtype(),
        };
        let bits = crate::program::shape::default_bits(layout.ty).ok_or_else(|| {
            Invalid::unsupported(format!("matrices of {}", layout.ty.as_str_name()))
        })?;
        // The last element, as the furthest that is touched.
        let (minor, major) = layout.minor_major();
        let last =
            [(layout.batch, layout.batch_stride), (major, layout.leading_stride), (minor, 1)]
                .iter()
                .try_fold(1_usize, |end, (count, stride)| {
                    end.checked_add(count.saturating_sub(1).checked_mul(*stride)?)
                });
        let empty = layout.rows == 0 || layout.columns == 0;
        match last.and_then(|last| last.checked_mul(bits / 8)) {
            Some(bytes) if empty || bytes <= slice.size => Ok(layout),
            bytes => {
                let value = bytes.map_or("too large".to_owned(), |bytes| bytes.to_string());
                Err(Invalid::value(
                    "bytes",
                    value,
                    format!("at most the {} of its slice", slice.size),
                ))
            }
        }
    }

    /// Sizes of the dimension whose elements lie together, and of the other one.
    fn minor_major(&self) -> (usize, usize) {
        if self.row_major { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }

    /// Rows and columns once it is transposed as asked.
    pub(crate) fn size(&self) -> (usize, usize) {
        if self.transpose { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }

    /// Where the element at a row and column (transposed as asked) lies.
    pub(crate) fn offset(&self, batch: usize, row: usize, column: usize) -> usize {
        let (row, column) = if self.transpose { (column, row) } else { (row, column) };
        let (major, minor) = if self.row_major { (row, column) } else { (column, row) };
        let batch = if self.batch == 1 { 0 } else { batch };
        batch * self.batch_stride + major * self.leading_stride + minor
    }
}
