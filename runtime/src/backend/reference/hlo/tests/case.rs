//! One row of a table.

use super::super::{DeviceIds, Evaluator, Value};
use super::text::{self, Line};
use crate::array::{Array, element_bytes};
use crate::program::hlo::Module;
use crate::program::shape::Shape;
use crate::program::{Limits, Reads};
use crate::proto::xla::{HloInstructionProto, HloModuleProto};

/// An instruction on arrays, and what it gives.
pub(super) struct Case {
    text: String,
    pub(super) opcode: String,
    /// What follows the opcode's dot.
    attribute: String,
    operands: Vec<Value>,
    expected: Value,
    set: Box<dyn Fn(&mut HloInstructionProto)>,
    /// Name and text of each computation besides the entry.
    computations: Vec<(String, String)>,
    calls: Vec<String>,
    tolerance: f64,
    pub(super) fails: Option<String>,
    limits: Limits,
}

/// Reads a row.
pub(super) fn case(text: &str) -> Case {
    Case::new(text)
}

impl Case {
    pub(super) fn new(text: &str) -> Case {
        let (call, expected) = text.split_once(") = ").expect("opcode(operands) = result");
        let (head, operands) = call.split_once('(').expect("opcode(operands)");
        let (opcode, attribute) = head.split_once('.').unwrap_or((head, ""));
        Case {
            text: text.to_owned(),
            opcode: opcode.to_owned(),
            attribute: attribute.to_owned(),
            operands: operands
                .split(", ")
                .filter(|o| !o.trim().is_empty())
                .map(text::value)
                .collect(),
            expected: text::value(expected),
            set: Box::new(|_| {}),
            computations: Vec::new(),
            calls: Vec::new(),
            tolerance: 0.0,
            fails: None,
            limits: Limits {
                steps: 1_000_000,
                memory: 1 << 20,
                iterations: 1000,
                ..Limits::default()
            },
        }
    }

    /// Sets attributes.
    pub(super) fn with(mut self, set: impl Fn(&mut HloInstructionProto) + 'static) -> Self {
        self.set = Box::new(set);
        self
    }

    /// Adds a computation that the instruction calls.
    pub(super) fn calls(mut self, name: &str, computation: &str) -> Self {
        self.calls.push(name.to_owned());
        self.has(name, computation)
    }

    /// Adds a computation of two scalars of one type and one operation.
    pub(super) fn combines(self, opcode: &str, ty: &str) -> Self {
        let result = if opcode.starts_with("compare") { "pred" } else { ty };
        let body =
            format!("a {ty}[] parameter 0\n b {ty}[] parameter 1\n r {result}[] {opcode} a b");
        self.calls(&format!("{opcode}_{ty}"), &body)
    }

    /// Adds a computation that another one calls.
    pub(super) fn has(mut self, name: &str, computation: &str) -> Self {
        self.computations.push((name.to_owned(), computation.to_owned()));
        self
    }

    /// Numbers may differ by this much, relative to the expected one.
    pub(super) fn near(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// It is an error whose text contains this.
    pub(super) fn fails(mut self, with: &str) -> Self {
        self.fails = Some(with.to_owned());
        self
    }

    pub(super) fn limits(mut self, limits: impl Fn(&mut Limits)) -> Self {
        limits(&mut self.limits);
        self
    }

    fn module(&self) -> HloModuleProto {
        let mut lines: Vec<Line> = Vec::new();
        for (number, operand) in self.operands.iter().enumerate() {
            lines.push(Line::parameter(&format!("p{number}"), number, text::shape_of(operand)));
        }
        let mut op = Line::new("op", &self.opcode, text::shape_of(&self.expected));
        op.operands = (0..self.operands.len()).map(|number| format!("p{number}")).collect();
        op.calls.clone_from(&self.calls);
        if !self.attribute.is_empty() {
            op.attribute(&self.opcode, &self.attribute);
        }
        (self.set)(&mut op.proto);
        lines.push(op);
        let mut computations = vec![("main".to_owned(), lines)];
        for (name, body) in &self.computations {
            computations.push((name.clone(), text::lines(body)));
        }
        text::module(computations)
    }

    /// Evaluates it.
    pub(super) fn value(&self) -> Result<Value, String> {
        let fault = |invalid: crate::program::Invalid| invalid.to_string();
        let module = Module::new(self.module(), &mut Reads::default()).map_err(fault)?;
        let evaluator =
            Evaluator::new(&module, &self.limits, DeviceIds { replica: 2, partition: 1 }, None);
        for operand in &self.operands {
            evaluator.charge(&Shape::new(&text::shape_of(operand)).unwrap()).map_err(fault)?;
        }
        let arguments = self.operands.iter().map(text::deep).collect();
        let value = evaluator.computation(&module.computations[0], arguments).map_err(fault)?;
        let mut arrays = value.leaves();
        arrays.dedup_by_key(|x| std::ptr::from_ref::<Array>(x));
        let taken: u64 = arrays.iter().map(|x| element_bytes(x.ty).unwrap() * x.len() as u64).sum();
        if evaluator.alive() != taken {
            return Err(format!("{} bytes are counted, {taken} are alive", evaluator.alive()));
        }
        Ok(value)
    }

    /// What is wrong, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |what: String| Err(format!("{}\n  {what}", self.text));
        match (self.value(), &self.fails) {
            (Ok(value), None) => {
                let (have, want) = (text::show(&value), text::show(&self.expected));
                if text::near(&have, &want, self.tolerance) {
                    Ok(())
                } else {
                    wrong(format!("gives {have}"))
                }
            }
            (Ok(value), Some(_)) => {
                wrong(format!("gives {} instead of an error", text::show(&value)))
            }
            (Err(error), Some(expected)) if error.contains(expected) => Ok(()),
            (Err(error), Some(expected)) => {
                wrong(format!("fails with {error:?}, not {expected:?}"))
            }
            (Err(error), None) => wrong(format!("fails with {error}")),
        }
    }
}

/// Checks a table and shows all rows that are wrong.
pub(super) fn check(cases: &[Case]) {
    let wrong: Vec<String> = cases.iter().filter_map(|case| case.check().err()).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
