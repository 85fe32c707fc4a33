//! Reading one line.

use super::escape;
use super::record::{FieldRecord, Item, Key, Record, ScopeRecord, TypeName, UseKey, ValueRecord};
use super::stamp::{Time, shown};
use crate::descriptor::{Label, Presence, Scalar};
use crate::history::ScopeKind;

/// The words of a line.
struct Words<'l>(std::vec::IntoIter<&'l str>);

impl<'l> Words<'l> {
    fn next(&mut self, what: &str) -> Result<&'l str, String> {
        self.0.next().ok_or_else(|| format!("the line ends before its {what}"))
    }

    fn name(&mut self) -> Result<String, String> {
        escape::read(self.next("name")?)
    }

    fn number(&mut self) -> Result<i32, String> {
        number(self.next("number")?)
    }

    fn range(&mut self) -> Result<(i32, i32), String> {
        let word = self.next("numbers")?;
        let (lo, hi) = match word.split_once("..") {
            Some((lo, hi)) => (number(lo)?, number(hi)?),
            None => (number(word)?, number(word)?),
        };
        if hi < lo {
            return Err(format!("`{}` ends before it begins", shown(word)));
        }
        Ok((lo, hi))
    }

    fn key(&mut self) -> Result<Key, String> {
        key(self.next("name")?)
    }
}

/// One line, without its end; else what is wrong with it.
pub(super) fn record(line: &str) -> Result<Record, String> {
    let mut times = Vec::new();
    let head = match line.split_once(" : ") {
        Some((head, spans)) => {
            for word in spans.split(' ') {
                let time = Time::parse(word)?;
                let last: Option<&Time> = times.last();
                let follows = last.is_none_or(|last| match &last.until {
                    Some(until) => *until <= time.from,
                    None => false,
                });
                if !follows {
                    return Err(format!(
                        "`{}` begins before the span in front of it ends",
                        shown(word)
                    ));
                }
                times.push(time);
            }
            head
        }
        None => line,
    };
    let words: Vec<&str> = head.split(' ').collect();
    if words.iter().any(|word| word.is_empty() || !word.bytes().all(|b| b.is_ascii_graphic())) {
        return Err("words are separated by single spaces".to_owned());
    }
    let mut words = Words(words.into_iter());
    let kind = words.next("kind")?;
    let dated = !matches!(kind, "root" | "json-root" | "extensions" | "entry" | "entry-field");
    let (scope, item) = match kind {
        "root" => (words.key()?, Item::Root),
        "json-root" => (words.key()?, Item::JsonRoot),
        "message" => (words.key()?, Item::Scope(scope(ScopeKind::Message, &mut words)?)),
        "enum" => (words.key()?, Item::Scope(scope(ScopeKind::Enum, &mut words)?)),
        "name" => (words.key()?, Item::Name(words.name()?)),
        "wire" => (words.key()?, Item::Wire),
        "json" => (words.key()?, Item::Json),
        "extensions" => {
            let key = words.key()?;
            let (lo, hi) = words.range()?;
            (key, Item::Extensions(lo, hi))
        }
        "reserved" => {
            let key = words.key()?;
            let (lo, hi) = words.range()?;
            (key, Item::Reserved(lo, hi))
        }
        "reserved-name" => (words.key()?, Item::ReservedName(words.name()?)),
        "field" => (words.key()?, Item::Field(field(&mut words)?)),
        "value" => (words.key()?, Item::Value(value(&mut words)?)),
        "entry" => {
            let key = words.key()?;
            let word = words.next("file")?;
            let file = word.strip_prefix("in=").ok_or_else(|| unknown(word))?;
            (key, Item::Entry(escape::read(file)?))
        }
        "entry-field" => (words.key()?, Item::EntryField(field(&mut words)?)),
        other => {
            return Err(format!(
                "lines `{}` are not known here: a newer aotgate wrote it",
                shown(other)
            ));
        }
    };
    if let Some(word) = words.0.next() {
        return Err(unknown(word));
    }
    if dated == times.is_empty() {
        let what = if dated { "the line lacks its dates" } else { "such a line has no dates" };
        return Err(what.to_owned());
    }
    Ok(Record { scope, item, times })
}

fn unknown(word: &str) -> String {
    format!("`{}` is not known here, is written twice or stands in the wrong place", shown(word))
}

fn number(word: &str) -> Result<i32, String> {
    let number: Option<i32> = word.parse().ok();
    let number = number.filter(|number| number.to_string() == word);
    number.ok_or_else(|| format!("`{}` is no number", shown(word)))
}

fn key(word: &str) -> Result<Key, String> {
    let (name, older) = match word.split_once('^') {
        Some((name, older)) => {
            let older = u32::try_from(number(older)?).ok().filter(|older| *older > 0);
            (name, older.ok_or_else(|| format!("`{}` is no number", shown(word)))?)
        }
        None => (word, 0),
    };
    Ok(Key { name: escape::read(name)?, older })
}

