//! What an artifact depends on that no schema shows.

use std::collections::BTreeSet;

use aotgate_runtime::artifact::Artifact;
use aotgate_runtime::artifact::inspect::{Inspection, KernelForm, Thunk};

/// Listed by name up to this many.
const NAMED: usize = 20;

pub(super) fn list(artifact: &Artifact) -> Result<Vec<String>, aotgate_runtime::Error> {
    let inspection = Inspection::new(artifact)?;
    let mut kernels = BTreeSet::new();
    let mut states = 0usize;
    visit(&inspection.thunks, &mut |thunk| {
        states += usize::from(thunk.host_code);
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
    if states > 0 {
        unseen.push(format!(
            "execution state of {states} custom calls, and the host symbols its code needs"
        ));
    }
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
