//! Linear algebra of cuSOLVER and cuSPARSE, by the names under which jaxlib registers it.
//!
//! The libraries take matrices column by column, one batch after the other, and do not look at the layouts of
//! shapes.

use super::Reader;
use super::function::{attribute, boolean, present};
use super::library::CustomCall;
use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Result, ShapedSlice};
use crate::proto::xla::PrimitiveType;
use crate::proto::xla::ffi::scalar_proto::Value as Scalar;
use crate::proto::xla::gpu::CustomCallThunkProto;

/// A call whose arrays fit together; the shapes say how they lie in memory.
#[derive(Debug)]
pub struct Linear {
    /// What is computed.
    pub routine: Routine,
    /// Matrices, each for itself.
    pub batches: usize,
    /// Rows of each; of pivots how many there are.
    pub rows: usize,
    /// Columns of each; of pivots the elements that they permute.
    pub columns: usize,
    /// Operands.
    pub operands: Vec<ShapedSlice>,
    /// Results.
    pub results: Vec<ShapedSlice>,
}

/// What is computed, in LAPACK's conventions. `info` results are 0, or the first diagonal element, counted from
/// 1, that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routine {
    /// `a` to its Cholesky factor in one triangle, and info.
    Cholesky {
        /// Which triangle is read and written.
        lower: bool,
    },
    /// `a` to both its triangular factors, the rows that were exchanged, counted from 1, and info.
    Lu,
    /// Exchanged rows, counted from 0, to the permutation that they make.
    Permutation,
    /// `a` to `r` and Householder vectors below it, and their factors.
    Qr,
    /// Householder vectors and their factors to the first columns of `q`.
    Q {
        /// How many vectors there are.
        factors: usize,
    },
    /// Hermitian `a` to eigenvectors, eigenvalues in rising order, and info. The sign (or phase) of each vector is
    /// the library's choice, so they are not computed.
    Eigenvalues {
        /// Which triangle is read.
        lower: bool,
    },
    /// `a` to something, singular values in falling order, singular vectors on both sides, and info. Vectors are
    /// not computed, as above.
    SingularValues,
    /// Lower, middle and upper diagonal and right-hand sides to solutions.
    Tridiagonal,
}

/// Names that are known here, and the attributes that each has to have.
const TARGETS: [(&str, &[&str]); 8] = [
    ("cu_lu_pivots_to_permutation", &[]),
    ("cusolver_geqrf_ffi", &[]),
    ("cusolver_gesvdj_ffi", &["compute_uv", "full_matrices"]),
    ("cusolver_getrf_ffi", &[]),
    ("cusolver_orgqr_ffi", &[]),
    ("cusolver_potrf_ffi", &["lower"]),
    ("cusolver_syevd_ffi", &["algorithm", "lower"]),
    ("cusparse_gtsv2_ffi", &[]),
];

