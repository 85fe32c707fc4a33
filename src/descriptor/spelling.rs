//! Default values of floats as protoc spells them in `default_value`.

use super::model::Name;

/// A `double` as protoc spells it in `default_value`: the shorter of 15 and 17 digits that reads back.
pub(super) fn spell_double(text: &str) -> Name {
    let Ok(value) = text.parse::<f64>() else { return text.into() };
    let short = percent_g(value, 15);
    let exact = short.parse() == Ok(value);
    if exact { short.into() } else { percent_g(value, 17).into() }
}

/// A `float` as protoc spells it: 6 digits or 9.
#[allow(clippy::cast_possible_truncation)] // rounding to a float is the point
pub(super) fn spell_float(text: &str) -> Name {
    let Ok(value) = text.parse::<f64>() else { return text.into() };
    let value = value as f32;
    let short = percent_g(value.into(), 6);
    let exact = short.parse() == Ok(value);
    if exact { short.into() } else { percent_g(value.into(), 9).into() }
}

/// C's `%.<digits>g`.
fn percent_g(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() && !value.is_nan() { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let decimals = i32::try_from(digits).unwrap_or(i32::MAX) - 1 - exponent;
    if exponent < -4 || decimals < 0 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    trim(&format!("{value:.*}", usize::try_from(decimals).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_spelled_as_protoc_does() {
        for (text, double, float) in [
            ("0", "0", "0"),
            ("-0.0", "-0", "-0"),
            ("3", "3", "3"),
            ("1e-7", "1e-07", "1e-07"),
            ("0.0001", "0.0001", "0.0001"),
            ("100000", "100000", "100000"),
            ("1000000", "1000000", "1e+06"),
            ("16777217", "16777217", "16777216"),
            ("0.1", "0.1", "0.1"),
            ("1e15", "1e+15", "1e+15"),
            ("123456789012345", "123456789012345", "1.23456788e+14"),
            ("inf", "inf", "inf"),
            ("-inf", "-inf", "-inf"),
            ("nan", "nan", "nan"),
            ("1e400", "inf", "inf"),
        ] {
            assert_eq!((&*spell_double(text), &*spell_float(text)), (double, float), "{text}");
        }
    }
}
