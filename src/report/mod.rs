//! What people and machines read: one file per format, each a pure function to text.
//!
//! A pull request's names, messages and sources are hostile until shown otherwise, so every renderer
//! passes them through [`text`] and then through the quoting of its own format. Nothing here prints, reads a
//! clock or looks at the environment: the same judgement gives the same bytes.

#[cfg(feature = "runtime")]
pub mod artifact;
#[cfg(feature = "runtime")]
pub mod compat;
pub mod diff;
mod excerpt;
pub mod github;
#[cfg(feature = "runtime")]
pub mod goldens;
mod group;
pub mod history;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
pub mod ledger;
#[cfg(feature = "runtime")]
pub mod lint;
pub mod markdown;
#[cfg(feature = "runtime")]
mod output;
mod recorded;
pub mod rollout;
#[cfg(feature = "runtime")]
pub mod run;
pub mod sarif;
pub mod schema;
pub mod snapshot;
pub mod text;
#[cfg(feature = "runtime")]
pub mod verify;
