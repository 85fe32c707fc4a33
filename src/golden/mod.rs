//! Goldens: artifacts of released compilers that must go on running.
//!
//! A [`Store`] lists them at a revision, in this tool's own layout and in XLA's, and reads them one by one.
//! [`select`] says which of them a run needs, [`Golden::standing`] which of them prove anything: a golden
//! outside the backward window, dated after today, or without a date is no evidence.

mod boundary;
#[cfg(feature = "runtime")]
pub mod contents;
#[cfg(feature = "runtime")]
mod draft;
#[cfg(feature = "runtime")]
mod fill;
mod manifest;
#[cfg(feature = "runtime")]
mod record;
mod render;
mod select;
mod shape;
mod store;
#[cfg(feature = "runtime")]
pub mod verify;

pub use boundary::{Boundary, TEST_ALL_VERSIONS, boundary, version_of};
#[cfg(feature = "runtime")]
pub use draft::{Draft, Signature};
pub use manifest::{
    Device, FILE_NAME, Manifest, ManifestArray, Producer, Program, Target, Tolerance,
};
#[cfg(feature = "runtime")]
pub use record::{Given, draft};
pub use select::{Selection, select, select_usable};
pub use shape::ArrayShape;
pub use store::{Skipped, Store};

use chrono::NaiveDate;

use crate::error::Error;
use crate::rollout::windows::Length;

/// Why a file of XLA's layout without a byte is no golden.
pub const EMPTY: &str = "an empty file, kept for tests of XLA's own test library";

/// One golden of a store. Its artifact is not read until [`Store::read`].
#[derive(Debug)]
pub struct Golden {
    /// `<set>/<program>`, for XLA's layout `<target>/v<N>/<test>`: unique in a store.
    pub id: String,
    /// How it is kept.
    pub layout: Layout,
    /// Its directory in the tree.
    pub dir: String,
    /// Path of the artifact in the tree.
    pub artifact: String,
    /// What `golden.toml` says; `None` for XLA's layout, and where it cannot be read.
    pub manifest: Option<Manifest>,
    /// When the compiler that made it was released, or for XLA's layout when it landed.
    pub emission: Emission,
    /// Why it cannot be used, as far as a listing shows.
    pub problem: Option<Error>,
}

/// How a golden is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// `<store>/<set>/<program>/golden.toml`, with inputs and expected outputs.
    Store {
        /// Such as `jaxlib-0.11.2`.
        set: String,
        /// Such as `fft`.
        program: String,
    },
    /// XLA's own `<root>/<target>/v<version>/<test>.pbtxt`: no inputs, no expected outputs.
    Upstream {
        /// The configured root in the tree.
        root: String,
        /// Such as `collective_ops_aot_test_2gpu`.
        target: String,
        /// The number after `v`.
        version: i32,
        /// Such as `ReduceScatter`.
        test: String,
    },
}

/// When an artifact was emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emission {
    /// On this day, as far as anybody outside can tell.
    On(NaiveDate),
    /// Before this day.
    Before(NaiveDate),
    /// Nothing says when.
    Unknown,
}

/// What a golden proves on a given day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It must run, up to and including the given day.
    Evidence {
        /// The last day of its backward window.
        until: NaiveDate,
    },
    /// Its backward window is over.
    TooOld,
    /// It says that it was emitted after today.
    Future,
    /// Nothing says when it was emitted.
    Undated,
}

impl Golden {
    /// How findings name it: `golden:<id>`.
    pub fn construct(&self) -> String {
        format!("golden:{}", self.id)
    }

    /// The day on which it was emitted, where that is known.
    pub fn emitted_at(&self) -> Option<NaiveDate> {
        match self.emission {
            Emission::On(date) => Some(date),
            Emission::Before(_) | Emission::Unknown => None,
        }
    }

    /// What it proves on `today` where runtimes read what compilers emitted for `backward`.
    ///
    /// The day on which the window is satisfied (`emitted_at` + 6 months) is the first on which its support
    /// may be removed, hence the first on which it proves nothing.
    pub fn standing(&self, today: NaiveDate, backward: Length) -> Standing {
        match self.emission {
            Emission::On(date) if date > today => Standing::Future,
            Emission::On(date) if backward.satisfied(date, today) => Standing::TooOld,
            Emission::On(date) => Standing::Evidence {
                until: backward.after(date).pred_opt().unwrap_or(NaiveDate::MIN),
            },
            // Emitted on the last possible day, it may still be inside.
            Emission::Before(date)
                if date.pred_opt().is_some_and(|last| backward.satisfied(last, today)) =>
            {
                Standing::TooOld
            }
            Emission::Before(_) | Emission::Unknown => Standing::Undated,
        }
    }

    /// Whether it is evidence on `today`: inside the backward window and not dated after today.
    pub fn in_window(&self, today: NaiveDate, backward: Length) -> bool {
        matches!(self.standing(today, backward), Standing::Evidence { .. })
    }

    /// Devices that it runs on, where its manifest says so.
    pub fn devices(&self) -> Option<u32> {
        self.manifest.as_ref().map(|manifest| manifest.program.devices())
    }
}
