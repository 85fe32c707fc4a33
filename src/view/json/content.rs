//! Which message a payload is. The text does not say; the instruction does.

use super::super::Limits;
use super::super::held::Held;
use super::memo::Memo;
use super::parse::{Payload, parse};
use super::refused::JsonRefused;
use super::walk::{Met, Site, Text, walk};
use crate::descriptor::{Contract, Name};

/// A payload that was found.
#[derive(Debug, Clone)]
pub struct Found<'a> {
    /// Where it is, such as `hlo_module_with_config.hlo_module.computations[3].instructions[7].backend_config`.
    pub path: String,
    /// Opcode of its instruction.
    pub opcode: &'a str,
    /// What the instruction calls, where it is a custom call.
    pub target: &'a str,
    /// The text; none where the instruction refers to an entry that the module lacks.
    pub text: Option<&'a [u8]>,
    /// Which message it is.
    pub content: Content,
    /// Whether the runtime parses it while it loads the executable. All others are for compilers only.
    pub parsed_at_load: bool,
}

/// Which message a payload is, by the contract of its writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A message of this name.
    Message(Name),
    /// Text without a schema here: what it is, in words.
    Opaque(&'static str),
    /// Any of several messages, which all accept it.
    Ambiguous(Vec<Name>),
    /// What the instruction calls for refuses it.
    Refused(Name, JsonRefused),
    /// A message that the contract does not have.
    NotModelled(&'static str),
}

/// All payloads of a message's HLO modules, in order.
pub fn payloads<'a>(held: &Held<'a>) -> Vec<Found<'a>> {
    let (mut found, mut known) = (Vec::new(), Memo::default());
    walk(held, &mut |met, path| {
        let Met::Instruction(site) = met else { return };
        let Some((field, text)) = located(site) else { return };
        let content = match text {
            Some(text) => {
                let rule = rule(site);
                let (_, content) = known.get(rule, text, || content(rule, text, held.contract).0);
                content.cloned()
            }
            None => None,
        };
        found.push(Found {
            path: format!("{path}.{field}"),
            opcode: site.opcode(),
            target: site.target(),
            text,
            content: content.unwrap_or(Content::Opaque(MISSING)),
            parsed_at_load: site.parsed_at_load(),
        });
    });
    found
}

/// What one payload may take. Those of XLA are some kilobytes, unless they hold a serialized graph.
pub(super) const LIMITS: Limits = Limits { depth: 100, memory: 64 << 20 };

const MISSING: &str = "an entry that the module's payloads do not have";

/// The field that holds an instruction's payload, and the text; an empty payload is none.
pub(super) fn located<'a>(site: &Site<'_, '_, 'a>) -> Option<(&'static str, Option<&'a [u8]>)> {
    let (field, text) = match site.text()? {
        Text::Inline(text) => ("backend_config", Some(text)),
        Text::Value(text) => ("backend_config_payload.value", Some(text)),
        Text::Shared(text) => ("backend_config_payload", text),
    };
    (text != Some(b"")).then_some((field, text))
}

/// What an instruction calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    /// One of these; each in the first of its names that the contract has.
    OneOf(&'static [&'static [&'static str]]),
    /// This message if the text is one, else the custom call's own text.
    MessageOrText(&'static str),
    /// Never a message.
    Opaque(&'static str),
}

const GPU: &str = "xla.gpu.GpuBackendConfig";
const CPU: &str = "xla.cpu.BackendConfig";
const WHILE: &[&str] = &["xla.WhileLoopBackendConfig"];
const TILE: &[&str] = &["xla.xtile.Tile", "xla.gpu.Tile"];
const OWN_TEXT: &str = "the custom call's own text";

/// What XLA parses the payload as, by opcode, custom call and module. From its thunk emitters and passes:
/// while loops have their own message in both backends; a dot or a reduction inside a fusion has tile
/// sizes; radix sorts (until 2026-03-16) and triangular solves have their own. Calls of XLA's
/// libraries must have the backend's message; for any other custom call the emitter tries that, and falls
/// back to the text as it stands. All else has the backend's message.
pub(super) fn rule(site: &Site<'_, '_, '_>) -> Rule {
    let target = site.target();
    match site.opcode() {
        "while" => Rule::OneOf(&[WHILE]),
        "custom-call" => match target {
            "__gpu$xla.gpu.triton" | "__gpu$xla.gpu.ptx" => {
                Rule::Opaque("an MLIR dictionary with a kernel")
            }
            "__cublas$triangularSolve" => Rule::OneOf(&[&["xla.TriangularSolveOptions"]]),
            "__cub$DeviceRadixSort" | "__cub$DeviceRadixSortUnassignedScratchSize" => {
                Rule::OneOf(&[&["xla.SortOptions"]])
            }
            _ if site.cpu => Rule::MessageOrText(CPU),
            _ if target.starts_with("__cublas$") || target.starts_with("__cudnn$") => {
                Rule::OneOf(&[&[GPU]])
            }
            _ => Rule::MessageOrText(GPU),
        },
        _ if site.cpu => Rule::OneOf(&[&[CPU]]),
        "dot" | "scaled-dot" | "reduce" if site.fused => Rule::OneOf(&[TILE, &[GPU]]),
        _ => Rule::OneOf(&[&[GPU]]),
    }
}

/// Which message the text is, and what each that it may be reads.
pub(super) fn content<'c>(
    rule: Rule,
    text: &[u8],
    contract: &'c Contract,
) -> (Content, Vec<Payload<'c>>) {
    let read = |name: &str| parse(text, contract, name, LIMITS);
    let declared = |name: &str| contract.json_roots.iter().find(|root| ***root == *name);
    let groups = match rule {
        Rule::Opaque(what) => return (Content::Opaque(what), Vec::new()),
        // An empty MLIR dictionary looks the same, and either way there is nothing in it.
        Rule::MessageOrText(_) if text.trim_ascii() == b"{}" => {
            return (Content::Opaque("an empty dictionary or message"), Vec::new());
        }
        Rule::MessageOrText(name) => {
            return match declared(name).map(|name| (name, read(name))) {
                Some((name, Ok(payload))) => (Content::Message(name.clone()), vec![payload]),
                _ => (Content::Opaque(OWN_TEXT), Vec::new()),
            };
        }
        Rule::OneOf(groups) => groups,
    };
    let names = groups.iter().filter_map(|group| group.iter().find_map(|name| declared(name)));
    let (mut accepted, mut refused) = (Vec::new(), None);
    for name in names {
        match read(name) {
            Ok(payload) => accepted.push((name.clone(), payload)),
            Err(refusal) => {
                refused.get_or_insert((name.clone(), refusal));
            }
        }
    }
    let (mut names, payloads): (Vec<Name>, Vec<_>) = accepted.into_iter().unzip();
    let content = match (names.len(), refused) {
        (0, Some((name, refusal))) => Content::Refused(name, refusal),
        (0, None) => Content::NotModelled(
            groups.first().and_then(|group| group.first()).copied().unwrap_or_default(),
        ),
        (1, _) => Content::Message(names.remove(0)),
        _ => Content::Ambiguous(names),
    };
    (content, payloads)
}
