//! Descriptors of one revision: reading, editions, the contract model, reachability, fingerprint.

mod build;
mod closure;
mod edition;
mod features;
pub mod fingerprint;
mod imports;
mod load;
mod model;
mod parse;
mod pool;
mod reuse;
mod spelling;

pub use features::{FeatureSet, FieldPresence, FileFeatures, Syntax};
pub use load::{ContractSpec, FileTree, OpaqueSpec, RootSpec, SourceClosure};
pub use model::{
    Contract, Enum, EnumValue, Field, Label, Location, Message, Name, Oneof, Place, Presence,
    Reach, Scalar, Type,
};
pub use parse::{ParseCache, ParsedFile};
