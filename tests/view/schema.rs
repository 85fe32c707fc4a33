//! Random schemas and random edits of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::common::{Files, everything};
use crate::random::Random;
use aotgate::descriptor::{Contract, Name};

pub(crate) const SCALARS: [&str; 15] = [
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes",
    "uint32", "sfixed32", "sfixed64", "sint32", "sint64",
];
const NUMBERS: [i32; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 100, 2048, 536_870_911];
const KEYS: [&str; 12] = [
    "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
    "sfixed64", "bool", "string",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Proto2,
    Proto3,
    Edition,
}

#[derive(Debug, Clone)]
pub(crate) struct Schema {
    pub(crate) syntax: Syntax,
    /// Fields of `M0`, `M1`, ...
    pub(crate) messages: Vec<Vec<Field>>,
    /// Numbers of the values of `E0`, `E1`, ... besides 0.
    pub(crate) enums: Vec<BTreeSet<i32>>,
    /// In an edition file: whether the enum is closed.
    pub(crate) closed: Vec<bool>,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) number: i32,
    pub(crate) kind: Kind,
    pub(crate) label: Label,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Scalar(&'static str),
    /// The enum of another proto3 file where the number is past the end.
    Enum(usize),
    Message(usize),
    /// Written as a group; only where the syntax has groups.
    Group(usize),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Label {
    Plain,
    Optional,
    Required,
    Repeated(Option<bool>),
    Map(&'static str),
    Oneof(usize),
}

impl Schema {
    pub(crate) fn random(random: &mut Random) -> Self {
        let syntax = random.pick(&[Syntax::Proto2, Syntax::Proto3, Syntax::Edition]);
        let numbers = |random: &mut Random| {
            (0..1 + random.below(4))
                .map(|_| random.pick(&[1, 2, 3, 5, 100, -1, i32::MAX]))
                .collect()
        };
        let mut schema = Schema {
            syntax,
            messages: vec![Vec::new(); 3],
            enums: (0..2).map(|_| numbers(random)).collect(),
            closed: (0..2).map(|_| random.percent(50)).collect(),
        };
        for message in 0..schema.messages.len() {
            for _ in 0..2 + random.below(8) {
                schema.add(message, random);
            }
        }
        schema
    }

    fn add(&mut self, message: usize, random: &mut Random) {
        let number = random.pick(&NUMBERS);
        if self.messages[message].iter().all(|f| f.number != number) {
            let field = Field { number, kind: self.kind(random), label: label(random) };
            self.messages[message].push(field);
        }
    }

    fn kind(&self, random: &mut Random) -> Kind {
        match random.below(10) {
            0..=4 => Kind::Scalar(random.pick(&SCALARS)),
            5 | 6 => Kind::Enum(random.below(self.enums.len() + 1)),
            7 | 8 => Kind::Message(random.below(self.messages.len())),
            _ => Kind::Group(random.below(self.messages.len())),
        }
    }

    /// Another revision of the schema.
    pub(crate) fn edited(&self, random: &mut Random) -> Schema {
        let mut schema = self.clone();
        for _ in 0..1 + random.below(6) {
            let message = random.below(schema.messages.len());
            let fields = schema.messages[message].len();
            match random.below(12) {
                0 => schema.add(message, random),
                1 => {
                    schema.syntax = random.pick(&[Syntax::Proto2, Syntax::Proto3, Syntax::Edition])
                }
                2 => {
                    let at = random.below(schema.enums.len());
                    let first = schema.enums[at].first().copied().unwrap_or(7);
                    schema.enums[at].remove(&first);
                }
                3 => {
                    let at = random.below(schema.enums.len());
                    schema.enums[at].insert(random.pick(&[4, 6, 1000]));
                }
                4 => {
                    let at = random.below(schema.closed.len());
                    schema.closed[at] ^= true;
                }
                _ if fields == 0 => {}
                5 => {
                    schema.messages[message].remove(random.below(fields));
                }
                6 if fields > 1 => {
                    let (a, b) = (random.below(fields), random.below(fields));
                    let number = schema.messages[message][a].number;
                    schema.messages[message][a].number = schema.messages[message][b].number;
                    schema.messages[message][b].number = number;
                }
                7 | 8 => {
                    let kind = schema.kind(random);
                    schema.messages[message][random.below(fields)].kind = kind;
                }
                _ => schema.messages[message][random.below(fields)].label = label(random),
            }
        }
        schema
    }

    /// The field as the syntax can declare it.
    pub(crate) fn effective(&self, field: &Field) -> (Kind, Label) {
        let kind = match field.kind {
            Kind::Group(of) if self.syntax == Syntax::Proto3 => Kind::Message(of),
            // Maps hold no groups.
            Kind::Group(of) if matches!(field.label, Label::Map(_)) => Kind::Message(of),
            kind => kind,
        };
        let label = match (self.syntax, field.label) {
            (Syntax::Proto3, Label::Required) => Label::Optional,
            (Syntax::Proto2, Label::Plain) => Label::Optional,
            (_, Label::Repeated(_)) if !packable(kind) => Label::Repeated(None),
            // An implicit field's enum must be open.
            (Syntax::Edition, Label::Plain) if matches!(kind, Kind::Enum(_)) => Label::Optional,
            (_, label) => label,
        };
        (kind, label)
    }

    pub(crate) fn sources(&self) -> Vec<(&'static str, String)> {
        let mut text = String::new();
        let header = match self.syntax {
            Syntax::Proto2 => "syntax = \"proto2\";",
            Syntax::Proto3 => "syntax = \"proto3\";",
            Syntax::Edition => "edition = \"2023\";",
        };
        writeln!(text, "{header}\nimport \"b.proto\";\nmessage Empty {{}}").unwrap();
        for (at, numbers) in self.enums.iter().enumerate() {
            write!(text, "enum E{at} {{").unwrap();
            if self.syntax == Syntax::Edition && self.closed[at] {
                text.push_str(" option features.enum_type = CLOSED;");
            }
            write!(text, " E{at}_0 = 0;").unwrap();
            for number in numbers {
                write!(text, " E{at}_{} = {number};", value_name(*number)).unwrap();
            }
            text.push_str(" }\n");
        }
        for (at, fields) in self.messages.iter().enumerate() {
            writeln!(text, "message M{at} {{").unwrap();
            for field in fields.iter().filter(|f| !matches!(f.label, Label::Oneof(_))) {
                self.declare(&mut text, field);
            }
            for oneof in 0..2 {
                let members: Vec<&Field> =
                    fields.iter().filter(|f| f.label == Label::Oneof(oneof)).collect();
                if !members.is_empty() {
                    writeln!(text, "oneof o{oneof} {{").unwrap();
                    members.into_iter().for_each(|field| self.declare(&mut text, field));
                    text.push_str("}\n");
                }
            }
            text.push_str("}\n");
        }
        let other = "syntax = \"proto3\"; enum Open { OPEN_0 = 0; OPEN_1 = 1; OPEN_5 = 5; }";
        vec![("a.proto", text), ("b.proto", other.to_owned())]
    }

    fn declare(&self, text: &mut String, field: &Field) {
        let (kind, label) = self.effective(field);
        let number = field.number;
        let mut options = Vec::new();
        let ty = match kind {
            Kind::Scalar(name) => name.to_owned(),
            Kind::Enum(of) if of >= self.enums.len() => "Open".to_owned(),
            Kind::Enum(of) => format!("E{of}"),
            Kind::Message(of) | Kind::Group(of) => format!("M{of}"),
        };
        let group = matches!(kind, Kind::Group(_));
        if group && self.syntax == Syntax::Edition {
            options.push("features.message_encoding = DELIMITED".to_owned());
        }
        let word = match label {
            Label::Plain | Label::Oneof(_) => "",
            Label::Optional if self.syntax == Syntax::Edition => "",
            Label::Optional => "optional ",
            Label::Required if self.syntax == Syntax::Edition => {
                options.push("features.field_presence = LEGACY_REQUIRED".to_owned());
                ""
            }
            Label::Required => "required ",
            Label::Repeated(packed) => {
                if let Some(packed) = packed {
                    options.push(match self.syntax {
                        Syntax::Edition if packed => {
                            "features.repeated_field_encoding = PACKED".to_owned()
                        }
                        Syntax::Edition => "features.repeated_field_encoding = EXPANDED".to_owned(),
                        _ => format!("packed = {packed}"),
                    });
                }
                "repeated "
            }
            Label::Map(key) => {
                writeln!(text, "  map<{key}, {ty}> f{number} = {number};").unwrap();
                return;
            }
        };
        if self.syntax == Syntax::Edition
            && label == Label::Plain
            && matches!(kind, Kind::Scalar(_))
        {
            options.push("features.field_presence = IMPLICIT".to_owned());
        }
        if self.syntax == Syntax::Edition && kind == Kind::Scalar("string") && number % 2 == 0 {
            options.push("features.utf8_validation = NONE".to_owned());
        }
        if group && self.syntax == Syntax::Proto2 {
            // A body of its own: recursion through groups comes with the editions.
            writeln!(
                text,
                "  {word}group G{number} = {number} {{ optional int32 f1 = 1; optional M0 f2 = 2; \
                 repeated string f3 = 3; }}"
            )
            .unwrap();
            return;
        }
        let options =
            if options.is_empty() { String::new() } else { format!(" [{}]", options.join(", ")) };
        writeln!(text, "  {word}{ty} f{number} = {number}{options};").unwrap();
    }

    pub(crate) fn contract(&self) -> Contract {
        contract(&self.sources())
    }

    /// The sources with some names reserved that fields do not have.
    pub(crate) fn sources_with_reserved(&self, random: &mut Random) -> Vec<(&'static str, String)> {
        let mut sources = self.sources();
        for (at, fields) in self.messages.iter().enumerate() {
            let unused = NUMBERS.iter().filter(|n| fields.iter().all(|f| f.number != **n));
            let names: Vec<String> = unused
                .filter(|_| random.percent(50))
                .map(|number| match self.syntax {
                    Syntax::Edition => format!("f{number}"),
                    _ => format!("\"f{number}\""),
                })
                .collect();
            if !names.is_empty() {
                let start = format!("message M{at} {{\n");
                let reserved = format!("{start}  reserved {};\n", names.join(", "));
                sources[0].1 = sources[0].1.replace(&start, &reserved);
            }
        }
        sources
    }
}

/// The contract of the sources, with enums as closed as protoc takes them.
pub(crate) fn contract(sources: &[(&'static str, String)]) -> Contract {
    let files: Vec<(&str, &str)> = sources.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let mut contract = Files::new(&files)
        .contract(&everything(["a.proto".to_owned()]))
        .unwrap_or_else(|e| panic!("{:?}\n{}", miette::Report::new(e), sources[0].1));
    // Generated C++ code takes a proto3 enum in a proto2 field for closed. protoc resolves C++'s
    // own feature `legacy_closed_enum` only where it generates C++, so that here it does not.
    let closed: BTreeSet<Name> =
        contract.enums.values().filter(|e| e.closed).map(|e| e.name.clone()).collect();
    for field in
        contract.messages.values_mut().flat_map(|m| &mut std::sync::Arc::make_mut(m).fields)
    {
        field.closed_enum = field.ty.named().is_some_and(|name| closed.contains(name));
    }
    contract
}

fn value_name(number: i32) -> String {
    number.to_string().replace('-', "N")
}

fn packable(kind: Kind) -> bool {
    match kind {
        Kind::Scalar(name) => !matches!(name, "string" | "bytes"),
        Kind::Enum(_) => true,
        _ => false,
    }
}

fn label(random: &mut Random) -> Label {
    match random.below(20) {
        0..=3 => Label::Plain,
        4..=6 => Label::Optional,
        7 => Label::Required,
        8..=12 => Label::Repeated(random.pick(&[None, Some(true), Some(false)])),
        13..=15 => Label::Map(random.pick(&KEYS)),
        n => Label::Oneof(n % 2),
    }
}
