//! Reserved numbers and names, as sets.

use super::{Comparison, change};
use crate::change::{ChangeKind, Subject};
use crate::descriptor::{Name, Reach};

/// Reserved numbers and names of one type.
pub(super) type Reserved<'r> = (&'r [(i32, i32)], &'r [Name]);

impl<'a> Comparison<'a, '_> {
    pub(super) fn reserved(
        &mut self,
        base: Reserved<'_>,
        head: Reserved<'_>,
        owner: &str,
        reach: Reach,
        subject: Subject<'a>,
    ) {
        for (kind, from, to) in
            [(ChangeKind::ReservedDropped, base, head), (ChangeKind::ReservedAdded, head, base)]
        {
            let gone = subtract(from.0, to.0);
            let kept = |name: &Name| to.1.binary_search(name).is_ok();
            let gone_names: Vec<&str> = from.1.iter().filter(|n| !kept(n)).map(|n| &**n).collect();
            if gone.is_empty() && gone_names.is_empty() {
                continue;
            }
            let mut text = Vec::new();
            if !gone.is_empty() {
                text.push(ranges(&gone));
            }
            text.extend(gone_names.iter().map(|n| format!("\"{n}\"")));
            let mut found = change(kind, owner.to_owned(), reach, subject);
            let text = Some(text.join(", "));
            match kind {
                ChangeKind::ReservedDropped => found.before = text,
                _ => found.after = text,
            }
            self.push(found);
        }
    }
}

/// Ranges as a `reserved` statement spells them.
pub(crate) fn ranges(list: &[(i32, i32)]) -> String {
    let text: Vec<String> = list
        .iter()
        .map(|&(lo, hi)| if lo == hi { lo.to_string() } else { format!("{lo} to {hi}") })
        .collect();
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}

/// The parts of `from` that no range of `minus` covers; both sorted and without overlaps.
pub(crate) fn subtract(from: &[(i32, i32)], minus: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let wide = |&(lo, hi): &(i32, i32)| (i64::from(lo), i64::from(hi));
    let mut minus = minus.iter().map(wide).peekable();
    let mut rest = Vec::new();
    for (lo, hi) in from.iter().map(wide) {
        let mut next = lo;
        while next <= hi {
            match minus.peek() {
                Some(&(_, end)) if end < next => {
                    minus.next();
                }
                Some(&(start, end)) if start <= hi => {
                    if start > next {
                        rest.push((next, start - 1));
                    }
                    next = end + 1;
                }
                _ => {
                    rest.push((next, hi));
                    break;
                }
            }
        }
    }
    rest.into_iter()
        .filter_map(|(lo, hi)| Some((i32::try_from(lo).ok()?, i32::try_from(hi).ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_subtract() {
        assert_eq!(subtract(&[(1, 10)], &[(3, 4), (8, 20)]), [(1, 2), (5, 7)]);
        assert_eq!(subtract(&[(1, 2)], &[(1, 2)]), []);
        assert_eq!(subtract(&[(1, 2), (5, 9)], &[(0, 5), (7, 7)]), [(6, 6), (8, 9)]);
        assert_eq!(subtract(&[(1, 2), (5, 9)], &[]), [(1, 2), (5, 9)]);
        assert_eq!(subtract(&[(i32::MIN, i32::MAX)], &[(0, 0)]), [(i32::MIN, -1), (1, i32::MAX)]);
    }
}
