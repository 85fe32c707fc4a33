//! Floats as C++ protobuf prints them.

/// The shorter of 15 and 17 digits that reads back as the same number.
pub(super) fn double(value: f64) -> String {
    special(value).unwrap_or_else(|| {
        let short = general(value, 15);
        if short.parse() == Ok(value) { short } else { general(value, 17) }
    })
}

/// The shorter of 6 and 9 digits that reads back as the same number.
pub(super) fn float(value: f32) -> String {
    let wide = f64::from(value);
    special(wide).unwrap_or_else(|| {
        let short = general(wide, 6);
        if short.parse() == Ok(value) { short } else { general(wide, 9) }
    })
}

fn special(value: f64) -> Option<String> {
    match value {
        value if value.is_nan() => Some("\"NaN\"".to_owned()),
        f64::INFINITY => Some("\"Infinity\"".to_owned()),
        f64::NEG_INFINITY => Some("\"-Infinity\"".to_owned()),
        _ => None,
    }
}

/// C's `%g` with this many significant digits.
fn general(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs());
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{value:.decimals$}")).to_owned()
}

/// Without zeros at the end of the fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
