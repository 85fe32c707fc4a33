//! `[container]`: the messages that wrap an executable, and what loaders read and compilers write since when.

use chrono::NaiveDate;
use serde::Deserialize;
use toml::Spanned;

use super::file::closest;
use super::resolve::Place;
use crate::container::{ContainerMessage, Containers, Era, Form};
use crate::descriptor::RootSpec;
use crate::error::Error;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContainerTable {
    message: Option<Vec<MessageTable>>,
    era: Option<Vec<EraTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageTable {
    message: String,
    files: Spanned<Vec<String>>,
    #[serde(default)]
    stop: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EraTable {
    since: Spanned<Day>,
    commit: Option<Spanned<String>>,
    reads: Vec<Spanned<String>>,
    writes: Vec<Spanned<String>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
struct Day(#[serde(deserialize_with = "super::file::date")] NaiveDate);

/// Takes what the file says; a list that it has replaces the one that it extends.
pub(super) fn containers(
    containers: &mut Containers,
    table: &ContainerTable,
    place: &Place<'_>,
) -> Result<(), Error> {
    if let Some(messages) = &table.message {
        containers.messages.clear();
        for table in messages {
            if table.files.get_ref().is_empty() {
                let message = "a message without files cannot be found".to_owned();
                return Err(place.error(&table.files, message, None));
            }
            let (message, files) = (table.message.clone(), table.files.get_ref().clone());
            let root = RootSpec { message, files };
            containers.messages.push(ContainerMessage { root, stop: table.stop.clone() });
        }
    }
    if let Some(eras) = &table.era {
        containers.eras.clear();
        for table in eras {
            let since = table.since.get_ref().0;
            if containers.eras.last().is_some_and(|before| before.since > since) {
                let message = "an era begins before the one above it".to_owned();
                let help = Some("write the oldest first".to_owned());
                return Err(place.error(&table.since, message, help));
            }
            if let Some(commit) = &table.commit
                && (commit.get_ref().len() < 7
                    || !commit.get_ref().bytes().all(|b| b.is_ascii_hexdigit()))
            {
                let message = format!("`{}` is no commit", commit.get_ref());
                let help = Some("write at least seven hex digits of its id".to_owned());
                return Err(place.error(commit, message, help));
            }
            containers.eras.push(Era {
                since,
                commit: table.commit.as_ref().map(|commit| commit.get_ref().clone()),
                reads: forms(&table.reads, place)?,
                writes: forms(&table.writes, place)?,
            });
        }
    }
    Ok(())
}

fn forms(written: &[Spanned<String>], place: &Place<'_>) -> Result<Vec<Form>, Error> {
    let form = |written: &Spanned<String>| {
        Form::named(written.get_ref()).ok_or_else(|| {
            let names = Form::ALL.map(Form::name);
            let help = match closest(written.get_ref(), names.into_iter()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("write one of {}", names.join(", ")),
            };
            place.error(written, format!("no form is called `{}`", written.get_ref()), Some(help))
        })
    };
    written.iter().map(form).collect()
}