impl Reader<'_> {
    /// Checks a call of a routine; `None` for other targets.
    pub(super) fn linear(
        &mut self,
        p: &CustomCallThunkProto,
        call: &CustomCall,
    ) -> Result<Option<Linear>> {
        let Some((target, names)) = TARGETS.iter().find(|(name, _)| *name == call.target) else {
            return Ok(None);
        };
        self.attributes(p, names)?;
        // The array that says how large the others have to be.
        let main = if *target == "cusparse_gtsv2_ffi" { 3 } else { 0 };
        let permutes = *target == "cu_lu_pivots_to_permutation";
        let whole = &present(&call.operands, main, "operands")?.shape;
        let refuse = |bound: &str| {
            Err(Invalid::value(format!("operands[{main}].shape"), whole, bound.to_owned()))
        };
        let (batch, rows, columns) = match &whole.dims[..] {
            [batch @ .., rows] if permutes => {
                let permuted = present(&call.results, 0, "results")?.shape.dims.last();
                (batch, *rows, permuted.copied().unwrap_or(0))
            }
            [batch @ .., rows, columns] if !permutes => (batch, *rows, *columns),
            _ if permutes => return refuse("one dimension or more"),
            _ => return refuse("two dimensions or more"),
        };
        use PrimitiveType as P;
        let types: &[P] = match *target {
            "cu_lu_pivots_to_permutation" => &[P::S32],
            "cusparse_gtsv2_ffi" => &[P::F32, P::F64],
            _ => &[P::F32, P::F64, P::C64, P::C128],
        };
        if !types.contains(&whole.ty) {
            let names: Vec<String> =
                types.iter().map(|ty| ty.as_str_name().to_ascii_lowercase()).collect();
            return refuse(&format!("elements of {}", names.join(", ")));
        }
        let least = rows.min(columns);
        let array = |ty, own: &[usize]| ArrayShape::row_major(ty, &[batch, own].concat());
        let same = |own: &[usize]| column_major(array(whole.ty, own));
        let vector = |count| array(whole.ty, &[count]);
        let values = |count| array(real(whole.ty), &[count]);
        let integers = |own: &[usize]| array(P::S32, own);
        let a = same(&[rows, columns]);
        let (routine, operands, results) = match *target {
            "cusolver_potrf_ffi" => {
                let routine = Routine::Cholesky { lower: boolean(p, "lower")? };
                (routine, vec![a.clone()], vec![a, integers(&[])])
            }
            "cusolver_getrf_ffi" => {
                (Routine::Lu, vec![a.clone()], vec![a, integers(&[least]), integers(&[])])
            }
            "cusolver_geqrf_ffi" => (Routine::Qr, vec![a.clone()], vec![a, vector(least)]),
            "cusolver_orgqr_ffi" => {
                let factors = present(&call.operands, 1, "operands")?.shape.dims.last();
                let factors = factors.copied().unwrap_or(0);
                if columns > rows || factors > columns {
                    return refuse(
                        "as many rows as columns, and as many columns as operands[1] has elements",
                    );
                }
                (Routine::Q { factors }, vec![a.clone(), vector(factors)], vec![a])
            }
            "cusolver_syevd_ffi" => {
                // It decides how, not what.
                self.reads.fields("xla.ffi.ScalarProto", &["u8"]);
                if !matches!(attribute(p, "algorithm")?, Scalar::U8(_)) {
                    return Err(Invalid::value("attributes.algorithm", "another type", "a u8"));
                }
                let routine = Routine::Eigenvalues { lower: boolean(p, "lower")? };
                (routine, vec![a.clone()], vec![a, values(columns), integers(&[])])
            }
            "cusolver_gesvdj_ffi" => {
                boolean(p, "compute_uv")?;
                let full = boolean(p, "full_matrices")?;
                let [u, v] = [rows, columns].map(|n| same(&[n, if full { n } else { least }]));
                let results = vec![a.clone(), values(least), u, v, integers(&[])];
                (Routine::SingularValues, vec![a], results)
            }
            "cusparse_gtsv2_ffi" => {
                if rows < 3 {
                    return refuse("3 rows or more");
                }
                let diagonal = vector(rows);
                let operands = vec![diagonal.clone(), diagonal.clone(), diagonal, a.clone()];
                (Routine::Tridiagonal, operands, vec![a])
            }
            _ => {
                if columns < rows {
                    return refuse("at most as many pivots as results[0] has elements");
                }
                (Routine::Permutation, vec![integers(&[rows])], vec![integers(&[columns])])
            }
        };
        if matches!(routine, Routine::Cholesky { .. } | Routine::Eigenvalues { .. })
            && rows != columns
        {
            return refuse("square matrices");
        }
        let batches = batch.iter().product();
        let (operands, results) = (
            shaped(&call.operands, operands, "operands")?,
            shaped(&call.results, results, "results")?,
        );
        Ok(Some(Linear { routine, batches, rows, columns, operands, results }))
    }

    /// Handlers insist on the attributes that they have and on no others.
    fn attributes(&mut self, p: &CustomCallThunkProto, names: &[&str]) -> Result<()> {
        self.reads.fields("xla.gpu.CustomCallThunkProto", &["attributes"]);
        self.reads.fields("xla.ffi.AttributesMapProto", &["attrs"]);
        if !names.is_empty() {
            self.reads.fields("xla.ffi.AttributeProto", &["scalar"]);
            self.reads.fields("xla.ffi.ScalarProto", &["b"]);
        }
        let found: Vec<&str> =
            p.attributes.iter().flat_map(|a| a.attrs.keys()).map(|k| &**k).collect();
        if let Some(other) = found.iter().find(|name| !names.contains(name)) {
            let bound = match names {
                [] => "none".to_owned(),
                names => names.join(", "),
            };
            return Err(Invalid::value("attributes", format!("{other:?}"), bound));
        }
        Ok(())
    }
}

/// Slices that hold arrays of the sizes and types wanted, in the layouts wanted.
fn shaped(
    found: &[Option<ShapedSlice>],
    wanted: Vec<ArrayShape>,
    what: &str,
) -> Result<Vec<ShapedSlice>> {
    if found.len() != wanted.len() {
        return Err(Invalid::value(what, found.len(), wanted.len().to_string()));
    }
    let slices = wanted.into_iter().enumerate().map(|(at, wanted)| {
        let slice = present(found, at, what)?;
        if slice.shape.ty != wanted.ty || slice.shape.dims != wanted.dims {
            let bound = format!("{wanted}, in any layout");
            return Err(Invalid::value(format!("{what}[{at}].shape"), &slice.shape, bound));
        }
        Ok(ShapedSlice { slice: slice.slice, shape: wanted })
    });
    slices.collect()
}

fn column_major(mut shape: ArrayShape) -> ArrayShape {
    shape.minor_to_major.swap(0, 1);
    shape
}

/// The type of a number's parts.
fn real(ty: PrimitiveType) -> PrimitiveType {
    match ty {
        PrimitiveType::C64 => PrimitiveType::F32,
        PrimitiveType::C128 => PrimitiveType::F64,
        ty => ty,
    }
}
