//! Elements as a comparison sees them.

use num_complex::Complex;

/// An element of an array.
pub(super) trait Element: Copy {
    /// Whether both are the same bits.
    fn same_bits(self, other: Self) -> bool;
    /// Whether both are the same value: NaN is NaN, +0 is -0.
    fn same_value(self, other: Self) -> bool;
    /// How far the other is off; infinite where that has no number.
    fn distance(self, other: Self) -> f64;
    /// Its size as far as it is finite.
    fn magnitude(self) -> f64;
    /// As a person reads it.
    fn text(self) -> String;
}

/// Types whose values are their bits.
macro_rules! discrete {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            fn same_bits(self, other: Self) -> bool {
                self == other
            }
            fn same_value(self, other: Self) -> bool {
                self == other
            }
            fn distance(self, other: Self) -> f64 {
                (i128::from(self) - i128::from(other)).unsigned_abs() as f64
            }
            fn magnitude(self) -> f64 {
                i128::from(self).unsigned_abs() as f64
            }
            fn text(self) -> String {
                self.to_string()
            }
        }
    )*};
}

discrete!(bool, i64, u64);

macro_rules! float {
    ($ty:ty) => {
        impl Element for $ty {
            fn same_bits(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }
            fn same_value(self, other: Self) -> bool {
                self == other || self.is_nan() && other.is_nan()
            }
            fn distance(self, other: Self) -> f64 {
                if self.same_value(other) {
                    return 0.0;
                }
                let distance = (f64::from(self) - f64::from(other)).abs();
                if distance.is_nan() { f64::INFINITY } else { distance }
            }
            fn magnitude(self) -> f64 {
                if self.is_finite() { f64::from(self).abs() } else { 0.0 }
            }
            fn text(self) -> String {
                // Debug notation turns to exponents where digits would be many.
                format!("{self:?}")
            }
        }

        impl Element for Complex<$ty> {
            fn same_bits(self, other: Self) -> bool {
                self.re.same_bits(other.re) && self.im.same_bits(other.im)
            }
            fn same_value(self, other: Self) -> bool {
                self.re.same_value(other.re) && self.im.same_value(other.im)
            }
            fn distance(self, other: Self) -> f64 {
                self.re.distance(other.re).hypot(self.im.distance(other.im))
            }
            fn magnitude(self) -> f64 {
                self.re.magnitude().hypot(self.im.magnitude())
            }
            fn text(self) -> String {
                format!("({:?}, {:?})", self.re, self.im)
            }
        }
    };
}

float!(f32);
float!(f64);
