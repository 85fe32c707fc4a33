//! Nothing in a module refers to itself.

use super::Computation;
use crate::program::invalid::{Invalid, Result};

/// Calls may nest this deep.
const MAX_CALLS: usize = 64;

/// Computations call each other without cycles and not too deep.
pub(super) fn check_calls(computations: &[Computation]) -> Result<()> {
    let callees: Vec<Vec<usize>> = computations
        .iter()
        .map(|computation| {
            computation.instructions.iter().flat_map(|i| i.calls.iter().copied()).collect()
        })
        .collect();
    let at = |computation: usize| format!("computation {:?}", computations[computation].name);
    let order = topological(&callees).map_err(|cycle| {
        Invalid::value("called_computation_ids", "a cycle", "none").at(at(cycle))
    })?;
    let mut depths = vec![0_usize; computations.len()];
    // Callees come first.
    for computation in order {
        let below = callees[computation].iter().map(|callee| depths[*callee] + 1);
        let depth = below.max().unwrap_or(0);
        if depth > MAX_CALLS {
            return Err(Invalid::value("depth of calls", depth, format!("at most {MAX_CALLS}"))
                .at(at(computation)));
        }
        depths[computation] = depth;
    }
    Ok(())
}

/// All indices so that what each refers to comes before it; the order given is kept where it is one. The
/// error is an index that is part of a cycle.
pub(super) fn topological(references: &[Vec<usize>]) -> Result<Vec<usize>, usize> {
    #[derive(Clone, Copy)]
    enum State {
        New,
        OnPath,
        Done,
    }
    let mut state = vec![State::New; references.len()];
    let mut order = Vec::with_capacity(references.len());
    for start in 0..references.len() {
        if !matches!(state[start], State::New) {
            continue;
        }
        let mut path = vec![(start, 0)];
        state[start] = State::OnPath;
        while let Some((at, next)) = path.last_mut() {
            let Some(&reference) = references[*at].get(*next) else {
                state[*at] = State::Done;
                order.push(*at);
                path.pop();
                continue;
            };
            *next += 1;
            match state[reference] {
                State::New => {
                    state[reference] = State::OnPath;
                    path.push((reference, 0));
                }
                State::OnPath => return Err(reference),
                State::Done => {}
            }
        }
    }
    Ok(order)
}
