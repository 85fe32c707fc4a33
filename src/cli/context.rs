//! What every command needs: repository, policy, date, where output goes.

use std::path::{Path, PathBuf};

use chrono::NaiveDate;

use super::{Format, GlobalArgs, output};
use crate::error::{Error, ErrorKind};
use crate::gate::PolicyFile;
use crate::report::human::Style;
use crate::revision::{Repository, RevisionSpec};

/// Global options, resolved on demand.
pub(super) struct Context {
    dir: PathBuf,
    policy: Option<PathBuf>,
    today: Option<NaiveDate>,
    /// How to print.
    pub(super) format: Format,
    /// Where to write instead of standard output.
    pub(super) output: Option<PathBuf>,
}

impl Context {
    pub(super) fn new(global: GlobalArgs) -> Self {
        Context {
            dir: global.repo.unwrap_or_else(|| PathBuf::from(".")),
            policy: global.policy,
            today: global.today,
            format: global.format,
            output: global.output,
        }
    }

    /// `--today`, if given.
    pub(super) fn given_today(&self) -> Option<NaiveDate> {
        self.today
    }

    /// `--today`, else the clock.
    pub(super) fn today(&self) -> NaiveDate {
        self.today.unwrap_or_else(|| chrono::Local::now().date_naive())
    }

    /// The clock's day, or `--today` if that is later: no commit can have landed after it.
    pub(super) fn clock(&self) -> NaiveDate {
        self.today().max(chrono::Local::now().date_naive())
    }

    pub(super) fn repository(&self) -> Result<Repository, Error> {
        Repository::discover(&self.dir)
    }

    /// The directory that `--repo` names, else the current one.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The repository where one of the revisions needs it.
    pub(super) fn repository_for(
        &self,
        revisions: &[&RevisionSpec],
    ) -> Result<Option<Repository>, Error> {
        if revisions.iter().any(|spec| spec.needs_repository()) {
            return self.repository().map(Some);
        }
        Ok(self.repository().ok())
    }

    /// The file of `--policy`, read from disk.
    pub(super) fn policy_file(
        &self,
        repository: Option<&Repository>,
    ) -> Result<Option<PolicyFile>, Error> {
        let Some(path) = &self.policy else { return Ok(None) };
        let io = |error| Error::from(ErrorKind::Io { path: path.clone(), error });
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            let path = path.display().to_string();
            return Err(ErrorKind::NotAFile { path, what: "something else" }.into());
        }
        let text = std::fs::read_to_string(path).map_err(io)?;
        // Where the name stands, not where a link leads: base's file of that name counts.
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let absolute =
            std::fs::canonicalize(parent).map_err(io)?.join(path.file_name().unwrap_or_default());
        let in_tree = repository
            .and_then(Repository::workdir)
            .and_then(|dir| std::fs::canonicalize(dir).ok())
            .and_then(|dir| absolute.strip_prefix(dir).ok().map(Path::to_path_buf))
            .and_then(|path| path.to_str().map(str::to_owned));
        Ok(Some(PolicyFile { in_tree, path: path.display().to_string(), text }))
    }

    /// How text for people looks.
    pub(super) fn style(&self, verbose: bool) -> Style {
        Style {
            width: output::width(),
            color: output::colour(self.output.as_deref()),
            unicode: output::unicode(),
            verbose,
        }
    }

    /// An error for a format that a command does not have.
    pub(super) fn unsupported_format(&self, command: &str, formats: &str) -> Error {
        ErrorKind::Usage {
            message: format!("`{command}` has no format {:?}", self.format).to_lowercase(),
            help: format!("use one of: {formats}"),
        }
        .into()
    }
}
