//! Convolutions by a library.

use super::{Reader, Thunk};
use crate::program::buffers::shape_fits;
use crate::program::shape::ArrayShape;
use crate::program::{At as _, Invalid, Result, ShapedSlice, known};
use crate::proto::stream_executor::dnn::algorithm_proto::MathType;
use crate::proto::stream_executor::dnn::{ActivationMode, AlgorithmProto, ConvolutionKind};
use crate::proto::xla::gpu::{ConvolutionThunkProto, CudnnConvBackendConfig};
use crate::proto::xla::precision_config::Precision;
use crate::proto::xla::{
    ConvolutionDimensionNumbers, PrimitiveType, ShapedSliceProto, WindowDimension,
};

/// A convolution, or one of its gradients, and what is fused with it. Shapes are the descriptor's: those of the
/// buffers are of the instructions that made them, which may see the same bytes under other dimensions.
#[derive(Debug)]
pub struct Convolution {
    /// Which of its three arrays is computed.
    pub kind: ConvolutionKind,
    /// Operands as the kind has them: of the forward convolution the input and the filter.
    pub operands: [ShapedSlice; 2],
    /// The result.
    pub result: ShapedSlice,
    /// The forward convolution's window.
    pub window: Vec<WindowDimension>,
    /// The forward convolution's dimensions.
    pub numbers: ConvolutionDimensionNumbers,
    /// Groups of features.
    pub groups: i64,
    /// What is done with the sums.
    pub fused: Option<Fused>,
    /// Whether `f32` operands are rounded to TF32.
    pub coarse: bool,
}

/// `activation(scale * sums + side + bias)`.
#[derive(Debug)]
pub struct Fused {
    /// Factor of the convolution.
    pub scale: f64,
    /// A number for each output feature.
    pub bias: ShapedSlice,
    /// An array like the result and its factor.
    pub side: Option<(ShapedSlice, f64)>,
    /// What is done in the end.
    pub activation: ActivationMode,
    /// Slope of negative values under leaky ReLU.
    pub slope: f64,
}

