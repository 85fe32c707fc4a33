//! `gather` and `scatter`: slices at computed indices.

use super::reduce::several;
use super::scalar::{Combiner, Typed};
use super::{Family, Op, Value};
use crate::array::{Array, Odometer, strides};
use crate::program::{Invalid, Result};

pub(super) const FAMILY: Family = Family {
    opcodes: &["gather", "scatter"],
    evaluate: |op| match op.instruction.opcode.as_str() {
        "gather" => gather(op).map(Value::from),
        _ => scatter(op),
    },
    passes: false,
};

/// Reads index vectors out of the array of indices.
struct Indices<'a> {
    array: &'a Array,
    /// Dimension that holds the components of a vector; the rank, if each element is one.
    vector: usize,
    /// The other dimensions.
    batch: Vec<usize>,
    strides: Vec<usize>,
}

impl<'a> Indices<'a> {
    fn new(array: &'a Array, vector: i64) -> Result<Self> {
        let rank = array.dims.len();
        let vector = usize::try_from(vector)
            .ok()
            .filter(|v| *v <= rank)
            .ok_or_else(|| Invalid::value("index_vector_dim", vector, format!("at most {rank}")))?;
        let batch = (0..rank).filter(|d| *d != vector).collect();
        Ok(Indices { array, vector, batch, strides: strides(&array.dims) })
    }

    /// Sizes of the batch dimensions.
    fn batch_dims(&self) -> Vec<usize> {
        self.batch.iter().map(|d| self.array.dims[*d]).collect()
    }

    /// Components of a vector.
    fn components(&self) -> usize {
        self.array.dims.get(self.vector).copied().unwrap_or(1)
    }

    /// A component of the vector at a batch index.
    fn get(&self, batch: &[usize], component: usize) -> Result<i64> {
        let mut at: usize = self.batch.iter().zip(batch).map(|(d, i)| self.strides[*d] * i).sum();
        if let Some(stride) = self.strides.get(self.vector) {
            at += stride * component;
        }
        self.array.index_at(at)
    }

    /// The batch index along one dimension of the index array.
    fn along(&self, batch: &[usize], dimension: usize) -> Result<usize> {
        let at = self.batch.iter().position(|d| *d == dimension);
        at.and_then(|at| batch.get(at).copied()).ok_or_else(|| {
            Invalid::value(
                "start_indices_batching_dims",
                dimension,
                "a batch dimension of the indices",
            )
        })
    }
}

fn gather(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(2)?;
    let (x, shape) = (op.array(0)?, op.shape()?);
    let numbers = op.instruction.proto.gather_dimension_numbers.as_ref();
    let numbers = numbers.ok_or_else(|| Invalid::missing("gather_dimension_numbers"))?;
    let (rank, out_rank) = (x.dims.len(), shape.dims.len());
    let indices = Indices::new(op.array(1)?, numbers.index_vector_dim)?;
    let offset_dims = op.dims("offset_dims", &numbers.offset_dims, out_rank)?;
    let collapsed = op.dims("collapsed_slice_dims", &numbers.collapsed_slice_dims, rank)?;
    let batching = op.dims("operand_batching_dims", &numbers.operand_batching_dims, rank)?;
    let index_rank = indices.array.dims.len();
    let index_batching =
        op.dims("start_indices_batching_dims", &numbers.start_indices_batching_dims, index_rank)?;
    let map = op.dims("start_index_map", &numbers.start_index_map, rank)?;
    let sizes = slice_sizes(op, &x.dims)?;
    let kept: Vec<usize> =
        (0..rank).filter(|d| !collapsed.contains(d) && !batching.contains(d)).collect();
    let batch_out: Vec<usize> = (0..out_rank).filter(|d| !offset_dims.contains(d)).collect();
    let fits = kept.len() == offset_dims.len()
        && batch_out.len() == indices.batch.len()
        && map.len() == indices.components()
        && batching.len() == index_batching.len()
        && batching.iter().zip(&index_batching).all(|(d, i)| x.dims[*d] == indices.array.dims[*i])
        && kept.iter().zip(&offset_dims).all(|(d, o)| sizes[*d] == shape.dims[*o])
        && batch_out.iter().zip(indices.batch_dims()).all(|(d, size)| shape.dims[*d] == size);
    if !fits {
        return Err(Invalid::value(
            "gather_dimension_numbers",
            format!("{numbers:?}"),
            "numbers that fit the shapes",
        ));
    }
    let own = strides(&x.dims);
    let mut odometer = Odometer::new(&shape.dims);
    let (mut batch, mut index) = (vec![0; batch_out.len()], vec![0_usize; rank]);
    x.pick(shape.dims.clone(), || {
        for (b, d) in batch.iter_mut().zip(&batch_out) {
            *b = odometer.index[*d];
        }
        index.fill(0);
        for (component, d) in map.iter().enumerate() {
            // Moved so that the slice lies inside.
            let last = (x.dims[*d] - sizes[*d]) as i64;
            index[*d] = indices.get(&batch, component)?.clamp(0, last) as usize;
        }
        for (d, from) in batching.iter().zip(&index_batching) {
            index[*d] = indices.along(&batch, *from)?;
        }
        for (d, o) in kept.iter().zip(&offset_dims) {
            index[*d] += odometer.index[*o];
        }
        odometer.advance();
        Ok(index.iter().zip(&own).map(|(i, s)| i * s).sum())
    })
}

