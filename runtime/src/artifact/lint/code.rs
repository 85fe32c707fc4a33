//! Which fields hold device code.

use prost_reflect::FieldDescriptor;

/// Whether a bytes field holds device code: by its name, or as the data of a cubin.
pub(super) fn is_device_code(field: &FieldDescriptor) -> bool {
    matches!(field.name(), "cubin" | "binary")
        || field.full_name() == "stream_executor.CudaCubinProto.data"
}
