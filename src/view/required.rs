//! Required fields that are not set.

use super::held::{Node, Slot, Value};
use super::path::Path;
use crate::descriptor::Label;

/// More are not listed.
const LISTED: usize = 10;

/// Paths of required fields that are not set, the first few.
pub(super) fn missing(root: &Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    visit(root, &mut Path::default(), &mut found);
    found
}

fn visit<'n>(node: &'n Node<'_>, path: &mut Path<'n>, found: &mut Vec<String>) {
    for field in node.ty.fields.iter().filter(|f| f.label == Label::Required) {
        if found.len() < LISTED && node.slot(field.number).is_none() {
            path.field(&field.name);
            found.push(path.to_string());
            path.pop();
        }
    }
    for (field, slot) in node.fields() {
        path.field(&field.name);
        match slot {
            Slot::One(Value::Message(message)) => visit(message, path, found),
            Slot::Messages(list) => {
                for (at, message) in list.iter().enumerate() {
                    path.index(at);
                    visit(message, path, found);
                    path.pop();
                }
            }
            Slot::Map(map) => {
                for (key, value) in map {
                    let Value::Message(message) = value else { break };
                    path.key(*key);
                    visit(message, path, found);
                    path.pop();
                }
            }
            _ => {}
        }
        path.pop();
    }
}
