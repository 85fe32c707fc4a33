//! Random messages of a schema, with some noise.

use crate::random::Random;
use crate::schema::{Field, Kind, Label, SCALARS, Schema};

pub(crate) struct Noise {
    /// Chance in percent that a field is written as another type, or is no field of the schema.
    pub(crate) foreign: usize,
    /// Chance in percent that a string is not UTF-8.
    pub(crate) not_utf8: usize,
    /// Chance in percent that a required field is left out.
    pub(crate) missing: usize,
}

pub(crate) fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn tag(number: i32, wire: u8, out: &mut Vec<u8>) {
    varint((number as u64) << 3 | u64::from(wire), out);
}

pub(crate) fn delimited(bytes: &[u8], out: &mut Vec<u8>) {
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Bytes of a message `M<at>`.
pub(crate) fn message(
    schema: &Schema,
    at: usize,
    depth: usize,
    noise: &Noise,
    random: &mut Random,
) -> Vec<u8> {
    let fields = &schema.messages[at];
    let mut out = Vec::new();
    for field in fields {
        // Required messages may require themselves.
        let required = depth < 8 && schema.effective(field).1 == Label::Required;
        if required && !random.percent(noise.missing) {
            write(schema, field, depth, noise, random, &mut out);
        }
    }
    if fields.is_empty() {
        return out;
    }
    let count = if depth > 4 { 0 } else { random.below(9) };
    for _ in 0..count {
        let field = &fields[random.below(fields.len())];
        write(schema, field, depth, noise, random, &mut out);
    }
    out
}

fn write(
    schema: &Schema,
    field: &Field,
    depth: usize,
    noise: &Noise,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    let (mut kind, label) = schema.effective(field);
    let mut number = field.number;
    if random.percent(noise.foreign) {
        match random.below(3) {
            0 => number = 1 + random.below(20) as i32,
            1 => kind = Kind::Scalar(random.pick(&SCALARS)),
            _ => kind = Kind::Group(0),
        }
    }
    if let Label::Map(key) = label {
        let mut entry = Vec::new();
        for _ in 0..random.pick(&[0, 1, 1, 1, 2]) {
            value(schema, 1, Kind::Scalar(key), depth + 1, noise, random, &mut entry);
        }
        for _ in 0..random.pick(&[0, 1, 1, 1, 2]) {
            value(schema, 2, kind, depth + 1, noise, random, &mut entry);
        }
        if random.percent(noise.foreign) {
            value(schema, 3, Kind::Scalar("sint32"), depth + 1, noise, random, &mut entry);
        }
        tag(number, 2, out);
        delimited(&entry, out);
    } else if matches!(label, Label::Repeated(_))
        && wire(kind) != 2
        && wire(kind) != 3
        && random.percent(50)
    {
        let mut list = Vec::new();
        for _ in 0..random.below(5) {
            list.extend(content(schema, kind, depth, noise, random));
        }
        tag(number, 2, out);
        delimited(&list, out);
    } else {
        value(schema, number, kind, depth, noise, random, out);
    }
}

fn wire(kind: Kind) -> u8 {
    match kind {
        Kind::Enum(_) => 0,
        Kind::Message(_) => 2,
        Kind::Group(_) => 3,
        Kind::Scalar(name) => match name {
            "double" | "fixed64" | "sfixed64" => 1,
            "float" | "fixed32" | "sfixed32" => 5,
            "string" | "bytes" => 2,
            _ => 0,
        },
    }
}

fn value(
    schema: &Schema,
    number: i32,
    kind: Kind,
    depth: usize,
    noise: &Noise,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    tag(number, wire(kind), out);
    let bytes = content(schema, kind, depth, noise, random);
    match wire(kind) {
        2 => delimited(&bytes, out),
        3 => {
            out.extend(bytes);
            tag(number, 4, out);
        }
        _ => out.extend(bytes),
    }
}

fn content(
    schema: &Schema,
    kind: Kind,
    depth: usize,
    noise: &Noise,
    random: &mut Random,
) -> Vec<u8> {
    let mut out = Vec::new();
    match kind {
        Kind::Message(of) | Kind::Group(of) => {
            return message(schema, of, depth + 1, noise, random);
        }
        Kind::Enum(of) => {
            let numbers: Vec<i32> = schema.enums.get(of).into_iter().flatten().copied().collect();
            let number = match random.below(6) {
                0 => 0,
                1 => random.pick(&[1, 4, 5, 6, 7, -1, 1000]),
                _ if numbers.is_empty() => 5,
                _ => random.pick(&numbers),
            };
            varint(i64::from(number) as u64, &mut out);
        }
        Kind::Scalar("string" | "bytes") => {
            if random.percent(noise.not_utf8) {
                return random
                    .pick(&[&b"\xff"[..], b"a\xc0\x80", b"\xed\xa0\x80", b"ok\xe2\x82"])
                    .to_vec();
            }
            return random
                .pick(&["", "a", "hello \"'\\\n\r\t", "h\u{e9}\u{20ac}", "\u{8}\u{1}", "\0\u{7f}"])
                .into();
        }
        kind => {
            let number = random.pick(&[
                0,
                1,
                2,
                5,
                127,
                128,
                0x4048_f5c3,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffff,
                0x1_0000_0000,
                0x1_0000_0005,
                0x4009_21fb_5444_2d18,
                0x7ff0_0000_0000_0000,
                0x8000_0000_0000_0000,
                u64::MAX,
                u64::MAX - 4,
            ]);
            let number = if random.percent(10) { random.next() } else { number };
            match wire(kind) {
                0 => varint(number, &mut out),
                1 => out.extend(number.to_le_bytes()),
                _ => out.extend((number as u32).to_le_bytes()),
            }
        }
    }
    out
}
