//! From text to lines to a ledger.

use super::stamp::shown;
use super::{HEADER, Ledger, parse, rebuild};
use crate::error::{Error, ErrorKind};
use crate::history::ledger::record::Record;

/// A longer ledger is refused: the one of XLA:GPU has less than a megabyte.
const MAX_BYTES: usize = 32 << 20;

/// More lines are refused.
const MAX_LINES: usize = 400_000;

/// How a first line of this format begins; the version follows.
const MAGIC: &str = "# aotgate ledger ";

/// A line with its number, from 1.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) record: Record,
}

/// What is wrong, and where.
pub(super) struct Wrong {
    pub(super) line: usize,
    pub(super) what: String,
}

impl Ledger {
    /// Reads a ledger; `path` is for messages.
    ///
    /// # Errors
    /// Whatever `aotgate ledger` would not write, with the line: merge conflicts, lines that are not sorted, twice there or
    /// not known, dates that contradict each other, types that are not declared, and files that are too large.
    pub fn read(path: &str, bytes: &[u8]) -> Result<Self, Error> {
        lines(bytes).and_then(rebuild::ledger).map_err(|Wrong { line, what }| {
            ErrorKind::Ledger { path: path.to_owned(), line, what }.into()
        })
    }
}

/// The lines of a ledger.
pub(super) fn lines(bytes: &[u8]) -> Result<Vec<Line>, Wrong> {
    let wrong = |line: usize, what: String| Wrong { line, what };
    if bytes.len() > MAX_BYTES {
        return Err(wrong(1, format!("a ledger has at most {MAX_BYTES} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        wrong(before.iter().filter(|b| **b == b'\n').count() + 1, "not UTF-8 text".to_owned())
    })?;
    // Git may have written the ends of lines as Windows has them.
    let mut written = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let first = written.next().unwrap_or_default();
    if first != HEADER {
        let version = first.strip_prefix(MAGIC).and_then(|rest| rest.split(' ').next());
        return Err(wrong(
            1,
            match version {
                Some("1") => format!("the first line is not `{HEADER}`"),
                Some(version) => {
                    format!(
                        "version {} of the format is not known here: use a newer aotgate",
                        shown(version)
                    )
                }
                None if is_conflict(first) => CONFLICT.to_owned(),
                None => "this is no ledger".to_owned(),
            },
        ));
    }
    let mut lines: Vec<Line> = Vec::new();
    let mut ended = false;
    for (at, line) in written.enumerate() {
        let number = at + 2;
        if number > MAX_LINES {
            return Err(wrong(number, format!("a ledger has at most {MAX_LINES} lines")));
        }
        if ended {
            return Err(wrong(number - 1, "an empty line".to_owned()));
        }
        if line.is_empty() {
            ended = true;
            continue;
        }
        if is_conflict(line) {
            return Err(wrong(number, CONFLICT.to_owned()));
        }
        let record = parse::record(line).map_err(|what| wrong(number, what))?;
        if let Some(last) = lines.last() {
            match last.record.order().cmp(&record.order()) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => {
                    let what = format!("`{}` is there twice", shown(&record.subject()));
                    return Err(wrong(number, what));
                }
                std::cmp::Ordering::Greater => {
                    let what = format!(
                        "`{}` stands in the wrong place: lines are sorted",
                        shown(&record.subject())
                    );
                    return Err(wrong(number, what));
                }
            }
        }
        lines.push(Line { number, record });
    }
    if !ended {
        return Err(wrong(
            lines.len() + 1,
            "the last line has no end: the file was cut off".to_owned(),
        ));
    }
    Ok(lines)
}

const CONFLICT: &str = "a merge conflict that nobody resolved";

fn is_conflict(line: &str) -> bool {
    ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|marker| line.starts_with(marker))
}
