//! Where in a message one is, rendered only when something is reported.

use std::fmt;

use super::held::Key;

/// A place in a message tree.
#[derive(Debug, Default)]
pub(super) struct Path<'a>(Vec<Step<'a>>);

#[derive(Debug)]
enum Step<'a> {
    Field(&'a str),
    Number(u32),
    Index(usize),
    Key(Key<'a>),
    Text(String),
}

impl<'a> Path<'a> {
    pub(super) fn field(&mut self, name: &'a str) {
        self.0.push(Step::Field(name));
    }

    /// A field that has no name.
    pub(super) fn number(&mut self, number: u32) {
        self.0.push(Step::Number(number));
    }

    pub(super) fn index(&mut self, at: usize) {
        self.0.push(Step::Index(at));
    }

    pub(super) fn key(&mut self, key: Key<'a>) {
        self.0.push(Step::Key(key));
    }

    /// A key that the path keeps.
    pub(super) fn text_key(&mut self, key: String) {
        self.0.push(Step::Text(key));
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if at == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Number(number) if at == 0 => write!(f, "{number}")?,
                Step::Number(number) => write!(f, ".{number}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => write!(f, "[{key}]")?,
                Step::Text(key) => write!(f, "[\"{}\"]", key.escape_debug())?,
            }
        }
        Ok(())
    }
}
