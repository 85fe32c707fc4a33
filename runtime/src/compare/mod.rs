//! Holds what a program gave against what it should give.
//!
//! Integers, predicates and programs that only move data ([`only_moves`]) are compared bit for bit. Everything
//! else that computes with floats rounds in another order than the GPU did, so it may be off by a tolerance with
//! three parts:
//!
//! - a share of the expected value: rounding is relative;
//! - a share of the largest expected value of the array: a sum of products loses digits where its terms cancel,
//!   and then the error has the size of the terms, which the result no longer shows but its neighbours do;
//! - a number in the value's own unit, which only a golden says of itself.
//!
//! NaN equals NaN and +0 equals -0, unless the comparison is bit for bit.

mod element;
mod moves;
mod rule;

pub use moves::only_moves;
pub use rule::{Rule, Tolerance};

use crate::array::Data;
use crate::backend::HostArray;
use crate::error::Error;
use crate::program::Invalid;
use element::Element;

/// What a comparison found.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How it was compared.
    pub rule: Rule,
    /// Elements of the array.
    pub elements: usize,
    /// Elements that are another value; NaN is NaN, and the sign of zero counts only bit for bit.
    pub different: usize,
    /// Elements that are off by more than the rule admits.
    pub beyond: usize,
    /// The largest finite magnitude among the expected values.
    pub largest: f64,
    /// The element that is off by the largest part of what the rule admits, which decides; `None` where all are as
    /// expected.
    pub worst: Option<Difference>,
    /// The element with the largest error, which another one may have; `None` where all are as expected.
    pub furthest: Option<Difference>,
}

/// One element that is off.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Its index, outermost dimension first.
    pub index: Vec<usize>,
    /// What was expected.
    pub expected: String,
    /// What is there.
    pub actual: String,
    /// The distance; infinite where one side is NaN or infinite.
    pub error: f64,
    /// What the rule admits here.
    pub admitted: f64,
}

impl Difference {
    /// Which part of what is admitted it is; more than 1 is too much.
    pub fn part(&self) -> f64 {
        part(self.error, self.admitted)
    }
}

impl Comparison {
    /// Whether no element is off by more than the rule admits.
    pub fn is_equal(&self) -> bool {
        self.beyond == 0
    }
}

/// Compares two arrays of one shape.
///
/// # Errors
/// Arrays of different type or size.
pub fn compare(expected: &HostArray, actual: &HostArray, rule: Rule) -> Result<Comparison, Error> {
    if expected.shape() != actual.shape() {
        return Err(Invalid::value("result", actual.shape(), expected.shape().to_string()).into());
    }
    let dims = &expected.0.dims;
    let found = match (&expected.0.data, &actual.0.data) {
        (Data::Pred(e), Data::Pred(a)) => elements(e, a, dims, rule),
        (Data::Int(e), Data::Int(a)) => elements(e, a, dims, rule),
        (Data::Uint(e), Data::Uint(a)) => elements(e, a, dims, rule),
        (Data::F32(e), Data::F32(a)) => elements(e, a, dims, rule),
        (Data::F64(e), Data::F64(a)) => elements(e, a, dims, rule),
        (Data::C64(e), Data::C64(a)) => elements(e, a, dims, rule),
        (Data::C128(e), Data::C128(a)) => elements(e, a, dims, rule),
        // The same type has the same domain.
        _ => return Err(Invalid::value("result", "of another domain", "the same").into()),
    };
    Ok(found)
}

fn elements<T: Element>(expected: &[T], actual: &[T], dims: &[usize], rule: Rule) -> Comparison {
    let largest = expected.iter().map(|x| x.magnitude()).fold(0.0, f64::max);
    let (mut different, mut beyond) = (0, 0);
    let (mut worst, mut furthest): (Option<Off>, Option<Off>) = (None, None);
    for (at, (e, a)) in expected.iter().zip(actual).enumerate() {
        let same = match rule {
            Rule::Exact => e.same_bits(*a),
            Rule::Within(_) => e.same_value(*a),
        };
        if same {
            continue;
        }
        different += 1;
        let (error, admitted) = (e.distance(*a), rule.admits(e.magnitude(), largest));
        // Bit for bit, even another sign of zero is too much.
        beyond += usize::from(rule == Rule::Exact || error > admitted);
        let off = Off { at, error, admitted };
        if worst.is_none_or(|known| worse((error, admitted), (known.error, known.admitted))) {
            worst = Some(off);
        }
        if furthest.is_none_or(|known| error > known.error) {
            furthest = Some(off);
        }
    }
    let described = |off: Off| Difference {
        index: index(off.at, dims),
        expected: expected[off.at].text(),
        actual: actual[off.at].text(),
        error: off.error,
        admitted: off.admitted,
    };
    let (worst, furthest) = (worst.map(described), furthest.map(described));
    Comparison { rule, elements: expected.len(), different, beyond, largest, worst, furthest }
}

/// An element that is off.
#[derive(Clone, Copy)]
struct Off {
    at: usize,
    error: f64,
    admitted: f64,
}

/// Whether the first is off by a larger part of what is admitted, or where that is the same, by more.
fn worse(one: (f64, f64), two: (f64, f64)) -> bool {
    let (one_part, two_part) = (part(one.0, one.1), part(two.0, two.1));
    one_part > two_part || one_part == two_part && one.0 > two.0
}

fn part(error: f64, admitted: f64) -> f64 {
    if error == 0.0 { 0.0 } else { error / admitted }
}

/// The index of an element in row-major order.
fn index(mut at: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for (place, size) in index.iter_mut().zip(dims).rev() {
        *place = at % size;
        at /= size;
    }
    index
}

#[cfg(test)]
mod tests;
