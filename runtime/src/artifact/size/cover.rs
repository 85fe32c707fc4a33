//! Which part every byte belongs to.

/// Index into [`Parts`](super::parts::Parts).
pub(super) type PartId = usize;

/// A division of a byte string into parts: runs that follow one another without a gap.
#[derive(Clone, Debug, Default)]
pub(super) struct Cover {
    runs: Vec<(PartId, usize)>,
    length: usize,
}

impl Cover {
    /// All of `length` bytes are one part's.
    pub(super) fn of(part: PartId, length: usize) -> Self {
        let mut cover = Cover::default();
        cover.push(part, length);
        cover
    }

    /// Bytes that are covered.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The runs in order.
    pub(super) fn runs(&self) -> &[(PartId, usize)] {
        &self.runs
    }

    /// Adds a run at the end.
    pub(super) fn push(&mut self, part: PartId, length: usize) {
        if length == 0 {
            return;
        }
        self.length += length;
        match self.runs.last_mut() {
            Some((last, run)) if *last == part => *run += length,
            _ => self.runs.push((part, length)),
        }
    }

    /// Adds another cover at the end.
    pub(super) fn append(&mut self, other: &Cover) {
        for (part, length) in &other.runs {
            self.push(*part, *length);
        }
    }

    /// Brings the cover to `length` bytes: `part` owns what is missing, what is too much goes.
    pub(super) fn fit(self, part: PartId, length: usize) -> Cover {
        let mut fitted = Cover::default();
        let mut reader = self.reader();
        reader.take(length.min(self.length), &mut fitted);
        fitted.push(part, length - fitted.len());
        fitted
    }

    pub(super) fn reader(&self) -> CoverReader<'_> {
        CoverReader { runs: &self.runs, within: 0 }
    }
}

/// Reads a cover from front to back.
pub(super) struct CoverReader<'a> {
    runs: &'a [(PartId, usize)],
    /// Bytes of the first run that were read.
    within: usize,
}

impl CoverReader<'_> {
    /// Owner of the next byte.
    pub(super) fn owner(&self) -> Option<PartId> {
        self.runs.first().map(|(part, _)| *part)
    }

    /// Moves the next `length` bytes, or what is left, to the end of `into`.
    pub(super) fn take(&mut self, mut length: usize, into: &mut Cover) {
        while let Some((part, run)) = self.runs.first() {
            if length == 0 {
                return;
            }
            let step = length.min(run - self.within);
            into.push(*part, step);
            length -= step;
            self.within += step;
            if self.within == *run {
                self.runs = self.runs.get(1..).unwrap_or_default();
                self.within = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_part_are_joined_and_split() {
        let mut cover = Cover::of(1, 5);
        cover.push(1, 2);
        cover.push(2, 0);
        cover.append(&Cover::of(3, 4));
        assert_eq!((cover.runs(), cover.len()), (&[(1, 7), (3, 4)][..], 11));
        let (mut head, mut tail) = (Cover::default(), Cover::default());
        let mut reader = cover.reader();
        reader.take(8, &mut head);
        assert_eq!(reader.owner(), Some(3));
        reader.take(100, &mut tail);
        assert_eq!(head.runs(), [(1, 7), (3, 1)]);
        assert_eq!(tail.runs(), [(3, 3)]);
        assert_eq!(cover.clone().fit(9, 13).runs(), [(1, 7), (3, 4), (9, 2)]);
        assert_eq!(cover.fit(9, 3).runs(), [(1, 3)]);
    }
}
