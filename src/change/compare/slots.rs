//! What is derived once per pair of messages, so that comparing stays linear in the number of fields.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::change::Sides;
use crate::descriptor::{Field, Message, Oneof};

/// A message in base and head, with what its fields' comparisons share.
pub(super) struct Slots<'a> {
    pub(super) base: &'a Message,
    pub(super) head: &'a Message,
    oneofs: OnceCell<Oneofs<'a>>,
    common_words: OnceCell<HashSet<&'a str>>,
}

/// Member numbers per oneof, members that the other side lacks left aside.
type Members<'a> = HashMap<&'a str, Vec<i32>>;

struct Oneofs<'a> {
    base: Members<'a>,
    head: Members<'a>,
    renamed: Vec<(&'a Oneof, &'a Oneof)>,
}

impl<'a> Slots<'a> {
    pub(super) fn new(base: &'a Message, head: &'a Message) -> Self {
        Slots { base, head, oneofs: OnceCell::new(), common_words: OnceCell::new() }
    }

    pub(super) fn owner(&self) -> Sides<'a, Message> {
        Sides::both(self.base, self.head)
    }

    fn oneofs(&self) -> &Oneofs<'a> {
        self.oneofs.get_or_init(|| {
            let (base, head) = (members(self.base, self.head), members(self.head, self.base));
            let names = |message: &'a Message| -> HashSet<&'a str> {
                message.oneofs.iter().map(|o| &*o.name).collect()
            };
            let (base_names, head_names) = (names(self.base), names(self.head));
            let mut renamed = Vec::new();
            for to in self.head.oneofs.iter().filter(|o| !base_names.contains(&*o.name)) {
                let Some(numbers) = head.get(&*to.name) else { continue };
                let first = numbers.first().and_then(|number| self.base.field(*number));
                let Some(from) = first.and_then(|field| field.oneof.as_deref()) else { continue };
                if !head_names.contains(from) && base.get(from) == Some(numbers) {
                    renamed.extend(
                        self.base.oneofs.iter().find(|o| &*o.name == from).map(|o| (o, to)),
                    );
                }
            }
            Oneofs { base, head, renamed }
        })
    }

    /// Oneofs with the same members under another name.
    pub(super) fn renamed_oneofs(&self) -> &[(&'a Oneof, &'a Oneof)] {
        &self.oneofs().renamed
    }

    /// Whether the field stayed in its oneof, which only got another name.
    pub(super) fn oneof_was_renamed(&self, base: &Field, head: &Field) -> bool {
        let (Some(from), Some(to)) = (&base.oneof, &head.oneof) else { return false };
        self.renamed_oneofs().iter().any(|(a, b)| a.name == *from && b.name == *to)
    }

    /// How many other members of the field's oneof exist on both sides, in base and in head.
    pub(super) fn siblings(&self, base: &Field, head: &Field) -> (usize, usize) {
        let count = |members: &Members<'_>, field: &Field| {
            let oneof = field.oneof.as_deref().and_then(|oneof| members.get(oneof));
            oneof.map_or(0, |numbers| numbers.len().saturating_sub(1))
        };
        let oneofs = self.oneofs();
        (count(&oneofs.base, base), count(&oneofs.head, head))
    }

    /// Whether two names look like one field renamed: more than half of the shorter name's words stand
    /// in the other too, words that half of the message's fields have (`xla`, `gpu`) left aside.
    pub(super) fn related(&self, base: &str, head: &str) -> bool {
        let common = self.common_words.get_or_init(|| {
            let fields = &self.base.fields;
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for field in fields {
                let words: HashSet<&str> = words(&field.name).collect();
                for word in words {
                    *counts.entry(word).or_default() += 1;
                }
            }
            let enough = |count: usize| fields.len() >= 8 && 2 * count >= fields.len();
            counts.into_iter().filter(|(_, count)| enough(*count)).map(|(word, _)| word).collect()
        });
        related_words(base, head, common)
    }
}

/// Whether more than half of the shorter name's words stand in the other too, `common` ones left aside.
fn related_words(base: &str, head: &str, common: &HashSet<&str>) -> bool {
    fn telling<'n>(name: &'n str, common: &HashSet<&str>) -> HashSet<&'n str> {
        words(name).filter(|word| !common.contains(word)).collect()
    }
    let (base, head) = (telling(base, common), telling(head, common));
    let shared = base.intersection(&head).count();
    2 * shared > base.len().min(head.len())
}

/// Whether two names of one enum number look like one value renamed; the prefix that both share tells
/// nothing.
pub(super) fn related_values(base: &str, head: &str) -> bool {
    let shared = base.bytes().zip(head.bytes()).take_while(|(a, b)| a == b).count();
    let prefix = base.get(..shared).and_then(|p| p.rfind('_')).map_or(0, |at| at + 1);
    let rest = |name: &str| name.get(prefix..).unwrap_or_default().to_owned();
    related_words(&rest(base), &rest(head), &HashSet::new())
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(['_', '.', '[', ']']).filter(|word| !word.is_empty())
}

fn members<'a>(owner: &'a Message, other: &Message) -> Members<'a> {
    let mut members = Members::new();
    for field in owner.fields.iter().filter(|f| other.field(f.number).is_some()) {
        if let Some(oneof) = &field.oneof {
            members.entry(oneof).or_default().push(field.number);
        }
    }
    members
}
