//! How far results may be off, by type.

use std::fmt;

use crate::array::{Domain, domain};
use crate::proto::xla::PrimitiveType;

/// How an array is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Bit for bit: NaNs and the sign of zero count.
    Exact,
    /// NaN is NaN, +0 is -0, and numbers may be off.
    Within(Tolerance),
}

/// How far an element may be off: `relative * |expected| + scaled * largest + absolute`, where `largest` is the
/// largest finite `|expected|` of its array. Complex numbers are measured by their modulus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Share of the expected value.
    pub relative: f64,
    /// Share of the largest expected value.
    pub scaled: f64,
    /// In the value's own unit.
    pub absolute: f64,
}

impl Rule {
    /// The rule for results of a type where a golden has none of its own.
    ///
    /// - Integers and predicates: exact.
    /// - `f32`, `c64`: 1e-5 and 2e-6. The GPU's functions are off by a few units in the last place (6e-8), its
    ///   sums are in another order, and chains of both add up.
    /// - `f64`, `c128`: 1e-12 and 1e-13, for the same reasons.
    /// - `f16`, `bf16` and narrower: one unit in the last place, as what is computed in `f32` is rounded once and may
    ///   fall to the other side; 2e-6 as for `f32`.
    /// - `f8e8m0fnu`: exact, as it holds nothing but exponents.
    pub fn of(ty: PrimitiveType) -> Rule {
        use PrimitiveType as P;
        let within = |relative, scaled| Rule::Within(Tolerance { relative, scaled, absolute: 0.0 });
        match domain(ty) {
            Ok(Domain::F64 | Domain::C128) => within(1e-12, 1e-13),
            Ok(Domain::C64) => within(1e-5, 2e-6),
            Ok(Domain::F32) => match ty {
                P::F8e8m0fnu => Rule::Exact,
                P::F32 => within(1e-5, 2e-6),
                _ => within(mantissa(ty).map_or(0.0, |bits| 0.5_f64.powi(bits)), 2e-6),
            },
            _ => Rule::Exact,
        }
    }

    /// What it admits at an expected magnitude.
    pub(super) fn admits(self, expected: f64, largest: f64) -> f64 {
        match self {
            Rule::Exact => 0.0,
            Rule::Within(t) => t.relative * expected + t.scaled * largest + t.absolute,
        }
    }
}

/// Stored bits of the mantissa.
fn mantissa(ty: PrimitiveType) -> Option<i32> {
    use PrimitiveType as P;
    Some(match ty {
        P::F16 => 10,
        P::Bf16 => 7,
        P::F8e3m4 => 4,
        P::F8e4m3 | P::F8e4m3fn | P::F8e4m3b11fnuz | P::F8e4m3fnuz | P::F6e2m3fn => 3,
        P::F8e5m2 | P::F8e5m2fnuz | P::F6e3m2fn => 2,
        P::F4e2m1fn => 1,
        _ => return None,
    })
}

impl fmt::Display for Rule {
    /// `exact`, or the parts that are not zero, such as `1e-5 rel, 2e-6 max`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule::Within(tolerance) = self else { return f.write_str("exact") };
        let parts =
            [(tolerance.relative, "rel"), (tolerance.scaled, "max"), (tolerance.absolute, "abs")];
        let mut comma = "";
        for (value, name) in parts.iter().filter(|(value, _)| *value != 0.0) {
            write!(f, "{comma}{value:e} {name}")?;
            comma = ", ";
        }
        if comma.is_empty() { f.write_str("0 rel") } else { Ok(()) }
    }
}
