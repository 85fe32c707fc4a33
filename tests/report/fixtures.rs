//! Judgements to render: from two small contracts, and by hand where text must be hostile.

use std::collections::BTreeMap;
use std::sync::Arc;

use aotgate::change::{Change, compare};
use aotgate::descriptor::{
    Contract, ContractSpec, FileTree, Location, ParseCache, RootSpec, SourceClosure,
};
use aotgate::finding::{
    CaseOutcome, Evidence, Finding, GoldenCase, Goldens, Judgement, Level, Satisfaction, Side,
    SideInfo, SourceLocation, Step, TraceStep, Triage, Window,
};
use chrono::NaiveDate;

struct Files(BTreeMap<&'static str, &'static str>);

impl FileTree for Files {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, aotgate::Error> {
        let oid = |text: &&str| git2::Oid::hash_object(git2::ObjectType::Blob, text.as_bytes());
        Ok(self.0.get(path).map(|text| oid(text).unwrap()))
    }

    fn read(&self, path: &str, _blob: git2::Oid) -> Result<Vec<u8>, aotgate::Error> {
        Ok(self.0[path].as_bytes().to_vec())
    }
}

const ROOT: &str = r#"syntax = "proto3";
package xla.gpu;
import "xla/backends/gpu/runtime/thunk.proto";

message GpuExecutableProto {
  ThunkProto thunk = 1;
  string name = 2;
}
"#;

const BASE_THUNK: &str = r#"syntax = "proto3";
package xla.gpu;

message CopyThunkProto {
  int64 source = 1;
  int64 mem_size = 2;
  // Größe: nicht ASCII
  int64 instr_id = 3;
}

enum Mode {
  MODE_UNKNOWN = 0;
  MODE_FAST = 1;
}

enum Kind {
  KIND_NONE = 0;
  KIND_COPY = 1;
  KIND_SLICE = 2;
}

message SliceThunkProto {
  repeated int64 offsets = 1;
  Origin origin = 2;
  message Origin {
    int64 start = 1;
    int64 limit = 2;
  }
}

message ThunkProto {
  oneof impl {
    CopyThunkProto copy_thunk = 1;
    SliceThunkProto slice_thunk = 2;
  }
  Mode mode = 3;
  Kind kind = 6;
}
"#;

const HEAD_THUNK: &str = r#"syntax = "proto3";
package xla.gpu;

message CopyThunkProto {
  int64 source = 1;
  string mem_size = 2;
}

enum Mode {
  MODE_UNKNOWN = 0;
  MODE_FAST = 1;
  MODE_FASTER = 2;
}

enum Kind {
  THUNK_KIND_NONE = 0;
  THUNK_KIND_COPY = 1;
  THUNK_KIND_SLICE = 2;
}

message DynamicSliceThunkProto {
  repeated int64 offsets = 1;
  Origin origin = 2;
  message Origin {
    int64 start = 1;
    int64 limit = 2;
  }
}

message SortThunkProto {
  ThunkProto nested = 1;
}

message ThunkProto {
  oneof impl {
    CopyThunkProto copy_thunk = 1;
    DynamicSliceThunkProto slice_thunk = 2;
    SortThunkProto sort_thunk = 4;
  }
  Mode mode = 3;
  Kind kind = 6;
  optional string note = 5;
}
"#;

pub(crate) fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn contract(thunk: &'static str) -> Contract {
    let files = Files(BTreeMap::from([
        ("xla/service/gpu/gpu_executable.proto", ROOT),
        ("xla/backends/gpu/runtime/thunk.proto", thunk),
    ]));
    let root = RootSpec {
        message: "xla.gpu.GpuExecutableProto".to_owned(),
        files: vec!["xla/service/gpu/gpu_executable.proto".to_owned()],
    };
    let spec = ContractSpec { roots: vec![root], ..ContractSpec::default() };
    let closure = SourceClosure::read(&files, &spec, &mut ParseCache::default()).unwrap();
    closure.contract(&spec).unwrap()
}

