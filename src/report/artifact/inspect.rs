//! `artifact inspect`: one artifact as a tree, and `aotgate.inspect/1`.

use std::collections::BTreeMap;

use aotgate_runtime::artifact::inspect::{
    Allocation, Hlo, Inspection, Kernel, KernelForm, OptionValue, Options, Output, Thunk,
};
use aotgate_runtime::artifact::{Layer, RecordRole};

use super::tree::{Branch, LONG, draw, fold};
use super::{OfFile, bytes, for_locale};
use crate::report::human::Style;
use crate::report::json::{Layout, to_text};
use crate::report::text::{self, count, put};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.inspect/1";

/// Thunks of one sequence that are shown unless everything is asked for.
const LONG_SEQUENCE: usize = 40;

/// The document.
pub fn json(file: &str, inspection: &Inspection, layout: Layout) -> String {
    to_text(&OfFile { content: inspection, file }, layout)
}

/// The tree.
pub fn render(file: &str, inspection: &Inspection, style: &Style) -> String {
    let mut out = String::new();
    put(&mut out, format_args!("{}\n", style.paint("1", &text::line(file))));
    let mut branches = Vec::new();
    let layers = inspection.layers.iter().map(|l| layer(l, inspection, style)).collect();
    branches.extend(Branch::chain(layers));
    branches.extend(inspection.options.as_ref().map(|o| options(o, style)));
    branches.push(program(inspection, style));
    branches.extend(inspection.hlo.as_ref().map(|hlo| module(hlo, inspection, style)));
    branches.extend(code(inspection, style));
    branches.push(allocations(&inspection.allocations, style));
    branches.extend(constants(inspection, style));
    branches.push(Branch::with(
        &format!("{}{}", count(total(&inspection.thunks), "thunk"), kinds(&inspection.thunks)),
        thunks(&inspection.thunks, false, style),
    ));
    if !inspection.custom_calls.is_empty() {
        let calls: Vec<_> = inspection.custom_calls.iter().collect();
        let label = count(calls.len(), "custom call target");
        let call = |(target, n): &(&String, &usize)| Branch::new(&format!("{target}  {n}"));
        let rest = |left: &[(&String, &usize)]| format!("{} more", left.len());
        branches.push(Branch::with(&label, fold(&calls, LONG, style, call, rest)));
    }
    if !inspection.unknown_fields.is_empty() {
        let fields = fold(
            &inspection.unknown_fields,
            LONG,
            style,
            |f| Branch::new(&format!("{} = {}  {}", f.message, f.number, count(f.count, "time"))),
            |left| format!("{} more", left.len()),
        );
        let label = "fields that the built-in contract does not have";
        branches.push(Branch::with(label, fields));
    }
    draw(&mut out, &branches, style);
    for_locale(out, style)
}

fn layer(layer: &Layer, inspection: &Inspection, style: &Style) -> Branch {
    let mut label = format!("{}  {}", layer.container.name(), bytes(layer.size));
    if !layer.records.is_empty() {
        let records = count(layer.records.len(), "record");
        put(&mut label, format_args!(" in {records}, {} unpacked", layer.message_size));
    }
    // The executable states the same versions, unless it does not.
    let repeated = |entry: &(String, String)| inspection.libraries.contains(entry);
    let versions: Vec<_> = layer
        .versions
        .iter()
        .filter(|entry| style.verbose || !repeated(entry))
        .map(|(what, version)| format!("{what} {version}"))
        .collect();
    if !versions.is_empty() {
        put(&mut label, format_args!("; {}", versions.join(", ")));
    }
    let mut below = Vec::new();
    if style.verbose {
        for (index, record) in layer.records.iter().enumerate() {
            let role = match &record.role {
                RecordRole::Manifest => "manifest".to_owned(),
                RecordRole::Merge => "merge".to_owned(),
                RecordRole::Override(path) => format!("field {path}"),
                RecordRole::Unknown => "unknown, passed over".to_owned(),
            };
            below.push(Branch::new(&format!("record {index}  {role}  {}", bytes(record.size))));
        }
    }
    Branch::with(&label, below)
}

fn options(options: &Options, style: &Style) -> Branch {
    let mut label = format!("compile options  {}", bytes(options.size));
    if !options.client.is_empty() {
        put(&mut label, format_args!(", client {}", options.client));
    }
    let (replicas, partitions) = (options.replicas, options.partitions);
    put(&mut label, format_args!("; replicas {replicas}, partitions {partitions}"));
    let mut below: Vec<_> = values("set by name", &options.overrides, style).into_iter().collect();
    below.extend(values(UNUSUAL, &options.debug_options, style));
    Branch::with(&label, below)
}

