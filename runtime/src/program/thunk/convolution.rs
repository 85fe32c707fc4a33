//! Convolutions by a library.

use super::{Reader, Thunk};
use crate::program::{At as _, Invalid, Result, ShapedSlice, known};
use crate::proto::stream_executor::dnn::algorithm_proto::MathType;
use crate::proto::stream_executor::dnn::{ActivationMode, ConvolutionKind};
use crate::proto::xla::gpu::{ConvolutionThunkProto, GpuConvDescriptorProto};
use crate::proto::xla::{ConvolutionDimensionNumbers, WindowDimension};

/// A convolution, or one of its gradients, and what is fused with it.
#[derive(Debug)]
pub struct Convolution {
    /// Which of its three arrays is computed.
    pub kind: ConvolutionKind,
    /// Operands as the kind has them: of the forward convolution the input, the filter, and fused ones the
    /// bias and the side input.
    pub operands: Vec<ShapedSlice>,
    /// The result.
    pub result: ShapedSlice,
    /// The forward convolution's window.
    pub window: Vec<WindowDimension>,
    /// The forward convolution's dimensions.
    pub numbers: ConvolutionDimensionNumbers,
    /// Groups of features.
    pub groups: i64,
    /// Factor of the convolution.
    pub scale: f64,
    /// Factor of the side input.
    pub side_scale: f64,
    /// What is done in the end.
    pub activation: ActivationMode,
    /// Slope of negative values under leaky ReLU.
    pub slope: f64,
    /// Whether `f32` operands may be rounded to TF32.
    pub coarse: bool,
}

impl Reader<'_> {
    pub(super) fn convolution(&mut self, p: &ConvolutionThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.ConvolutionThunkProto",
            &["conv_descriptor", "operand_buffers", "result_buffers"],
        );
        self.reads.fields(
            "xla.gpu.GpuConvDescriptorProto",
            &["kind", "backend_config", "window", "dnums", "feature_group_count"],
        );
        let descriptor =
            p.conv_descriptor.as_ref().ok_or_else(|| Invalid::missing("conv_descriptor"))?;
        let kind: ConvolutionKind =
            known("kind", "stream_executor.dnn.ConvolutionKind", descriptor.kind)?;
        self.reads.value("stream_executor.dnn.ConvolutionKind", kind.as_str_name());
        let unsupported = |what: String| Ok(Thunk::Unsupported(what));
        let fused = match kind {
            ConvolutionKind::Forward
            | ConvolutionKind::BackwardData
            | ConvolutionKind::BackwardFilter => false,
            ConvolutionKind::ForwardBiasActivation => true,
            ConvolutionKind::ForwardGraph => {
                return unsupported("convolution_thunk with a graph of operations".to_owned());
            }
            ConvolutionKind::Invalid => {
                return Err(Invalid::value("kind", kind.as_str_name(), "a kind of convolution"));
            }
        };
        let mut operands = Vec::with_capacity(p.operand_buffers.len());
        for (at, slice) in p.operand_buffers.iter().enumerate() {
            operands.push(self.shaped(Some(slice), &format!("operand_buffers[{at}]"))?);
        }
        let wanted = if fused { 3..=4 } else { 2..=2 };
        if !wanted.contains(&operands.len()) {
            let bound = if fused { "3 or 4" } else { "2" };
            return Err(Invalid::value("operand_buffers", operands.len(), bound));
        }
        let [result] = &p.result_buffers[..] else {
            return unsupported(format!(
                "convolution_thunk with {} results",
                p.result_buffers.len()
            ));
        };
        let result = self.shaped(Some(result), "result_buffers[0]")?;
        self.convolved(descriptor, kind, operands, result).at(|| "conv_descriptor".to_owned())
    }

    fn convolved(
        &mut self,
        descriptor: &GpuConvDescriptorProto,
        kind: ConvolutionKind,
        operands: Vec<ShapedSlice>,
        result: ShapedSlice,
    ) -> Result<Thunk> {
        crate::program::hlo::record_window(self.reads);
        self.reads.fields(
            "xla.gpu.CudnnConvBackendConfig",
            &[
                "activation_mode",
                "conv_result_scale",
                "side_input_scale",
                "leakyrelu_alpha",
                "algorithm",
            ],
        );
        self.reads.fields("stream_executor.dnn.AlgorithmProto", &["math_type"]);
        let config = descriptor.backend_config.clone().unwrap_or_default();
        if config.filter_and_bias_reordering_oneof.is_some() {
            return Ok(Thunk::Unsupported("convolution_thunk on a rearranged filter".to_owned()));
        }
        let activation: ActivationMode = known(
            "backend_config.activation_mode",
            "stream_executor.dnn.ActivationMode",
            config.activation_mode,
        )?;
        self.reads.value("stream_executor.dnn.ActivationMode", activation.as_str_name());
        Ok(Thunk::Convolution(Box::new(Convolution {
            kind,
            operands,
            result,
            window: descriptor.window.clone().unwrap_or_default().dimensions,
            numbers: descriptor.dnums.clone().unwrap_or_default(),
            groups: descriptor.feature_group_count,
            scale: config.conv_result_scale,
            side_scale: config.side_input_scale,
            activation,
            slope: config.leakyrelu_alpha,
            coarse: config.algorithm.is_some_and(|a| a.math_type() == MathType::TensorOpMath),
        })))
    }
}
