//! Would a runtime load an artifact, and read it as it was meant?
//!
//! Three layers are asked in a loader's order: the containers ([`aotgate_runtime::artifact::loader`]), what a
//! loader requires of the executable, and what the runtime's schema makes of its bytes ([`crate::view`]).
//! The answer is about formats. Host symbols, registered handlers and the inside of opaque payloads are
//! not in any schema; what an artifact has of those is listed as unseen.

mod era;
mod harmless;
mod unseen;

pub use era::Era;

use std::sync::Arc;

use aotgate_runtime::artifact::loader::{Takes, written_between};
use aotgate_runtime::artifact::{Artifact, Container};
use chrono::NaiveDate;

use crate::descriptor::Contract;
use crate::rollout::windows::Length;
use crate::triage::policy::Policy;
use crate::view::{self, Loss, LossKind, Node, Slot, Value};

/// The message that a runtime reads.
pub const ROOT: &str = "xla.gpu.GpuExecutableProto";
const THUNK: &str = "xla.gpu.ThunkProto";
const THUNKS: &str = "xla.gpu.GpuExecutableProto.thunks";
const DEBUG_SUMMARY: &str = "buffer_allocations_debug_summary";

/// A runtime to ask about.
#[derive(Debug, Clone)]
pub struct Runtime {
    /// As the user named it.
    pub label: String,
    /// Its schema.
    pub contract: Arc<Contract>,
    /// When it was built.
    pub era: Era,
}

/// What a runtime makes of an artifact, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It loads it and reads it as meant, as far as schemas show.
    Reads,
    /// Something that decides is not known.
    Unknown,
    /// It loads it, but something is lost or taken for something else.
    ReadsDifferently,
    /// It does not load it.
    Refused,
}

impl Verdict {
    /// The name in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reads => "reads",
            Verdict::Unknown => "unknown",
            Verdict::ReadsDifferently => "reads-differently",
            Verdict::Refused => "refused",
        }
    }
}

/// The layer at which something is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// A container around the executable.
    Container(Container),
    /// What a loader requires of the executable.
    Executable,
    /// The executable's thunks.
    Thunk,
}

impl Layer {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Container(container) => container.name(),
            Layer::Executable => "executable",
            Layer::Thunk => "thunk",
        }
    }
}

/// One reason why an artifact is refused, or may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Where.
    pub layer: Layer,
    /// Whether it is known to refuse; otherwise it is not known.
    pub certain: bool,
    /// The field or thunk kind that it is about, where there is one.
    pub construct: Option<String>,
    /// Where that is.
    pub path: Option<String>,
    /// Why.
    pub reason: String,
    /// What the loader reports, where that is known.
    pub message: Option<&'static str>,
}

/// A loss, and why it does not matter if it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What is lost or misread.
    pub loss: Loss,
    /// Why that changes nothing in what the program computes; `None` where it may.
    pub harmless: Option<String>,
}

impl Difference {
    /// Whether the runtime does not load the artifact for it. XLA's loader parses the payloads of collectives and gives up
    /// where one is none to it (`ShouldCollectiveUseMinimalResource` of its `gpu_executable.cc`). What the writer's own
    /// contract refuses tells nothing about the runtime.
    pub fn is_refused(&self) -> bool {
        self.loss.kind == LossKind::Refused
            && !self.loss.why.starts_with("refused even by the writer's contract")
    }
}

/// What one runtime makes of an artifact.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What is in the way, in the order in which a loader meets it.
    pub obstacles: Vec<Obstacle>,
    /// What it reads differently, behind the obstacles too.
    pub differences: Vec<Difference>,
}

