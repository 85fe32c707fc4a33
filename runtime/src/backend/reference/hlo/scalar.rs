//! Scalar computations, as `reduce`, `scatter` and `sort` call them for every element.
//!
//! A computation of scalars is compiled to a tape of operations once; one that does more than that is
//! evaluated as any other computation.

use num_complex::{Complex32, Complex64};

use super::compare::Comparison;
use super::convert::convert_scalar;
use super::elementwise::{Binary, Unary};
use super::{Evaluator, Value};
use crate::array::{Array, Data, Domain, domain, literal};
use crate::program::hlo::Computation;
use crate::program::shape::ArrayShape;
use crate::program::{At as _, Invalid, Result};
use crate::proto::xla::PrimitiveType;

/// One element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar {
    Pred(bool),
    Int(i64),
    Uint(u64),
    F32(f32),
    F64(f64),
    C64(Complex32),
    C128(Complex64),
}

/// A computation that is called for every element.
pub(crate) struct Combiner<'e, 'm> {
    evaluator: &'e Evaluator<'m>,
    computation: &'m Computation,
    tape: Option<Tape>,
}

/// Operations on registers; each writes the next register.
struct Tape {
    ops: Vec<Step>,
    outputs: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Step {
    Parameter(usize),
    Constant(Scalar),
    Unary(Unary, PrimitiveType, usize),
    Binary(Binary, PrimitiveType, usize, usize),
    Compare(Comparison, PrimitiveType, usize, usize),
    Select(usize, usize, usize),
    Convert(PrimitiveType, usize),
    /// The same value under another name, so that registers and instructions agree.
    Same(usize),
}

impl<'e, 'm> Combiner<'e, 'm> {
    /// A computation on scalars of the types in `parameters`, one list after the other, whose results go
    /// into `results`. Floats up to `f32` may stand for each other among the parameters.
    pub(crate) fn new(
        evaluator: &'e Evaluator<'m>,
        computation: &'m Computation,
        parameters: &[&[PrimitiveType]],
        results: &[Array],
    ) -> Result<Self> {
        let place = || format!("computation {:?}", computation.name);
        let passed: Vec<PrimitiveType> = parameters.concat();
        if computation.parameters.len() != passed.len() {
            let bound = passed.len().to_string();
            return Err(Invalid::value("parameters", computation.parameters.len(), bound))
                .at(place);
        }
        for (number, (at, ty)) in computation.parameters.iter().zip(&passed).enumerate() {
            let shape = computation.instructions[*at].shape.array().at(place)?;
            let narrow = |ty| domain(ty).is_ok_and(|domain| domain == Domain::F32);
            let fits = shape.ty == *ty || narrow(shape.ty) && narrow(*ty);
            if !fits || !shape.dims.is_empty() {
                let bound = ArrayShape::row_major(*ty, &[]).to_string();
                return Err(Invalid::value(format!("parameter {number}"), shape, bound)).at(place);
            }
        }
        let shapes = computation.instructions[computation.root].shape.leaves();
        let same = shapes.iter().map(|shape| shape.ty).eq(results.iter().map(|x| x.ty));
        if !same || shapes.iter().any(|shape| !shape.dims.is_empty()) {
            let list = |shapes: &[&ArrayShape]| {
                shapes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            let wanted: Vec<_> = results.iter().map(|x| ArrayShape::row_major(x.ty, &[])).collect();
            let bound = list(&wanted.iter().collect::<Vec<_>>());
            return Err(Invalid::value("result", list(&shapes), bound)).at(place);
        }
        Ok(Combiner { evaluator, computation, tape: Tape::compile(computation) })
    }

    /// Calls the computation; `out` gets the elements of its result.
    pub(crate) fn call(&self, arguments: &[Typed], out: &mut Vec<Scalar>) -> Result<()> {
        if let Some(tape) = &self.tape {
            self.evaluator.steps(tape.ops.len() as u64)?;
            return tape.run(arguments, out);
        }
        // The parameter's own type, where it is another float.
        let parameters = self.computation.parameters.iter().zip(arguments);
        let arguments = parameters
            .map(|(at, (_, x))| {
                let shape = self.computation.instructions[*at].shape.array()?;
                let array = Array::of_scalar(shape.ty, convert_scalar(*x, shape.ty)?);
                self.evaluator.count(&array);
                Ok(array.into())
            })
            .collect::<Result<Vec<Value>>>()?;
        let result = self.evaluator.computation(self.computation, arguments)?;
        out.clear();
        for leaf in result.leaves() {
            out.push(
                leaf.get(0).ok_or_else(|| Invalid::value("result", leaf.shape(), "a scalar"))?,
            );
        }
        self.evaluator.release(result);
        Ok(())
    }

    /// The operation, its type, and whether its operands change places, where it is but one on both
    /// parameters.
    pub(super) fn binary(&self) -> Option<(Binary, PrimitiveType, bool)> {
        let tape = self.tape.as_ref()?;
        let (&[Step::Parameter(p), Step::Parameter(q), Step::Binary(f, ty, a, b)], [2]) =
            (&tape.ops[..], &tape.outputs[..])
        else {
            return None;
        };
        let numbers = [p, q];
        match (numbers.get(a)?, numbers.get(b)?) {
            (0, 1) => Some((f, ty, false)),
            (1, 0) => Some((f, ty, true)),
            _ => None,
        }
    }

    /// What `call` answers when it is a single predicate.
    pub(crate) fn decide(&self, arguments: &[Typed], out: &mut Vec<Scalar>) -> Result<bool> {
        self.call(arguments, out)?;
        match out.first() {
            Some(Scalar::Pred(answer)) => Ok(*answer),
            _ => Err(Invalid::value("result", "of another type", "pred[]")),
        }
    }
}

/// A scalar and its type.
pub(crate) type Typed = (PrimitiveType, Scalar);

impl Tape {
    fn compile(computation: &Computation) -> Option<Tape> {
        let mut ops = Vec::with_capacity(computation.instructions.len());
        let (root, body) = computation.instructions.split_at(computation.root);
        let root_instruction = body.first()?;
        for instruction in root.iter().chain(std::iter::once(root_instruction)) {
            if instruction.opcode == "tuple" && std::ptr::eq(instruction, root_instruction) {
                return Some(Tape { ops, outputs: instruction.operands.clone() });
            }
            let shape = instruction.shape.array().ok()?;
            if !shape.dims.is_empty() {
                return None;
            }
            let operand_type = |at: usize| {
                let operand = computation.instructions.get(*instruction.operands.get(at)?)?;
                Some(operand.shape.array().ok()?.ty)
            };
            let operands = instruction.operands.as_slice();
            let opcode = instruction.opcode.as_str();
            ops.push(match (opcode, operands) {
                ("parameter", []) => {
                    Step::Parameter(usize::try_from(instruction.proto.parameter_number).ok()?)
                }
                ("constant", []) => {
                    let literal = literal(instruction.proto.literal.as_ref()?, shape).ok()?;
                    Step::Constant(literal.get(0)?)
                }
                ("compare", [a, b]) => {
                    let ty = operand_type(0)?;
                    Step::Compare(Comparison::of(&instruction.proto, ty).ok()?, ty, *a, *b)
                }
                ("select", [p, a, b])
                    if operand_type(1)? == shape.ty && operand_type(2)? == shape.ty =>
                {
                    Step::Select(*p, *a, *b)
                }
                ("convert", [x]) => Step::Convert(shape.ty, *x),
                ("copy" | "bitcast" | "reshape", [x]) if operand_type(0)? == shape.ty => {
                    Step::Same(*x)
                }
                (_, [x]) if operand_type(0)? == shape.ty => {
                    Step::Unary(Unary::of(opcode, shape.ty)?, shape.ty, *x)
                }
                (_, [a, b]) if [operand_type(0)?, operand_type(1)?] == [shape.ty; 2] => {
                    Step::Binary(Binary::of(opcode, shape.ty)?, shape.ty, *a, *b)
                }
                _ => return None,
            });
        }
        Some(Tape { ops, outputs: vec![computation.root] })
    }

