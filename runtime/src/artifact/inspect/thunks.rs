//! The thunk tree, by reflection: a kind of thunk that the contract gains is shown without a change here.

use std::collections::BTreeMap;

use prost_reflect::{DynamicMessage, ReflectMessage as _, Value};

use super::{Kernel, KernelForm, Thunk, cubin};
use crate::artifact::reflect::{sha256, sorted};

const THUNK: &str = "xla.gpu.ThunkProto";
const KERNEL: &str = "stream_executor.KernelLoaderSpecProto";

/// The thunks in a message that is itself none, outermost ones only.
pub(super) fn thunks_in(message: &DynamicMessage, role: &str, found: &mut Vec<Thunk>) {
    visit(message, role, &mut |role, message| {
        let is_thunk = message.descriptor().full_name() == THUNK;
        if is_thunk {
            found.push(thunk(message, role));
        }
        !is_thunk
    });
}

fn thunk(message: &DynamicMessage, role: &str) -> Thunk {
    let mut thunk = Thunk {
        role: role.to_owned(),
        kind: unknown_kind(message),
        id: 0,
        annotation: String::new(),
        detail: None,
        kernel: None,
        host_code: false,
        thunks: Vec::new(),
    };
    for (field, value) in message.fields() {
        let Value::Message(content) = value else { continue };
        if field.containing_oneof().is_none() {
            thunk.annotation = text(content, "profile_annotation").unwrap_or_default();
            thunk.id = content
                .get_field_by_name("thunk_id")
                .and_then(|id| id.as_i64())
                .unwrap_or_default();
            continue;
        }
        thunk.kind = field.name().trim_end_matches("_thunk").to_owned();
        thunk.detail = text(content, "target_name").or_else(|| text(content, "kernel_name"));
        thunk.host_code = content.has_field_by_name("execution_state");
        thunks_in(content, "", &mut thunk.thunks);
        thunk.kernel = kernel_in(content);
    }
    thunk
}

/// How a thunk is named whose kind the contract does not have: by the numbers of its fields.
fn unknown_kind(message: &DynamicMessage) -> String {
    let numbers: Vec<String> =
        message.unknown_fields().map(|field| field.number().to_string()).collect();
    if numbers.is_empty() { "none".to_owned() } else { format!("unknown {}", numbers.join(" ")) }
}

/// The kernel that a thunk carries itself.
fn kernel_in(content: &DynamicMessage) -> Option<Kernel> {
    let mut kernel = None;
    visit(content, "", &mut |_, message| {
        let name = message.descriptor().full_name().to_owned();
        if name == KERNEL && kernel.is_none() {
            kernel = Some(self::kernel(message));
        }
        name != KERNEL && name != THUNK
    });
    kernel
}

fn kernel(spec: &DynamicMessage) -> Kernel {
    let mut kernel = Kernel {
        name: text(spec, "kernel_name").unwrap_or_default(),
        form: KernelForm::None,
        architecture: None,
        size: 0,
        sha256: None,
    };
    for (field, value) in spec.fields() {
        let Value::Message(payload) = value else { continue };
        match field.name() {
            "cubin" => {
                kernel.form = KernelForm::Cubin;
                if let Some(data) = payload.get_field_by_name("data")
                    && let Some(data) = data.as_bytes()
                {
                    kernel.size = data.len();
                    kernel.sha256 = Some(sha256(std::slice::from_ref(data)));
                    kernel.architecture = cubin::architecture(data);
                }
            }
            "ptx" => {
                kernel.form = KernelForm::Ptx;
                let code = text(payload, "data").unwrap_or_default();
                kernel.size = code.len();
                kernel.sha256 = Some(sha256(&[code.into()]));
            }
            "in_process_symbol" => {
                kernel.form = KernelForm::InProcess;
                kernel.name = text(payload, "persistent_name").unwrap_or(kernel.name);
            }
            _ => {}
        }
    }
    kernel
}

fn text(message: &DynamicMessage, field: &str) -> Option<String> {
    let value = message.get_field_by_name(field)?;
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Shows `see` every message inside another, with the name of the field it is in; where `see` says no,
/// its inside is passed over.
fn visit(
    message: &DynamicMessage,
    role: &str,
    see: &mut impl FnMut(&str, &DynamicMessage) -> bool,
) {
    fn inside(value: &Value, role: &str, see: &mut impl FnMut(&str, &DynamicMessage) -> bool) {
        match value {
            Value::Message(message) if see(role, message) => visit(message, role, see),
            Value::List(values) => values.iter().for_each(|value| inside(value, role, see)),
            Value::Map(entries) => {
                sorted(entries).into_iter().for_each(|(_, value)| inside(value, role, see));
            }
            _ => {}
        }
    }
    for (field, value) in message.fields() {
        let name = field.name();
        // A wrapper's own name says more than "thunks" inside it.
        let name = if name == "thunks" && !role.is_empty() { role } else { name };
        inside(value, name, see);
    }
}

/// Counts fields that the contract lacks: owner's full name and number.
pub(super) fn count_unknown(message: &DynamicMessage, count: &mut BTreeMap<(String, u32), usize>) {
    let mut own = |message: &DynamicMessage| {
        for field in message.unknown_fields() {
            let owner = message.descriptor().full_name().to_owned();
            *count.entry((owner, field.number())).or_default() += 1;
        }
        true
    };
    own(message);
    visit(message, "", &mut |_, inner| own(inner));
}
