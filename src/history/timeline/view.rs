//! Questions to a timeline, as of some commit of its chain.

use std::collections::BTreeMap;

use super::{
    Begin, Confidence, Landed, Moment, Period, Position, Scope, ScopeId, Span, Timeline, Titled,
    Use,
};

/// What was true at a commit of the chain, and before; nothing later shows.
#[derive(Debug, Clone, Copy)]
pub struct View<'t> {
    timeline: &'t Timeline,
    at: Position,
}

/// A use with its dates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used<'t> {
    /// The use; its spans may show what is later than the view, `periods` do not.
    pub what: &'t Use,
    /// When it was declared, oldest first; never empty.
    pub periods: Vec<Period<'t>>,
}

/// A number or a name that came to stand for something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reuse<'t> {
    /// The message or enum.
    pub scope: ScopeId,
    /// Whether the name was reused; else the number was.
    pub by_name: bool,
    /// What held it last.
    pub before: &'t Use,
    /// When that was so for the last time; it is over.
    pub held: Period<'t>,
    /// What took it.
    pub now: &'t Use,
    /// When that is so.
    pub holds: Period<'t>,
}

/// A use over one of its periods.
#[derive(Clone, Copy)]
struct Held<'u, 't> {
    used: &'u Used<'t>,
    period: Period<'t>,
}

impl Timeline {
    /// What was true at a commit of the chain; the newest one's where there is none at that place.
    pub fn as_of(&self, at: Position) -> View<'_> {
        View { timeline: self, at: at.min(self.end) }
    }

    /// What is true at the newest commit.
    pub fn latest(&self) -> View<'_> {
        self.as_of(self.end)
    }

    /// A scope by its identity.
    pub fn scope(&self, id: ScopeId) -> Option<&Scope> {
        self.scopes.get(usize::try_from(id.0).ok()?)
    }

    /// The commit at a place, if something happened there.
    pub fn landed_at(&self, at: Position) -> Option<&Landed> {
        let found = self.landed.binary_search_by_key(&at, |landed| landed.position).ok()?;
        self.landed.get(found)
    }

    /// How well it is known that what shows first at `at` happened there.
    pub fn confidence(&self, at: Position) -> Confidence {
        if self.gaps.iter().any(|gap| gap.until == Some(at)) {
            return Confidence::Unknown;
        }
        match self.begin {
            Begin::Since if at == Position(0) => Confidence::Assumed,
            Begin::Cut if at == Position(0) => Confidence::Unknown,
            _ => Confidence::Known,
        }
    }

    /// When something happened.
    pub fn moment(&self, at: Position) -> Option<Moment<'_>> {
        let landed = self.landed_at(at)?;
        Some(Moment {
            commit: &landed.id,
            date: landed.date,
            subject: &landed.subject,
            position: at,
            confidence: self.confidence(at),
        })
    }
}

impl<'t> View<'t> {
    /// The commit that the view is of.
    pub fn position(&self) -> Position {
        self.at
    }

