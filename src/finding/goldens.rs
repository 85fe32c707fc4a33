//! What recorded artifacts showed.

/// How the reason begins why a golden proves nothing that base itself cannot run.
pub const NO_PROGRAM: &str = "no program even to base";

/// What `check` found out by looking at goldens and executing them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Goldens {
    /// Whether any was looked at through both contracts.
    pub viewed: bool,
    /// One per golden that was looked at or passed over, by id.
    pub cases: Vec<GoldenCase>,
    /// Changed constructs that no golden of the backward window carries, or that no executed one made the runtime read,
    /// sorted: nothing recorded speaks for or against these changes.
    pub not_covered: Vec<String>,
    /// Cases that were passed over because the golden is outside the backward window.
    pub outside: usize,
    /// What could not be read, each with its reason: goldens of base, or the store itself.
    pub unreadable: Vec<String>,
    /// What executed goldens carry and the bundled runtime does not model, by full name, sorted: execution says nothing
    /// about it.
    pub unmodelled: Vec<String>,
}

/// One golden.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenCase {
    /// Its id, `<set>/<name>`.
    pub golden: String,
    /// What came out.
    pub outcome: CaseOutcome,
    /// Why, where that is no matter of course.
    pub reason: Option<String>,
    /// What head's reader loses of it, whatever an execution gave.
    pub loses: Option<String>,
    /// Whether it was executed.
    pub execution: Execution,
    /// The largest error of its results against what is expected; `None` where nothing is, or it was not executed.
    pub worst_error: Option<f64>,
}

/// Whether a golden was executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Execution {
    /// Nobody asked for it.
    #[default]
    NotAsked,
    /// Something that it needs is missing here; that is no pass.
    Skipped,
    /// It was run as head understands it, to its end or until it failed.
    Done,
}

/// What came out for a golden. Where goldens are executed, `Equal`, `Differ` and `Failed` are what execution gave, and all
/// of them together are those that were executed; else they are what both contracts read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaseOutcome {
    /// The same through both contracts.
    Equal,
    /// Something else through head: another result, or where it was only read, less or other content.
    Differ,
    /// Its execution did not come to an end, or did not give what is expected.
    Failed,
    /// Head's parser or loader does not take it.
    Refused,
    /// Its files cannot be read, so nothing can be said.
    Unreadable,
    /// It was not looked at, or could not be executed here.
    Skipped,
}

impl CaseOutcome {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            CaseOutcome::Equal => "equal",
            CaseOutcome::Differ => "differ",
            CaseOutcome::Failed => "failed",
            CaseOutcome::Refused => "refused",
            CaseOutcome::Unreadable => "unreadable",
            CaseOutcome::Skipped => "skipped",
        }
    }
}

impl Goldens {
    /// How many were executed.
    pub fn executed(&self) -> usize {
        self.cases.iter().filter(|case| case.execution == Execution::Done).count()
    }

    /// What goldens were put to: `reference` where one was executed, else `view` where one was looked at through both
    /// contracts.
    pub fn backend(&self) -> Option<&'static str> {
        match self.executed() {
            0 => self.viewed.then_some("view"),
            _ => Some("reference"),
        }
    }

    /// How many goldens came out so.
    pub fn count(&self, outcome: CaseOutcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }
}
