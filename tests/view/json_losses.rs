//! What another reader makes of payloads, and their canonical and translated forms.

use aotgate::change::Pairs;
use aotgate::descriptor::{Contract, ContractSpec, OpaqueSpec, RootSpec};
use aotgate::view::json::{self, Content};
use aotgate::view::{Limits, Loss, LossKind, decode, losses, translate};

use crate::common::Files;
use crate::oracle::{protoc, write};

const ROOT: &str = "xla.gpu.GpuExecutableProto";

/// XLA's messages around payloads, without what does not matter here.
const HLO: &str = r#"
    message Payload { oneof payload_source { int64 id = 1; bytes value = 2; } }
    message OpMetadata { Payload metadata_payload = 1; }
    message HloInstructionProto {
        string name = 1; string opcode = 2; OpMetadata metadata = 7; string fusion_kind = 11;
        string custom_call_target = 28; int64 id = 35; repeated int64 operand_ids = 36;
        repeated int64 called_computation_ids = 38; bytes backend_config = 43;
        bool is_host_transfer = 47; Payload backend_config_payload = 99;
    }
    message HloComputationProto {
        string name = 1; repeated HloInstructionProto instructions = 2; int64 id = 5; int64 root_id = 6;
        bool is_fusion_computation = 7;
    }
    message HloModuleProto { string name = 1; repeated HloComputationProto computations = 3; repeated bytes payloads = 22; }
    message HloModuleProtoWithConfig { HloModuleProto hlo_module = 1; }
    message HostOffloadingExecutableProto { HloModuleProto hlo_module = 1; }
    message WhileLoopBackendConfig { message Trip { int64 n = 1; } Trip known_trip_count = 1; }
    message TriangularSolveOptions { bool lower = 1; }
"#;

fn contract(payloads: &str) -> (Contract, tempfile::TempDir) {
    let hlo = format!("syntax = \"proto3\"; package xla; {HLO}");
    let gpu = format!("syntax = \"proto3\"; package xla.gpu; {payloads}");
    let root = "syntax = \"proto3\"; package xla.gpu; import \"hlo.proto\"; import \"gpu.proto\"; \
        message GpuExecutableProto { HloModuleProtoWithConfig hlo_module_with_config = 1; \
        HostOffloadingExecutableProto host = 2; GpuBackendConfig unused = 3; }";
    let files = Files::new(&[("a.proto", root), ("hlo.proto", &hlo), ("gpu.proto", &gpu)]);
    let opaque = |message: &str, file: &str| OpaqueSpec {
        field: "xla.HloInstructionProto.backend_config".to_owned(),
        message: message.to_owned(),
        file: file.to_owned(),
    };
    let spec = ContractSpec {
        roots: vec![RootSpec { message: ROOT.to_owned(), files: vec!["a.proto".to_owned()] }],
        opaque: vec![
            opaque("xla.gpu.GpuBackendConfig", "gpu.proto"),
            opaque("xla.gpu.Tile", "gpu.proto"),
            opaque("xla.WhileLoopBackendConfig", "hlo.proto"),
            opaque("xla.TriangularSolveOptions", "hlo.proto"),
        ],
        ..ContractSpec::default()
    };
    let dir = write(&[
        ("a.proto", root.to_owned()),
        ("hlo.proto", hlo.clone()),
        ("gpu.proto", gpu.clone()),
    ]);
    (files.contract(&spec).unwrap(), dir)
}

/// Bytes of an executable whose module has this text.
fn executable(dir: &tempfile::TempDir, module: &str) -> Vec<u8> {
    let text = format!("hlo_module_with_config {{ hlo_module {{ {module} }} }}");
    let encoded = protoc(dir.path(), &[&format!("--encode={ROOT}")], text.as_bytes());
    assert!(encoded.parsed, "{}", encoded.stderr);
    encoded.bytes
}

const OLD: &str = "message Sync { bool is_sync = 1; string old_name = 2; int32 size = 3; Mode mode = 4; } \
    message GpuBackendConfig { int64 queue = 1; Sync collective = 2; } \
    enum Mode { NONE = 0; FAST = 1; } message Tile { repeated int64 sizes = 1; }";
const NEW: &str = "message Sync { bool is_sync = 1; string new_name = 2; int32 size = 3; Mode mode = 4; } \
    message GpuBackendConfig { int64 queue = 1; Sync collective = 2; } \
    enum Mode { NONE = 0; SWIFT = 1; } message Tile { repeated int64 sizes = 1; }";

const SYNC: &str = r#"{\"collective\":{\"is_sync\":true,\"old_name\":\"\"}}"#;