pub(crate) fn base_contract() -> Contract {
    contract(BASE_THUNK)
}

pub(crate) fn head_contract() -> Contract {
    contract(HEAD_THUNK)
}

pub(crate) fn side(revision: &str, on: &str, contract: &Contract) -> SideInfo {
    SideInfo {
        revision: revision.to_owned(),
        date: Some(date(on)),
        fingerprint: contract.fingerprint(),
    }
}

pub(crate) fn changes<'a>(base: &'a Contract, head: &'a Contract) -> Vec<Change<'a>> {
    compare(base, head).into_iter().filter(|c| c.reach.any()).collect()
}

fn judgement(base: &Contract, head: &Contract, findings: Vec<Finding>) -> Judgement {
    Judgement {
        base: side("f6a7b8c9d0", "2026-05-30", base),
        head: side("a1b2c3d4e5", "2026-06-01", head),
        subject: Some("Copy thunks: measure memory in words".to_owned()),
        today: date("2026-06-01"),
        policy_source: "built-in:xla-gpu".to_owned(),
        policy_hash: "0123456789abcdef".to_owned(),
        findings,
        goldens: Goldens::default(),
    }
}

/// Fails, with source on both sides. The findings are written here, not judged, so that they stay as
/// they are whatever checks there will be; the places come from the contracts.
pub(crate) fn failing() -> Judgement {
    let (base, head) = (base_contract(), head_contract());
    let changes = changes(&base, &head);
    let new = |construct: &str, level, triage| {
        let change = changes.iter().find(|c| c.construct == construct).unwrap();
        let places = [
            (Side::Head, &head, change.subject.head_place(), &change.after),
            (Side::Base, &base, change.subject.base_place(), &change.before),
        ];
        let locations = places.into_iter().filter_map(|(side, contract, place, label)| {
            Some(SourceLocation {
                side,
                location: contract.locate(place?)?,
                label: label.clone().unwrap_or_else(|| "not here".to_owned()),
                source: contract.file(place?)?.source.clone(),
            })
        });
        Finding {
            before: change.before.clone(),
            after: change.after.clone(),
            locations: locations.collect(),
            ..finding(construct, level, triage)
        }
    };
    let removed = Finding {
        message: "field instr_id = 3 is removed while artifacts of the last 6 months may hold it"
            .to_owned(),
        evidence: vec![Evidence {
            what: "last emitted by CopyThunk::ToProto".to_owned(),
            commit: Some("0badc0ffee".to_owned()),
            date: Some(date("2026-05-20")),
            file: Some("xla/backends/gpu/runtime/copy_thunk.cc".to_owned()),
            line: Some(120),
        }],
        ..new("xla.gpu.CopyThunkProto.instr_id", Level::Error, Triage::BreaksBackward)
    };
    let changed = Finding {
        check: "field-type-changed",
        step: Some(Step::R2),
        earliest_safe: None,
        message: "field mem_size changes its type from int64 to string".to_owned(),
        remedy: "Add a new field with the new type and keep reading the old one.".to_owned(),
        trace: vec![
            TraceStep {
                step: Some(Step::R1),
                answer: "yes".to_owned(),
                because: "reachable from the root message".to_owned(),
            },
            TraceStep {
                step: Some(Step::R2),
                answer: "yes".to_owned(),
                because: "new runtimes, old artifacts: the value is dropped without an error"
                    .to_owned(),
            },
        ],
        ..new("xla.gpu.CopyThunkProto.mem_size", Level::Error, Triage::BreaksBackward)
    };
    let added = Finding {
        check: "field-added",
        step: Some(Step::R4),
        window: Some(Window::Forward),
        earliest_safe: Some(date("2026-06-15")),
        message: "older runtimes do not know the thunk kind sort_thunk".to_owned(),
        remedy: "Keep the emitting code behind a flag that is off.".to_owned(),
        ..new("xla.gpu.ThunkProto.sort_thunk", Level::Warning, Triage::NeedsRollout)
    };
    let value = Finding {
        check: "field-added",
        step: Some(Step::R4),
        window: Some(Window::Forward),
        capped: Some("advisory class compile-options: no promise".to_owned()),
        earliest_safe: Some(date("2026-06-15")),
        message: "older runtimes do not know MODE_FASTER".to_owned(),
        ..new("xla.gpu.Mode.MODE_FASTER", Level::Note, Triage::NeedsRollout)
    };
    let note = Finding {
        check: "field-added",
        step: Some(Step::R6),
        window: None,
        earliest_safe: None,
        message: "older runtimes ignore the field".to_owned(),
        remedy: "Nothing to do.".to_owned(),
        ..new("xla.gpu.ThunkProto.note", Level::Note, Triage::Safe)
    };
    let findings = vec![removed, changed, added, value, note];
    Judgement { goldens: goldens(), ..judgement(&base, &head, findings) }
}

