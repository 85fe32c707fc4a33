//! Finding, reading and extending policies.

use std::collections::BTreeMap;

use toml::Spanned;

use super::container::containers;
use super::file::{ClassTable, PolicyFile, closest, toml_error};
use super::{Class, Execute, GoldenPaths, LEDGER, Pattern, Policy};
use crate::container::Containers;
use crate::descriptor::fingerprint::short_hash;
use crate::descriptor::{ContractSpec, OpaqueSpec, RootSpec};
use crate::error::{Error, ErrorKind};
use crate::finding::Level;
use crate::rollout::windows::{Length, Windows};
use crate::triage::checks;

/// Name under which other policies extend the built-in one.
pub const BUILT_IN_NAME: &str = "xla-gpu";

const BUILT_IN: &str = include_str!("../../../policy/xla-gpu.toml");

/// Where a repository's own policy is looked for, in this order.
pub const LOCATIONS: [&str; 3] = ["aotgate.toml", ".aotgate.toml", "policy/aotgate.toml"];

/// The policy for XLA:GPU that comes with the tool.
///
/// # Errors
/// None unless the build is broken; a test parses it.
pub fn built_in() -> Result<Policy, Error> {
    parse("built-in:xla-gpu", BUILT_IN)
}

/// The policy that a tree has for itself; `read` gives a file of the tree.
///
/// # Errors
/// An unreadable or wrong policy.
pub fn find(
    read: impl Fn(&str) -> Result<Option<Vec<u8>>, Error>,
) -> Result<Option<Policy>, Error> {
    for path in LOCATIONS {
        if let Some(bytes) = read(path)? {
            return parse(path, &String::from_utf8_lossy(&bytes)).map(Some);
        }
    }
    Ok(None)
}

/// Parses a policy; `extends = "xla-gpu"` starts from the built-in one.
///
/// # Errors
/// Syntax errors, unknown keys, check ids, levels and patterns, each with its place and a suggestion.
pub fn parse(source: &str, text: &str) -> Result<Policy, Error> {
    let file: PolicyFile =
        toml::from_str(text).map_err(|error| toml_error(source, text, &error))?;
    let place = Place { source, text };
    let mut policy = match &file.extends {
        Some(name) if name.get_ref() == BUILT_IN_NAME => {
            let base = built_in()?;
            Policy {
                source: source.to_owned(),
                hash: short_hash(format!("{}{text}", base.hash).as_bytes()),
                ..base
            }
        }
        Some(name) => {
            return Err(place.error(
                name,
                format!("no policy is called `{}`", name.get_ref()),
                Some(format!("`{BUILT_IN_NAME}` is the only one that can be extended")),
            ));
        }
        None => Policy {
            source: source.to_owned(),
            hash: short_hash(text.as_bytes()),
            contract: ContractSpec::default(),
            dispatch: Vec::new(),
            baseline: None,
            windows: Windows::default(),
            classes: Vec::new(),
            levels: BTreeMap::new(),
            containers: Containers::default(),
            waiver_file: None,
            rollout_file: None,
            goldens: GoldenPaths::default(),
            ledger: LEDGER.to_owned(),
        },
    };
    contract(&mut policy, &file, &place)?;
    containers(&mut policy.containers, &file.container, &place)?;
    windows(&mut policy.windows, &file, &place)?;
    goldens(&mut policy, &file, &place)?;
    ledger(&mut policy, &file, &place)?;
    for table in &file.class {
        policy.classes.push(class(table, &place)?);
    }
    for (check, level) in &file.checks {
        if checks::find(check.get_ref()).is_none() {
            let known = checks::ALL.iter().map(|(c, _)| c.id);
            let help = closest(check.get_ref(), known).map(|id| format!("did you mean `{id}`?"));
            let message = format!("no check is called `{}`", check.get_ref());
            return Err(place.error(check, message, help));
        }
        policy.levels.insert(check.get_ref().clone(), place.level(level, true)?);
    }
    if let Some(path) = file.waivers.file {
        policy.waiver_file = Some(path);
    }
    if let Some(path) = file.rollout.file {
        policy.rollout_file = Some(path);
    }
    if policy.contract.roots.is_empty() {
        return Err(ErrorKind::Policy {
            message: format!("{source}: no root message"),
            help: Some(format!(
                "add a `[[contract.root]]` table with `message` and `files`, or `extends = \"{BUILT_IN_NAME}\"`"
            )),
            span: None,
            label: String::new(),
            source_code: miette::NamedSource::new(source, text.to_owned()),
        }
        .into());
    }
    Ok(policy)
}

