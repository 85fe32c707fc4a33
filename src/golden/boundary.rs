//! XLA's rule for which versions of a target's goldens are tested.

/// The environment variable that asks for all versions.
pub const TEST_ALL_VERSIONS: &str = "XLA_AOT_TEST_ALL_VERSIONS";

/// Versions of a target that are tested, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary {
    /// Loaded and run as artifacts of older compilers, ascending.
    pub backward: Vec<i32>,
    /// The newest, which golden verification holds against what the compiler emits now.
    pub verification: i32,
}

/// The versions to test of those that a target has, `None` for a target without any.
///
/// Up to two versions are all tested backward; of more, the oldest and the second-newest by position (of 1, 2, 5
/// these are 1 and 2), because golden verification covers the newest. `all` tests every one.
pub fn boundary(versions: &[i32], all: bool) -> Option<Boundary> {
    let mut versions = versions.to_vec();
    versions.sort_unstable();
    versions.dedup();
    let backward = match *versions {
        [oldest, .., second_newest, _] if !all => {
            let mut ends = vec![oldest, second_newest];
            ends.dedup();
            ends
        }
        _ => versions.clone(),
    };
    Some(Boundary { backward, verification: *versions.last()? })
}

/// The version that a directory's name stands for, as XLA's test library reads it: `v` and a number, which may
/// have a sign and leading zeros. `None` for stray directories.
pub fn version_of(name: &str) -> Option<i32> {
    let number = name.strip_prefix('v')?.trim_ascii();
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_is_by_position() {
        for (versions, backward, verification) in [
            (&[1][..], &[1][..], 1),
            (&[1, 2], &[1, 2], 2),
            (&[1, 2, 5], &[1, 2], 5),
            (&[1, 2, 3, 4], &[1, 3], 4),
            (&[10, 9, 2, 1], &[1, 9], 10),
            (&[3, 7, 8], &[3, 7], 8),
        ] {
            let expected = Boundary { backward: backward.to_vec(), verification };
            assert_eq!(boundary(versions, false), Some(expected), "{versions:?}");
        }
        assert_eq!(boundary(&[], false), None);
        assert_eq!(boundary(&[], true), None);
        let all = boundary(&[4, 3, 2, 1], true).unwrap();
        assert_eq!((all.backward, all.verification), (vec![1, 2, 3, 4], 4));
    }

    #[test]
    fn directories_are_versions_as_upstream_reads_them() {
        for (name, version) in [
            ("v1", Some(1)),
            ("v10", Some(10)),
            ("v01", Some(1)),
            ("v+2", Some(2)),
            ("v-1", Some(-1)),
            ("v", None),
            ("vX", None),
            ("v1a", None),
            ("V1", None),
            ("1", None),
            ("latest", None),
            ("v99999999999", None),
        ] {
            assert_eq!(version_of(name), version, "{name}");
        }
    }
}