/// One golden of each outcome.
fn goldens() -> Goldens {
    let case = |golden: &str, outcome, reason: Option<&str>| GoldenCase {
        golden: golden.to_owned(),
        outcome,
        reason: reason.map(str::to_owned),
        loses: None,
        execution: Default::default(),
        worst_error: None,
    };
    let lost = "loses xla.gpu.CopyThunkProto.instr_id";
    Goldens {
        viewed: true,
        cases: vec![
            case("jaxlib-0.8.0/add", CaseOutcome::Skipped, Some("outside the backward window")),
            case("jaxlib-0.10.1/add", CaseOutcome::Equal, None),
            case("jaxlib-0.10.1/copies", CaseOutcome::Differ, Some(lost)),
            case("jaxlib-0.10.1/fft", CaseOutcome::Refused, Some("head refuses it")),
        ],
        not_covered: vec!["xla.gpu.Kind.KIND_SLICE".to_owned()],
        outside: 1,
        unreadable: Vec::new(),
        unmodelled: Vec::new(),
    }
}

/// Nothing changed.
pub(crate) fn passing() -> Judgement {
    let contract = base_contract();
    Judgement { subject: None, ..judgement(&contract, &contract, Vec::new()) }
}

/// A finding without sources.
pub(crate) fn finding(construct: &str, level: Level, triage: Triage) -> Finding {
    Finding {
        check: "field-removed",
        step: Some(Step::R3),
        triage,
        level,
        capped: None,
        satisfied_by: None,
        window: Some(Window::Backward),
        surface: "proto",
        wire: None,
        construct: construct.to_owned(),
        before: Some("int64 x = 1".to_owned()),
        after: None,
        message: "field x = 1 is removed while artifacts may hold it".to_owned(),
        remedy: "Keep reading it until 6 months after the last compiler that emits it.".to_owned(),
        earliest_safe: Some(date("2026-12-01")),
        evidence: Vec::new(),
        locations: vec![SourceLocation {
            side: Side::Base,
            location: Location {
                file: "xla/x.proto".into(),
                line: 0,
                column: 0,
                end_line: 0,
                end_column: 0,
            },
            label: "before".to_owned(),
            source: None,
        }],
        trace: vec![TraceStep {
            step: Some(Step::R3),
            answer: "yes".to_owned(),
            because: "a value under an unknown number is dropped".to_owned(),
        }],
    }
}

fn by_hand(findings: Vec<Finding>) -> Judgement {
    Judgement { findings, ..passing() }
}

