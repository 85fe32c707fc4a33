//! What a reader with another contract makes of the payloads of an artifact.

use super::super::held::Held;
use super::super::loss::{Loss, LossKind};
use super::compare::{Difference, compare};
use super::content::{Content, LIMITS, Rule, content, located, rule};
use super::memo::Memo;
use super::parse::{Payload, parse, tolerant};
use super::refused::{JsonReason, JsonRefused, short};
use super::tally::Tally;
use super::walk::{Met, walk};
use crate::change::Pairs;
use crate::descriptor::{Contract, Message};

/// What a reader with the contract `reader` refuses, loses or reads differently inside the payloads of
/// what was written with another contract. `pairs` pairs the writer's types to the reader's.
///
/// A path is the payload's, a colon, and the place in it. Only payloads of collectives are parsed
/// when an executable is loaded; what becomes of all others is for compilers alone to find, and such a
/// loss is [`LossKind::CompileOnly`]. Text that is no message is not judged ([`super::payloads`] lists
/// it). What the binary encoding already keeps from the reader is left out: [`crate::view::losses`] has it.
pub fn payload_losses(written: &Held<'_>, reader: &Contract, pairs: &Pairs) -> Vec<Loss> {
    if reader.json_roots.is_empty() {
        return Vec::new();
    }
    let instruction = reader.message("xla.HloInstructionProto");
    let readable = |field: &str| {
        let field = field.split('.').next().unwrap_or(field);
        instruction.is_some_and(|m| m.field_named(field).is_some())
    };
    let mut known = Memo::default();
    let mut tally = Tally::default();
    walk(written, &mut |met, path| {
        let Met::Instruction(site) = met else { return };
        let Some((field, Some(text))) = located(site).filter(|(field, _)| readable(field)) else {
            return;
        };
        let rule = rule(site);
        let judge = || problems(rule, text, written.contract, reader, pairs);
        let problems = known.get(rule, text, judge).1.map(Vec::as_slice).unwrap_or_default();
        if problems.is_empty() {
            return;
        }
        let at_load = site.parsed_at_load();
        for problem in problems {
            let loss = if at_load { &problem.loaded } else { &problem.compiled };
            tally.add(loss, || format!("{path}.{field}"));
        }
    });
    tally.finish()
}

/// A loss in a payload that is parsed at load, and the same in one that is not; paths are inside it.
struct Problem {
    loaded: Loss,
    compiled: Loss,
}

