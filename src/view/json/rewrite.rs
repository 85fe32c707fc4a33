//! A message with other texts in place of its payloads.

use std::collections::HashMap;

use super::super::held::{Held, Node, Slot, Value};
use super::super::loss::Loss;
use super::super::translate::carry;
use super::content::{Rule, content, located, rule};
use super::memo::Memo;
use super::print::print;
use super::tally::Tally;
use super::walk::{Met, REFERENCE, Text, reference_id, walk};
use crate::change::Pairs;
use crate::descriptor::{Contract, Field};

/// Canonical bytes of what the reader's code sees, payloads included: the order of keys and white space in
/// their JSON make no difference, nor does which payloads share an entry of their module's table. Text
/// that is no message, or may be several, stays as it is.
pub fn canonical(held: &Held<'_>) -> Vec<u8> {
    let (texts, _) = Texts::collect(held, &mut |rule, text| {
        let (_, payloads) = content(rule, text, held.contract);
        match payloads.as_slice() {
            [payload] => (Some(print(&payload.held()).into_bytes()), Vec::new()),
            _ => (None, Vec::new()),
        }
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
    Some(Texts::collect(held, &mut |rule, text| {
        let (_, payloads) = content(rule, text, held.contract);
        let [payload] = payloads.as_slice() else { return (None, Vec::new()) };
        let payload = payload.held();
        let (node, losses) = carry(&payload, to, pairs);
        (node.map(|root| print(&Held { contract: to, root }).into_bytes()), losses)
    }))
}

/// What becomes of the payloads, in the order of the walk.
#[derive(Default)]
pub(in crate::view) struct Texts {
    edits: Vec<Edit>,
    /// One for each module.
    tables: Vec<Table>,
    /// Different new texts.
    texts: Vec<Vec<u8>>,
}

#[derive(Clone, Copy)]
enum Edit {
    Keep,
    /// A position in the list of new texts.
    Text(usize),
    /// A position in the module's table.
    Shared(u64),
}

/// Different texts in the order first used.
#[derive(Default)]
struct Table {
    texts: Vec<Vec<u8>>,
    index: HashMap<Vec<u8>, u64>,
    /// By position in the memo, so that a text is hashed once.
    memo: HashMap<usize, u64>,
}

impl Table {
    /// The entry with this text; `at` is its position in the memo.
    fn add(&mut self, at: usize, text: &[u8]) -> u64 {
        let (index, texts) = (&mut self.index, &mut self.texts);
        *self.memo.entry(at).or_insert_with(|| match index.get(text) {
            Some(id) => *id,
            None => {
                let id = texts.len() as u64;
                texts.push(text.to_vec());
                index.insert(text.to_vec(), id);
                id
            }
        })
    }
}

/// A new text over this many times the old one, plus a little, is not used: a few bytes of text can stand
/// for a message with many fields.
const GROWTH: usize = 64;
const SMALL: usize = 4096;

/// What one payload becomes; none for no change. Losses have paths inside the payload.
type Change = (Option<Vec<u8>>, Vec<Loss>);

impl Texts {
    fn collect(
        held: &Held<'_>,
        change: &mut dyn FnMut(Rule, &[u8]) -> Change,
    ) -> (Texts, Vec<Loss>) {
        let (mut texts, mut known, mut tally) =
            (Texts::default(), Memo::default(), Tally::default());
        walk(held, &mut |met, path| match met {
            Met::Module => texts.tables.push(Table::default()),
            Met::Instruction(site) => {
                let source = site.text();
                let text = match source {
                    Some(Text::Inline(text) | Text::Value(text) | Text::Shared(Some(text))) => text,
                    Some(Text::Shared(None)) | None => return texts.edits.push(Edit::Keep),
                };
                let rule = rule(site);
                let (at, found) = known.get(rule, text, || {
                    let (new, losses) = change(rule, text);
                    let kept = new.filter(|new| new.len() <= GROWTH * text.len() + SMALL);
                    let kept = kept.map(|new| {
                        texts.texts.push(new);
                        texts.texts.len() - 1
                    });
                    (kept, losses)
                });
                let Some((new, losses)) = found else { return texts.edits.push(Edit::Keep) };
                for loss in losses {
                    tally.add(loss, || {
                        let field = located(site).map_or("backend_config", |(field, _)| field);
                        format!("{path}.{field}")
                    });
                }
                let table = site.module.and_then(|module| texts.tables.get_mut(module.ordinal));
                texts.edits.push(match (source, new, table) {
                    (Some(Text::Shared(_)), new, Some(table)) => {
                        let new = new.and_then(|new| texts.texts.get(new));
                        Edit::Shared(table.add(at, new.map_or(text, Vec::as_slice)))
                    }
                    (_, Some(new), _) => Edit::Text(*new),
                    _ => Edit::Keep,
                });
            }
            Met::Reference(module, reference) => {
                let text = reference_id(reference).and_then(|id| module?.payload(id));
                let table = module.and_then(|module| texts.tables.get_mut(module.ordinal));
                let (at, _) = known.get(
                    Rule::Opaque("no instruction's payload"),
                    text.unwrap_or_default(),
                    || (None, Vec::new()),
                );
                texts.edits.push(match (text, table) {
                    (Some(text), Some(table)) => Edit::Shared(table.add(at, text)),
                    _ => Edit::Keep,
                });
            }
        });
        (texts, tally.finish())
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
        let texts = &self.texts;
        Applier { edits, tables, texts, reference }.node(&mut held.root, false);
        held
    }
}

struct Applier<'s> {
    edits: std::slice::Iter<'s, Edit>,
    tables: std::slice::Iter<'s, Table>,
    texts: &'s [Vec<u8>],
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
                Some(edit) => self.instruct(node, *edit),
                None => return,
            }
        } else if !own && Some(name) == self.reference {
            match self.edits.next() {
                Some(edit) => self.refer(node, *edit),
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

    /// Gives an instruction its new payload, where it had the old one.
    fn instruct(&self, node: &mut Node<'s>, edit: Edit) {
        let ty = node.ty;
        if let Some(field) = ty.field_named(REFERENCE)
            && let Some((_, Slot::One(Value::Message(reference)))) =
                node.slots.iter_mut().find(|(number, _)| *number == field.number)
        {
            return self.refer(reference, edit);
        }
        if let (Edit::Text(at), Some(field)) = (edit, ty.field_named("backend_config")) {
            self.replace(node, field, at);
        }
    }

    fn refer(&self, reference: &mut Node<'s>, edit: Edit) {
        let ty = reference.ty;
        match edit {
            Edit::Keep => {}
            Edit::Text(at) => {
                if let Some(field) = ty.field_named("value") {
                    self.replace(reference, field, at);
                }
            }
            Edit::Shared(id) => {
                if let Some(field) = ty.field_named("id") {
                    reference.set(field, Value::Bits(id));
                }
            }
        }
    }

    fn replace(&self, node: &mut Node<'s>, field: &Field, at: usize) {
        if let Some(text) = self.texts.get(at) {
            node.set(field, Value::Bytes(text));
        }
    }
}