const UNUSUAL: &str = "debug options that no known release has by default";

fn values(title: &str, values: &[OptionValue], style: &Style) -> Option<Branch> {
    let below = fold(
        values,
        LONG,
        style,
        |option| Branch::new(&format!("{} = {}", option.name, option.value)),
        |left| format!("{} more", left.len()),
    );
    (!values.is_empty()).then(|| Branch::with(title, below))
}

fn program(inspection: &Inspection, style: &Style) -> Branch {
    let mut label = format!("program  {}", inspection.module);
    if let Some(target) = &inspection.target {
        put(&mut label, format_args!("  target {target}"));
    }
    for (at, (what, version)) in inspection.libraries.iter().enumerate() {
        put(&mut label, format_args!("{} {what} {version}", if at == 0 { ";" } else { "," }));
    }
    let mut below = Vec::new();
    if let Some(program) = &inspection.program {
        let parameters: Vec<_> = program.parameters.iter().enumerate().collect();
        below.extend(fold(
            &parameters,
            LONG,
            style,
            |(index, shape)| Branch::new(&format!("parameter {index}  {shape}")),
            |left| count(left.len(), "more parameter"),
        ));
        let result = program.result.as_deref().unwrap_or("not stated");
        let outputs =
            fold(&inspection.outputs, LONG, style, output, |left| count(left.len(), "more output"));
        below.push(Branch::with(&format!("result  {result}"), outputs));
    }
    Branch::with(&label, below)
}

fn output(output: &Output) -> Branch {
    let index = |index: &[i64]| match index {
        [] => String::new(),
        index => format!("{{{}}}", index.iter().map(i64::to_string).collect::<Vec<_>>().join(",")),
    };
    let mut label = format!("output{} in allocation {}", index(&output.index), output.allocation);
    if output.passthrough {
        label.push_str(", an input handed back");
    }
    if let Some(alias) = &output.alias {
        let how = if alias.must { "must be" } else { "may be" };
        let (parameter, index) = (alias.parameter, index(&alias.index));
        put(&mut label, format_args!(", {how} the buffer of parameter {parameter}{index}"));
    }
    Branch::new(&label)
}

fn module(hlo: &Hlo, inspection: &Inspection, style: &Style) -> Branch {
    let label = format!(
        "HLO module  {}, {}, {}; entry {}; replicas {}, partitions {}",
        count(hlo.computations, "computation"),
        count(hlo.instructions, "instruction"),
        if hlo.scheduled { "scheduled" } else { "not scheduled" },
        hlo.entry,
        hlo.replicas,
        hlo.partitions,
    );
    let mut opcodes: Vec<_> = hlo.opcodes.iter().collect();
    opcodes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let shown = if style.verbose { opcodes.len() } else { 2 * LONG };
    let mut text: Vec<_> =
        opcodes.iter().take(shown).map(|(opcode, n)| format!("{opcode}\u{a0}{n}")).collect();
    if opcodes.len() > shown {
        text.push(format!("{} more", opcodes.len() - shown));
    }
    let mut below = vec![Branch::new(&text.join(", ").replace('\u{a0}', " "))];
    // Those of the compilation are shown already, where there are any.
    let known = inspection.options.as_ref().map(|o| o.debug_options.as_slice()).unwrap_or_default();
    let own: Vec<_> = inspection
        .debug_options
        .iter()
        .filter(|option| style.verbose || !known.contains(option))
        .cloned()
        .collect();
    below.extend(values(UNUSUAL, &own, style));
    Branch::with(&label, below)
}

/// Code that belongs to no thunk.
fn code(inspection: &Inspection, style: &Style) -> Vec<Branch> {
    let mut branches = Vec::new();
    let binary = &inspection.binary;
    if binary.size > 0 || binary.asm_size > 0 {
        let architecture = binary.architecture.as_deref().unwrap_or("no architecture");
        branches.push(Branch::new(&format!(
            "module code  {}, {architecture}; PTX {}",
            bytes(binary.size),
            bytes(binary.asm_size)
        )));
    }
    if !inspection.graphs.is_empty() {
        let graphs: Vec<_> = inspection.graphs.iter().collect();
        let below = fold(
            &graphs,
            LONG,
            style,
            |(fingerprint, size)| Branch::new(&format!("{fingerprint}  {}", bytes(**size))),
            |left| count(left.len(), "more graph"),
        );
        branches.push(Branch::with(&count(graphs.len(), "cuDNN graph"), below));
    }
    branches
}

