//! Arrays and computations as text.
//!
//! An array is its type, dimensions and elements: `f32[2,2] 1 2 3 -0`, complex numbers as `re:im`, and
//! `f32[1000] ..7` repeats one. `a & b` is a tuple. A computation is one instruction a line, the last one
//! its root: name, type, opcode with its attribute, operands, callees after `@`:
//!
//! ```text
//! a s32[] parameter 0
//! b s32[] constant 5
//! r pred[] compare.LT a b
//! ```

use std::collections::HashMap;

use num_complex::Complex;

use super::super::Value;
use crate::array::{Array, Data, Domain, domain, each, encode, round};
use crate::proto::xla::{
    HloComputationProto, HloInstructionProto, HloModuleProto, LayoutProto, LiteralProto,
    PrimitiveType, ShapeProto,
};

/// A value: an array, a tuple of them, or a token.
pub(super) fn value(text: &str) -> Value {
    if let Some((first, rest)) = text.split_once('&') {
        return std::iter::once(first).chain(rest.split('&')).map(value).collect();
    }
    if text.trim() == "token" {
        return Value::Token;
    }
    array(text).into()
}

fn array(text: &str) -> Array {
    let mut words = text.split_whitespace();
    let (ty, dims) = type_and_dims(words.next().expect("a type"));
    let count: usize = dims.iter().product();
    let mut words: Vec<&str> = words.collect();
    if let Some(repeated) = words.first().and_then(|word| word.strip_prefix("..")) {
        words = vec![repeated; count];
    }
    assert_eq!(words.len(), count, "elements in {text:?}");
    let data = match domain(ty).unwrap() {
        Domain::Pred => Data::Pred(words.iter().map(|w| *w == "1" || *w == "true").collect()),
        Domain::Int => Data::Int(words.iter().map(|w| w.parse().expect(w)).collect()),
        Domain::Uint => Data::Uint(words.iter().map(|w| w.parse().expect(w)).collect()),
        Domain::F32 => Data::F32(words.iter().map(|w| round(ty, float(w))).collect()),
        Domain::F64 => Data::F64(words.iter().map(|w| w.parse().expect(w)).collect()),
        Domain::C64 => Data::C64(words.iter().map(|w| complex(w)).collect()),
        Domain::C128 => Data::C128(words.iter().map(|w| complex(w)).collect()),
    };
    Array { ty, dims, data }
}

fn float(word: &str) -> f32 {
    if word == "-nan" { -f32::NAN } else { word.parse().expect(word) }
}

fn complex<T: std::str::FromStr + Default>(word: &str) -> Complex<T> {
    let (re, im) = word.split_once(':').unwrap_or((word, "0"));
    let part = |text: &str| text.parse().unwrap_or_else(|_| panic!("no number: {text:?}"));
    Complex::new(part(re), part(im))
}

fn type_and_dims(text: &str) -> (PrimitiveType, Vec<usize>) {
    let (ty, dims) = text.trim_end_matches(']').split_once('[').expect("type[dims]");
    let ty = PrimitiveType::from_str_name(&ty.to_uppercase())
        .unwrap_or_else(|| panic!("no type: {ty:?}"));
    (ty, dims.split(',').filter(|d| !d.is_empty()).map(|d| d.parse().expect("a size")).collect())
}

/// A shape, also of a tuple: `(s32[],f32[2])`. Minor-to-major order may follow in braces.
pub(super) fn shape(text: &str) -> ShapeProto {
    if text == "token" {
        return ShapeProto { element_type: PrimitiveType::Token.into(), ..ShapeProto::default() };
    }
    if let Some(inner) = text.strip_prefix('(') {
        let mut parts = vec![String::new()];
        let mut depth = 0;
        for c in inner[..inner.len() - 1].chars() {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            if c == ',' && depth == 0 {
                parts.push(String::new());
            } else if let Some(part) = parts.last_mut() {
                part.push(c);
            }
        }
        let tuple_shapes = parts.iter().filter(|p| !p.is_empty()).map(|part| shape(part)).collect();
        return ShapeProto {
            element_type: PrimitiveType::Tuple.into(),
            tuple_shapes,
            ..ShapeProto::default()
        };
    }
    let (text, layout) =
        text.trim_end_matches('}').split_once('{').map_or((text, None), |(t, l)| (t, Some(l)));
    let (ty, dims) = type_and_dims(text);
    let layout = layout.map(|order| LayoutProto {
        minor_to_major: order.split(',').map(|d| d.parse().expect("a dimension")).collect(),
        ..LayoutProto::default()
    });
    ShapeProto {
        element_type: ty.into(),
        dimensions: dims.iter().map(|d| *d as i64).collect(),
        layout: layout.map(Box::new),
        ..ShapeProto::default()
    }
}

