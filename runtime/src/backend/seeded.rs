//! Inputs for programs that come without any.

use super::run::{DeviceInputs, HostArray};
use crate::array::{Array, Data, Domain, domain, round, width};
use crate::error::Error;
use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Limits, Program, Result};
use crate::proto::xla::PrimitiveType;

/// Inputs from a seed, the same everywhere and for ever.
///
/// The generator is SplitMix64; array `p` (counting the arrays of all parameters) of device `d` starts at the state
/// `seed + d * 2^48 + p * 2^32`. Each number takes one output, a complex one two. With `u` the output:
/// - floats are `(u >> 11) / 2^52 - 1`, hence in -1 to 1, rounded to the type (`f8e8m0fnu`, which has no sign and no
///   zero, takes `2^-(u >> 61)`);
/// - signed integers are `(u >> 60) - 8` and unsigned ones `u >> 60`, cut to the width of the type, so that loops and
///   indices that depend on them stay small;
/// - predicates are the highest bit.
///
/// # Errors
/// Parameters that take more than `limits.memory`.
pub fn seeded(program: &Program, seed: u64, limits: &Limits) -> Result<Vec<DeviceInputs>, Error> {
    let leaves: Vec<&ArrayShape> = program.parameters.iter().flat_map(|p| p.leaves()).collect();
    let bytes = leaves.iter().fold(0_u64, |sum, leaf| sum.saturating_add(leaf.bytes() as u64));
    if bytes > limits.memory {
        return Err(Invalid::limit("bytes of all inputs", bytes, limits.memory, "memory").into());
    }
    let device = |number: u64| -> Result<DeviceInputs> {
        let arrays = leaves.iter().enumerate().map(|(at, shape)| {
            let start = seed.wrapping_add(number << 48).wrapping_add((at as u64) << 32);
            array(shape, SplitMix(start)).map(HostArray)
        });
        arrays.collect()
    };
    Ok((0..program.devices() as u64).map(device).collect::<Result<_>>()?)
}

fn array(shape: &ArrayShape, mut next: SplitMix) -> Result<Array> {
    let (ty, count) = (shape.ty, shape.elements());
    let unused = 64 - width(ty).min(4);
    let data = match domain(ty)? {
        Domain::Pred => Data::Pred((0..count).map(|_| next.word() >> 63 != 0).collect()),
        // The high bits, cut to the width; four of them where there are as many.
        Domain::Int => Data::Int((0..count).map(|_| next.word() as i64 >> unused).collect()),
        Domain::Uint => Data::Uint((0..count).map(|_| next.word() >> unused).collect()),
        Domain::F32 if ty == PrimitiveType::F8e8m0fnu => {
            Data::F32((0..count).map(|_| 0.5_f32.powi((next.word() >> 61) as i32)).collect())
        }
        Domain::F32 => Data::F32((0..count).map(|_| round(ty, next.float() as f32)).collect()),
        Domain::F64 => Data::F64((0..count).map(|_| next.float()).collect()),
        Domain::C64 => Data::C64((0..count).map(|_| next.complex(|x| x as f32)).collect()),
        Domain::C128 => Data::C128((0..count).map(|_| next.complex(|x| x)).collect()),
    };
    Ok(Array { ty, dims: shape.dims.clone(), data })
}

/// Vigna's generator of 64-bit words from a counter.
struct SplitMix(u64);

impl SplitMix {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn float(&mut self) -> f64 {
        (self.word() >> 11) as f64 * 0.5_f64.powi(52) - 1.0
    }

    fn complex<T>(&mut self, part: impl Fn(f64) -> T) -> num_complex::Complex<T> {
        let re = part(self.float());
        num_complex::Complex { re, im: part(self.float()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix() {
        // The first outputs for seed 1234567 that the algorithm's author publishes.
        let mut next = SplitMix(1_234_567);
        assert_eq!(next.word(), 6_457_827_717_110_365_317);
        assert_eq!(next.word(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_type_stays_in_its_range() {
        use PrimitiveType as P;
        for (ty, low, high) in [
            (P::S32, -8.0, 7.0),
            (P::S2, -2.0, 1.0),
            (P::U1, 0.0, 1.0),
            (P::U64, 0.0, 15.0),
            (P::Pred, 0.0, 1.0),
            (P::F32, -1.0, 1.0),
            (P::F4e2m1fn, -1.0, 1.0),
            (P::F8e8m0fnu, 0.0078125, 1.0),
            (P::C128, -1.0, 1.0),
        ] {
            let shape = ArrayShape::row_major(ty, &[500]);
            let array = HostArray(array(&shape, SplitMix(7)).unwrap());
            assert_eq!(HostArray::new(&array.shape(), &array.bytes()).unwrap(), array, "{ty:?}");
            let values = array.f64s();
            assert!(values.iter().all(|x| (low..=high).contains(x)), "{ty:?}");
            let distinct: std::collections::BTreeSet<u64> =
                values.iter().map(|x| x.to_bits()).collect();
            assert!(distinct.len() > 1, "{ty:?}");
        }
    }
}
