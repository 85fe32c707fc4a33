//! What a person sees when sources cannot be read, and that odd input neither panics nor hangs.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod common;

use std::fmt::Write as _;

use aotgate::Error;
use aotgate::descriptor::{Contract, ContractSpec, RootSpec, SourceClosure};
use common::Files;
use prost::Message as _;

fn spec() -> ContractSpec {
    ContractSpec {
        roots: vec![RootSpec { message: "p.Root".into(), files: vec!["a.proto".into()] }],
        ..ContractSpec::default()
    }
}

fn read(files: &[(&str, &str)]) -> Result<Contract, Error> {
    Files::new(files).contract(&spec())
}

fn bytes(content: Vec<u8>) -> Result<Contract, Error> {
    let mut files = Files::default();
    files.0.insert("a.proto".into(), content);
    files.contract(&spec())
}

fn rendered(error: &dyn miette::Diagnostic) -> String {
    let mut text = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none())
        .with_width(100)
        .render_report(&mut text, error)
        .unwrap();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Asserts on the whole report.
#[track_caller]
fn shows(result: Result<Contract, Error>, expected: &str) {
    let text = rendered(&result.unwrap_err());
    let expected = expected.trim();
    assert_eq!(text, expected, "\n--- got\n{text}\n--- expected\n{expected}\n");
}

#[track_caller]
fn says(result: Result<Contract, Error>, expected: &str) {
    assert_eq!(result.unwrap_err().to_string(), expected);
}

const HEAD: &str = "syntax = \"proto3\";\npackage p;\n";

fn proto(body: &str) -> String {
    format!("{HEAD}{body}\n")
}

#[test]
fn import_not_found() {
    let spec = ContractSpec {
        include: vec![String::new(), "third_party/tsl".into()],
        prefixes: vec!["xla".into()],
        ..spec()
    };
    let files = Files::new(&[("xla/a.proto", &proto("import \"b/gone.proto\";\nmessage Root {}"))]);
    shows(
        files.contract(&spec),
        r#"
aotgate::import_not_found

  x xla/a.proto:3: import 'b/gone.proto' not found
   ,-[xla/a.proto:3:1]
 2 | package p;
 3 | import "b/gone.proto";
   : ^^^^^^^^^^^|^^^^^^^^^^
   :            `-- imported here
 4 | message Root {}
   `----
  help: looked for xla/b/gone.proto, xla/third_party/tsl/b/gone.proto; add the directory to
        `contract.include` in the policy, or fix the import
"#,
    );
}