impl Reader<'_> {
    pub(super) fn convolution(
        &mut self,
        p: &ConvolutionThunkProto,
        annotation: &str,
    ) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.ConvolutionThunkProto",
            &["conv_descriptor", "operand_buffers", "result_buffers"],
        );
        self.reads.fields(
            "xla.gpu.GpuConvDescriptorProto",
            &[
                "kind",
                "backend_config",
                "operand0_shape",
                "operand1_shape",
                "result_shape",
                "window",
                "dnums",
                "feature_group_count",
            ],
        );
        let descriptor =
            p.conv_descriptor.as_ref().ok_or_else(|| Invalid::missing("conv_descriptor"))?;
        let inside = || "conv_descriptor".to_owned();
        let kind: ConvolutionKind =
            known("kind", "stream_executor.dnn.ConvolutionKind", descriptor.kind).at(inside)?;
        self.reads.value("stream_executor.dnn.ConvolutionKind", kind.as_str_name());
        let unsupported = |what: &str| Ok(Thunk::Unsupported(format!("convolution_thunk {what}")));
        let config = descriptor.backend_config.clone().unwrap_or_default();
        let wanted = match kind {
            ConvolutionKind::Forward
            | ConvolutionKind::BackwardData
            | ConvolutionKind::BackwardFilter => 2..=2,
            ConvolutionKind::ForwardBiasActivation => 3..=4,
            ConvolutionKind::ForwardGraph => return unsupported("with a graph of operations"),
            ConvolutionKind::Invalid => {
                let bound = "a kind of convolution";
                return Err(Invalid::value("kind", kind.as_str_name(), bound)).at(inside);
            }
        };
        if config.filter_and_bias_reordering_oneof.is_some() {
            return unsupported("on a rearranged filter");
        }
        if !wanted.contains(&p.operand_buffers.len()) {
            let bound = if *wanted.end() == 2 { "2" } else { "3 or 4" };
            return Err(Invalid::value("operand_buffers", p.operand_buffers.len(), bound));
        }
        let [result] = &p.result_buffers[..] else {
            return unsupported(&format!("with {} results", p.result_buffers.len()));
        };
        let mut shaped = |slice: &ShapedSliceProto, shape, (buffer, field): (&str, &str)| {
            let shape = self.shape(shape, field).at(inside)?;
            self.convolved_slice(slice, shape, buffer)
        };
        let (a, b) = (&p.operand_buffers[0], &p.operand_buffers[1]);
        let operands = [
            shaped(
                a,
                descriptor.operand0_shape.as_ref(),
                ("operand_buffers[0]", "operand0_shape"),
            )?,
            shaped(
                b,
                descriptor.operand1_shape.as_ref(),
                ("operand_buffers[1]", "operand1_shape"),
            )?,
        ];
        let names = ("result_buffers[0]", "result_shape");
        let result = shaped(result, descriptor.result_shape.as_ref(), names)?;

        let (window, numbers) = (&descriptor.window, &descriptor.dnums);
        let window = window.as_ref().map_or(&[][..], |window| &window.dimensions[..]);
        let numbers = numbers.clone().unwrap_or_default();
        crate::program::hlo::record_window(self.reads);
        self.reads.fields("xla.WindowDimension", &["padding_high"]);
        admitted(window).at(inside)?;
        // Four or 32 features are a dimension of their own then.
        if operands[0].shape.dims.len() == window.len() + 3 {
            return unsupported("on vectors of features");
        }
        if result.shape.ty == PrimitiveType::S8 {
            return unsupported("to s8");
        }
        types(kind, [&operands[0].shape, &operands[1].shape, &result.shape]).at(inside)?;
        let fused = match &p.operand_buffers[2..] {
            [] => {
                self.unscaled(&config).at(inside)?;
                None
            }
            others => Some(self.fused(&config, &numbers, others, &result.shape)?),
        };
        let coarse = self.rounds(config.algorithm.as_ref(), annotation);
        Ok(Thunk::Convolution(Box::new(Convolution {
            kind,
            operands,
            result,
            window: window.to_vec(),
            numbers,
            groups: descriptor.feature_group_count,
            fused,
            coarse,
        })))
    }

    /// A buffer under a shape that the descriptor has for it.
    fn convolved_slice(
        &mut self,
        slice: &ShapedSliceProto,
        shape: ArrayShape,
        field: &str,
    ) -> Result<ShapedSlice> {
        self.reads.fields("xla.ShapedSliceProto", &["slice"]);
        let slice = self.slice(slice.slice.as_ref(), field)?;
        shape_fits(&slice, &shape).at(|| field.to_owned())?;
        Ok(ShapedSlice { slice, shape })
    }

    /// XLA refuses to scale where nothing is fused.
    fn unscaled(&mut self, config: &CudnnConvBackendConfig) -> Result<()> {
        self.reads.fields("xla.gpu.CudnnConvBackendConfig", &["conv_result_scale"]);
        if config.conv_result_scale != 1.0 {
            let (field, scale) = ("backend_config.conv_result_scale", config.conv_result_scale);
            return Err(Invalid::value(field, scale, "1, as nothing is fused"));
        }
        Ok(())
    }

    fn fused(
        &mut self,
        config: &CudnnConvBackendConfig,
        numbers: &ConvolutionDimensionNumbers,
        others: &[ShapedSliceProto],
        result: &ArrayShape,
    ) -> Result<Fused> {
        self.reads.fields(
            "xla.gpu.CudnnConvBackendConfig",
            &["activation_mode", "conv_result_scale", "side_input_scale", "leakyrelu_alpha"],
        );
        let inside = || "conv_descriptor: backend_config".to_owned();
        let enumeration = "stream_executor.dnn.ActivationMode";
        let activation: ActivationMode =
            known("activation_mode", enumeration, config.activation_mode).at(inside)?;
        self.reads.value(enumeration, activation.as_str_name());
        use ActivationMode as A;
        if !matches!(activation, A::KNone | A::KRelu | A::KRelu6 | A::KElu | A::KLeakyRelu) {
            let bound = "none, ReLU, ReLU6, ELU or leaky ReLU";
            return Err(Invalid::value("activation_mode", activation.as_str_name(), bound))
                .at(inside);
        }
        let features = usize::try_from(numbers.output_feature_dimension)
            .ok()
            .and_then(|at| result.dims.get(at))
            .ok_or_else(|| {
                let bound = format!("a dimension of {result}");
                Invalid::value("output_feature_dimension", numbers.output_feature_dimension, bound)
            })
            .at(|| "conv_descriptor: dnums".to_owned())?;
        let bias = ArrayShape::row_major(result.ty, &[*features]);
        let bias = self.convolved_slice(&others[0], bias, "operand_buffers[2]")?;
        let side = match others.get(1) {
            Some(side) => Some((
                self.convolved_slice(side, result.clone(), "operand_buffers[3]")?,
                config.side_input_scale,
            )),
            None if config.side_input_scale != 0.0 => {
                let bound = "0, as there is no side input";
                return Err(Invalid::value("side_input_scale", config.side_input_scale, bound))
                    .at(inside);
            }
            None => None,
        };
        let (scale, slope) = (config.conv_result_scale, config.leakyrelu_alpha);
        Ok(Fused { scale, bias, side, activation, slope })
    }

    /// Whether cuDNN rounds `f32` operands to TF32. The engine decides, of which the artifact has a number and
    /// settings: those recorded on sm_90 rounded where the engine has settings (67: tiles and splits of tensor
    /// cores), and did not where it has none (5, of a depthwise convolution). Where more precision was asked
    /// for, XLA chose from engines without tensor cores.
    fn rounds(&mut self, algorithm: Option<&AlgorithmProto>, annotation: &str) -> bool {
        self.reads.fields("xla.gpu.CudnnConvBackendConfig", &["algorithm"]);
        self.reads.fields("stream_executor.dnn.AlgorithmProto", &["math_type", "tuning_knobs"]);
        let tensor_cores = algorithm.is_some_and(|algorithm| {
            algorithm.math_type() == MathType::TensorOpMath || !algorithm.tuning_knobs.is_empty()
        });
        self.reads.fields("xla.gpu.ThunkProto", &["thunk_info"]);
        self.reads.fields("xla.gpu.ThunkInfoProto", &["profile_annotation"]);
        self.reads.fields("xla.HloInstructionProto", &["name", "precision_config"]);
        self.reads.fields("xla.PrecisionConfig", &["operand_precision"]);
        let found = self.program.module.instruction(annotation).ok().flatten();
        let precise = found
            .and_then(|(_, instruction)| instruction.proto.precision_config.as_ref())
            .is_some_and(|config| config.operand_precision().any(|p| p == Precision::Highest));
        tensor_cores && !precise
    }
}