pub(super) fn shape_of(value: &Value) -> ShapeProto {
    match value {
        Value::Array(array) => ShapeProto {
            element_type: array.ty.into(),
            dimensions: array.dims.iter().map(|d| *d as i64).collect(),
            ..ShapeProto::default()
        },
        Value::Tuple(values) => ShapeProto {
            element_type: PrimitiveType::Tuple.into(),
            tuple_shapes: values.iter().map(shape_of).collect(),
            ..ShapeProto::default()
        },
        Value::Token => shape("token"),
    }
}

/// A copy that shares no memory.
pub(super) fn deep(value: &Value) -> Value {
    match value {
        Value::Array(array) => Array::clone(array).into(),
        Value::Tuple(values) => values.iter().map(deep).collect(),
        Value::Token => Value::Token,
    }
}

pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Array(array) => {
            let words: Vec<String> = match &array.data {
                Data::C64(v) => v.iter().map(|x| format!("{}:{}", x.re, x.im)).collect(),
                Data::C128(v) => v.iter().map(|x| format!("{}:{}", x.re, x.im)).collect(),
                data => each!(data, v => v.iter().map(ToString::to_string).collect()),
            };
            let dims: Vec<String> = array.dims.iter().map(ToString::to_string).collect();
            format!(
                "{}[{}] {}",
                array.ty.as_str_name().to_lowercase(),
                dims.join(","),
                words.join(" ")
            )
        }
        Value::Tuple(values) => values.iter().map(show).collect::<Vec<_>>().join(" & "),
        Value::Token => "token".to_owned(),
    }
}

/// Whether two texts are the same but for small differences of numbers.
pub(super) fn near(have: &str, want: &str, tolerance: f64) -> bool {
    let split = |text: &str| text.split([' ', ':']).map(str::to_owned).collect::<Vec<_>>();
    let (have, want) = (split(have), split(want));
    have.len() == want.len()
        && have.iter().zip(&want).all(|(have, want)| {
            match (have.parse::<f64>(), want.parse::<f64>()) {
                (Ok(a), Ok(b)) if tolerance > 0.0 && a.is_finite() && b.is_finite() => {
                    (a - b).abs() <= tolerance * b.abs().max(f64::from(f32::MIN_POSITIVE))
                }
                _ => have == want,
            }
        })
}

/// One instruction.
pub(super) struct Line {
    name: String,
    pub(super) operands: Vec<String>,
    pub(super) calls: Vec<String>,
    pub(super) proto: HloInstructionProto,
}

impl Line {
    pub(super) fn new(name: &str, opcode: &str, shape: ShapeProto) -> Line {
        let proto = HloInstructionProto {
            name: name.to_owned(),
            opcode: opcode.split('.').next().unwrap_or(opcode).to_owned(),
            shape: Some(shape),
            ..HloInstructionProto::default()
        };
        Line { name: name.to_owned(), operands: Vec::new(), calls: Vec::new(), proto }
    }

    pub(super) fn parameter(name: &str, number: usize, shape: ShapeProto) -> Line {
        let mut line = Line::new(name, "parameter", shape);
        line.proto.parameter_number = number as i64;
        line
    }

    /// Sets what follows the opcode's dot.
    pub(super) fn attribute(&mut self, opcode: &str, attribute: &str) {
        match opcode {
            "compare" => self.proto.comparison_direction = attribute.to_owned(),
            "get-tuple-element" => self.proto.tuple_index = attribute.parse().expect("an index"),
            _ => {
                let dims = attribute.split(',').filter(|d| !d.is_empty());
                self.proto.dimensions = dims.map(|d| d.parse().expect("a dimension")).collect();
            }
        }
    }
}

/// The instructions of a computation's text.
pub(super) fn lines(text: &str) -> Vec<Line> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(line).collect()
}