fn contract(policy: &mut Policy, file: &PolicyFile, place: &Place<'_>) -> Result<(), Error> {
    let table = &file.contract;
    let spec = &mut policy.contract;
    if let Some(include) = &table.include {
        spec.include.clone_from(include);
    }
    if let Some(prefixes) = &table.prefixes {
        spec.prefixes.clone_from(prefixes);
    }
    if let Some(dispatch) = &table.dispatch {
        policy.dispatch.clone_from(dispatch);
    }
    policy.baseline = table.baseline.or(policy.baseline);
    if let Some(roots) = &table.root {
        spec.roots.clear();
        for root in roots {
            if root.files.get_ref().is_empty() {
                let message = "a root without files cannot be found".to_owned();
                return Err(place.error(&root.files, message, None));
            }
            spec.roots.push(RootSpec {
                message: root.message.get_ref().clone(),
                files: root.files.get_ref().clone(),
            });
        }
    }
    if let Some(opaque) = &table.opaque {
        spec.opaque.clear();
        for payload in opaque {
            if payload.encoding.get_ref() != "json" {
                let message = format!("unknown encoding `{}`", payload.encoding.get_ref());
                let help = Some("`json` is the only one".to_owned());
                return Err(place.error(&payload.encoding, message, help));
            }
            spec.opaque.push(OpaqueSpec {
                field: payload.field.clone(),
                message: payload.message.clone(),
                file: payload.file.clone(),
            });
        }
    }
    Ok(())
}

fn goldens(policy: &mut Policy, file: &PolicyFile, place: &Place<'_>) -> Result<(), Error> {
    let directories = |written: &[Spanned<String>]| -> Result<Vec<String>, Error> {
        let mut directories = Vec::new();
        for path in written {
            let text = path.get_ref().trim_end_matches('/');
            let odd = |part: &str| matches!(part, "" | "." | ".." | ".git") || part.contains('\0');
            if text.split('/').any(odd) {
                let message = format!("`{}` is no directory of the tree", path.get_ref());
                let help = "write a path relative to `contract.prefixes`, such as `golden`";
                return Err(place.error(path, message, Some(help.to_owned())));
            }
            directories.push(text.to_owned());
        }
        Ok(directories)
    };
    if let Some(paths) = &file.goldens.paths {
        policy.goldens.paths = directories(paths)?;
    }
    if let Some(upstream) = &file.goldens.upstream {
        policy.goldens.upstream = directories(upstream)?;
    }
    if let Some(written) = &file.goldens.execute {
        policy.goldens.execute = match written.get_ref().as_str() {
            "on-change" => Execute::OnChange,
            "always" => Execute::Always,
            "never" => Execute::Never,
            other => {
                let message = format!("goldens cannot be executed `{other}`");
                let help = "write on-change, always or never".to_owned();
                return Err(place.error(written, message, Some(help)));
            }
        };
    }
    policy.goldens.prefixes.clone_from(&policy.contract.prefixes);
    if policy.goldens.prefixes.is_empty() {
        policy.goldens.prefixes.push(String::new());
    }
    Ok(())
}

