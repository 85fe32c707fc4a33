//! The tree as text.

use std::fmt;

use super::super::RecordRole;
use super::{Inspection, Kernel, KernelForm, Thunk};

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, layer) in self.layers.iter().enumerate() {
            let indent = "  ".repeat(depth);
            writeln!(f, "{indent}{}  {} bytes", layer.container.name(), layer.size)?;
            for (what, version) in &layer.versions {
                writeln!(f, "{indent}    {} {}", plain(what), plain(version))?;
            }
            for (index, record) in layer.records.iter().enumerate() {
                let role = match &record.role {
                    RecordRole::Manifest => "manifest".to_owned(),
                    RecordRole::Merge => "merge".to_owned(),
                    RecordRole::Override(path) => format!("field {}", plain(path)),
                    RecordRole::Unknown => "unknown, passed over".to_owned(),
                };
                writeln!(f, "{indent}    record {index}  {role}  {} bytes", record.size)?;
            }
        }
        if let Some(options) = &self.options {
            write!(f, "compile options  {} bytes", options.size)?;
            if !options.client.is_empty() {
                write!(f, "  client {}", plain(&options.client))?;
            }
            writeln!(f)?;
        }
        write!(f, "module {}", plain(&self.module))?;
        if let Some(target) = &self.target {
            write!(f, "  target {target}")?;
        }
        writeln!(f)?;
        if let Some(hlo) = &self.hlo {
            let instructions: usize = hlo.opcodes.values().sum();
            let opcodes: Vec<String> = hlo
                .opcodes
                .iter()
                .map(|(opcode, count)| format!("{} {count}", plain(opcode)))
                .collect();
            writeln!(f, "  hlo  {} computations, {instructions} instructions", hlo.computations)?;
            writeln!(f, "    {}", opcodes.join(", "))?;
        }
        if self.binary.size > 0 || self.binary.asm_size > 0 {
            let architecture = self.binary.architecture.as_deref().unwrap_or("no architecture");
            let (size, asm) = (self.binary.size, self.binary.asm_size);
            writeln!(f, "  binary  {size} bytes  {architecture}  PTX {asm} bytes")?;
        }
        for (fingerprint, size) in &self.graphs {
            writeln!(f, "  cuDNN graph {}  {size} bytes", plain(fingerprint))?;
        }
        for allocation in &self.allocations {
            write!(f, "  allocation {}  {} bytes", allocation.index, allocation.size)?;
            write!(f, "  {}", allocation.role)?;
            if let Some(parameter) = allocation.parameter {
                write!(f, " {parameter}")?;
            }
            writeln!(f)?;
        }
        for constant in &self.constants {
            let size = match constant.size {
                Some(size) => format!("{size} bytes"),
                None => "in the HLO module".to_owned(),
            };
            let (symbol, allocation) = (plain(&constant.symbol), constant.allocation);
            writeln!(f, "  constant {symbol}  {size}  allocation {allocation}")?;
        }
        write_thunks(f, &self.thunks, 1)?;
        for (target, count) in &self.custom_calls {
            writeln!(f, "  custom call {}  {count}", plain(target))?;
        }
        for field in &self.unknown_fields {
            let (message, number, count) = (&field.message, field.number, field.count);
            writeln!(f, "  unknown field {message} {number}  {count} times")?;
        }
        Ok(())
    }
}

fn write_thunks(f: &mut fmt::Formatter<'_>, thunks: &[Thunk], depth: usize) -> fmt::Result {
    for thunk in thunks {
        write!(f, "{}", "  ".repeat(depth))?;
        if depth > 1 && !thunk.role.is_empty() {
            write!(f, "{}: ", thunk.role)?;
        }
        write!(f, "{}", thunk.kind)?;
        if thunk.id != 0 {
            write!(f, " #{}", thunk.id)?;
        }
        if !thunk.annotation.is_empty() {
            write!(f, "  {}", plain(&thunk.annotation))?;
        }
        if let Some(detail) = &thunk.detail {
            write!(f, "  {}", plain(detail))?;
        }
        if let Some(kernel) = &thunk.kernel {
            write_kernel(f, kernel)?;
        }
        if thunk.host_code {
            write!(f, "  has execution state")?;
        }
        writeln!(f)?;
        write_thunks(f, &thunk.thunks, depth + 1)?;
    }
    Ok(())
}

fn write_kernel(f: &mut fmt::Formatter<'_>, kernel: &Kernel) -> fmt::Result {
    let form = match kernel.form {
        KernelForm::Cubin => "cubin",
        KernelForm::Ptx => "PTX",
        KernelForm::InProcess => return write!(f, "  in-process {}", plain(&kernel.name)),
        KernelForm::None => "no code",
    };
    write!(f, "  {}  {form}", plain(&kernel.name))?;
    if let Some(architecture) = &kernel.architecture {
        write!(f, " {architecture}")?;
    }
    write!(f, " {} bytes", kernel.size)
}

/// Text of the artifact with control characters escaped: it comes from outside.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}
