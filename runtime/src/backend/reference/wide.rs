//! Floats of any type as complex numbers of twice the width, and back.

use num_complex::{Complex32, Complex64};

use crate::array::{Array, Data, Domain, domain};
use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Result};

/// The numbers of an array of `f32`, `f64` or complex elements.
pub(super) fn wide(data: &Data) -> Result<Vec<Complex64>> {
    Ok(match data {
        Data::F32(v) => v.iter().map(|x| f64::from(*x).into()).collect(),
        Data::F64(v) => v.iter().map(|x| (*x).into()).collect(),
        Data::C64(v) => v.iter().map(|x| Complex64::new(x.re.into(), x.im.into())).collect(),
        Data::C128(v) => v.clone(),
        _ => return Err(Invalid::value("operand", "no float", "a float or complex number")),
    })
}

/// An array of such elements; of complex numbers a real one has the real parts.
pub(super) fn narrow(values: Vec<Complex64>, shape: &ArrayShape) -> Result<Array> {
    let data = match domain(shape.ty)? {
        Domain::F32 => Data::F32(values.iter().map(|x| x.re as f32).collect()),
        Domain::F64 => Data::F64(values.iter().map(|x| x.re).collect()),
        Domain::C64 => {
            Data::C64(values.iter().map(|x| Complex32::new(x.re as f32, x.im as f32)).collect())
        }
        Domain::C128 => Data::C128(values),
        _ => return Err(Invalid::value("result", shape, "a float or complex number")),
    };
    Ok(Array { ty: shape.ty, dims: shape.dims.clone(), data })
}