impl Problem {
    fn new(found: Difference, why: [&'static str; 2]) -> Self {
        let Difference { kind, construct, path, detail, count } = found;
        let compiled = match kind {
            LossKind::NotModelled => LossKind::NotModelled,
            _ => LossKind::CompileOnly,
        };
        let loaded = Loss { kind, construct, path, count, why: why[0], detail };
        Problem { compiled: Loss { kind: compiled, why: why[1], ..loaded.clone() }, loaded }
    }
}

fn problems(
    rule: Rule,
    text: &[u8],
    writer: &Contract,
    reader: &Contract,
    pairs: &Pairs,
) -> Vec<Problem> {
    let (content, payloads) = content(rule, text, writer);
    match content {
        Content::Opaque(_) | Content::NotModelled(_) => Vec::new(),
        Content::Refused(name, refusal) => {
            vec![refused(
                &name,
                &refusal,
                writer.message(&name),
                [
                    "refused even by the writer's contract, and parsed when the executable is loaded",
                    "refused even by the writer's contract; only compilers parse it",
                ],
            )]
        }
        Content::Message(_) => payloads
            .first()
            .map(|payload| against(rule, text, payload, reader, pairs))
            .unwrap_or_default(),
        Content::Ambiguous(names) => {
            let each: Vec<_> = payloads
                .iter()
                .map(|payload| against(rule, text, payload, reader, pairs))
                .collect();
            if each.iter().all(Vec::is_empty) {
                return Vec::new();
            }
            let names: Vec<&str> = names.iter().map(|name| &**name).collect();
            let found = Difference {
                kind: LossKind::NotModelled,
                construct: "xla.HloInstructionProto.backend_config".to_owned(),
                path: String::new(),
                detail: names.join(" or "),
                count: 1,
            };
            let why = "the payload may be one of several messages, not all of which read alike";
            vec![Problem::new(found, [why, why])]
        }
    }
}

/// One payload against the reader's counterpart of its message.
fn against(
    rule: Rule,
    text: &[u8],
    payload: &Payload<'_>,
    reader: &Contract,
    pairs: &Pairs,
) -> Vec<Problem> {
    let written = payload.held();
    let ty = written.root().message();
    let counterpart = pairs.message_in_head(&ty.name).unwrap_or(&ty.name);
    let text = as_loaded(text, reader);
    match parse(&text, reader, counterpart, LIMITS) {
        Ok(read) => compare(&written, &read.held()).into_iter().map(different).collect(),
        Err(refusal) => {
            let why = match rule {
                Rule::MessageOrText(_) => [
                    "the reader takes the JSON payload for the custom call's own text",
                    "the reader takes the JSON payload for the custom call's own text; only compilers parse it",
                ],
                _ => [
                    "the reader refuses the JSON payload, and with it to load the executable",
                    "the reader refuses the JSON payload, which only compilers parse; it loads and runs",
                ],
            };
            // The reader stops at the first name; people want to know them all.
            let (rest, strangers) = tolerant(&text, reader, counterpart, LIMITS);
            let at = |(path, reason)| JsonRefused { line: 0, column: 0, path, reason };
            let mut refusals: Vec<JsonRefused> = strangers.into_iter().map(at).collect();
            refusals.extend(rest.err());
            if let Some(first) = refusals.first_mut() {
                *first = refusal;
            }
            refusals.iter().map(|refusal| refused(&ty.name, refusal, Some(ty), why)).collect()
        }
    }
}

/// Readers since 2026-04-13 take an empty list of this name out of the text before they parse it, because
/// its field is gone and was always written.
fn as_loaded<'t>(text: &'t [u8], reader: &Contract) -> std::borrow::Cow<'t, [u8]> {
    const GONE: &str = "wait_on_operation_queues";
    let config = reader.message("xla.gpu.GpuBackendConfig");
    let Ok(whole) = std::str::from_utf8(text) else { return text.into() };
    if !whole.contains(GONE) || config.is_none_or(|m| m.field_named(GONE).is_some()) {
        return text.into();
    }
    let key = format!("\"{GONE}\"");
    let mut kept = String::with_capacity(whole.len());
    let mut rest = whole;
    while let Some((before, after)) = rest.split_once(&key) {
        kept.push_str(before);
        let mut value = after;
        let empty = [":", "[", "]", ","].iter().all(|token| {
            let next = value.trim_ascii_start().strip_prefix(token);
            value = next.unwrap_or(value);
            next.is_some()
        });
        if empty {
            rest = value;
        } else {
            kept.push_str(&key);
            rest = after;
        }
    }
    kept.push_str(rest);
    kept.into_bytes().into()
}

fn different(found: Difference) -> Problem {
    let why = match found.kind {
        LossKind::Presence => [
            "the JSON payload's zero reads otherwise",
            "the JSON payload's zero reads otherwise; only compilers parse it",
        ],
        LossKind::Dropped => [
            "the reader does not get the value of the JSON payload",
            "the reader does not get the value of the JSON payload; only compilers parse it",
        ],
        _ => [
            "the reader reads the JSON payload's value differently",
            "the reader reads the JSON payload's value differently; only compilers parse it",
        ],
    };
    Problem::new(found, why)
}

/// A refusal, with the construct that is at fault in the writer's names where it is a single one.
fn refused(
    message: &str,
    refusal: &JsonRefused,
    root: Option<&Message>,
    why: [&'static str; 2],
) -> Problem {
    let mut path = refusal.path.clone();
    let construct = match &refusal.reason {
        JsonReason::NoSuchField { message, name } => {
            let name = short(name);
            path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            format!("{message}.{name}")
        }
        JsonReason::NoSuchValue { enumeration, name } => {
            format!("{enumeration}.{}", short(name))
        }
        _ => root.map_or(message, |m| &*m.name).to_owned(),
    };
    let detail = refusal.to_string();
    let found = Difference { kind: LossKind::Refused, construct, path, detail, count: 1 };
    Problem::new(found, why)
}
