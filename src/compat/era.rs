//! Which release a runtime is, or of which day.

use aotgate_runtime::artifact::loader::{Loader, RELEASE_DATES, release_date};
use chrono::NaiveDate;

/// Which release a runtime is, or of which day, and how that was found out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Era {
    /// The jaxlib release.
    pub release: Option<&'static str>,
    /// The day of the release, or of the commit.
    pub date: Option<NaiveDate>,
    /// How it was found out; empty where it was not.
    pub source: &'static str,
}

impl Era {
    /// The era of a commit.
    pub fn of_commit(date: NaiveDate) -> Era {
        Era { release: None, date: Some(date), source: "the commit's date" }
    }

    /// The era of a descriptor set or released binary, by the version in its name: `0.11.2.fds`, or a
    /// wheel's `NAME-0.11.2-TAGS.whl`. Unknown where there is none of a known release.
    pub fn of_file(name: &str) -> Era {
        let is_version = |c: char| c.is_ascii_digit() || c == '.';
        let parts = name.split(|c: char| !is_version(c)).map(|part| part.trim_matches('.'));
        let known = |part: &str| RELEASE_DATES.iter().find(|(release, _)| *release == part);
        let Some((release, _)) = parts.filter_map(known).next() else { return Era::default() };
        let date = release_date(release).and_then(|date| date.parse().ok());
        Era { release: Some(release), date, source: "the file's name" }
    }

    /// What its loader does with containers.
    pub fn loader(&self) -> Loader {
        match (self.release, self.date) {
            (Some(release), _) => Loader::of_release(release),
            (None, Some(date)) => Loader::at(&date.to_string()),
            (None, None) => Loader::unknown(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_names() {
        let release = |name| Era::of_file(name).release;
        assert_eq!(release("0.11.2.fds"), Some("0.11.2"));
        assert_eq!(
            release("jax_cuda13_pjrt-0.12.0.1-py3-none-manylinux_2_27_x86_64.whl"),
            Some("0.12.0.1")
        );
        assert_eq!(release("0.11.22.fds"), None);
        assert_eq!(release("plugin.so"), None);
        assert_eq!(Era::of_file("x"), Era::default());
    }
}