/// Sixty findings: 15 errors, 15 warnings (one attested, one waived), 30 notes.
pub(crate) fn many() -> Judgement {
    let mut findings = Vec::new();
    for (level, triage, number) in [
        (Level::Error, Triage::BreaksBackward, 15),
        (Level::Warning, Triage::NeedsAttestation, 15),
        (Level::Note, Triage::NeedsRollout, 5),
        (Level::Note, Triage::Safe, 25),
    ] {
        for n in 0..number {
            let construct = format!("xla.gpu.Message{}.{}_{n:02}", n % 4, triage.name());
            findings.push(finding(&construct.replace('-', "_"), level, triage));
        }
    }
    findings[15].satisfied_by = Some(Satisfaction::Attestation {
        reason: "never set outside tests".to_owned(),
        by: "Ada Lovelace".to_owned(),
    });
    findings[16].satisfied_by = Some(Satisfaction::Waiver {
        reason: "one release only".to_owned(),
        by: "Grace Hopper".to_owned(),
        expires: date("2026-07-01"),
    });
    by_hand(findings)
}

/// Text that tries to leave every format it is put into.
pub(crate) const HOSTILE: &str = "\u{1b}[31mred\u{1b}[0m ]]> | `code` *bold* <script>alert(1)</script> \
    @everyone\n::error::fake\r\n| a | b |\u{9b}2J \u{202e}rtl äöü 日本 \u{7} %0A \"q\" 'q' ```";

/// A descriptor set whose names are hostile; no parser of sources would let them through.
pub(crate) fn hostile_contract(message: &str) -> Option<Contract> {
    use prost::Message as _;
    use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};

    let field = FieldDescriptorProto {
        name: Some(HOSTILE.to_owned()),
        number: Some(1),
        label: Some(1),
        r#type: Some(5),
        ..FieldDescriptorProto::default()
    };
    let root = DescriptorProto {
        name: Some(message.to_owned()),
        field: vec![field],
        ..DescriptorProto::default()
    };
    let file = FileDescriptorProto {
        name: Some("hostile\u{1b}[31m.proto".to_owned()),
        message_type: vec![root],
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    };
    let root = RootSpec { message: message.to_owned(), files: Vec::new() };
    let spec = ContractSpec { roots: vec![root], ..ContractSpec::default() };
    SourceClosure::from_file_descriptors([&file.encode_to_vec()[..]]).ok()?.contract(&spec).ok()
}

/// Hostile in every text that a pull request can choose.
pub(crate) fn hostile() -> Judgement {
    let mut bad = finding(HOSTILE, Level::Error, Triage::BreaksBackward);
    for text in [&mut bad.message, &mut bad.remedy, &mut bad.trace[0].because] {
        *text = HOSTILE.to_owned();
    }
    bad.before = Some(HOSTILE.to_owned());
    bad.after = Some(HOSTILE.to_owned());
    bad.capped = Some(HOSTILE.to_owned());
    bad.evidence.push(Evidence {
        what: HOSTILE.to_owned(),
        commit: Some("abc\u{1b}".to_owned()),
        date: Some(date("2026-05-01")),
        file: Some(HOSTILE.to_owned()),
        line: Some(3),
    });
    let source: Arc<str> =
        format!("// first\nint64 x = 1; // {}\n", HOSTILE.replace('\n', " ")).into();
    bad.locations.insert(
        0,
        SourceLocation {
            side: Side::Head,
            location: Location {
                file: "dir,with:odd\u{1b}%name \u{202e}.proto".into(),
                line: 2,
                column: 1,
                end_line: 2,
                end_column: 13,
            },
            label: HOSTILE.to_owned(),
            source: Some(source),
        },
    );
    let mut attested = finding("xla.A.b", Level::Warning, Triage::NeedsAttestation);
    attested.satisfied_by =
        Some(Satisfaction::Attestation { reason: HOSTILE.to_owned(), by: HOSTILE.to_owned() });
    let mut judgement = by_hand(vec![bad, attested]);
    judgement.subject = Some(HOSTILE.to_owned());
    judgement.base.revision = HOSTILE.to_owned();
    judgement.policy_source = HOSTILE.to_owned();
    judgement
}
