//! Reading a message with a contract, by the rules of C++ protobuf.

use super::cursor::Cursor;
use super::fields::Decoder;
use super::held::{Held, Node};
use super::refused::{Failure, Reason, Refused};
use super::required;
use crate::descriptor::{Contract, Message};

/// Bounds of what [`decode`] accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Levels of messages below the root, unknown groups and map entries included. The decoder
    /// recurses this deep.
    pub depth: usize,
    /// About how many bytes the tree may take; strings and bytes are borrowed and do not count.
    pub memory: usize,
}

impl Default for Limits {
    /// C++'s recursion limit, and 1 GiB.
    fn default() -> Self {
        Limits { depth: 100, memory: 1 << 30 }
    }
}

/// Reads `bytes` as C++ protobuf with this contract would read a message of type `root`.
///
/// # Errors
/// What C++ refuses: malformed encoding, nesting over the limit, invalid UTF-8 in a verified string,
/// a required field that is not set. Also what is larger than `limits` allow.
pub fn decode<'a>(
    bytes: &'a [u8],
    contract: &'a Contract,
    root: &str,
    limits: Limits,
) -> Result<Held<'a>, Refused> {
    let Some(ty) = contract.message(root) else {
        let reason = Reason::NoSuchMessage(root.to_owned());
        return Err(Refused { offset: 0, path: String::new(), reason });
    };
    decode_as(bytes, contract, ty, limits).map(|root| Held { contract, root })
}

/// Reads a message whose type need not be in the contract.
pub(super) fn decode_as<'a>(
    bytes: &'a [u8],
    contract: &'a Contract,
    ty: &'a Message,
    limits: Limits,
) -> Result<Node<'a>, Refused> {
    let mut decoder = Decoder::new(contract, limits);
    decoder.types.see(ty);
    let mut root = Node::new(ty);
    if let Err(Failure { offset, reason }) =
        decoder.fields(&mut root, &mut Cursor::new(bytes), None)
    {
        return Err(Refused { offset, path: decoder.path.to_string(), reason });
    }
    // Few schemas have required fields, and looking for them takes a walk over everything.
    let missing = if decoder.types.required { required::missing(&root) } else { Vec::new() };
    if !missing.is_empty() {
        let reason = Reason::RequiredMissing(missing);
        return Err(Refused { offset: bytes.len(), path: String::new(), reason });
    }
    Ok(root)
}
