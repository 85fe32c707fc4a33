//! Convolutions as cuDNN computes them.

use super::hlo::{Convolved, Which, doubles, narrowed};
use super::{Reference, Resolve};
use crate::program::thunk::{Convolution, Fused};
use crate::program::{Result, ShapedSlice};
use crate::proto::stream_executor::dnn::{ActivationMode, ConvolutionKind};

pub(super) fn run(device: &mut Reference<'_>, p: &Convolution, resolve: Resolve<'_>) -> Result<()> {
    let load = |device: &Reference<'_>, s: &ShapedSlice| device.load(resolve(&s.slice), &s.shape);
    let (a, b) = (load(device, &p.operands[0])?, load(device, &p.operands[1])?);
    let result = &p.result.shape;
    // The descriptor is that of the forward convolution, whichever of its arrays is computed.
    let (which, dims) = match p.kind {
        ConvolutionKind::BackwardData => (Which::Input, [&result.dims, &b.dims, &a.dims]),
        ConvolutionKind::BackwardFilter => (Which::Kernel, [&a.dims, &result.dims, &b.dims]),
        _ => (Which::Output, [&a.dims, &b.dims, &result.dims]),
    };
    let convolved = Convolved::new(&p.window, &p.numbers, [p.groups, 1], dims.map(|d| &d[..]))?;
    device.budget.steps(convolved.work())?;
    let mut sums = convolved.sums(which, &a, &b, p.coarse)?;
    if let Some(fused) = &p.fused {
        let bias = doubles(&load(device, &fused.bias)?.data);
        let side = match &fused.side {
            Some((side, scale)) => Some((doubles(&load(device, side)?.data), *scale)),
            None => None,
        };
        let features = convolved.output_features();
        for (at, sum) in sums.iter_mut().enumerate() {
            // What a factor of zero belongs to is not read.
            let side = match &side {
                Some((side, scale)) if *scale != 0.0 => side[at] * scale,
                _ => 0.0,
            };
            let bias = bias[at / features.stride % features.count];
            *sum = activated(fused, *sum * fused.scale + side + bias);
        }
    }
    let out = narrowed(&sums, result)?;
    device.store(resolve(&p.result.slice), result, &out)
}

fn activated(fused: &Fused, x: f64) -> f64 {
    match fused.activation {
        // NaN stays NaN.
        ActivationMode::KRelu if x < 0.0 => 0.0,
        ActivationMode::KRelu6 if x < 0.0 => 0.0,
        ActivationMode::KRelu6 if x > 6.0 => 6.0,
        ActivationMode::KElu if x < 0.0 => x.exp_m1(),
        ActivationMode::KLeakyRelu if x < 0.0 => fused.slope * x,
        _ => x,
    }
}