    fn run(&self, arguments: &[Typed], out: &mut Vec<Scalar>) -> Result<()> {
        // Registers of all but the largest computations fit on the stack.
        let mut small = [Scalar::Pred(false); 32];
        let mut large;
        let registers: &mut [Scalar] = if self.ops.len() <= small.len() {
            &mut small
        } else {
            large = vec![Scalar::Pred(false); self.ops.len()];
            &mut large
        };
        for (at, step) in self.ops.iter().enumerate() {
            registers[at] = match *step {
                Step::Parameter(number) => {
                    arguments
                        .get(number)
                        .ok_or_else(|| {
                            Invalid::value(
                                "parameter_number",
                                number,
                                format!("below {}", arguments.len()),
                            )
                        })?
                        .1
                }
                Step::Constant(value) => value,
                Step::Unary(f, ty, x) => f.apply(ty, registers[x])?,
                Step::Binary(f, ty, a, b) => f.apply(ty, registers[a], registers[b])?,
                Step::Compare(f, ty, a, b) => {
                    Scalar::Pred(f.holds(ty, registers[a], registers[b])?)
                }
                Step::Select(p, a, b) => match registers[p] {
                    Scalar::Pred(true) => registers[a],
                    Scalar::Pred(false) => registers[b],
                    _ => return Err(Invalid::value("operand 0", "no predicate", "pred[]")),
                },
                Step::Convert(ty, x) => convert_scalar(registers[x], ty)?,
                Step::Same(x) => registers[x],
            };
        }
        out.clear();
        out.extend(self.outputs.iter().map(|at| registers[*at]));
        Ok(())
    }
}

impl Array {
    /// An element, in row-major order.
    pub(crate) fn get(&self, at: usize) -> Option<Scalar> {
        Some(match &self.data {
            Data::Pred(v) => Scalar::Pred(*v.get(at)?),
            Data::Int(v) => Scalar::Int(*v.get(at)?),
            Data::Uint(v) => Scalar::Uint(*v.get(at)?),
            Data::F32(v) => Scalar::F32(*v.get(at)?),
            Data::F64(v) => Scalar::F64(*v.get(at)?),
            Data::C64(v) => Scalar::C64(*v.get(at)?),
            Data::C128(v) => Scalar::C128(*v.get(at)?),
        })
    }

