//! What was found out about a text, so that one that many instructions share is read once.

use std::collections::HashMap;

use super::content::Rule;

/// Results by rule and text. A text in the same place is not even compared: a large one that a million
/// instructions refer to costs no more than one.
pub(super) struct Memo<'t, T> {
    by_place: HashMap<(Rule, usize, usize), usize>,
    by_text: HashMap<(Rule, &'t [u8]), usize>,
    results: Vec<T>,
}

impl<T> Default for Memo<'_, T> {
    fn default() -> Self {
        Memo { by_place: HashMap::new(), by_text: HashMap::new(), results: Vec::new() }
    }
}

impl<'t, T> Memo<'t, T> {
    /// The position of the result, and the result.
    pub(super) fn get(
        &mut self,
        rule: Rule,
        text: &'t [u8],
        find: impl FnOnce() -> T,
    ) -> (usize, Option<&T>) {
        let results = &mut self.results;
        let by_text = &mut self.by_text;
        let at =
            *self.by_place.entry((rule, text.as_ptr() as usize, text.len())).or_insert_with(|| {
                *by_text.entry((rule, text)).or_insert_with(|| {
                    results.push(find());
                    results.len() - 1
                })
            });
        (at, self.results.get(at))
    }
}
