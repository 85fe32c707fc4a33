//! Matrix products by a library.

use super::{Reader, Thunk};
use crate::program::buffers::size;
use crate::program::shape::element_type;
use crate::program::{At as _, Invalid, Result, ShapedSlice, Slice, known};
use crate::proto::xla::gemm_config_proto::{MatrixLayout as LayoutProto, matrix_layout::Order};
use crate::proto::xla::gpu::cublas_lt_matmul_thunk_proto::Impl as MatmulImpl;
use crate::proto::xla::gpu::{CublasLtMatmulThunkProto, GemmThunkProto};
use crate::proto::xla::{BlasLtEpilogueProto, BlasTransposeProto, GemmConfigProto, PrimitiveType};

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

impl Reader<'_> {
    pub(super) fn gemm(&mut self, p: &GemmThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.GemmThunkProto",
            &["gemm_config", "lhs_buffer", "rhs_buffer", "output_buffer"],
        );
        let config = p.gemm_config.as_ref().ok_or_else(|| Invalid::missing("gemm_config"))?;
        let a = self.slice(p.lhs_buffer.as_ref(), "lhs_buffer")?;
        let b = self.slice(p.rhs_buffer.as_ref(), "rhs_buffer")?;
        let d = self.slice(p.output_buffer.as_ref(), "output_buffer")?;
        if let Some(scratch) = &p.workspace {
            self.slice(Some(scratch), "workspace")?;
        }
        self.matmul(config, [a, b, d, d])
    }

    pub(super) fn cublas_lt_matmul(&mut self, p: &CublasLtMatmulThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.CublasLtMatmulThunkProto",
            &[
                "gemm_config",
                "grouped_gemm_config",
                "epilogue",
                "a",
                "b",
                "c",
                "d",
                "bias",
                "aux",
                "a_scale",
                "b_scale",
                "c_scale",
                "d_scale",
                "d_amax",
            ],
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
        let (bias, aux) =
            (self.optional(p.bias.as_ref(), "bias")?, self.optional(p.aux.as_ref(), "aux")?);
        let scales = [
            self.optional(p.a_scale.as_ref(), "a_scale")?,
            self.optional(p.b_scale.as_ref(), "b_scale")?,
        ];
        if let Some(scratch) = &p.workspace {
            self.slice(scratch.slice.as_ref(), "workspace")?;
        }
        let epilogue: BlasLtEpilogueProto =
            known("epilogue", "xla.BlasLtEpilogueProto", p.epilogue)?;
        self.reads.value("xla.BlasLtEpilogueProto", epilogue.as_str_name());
        extras(epilogue, bias.as_ref(), aux.as_ref(), &scales)?;
        let scaled_result = p.c_scale.is_some() || p.d_scale.is_some() || p.d_amax.is_some();
        let Thunk::Matmul(mut matmul) = self.matmul(config, [a, b, c, d])? else {
            return Err(Invalid::missing("gemm_config"));
        };
        matmul.epilogue = epilogue;
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
        let mut layout = |layout: Option<&LayoutProto>, slice: Slice, what: &str| {
            let layout = layout.ok_or_else(|| Invalid::missing(what))?;
            let layout = MatrixLayout::new(layout, &slice).at(|| what.to_owned())?;
            self.reads.value("xla.PrimitiveType", layout.ty.as_str_name());
            let order = if layout.row_major { Order::RowMajor } else { Order::ColumnMajor };
            self.reads.value("xla.GemmConfigProto.MatrixLayout.Order", order.as_str_name());
            Ok((slice, layout))
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
        for (layout, what) in [(&a.1, "lhs_layout"), (&b.1, "rhs_layout"), (&c.1, "c_layout")] {
            if layout.batch != d.1.batch && layout.batch != 1 {
                let bound = format!("1, or {} as in output_layout", d.1.batch);
                return Err(Invalid::value(format!("{what}.batch_size"), layout.batch, bound));
            }
        }
        d.1.apart().at(|| "output_layout".to_owned())?;
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
}

/// An epilogue has the buffers that it works with, and no others.
fn extras(
    epilogue: BlasLtEpilogueProto,
    bias: Option<&ShapedSlice>,
    aux: Option<&ShapedSlice>,
    scales: &[Option<ShapedSlice>; 2],
) -> Result<()> {
    use BlasLtEpilogueProto as E;
    let with_bias = matches!(
        epilogue,
        E::EpilogueBias
            | E::EpilogueBiasThenRelu
            | E::EpilogueBiasThenGelu
            | E::EpilogueBiasThenSilu
            | E::EpilogueBiasThenGeluWithAux
            | E::EpilogueBiasThenSiluWithAux
    );
    let with_aux = matches!(
        epilogue,
        E::EpilogueGeluWithAux
            | E::EpilogueSiluWithAux
            | E::EpilogueBiasThenGeluWithAux
            | E::EpilogueBiasThenSiluWithAux
    );
    for (field, buffer, wanted) in [("bias", bias, with_bias), ("aux", aux, with_aux)] {
        if buffer.is_some() != wanted {
            let value = if wanted { "not set" } else { "set" };
            let without = if wanted { "a buffer" } else { "none" };
            return Err(Invalid::value(
                field,
                value,
                format!("{without} for {}", epilogue.as_str_name()),
            ));
        }
    }
    for (field, scale) in [("a_scale", &scales[0]), ("b_scale", &scales[1])] {
        if let Some(scale) = scale
            && scale.shape.elements() != 1
        {
            return Err(Invalid::value(format!("{field}.shape"), &scale.shape, "one element"));
        }
    }
    Ok(())
}

impl MatrixLayout {
    fn new(proto: &LayoutProto, slice: &Slice) -> Result<MatrixLayout> {
        let transpose: BlasTransposeProto =
            known("transpose", "xla.BlasTransposeProto", proto.transpose)?;
        let layout = MatrixLayout {
            row_major: match known("order", "xla.GemmConfigProto.MatrixLayout.Order", proto.order)?
            {
                Order::RowMajor => true,
                Order::ColumnMajor => false,
                Order::Unknown => return Err(Invalid::missing("order")),
            },
            rows: size("num_rows", proto.num_rows)?,
            columns: size("num_cols", proto.num_cols)?,
            batch: size("batch_size", proto.batch_size)?.max(1),
            leading_stride: size("leading_dim_stride", proto.leading_dim_stride)?,
            batch_stride: size("batch_stride", proto.batch_stride)?,
            transpose: transpose != BlasTransposeProto::BlasNoTranspose,
            conjugate: transpose == BlasTransposeProto::BlasConjugateTranspose,
            ty: element_type(proto.dtype).at(|| "dtype".to_owned())?,
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

    /// A result has a place of its own for every element.
    fn apart(&self) -> Result<()> {
        let (minor, major) = self.minor_major();
        let rows =
            major.saturating_sub(1).saturating_mul(self.leading_stride).saturating_add(minor);
        if self.rows == 0 || self.columns == 0 {
            return Ok(());
        }
        if major > 1 && self.leading_stride < minor {
            let bound = format!("at least {minor}, so that the elements lie apart");
            return Err(Invalid::value("leading_dim_stride", self.leading_stride, bound));
        }
        if self.batch > 1 && self.batch_stride < rows {
            let bound = format!("at least {rows}, so that the matrices lie apart");
            return Err(Invalid::value("batch_stride", self.batch_stride, bound));
        }
        Ok(())
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
