//! Floats of 16 bits and fewer, held in an `f32`.
//!
//! Encodings as in the types' own definitions: IEEE-like ones have infinities; `fn` ones have none and
//! one NaN, `fnuz` ones in addition no negative zero and their NaN in its place; `e8m0fnu` is a power of two.

use crate::proto::xla::PrimitiveType;

/// How a format uses its bits.
struct Format {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

#[derive(PartialEq, Eq)]
enum Special {
    /// Infinities and NaNs in the top exponent.
    Ieee,
    /// All ones is NaN; no infinities.
    Finite,
    /// Negative zero is NaN; no infinities.
    FiniteUnsignedZero,
    /// Neither infinities nor NaN.
    None,
}

fn format(ty: PrimitiveType) -> Option<Format> {
    use PrimitiveType as P;
    use Special::{Finite, FiniteUnsignedZero, Ieee, None as Nothing};
    let (exponent, mantissa, bias, special) = match ty {
        P::F16 => (5, 10, 15, Ieee),
        P::Bf16 => (8, 7, 127, Ieee),
        P::F8e5m2 => (5, 2, 15, Ieee),
        P::F8e4m3 => (4, 3, 7, Ieee),
        P::F8e3m4 => (3, 4, 3, Ieee),
        P::F8e4m3fn => (4, 3, 7, Finite),
        P::F8e4m3b11fnuz => (4, 3, 11, FiniteUnsignedZero),
        P::F8e5m2fnuz => (5, 2, 16, FiniteUnsignedZero),
        P::F8e4m3fnuz => (4, 3, 8, FiniteUnsignedZero),
        P::F4e2m1fn => (2, 1, 1, Nothing),
        P::F6e2m3fn => (2, 3, 1, Nothing),
        P::F6e3m2fn => (3, 2, 3, Nothing),
        _ => return None,
    };
    Some(Format { exponent, mantissa, bias, special })
}

/// A value rounded to what the type can hold; unchanged for `f32`.
pub(crate) fn round(ty: PrimitiveType, value: f32) -> f32 {
    if ty == PrimitiveType::F32 { value } else { from_bits(ty, to_bits(ty, value)) }
}

/// A value rounded to what a type held as `f32` can hold, once.
pub(crate) fn round_f64(ty: PrimitiveType, value: f64) -> f32 {
    let near = value as f32;
    if ty == PrimitiveType::F32 || f64::from(near) == value || !near.is_finite() {
        return round(ty, near);
    }
    // Of the two neighbours the one whose last bit is set: on no tie of a narrower type.
    let odd = near.to_bits() & 1 == 1;
    let toward = |up: bool| if up { near.next_up() } else { near.next_down() };
    round(ty, if odd { near } else { toward(f64::from(near) < value) })
}

/// The bits of a value in a type of 16 bits or fewer: to nearest, ties to even. What is too large becomes
/// an infinity, a NaN where there is none, and the largest value where there is neither.
pub(crate) fn to_bits(ty: PrimitiveType, value: f32) -> u16 {
    if ty == PrimitiveType::F8e8m0fnu {
        return power_to_bits(value);
    }
    let Some(f) = format(ty) else { return 0 };
    let sign = u32::from(value.is_sign_negative()) << (f.exponent + f.mantissa);
    let top = (1 << f.exponent) - 1_u32;
    let nan = match f.special {
        // What fits of the payload.
        Special::Ieee => {
            let payload = value.to_bits() >> (23 - f.mantissa) & ((1 << f.mantissa) - 1);
            let payload = if payload == 0 { 1 << (f.mantissa - 1) } else { payload };
            sign | (top << f.mantissa) | payload
        }
        Special::Finite => sign | ((1 << (f.exponent + f.mantissa)) - 1),
        Special::FiniteUnsignedZero => 1 << (f.exponent + f.mantissa),
        Special::None => sign | ((1 << (f.exponent + f.mantissa)) - 1),
    };
    if value.is_nan() {
        return nan as u16;
    }
    let largest = match f.special {
        Special::Ieee => (top << f.mantissa) - 1,
        Special::Finite => (1 << (f.exponent + f.mantissa)) - 2,
        Special::FiniteUnsignedZero | Special::None => (1 << (f.exponent + f.mantissa)) - 1,
    };
    let overflow = match f.special {
        Special::Ieee => sign | (top << f.mantissa),
        Special::None => sign | largest,
        _ => nan,
    };
    if value.is_infinite() {
        return overflow as u16;
    }
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return if f.special == Special::FiniteUnsignedZero { 0 } else { sign as u16 };
    }
    // In units of the last place: exact, because an f64 holds any f32 times any power of two here.
    let exponent = (((magnitude.to_bits() >> 23) as i32) - 127).max(-149);
    let exponent = if magnitude.is_normal() { exponent } else { -127 };
    let smallest = 1 - f.bias;
    let scale = exponent.max(smallest) - f.mantissa as i32;
    let units = (f64::from(magnitude) * 2_f64.powi(-scale)).round_ties_even() as u32;
    // A carry out of the mantissa lands in the exponent by itself.
    let bits = if exponent < smallest {
        units
    } else {
        units + (((exponent - smallest) as u32) << f.mantissa)
    };
    if bits > largest {
        return overflow as u16;
    }
    if bits == 0 && f.special == Special::FiniteUnsignedZero { 0 } else { (sign | bits) as u16 }
}

