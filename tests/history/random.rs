//! Random histories: additions, removals, renames, moves, reverts, relands, merges, and commits that do not compile.

use std::collections::{BTreeMap, BTreeSet};

use git2::Oid;

use crate::repository::Project;

/// SplitMix64: a seed repeats it.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    pub(crate) fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }
}

#[derive(Clone, Default)]
struct Type {
    name: String,
    is_enum: bool,
    /// In the file that the root's file imports, or in the root's.
    apart: bool,
    /// Type and name by number.
    slots: BTreeMap<i32, (String, String)>,
    reserved: BTreeSet<i32>,
    reserved_names: BTreeSet<String>,
}

#[derive(Clone, Default)]
struct Model {
    types: Vec<Type>,
    broken: bool,
    comment: usize,
}

impl Model {
    fn start() -> Self {
        let field = |ty: &str, name: &str| (ty.to_owned(), name.to_owned());
        let part = Type {
            name: "Part".into(),
            slots: [(1, field("int32", "size")), (2, field("string", "text"))].into(),
            apart: true,
            ..Type::default()
        };
        let kind = Type {
            name: "Kind".into(),
            is_enum: true,
            slots: [(0, field("", "NONE")), (1, field("", "SOME"))].into(),
            ..Type::default()
        };
        Model { types: vec![part, kind], ..Model::default() }
    }

    fn files(&self) -> BTreeMap<String, String> {
        let mut root = String::from("syntax = \"proto3\";\npackage p;\n");
        let mut other = root.clone();
        root.push_str("import \"b/other.proto\";\n");
        root.push_str(&format!("// {}\nmessage Root {{\n", self.comment));
        for (at, ty) in self.types.iter().enumerate() {
            root.push_str(&format!("  {} of_{} = {};\n", ty.name, ty.name.to_lowercase(), at + 1));
        }
        root.push_str("}\n");
        for ty in &self.types {
            let file = if ty.apart { &mut other } else { &mut root };
            file.push_str(&format!(
                "{} {} {{\n",
                if ty.is_enum { "enum" } else { "message" },
                ty.name
            ));
            for (number, (kind, name)) in &ty.slots {
                // Values share the scope of their enum.
                let name = if ty.is_enum {
                    format!("{}_{name}", ty.name.to_uppercase())
                } else {
                    name.clone()
                };
                file.push_str(&format!("  {kind} {name} = {number};\n"));
            }
            for number in &ty.reserved {
                file.push_str(&format!("  reserved {number};\n"));
            }
            for name in &ty.reserved_names {
                file.push_str(&format!("  reserved \"{name}\";\n"));
            }
            file.push_str("}\n");
        }
        if self.broken {
            root.push_str("message {\n");
        }
        [("a/root.proto".to_owned(), root), ("b/other.proto".to_owned(), other)].into()
    }

    fn edit(&mut self, random: &mut Random) {
        const NAMES: [&str; 6] = ["size", "text", "alpha", "beta", "gamma", "delta"];
        self.broken = random.below(12) == 0;
        let what = random.below(12);
        if what == 0 && self.types.len() < 5 {
            let name = *random.pick(&["Extra", "More", "Other"]);
            if !self.types.iter().any(|t| t.name == name) {
                let slots = [(0, (String::new(), "NONE".to_owned()))];
                let is_enum = random.below(2) == 0;
                self.types.push(Type {
                    name: name.into(),
                    is_enum,
                    slots: if is_enum { slots.into() } else { BTreeMap::new() },
                    ..Type::default()
                });
            }
            return;
        }
        if what == 1 && self.types.len() > 1 {
            let at = random.below(self.types.len());
            self.types.remove(at);
            return;
        }
        if what == 2 {
            self.comment += 1;
            return;
        }
        let taken: Vec<String> = self.types.iter().map(|t| t.name.clone()).collect();
        let at = random.below(self.types.len());
        let ty = &mut self.types[at];
        let number = 1 + i32::try_from(random.below(5)).unwrap();
        let name = (*random.pick(&NAMES)).to_owned();
        match what {
            3 => ty.apart = !ty.apart,
            4 => {
                let new = *random.pick(&["Part", "Piece", "Kind", "Sort"]);
                if !taken.iter().any(|t| t == new) {
                    ty.name = new.to_owned();
                }
            }
            5 | 6 => {
                if let Some((_, old)) = ty.slots.remove(&number)
                    && random.below(2) == 0
                {
                    ty.reserved.insert(number);
                    if !ty.is_enum {
                        ty.reserved_names.insert(old);
                    }
                }
            }
            7 => {
                ty.reserved.pop_first();
                ty.reserved_names.pop_last();
            }
            _ => {
                let used = ty.slots.values().any(|(_, other)| *other == name);
                let kind = *random.pick(&[
                    "int32",
                    "string",
                    "repeated int32",
                    "optional int32",
                    "map<string, int32>",
                ]);
                if !used && !ty.reserved_names.contains(&name) && !ty.reserved.contains(&number) {
                    let kind = if ty.is_enum { "" } else { kind };
                    ty.slots.insert(number, (kind.to_owned(), name));
                }
            }
        }
    }
}

/// A repository, and its first-parent commits, oldest first.
pub(crate) fn history(seed: u64, length: usize) -> (Project, Vec<Oid>, Vec<Oid>) {
    let mut random = Random::new(seed);
    let mut project = Project::new();
    let mut model = Model::start();
    let mut states: Vec<(Oid, Model)> = Vec::new();
    let mut side = Vec::new();
    for count in 0..length {
        let mut message = format!("Change {count}");
        match random.below(8) {
            // What was two or more commits ago is there again.
            0 | 1 if states.len() > 2 => {
                let undone = states.len() - 1 - random.below(2);
                message = format!("Reverts {}", states[undone].0);
                model = states[undone - 1].1.clone();
            }
            _ => model.edit(&mut random),
        }
        let mut parents: Vec<Oid> = states.last().map(|(id, _)| *id).into_iter().collect();
        if let Some((first, old)) = states.last().cloned()
            && random.below(6) == 0
        {
            // A branch of its own, merged or not.
            let mut other = old;
            other.edit(&mut random);
            let branch = project.commit(&other.files(), &[first], "Side");
            side.push(branch);
            if random.below(2) == 0 {
                parents.push(branch);
            }
        }
        let id = project.commit(&model.files(), &parents, &message);
        states.push((id, model.clone()));
    }
    let chain: Vec<Oid> = states.into_iter().map(|(id, _)| id).collect();
    project.head(*chain.last().unwrap());
    (project, chain, side)
}
