//! What literals stand for.

use super::token::Token;

/// Appends the bytes that a string literal stands for; its escapes have been checked.
pub(super) fn unescape(literal: &[u8], out: &mut Vec<u8>) {
    let mut rest = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        rest = escape(rest, out);
    }
    out.extend_from_slice(rest);
}

/// Appends what an escape stands for and returns what follows it.
fn escape<'a>(rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let Some((&first, after)) = rest.split_first() else { return rest };
    let (byte, after) = match first {
        b'0'..=b'7' => {
            let (value, after) = digits(rest, 8, 3);
            (value as u8, after) // over \377 the higher bits are dropped
        }
        b'x' | b'X' => {
            let (value, after) = digits(after, 16, 2);
            (value as u8, after)
        }
        b'u' => return code_point(digits(after, 16, 4), out),
        b'U' => return code_point(digits(after, 16, 8), out),
        b'a' => (0x07, after),
        b'b' => (0x08, after),
        b'f' => (0x0c, after),
        b'n' => (b'\n', after),
        b'r' => (b'\r', after),
        b't' => (b'\t', after),
        b'v' => (0x0b, after),
        other => (other, after),
    };
    out.push(byte);
    after
}

/// The number of up to `most` digits in front, and what follows them.
fn digits(text: &[u8], radix: u32, most: usize) -> (u32, &[u8]) {
    let mut value = 0u32;
    let mut length = 0;
    for byte in text.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        length += 1;
    }
    (value, text.get(length..).unwrap_or_default())
}

/// Appends a code point as C++ does: a leading and a trailing surrogate are one, a lone one is written
/// as if it were a character, and what is over U+10FFFF stays an escape.
fn code_point<'a>((mut value, mut after): (u32, &'a [u8]), out: &mut Vec<u8>) -> &'a [u8] {
    if (0xd800..0xdc00).contains(&value)
        && let Some(second) = after.strip_prefix(b"\\u")
        && let (trail @ 0xdc00..0xe000, rest) = digits(second, 16, 4)
    {
        value = 0x10000 + ((value - 0xd800) << 10) + (trail - 0xdc00);
        after = rest;
    }
    match char::from_u32(value) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None if value < 0x10000 => {
            let low = |shift: u32| 0x80 | (value >> shift & 0x3f) as u8;
            out.extend_from_slice(&[0xe0 | (value >> 12) as u8, low(6), low(0)]);
        }
        None => out.extend_from_slice(format!("\\U{value:08x}").as_bytes()),
    }
    after
}

/// The value of an integer literal; `None` where it has more than 64 bits.
pub(super) fn integer(text: &str) -> Option<u64> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..)?, 16),
        [b'0', _, ..] => (text, 8),
        _ => (text, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}

/// The value of a decimal literal, with or without fraction, exponent and `f`.
pub(super) fn decimal(text: &str) -> Option<f64> {
    text.trim_end_matches(['f', 'F']).parse().ok()
}

/// Whether an integer literal is octal or hexadecimal.
pub(super) fn is_based(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

/// The `float` that C++ makes of a number: what rounds to the largest one is that, not infinity.
pub(super) fn to_float(value: f64) -> f32 {
    /// Half a step over the largest `float`.
    const ROUNDS_DOWN: f64 = 3.402_823_567_797_336_6e38;
    if value.is_nan() {
        let sign = if value.is_sign_negative() { 1 << 31 } else { 0 };
        return f32::from_bits(0x7fc0_0000 | sign);
    }
    if value.is_finite() && value.abs() <= ROUNDS_DOWN {
        (value as f32).clamp(f32::MIN, f32::MAX)
    } else {
        value as f32
    }
}

/// How an error shows a token.
pub(super) fn found(token: &Token<'_>) -> String {
    match token.text {
        [] => "the end".to_owned(),
        text => format!("`{}`", shown(text)),
    }
}

/// A piece of the text that is short and safe to show.
pub(super) fn shown(text: &[u8]) -> String {
    const SHOWN: usize = 60;
    let printable = |byte: &u8| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '?' };
    let mut shown: String = text.iter().take(SHOWN).map(printable).collect();
    if text.len() > SHOWN {
        shown.push_str("...");
    }
    shown
}
