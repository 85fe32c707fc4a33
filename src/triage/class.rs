//! Advisory classes: parts of the contract that the policy treats as advice.

use std::collections::HashSet;

use super::policy::Policy;
use crate::descriptor::{Contract, Name};

/// Which types are reachable without passing through an advisory class.
///
/// A type that only advisory messages reach inherits their class; one that a thunk message uses as well
/// does not.
#[derive(Debug)]
pub(crate) struct Firm {
    names: HashSet<Name>,
}

impl Firm {
    /// Follows the fields of all messages but those of advisory classes, on both sides.
    pub(crate) fn new(policy: &Policy, base: &Contract, head: &Contract) -> Self {
        let mut names = HashSet::new();
        for contract in [base, head] {
            let roots: Vec<Name> =
                contract.roots.iter().chain(&contract.json_roots).cloned().collect();
            let firm = contract.reachable_from(&roots, |message, field| {
                let construct = format!("{}.{}", message.name, field.name);
                policy.class_of(&message.name, &construct).is_none()
            });
            names.extend(firm.into_iter().cloned());
        }
        Firm { names }
    }

    /// Whether something outside the advisory classes reaches the type.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}
