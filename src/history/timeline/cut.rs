//! A timeline without its end.

use super::spans::{cut, settle};
use super::{Position, Timeline};

impl Timeline {
    /// What the timeline was when `end` was the newest commit: the same as if the chain had ended there.
    #[must_use]
    pub fn cut(mut self, end: Position) -> Self {
        if end >= self.end {
            return self;
        }
        self.end = end;
        self.landed.retain(|landed| landed.position <= end);
        self.gaps.retain(|gap| gap.from <= end);
        for gap in &mut self.gaps {
            gap.until = gap.until.filter(|until| *until <= end);
        }
        for scope in &mut self.scopes {
            for spans in [&mut scope.life, &mut scope.wire, &mut scope.json] {
                cut(spans, end);
            }
            for titled in scope.names.iter_mut().chain(&mut scope.reserved_names) {
                cut(&mut titled.spans, end);
            }
            scope.names.retain(|titled| !titled.spans.is_empty());
            scope.reserved_names.retain(|titled| !titled.spans.is_empty());
            for used in &mut scope.uses {
                cut(&mut used.spans, end);
            }
            scope.uses.retain(|used| !used.spans.is_empty());
            scope.reserved_numbers.retain(|entry| entry.2.from <= end);
            for (_, _, span) in &mut scope.reserved_numbers {
                span.until = span.until.filter(|until| *until <= end);
            }
            settle(&mut scope.reserved_numbers);
        }
        // Ids count scopes in the order in which they appeared, so that only the last ones go.
        self.scopes.retain(|scope| !scope.life.is_empty());
        self
    }

    /// The newest commit whose contract could be read; `None` where there is none yet.
    pub fn last_read(&self) -> Option<Position> {
        match self.gaps.last().filter(|gap| gap.until.is_none()) {
            Some(gap) => gap.from.0.checked_sub(1).map(Position),
            None => Some(self.end),
        }
    }
}
