//! Memory whose content a library chooses.

use crate::backend::Place;
use crate::program::{Invalid, Result};

/// Places that hold something which is right in more than one way, such as eigenvectors, whose signs are free.
/// What is computed from it would be held against what one library chose, so reading it is not supported.
#[derive(Debug, Default)]
pub(super) struct Undetermined(Vec<(Place, &'static str)>);

impl Undetermined {
    /// Notes that a place holds `what`.
    pub(super) fn add(&mut self, place: Place, what: &'static str) {
        self.written(place);
        if place.size > 0 {
            self.0.push((place, what));
        }
    }

    /// Notes that a place holds something definite. What is overwritten in its middle stays undetermined.
    pub(super) fn written(&mut self, by: Place) {
        let end = by.offset + by.size;
        self.0.retain_mut(|(place, _)| {
            let place_end = place.offset + place.size;
            if place.allocation != by.allocation || by.size == 0 {
                return true;
            }
            if by.offset <= place.offset && end > place.offset {
                place.offset = end.min(place_end);
                place.size = place_end - place.offset;
            } else if by.offset < place_end && end >= place_end {
                place.size = by.offset - place.offset;
            }
            place.size > 0
        });
    }

    /// Refuses to read what is undetermined.
    pub(super) fn check(&self, read: Place) -> Result<()> {
        let found = self.0.iter().find(|(place, _)| {
            place.allocation == read.allocation
                && place.offset < read.offset + read.size
                && read.offset < place.offset + place.size
        });
        match found {
            Some((_, what)) => Err(Invalid::unsupported(*what)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: usize, size: usize) -> Place {
        Place { allocation: 0, offset, size }
    }

    #[test]
    fn what_is_overwritten_can_be_read_again() {
        let mut memory = Undetermined::default();
        let readable = |memory: &Undetermined| -> Vec<usize> {
            (0..8).filter(|at| memory.check(place(*at, 1)).is_ok()).collect()
        };
        memory.add(place(2, 4), "signs");
        assert_eq!(readable(&memory), [0, 1, 6, 7]);
        assert!(memory.check(Place { allocation: 1, ..place(2, 4) }).is_ok());
        assert!(memory.check(place(2, 0)).is_ok() && memory.check(place(0, 8)).is_err());
        memory.written(place(0, 3));
        assert_eq!(readable(&memory), [0, 1, 2, 6, 7]);
        memory.written(place(5, 3));
        assert_eq!(readable(&memory), [0, 1, 2, 5, 6, 7]);
        memory.written(Place { allocation: 1, ..place(0, 8) });
        memory.written(place(4, 0));
        assert_eq!(readable(&memory), [0, 1, 2, 5, 6, 7]);
        memory.written(place(3, 2));
        assert_eq!(readable(&memory).len(), 8);
        memory.add(place(0, 8), "signs");
        memory.written(place(3, 2));
        assert_eq!(readable(&memory), [0; 0]);
        memory.add(place(0, 8), "more");
        memory.written(place(0, 8));
        assert_eq!(readable(&memory).len(), 8);
    }
}