    /// Sets an element; its domain has to be the array's.
    pub(crate) fn set(&mut self, at: usize, value: Scalar) -> Result<()> {
        fn put<T>(v: &mut [T], at: usize, x: T) -> Option<()> {
            *v.get_mut(at)? = x;
            Some(())
        }
        let done = match (&mut self.data, value) {
            (Data::Pred(v), Scalar::Pred(x)) => put(v, at, x),
            (Data::Int(v), Scalar::Int(x)) => put(v, at, x),
            (Data::Uint(v), Scalar::Uint(x)) => put(v, at, x),
            (Data::F32(v), Scalar::F32(x)) => put(v, at, x),
            (Data::F64(v), Scalar::F64(x)) => put(v, at, x),
            (Data::C64(v), Scalar::C64(x)) => put(v, at, x),
            (Data::C128(v), Scalar::C128(x)) => put(v, at, x),
            _ => return Err(Invalid::value("result", "of another type", self.ty.as_str_name())),
        };
        done.ok_or_else(|| Invalid::value("element", at, format!("below {}", self.len())))
    }

    /// A scalar as an array without dimensions.
    pub(crate) fn of_scalar(ty: PrimitiveType, value: Scalar) -> Array {
        let data = match value {
            Scalar::Pred(x) => Data::Pred(vec![x]),
            Scalar::Int(x) => Data::Int(vec![x]),
            Scalar::Uint(x) => Data::Uint(vec![x]),
            Scalar::F32(x) => Data::F32(vec![x]),
            Scalar::F64(x) => Data::F64(vec![x]),
            Scalar::C64(x) => Data::C64(vec![x]),
            Scalar::C128(x) => Data::C128(vec![x]),
        };
        Array { ty, dims: Vec::new(), data }
    }

    /// An array of zeros.
    pub(crate) fn zeros(ty: PrimitiveType, dims: &[usize]) -> Result<Array> {
        let data = Data::zeros(ty, dims.iter().product())?;
        Ok(Array { ty, dims: dims.to_vec(), data })
    }

    /// An array that repeats a scalar.
    pub(crate) fn filled(ty: PrimitiveType, dims: &[usize], value: Scalar) -> Array {
        let n = dims.iter().product();
        let data = match value {
            Scalar::Pred(x) => Data::Pred(vec![x; n]),
            Scalar::Int(x) => Data::Int(vec![x; n]),
            Scalar::Uint(x) => Data::Uint(vec![x; n]),
            Scalar::F32(x) => Data::F32(vec![x; n]),
            Scalar::F64(x) => Data::F64(vec![x; n]),
            Scalar::C64(x) => Data::C64(vec![x; n]),
            Scalar::C128(x) => Data::C128(vec![x; n]),
        };
        Array { ty, dims: dims.to_vec(), data }
    }
}