impl Outcome {
    /// The first construct that fails: an obstacle, else a payload for which it is refused, else the first loss that
    /// matters.
    pub fn first_failure(&self) -> Option<String> {
        let obstacle = self.obstacles.iter().find(|obstacle| obstacle.certain);
        let named = obstacle.map(|o| {
            o.construct.clone().unwrap_or_else(|| format!("container:{}", o.layer.name()))
        });
        named.or_else(|| {
            let matters = || self.differences.iter().filter(|d| d.harmless.is_none());
            let first = matters().find(|difference| difference.is_refused());
            first.or_else(|| matters().next()).map(|difference| difference.loss.construct.clone())
        })
    }

    /// Whether the executable alone, in a container that the runtime takes, is read as meant.
    pub fn reads_executable(&self) -> bool {
        self.obstacles.iter().all(|o| matches!(o.layer, Layer::Container(_)))
            && self.differences.iter().all(|difference| difference.harmless.is_some())
    }
}

/// Until when the runtimes to come promise to read an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Promise {
    /// When it was emitted, where that is known.
    pub emitted: Option<NaiveDate>,
    /// Else: not before this day, by its container.
    pub not_before: Option<NaiveDate>,
    /// Else: not after this day, by its container.
    pub not_after: Option<NaiveDate>,
    /// The last day of the promise, where the day of emission is known.
    pub until: Option<NaiveDate>,
    /// The promise ends no later than this day.
    pub until_at_latest: Option<NaiveDate>,
}

impl Promise {
    /// The promise for an artifact that was emitted on a day, or in the time of its container.
    pub fn new(artifact: &Artifact, emitted: Option<NaiveDate>, window: Length) -> Promise {
        let (not_before, not_after) = written_between(artifact);
        let day = |text: Option<&str>| text.and_then(|text| text.parse().ok());
        let (not_before, not_after) = (day(not_before), day(not_after));
        let until = emitted.map(|day| window.after(day));
        let until_at_latest = until.or(not_after.map(|day: NaiveDate| window.after(day)));
        Promise { emitted, not_before, not_after, until, until_at_latest }
    }
}

/// What a runtime makes of an artifact that was written with the contract `writer`.
pub fn judge(
    artifact: &Artifact,
    writer: &Contract,
    runtime: &Runtime,
    policy: &Policy,
) -> Outcome {
    let mut obstacles = Vec::new();
    match runtime.era.loader().takes(artifact) {
        Takes::Yes => {}
        Takes::No { container, reason, message } => {
            obstacles.push(container_obstacle(container, reason, message, true));
        }
        Takes::Unknown { container, reason } => {
            obstacles.push(container_obstacle(container, reason, None, false));
        }
    }
    let bytes = artifact.executable().to_bytes();
    let contract = &runtime.contract;
    let mut losses = Vec::new();
    let mut thunks = false;
    match view::decode(&bytes, contract, ROOT, view::Limits::default()) {
        Ok(held) => {
            thunks = held.root().slot_named("thunks").is_some();
            obstacles.extend(required(contract, held.root(), thunks));
            obstacles.extend(without_kind(held.root()));
            losses = view::losses(&bytes, writer, contract, ROOT);
            // Also where the reader does not have them.
            thunks |= losses.iter().any(|loss| loss.construct == THUNKS);
        }
        Err(refused) if matches!(refused.reason, view::Reason::NoSuchMessage(_)) => {
            obstacles.push(Obstacle {
                layer: Layer::Executable,
                certain: false,
                construct: Some(ROOT.to_owned()),
                path: None,
                reason: "its schema has no such message: it is older, or not complete".to_owned(),
                message: None,
            });
        }
        Err(refused) => obstacles.push(Obstacle {
            layer: Layer::Executable,
            certain: true,
            construct: Some(ROOT.to_owned()),
            path: Some(refused.path.clone()),
            reason: format!("it cannot parse the message: {refused}"),
            message: None,
        }),
    }
    name_kinds(&mut obstacles, &losses);
    let differences: Vec<Difference> = losses
        .into_iter()
        .map(|loss| Difference { harmless: harmless::why(&loss, policy, thunks), loss })
        .collect();
    let verdict = verdict(&obstacles, &differences);
    Outcome { verdict, obstacles, differences }
}