fn allocations(allocations: &[Allocation], style: &Style) -> Branch {
    let mut roles: BTreeMap<&str, i64> = BTreeMap::new();
    for allocation in allocations {
        let sum = roles.entry(&allocation.role).or_default();
        *sum = sum.saturating_add(allocation.size);
    }
    let roles: Vec<_> = roles.iter().map(|(role, size)| format!("{role} {size}")).collect();
    let label = match roles.as_slice() {
        [] => "no allocations".to_owned(),
        roles => {
            format!("{}  bytes: {}", count(allocations.len(), "allocation"), roles.join("; "))
        }
    };
    let view = |allocation: &Allocation| {
        let Allocation { index, size, role, parameter } = allocation;
        let parameter = parameter.map_or(String::new(), |number| format!(" {number}"));
        Branch::new(&format!("allocation {index}  {size} bytes  {role}{parameter}"))
    };
    let rest = |left: &[Allocation]| count(left.len(), "more allocation");
    Branch::with(&label, fold(allocations, LONG, style, view, rest))
}

fn constants(inspection: &Inspection, style: &Style) -> Option<Branch> {
    let constants = &inspection.constants;
    let size: usize = constants.iter().filter_map(|constant| constant.size).sum();
    let below = fold(
        constants,
        LONG,
        style,
        |constant| {
            let size = constant.size.map_or("in the HLO module".to_owned(), bytes);
            let (symbol, allocation) = (&constant.symbol, constant.allocation);
            let hash = short(constant.sha256.as_deref());
            Branch::new(&format!("{symbol}  {size}{hash}  allocation {allocation}"))
        },
        |left| count(left.len(), "more constant"),
    );
    let label = format!("{}  {}", count(constants.len(), "constant"), bytes(size));
    (!constants.is_empty()).then(|| Branch::with(&label, below))
}

fn short(hash: Option<&str>) -> String {
    hash.and_then(|hash| hash.get(..12)).map_or(String::new(), |hash| format!(", sha256 {hash}"))
}

/// Number of thunks, nested ones included.
fn total(thunks: &[Thunk]) -> usize {
    thunks.iter().map(|thunk| 1 + total(&thunk.thunks)).sum()
}

/// How many there are of each kind, nested ones included, most first.
fn kinds(all: &[Thunk]) -> String {
    fn tally<'a>(thunks: &'a [Thunk], kinds: &mut BTreeMap<&'a str, usize>) {
        for thunk in thunks {
            *kinds.entry(&thunk.kind).or_default() += 1;
            tally(&thunk.thunks, kinds);
        }
    }
    let mut kinds = BTreeMap::new();
    tally(all, &mut kinds);
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let shown = kinds.iter().take(LONG);
    let mut text: Vec<_> = shown.map(|(kind, n)| format!("{kind} {n}")).collect();
    if kinds.len() > LONG {
        text.push(format!("{} more kinds", kinds.len() - LONG));
    }
    if text.is_empty() { String::new() } else { format!(": {}", text.join(", ")) }
}

fn thunks(all: &[Thunk], nested: bool, style: &Style) -> Vec<Branch> {
    fold(
        all,
        LONG_SEQUENCE,
        style,
        |one| thunk(one, nested, style),
        |left| format!("{}{}", count(total(left), "more thunk"), kinds(left)),
    )
}

fn thunk(thunk: &Thunk, nested: bool, style: &Style) -> Branch {
    let mut label = String::new();
    if nested && !thunk.role.is_empty() {
        put(&mut label, format_args!("{}: ", thunk.role));
    }
    label.push_str(&thunk.kind);
    if thunk.id != 0 {
        put(&mut label, format_args!(" #{}", thunk.id));
    }
    for text in [Some(&thunk.annotation), thunk.detail.as_ref()].into_iter().flatten() {
        if !text.is_empty() {
            put(&mut label, format_args!("  {text}"));
        }
    }
    if let Some(kernel) = &thunk.kernel {
        put(&mut label, format_args!("  {}", self::kernel(kernel)));
    }
    if thunk.host_code {
        label.push_str("  has execution state");
    }
    Branch::with(&label, thunks(&thunk.thunks, true, style))
}

fn kernel(kernel: &Kernel) -> String {
    let Kernel { name, form, architecture, size, sha256 } = kernel;
    if *form == KernelForm::InProcess {
        return format!("kernel {name} of the runtime itself");
    }
    let architecture = architecture.as_ref().map_or(String::new(), |name| format!(" {name}"));
    let hash = short(sha256.as_deref());
    format!("kernel {name}, {}{architecture}, {}{hash}", form.name(), bytes(*size))
}
