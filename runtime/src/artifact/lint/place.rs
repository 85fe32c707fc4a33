//! Where in a message one is; text only when something is reported.

use std::fmt;

use prost_reflect::FieldDescriptor;

/// A place in a message tree.
#[derive(Default)]
pub(super) struct Place {
    prefix: &'static str,
    steps: Vec<Step>,
}

enum Step {
    Field(FieldDescriptor),
    /// A field that the schema does not have.
    Number(u32),
    Index(usize),
    Key(String),
}

impl Place {
    pub(super) fn new(prefix: &'static str) -> Self {
        Place { prefix, steps: Vec::new() }
    }

    /// Goes into a field, and to the element of a list or map.
    pub(super) fn push(&mut self, field: &FieldDescriptor, index: Option<usize>) {
        self.steps.push(Step::Field(field.clone()));
        if let Some(index) = index {
            self.steps.push(Step::Index(index));
        }
    }

    pub(super) fn push_number(&mut self, number: u32) {
        self.steps.push(Step::Number(number));
    }

    pub(super) fn push_key(&mut self, key: String) {
        self.steps.push(Step::Key(key));
    }

    /// Number of steps, to come back to.
    pub(super) fn mark(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn back_to(&mut self, mark: usize) {
        self.steps.truncate(mark);
    }

    /// The field that one is in, below lists and maps.
    pub(super) fn field(&self) -> Option<&FieldDescriptor> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Field(field) => Some(field),
            _ => None,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix)?;
        for (at, step) in self.steps.iter().enumerate() {
            let dot = if at == 0 && self.prefix.is_empty() { "" } else { "." };
            match step {
                Step::Field(field) => write!(f, "{dot}{}", field.name())?,
                Step::Number(number) => write!(f, "{dot}{number}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}