/// The value of bits of a type of 16 bits or fewer.
pub(crate) fn from_bits(ty: PrimitiveType, bits: u16) -> f32 {
    if ty == PrimitiveType::F8e8m0fnu {
        let exponent = i32::from(bits & 0xff);
        return if exponent == 255 { f32::NAN } else { 2_f64.powi(exponent - 127) as f32 };
    }
    let Some(f) = format(ty) else { return 0.0 };
    let bits = u32::from(bits);
    let negative = bits >> (f.exponent + f.mantissa) & 1 == 1;
    let rest = bits & ((1 << (f.exponent + f.mantissa)) - 1);
    let (exponent, mantissa) = (rest >> f.mantissa, rest & ((1 << f.mantissa) - 1));
    let top = (1 << f.exponent) - 1;
    // A NaN keeps its sign and payload, so that moving it changes no bit.
    let nan = |payload: u32| {
        f32::from_bits(u32::from(negative) << 31 | 0x7f80_0000 | payload << (23 - f.mantissa))
    };
    let magnitude = match f.special {
        Special::Ieee if exponent == top && mantissa != 0 => return nan(mantissa),
        Special::Ieee if exponent == top => f32::INFINITY,
        Special::Finite if rest == (1 << (f.exponent + f.mantissa)) - 1 => return nan(mantissa),
        Special::FiniteUnsignedZero if negative && rest == 0 => return f32::NAN,
        _ if exponent == 0 => {
            (f64::from(mantissa) * 2_f64.powi(1 - f.bias - f.mantissa as i32)) as f32
        }
        _ => {
            let significand = f64::from(mantissa | 1 << f.mantissa);
            (significand * 2_f64.powi(exponent as i32 - f.bias - f.mantissa as i32)) as f32
        }
    };
    if negative { -magnitude } else { magnitude }
}

fn power_to_bits(value: f32) -> u16 {
    if value.is_nan() || value <= 0.0 || value.is_infinite() {
        return 255;
    }
    let exponent = f64::from(value).log2().round_ties_even() as i32;
    (exponent + 127).clamp(0, 254) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::xla::PrimitiveType as P;

    #[test]
    fn every_bit_pattern_comes_back() {
        for ty in [
            P::F16,
            P::Bf16,
            P::F8e5m2,
            P::F8e4m3,
            P::F8e3m4,
            P::F8e4m3fn,
            P::F8e4m3b11fnuz,
            P::F8e5m2fnuz,
            P::F8e4m3fnuz,
            P::F4e2m1fn,
            P::F6e2m3fn,
            P::F6e3m2fn,
            P::F8e8m0fnu,
        ] {
            for bits in 0..(1_u32 << crate::array::width(ty)) {
                let value = from_bits(ty, bits as u16);
                assert_eq!(to_bits(ty, value), bits as u16, "{ty:?} {bits:#x} = {value}");
            }
        }
    }

    #[test]
    fn rounds_a_double_once() {
        // Just above the tie between 1 and the next f16: f32 would make it the tie itself.
        let above = 1.0 + 2.0_f64.powi(-11) + 2.0_f64.powi(-40);
        assert_eq!(round(P::F16, above as f32), 1.0);
        assert_eq!(round_f64(P::F16, above), 1.0 + 2.0_f32.powi(-10));
        assert_eq!(round_f64(P::F16, 1.0 + 2.0_f64.powi(-11)), 1.0);
        assert_eq!(round_f64(P::Bf16, -3.5), -3.5);
        assert_eq!(round_f64(P::F32, above), above as f32);
        assert!(round_f64(P::F16, f64::NAN).is_nan());
    }

    #[test]
    fn rounds_to_nearest_even_and_overflows_as_the_type_does() {
        assert_eq!(round(P::Bf16, 1.003_906_2), 1.0); // half way, to even
        assert_eq!(round(P::Bf16, 1.011_718_8), 1.015_625);
        assert_eq!(round(P::F16, 65_520.0), f32::INFINITY);
        assert_eq!(round(P::F16, 65_519.0), 65_504.0);
        assert_eq!(round(P::F8e4m3fn, 448.0), 448.0);
        assert!(round(P::F8e4m3fn, 500.0).is_nan());
        assert_eq!(round(P::F8e5m2, 1e6), f32::INFINITY);
        assert_eq!(round(P::F4e2m1fn, 100.0), 6.0);
        assert_eq!(round(P::F16, 2.0_f32.powi(-24)), 2.0_f32.powi(-24));
        assert_eq!(round(P::F16, 2.0_f32.powi(-26)), 0.0);
        assert_eq!(round(P::Bf16, f32::from_bits(1)), 0.0);
        assert_eq!(round(P::Bf16, f32::from_bits(0x7f_ffff)), f32::MIN_POSITIVE);
    }
}
