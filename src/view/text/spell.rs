//! How values are spelled: as C++'s printer does.

use crate::descriptor::Scalar;

/// Appends the content of a string literal: ASCII, everything else as octal escapes.
pub(super) fn escape(bytes: &[u8], out: &mut String) {
    let mut rest = bytes;
    loop {
        let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !b"\"'\\".contains(byte);
        let length = rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(length);
        out.push_str(std::str::from_utf8(run).unwrap_or_default());
        let Some((byte, after)) = after.split_first() else { return };
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\'' | b'\\' => out.extend(['\\', char::from(*byte)]),
            _ => {
                let digit = |shift: u8| char::from(b'0' + (byte >> shift & 7));
                out.extend(['\\', digit(6), digit(3), digit(0)]);
            }
        }
        rest = after;
    }
}

/// A scalar from its bits; the type is no string.
pub(super) fn scalar(ty: Scalar, bits: u64) -> String {
    match ty {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::Float => float(f32::from_bits(bits as u32)),
        Scalar::Double => double(f64::from_bits(bits)),
        Scalar::Uint32 | Scalar::Uint64 | Scalar::Fixed32 | Scalar::Fixed64 => bits.to_string(),
        _ => (bits as i64).to_string(),
    }
}

/// Whether the bits are a NaN that no spelling stands for.
pub(super) fn loses_payload(ty: Scalar, bits: u64) -> bool {
    match ty {
        Scalar::Float => f32::from_bits(bits as u32).is_nan() && bits & 0x7fff_ffff != 0x7fc0_0000,
        Scalar::Double => f64::from_bits(bits).is_nan() && bits & (u64::MAX >> 1) != 0x7ff8 << 48,
        _ => false,
    }
}

/// Six digits where they are enough, else nine.
fn float(value: f32) -> String {
    let short = general(value.into(), 6);
    let enough = !value.is_subnormal() && short.parse() == Ok(value) || value.is_nan();
    if enough { short } else { general(value.into(), 9) }
}

/// Fifteen digits where they are enough, else seventeen.
fn double(value: f64) -> String {
    let short = general(value, 15);
    if value.is_nan() || short.parse() == Ok(value) { short } else { general(value, 17) }
}

/// C's `%.<digits>g`, but that a NaN keeps its sign.
fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let decimals = digits as i32 - 1 - exponent;
    if exponent < -4 || decimals < 0 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    trim(&format!("{value:.*}", decimals as usize))
}
