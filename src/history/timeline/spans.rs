//! Lists of spans, and of numbers that are reserved over them.

use super::{Position, Span};
use crate::change::subtract;

/// Opens or closes the last span, so that it holds or does not from `at` on. Whether that was a change.
pub(super) fn keep(spans: &mut Vec<Span>, holds: bool, at: Position) -> bool {
    match (spans.last_mut().filter(|span| span.until.is_none()), holds) {
        (Some(open), false) => {
            open.until = Some(at);
            true
        }
        (None, true) => {
            spans.push(Span { from: at, until: None });
            true
        }
        _ => false,
    }
}

/// Whether the last span still lasts.
pub(super) fn open(spans: &[Span]) -> bool {
    spans.last().is_some_and(|span| span.until.is_none())
}

/// Takes away what is later than `end`.
pub(super) fn cut(spans: &mut Vec<Span>, end: Position) {
    spans.retain(|span| span.from <= end);
    for span in spans {
        span.until = span.until.filter(|until| *until <= end);
    }
}

/// Numbers that are reserved, over the spans in which they are.
pub(in crate::history) type Reserved = Vec<(i32, i32, Span)>;

/// Lets exactly `now` be reserved from `at` on. Whether that was a change.
pub(super) fn reserve(reserved: &mut Reserved, now: &[(i32, i32)], at: Position) -> bool {
    let now = joined(now.to_vec());
    let lasting = reserved.iter().filter(|entry| entry.2.until.is_none());
    let lasting = joined(lasting.map(|&(lo, hi, _)| (lo, hi)).collect());
    let (dropped, added) = (subtract(&lasting, &now), subtract(&now, &lasting));
    if dropped.is_empty() && added.is_empty() {
        return false;
    }
    let mut next = Reserved::new();
    for (lo, hi, span) in reserved.drain(..) {
        if span.until.is_some() {
            next.push((lo, hi, span));
            continue;
        }
        let kept = subtract(&[(lo, hi)], &dropped);
        let gone = subtract(&[(lo, hi)], &kept);
        next.extend(kept.into_iter().map(|(lo, hi)| (lo, hi, span)));
        let over = Span { until: Some(at), ..span };
        next.extend(gone.into_iter().map(|(lo, hi)| (lo, hi, over)));
    }
    next.extend(added.into_iter().map(|(lo, hi)| (lo, hi, Span { from: at, until: None })));
    *reserved = next;
    settle(reserved);
    true
}

/// The one form of a list: by span, then number, ranges as long as can be.
pub(in crate::history) fn settle(reserved: &mut Reserved) {
    reserved.sort_by_key(|&(lo, hi, span)| (span, lo, hi));
    reserved.dedup_by(|&mut (lo, hi, span), before| {
        let touches = span == before.2 && i64::from(lo) <= i64::from(before.1) + 1;
        if touches {
            before.1 = before.1.max(hi);
        }
        touches
    });
}

/// Ranges sorted, those that touch joined.
fn joined(mut ranges: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    ranges.sort_unstable();
    ranges.dedup_by(|&mut (lo, hi), before| {
        let touches = i64::from(lo) <= i64::from(before.1) + 1;
        if touches {
            before.1 = before.1.max(hi);
        }
        touches
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: u32, until: impl Into<Option<u32>>) -> Span {
        Span { from: Position(from), until: until.into().map(Position) }
    }

    #[test]
    fn a_range_comes_apart_and_joins_again() {
        let mut reserved = Reserved::new();
        assert!(reserve(&mut reserved, &[(1, 5)], Position(1)));
        assert!(!reserve(&mut reserved, &[(1, 2), (3, 5)], Position(2)));
        assert!(reserve(&mut reserved, &[(1, 2), (4, 5)], Position(3)));
        let apart = [(1, 2, span(1, None)), (4, 5, span(1, None)), (3, 3, span(1, 3))];
        assert_eq!(reserved, apart);
        // Cut before it came apart, it is as it was.
        reserved.iter_mut().for_each(|entry| {
            entry.2.until = entry.2.until.filter(|until| *until <= Position(2));
        });
        settle(&mut reserved);
        assert_eq!(reserved, [(1, 5, span(1, None))]);
    }

    #[test]
    fn spans_open_and_close_once() {
        let mut spans = Vec::new();
        for (holds, at, change) in [
            (false, 0, false),
            (true, 1, true),
            (true, 2, false),
            (false, 3, true),
            (true, 5, true),
        ] {
            assert_eq!(keep(&mut spans, holds, Position(at)), change, "{at}");
        }
        assert_eq!(spans, [span(1, 3), span(5, None)]);
        cut(&mut spans, Position(4));
        assert_eq!(spans, [span(1, 3)]);
        cut(&mut spans, Position(2));
        assert_eq!(spans, [span(1, None)]);
    }
}
