//! The outer layer, `xla.ExecutableAndOptionsProto`: the executable as bytes, and its compile options.

use prost::bytes::Bytes;

use super::rope::Rope;
use super::split_proto::Plan;
use super::wire::{Fields, Wire, push_field};
use crate::error::{Error, ErrorKind};

/// Full name of the message.
pub(super) const MESSAGE: &str = "xla.ExecutableAndOptionsProto";

const SERIALIZED_EXECUTABLE: u32 = 1;
const COMPILE_OPTIONS: u32 = 2;
const PJRT_CLIENT_NAME: u32 = 3;

/// How XLA's writer splits the message.
pub(super) const PLAN: Plan =
    Plan { message_type: MESSAGE, overrides: &[SERIALIZED_EXECUTABLE], together: None, each: None };

/// The outer layer without the executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outer {
    /// Every field but the executable, as it was written.
    rest: Rope,
    compile_options: Bytes,
    client_name: String,
}

impl Outer {
    /// The serialized `xla.CompileOptionsProto`; empty where there is none.
    pub fn compile_options(&self) -> &Bytes {
        &self.compile_options
    }

    /// Name of the client that compiled the artifact; empty where it is not recorded.
    pub fn client_name(&self) -> &str {
        &self.client_name
    }

    /// The message without its executable.
    pub fn message(&self) -> &Rope {
        &self.rest
    }

    /// The layer from a message without its executable, as a text golden has it.
    pub(super) fn from_rest(rest: Rope, layer: &str) -> Result<Outer, Error> {
        Ok(scan(&rest, layer)?.0)
    }

    /// The message with `executable` in it.
    pub(super) fn with(&self, executable: Vec<u8>) -> Rope {
        let mut message = Rope::default();
        if !executable.is_empty() {
            push_field(&mut message, SERIALIZED_EXECUTABLE, &executable.into());
        }
        message.append(&self.rest);
        message
    }
}

/// Takes a message apart into the layer and the executable.
pub(super) fn read(message: &Rope, layer: &str) -> Result<(Outer, Rope), Error> {
    let (outer, executable) = scan(message, layer)?;
    if executable.is_empty() {
        return Err(ErrorKind::Malformed {
            layer: layer.to_owned(),
            offset: 0,
            what: "serialized_executable".to_owned(),
            expected: "an executable".to_owned(),
            found: "none".to_owned(),
        }
        .into());
    }
    Ok((outer, executable))
}

fn scan(message: &Rope, layer: &str) -> Result<(Outer, Rope), Error> {
    let (mut executable, mut options) = (Rope::default(), Rope::default());
    let mut rest = Rope::default();
    let mut client_name = String::new();
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next_field().map_err(|error| error.in_layer(layer))? {
        let value = || message.slice(field.value.clone()).unwrap_or_default();
        match (field.number, field.wire) {
            (SERIALIZED_EXECUTABLE, Wire::Length) => {
                executable = value();
                continue;
            }
            (COMPILE_OPTIONS, Wire::Length) => options.append(&value()),
            (PJRT_CLIENT_NAME, Wire::Length) => {
                client_name = String::from_utf8_lossy(&value().to_bytes()).into_owned();
            }
            _ => {}
        }
        rest.append(&message.slice(field.whole).unwrap_or_default());
    }
    Ok((Outer { rest, compile_options: options.to_bytes(), client_name }, executable))
}