#[test]
fn syntax_error() {
    shows(
        read(&[("a.proto", &proto("message Root {\n  int32 x = ;\n}"))]),
        r#"
aotgate::syntax

  x a.proto:4: expected an integer, but found ';'
   ,-[a.proto:4:13]
 3 | message Root {
 4 |   int32 x = ;
   :             |
   :             `-- found here
 5 | }
   `----
"#,
    );
}

#[test]
fn syntax_error_in_an_edition_file_shows_the_text_as_written() {
    let text = "edition=\"2023\";package p;\nmessage Root {\n  string t = 1 [default = \"x\"] int32 y = 2;\n}\n";
    shows(
        read(&[("a.proto", text)]),
        r#"
aotgate::syntax

  x a.proto:3: expected ';', but found 'int32'
   ,-[a.proto:3:32]
 2 | message Root {
 3 |   string t = 1 [default = "x"] int32 y = 2;
   :                                ^^|^^
   :                                  `-- found here
 4 | }
   `----
"#,
    );
}

#[test]
fn unknown_type() {
    shows(
        read(&[("a.proto", &proto("message Root {\n  Gone x = 1;\n}"))]),
        r#"
x a.proto:4: name 'Gone' is not defined
   ,-[a.proto:4:3]
 3 | message Root {
 4 |   Gone x = 1;
   :   ^^|^
   :     `-- found here
 5 | }
   `----
"#,
    );
}

#[test]
fn type_of_a_file_that_is_not_imported() {
    let files = [
        ("a.proto", proto("import \"b.proto\";\nmessage Root { B b = 1; C c = 2; }")),
        ("b.proto", proto("import \"c.proto\";\nmessage B { C c = 1; }")),
        ("c.proto", proto("message C {}")),
    ];
    let files: Vec<_> = files.iter().map(|(n, c)| (*n, c.as_str())).collect();
    shows(
        read(&files),
        r#"
x a.proto:4: name 'p.C' is not defined
   ,-[a.proto:4:25]
 3 | import "b.proto";
 4 | message Root { B b = 1; C c = 2; }
   :                         |
   :                         `-- found here
   `----
  help: 'p.C' is defined in 'c.proto', which is not imported by 'a.proto'
"#,
    );
}

#[test]
fn duplicate_number() {
    let body = "message Root {\n  int32 x = 1;\n  int32 y = 1;\n}";
    shows(
        read(&[("a.proto", &proto(body))]),
        r#"
x a.proto:5: field number '1' is already used
   ,-[a.proto:4:13]
 3 | message Root {
 4 |   int32 x = 1;
   :             |
   :             `-- first defined here
 5 |   int32 y = 1;
   :             |
   :             `-- defined again here
 6 | }
   `----
"#,
    );
}

#[test]
fn number_in_a_reserved_range() {
    let body = "message Root {\n  reserved 2 to 4;\n  int32 y = 3;\n}";
    shows(
        read(&[("a.proto", &proto(body))]),
        r#"
x a.proto:5: field number '3' conflicts with reserved range '2 to 4'
   ,-[a.proto:4:12]
 3 | message Root {
 4 |   reserved 2 to 4;
   :            ^^^|^^
   :               `-- reserved range defined here
 5 |   int32 y = 3;
   :             |
   :             `-- defined here
 6 | }
   `----
"#,
    );
}

#[test]
fn not_utf8() {
    let mut content = proto("message Root {}\n// ").into_bytes();
    content.extend_from_slice(b"\xff\xfe\n");
    shows(
        bytes(content),
        r#"
aotgate::not_utf8

  x a.proto:5: not UTF-8 text
  help: save the file as UTF-8
"#,
    );
}

#[test]
fn too_large() {
    shows(
        bytes(vec![b' '; 3 << 20]),
        r#"
aotgate::file_too_large

  x a.proto has 3145728 bytes; files over 1048576 bytes are not read
  help: no hand-written source and no golden has this size; check what was committed
"#,
    );
}

#[test]
fn later_edition() {
    shows(
        read(&[("a.proto", "// c\nedition = \"2024\";\npackage p;\n")]),
        r#"
aotgate::edition

  x a.proto:2: edition "2024" is not supported
  help: aotgate reads proto2, proto3 and edition 2023; write the declaration in one of those, or
        pass a descriptor set made by protoc
"#,
    );
}

#[test]
fn feature_values() {
    let with = |line: &str| {
        read(&[(
            "a.proto",
            &format!(
                "edition = \"2023\";\npackage p;\nmessage Root {{\n  int32 a = 1;\n  {line}\n}}\n"
            ),
        )])
    };
    shows(
        with("int32 x = 2 [features.field_presence = SOMETIMES];"),
        r#"
aotgate::edition

  x a.proto:5: field_presence = SOMETIMES is not supported
  help: aotgate reads proto2, proto3 and edition 2023; write the declaration in one of those, or
        pass a descriptor set made by protoc
"#,
    );
    says(
        with("int32 x = 2 [features = { field_presence }];"),
        "a.proto:5: features = { field_presence } is not supported",
    );
    says(
        with("int32 x = 2 [features.field_presence = ];"),
        "a.proto:5: expected a constant, but found ']'",
    );
    says(
        with("int32 x = 2 [default = \"text\"];"),
        "a.proto:5: default = \"text\" is not supported",
    );
    says(with("int32 x = 2 [features.shiny = ON];"), "a.proto:5: shiny = ON is not supported");
}

#[test]
fn import_cycle() {
    let files = [
        ("a.proto", proto("import \"b.proto\";\nmessage Root { B b = 1; }")),
        ("b.proto", proto("import public \"c.proto\";\nmessage B {}")),
        ("c.proto", proto("import public \"b.proto\";\nmessage C {}")),
    ];
    let files: Vec<_> = files.iter().map(|(n, c)| (*n, c.as_str())).collect();
    shows(
        read(&files),
        r#"
aotgate::import_cycle

  x c.proto:3: import cycle: b.proto -> c.proto -> b.proto
   ,-[c.proto:3:1]
 2 | package p;
 3 | import public "b.proto";
   : ^^^^^^^^^^^^|^^^^^^^^^^^
   :             `-- closes the cycle
 4 | message C {}
   `----
  help: protobuf does not allow cycles; move what both files need into a third one
"#,
    );
    says(
        read(&[("a.proto", &proto("import \"a.proto\";"))]),
        "a.proto:3: import cycle: a.proto -> a.proto",
    );
}

/// Runs on a small stack, as worker threads have.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_nesting() {
    on_a_small_stack(|| {
        let nested = |open: &str, close: &str, n: usize| open.repeat(n) + &close.repeat(n);
        for body in [
            nested("message M {", "}", 1_000),
            nested("message M {", "}", 50_000),
            format!("message Root {{ {} }}", nested("message M {", "}", 1_000)),
            format!("message Root {{ oneof o {{ {} }} }}", nested("oneof o {", "}", 1_000)),
            format!("message Root {{ int32 x = 1 [(o) = {}]; }}", nested("{ a ", "}", 100_000)),
            format!("message Root {{ int32 x = 1 {}; }}", nested("[", "]", 100_000)),
            format!("message Root {{ map{}string> x = 1; }}", "<".repeat(100_000)),
            nested("(", ")", 100_000),
            format!("option (o) = {{ a: {} }};", nested("[", "]", 100_000)),
            nested("/*", "*/", 100_000),
            format!("message Root {{ {} }}", nested("optional group G = 1 {", "}", 1_000)),
        ] {
            for head in [HEAD, "edition = \"2023\";\npackage p;\n", "package p;\n"] {
                if let Err(error) = read(&[("a.proto", &format!("{head}{body}\n"))]) {
                    assert!(error.to_string().starts_with("a.proto:"), "{error}");
                }
            }
        }
        // A recursive custom option.
        let option = format!("option (o) = {};\n", "{ a ".repeat(20_000) + &"}".repeat(20_000));
        let text =
            "syntax = \"proto2\";\npackage p;\nimport \"google/protobuf/descriptor.proto\";\n\
             message Root { optional Root a = 1; }\n\
             extend google.protobuf.FileOptions { optional Root o = 50000; }\n"
                .to_owned()
                + &option;
        assert_eq!(read(&[("a.proto", &text)]).unwrap().roots.len(), 1);
    });
}

#[test]
fn deep_descriptors() {
    on_a_small_stack(|| {
        let mut message = Vec::new();
        for _ in 0..1_000 {
            let mut outer = vec![0x0a, 1, b'M'];
            prost::encoding::bytes::encode(3, &message, &mut outer);
            message = outer;
        }
        let mut file = vec![0x0a, 7];
        file.extend_from_slice(b"a.proto");
        prost::encoding::bytes::encode(4, &message, &mut file);
        let mut set = Vec::new();
        prost::encoding::bytes::encode(1, &file, &mut set);
        let error = SourceClosure::from_descriptor_set(&set).unwrap_err();
        assert!(error.to_string().starts_with("not a descriptor set: "), "{error}");
    });
}

#[test]
fn long_import_chain() {
    const FILES: usize = 10_000;
    for public in ["", "public "] {
        // Public imports along the whole chain would make every file visible to every other one.
        let public_until = if public.is_empty() { 0 } else { 100 };
        on_a_small_stack(move || {
            let mut files = Files::default();
            for n in 0..FILES {
                let name = if n == 0 { "a.proto".to_owned() } else { format!("f{n}.proto") };
                let mut text = HEAD.to_owned();
                if n + 1 < FILES {
                    let public = if n < public_until { public } else { "" };
                    writeln!(text, "import {public}\"f{}.proto\";", n + 1).unwrap();
                }
                let message = if n == 0 { "Root".to_owned() } else { format!("M{n}") };
                let next = if n + 1 < FILES { format!("M{} m = 1;", n + 1) } else { String::new() };
                writeln!(text, "message {message} {{ {next} }}").unwrap();
                files.0.insert(name, text.into_bytes());
            }
            let contract = files.contract(&spec()).unwrap();
            assert_eq!(contract.messages.values().filter(|m| m.reach.wire).count(), FILES);
        });
    }
}

#[test]
fn layered_public_imports_do_not_explode() {
    let mut files = Files::default();
    let layers = 40;
    for layer in 0..layers {
        for side in ["l", "r"] {
            let mut text = HEAD.to_owned();
            if layer + 1 < layers {
                let next = layer + 1;
                writeln!(text, "import public \"l{next}.proto\"; import public \"r{next}.proto\";")
                    .unwrap();
            }
            writeln!(text, "message M{side}{layer} {{}}").unwrap();
            files.0.insert(format!("{side}{layer}.proto"), text.into_bytes());
        }
    }
    let root = proto("import \"l0.proto\"; message Root { Mr39 m = 1; }");
    files.0.insert("a.proto".into(), root.into_bytes());
    assert_eq!(files.contract(&spec()).unwrap().files.len(), 2 * layers);
}

#[test]
fn line_ends_and_marks() {
    let unix = proto("message Root {\n  int32 x = 1; // é\n  string y = 2;\n}");
    let plain = read(&[("a.proto", &unix)]).unwrap();
    for text in [
        unix.replace('\n', "\r\n"),
        format!("\u{feff}{unix}"),
        format!("\u{feff}{}", unix.replace('\n', "\r\n")),
    ] {
        let contract = read(&[("a.proto", &text)]).unwrap();
        assert_eq!(contract.fingerprint(), plain.fingerprint());
        let field = &contract.message("p.Root").unwrap().fields[1];
        let location = contract.locate(&field.place).unwrap();
        assert_eq!((location.line, location.column), (5, 3), "{text:?}");
    }
}

#[test]
fn odd_content() {
    says(read(&[("a.proto", &proto("message Root {\0}"))]), "a.proto:3: invalid token");
    assert!(read(&[("a.proto", "")]).unwrap().roots.is_empty());
    assert!(read(&[("a.proto", "\n\n// nothing\n")]).unwrap().roots.is_empty());
    assert!(read(&[("a.proto", "\u{feff}")]).unwrap().roots.is_empty());
    for text in [
        "edition",
        "edition =",
        "edition = ;",
        "syntax",
        "syntax = \"proto4\";",
        "\\",
        "\"",
        "'",
        "/*",
        "//",
        "é",
    ] {
        if let Err(error) = read(&[("a.proto", text)]) {
            assert!(error.to_string().starts_with("a.proto:"), "{text}: {error}");
        }
    }
    // Every prefix of a file, and every file with one byte changed.
    let whole = include_bytes!("data/parity/edition.proto");
    for at in (0..whole.len()).step_by(7) {
        let _ = bytes(whole[..at].to_vec());
        let mut changed = whole.to_vec();
        changed[at] = b"{}[]\"';=.0\n/*<\0"[at % 15];
        let _ = bytes(changed);
    }
}

#[test]
fn names_that_clash() {
    let files = [
        ("a.proto", proto("import \"b.proto\";\nmessage Root {}")),
        ("b.proto", proto("message Root {}")),
    ];
    let files: Vec<_> = files.iter().map(|(n, c)| (*n, c.as_str())).collect();
    let error = read(&files).unwrap_err();
    assert_eq!(error.to_string(), "b.proto:3: name 'p.Root' is already defined in file 'a.proto'");
}

#[test]
fn large_hostile_files_end() {
    // Sizes at which quadratic time would not be noticed are no test; unoptimized code is slow.
    let size = if cfg!(debug_assertions) { 200_000 } else { (1 << 20) - 2_000 };
    let fill = |head: &str, unit: &dyn Fn(usize) -> String, tail: &str| {
        let mut text = head.to_owned();
        for n in 1.. {
            let unit = unit(n);
            if text.len() + unit.len() > size {
                break;
            }
            text.push_str(&unit);
        }
        text + tail
    };
    let edition = "edition = \"2023\";\npackage p;\nmessage Root {\n";
    for text in [
        fill(edition, &|n| format!("reserved r{n};\n"), "}\n"),
        fill(edition, &|n| format!("message M{n} {{ reserved a; }}\n"), "}\n"),
        fill(edition, &|n| format!("int32 f{n}={n}[default={n}];\n"), "}\n"),
        fill(edition, &|n| format!("int32 f{n}={n};\n"), "}\n"),
        fill(edition, &|_| "[default ".to_owned(), "}\n"),
        fill(edition, &|_| "reserved a,".to_owned(), "}\n"),
        fill(edition, &|n| format!("reserved {n}; int32 f{n}={};\n", n + 200_000), "}\n"),
        fill(HEAD, &|n| format!("message M{n} {{ }} message N{n} {{ M{n} m=1; }}\n"), "\n"),
        fill(
            &format!("{HEAD}message Root {{\n"),
            &|n| format!("map<int32,int32> m{n}={n};\n"),
            "}\n",
        ),
        fill(
            &format!("{HEAD}message Root {{\n"),
            &|n| format!("optional int32 m{n}={n};\n"),
            "}\n",
        ),
        fill(
            &format!("{HEAD}enum Root {{ Z=0;\n"),
            &|n| format!("A{n}={n}; reserved -{n};\n"),
            "}\n",
        ),
        fill(HEAD, &|n| format!("import \"google/protobuf/any{n}.proto\";\n"), "\n"),
        fill(HEAD, &|_| "{".to_owned(), "}\n"),
        fill(HEAD, &|_| "/*".to_owned(), "}\n"),
    ] {
        let start = std::time::Instant::now();
        let sample = text[60..90].to_owned();
        let _ = bytes(text.into_bytes());
        println!("{:?} {sample:?}", start.elapsed());
    }
}

#[test]
fn hostile_descriptor_sets() {
    use prost_types::{FileDescriptorProto, FileDescriptorSet};
    let file = |name: &str, imports: &[&str]| FileDescriptorProto {
        name: Some(name.into()),
        dependency: imports.iter().map(|i| (*i).to_owned()).collect(),
        public_dependency: vec![0, 7, -1],
        weak_dependency: vec![3],
        ..Default::default()
    };
    let set = |files: Vec<FileDescriptorProto>| FileDescriptorSet { file: files }.encode_to_vec();
    let contract = |bytes: &[u8]| SourceClosure::from_descriptor_set(bytes)?.contract(&spec());
    says(
        contract(&set(vec![file("a.proto", &["b.proto"]), file("b.proto", &["a.proto"])])),
        "b.proto:0: import cycle: a.proto -> b.proto -> a.proto",
    );
    assert!(contract(&set(vec![file("a.proto", &["gone.proto"])])).is_ok());
    says(contract(b""), "not a descriptor set: it holds no file");
    assert!(contract(b"\x0a\xff").is_err());
    assert!(contract(b"\x0a\x00").is_ok());
    assert!(contract(b"syntax = \"proto3\";").is_err());
    let whole = include_bytes!("data/released/0.10.0.fds");
    for at in (0..whole.len()).step_by(997) {
        let _ = contract(&whole[..at]);
    }
}
