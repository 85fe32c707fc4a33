//! What an artifact depends on that no schema shows.

use std::collections::BTreeSet;

use aotgate_runtime::artifact::inspect::{Inspection, KernelForm, Thunk};
use aotgate_runtime::artifact::lint::lint;
use aotgate_runtime::artifact::{Artifact, Limits};

/// The rule that finds code and state for the host.
const HOST_CODE: &str = "host-code";
/// Listed by name up to this many.
const NAMED: usize = 20;

pub(super) fn list(artifact: &Artifact) -> Result<Vec<String>, aotgate_runtime::Error> {
    let inspection = Inspection::new(artifact)?;
    let mut kernels = BTreeSet::new();
    visit(&inspection.thunks, &mut |thunk| {
        if let Some(kernel) = thunk.kernel.as_ref().filter(|k| k.form == KernelForm::InProcess) {
            kernels.insert(kernel.name.clone());
        }
    });
    let calls: BTreeSet<String> = inspection.custom_calls.keys().cloned().collect();
    let mut unseen = Vec::new();
    if !inspection.graphs.is_empty() {
        let graphs = inspection.graphs.len();
        unseen.push(format!("the format inside {graphs} compiled cuDNN graphs"));
    }
    if !calls.is_empty() {
        unseen.push(format!("registered handlers: {}", names(&calls)));
    }
    if !kernels.is_empty() {
        unseen.push(format!("kernels of the runtime: {}", names(&kernels)));
    }
    let report = lint(artifact, &Limits::default())?;
    let host = report.findings.iter().filter(|finding| finding.rule == HOST_CODE);
    let host = host.map(|finding| format!("host symbols: {} ({})", finding.message, finding.path));
    unseen.extend(host.take(NAMED));
    Ok(unseen)
}

fn names(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = if names.len() > NAMED { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn visit(thunks: &[Thunk], see: &mut impl FnMut(&Thunk)) {
    for thunk in thunks {
        see(thunk);
        visit(&thunk.thunks, see);
    }
}
