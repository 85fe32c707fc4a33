//! Whether what an index says can have been made by this program.

use crate::history::chain::Chain;
use crate::history::{Position, Scope, Span, Timeline};

/// # Errors
/// What does not fit together.
pub(super) fn fits(chain: &Chain, timeline: &Timeline) -> Result<(), &'static str> {
    let Some(end) = chain.commits.len().checked_sub(1) else { return Err("commits") };
    let ordered = chain.commits.is_sorted_by_key(|(_, date)| *date);
    if usize::try_from(timeline.end.0) != Ok(end) || chain.begin != timeline.begin || !ordered {
        return Err("commits");
    }
    let landed = timeline.landed.iter().all(|landed| {
        let on_chain = chain.at(landed.position);
        let undone = landed.undoes.iter().filter_map(|undo| undo.position);
        on_chain.is_some_and(|(id, date)| id.to_string() == landed.id && date == landed.date)
            && undone.into_iter().all(|position| position < landed.position)
    });
    if !landed || !timeline.landed.is_sorted_by(|a, b| a.position < b.position) {
        return Err("changes");
    }
    let gaps = timeline.gaps.iter().map(|gap| Span { from: gap.from, until: gap.until });
    if !in_order(&gaps.collect::<Vec<_>>(), timeline.end) {
        return Err("gaps");
    }
    let count = timeline.scopes.len();
    let in_place = |(at, scope): (usize, &Scope)| usize::try_from(scope.id.0) == Ok(at);
    let scopes = timeline.scopes.iter().enumerate().all(in_place);
    if !scopes || !timeline.scopes.iter().all(|scope| scope_fits(scope, count, timeline)) {
        return Err("declarations");
    }
    Ok(())
}

fn scope_fits(scope: &Scope, count: usize, timeline: &Timeline) -> bool {
    let end = timeline.end;
    let named = scope.names.iter().chain(&scope.reserved_names).map(|titled| &titled.spans);
    let lists = [&scope.wire, &scope.json].into_iter().chain(named);
    let reserved = scope.reserved_numbers.iter();
    !scope.life.is_empty()
        && !scope.names.is_empty()
        && in_order(&scope.life, end)
        && scope.life.iter().all(|span| has_dates(timeline, span))
        && lists
            .into_iter()
            .all(|spans| in_order(spans, end) && spans.iter().all(|span| has_dates(timeline, span)))
        && reserved
            .into_iter()
            .all(|(lo, hi, span)| lo <= hi && in_order(&[*span], end) && has_dates(timeline, span))
        && scope.uses.iter().enumerate().all(|(at, used)| {
            let of = used.field.as_ref().and_then(|field| field.of);
            usize::try_from(used.meaning).is_ok_and(|meaning| meaning <= at)
                && of.is_none_or(|of| usize::try_from(of.0).is_ok_and(|of| of < count))
                && !used.spans.is_empty()
                && in_order(&used.spans, end)
                && used.spans.iter().all(|span| has_dates(timeline, span))
        })
}

/// Spans that follow one another, none after the end.
fn in_order(spans: &[Span], end: Position) -> bool {
    let single = |span: &Span| {
        span.from <= end && span.until.is_none_or(|until| span.from < until && until <= end)
    };
    let follows = |a: &Span, b: &Span| a.until.is_some_and(|until| until <= b.from);
    spans.iter().all(single) && spans.is_sorted_by(follows)
}

/// Whether the commits at both ends are known.
fn has_dates(timeline: &Timeline, span: &Span) -> bool {
    let known = |at: Position| timeline.landed_at(at).is_some();
    known(span.from) && span.until.is_none_or(known)
}
