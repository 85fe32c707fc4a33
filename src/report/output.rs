//! Results of a program as documents and tables show them.

use aotgate_runtime::compare::{Comparison, Difference, Rule};
use serde::Serialize;

use super::text::line;
use crate::execute::Output;

/// One output in a document.
#[derive(Debug, Serialize)]
pub(super) struct OutputEntry<'a> {
    device: usize,
    index: usize,
    shape: &'a str,
    digest: &'a str,
    comparison: Option<ComparisonEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct ComparisonEntry<'a> {
    equal: bool,
    tolerance: Option<ToleranceEntry>,
    elements: usize,
    different: usize,
    beyond: usize,
    largest: f64,
    worst: Option<Worst<'a>>,
    furthest: Option<Worst<'a>>,
}

#[derive(Debug, Serialize)]
struct ToleranceEntry {
    relative: f64,
    scaled: f64,
    absolute: f64,
}

#[derive(Debug, Serialize)]
struct Worst<'a> {
    index: &'a [usize],
    expected: &'a str,
    actual: &'a str,
    /// `null` where it is infinite, which JSON has no number for.
    error: Option<f64>,
    admitted: f64,
}

impl<'a> OutputEntry<'a> {
    pub(super) fn of(output: &'a Output) -> Self {
        OutputEntry {
            device: output.device,
            index: output.index,
            shape: &output.shape,
            digest: &output.digest,
            comparison: output.comparison.as_ref().map(ComparisonEntry::of),
        }
    }
}

impl<'a> ComparisonEntry<'a> {
    fn of(comparison: &'a Comparison) -> Self {
        ComparisonEntry {
            equal: comparison.is_equal(),
            tolerance: match comparison.rule {
                Rule::Exact => None,
                Rule::Within(t) => Some(ToleranceEntry {
                    relative: t.relative,
                    scaled: t.scaled,
                    absolute: t.absolute,
                }),
            },
            elements: comparison.elements,
            different: comparison.different,
            beyond: comparison.beyond,
            largest: comparison.largest,
            worst: comparison.worst.as_ref().map(Worst::of),
            furthest: comparison.furthest.as_ref().map(Worst::of),
        }
    }
}

impl<'a> Worst<'a> {
    fn of(element: &'a Difference) -> Self {
        Worst {
            index: &element.index,
            expected: &element.expected,
            actual: &element.actual,
            error: element.error.is_finite().then_some(element.error),
            admitted: element.admitted,
        }
    }
}

/// The largest error of a comparison in a few characters: `0`, or `1.2e-7 at [3,4]`.
pub(super) fn largest(comparison: &Comparison) -> String {
    match &comparison.furthest {
        None => "0".to_owned(),
        Some(furthest) => format!("{:.1e} at {}", furthest.error, place(furthest)),
    }
}

fn place(element: &Difference) -> String {
    let index: Vec<String> = element.index.iter().map(usize::to_string).collect();
    format!("[{}]", index.join(","))
}

/// What is wrong with an output: how much of it, and the element that is off by the largest part of what is admitted.
pub(super) fn difference(comparison: &Comparison) -> String {
    let mut text = format!("{} of {} differ", comparison.beyond, comparison.elements);
    if let Some(worst) = &comparison.worst {
        text.push_str(&format!(
            "; at {} expected {}, found {}: off by {:.3e}, admitted {:.3e}",
            place(worst),
            line(&worst.expected),
            line(&worst.actual),
            worst.error,
            worst.admitted
        ));
    }
    text
}
