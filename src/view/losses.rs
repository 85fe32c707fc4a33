//! What a reader with one contract makes of bytes that were written with another.

use super::compare::Comparison;
use super::decode::{Limits, decode};
use super::json;
use super::loss::{Loss, LossKind};
use super::refused::Refused;
use crate::change::Pairs;
use crate::descriptor::Contract;

/// What a reader with the contract `reader` loses or misreads of a message of type `root` that was
/// written with the contract `writer`.
///
/// Equal losses are one entry with a count and the first path, in the writer's names. A field that is
/// not on the wire cannot be lost, but for a default that the two contracts spell differently. Fields
/// that the writer's own contract does not know are left out.
///
/// Where both contracts have payload messages ([`Contract::json_roots`]), losses inside JSON payloads
/// follow those of the binary encoding.
pub fn losses(bytes: &[u8], writer: &Contract, reader: &Contract, root: &str) -> Vec<Loss> {
    let written = match decode(bytes, writer, root, Limits::default()) {
        Ok(held) => held,
        Err(refused) => {
            return vec![refusal(root, "refused even by the writer's contract", &refused)];
        }
    };
    let pairs = Pairs::new(writer, reader);
    let counterpart = pairs.message_in_head(root).map_or(root, |name| name);
    let read = match decode(bytes, reader, counterpart, Limits::default()) {
        Ok(held) => held,
        Err(refused) => return vec![refusal(root, "the reader refuses the message", &refused)],
    };
    let mut losses = Comparison::run(&written, &read, &pairs);
    losses.extend(json::payload_losses(&written, reader, &pairs));
    losses
}

fn refusal(root: &str, why: &'static str, refused: &Refused) -> Loss {
    Loss {
        kind: LossKind::Refused,
        construct: root.to_owned(),
        path: refused.path.clone(),
        count: 1,
        why,
        detail: refused.to_string(),
    }
}
