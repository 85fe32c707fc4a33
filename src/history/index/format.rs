//! The bytes of an index.

use std::fmt::Write as _;

use chrono::{Datelike as _, NaiveDate};
use git2::Oid;
use sha2::{Digest as _, Sha256};

use super::{Body, Chain, Kept, check};
use crate::history::Timeline;

/// Counted up whenever the form changes, or what the same commits give.
pub(super) const VERSION: u32 = 1;

const MAGIC: &str = "aotgate-history";

/// The header is shorter.
const MAX_HEADER: usize = 256;

pub(super) fn encode(
    since: Option<NaiveDate>,
    chain: &Chain,
    timeline: &Timeline,
    key: &str,
) -> Vec<u8> {
    let mut ids = String::with_capacity(40 * chain.commits.len());
    for (id, _) in &chain.commits {
        let _ = write!(ids, "{id}");
    }
    let days = chain.commits.iter().map(|(_, date)| date.num_days_from_ce()).collect();
    let body = Body { since, begin: chain.begin, ids, days, timeline: timeline.clone() };
    // Nothing in it can fail to be written; what is empty would not be read.
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let mut bytes = header(key, &body).into_bytes();
    bytes.extend(body);
    bytes
}

fn header(key: &str, body: &[u8]) -> String {
    let mut hash = String::new();
    for byte in Sha256::digest(body) {
        let _ = write!(hash, "{byte:02x}");
    }
    format!("{MAGIC} {VERSION} {key} {} {hash}\n", body.len())
}

/// # Errors
/// Why the bytes cannot be used.
pub(super) fn decode(bytes: &[u8], key: &str) -> Result<Kept, String> {
    let end = bytes.iter().take(MAX_HEADER).position(|byte| *byte == b'\n');
    let (found, body) = bytes.split_at(end.map_or(0, |end| end + 1));
    let found = String::from_utf8_lossy(found);
    let mut words = found.split_ascii_whitespace();
    if words.next() != Some(MAGIC) {
        return Err("it is no index of aotgate".to_owned());
    }
    if words.next() != Some(&VERSION.to_string()) {
        return Err("it is of another version".to_owned());
    }
    if words.next() != Some(key) {
        return Err("it is of another policy or program".to_owned());
    }
    if found != header(key, body) {
        return Err("it is damaged".to_owned());
    }
    let body: Body =
        serde_json::from_slice(body).map_err(|error| format!("it is damaged: {error}"))?;
    let commits = ids(&body.ids)
        .zip(&body.days)
        .map(|(id, days)| Some((id?, NaiveDate::from_num_days_from_ce_opt(*days)?)))
        .collect::<Option<Vec<_>>>()
        .ok_or("it has commits without id or date")?;
    if body.ids.len() != 40 * body.days.len() {
        return Err("it has commits without id or date".to_owned());
    }
    let chain = Chain { begin: body.begin, commits };
    check::fits(&chain, &body.timeline)
        .map_err(|what| format!("its {what} do not fit together"))?;
    Ok(Kept { since: body.since, chain, timeline: body.timeline })
}

fn ids(text: &str) -> impl Iterator<Item = Option<Oid>> {
    text.as_bytes().chunks(40).map(|id| Oid::from_str(std::str::from_utf8(id).ok()?).ok())
}