    /// Commits that touched the contract up to here, oldest first.
    pub fn landed(&self) -> &'t [Landed] {
        let end = self.timeline.landed.partition_point(|landed| landed.position <= self.at);
        self.timeline.landed.get(..end).unwrap_or_default()
    }

    /// Scopes that were ever declared up to here.
    pub fn scopes(&self) -> impl Iterator<Item = &'t Scope> {
        let at = self.at;
        self.timeline.scopes.iter().filter(move |s| s.life.first().is_some_and(|l| l.from <= at))
    }

    /// The message or enum that a full name stands for here; if none, that which had the name last.
    pub fn scope_named(&self, name: &str) -> Option<&'t Scope> {
        let last = |scope: &Scope| {
            let spans = scope.names.iter().filter(|n| n.name == name).flat_map(|n| &n.spans);
            let spans = spans.filter(|span| span.from <= self.at);
            spans.map(|span| (span.holds(self.at), span.from)).max()
        };
        let named = self.scopes().filter_map(|scope| Some((last(scope)?, scope)));
        named.max_by_key(|(last, scope)| (*last, scope.id)).map(|(_, scope)| scope)
    }

    /// The name that a scope has here; if it is gone, the last that it had.
    pub fn name_of(&self, scope: &'t Scope) -> &'t str {
        let spans = scope.names.iter().flat_map(|n| n.spans.iter().map(move |span| (span, n)));
        let seen = spans.filter(|(span, _)| span.from <= self.at);
        seen.max_by_key(|(span, _)| span.from).map_or("", |(_, titled)| &titled.name)
    }

    /// Whether a scope is declared here, and when it was.
    pub fn life(&self, scope: &Scope) -> Vec<Period<'t>> {
        self.periods(&scope.life)
    }

    /// When the binary contract reached a scope.
    pub fn wire(&self, scope: &Scope) -> Vec<Period<'t>> {
        self.periods(&scope.wire)
    }

    /// When a JSON payload reached a scope.
    pub fn json(&self, scope: &Scope) -> Vec<Period<'t>> {
        self.periods(&scope.json)
    }

    /// Everything that a number ever was, in order of first appearance.
    pub fn uses_of_number(&self, scope: &'t Scope, number: i32) -> Vec<Used<'t>> {
        self.uses(scope, |used| used.number == number)
    }

    /// Everything that a simple name ever was, in order of first appearance.
    pub fn uses_of_name(&self, scope: &'t Scope, name: &str) -> Vec<Used<'t>> {
        self.uses(scope, |used| used.name == name)
    }

    /// Every use of a scope, in order of first appearance.
    pub fn all_uses(&self, scope: &'t Scope) -> Vec<Used<'t>> {
        self.uses(scope, |_| true)
    }

    /// When a number was reserved, oldest first.
    pub fn number_reserved(&self, scope: &Scope, number: i32) -> Vec<Period<'t>> {
        let ranges = scope.reserved_numbers.iter();
        let spans: Vec<Span> =
            ranges.filter(|(lo, hi, _)| (*lo..=*hi).contains(&number)).map(|r| r.2).collect();
        self.periods(&spans)
    }

    /// When a name was reserved, oldest first.
    pub fn name_reserved(&self, scope: &Scope, name: &str) -> Vec<Period<'t>> {
        let named: Option<&Titled> = scope.reserved_names.iter().find(|t| t.name == name);
        self.periods(named.map_or(&[], |titled| &titled.spans))
    }

    /// When a construct was first declared: a message, an enum, or a field or value of one, by full name.
    pub fn first_seen(&self, construct: &str) -> Option<Moment<'t>> {
        Some(self.seen(construct)?.first()?.from)
    }

    /// When a construct was taken away; `None` where it never was or still is declared.
    pub fn last_seen(&self, construct: &str) -> Option<Moment<'t>> {
        self.seen(construct)?.last()?.until
    }

    /// When a construct was declared, oldest first.
    ///
    /// A field or value is looked for under every type and number that its name had.
    pub fn seen(&self, construct: &str) -> Option<Vec<Period<'t>>> {
        if let Some(scope) = self.scope_named(construct) {
            return Some(self.life(scope));
        }
        let (owner, name) = construct.rsplit_once('.')?;
        let uses = self.uses_of_name(self.scope_named(owner)?, name);
        let mut periods: Vec<_> = uses.into_iter().flat_map(|used| used.periods).collect();
        periods.sort_by_key(|period| period.from.position);
        periods.dedup_by(|next, before| match before.until {
            // One declaration takes over from the other.
            Some(until) if until.position == next.from.position => {
                before.until = next.until;
                true
            }
            _ => false,
        });
        (!periods.is_empty()).then_some(periods)
    }

    /// Numbers and names of a scope that meant something else before, each with what held them last, in order of time.
    ///
    /// What was removed and comes back after another meaning had its number is listed too: artifacts of the time
    /// between hold the other.
    pub fn reuses(&self, scope: &'t Scope) -> Vec<Reuse<'t>> {
        let uses = self.all_uses(scope);
        let mut by_number: BTreeMap<i32, Vec<Held<'_, 't>>> = BTreeMap::new();
        let mut by_name: BTreeMap<&str, Vec<Held<'_, 't>>> = BTreeMap::new();
        for used in &uses {
            for period in &used.periods {
                let held = Held { used, period: *period };
                by_number.entry(used.what.number).or_default().push(held);
                by_name.entry(&used.what.name).or_default().push(held);
            }
        }
        let numbers = by_number.into_values().map(|held| (false, held));
        let names = by_name.into_values().map(|held| (true, held));
        let mut reuses = Vec::new();
        for (by_name, mut held) in numbers.chain(names) {
            held.sort_by_key(|held| held.period.from.position);
            for pair in held.windows(2) {
                let [before, now] = pair else { continue };
                // A name more for a number, or the other way round, takes nothing away.
                let over =
                    before.period.until.is_some_and(|m| m.position <= now.period.from.position);
                if over && before.used.what.meaning != now.used.what.meaning {
                    reuses.push(Reuse {
                        scope: scope.id,
                        by_name,
                        before: before.used.what,
                        held: before.period,
                        now: now.used.what,
                        holds: now.period,
                    });
                }
            }
        }
        reuses.sort_by_key(|r| (r.holds.from.position, r.now.number, r.by_name));
        reuses
    }

    fn uses(&self, scope: &'t Scope, which: impl Fn(&Use) -> bool) -> Vec<Used<'t>> {
        let uses = scope.uses.iter().filter(|used| which(used));
        uses.map(|what| Used { what, periods: self.periods(&what.spans) })
            .filter(|used| !used.periods.is_empty())
            .collect()
    }

    fn periods(&self, spans: &[Span]) -> Vec<Period<'t>> {
        let seen = spans.iter().filter(|span| span.from <= self.at);
        let moment = |at: Position| self.timeline.moment(at);
        seen.filter_map(|span| {
            let until = span.until.filter(|until| *until <= self.at);
            Some(Period { from: moment(span.from)?, until: until.and_then(moment) })
        })
        .collect()
    }
}
