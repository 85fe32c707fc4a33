//! Reading a payload with a contract, as C++ protobuf's JSON reader does with XLA's settings.

use serde::de::DeserializeSeed as _;

use super::super::Limits;
use super::super::held::Held;
use super::super::path::Path;
use super::object::Object;
use super::refused::{JsonReason, JsonRefused};
use super::visit::MessageSeed;
use crate::descriptor::Contract;

/// A payload as its reader holds it.
#[derive(Debug, Clone)]
pub struct Payload<'c> {
    contract: &'c Contract,
    root: Object<'c>,
}

impl<'c> Payload<'c> {
    /// The same tree as one read from bytes.
    pub fn held(&self) -> Held<'_> {
        Held { contract: self.contract, root: self.root.node() }
    }
}

/// Reads `text` as C++ protobuf with this contract would read JSON of a message of type `message`.
///
/// As XLA asks it to, it rejects unknown names. It takes a field's declared name and its name in camel
/// case; enum values by name and by number; numbers with and without quotes, whole ones also spelt as
/// `1.0` or `1e3`; both alphabets of base64. Null leaves a field unset. Its leniency is not optional:
/// a key may come twice (the last scalar counts, lists grow, a message's fields are replaced one by
/// one), but for a oneof, of which only one member may come, and for keys of a map; a single value
/// stands for a list of one, lists in a list are flattened, a null in a list is an empty value, and
/// booleans may be quoted words.
///
/// Differences: text must be JSON and UTF-8 by the standards, where C++ also takes single quotes,
/// bare keys, trailing commas, raw control characters and overlong UTF-8; `Any`, `Struct` and `Value`,
/// and the text forms of `Timestamp`, `Duration`, `FieldMask` and `ListValue` are refused as not modelled.
/// Empty text is no JSON; XLA takes it for an empty message.
///
/// # Errors
/// What C++ refuses, and what is larger than `limits` allow. Depth counts objects and lists.
pub fn parse<'c>(
    text: &[u8],
    contract: &'c Contract,
    message: &str,
    limits: Limits,
) -> Result<Payload<'c>, JsonRefused> {
    read(text, contract, message, limits, None).0
}

/// Reads on after names that the contract does not have, and returns the first few of them too.
pub(super) fn tolerant<'c>(
    text: &[u8],
    contract: &'c Contract,
    message: &str,
    limits: Limits,
) -> (Result<Payload<'c>, JsonRefused>, Vec<(String, JsonReason)>) {
    read(text, contract, message, limits, Some(Vec::new()))
}

fn read<'c>(
    text: &[u8],
    contract: &'c Contract,
    message: &str,
    limits: Limits,
    strangers: Option<Vec<(String, JsonReason)>>,
) -> (Result<Payload<'c>, JsonRefused>, Vec<(String, JsonReason)>) {
    let Some(ty) = contract.message(message) else {
        let reason = JsonReason::NoSuchMessage(message.to_owned());
        let refused = JsonRefused { line: 0, column: 0, path: String::new(), reason };
        return (Err(refused), Vec::new());
    };
    let mut root = Object::new(ty);
    let mut reader = Reader {
        contract,
        limits,
        depth: 0,
        memory: limits.memory,
        path: Path::default(),
        failure: None,
        strangers,
    };
    let mut json = serde_json::Deserializer::from_slice(text);
    let seed = MessageSeed { reader: &mut reader, object: &mut root };
    let result = match seed.deserialize(&mut json).and_then(|()| json.end()) {
        Ok(()) => Ok(Payload { contract, root }),
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let reason = reader.failure.take().unwrap_or_else(|| syntax(&error));
            Err(JsonRefused { line, column, path: reader.path.to_string(), reason })
        }
    };
    (result, reader.strangers.unwrap_or_default())
}

fn syntax(error: &serde_json::Error) -> JsonReason {
    let text = error.to_string();
    // The place is told apart.
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    JsonReason::Syntax(what.to_owned())
}

pub(super) struct Reader<'c> {
    pub(super) contract: &'c Contract,
    limits: Limits,
    depth: usize,
    memory: usize,
    /// Not unwound on failure: it then tells where.
    pub(super) path: Path<'c>,
    failure: Option<JsonReason>,
    /// Names that the contract does not have, with the places of their values; none to refuse the first.
    strangers: Option<Vec<(String, JsonReason)>>,
}

/// More names that the contract does not have are passed over.
const LISTED: usize = 20;

impl Reader<'_> {
    /// Notes a name that the contract does not have; false where it refuses the payload.
    pub(super) fn passes(&mut self, reason: &JsonReason) -> bool {
        let place = self.path.to_string();
        match (&mut self.strangers, reason) {
            (Some(list), JsonReason::NoSuchField { .. } | JsonReason::NoSuchValue { .. }) => {
                if list.len() < LISTED {
                    list.push((place, reason.clone()));
                }
                true
            }
            _ => false,
        }
    }

    /// Notes why; the error itself only carries the position.
    pub(super) fn refuse<E: serde::de::Error>(&mut self, reason: JsonReason) -> E {
        self.failure.get_or_insert(reason);
        E::custom("refused")
    }

    pub(super) fn enter<E: serde::de::Error>(&mut self) -> Result<(), E> {
        if self.depth >= self.limits.depth {
            return Err(self.refuse(JsonReason::TooDeep(self.limits.depth)));
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn spend<E: serde::de::Error>(&mut self, bytes: usize) -> Result<(), E> {
        match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => Err(self.refuse(JsonReason::TooLarge(self.limits.memory))),
        }
    }
}
