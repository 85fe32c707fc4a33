//! Convolutions as cuDNN computes them.

use super::hlo::{Convolved, Which};
use super::{Reference, Resolve};
use crate::array::Array;
use crate::program::thunk::Convolution;
use crate::program::{Invalid, Result};
use crate::proto::stream_executor::dnn::{ActivationMode, ConvolutionKind};

pub(super) fn run(device: &mut Reference<'_>, p: &Convolution, resolve: Resolve<'_>) -> Result<()> {
    let operands = p
        .operands
        .iter()
        .map(|operand| device.load(resolve(&operand.slice), &operand.shape))
        .collect::<Result<Vec<Array>>>()?;
    let [a, b, fused @ ..] = &operands[..] else { return Err(Invalid::missing("operand_buffers")) };
    let result = &p.result.shape;
    // The descriptor is that of the forward convolution, whichever of its arrays is computed.
    let (which, dims) = match p.kind {
        ConvolutionKind::BackwardData => (Which::Input, [&result.dims, &b.dims, &a.dims]),
        ConvolutionKind::BackwardFilter => (Which::Kernel, [&a.dims, &result.dims, &b.dims]),
        _ => (Which::Output, [&a.dims, &b.dims, &result.dims]),
    };
    let convolved = Convolved::new(&p.window, &p.numbers, [p.groups, 1], dims.map(|d| &d[..]))?;
    device.budget.steps(convolved.work())?;
    let mut sums = convolved.sums(which, a, b, p.coarse)?;
    let scale = if p.scale == 0.0 { 1.0 } else { p.scale };
    if let Some(bias) = fused.first() {
        let (features, bias) = (convolved.output_features(), super::hlo::doubles(&bias.data));
        let side = fused.get(1).filter(|_| p.side_scale != 0.0);
        let side =
            side.map(|side| (side.dims == result.dims).then(|| super::hlo::doubles(&side.data)));
        if bias.len() != features.count || side == Some(None) {
            let bound = format!("{} features, and the side input as the result", features.count);
            return Err(Invalid::value("operand_buffers", "a bias of other size", bound));
        }
        for (at, sum) in sums.iter_mut().enumerate() {
            let side = side.iter().flatten().map(|side| side[at]).sum::<f64>();
            let value =
                *sum * scale + side * p.side_scale + bias[at / features.stride % features.count];
            *sum = activated(p.activation, p.slope, value)?;
        }
    } else if scale != 1.0 {
        sums.iter_mut().for_each(|sum| *sum *= scale);
    }
    let out = super::hlo::narrowed(&sums, result)?;
    device.store(resolve(&p.result.slice), result, &out)
}

fn activated(mode: ActivationMode, slope: f64, x: f64) -> Result<f64> {
    Ok(match mode {
        ActivationMode::KNone => x,
        ActivationMode::KSigmoid => 1.0 / (1.0 + (-x).exp()),
        ActivationMode::KRelu => x.max(0.0),
        ActivationMode::KRelu6 => x.clamp(0.0, 6.0),
        ActivationMode::KTanh => x.tanh(),
        ActivationMode::KElu => {
            if x < 0.0 {
                x.exp_m1()
            } else {
                x
            }
        }
        ActivationMode::KLeakyRelu => {
            if x < 0.0 {
                slope * x
            } else {
                x
            }
        }
        other => return Err(Invalid::unsupported(format!("activation {}", other.as_str_name()))),
    })
}
