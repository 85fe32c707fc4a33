//! Numbers as keys whose order is theirs.

use crate::array::{Array, Data};
use crate::program::{Invalid, Result};

/// A key for each element: -NaN, -inf, …, 0, …, inf, NaN. Both zeros are one.
pub(super) fn keys(x: &Array) -> Result<Vec<u64>> {
    const SIGN: u64 = 1 << 63;
    let float = |bits: u64| if bits & SIGN == 0 { bits | SIGN } else { !bits };
    Ok(match &x.data {
        Data::Pred(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Data::Int(v) => v.iter().map(|x| *x as u64 ^ SIGN).collect(),
        Data::Uint(v) => v.clone(),
        Data::F32(v) => {
            let bits = |x: f32| u64::from(if x == 0.0 { 0 } else { x.to_bits() }) << 32;
            v.iter().map(|x| float(bits(*x))).collect()
        }
        Data::F64(v) => v.iter().map(|x| float(if *x == 0.0 { 0 } else { x.to_bits() })).collect(),
        Data::C64(_) | Data::C128(_) => {
            return Err(Invalid::value("keys", x.shape(), "numbers that have an order"));
        }
    })
}

/// Which element comes at each place of a sorted run of keys; equal keys keep their order.
pub(super) fn sorted(keys: &[u64], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    // The keys decide, and equal keys keep their order.
    order.sort_by_key(|at| if descending { !keys[*at] } else { keys[*at] });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::xla::PrimitiveType as P;

    #[test]
    fn keys_have_the_order_of_the_numbers() {
        let floats =
            [-f32::NAN, f32::NEG_INFINITY, -1.0, -1e-40, 0.0, 1e-40, 1.0, f32::INFINITY, f32::NAN];
        let array = |ty, data| Array { ty, dims: vec![9], data };
        let rising = |x: &Array| keys(x).unwrap().is_sorted_by(|a, b| a < b);
        assert!(rising(&array(P::F32, Data::F32(floats.to_vec()))));
        assert!(rising(&array(P::F64, Data::F64(floats.map(f64::from).to_vec()))));
        assert!(rising(&array(P::S64, Data::Int(vec![i64::MIN, -1, 0, 1, i64::MAX]))));
        assert!(rising(&array(P::U64, Data::Uint(vec![0, 1, u64::MAX]))));
        let zeros = keys(&array(P::F32, Data::F32(vec![-0.0, 0.0]))).unwrap();
        assert_eq!(zeros[0], zeros[1]);
    }

    #[test]
    fn equal_keys_keep_their_order() {
        assert_eq!(sorted(&[2, 1, 2, 1], false), [1, 3, 0, 2]);
        assert_eq!(sorted(&[2, 1, 2, 1], true), [0, 2, 1, 3]);
    }
}