fn line(text: &str) -> Line {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [name, ty, opcode, rest @ ..] = &words[..] else {
        panic!("name, type, opcode in {text:?}")
    };
    let mut line = Line::new(name, opcode, shape(ty));
    if let Some((opcode, attribute)) = opcode.split_once('.') {
        line.attribute(opcode, attribute);
    }
    match line.proto.opcode.as_str() {
        "parameter" => line.proto.parameter_number = rest[0].parse().expect("a number"),
        "constant" => {
            line.proto.literal = Some(literal(&array(&format!("{ty} {}", rest.join(" ")))))
        }
        _ => {
            for word in rest {
                match word.strip_prefix('@') {
                    Some(callee) => line.calls.push(callee.to_owned()),
                    None => line.operands.push((*word).to_owned()),
                }
            }
        }
    }
    line
}

/// A module of computations by name; the first is the entry.
pub(super) fn module(computations: Vec<(String, Vec<Line>)>) -> HloModuleProto {
    let names: Vec<String> = computations.iter().map(|(name, _)| name.clone()).collect();
    let id = |name: &String| names.iter().position(|n| n == name).expect(name) as i64 + 1;
    let computation = |(name, lines): (String, Vec<Line>)| {
        let own: HashMap<String, i64> =
            lines.iter().enumerate().map(|(at, line)| (line.name.clone(), at as i64)).collect();
        let count = lines.len() as i64;
        let place = |name: &String| *own.get(name).expect(name);
        let instructions = lines.into_iter().enumerate().map(|(at, line)| HloInstructionProto {
            id: at as i64,
            operand_ids: line.operands.iter().map(place).collect(),
            called_computation_ids: line.calls.iter().map(id).collect(),
            ..line.proto
        });
        HloComputationProto {
            id: id(&name),
            name,
            instructions: instructions.collect(),
            root_id: count - 1,
            ..HloComputationProto::default()
        }
    };
    HloModuleProto {
        computations: computations.into_iter().map(computation).collect(),
        ..HloModuleProto::default()
    }
}

/// An array as a constant's literal.
pub(super) fn literal(array: &Array) -> LiteralProto {
    use PrimitiveType as P;
    let mut out = LiteralProto {
        shape: Some(shape_of(&Value::from(array.clone()))),
        ..LiteralProto::default()
    };
    let mut bytes = vec![0; array.shape().bytes()];
    encode(array, &array.shape(), &mut bytes).unwrap();
    let words = |size: usize| bytes.chunks(size).map(<[u8]>::to_vec).collect::<Vec<_>>();
    match array.ty {
        P::Pred => out.preds = bytes.iter().map(|b| *b != 0).collect(),
        P::S32 => {
            out.s32s =
                words(4).iter().map(|b| i32::from_le_bytes(b[..].try_into().unwrap())).collect()
        }
        P::U32 => {
            out.u32s =
                words(4).iter().map(|b| u32::from_le_bytes(b[..].try_into().unwrap())).collect()
        }
        P::S64 => {
            out.s64s =
                words(8).iter().map(|b| i64::from_le_bytes(b[..].try_into().unwrap())).collect()
        }
        P::U64 => {
            out.u64s =
                words(8).iter().map(|b| u64::from_le_bytes(b[..].try_into().unwrap())).collect()
        }
        P::F32 => {
            out.f32s =
                words(4).iter().map(|b| f32::from_le_bytes(b[..].try_into().unwrap())).collect()
        }
        P::F64 => {
            out.f64s =
                words(8).iter().map(|b| f64::from_le_bytes(b[..].try_into().unwrap())).collect()
        }
        P::C64 => {
            out.c64s =
                words(4).iter().map(|b| f32::from_le_bytes(b[..].try_into().unwrap())).collect()
        }
        P::C128 => {
            out.c128s =
                words(8).iter().map(|b| f64::from_le_bytes(b[..].try_into().unwrap())).collect()
        }
        P::S8 => out.s8s = bytes.into(),
        P::U8 => out.u8s = bytes.into(),
        P::S16 => out.s16s = bytes.into(),
        P::U16 => out.u16s = bytes.into(),
        P::F16 => out.f16s = bytes.into(),
        P::Bf16 => out.bf16s = bytes.into(),
        P::S4 => out.s4s = bytes.into(),
        P::U4 => out.u4s = bytes.into(),
        P::F8e5m2 => out.f8e5m2s = bytes.into(),
        P::F8e4m3fn => out.f8e4m3fns = bytes.into(),
        P::F4e2m1fn => out.f4e2m1fns = bytes.into(),
        other => panic!("no literals of {other:?} here"),
    }
    out
}
