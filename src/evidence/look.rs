//! One golden through two contracts.

use aotgate_runtime::artifact::{Artifact, Limits};
use prost::bytes::Bytes;

use super::ROOT;
use super::carried::{Wanted, carried};
use super::names::construct_at;
use super::text::TextContracts;
use crate::container::{Form, forms_of};
use crate::descriptor::Contract;
use crate::view::{self, Loss, LossKind, Reason};

/// Decompressed bytes of one golden that base has; real ones have megabytes.
const MAX_DECOMPRESSED: u64 = 256 << 20;
/// The same of one that head brings, which may be anything; and bytes that it may take once decoded.
const MAX_OF_NEW: u64 = 64 << 20;
const MAX_DECODED_OF_NEW: u64 = 256 << 20;

/// What is seen of a golden.
#[derive(Debug)]
pub(super) enum Seen {
    /// Both contracts read it.
    Read(Read),
    /// Base reads it and head does not: the construct that head stumbles over, and why.
    Refused(String, String, Read),
    /// More than one container accepts it.
    Ambiguous(String),
    /// Head's contract reads it and base's does not, which no promise covers: why base's does not.
    OnlyHead(String),
    /// Neither can read it, its bytes are no artifact, or its text is none to the contract of its own side.
    Unreadable(String),
}

/// What both sides make of a golden.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Its containers.
    pub(super) forms: Vec<Form>,
    /// What head loses of what base reads.
    pub(super) losses: Vec<Loss>,
    /// What makes head refuse to load it: JSON payloads that it does not take.
    pub(super) refusals: Vec<Loss>,
    /// JSON payloads that only a compiler of head's would refuse or misread; it loads and runs.
    pub(super) compile_only: Vec<Loss>,
    /// Which of the wanted constructs it carries, by position.
    pub(super) carried: Vec<usize>,
    /// Which fields that only head has it carries, by position.
    pub(super) added: Vec<usize>,
    /// Whether it is text.
    pub(super) is_text: bool,
}

/// What a golden is looked at with.
pub(super) struct Eyes<'a> {
    pub(super) base: &'a Contract,
    pub(super) head: &'a Contract,
    /// Contracts that text can be parsed with; made when first needed.
    pub(super) text: &'a TextContracts<'a>,
    pub(super) wanted: &'a Wanted,
    /// Fields that only head has.
    pub(super) added: &'a Wanted,
    /// What head calls the root message.
    pub(super) head_root: &'a str,
}

/// Opens an artifact's containers alone; `None` for a text golden, an error as [`Seen`] says.
/// One that is `new`, which head brings, may take less.
pub(super) fn open(bytes: &Bytes, new: bool) -> Result<Option<Artifact>, Box<Seen>> {
    let limits = match new {
        true => {
            Limits { decompressed: MAX_OF_NEW, decoded: MAX_DECODED_OF_NEW, ..Limits::default() }
        }
        false => Limits { decompressed: MAX_DECOMPRESSED, ..Limits::default() },
    };
    match Artifact::read_with(bytes.clone(), &limits) {
        Ok(artifact) => Ok(Some(artifact)),
        Err(error) if error.is_ambiguous() => Err(Box::new(Seen::Ambiguous(error.to_string()))),
        Err(error) if error.is_unsupported() && is_text(bytes) => Ok(None),
        Err(error) => Err(Box::new(Seen::Unreadable(error.to_string()))),
    }
}

/// Text begins with what can be printed; no binary container does.
fn is_text(bytes: &Bytes) -> bool {
    bytes.first().is_some_and(|b| b.is_ascii_whitespace() || b.is_ascii_graphic())
}

/// Looks at a golden's bytes, which are `new` where head brings them: text with the contract of the side that has it. Where
/// both contracts are the same object, only its containers are seen.
pub(super) fn look(bytes: &Bytes, eyes: &Eyes<'_>, new: bool) -> Seen {
    let mut read = Read::default();
    let same = std::ptr::eq(eyes.base, eyes.head);
    let artifact = match open(bytes, new) {
        Err(seen) => return *seen,
        Ok(Some(artifact)) => artifact,
        Ok(None) => match eyes.text.parse(bytes, new) {
            Ok(artifact) => {
                read.is_text = true;
                artifact
            }
            Err(error) => return Seen::Unreadable(error.to_string()),
        },
    };
    read.forms = forms_of(&artifact);
    if same {
        return Seen::Read(read);
    }
    let executable = artifact.executable().to_bytes();
    let mut limits = view::Limits::default();
    if new {
        limits.memory = limits.memory.min(MAX_DECODED_OF_NEW as usize);
    }
    match view::decode(&executable, eyes.base, ROOT, limits) {
        Ok(held) => read.carried = carried(&held, eyes.wanted),
        Err(refused) => {
            let why = format!("base's contract refuses it: {refused}");
            return match view::decode(&executable, eyes.head, ROOT, limits) {
                Ok(_) => Seen::OnlyHead(why),
                Err(_) => Seen::Unreadable(why),
            };
        }
    }
    if !eyes.added.is_empty()
        && let Ok(held) =
            view::decode(&executable, eyes.head, eyes.head_root, view::Limits::default())
    {
        read.added = carried(&held, eyes.added);
    }
    for loss in view::losses(&executable, eyes.base, eyes.head, ROOT) {
        match loss.kind {
            LossKind::Refused if loss.construct == ROOT => {
                return Seen::Refused(stumbled(&executable, eyes.head), loss.detail, read);
            }
            // Not this change's doing, or nobody can tell.
            _ if loss.why.starts_with("refused even by the writer") => {}
            LossKind::NotModelled => {}
            LossKind::Refused => read.refusals.push(loss),
            LossKind::CompileOnly => read.compile_only.push(loss),
            _ => read.losses.push(loss),
        }
    }
    Seen::Read(read)
}

/// The construct at which head refuses the bytes.
fn stumbled(executable: &[u8], head: &Contract) -> String {
    match view::decode(executable, head, ROOT, view::Limits::default()) {
        Err(refused) => match &refused.reason {
            Reason::RequiredMissing(paths) => {
                construct_at(head, ROOT, paths.first().map_or("", |path| path))
            }
            _ => construct_at(head, ROOT, &refused.path),
        },
        // The root has another name there.
        Ok(_) => ROOT.to_owned(),
    }
}
