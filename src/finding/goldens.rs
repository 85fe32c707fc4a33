//! What recorded artifacts showed.

/// What `check` found out by looking at goldens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Goldens {
    /// Whether any was looked at through both contracts.
    pub viewed: bool,
    /// One per golden that was looked at or passed over, by id.
    pub cases: Vec<GoldenCase>,
    /// Changed constructs that no golden of the backward window carries, sorted: nothing recorded speaks for or against
    /// these changes.
    pub not_covered: Vec<String>,
    /// Cases that were passed over because the golden is outside the backward window.
    pub outside: usize,
    /// What could not be read, each with its reason: goldens of base, or the store itself.
    pub unreadable: Vec<String>,
}

/// One golden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenCase {
    /// Its id, `<set>/<name>`.
    pub golden: String,
    /// What came out.
    pub outcome: CaseOutcome,
    /// Why, where that is no matter of course.
    pub reason: Option<String>,
}

/// What came out for a golden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaseOutcome {
    /// Head reads what base read.
    Equal,
    /// Head drops or misreads something.
    Differ,
    /// Head refuses it, or it could not be read.
    Failed,
    /// It was not looked at.
    Skipped,
}

impl CaseOutcome {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            CaseOutcome::Equal => "equal",
            CaseOutcome::Differ => "differ",
            CaseOutcome::Failed => "failed",
            CaseOutcome::Skipped => "skipped",
        }
    }
}

impl Goldens {
    /// How many goldens came out so.
    pub fn count(&self, outcome: CaseOutcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }
}
