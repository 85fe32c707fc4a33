//! Walking over the elements of an array.

/// Distance, in elements, between neighbours along each dimension of a row-major array.
pub(crate) fn strides(dims: &[usize]) -> Vec<usize> {
    let mut out = vec![1; dims.len()];
    for at in (0..dims.len().saturating_sub(1)).rev() {
        out[at] = out[at + 1] * dims[at + 1];
    }
    out
}

/// Counts through all indices of an array in row-major order.
#[derive(Debug)]
pub(crate) struct Odometer<'a> {
    dims: &'a [usize],
    /// The current index.
    pub(crate) index: Vec<usize>,
    left: usize,
}

impl<'a> Odometer<'a> {
    pub(crate) fn new(dims: &'a [usize]) -> Self {
        Odometer { dims, index: vec![0; dims.len()], left: dims.iter().product() }
    }

    /// Whether there is a current index; `for` cannot lend it out.
    pub(crate) fn valid(&self) -> bool {
        self.left > 0
    }

    /// Goes on to the next index.
    pub(crate) fn advance(&mut self) {
        self.left = self.left.saturating_sub(1);
        for (at, size) in self.index.iter_mut().zip(self.dims).rev() {
            *at += 1;
            if *at < *size {
                return;
            }
            *at = 0;
        }
    }

    /// Where the current index lies in an array with these strides.
    pub(crate) fn offset(&self, strides: &[usize]) -> usize {
        self.index.iter().zip(strides).map(|(i, s)| i * s).sum()
    }
}

/// For each element in row-major order, the offset in an array with the strides given.
pub(crate) fn offsets(dims: &[usize], strides: &[usize]) -> Vec<usize> {
    let mut out = Vec::with_capacity(dims.iter().product());
    let mut odometer = Odometer::new(dims);
    while odometer.valid() {
        out.push(odometer.offset(strides));
        odometer.advance();
    }
    out
}