fn ledger(policy: &mut Policy, file: &PolicyFile, place: &Place<'_>) -> Result<(), Error> {
    let Some(path) = &file.history.ledger else { return Ok(()) };
    let odd = |part: &str| matches!(part, "" | "." | ".." | ".git") || part.contains('\0');
    let text = path.get_ref();
    if text.split('/').any(odd) || !text.ends_with(".lock") {
        let message = format!("`{text}` is no path of a ledger");
        let help = "write a path of the tree that ends in .lock, such as `aotgate.lock`";
        return Err(place.error(path, message, Some(help.to_owned())));
    }
    policy.ledger.clone_from(text);
    Ok(())
}

fn windows(windows: &mut Windows, file: &PolicyFile, place: &Place<'_>) -> Result<(), Error> {
    for (written, target) in [
        (&file.windows.backward, &mut windows.backward),
        (&file.windows.forward, &mut windows.forward),
        (&file.windows.reuse_grace, &mut windows.reuse_grace),
    ] {
        let Some(written) = written else { continue };
        *target = length(written.get_ref()).ok_or_else(|| {
            let message = format!("`{}` is no length of time", written.get_ref());
            place.error(written, message, Some("write `6 months` or `14 days`".to_owned()))
        })?;
    }
    Ok(())
}

fn length(text: &str) -> Option<Length> {
    let (count, unit) = text.trim().split_once(' ')?;
    let count: u32 = count.parse().ok()?;
    match unit.trim() {
        "day" | "days" => Some(Length::Days(count)),
        "week" | "weeks" => Some(Length::Days(count.checked_mul(7)?)),
        "month" | "months" => Some(Length::Months(count)),
        _ => None,
    }
}

fn class(table: &ClassTable, place: &Place<'_>) -> Result<Class, Error> {
    let patterns = |list: &[Spanned<String>]| -> Result<Vec<Pattern>, Error> {
        list.iter()
            .map(|written| {
                Pattern::new(written.get_ref()).map_err(|why| {
                    let message = format!("bad pattern `{}`: {why}", written.get_ref());
                    let help = Some("write a full name; `*` stands for one component, `**` at the end for the rest".to_owned());
                    place.error(written, message, help)
                })
            })
            .collect()
    };
    for check in &table.except_checks {
        if checks::find(check.get_ref()).is_none() {
            let known = checks::ALL.iter().map(|(c, _)| c.id);
            let help = closest(check.get_ref(), known).map(|id| format!("did you mean `{id}`?"));
            let message = format!("no check is called `{}`", check.get_ref());
            return Err(place.error(check, message, help));
        }
    }
    Ok(Class {
        name: table.name.clone(),
        reason: table.reason.clone(),
        constructs: patterns(&table.constructs)?,
        except: patterns(&table.except)?,
        except_checks: table.except_checks.iter().map(|c| c.get_ref().clone()).collect(),
        cap: place.level(&table.cap, false)?.unwrap_or(Level::Note),
    })
}

pub(super) struct Place<'a> {
    source: &'a str,
    text: &'a str,
}

impl Place<'_> {
    pub(super) fn error<T>(&self, at: &Spanned<T>, message: String, help: Option<String>) -> Error {
        ErrorKind::Policy {
            message: format!("{}: {message}", self.source),
            help,
            span: Some(at.span().into()),
            label: "here".to_owned(),
            source_code: miette::NamedSource::new(self.source, self.text.to_owned()),
        }
        .into()
    }

    fn level(&self, written: &Spanned<String>, may_be_off: bool) -> Result<Option<Level>, Error> {
        match written.get_ref().as_str() {
            "error" => Ok(Some(Level::Error)),
            "warning" => Ok(Some(Level::Warning)),
            "note" => Ok(Some(Level::Note)),
            "off" if may_be_off => Ok(None),
            other => {
                let known = ["error", "warning", "note", "off"];
                let help = match closest(other, known.into_iter()) {
                    Some(level) => format!("did you mean `{level}`?"),
                    None => "write error, warning, note or off".to_owned(),
                };
                Err(self.error(written, format!("unknown level `{other}`"), Some(help)))
            }
        }
    }
}