fn slice_sizes(op: &Op<'_, '_>, dims: &[usize]) -> Result<Vec<usize>> {
    let sizes = &op.instruction.proto.gather_slice_sizes;
    if sizes.len() != dims.len() {
        return Err(Invalid::value("gather_slice_sizes", sizes.len(), dims.len().to_string()));
    }
    sizes
        .iter()
        .zip(dims)
        .map(|(size, dim)| {
            usize::try_from(*size)
                .ok()
                .filter(|size| size <= dim)
                .ok_or_else(|| Invalid::value("gather_slice_sizes", size, format!("at most {dim}")))
        })
        .collect()
}

/// Combines updates into any number of operands together; windows that do not lie inside are left out.
fn scatter(op: &mut Op<'_, '_>) -> Result<Value> {
    let arrays = op.arrays()?;
    let count = arrays.len() / 2;
    if arrays.len() < 3 || arrays.len() % 2 == 0 {
        return Err(Invalid::value("operands", arrays.len(), "an odd number, at least 3"));
    }
    let (operands, updates) = (&arrays[..count], &arrays[count + 1..]);
    let (x, update) = (operands[0], updates[0]);
    let same = |all: &[&Array], first: &Array| all.iter().all(|a| a.dims == first.dims);
    if !same(operands, x) || !same(updates, update) {
        return Err(Invalid::value("operands", "of several shapes", "one shape"));
    }
    let numbers = op.instruction.proto.scatter_dimension_numbers.as_ref();
    let numbers = numbers.ok_or_else(|| Invalid::missing("scatter_dimension_numbers"))?;
    let (rank, update_rank) = (x.dims.len(), update.dims.len());
    let index_vector_dim = numbers.index_vector_dim;
    let indices = Indices::new(arrays[count], index_vector_dim)?;
    let window_dims = op.dims("update_window_dims", &numbers.update_window_dims, update_rank)?;
    let inserted = op.dims("inserted_window_dims", &numbers.inserted_window_dims, rank)?;
    let batching = op.dims("input_batching_dims", &numbers.input_batching_dims, rank)?;
    let index_rank = indices.array.dims.len();
    let index_batching = op.dims(
        "scatter_indices_batching_dims",
        &numbers.scatter_indices_batching_dims,
        index_rank,
    )?;
    let map =
        op.dims("scatter_dims_to_operand_dims", &numbers.scatter_dims_to_operand_dims, rank)?;
    let kept: Vec<usize> =
        (0..rank).filter(|d| !inserted.contains(d) && !batching.contains(d)).collect();
    let batch_dims: Vec<usize> = (0..update_rank).filter(|d| !window_dims.contains(d)).collect();
    let fits = kept.len() == window_dims.len()
        && batch_dims.len() == indices.batch.len()
        && map.len() == indices.components()
        && batching.len() == index_batching.len()
        && batching.iter().zip(&index_batching).all(|(d, i)| x.dims[*d] == indices.array.dims[*i])
        && batch_dims.iter().zip(indices.batch_dims()).all(|(d, size)| update.dims[*d] == size);
    if !fits {
        return Err(Invalid::value(
            "scatter_dimension_numbers",
            format!("{numbers:?}"),
            "numbers that fit the shapes",
        ));
    }
    let mut window = vec![1; rank];
    for (d, w) in kept.iter().zip(&window_dims) {
        window[*d] = update.dims[*w];
    }
    op.results(count, &x.dims)?;
    let types = |arrays: &[&Array]| arrays.iter().map(|x| x.ty).collect::<Vec<_>>();
    let types = [types(operands), types(updates)];
    let (dims, own, elements) = (x.dims.clone(), strides(&x.dims), update.len());
    let update_dims = update.dims.clone();
    let mut outputs: Vec<Array> = (0..count).map(|at| op.own(at)).collect::<Result<_>>()?;
    let arrays = (count..2 * count + 1).map(|at| op.array(at)).collect::<Result<Vec<_>>>()?;
    let (indices, updates) = (Indices::new(arrays[0], index_vector_dim)?, &arrays[1..]);
    let combiner = Combiner::new(op.evaluator, op.callee(0)?, &[&types[0], &types[1]], &outputs)?;
    let (mut arguments, mut out): (Vec<Typed>, Vec<_>) = (vec![], vec![]);
    let mut odometer = Odometer::new(&update_dims);
    let (mut batch, mut start) = (vec![0; batch_dims.len()], vec![0_i64; rank]);
    for at in 0..elements {
        for (b, d) in batch.iter_mut().zip(&batch_dims) {
            *b = odometer.index[*d];
        }
        start.fill(0);
        for (component, d) in map.iter().enumerate() {
            start[*d] = indices.get(&batch, component)?;
        }
        for (d, from) in batching.iter().zip(&index_batching) {
            start[*d] = indices.along(&batch, *from)? as i64;
        }
        let inside = (0..rank).all(|d| {
            start[d] >= 0
                && start[d].checked_add(window[d] as i64).is_some_and(|end| end <= dims[d] as i64)
        });
        if inside {
            let mut place: usize = start.iter().zip(&own).map(|(i, s)| *i as usize * s).sum();
            place += kept
                .iter()
                .zip(&window_dims)
                .map(|(d, w)| odometer.index[*w] * own[*d])
                .sum::<usize>();
            arguments.clear();
            for array in &outputs {
                arguments
                    .push((array.ty, array.get(place).ok_or_else(|| Invalid::missing("element"))?));
            }
            for array in updates {
                arguments
                    .push((array.ty, array.get(at).ok_or_else(|| Invalid::missing("element"))?));
            }
            combiner.call(&arguments, &mut out)?;
            for (array, value) in outputs.iter_mut().zip(&out) {
                array.set(place, *value)?;
            }
        }
        odometer.advance();
    }
    Ok(several(outputs))
}