/// What an artifact depends on that no schema shows.
pub fn unseen(artifact: &Artifact) -> Result<Vec<String>, aotgate_runtime::Error> {
    unseen::list(artifact)
}

fn verdict(obstacles: &[Obstacle], differences: &[Difference]) -> Verdict {
    let mut verdict = Verdict::Reads;
    for obstacle in obstacles {
        verdict = verdict.max(if obstacle.certain { Verdict::Refused } else { Verdict::Unknown });
    }
    for difference in differences.iter().filter(|difference| difference.harmless.is_none()) {
        verdict = verdict.max(match difference.is_refused() {
            true => Verdict::Refused,
            false => Verdict::ReadsDifferently,
        });
    }
    verdict
}

fn container_obstacle(
    container: Container,
    reason: String,
    message: Option<&'static str>,
    certain: bool,
) -> Obstacle {
    let layer = Layer::Container(container);
    Obstacle { layer, certain, construct: None, path: None, reason, message }
}

/// What loaders with this schema refuse to do without. The field and the check landed together.
fn required(contract: &Contract, root: &Node<'_>, thunks: bool) -> Option<Obstacle> {
    let field = contract.message(ROOT)?.field_named(DEBUG_SUMMARY)?;
    (thunks && root.slot(field.number).is_none()).then(|| Obstacle {
        layer: Layer::Executable,
        certain: true,
        construct: Some(format!("{ROOT}.{DEBUG_SUMMARY}")),
        path: Some(DEBUG_SUMMARY.to_owned()),
        reason: "it requires this text, which older compilers did not write".to_owned(),
        message: Some("Must set buffer_allocations_debug_summary."),
    })
}

/// The first thunk of which the runtime knows no kind.
fn without_kind(root: &Node<'_>) -> Option<Obstacle> {
    let numbers = unset_thunk(root)?;
    let numbers: Vec<String> = numbers.iter().take(5).map(u32::to_string).collect();
    let reason = if numbers.is_empty() {
        "a thunk has no kind".to_owned()
    } else {
        format!("it does not know a thunk's kind, which has the number {}", numbers.join(" or "))
    };
    Some(Obstacle {
        layer: Layer::Thunk,
        certain: true,
        construct: Some(format!("{THUNK}.{}", numbers.first().map_or("impl", String::as_str))),
        path: None,
        reason,
        message: Some("Encountered ThunkProto without an embedded thunk."),
    })
}

/// Unknown numbers of the first thunk without a kind.
fn unset_thunk(node: &Node<'_>) -> Option<Vec<u32>> {
    if &*node.message().name == THUNK && node.fields().all(|(field, _)| field.oneof.is_none()) {
        return Some(node.unknown().iter().map(|unknown| unknown.number).collect());
    }
    node.fields().find_map(|(_, slot)| match slot {
        Slot::One(Value::Message(inner)) => unset_thunk(inner),
        Slot::Messages(list) => list.iter().find_map(unset_thunk),
        Slot::Map(map) => map.values().find_map(|value| match value {
            Value::Message(inner) => unset_thunk(inner),
            _ => None,
        }),
        _ => None,
    })
}

/// Gives an unknown kind of thunk the writer's name for it, and its place.
fn name_kinds(obstacles: &mut [Obstacle], losses: &[Loss]) {
    let kind = |loss: &&Loss| {
        loss.kind == LossKind::Dropped
            && loss.construct.strip_prefix(THUNK).is_some_and(|rest| rest.starts_with('.'))
    };
    let Some(loss) = losses.iter().find(kind) else { return };
    for obstacle in obstacles.iter_mut().filter(|o| o.layer == Layer::Thunk) {
        obstacle.construct = Some(loss.construct.clone());
        obstacle.path = Some(loss.path.clone());
    }
}
