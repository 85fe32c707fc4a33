//! Where commands keep what they found out about history.

use std::path::PathBuf;

use clap::Args;

use crate::history::Cache;

#[derive(Debug, Args)]
pub(super) struct CacheArgs {
    /// Neither read nor write an index of the history.
    #[arg(long, conflicts_with = "cache_dir")]
    no_cache: bool,
    /// Where the index of the history is kept [default: AOTGATE_CACHE_DIR, else the git directory].
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
}

impl CacheArgs {
    pub(super) fn cache(&self) -> Cache {
        let variable = || std::env::var_os("AOTGATE_CACHE_DIR").filter(|dir| !dir.is_empty());
        match &self.cache_dir {
            _ if self.no_cache => Cache::Off,
            Some(dir) => Cache::Dir(dir.clone()),
            None => variable().map_or(Cache::GitDir, |dir| Cache::Dir(dir.into())),
        }
    }
}
