//! Arithmetic of floats. Results are rounded to the type by the caller.

use num_traits::{Float, FloatConst};

use super::elementwise::{F1, F2};

/// What `num_traits` lacks.
pub(super) trait Real: Float + FloatConst {
    fn erf(self) -> Self;
    fn round_even(self) -> Self;
}

impl Real for f32 {
    fn erf(self) -> f32 {
        libm::erff(self)
    }
    fn round_even(self) -> f32 {
        self.round_ties_even()
    }
}

impl Real for f64 {
    fn erf(self) -> f64 {
        libm::erf(self)
    }
    fn round_even(self) -> f64 {
        self.round_ties_even()
    }
}

pub(super) fn float1<T: Real>(opcode: &str) -> Option<F1<T>> {
    Some(match opcode {
        "abs" => |x, _| x.abs(),
        "negate" => |x, _| -x,
        "sign" => |x, _| if x.is_nan() || x.is_zero() { x } else { x.signum() },
        "ceil" => |x, _| x.ceil(),
        "floor" => |x, _| x.floor(),
        "round-nearest-afz" => |x, _| x.round(),
        "round-nearest-even" => |x, _| x.round_even(),
        "exponential" => |x, _| x.exp(),
        "exponential-minus-one" => |x, _| x.exp_m1(),
        "log" => |x, _| x.ln(),
        "log-plus-one" => |x, _| x.ln_1p(),
        "logistic" => |x, _| T::one() / (T::one() + (-x).exp()),
        "sqrt" => |x, _| x.sqrt(),
        "rsqrt" => |x, _| T::one() / x.sqrt(),
        "cbrt" => |x, _| x.cbrt(),
        "erf" => |x, _| x.erf(),
        "sine" => |x, _| x.sin(),
        "cosine" => |x, _| x.cos(),
        "tan" => |x, _| x.tan(),
        "asin" => |x, _| x.asin(),
        "acos" => |x, _| x.acos(),
        "sinh" => |x, _| x.sinh(),
        "cosh" => |x, _| x.cosh(),
        "tanh" => |x, _| x.tanh(),
        "asinh" => |x, _| x.asinh(),
        "acosh" => |x, _| x.acosh(),
        "atanh" => |x, _| x.atanh(),
        _ => return None,
    })
}

pub(super) fn float2<T: Real>(opcode: &str) -> Option<F2<T>> {
    Some(match opcode {
        "add" => |a, b, _| a + b,
        "subtract" => |a, b, _| a - b,
        "multiply" => |a, b, _| a * b,
        "divide" => |a, b, _| a / b,
        "remainder" => |a, b, _| a % b,
        // A NaN wins; otherwise +0 over -0.
        "maximum" => |a, b, _| {
            if a.is_nan() || b.is_nan() {
                T::nan()
            } else if a == b {
                if a.is_sign_negative() { b } else { a }
            } else {
                a.max(b)
            }
        },
        "minimum" => |a, b, _| {
            if a.is_nan() || b.is_nan() {
                T::nan()
            } else if a == b {
                if a.is_sign_negative() { a } else { b }
            } else {
                a.min(b)
            }
        },
        "power" => |a, b, _| a.powf(b),
        "atan2" => |a, b, _| a.atan2(b),
        _ => return None,
    })
}
