//! Tridiagonal systems.

use num_complex::Complex64;

/// Solves for each column of `b`. The diagonals are as long as `b` is high; the lower one starts in the second
/// row, and the last element of the upper one does not count. Rows are exchanged where the one below is larger.
pub(super) fn solve(
    [mut lower, mut middle, mut upper]: [Vec<Complex64>; 3],
    b: &mut [Complex64],
    columns: usize,
) {
    let n = middle.len();
    // What exchanged rows have beyond the upper diagonal.
    let mut second = vec![Complex64::ZERO; n];
    for i in 0..n.saturating_sub(1) {
        // The row below, from column i on: lower, middle, upper.
        if lower[i + 1].norm() > middle[i].norm() {
            std::mem::swap(&mut lower[i + 1], &mut middle[i]);
            (upper[i], middle[i + 1]) = (middle[i + 1], upper[i]);
            if i + 2 < n {
                (second[i], upper[i + 1]) = (upper[i + 1], Complex64::ZERO);
            }
            for column in 0..columns {
                b.swap(i * columns + column, (i + 1) * columns + column);
            }
        }
        if lower[i + 1] == Complex64::ZERO {
            continue;
        }
        let factor = lower[i + 1] / middle[i];
        middle[i + 1] -= factor * upper[i];
        if i + 2 < n {
            upper[i + 1] -= factor * second[i];
        }
        for column in 0..columns {
            let above = b[i * columns + column];
            b[(i + 1) * columns + column] -= factor * above;
        }
    }
    for i in (0..n).rev() {
        for column in 0..columns {
            let mut rest = b[i * columns + column];
            if i + 1 < n {
                rest -= upper[i] * b[(i + 1) * columns + column];
            }
            if i + 2 < n {
                rest -= second[i] * b[(i + 2) * columns + column];
            }
            b[i * columns + column] = rest / middle[i];
        }
    }
}