fn shown(losses: &[Loss]) -> String {
    losses.iter().map(Loss::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_renamed_key_breaks_loading_only_where_a_collective_has_it() {
    let ((old, dir), (new, _)) = (contract(OLD), contract(NEW));
    let module = format!(
        r#"payloads: "{SYNC}"
        computations {{ id: 1 instructions {{ id: 1 opcode: "add" backend_config: "{SYNC}" }}
            instructions {{ id: 2 opcode: "all-reduce" backend_config: "{SYNC}" }}
            instructions {{ id: 3 opcode: "async-start" called_computation_ids: 2 backend_config_payload {{ id: 0 }} }}
            instructions {{ id: 4 opcode: "async-done" operand_ids: 3 backend_config_payload {{ value: "{SYNC}" }} }}
            instructions {{ id: 5 opcode: "fusion" fusion_kind: "kCustom" called_computation_ids: 3 backend_config: "{SYNC}" }}
            instructions {{ id: 6 opcode: "send" is_host_transfer: true backend_config: "{SYNC}" }}
            instructions {{ id: 7 opcode: "custom-call" custom_call_target: "f" backend_config: "{SYNC}" }} }}
        computations {{ id: 2 root_id: 20 instructions {{ id: 20 opcode: "reduce-scatter" }} }}
        computations {{ id: 3 is_fusion_computation: true
            instructions {{ id: 30 opcode: "all-gather" backend_config: "{SYNC}" }} }}"#
    );
    let bytes = executable(&dir, &module);
    let held = decode(&bytes, &old, ROOT, Limits::default()).unwrap();
    let loaded: Vec<_> =
        json::payloads(&held).into_iter().map(|f| (f.opcode, f.parsed_at_load)).collect();
    assert_eq!(
        loaded,
        [
            ("add", false),
            ("all-reduce", true),
            ("async-start", true),
            ("async-done", true),
            ("fusion", true),
            ("send", false),
            ("custom-call", false),
            ("all-gather", false),
        ]
    );
    insta::assert_snapshot!(shown(&losses(&bytes, &old, &new, ROOT)));
    assert_eq!(losses(&bytes, &old, &old, ROOT), []);
}

#[test]
fn what_reads_differently_is_told_from_what_is_refused() {
    let base = "message Tile {} enum Mode { NONE = 0; FAST = 1; SLOW = 2; } \
        message GpuBackendConfig { int64 queue = 1; optional int32 maybe = 2; Mode mode = 3; string s = 4; bool z = 9; }";
    let (old, dir) = contract(base);
    let text = r#"{\"queue\":\"3\",\"maybe\":0,\"mode\":\"FAST\",\"s\":\"QUJD\",\"z\":false}"#;
    let config = format!(
        r#"computations {{ instructions {{ opcode: "all-reduce" backend_config: "{text}" }} }}"#
    );
    let bytes = executable(&dir, &config);
    let mut all = String::new();
    for (what, change) in [
        ("field added", base.replace("string s = 4;", "string s = 4; int32 t = 5;")),
        ("numbers swapped", base.replace("queue = 1", "queue = 4").replace("s = 4", "s = 1")),
        ("narrowed", base.replace("int64 queue", "int32 queue")),
        ("to float", base.replace("int64 queue", "double queue")),
        ("to text", base.replace("int64 queue", "string queue")),
        ("to list", base.replace("int64 queue", "repeated int64 queue")),
        ("to message", base.replace("int64 queue = 1", "Tile queue = 1")),
        ("presence gone", base.replace("optional int32", "int32")),
        ("presence got", base.replace("bool z", "optional bool z")),
        ("text to bytes", base.replace("string s", "bytes s")),
        ("value renumbered", base.replace("FAST = 1; SLOW = 2", "FAST = 2; SLOW = 1")),
        ("value removed", base.replace("FAST = 1;", "")),
        ("all removed", "message Tile {} message GpuBackendConfig { int64 queue = 1; }".to_owned()),
        ("field removed", base.replace("optional int32 maybe = 2;", "")),
        (
            "into one oneof",
            base.replace(
                "int64 queue = 1; optional int32 maybe = 2;",
                "oneof o { int64 queue = 1; int32 maybe = 2; }",
            ),
        ),
    ] {
        let (new, _) = contract(&change);
        let held = decode(&bytes, &old, ROOT, Limits::default()).unwrap();
        let found = json::payload_losses(&held, &new, &Pairs::new(&old, &new));
        all.push_str(&format!("{what}\n"));
        found.iter().for_each(|loss| all.push_str(&format!("    {loss}\n")));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_instruction_tells_which_message_a_payload_is() {
    let (contract, dir) = contract(OLD);
    let mut shown = String::new();
    for (instruction, fused) in [
        (r#"opcode: "add" backend_config: "{\"queue\":\"1\"}""#, false),
        (r#"opcode: "add" backend_config: "{\"nope\":\"1\"}""#, false),
        (r#"opcode: "add" backend_config: """#, false),
        (r#"opcode: "while" backend_config: "{\"known_trip_count\":{\"n\":\"3\"}}""#, false),
        (r#"opcode: "dot" backend_config: "{\"sizes\":[\"1\"]}""#, true),
        (r#"opcode: "dot" backend_config: "{\"queue\":\"1\"}""#, true),
        (r#"opcode: "dot" backend_config: "{}""#, true),
        (r#"opcode: "dot" backend_config: "{}""#, false),
        (r#"opcode: "dot" backend_config: "{\"sizes\":[\"1\"]}""#, false),
        (
            r#"opcode: "custom-call" custom_call_target: "__cublas$triangularSolve" backend_config: "{\"lower\":true}""#,
            false,
        ),
        (
            r#"opcode: "custom-call" custom_call_target: "__cublas$gemm" backend_config: "{\"lower\":true}""#,
            false,
        ),
        (
            r#"opcode: "custom-call" custom_call_target: "__cub$DeviceRadixSort" backend_config: "{}""#,
            false,
        ),
        (
            r#"opcode: "custom-call" custom_call_target: "mine" backend_config: "{\"lower\":true}""#,
            false,
        ),
        (
            r#"opcode: "custom-call" custom_call_target: "mine" backend_config: "{lower = true}""#,
            false,
        ),
        (r#"opcode: "custom-call" custom_call_target: "mine" backend_config: "\000\377""#, false),
        (
            r#"opcode: "custom-call" custom_call_target: "mine" backend_config: "{\"queue\":1}""#,
            false,
        ),
        (r#"opcode: "custom-call" custom_call_target: "mine" backend_config: " {} ""#, false),
        (
            r#"opcode: "custom-call" custom_call_target: "__gpu$xla.gpu.triton" backend_config: "{}""#,
            false,
        ),
        (r#"opcode: "add" backend_config_payload { id: 7 }"#, false),
        (r#"opcode: "add" backend_config_payload { id: -1 }"#, false),
        (r#"opcode: "add" backend_config: "x" backend_config_payload { value: "{}" }"#, false),
    ] {
        let text = format!(
            "computations {{ is_fusion_computation: {fused} instructions {{ {instruction} }} }}"
        );
        let bytes = executable(&dir, &text);
        let held = decode(&bytes, &contract, ROOT, Limits::default()).unwrap();
        let content: Vec<Content> = json::payloads(&held).into_iter().map(|f| f.content).collect();
        shown.push_str(&format!(
            "{instruction}{}\n    {content:?}\n",
            if fused { " (fused)" } else { "" }
        ));
        assert_eq!(
            losses(&bytes, &contract, &contract, ROOT).len(),
            usize::from(shown.ends_with("REFUSED"))
                + usize::from(content.iter().any(|c| matches!(c, Content::Refused(..)))),
            "{instruction}"
        );
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn spelling_and_sharing_make_no_difference_to_canonical_bytes() {
    let (contract, dir) = contract(OLD);
    let canonical = |module: &str| {
        let bytes = executable(&dir, module);
        let held = decode(&bytes, &contract, ROOT, Limits::default()).unwrap();
        let bytes = json::canonical(&held);
        let again = decode(&bytes, &contract, ROOT, Limits::default()).unwrap();
        assert_eq!(json::canonical(&again), bytes);
        bytes
    };
    let inline = |text: &str| {
        canonical(&format!(
            r#"computations {{ instructions {{ opcode: "add" backend_config: "{text}" }} }}"#
        ))
    };
    let one = inline(r#"{\"queue\":\"1\",\"collective\":{\"is_sync\":true,\"size\":2}}"#);
    assert_eq!(
        one,
        inline(r#" {\"collective\": {\"size\":\"2\", \"isSync\":true},\n \"queue\": 1.0 }"#)
    );
    assert_ne!(one, inline(r#"{\"queue\":\"2\",\"collective\":{\"is_sync\":true,\"size\":2}}"#));
    assert_ne!(one, inline("{}"));
    // What is no message stays.
    assert_ne!(inline("{\\\"a\\\":1}"), inline("{\\\"a\\\": 1}"));

    let shared = |payloads: &str, ids: [u32; 3]| {
        let [a, b, metadata] = ids;
        canonical(&format!(
            r#"{payloads} computations {{
                instructions {{ opcode: "add" backend_config_payload {{ id: {a} }} }}
                instructions {{ opcode: "add" backend_config_payload {{ id: {b} }}
                    metadata {{ metadata_payload {{ id: {metadata} }} }} }} }}"#
        ))
    };
    let plain = shared(r#"payloads: "{}" payloads: "meta""#, [0, 0, 1]);
    assert_eq!(plain, shared(r#"payloads: "meta" payloads: "{ }" payloads: "{}""#, [1, 2, 0]));
    assert_eq!(plain, shared(r#"payloads: "{}" payloads: "unused" payloads: "meta""#, [0, 0, 2]));
    assert_ne!(plain, shared(r#"payloads: "{}" payloads: "other""#, [0, 0, 1]));
    assert_ne!(plain, shared(r#"payloads: "{}" payloads: "meta""#, [0, 7, 1]));
}

#[test]
fn translation_carries_renamed_keys_over() {
    let ((old, dir), (new, new_dir)) = (contract(OLD), contract(NEW));
    let text = r#"{\"collective\":{\"old_name\":\"x\",\"mode\":\"FAST\"}}"#;
    let module = format!(
        r#"payloads: "unused" payloads: "{text}" computations {{ instructions {{ opcode: "all-reduce" backend_config_payload {{ id: 1 }} }} }}"#
    );
    let bytes = executable(&dir, &module);
    let held = decode(&bytes, &old, ROOT, Limits::default()).unwrap();
    let (translated, lost) = translate(&held, &new, &Pairs::new(&old, &new));
    insta::assert_snapshot!(format!(
        "{}{}",
        protoc(new_dir.path(), &[&format!("--decode={ROOT}")], &translated).text,
        shown(&lost)
    ));
    assert!(lost.iter().all(|loss| loss.kind != LossKind::Refused));
}

/// Readers since 2026-04-13 remove an empty list that was always written.
#[test]
fn a_key_that_loaders_take_out_is_not_refused() {
    let with = format!("{OLD} ").replace(
        "int64 queue = 1;",
        "int64 queue = 1; repeated int64 wait_on_operation_queues = 9;",
    );
    let ((old, dir), (new, _)) = (contract(&with), contract(OLD));
    let judge = |text: &str| {
        let config = format!(
            r#"computations {{ instructions {{ opcode: "all-reduce" backend_config: "{text}" }} }}"#
        );
        losses(&executable(&dir, &config), &old, &new, ROOT)
    };
    assert_eq!(judge(r#"{\"wait_on_operation_queues\" : [ ], \"queue\":\"1\"}"#), []);
    assert_eq!(judge(r#"{\"wait_on_operation_queues\":[\"1\"], \"queue\":\"1\"}"#).len(), 1);
    // The pattern has the comma after it.
    assert_eq!(judge(r#"{\"queue\":\"1\",\"wait_on_operation_queues\":[]}"#).len(), 1);
}

#[test]
fn modules_of_the_host_have_the_other_backends_message() {
    let (contract, dir) = contract(OLD);
    let text = r#"host { hlo_module { computations { instructions { opcode: "all-reduce" backend_config: "{}" } } } }"#;
    let bytes = protoc(dir.path(), &[&format!("--encode={ROOT}")], text.as_bytes()).bytes;
    let held = decode(&bytes, &contract, ROOT, Limits::default()).unwrap();
    let found = json::payloads(&held);
    assert_eq!(found[0].content, Content::NotModelled("xla.cpu.BackendConfig"));
    assert_eq!(found[0].path, "host.hlo_module.computations[0].instructions[0].backend_config");
    assert!(!found[0].parsed_at_load);
}

/// A large text that many instructions share, and short text that stands for much.
#[test]
fn hostile_payloads_cost_no_more_than_their_bytes() {
    let ((old, dir), (new, _)) = (
        contract(
            "message Tile {} message N { string a = 1; string b = 2; } message GpuBackendConfig { repeated N list = 1; }",
        ),
        contract(
            "message Tile {} message N { string a = 1; } message GpuBackendConfig { repeated N list = 1; }",
        ),
    );
    let nulls = format!(r#"{{\"list\":[{}null]}}"#, "null,".repeat(1 << 16));
    let named = format!(r#"{{\"list\":[{}{{}}]}}"#, r#"{\"b\":\"\"},"#.repeat(1 << 14));
    for text in [nulls, named] {
        let many = r#"instructions { opcode: "all-reduce" backend_config_payload { id: 0 } }"#
            .repeat(20_000);
        let bytes = executable(&dir, &format!(r#"payloads: "{text}" computations {{ {many} }}"#));
        let held = decode(&bytes, &old, ROOT, Limits::default()).unwrap();
        assert_eq!(json::payloads(&held).len(), 20_000);
        assert!(json::payload_losses(&held, &new, &Pairs::new(&old, &new)).len() < 30);
        assert!(json::canonical(&held).len() < 20 << 20);
        let (translated, lost) = translate(&held, &new, &Pairs::new(&old, &new));
        assert!(translated.len() < 20 << 20 && lost.len() < 30);
    }
}
