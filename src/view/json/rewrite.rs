//! A message with other texts in place of its payloads.

use std::collections::HashMap;

use super::super::held::{Held, Node, Slot, Value};
use super::super::loss::Loss;
use super::super::translate::carry;
use super::content::{Rule, content, rule};
use super::print::print;
use super::walk::{Met, REFERENCE, Text, reference_id, walk};
use crate::change::Pairs;
use crate::descriptor::Contract;

/// Canonical bytes of what the reader's code sees, payloads included: the order of keys and white space in
/// their JSON make no difference, nor does which payloads share an entry of their module's table. Text
/// that is no message, or may be several, stays as it is.
pub fn canonical(held: &Held<'_>) -> Vec<u8> {
    let texts = Texts::collect(held, &mut |rule, text| match content(rule, text, held.contract)
        .1
        .as_slice()
    {
        [payload] => (Some(print(&payload.held()).into_bytes()), Vec::new()),
        _ => (None, Vec::new()),
    });
    texts.apply(held).canonical()
}

/// The texts of `held` in the names of another contract, and what is lost in them; none where payloads
/// are not part of the contract that it was read with.
pub(in crate::view) fn translated(
    held: &Held<'_>,
    to: &Contract,
    pairs: &Pairs,
) -> Option<(Texts, Vec<Loss>)> {
    if held.contract.json_roots.is_empty() {
        return None;
    }
    let mut texts = Texts::collect(
        held,
        &mut |rule, text| match content(rule, text, held.contract).1.as_slice() {
            [payload] => {
                let payload = payload.held();
                let (node, losses) = carry(&payload, to, pairs);
                let text = node.map(|root| print(&Held { contract: to, root }).into_bytes());
                (text, losses)
            }
            _ => (None, Vec::new()),
        },
    );
    let losses = std::mem::take(&mut texts.losses);
    Some((texts, losses))
}

/// What becomes of the payloads, in the order of the walk.
#[derive(Default)]
pub(in crate::view) struct Texts {
    edits: Vec<Edit>,
    /// One for each module.
    tables: Vec<Table>,
    losses: Vec<Loss>,
}

enum Edit {
    Keep,
    Text(Vec<u8>),
    Shared(u64),
}

/// Different texts in the order first used.
#[derive(Default)]
struct Table {
    texts: Vec<Vec<u8>>,
    index: HashMap<Vec<u8>, u64>,
}

impl Table {
    fn add(&mut self, text: Vec<u8>) -> u64 {
        let next = self.texts.len() as u64;
        *self.index.entry(text.clone()).or_insert_with(|| {
            self.texts.push(text);
            next
        })
    }
}

/// What one payload becomes; none for no change. Losses have paths inside the payload.
type Change = (Option<Vec<u8>>, Vec<Loss>);

impl Texts {
    fn collect(held: &Held<'_>, change: &mut dyn FnMut(Rule, &[u8]) -> Change) -> Texts {
        let mut texts = Texts::default();
        let mut known: HashMap<(Rule, &[u8]), Change> = HashMap::new();
        walk(held, &mut |met, path| match met {
            Met::Module => texts.tables.push(Table::default()),
            Met::Instruction(site) => {
                let source = site.text();
                let text = match source {
                    Some(Text::Inline(text) | Text::Value(text) | Text::Shared(Some(text))) => text,
                    Some(Text::Shared(None)) | None => return texts.edits.push(Edit::Keep),
                };
                let rule = rule(site);
                let (new, lost) = known.entry((rule, text)).or_insert_with(|| change(rule, text));
                texts.losses.extend(lost.iter().map(|loss| {
                    let path = format!("{path}.backend_config: {}", loss.path);
                    Loss { path, ..loss.clone() }
                }));
                let table = site.module.and_then(|module| texts.tables.get_mut(module.ordinal));
                texts.edits.push(match (source, new, table) {
                    (Some(Text::Shared(_)), new, Some(table)) => {
                        Edit::Shared(table.add(new.clone().unwrap_or_else(|| text.to_vec())))
                    }
                    (_, Some(new), _) => Edit::Text(new.clone()),
                    _ => Edit::Keep,
                });
            }
            Met::Reference(module, reference) => {
                let text = reference_id(reference).and_then(|id| module?.payload(id));
                let table = module.and_then(|module| texts.tables.get_mut(module.ordinal));
                texts.edits.push(match (text, table) {
                    (Some(text), Some(table)) => Edit::Shared(table.add(text.to_vec())),
                    _ => Edit::Keep,
                });
            }
        });
        texts
    }

    /// The same message with these texts.
    pub(in crate::view) fn apply<'s>(&'s self, held: &'s Held<'_>) -> Held<'s> {
        let mut held: Held<'s> = held.clone();
        let reference = held
            .contract
            .message("xla.HloInstructionProto")
            .and_then(|m| m.field_named(REFERENCE)?.ty.named())
            .map(|name| &**name);
        let (edits, tables) = (self.edits.iter(), self.tables.iter());
        Applier { edits, tables, reference }.node(&mut held.root, false);
        held
    }
}

struct Applier<'s> {
    edits: std::slice::Iter<'s, Edit>,
    tables: std::slice::Iter<'s, Table>,
    reference: Option<&'s str>,
}

impl<'s> Applier<'s> {
    fn node(&mut self, node: &mut Node<'s>, own: bool) {
        let name = &*node.ty.name;
        let instruction = name == "xla.HloInstructionProto";
        if name == "xla.HloModuleProto" {
            let (Some(table), Some(field)) = (self.tables.next(), node.ty.field_named("payloads"))
            else {
                return;
            };
            let list: Vec<&[u8]> = table.texts.iter().map(Vec::as_slice).collect();
            if list.is_empty() {
                node.slots.retain(|(number, _)| *number != field.number);
            } else {
                *node.slot_or(field.number, || Slot::Bytes(Vec::new())) = Slot::Bytes(list);
            }
        } else if instruction {
            match self.edits.next() {
                Some(edit) => instruct(node, edit),
                None => return,
            }
        } else if !own && Some(name) == self.reference {
            match self.edits.next() {
                Some(edit) => refer(node, edit),
                None => return,
            }
        }
        let ty = node.ty;
        for (number, slot) in &mut node.slots {
            let own = instruction && ty.field(*number).is_some_and(|f| &*f.name == REFERENCE);
            match slot {
                Slot::One(Value::Message(node)) => self.node(node, own),
                Slot::Messages(list) => list.iter_mut().for_each(|node| self.node(node, own)),
                Slot::Map(map) => {
                    for value in map.values_mut() {
                        if let Value::Message(node) = value {
                            self.node(node, own);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Gives an instruction its new payload, where it had the old one.
fn instruct<'s>(node: &mut Node<'s>, edit: &'s Edit) {
    let ty = node.ty;
    if let Some(field) = ty.field_named(REFERENCE)
        && let Some((_, Slot::One(Value::Message(reference)))) =
            node.slots.iter_mut().find(|(number, _)| *number == field.number)
    {
        return refer(reference, edit);
    }
    if let (Edit::Text(text), Some(field)) = (edit, ty.field_named("backend_config")) {
        node.set(field, Value::Bytes(text));
    }
}

fn refer<'s>(reference: &mut Node<'s>, edit: &'s Edit) {
    let ty = reference.ty;
    match edit {
        Edit::Keep => {}
        Edit::Text(text) => {
            if let Some(field) = ty.field_named("value") {
                reference.set(field, Value::Bytes(text));
            }
        }
        Edit::Shared(id) => {
            if let Some(field) = ty.field_named("id") {
                reference.set(field, Value::Bits(*id));
            }
        }
    }
}