/// cuDNN's convolutions: up to three spatial dimensions, padded alike on both sides, the input not dilated, the
/// filter reversed in all dimensions or in none.
fn admitted(window: &[WindowDimension]) -> Result<()> {
    if window.len() > 3 {
        return Err(Invalid::value("window.dimensions", window.len(), "at most 3"));
    }
    let reversed = window.first().is_some_and(|d| d.window_reversal);
    for (at, d) in window.iter().enumerate() {
        let refuse = |field: &str, value: &dyn std::fmt::Display, bound: String| {
            Err(Invalid::value(format!("window.dimensions[{at}].{field}"), value, bound))
        };
        if d.padding_high != d.padding_low {
            return refuse(
                "padding_high",
                &d.padding_high,
                format!("padding_low, {}", d.padding_low),
            );
        }
        if d.base_dilation != 1 {
            return refuse("base_dilation", &d.base_dilation, "1".to_owned());
        }
        if d.window_reversal != reversed {
            let bound = format!("{reversed}, as of the first dimension");
            return refuse("window_reversal", &d.window_reversal, bound);
        }
    }
    Ok(())
}

/// All of one float type, or the forward convolution of `s8` to `f32`.
fn types(kind: ConvolutionKind, [a, b, result]: [&ArrayShape; 3]) -> Result<()> {
    use PrimitiveType as P;
    let integers = (a.ty, result.ty) == (P::S8, P::F32)
        && !matches!(kind, ConvolutionKind::BackwardData | ConvolutionKind::BackwardFilter);
    let floats = matches!(a.ty, P::F16 | P::Bf16 | P::F32 | P::F64) && result.ty == a.ty;
    if b.ty != a.ty || !(integers || floats) {
        return Err(Invalid::value(
            "operand0_shape, operand1_shape and result_shape",
            format!("{a}, {b} and {result}"),
            "all f16, bf16, f32 or f64, or s8 to f32",
        ));
    }
    Ok(())
}
