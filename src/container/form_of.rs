//! The forms of a real artifact.

use aotgate_runtime::artifact::{Artifact, Container};

use super::Form;

/// The forms that an artifact's layers have, outermost first; none for a text golden, which no loader reads.
pub fn forms_of(artifact: &Artifact) -> Vec<Form> {
    let mut forms = Vec::new();
    for layer in artifact.layers() {
        match layer.container {
            Container::IfrtEnvelope => {
                forms.push(Form::IfrtEnvelope);
                if artifact.envelope().is_some_and(|e| e.abi_version().is_some()) {
                    forms.push(Form::IfrtAbiEntry);
                }
            }
            Container::PlainOuter => forms.push(Form::PlainOuter),
            Container::SplitOuter => forms.push(Form::SplitOuter),
            Container::PlainExecutable => forms.push(Form::PlainExecutable),
            Container::SplitExecutable => forms.push(Form::SplitExecutable),
            Container::Text => {}
        }
    }
    forms
}
