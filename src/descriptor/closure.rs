//! Reachability: which types an artifact can carry.

use std::collections::HashSet;
use std::sync::Arc;

use super::model::{Contract, Field, Message, Name, Reach};

impl Contract {
    /// Names of all types reachable from `start` by message and enum typed fields, `start` included.
    ///
    /// `follow` decides per field whether its type is followed.
    pub fn reachable_from<'a>(
        &'a self,
        start: impl IntoIterator<Item = &'a Name>,
        follow: impl Fn(&Message, &Field) -> bool,
    ) -> HashSet<&'a Name> {
        let mut seen = HashSet::new();
        let mut queue: Vec<&Name> = start.into_iter().collect();
        while let Some(name) = queue.pop() {
            if !seen.insert(name) {
                continue;
            }
            if let Some(message) = self.messages.get(name) {
                let typed = message.fields.iter().filter_map(|f| Some((f, f.ty.named()?)));
                queue.extend(typed.filter(|(f, _)| follow(message, f)).map(|(_, name)| name));
            }
        }
        seen
    }

    /// Sets [`Reach`] of every type from the binary roots and the JSON payload messages.
    pub(super) fn mark_reachable(&mut self) {
        let closed = |roots: &[Name]| -> HashSet<Name> {
            self.reachable_from(roots, |_, _| true).into_iter().cloned().collect()
        };
        let wire = closed(&self.roots);
        let json = closed(&self.json_roots);
        let reach = |name: &Name| Reach { wire: wire.contains(name), json: json.contains(name) };
        // Types that other contracts share are copied only where they differ.
        for (name, message) in &mut self.messages {
            let reach = reach(name);
            if message.reach != reach {
                Arc::make_mut(message).reach = reach;
            }
        }
        for (name, enumeration) in &mut self.enums {
            let reach = reach(name);
            if enumeration.reach != reach {
                Arc::make_mut(enumeration).reach = reach;
            }
        }
    }
}
