//! Losses that change nothing in what a program computes.

use crate::triage::policy::Policy;
use crate::view::{Loss, LossKind};

const DEBUG_OPTIONS: &str = "xla.DebugOptions";
const OPTIONS_PATH: &str = "hlo_module_with_config.config.debug_options.";

/// Fields that only say something about the program, or how fast it runs.
const FIELDS: [(&str, &str); 9] = [
    ("xla.gpu.GpuExecutableProto.gpu_topology", "a record of what it was compiled for"),
    ("xla.gpu.GpuExecutableProto.module_name", "for logs"),
    ("xla.gpu.GpuExecutableProto.buffer_allocations_debug_summary", "text for error messages"),
    ("xla.gpu.GpuExecutableProto.executable_abi_version", "a record of library versions"),
    ("xla.gpu.CustomKernelThunkProto.use_pdl", "without it the kernel starts later"),
    ("xla.gpu.KernelThunkProto.use_pdl", "without it the kernel starts later"),
    ("xla.gpu.CustomCallThunkProto.use_pdl", "without it the kernel starts later"),
    ("xla.DebugOptions.xla_gpu_trace_annotation_level", "how much profiles say"),
    ("xla.gpu.DynamicSliceConfig.linear", "0.11.2 runs artifacts that have it, to the same bits"),
];

/// Why a loss does not matter; `None` where it may. `thunks`: the artifact is in the thunk format.
pub(super) fn why(loss: &Loss, policy: &Policy, thunks: bool) -> Option<String> {
    if loss.kind == LossKind::Refused {
        return None;
    }
    if let Some((_, why)) = FIELDS.iter().find(|(field, _)| *field == loss.construct) {
        return Some((*why).to_owned());
    }
    if let Some(rest) = loss.path.strip_prefix(OPTIONS_PATH) {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let option = format!("{DEBUG_OPTIONS}.{}", rest.get(..end).unwrap_or(rest));
        let class = policy.class_of(DEBUG_OPTIONS, &option)?;
        return Some(class.reason.clone());
    }
    if let Some((owner, _)) = loss.construct.rsplit_once('.')
        && let Some(class) = policy.class_of(owner, &loss.construct)
    {
        return Some(class.reason.clone());
    }
    // Values of constants are read from the module; all else there is for logs and passes.
    let in_module = loss.path.starts_with("hlo_module_with_config.hlo_module.")
        && !loss.path.contains(".literal");
    let informative = in_module || loss.path.starts_with("buffer_assignment");
    (thunks && informative).then(|| "the thunks are run, not the HLO module".to_owned())
}