fn use_key(word: &str) -> Result<UseKey, String> {
    let mut parts = word.split('/');
    let (Some(first), Some(name)) = (parts.next(), parts.next()) else {
        return Err(format!("`{}` names no number and name", shown(word)));
    };
    let nth = match parts.next() {
        Some(nth) => u32::try_from(number(nth)?).unwrap_or(0),
        None => 0,
    };
    if parts.next().is_some() {
        return Err(format!("`{}` names no number and name", shown(word)));
    }
    Ok(UseKey { number: number(first)?, name: escape::read(name)?, nth })
}

fn type_name(word: &str) -> Result<TypeName, String> {
    if let Some(types) = word.strip_prefix("map<").and_then(|word| word.strip_suffix('>')) {
        let (key, value) =
            types.split_once(',').ok_or_else(|| format!("`{}` is no map", shown(word)))?;
        if value.starts_with("map<") {
            return Err(format!("`{}` is no map", shown(word)));
        }
        return Ok(TypeName::Map(escape::read(key)?, Box::new(type_name(value)?)));
    }
    match word.strip_prefix('.') {
        Some(name) => Ok(TypeName::Named(key(name)?)),
        None => Ok(TypeName::Plain(escape::read(word)?)),
    }
}

/// Properties stand in the order in which they are written.
struct Properties<'w, 'l> {
    words: std::iter::Peekable<&'w mut std::vec::IntoIter<&'l str>>,
}

impl<'w, 'l> Properties<'w, 'l> {
    fn of(words: &'w mut Words<'l>) -> Self {
        Properties { words: words.0.by_ref().peekable() }
    }

    fn flag(&mut self, word: &str) -> bool {
        self.words.next_if(|next| *next == word).is_some()
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        let rest = |word: &&'l str| word.strip_prefix(key)?.strip_prefix('=');
        let Some(rest) = self.words.peek().and_then(rest) else { return Ok(None) };
        self.words.next();
        escape::read(rest).map(Some)
    }

    fn means(&mut self) -> Result<Option<UseKey>, String> {
        let Some(rest) = self.words.peek().and_then(|word| word.strip_prefix("means=")) else {
            return Ok(None);
        };
        self.words.next();
        use_key(rest).map(Some)
    }

    /// What was looked at is lost with the iterator.
    fn end(mut self) -> Result<(), String> {
        match self.words.next() {
            Some(word) => Err(unknown(word)),
            None => Ok(()),
        }
    }
}

fn scope(kind: ScopeKind, words: &mut Words<'_>) -> Result<ScopeRecord, String> {
    let mut properties = Properties::of(words);
    let is_enum = kind == ScopeKind::Enum;
    let closed = match (is_enum && properties.flag("open"), is_enum && properties.flag("closed")) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    };
    let record = ScopeRecord {
        kind,
        closed,
        message_set: !is_enum && properties.flag("message-set"),
        wire: properties.flag("wire"),
        json: properties.flag("json"),
        file: properties.text("in")?,
    };
    properties.end()?;
    Ok(record)
}

fn field(words: &mut Words<'_>) -> Result<FieldRecord, String> {
    let number = words.number()?;
    let name = words.name()?;
    let ty = type_name(words.next("type")?)?;
    let word = words.next("label")?;
    let labels = [Label::Singular, Label::Required, Label::Repeated];
    let label = labels.into_iter().find(|l| l.name() == word).ok_or_else(|| unknown(word))?;
    let presence = match label {
        Label::Repeated => Presence::Repeated,
        Label::Singular | Label::Required => {
            let word = words.next("presence")?;
            let known = [Presence::Implicit, Presence::Explicit];
            known.into_iter().find(|p| p.name() == word).ok_or_else(|| unknown(word))?
        }
    };
    let mut properties = Properties::of(words);
    let record = FieldRecord {
        number,
        name,
        ty,
        label,
        presence,
        packed: properties.flag("packed"),
        utf8: properties.flag("utf8"),
        delimited: properties.flag("delimited"),
        closed: properties.flag("closed"),
        deprecated: properties.flag("deprecated"),
        oneof: properties.text("oneof")?,
        default: properties.text("default")?,
        json: properties.text("json")?,
        means: properties.means()?,
    };
    properties.end()?;
    Ok(record)
}

fn value(words: &mut Words<'_>) -> Result<ValueRecord, String> {
    let (number, name) = (words.number()?, words.name()?);
    let mut properties = Properties::of(words);
    let first = properties.flag("first");
    let alias = match properties.text("alias")? {
        Some(text) => text.parse().map_err(|_| format!("`{}` is no number", shown(&text)))?,
        None => 0,
    };
    let means = properties.means()?;
    properties.end()?;
    Ok(ValueRecord { number, name, alias, first, means })
}

/// The scalar with this keyword.
pub(super) fn scalar(name: &str) -> Option<Scalar> {
    use Scalar::*;
    let all = [
        Double, Float, Int64, Uint64, Int32, Fixed64, Fixed32, Bool, String, Bytes, Uint32,
        Sfixed32, Sfixed64, Sint32, Sint64,
    ];
    all.into_iter().find(|scalar| scalar.name() == name)
}
