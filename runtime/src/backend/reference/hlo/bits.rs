//! Arithmetic of integers. Results are cut to the width of the type by the caller.

use num_traits::PrimInt;

/// What signed and unsigned integers do differently.
pub(super) trait Integer: PrimInt {
    /// Low `width` bits, zero-extended.
    fn raw(self, width: u32) -> u64;
    fn from_raw(bits: u64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The product's bits from `width` on.
    fn times_high(self, other: Self, width: u32) -> Self;
    fn abs(self) -> Self;
    fn sign(self) -> Self;
    /// Division and remainder by something that is not zero.
    fn over(self, other: Self) -> Self;
    fn modulo(self, other: Self) -> Self;
    fn negative(self) -> bool;
}

macro_rules! integer {
    ($ty:ty, $wide:ty, $abs:expr, $sign:expr, $negative:expr) => {
        impl Integer for $ty {
            fn raw(self, width: u32) -> u64 {
                (self as u64) & (u64::MAX >> (64 - width))
            }
            fn from_raw(bits: u64) -> Self {
                bits as $ty
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn times_high(self, other: Self, width: u32) -> Self {
                ((self as $wide * other as $wide) >> width) as $ty
            }
            fn abs(self) -> Self {
                let f: fn($ty) -> $ty = $abs;
                f(self)
            }
            fn sign(self) -> Self {
                let f: fn($ty) -> $ty = $sign;
                f(self)
            }
            fn over(self, other: Self) -> Self {
                self.wrapping_div(other)
            }
            fn modulo(self, other: Self) -> Self {
                self.wrapping_rem(other)
            }
            fn negative(self) -> bool {
                let f: fn($ty) -> bool = $negative;
                f(self)
            }
        }
    };
}
integer!(i64, i128, i64::wrapping_abs, i64::signum, i64::is_negative);
integer!(u64, u128, |x| x, |x| u64::from(x > 0), |_| false);

pub(super) fn integer1<T: Integer>(opcode: &str) -> Option<fn(T, u32) -> T> {
    Some(match opcode {
        "abs" => |x, _| x.abs(),
        "negate" => |x, _| T::zero().minus(x),
        "sign" => |x, _| x.sign(),
        "not" => |x, _| !x,
        "popcnt" => |x, width| T::from_raw(u64::from(x.raw(width).count_ones())),
        "count-leading-zeros" => {
            |x, width| T::from_raw(u64::from(x.raw(width).leading_zeros() - (64 - width)))
        }
        _ => return None,
    })
}

pub(super) fn integer2<T: Integer>(opcode: &str) -> Option<fn(T, T, u32) -> T> {
    Some(match opcode {
        "add" => |a, b, _| a.plus(b),
        "subtract" => |a, b, _| a.minus(b),
        "multiply" => |a, b, _| a.times(b),
        "mulhi" => |a, b, width| a.times_high(b, width),
        // Division by zero gives all ones, the remainder by zero its dividend.
        "divide" => |a, b, _| if b.is_zero() { !T::zero() } else { a.over(b) },
        "remainder" => |a, b, _| if b.is_zero() { a } else { a.modulo(b) },
        "maximum" => |a, b, _| a.max(b),
        "minimum" => |a, b, _| a.min(b),
        "and" => |a, b, _| a & b,
        "or" => |a, b, _| a | b,
        "xor" => |a, b, _| a ^ b,
        "power" => |base, exponent, _| power(base, exponent),
        // A shift by the width or more leaves nothing, or nothing but the sign. Amounts are unsigned.
        "shift-left" => |a, b, width| match b.raw(width) {
            by if by < u64::from(width) => T::from_raw(a.raw(width) << by),
            _ => T::zero(),
        },
        "shift-right-logical" => |a, b, width| match b.raw(width) {
            by if by < u64::from(width) => T::from_raw(a.raw(width) >> by),
            _ => T::zero(),
        },
        "shift-right-arithmetic" => |a, b, width| {
            let signed = ((a.raw(width) << (64 - width)) as i64) >> (64 - width);
            T::from_raw((signed >> b.raw(width).min(u64::from(width) - 1)) as u64)
        },
        _ => return None,
    })
}

/// By squaring; a negative exponent gives the reciprocal, cut to an integer.
fn power<T: Integer>(base: T, exponent: T) -> T {
    if exponent.negative() {
        let odd = exponent & T::one() == T::one();
        return if base == T::one() {
            T::one()
        } else if base == T::zero().minus(T::one()) {
            if odd { base } else { T::one() }
        } else {
            T::zero()
        };
    }
    let (mut result, mut base, mut left) = (T::one(), base, exponent);
    while !left.is_zero() {
        if left & T::one() == T::one() {
            result = result.times(base);
        }
        base = base.times(base);
        left = left >> 1;
    }
    result
}
