//! Writing `golden.toml`.

use std::fmt::Write as _;

use super::manifest::{Manifest, ManifestArray};

impl Manifest {
    /// The manifest as [`Manifest::parse`] reads it, byte-stable.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        let mut put = |arguments: std::fmt::Arguments<'_>| {
            let _ = out.write_fmt(arguments); // writing to a string cannot fail
        };
        put(format_args!("artifact = {}\n", quoted(&self.artifact)));
        put(format_args!("emitted_at = {}\n", self.emitted_at));
        if let Some(note) = &self.note {
            put(format_args!("note = {}\n", quoted(note)));
        }
        if !self.cannot_run.is_empty() {
            put(format_args!("cannot_run = [\n"));
            for part in &self.cannot_run {
                put(format_args!("  {},\n", quoted(part)));
            }
            put(format_args!("]\n"));
        }
        put(format_args!("\n[producer]\nname = {}\n", quoted(&self.producer.name)));
        put(format_args!("version = {}\n", quoted(&self.producer.version)));
        put(format_args!("\n[target]\narchitecture = {}\n", quoted(&self.target.architecture)));
        if let Some(device) = &self.target.device {
            put(format_args!("device = {}\n", quoted(device)));
        }
        put(format_args!("\n[program]\nreplicas = {}\n", self.program.replicas));
        put(format_args!("partitions = {}\n", self.program.partitions));
        arrays(&mut put, "inputs", &self.program.inputs);
        arrays(&mut put, "outputs", &self.program.outputs);
        if !self.program.options.is_empty() {
            put(format_args!("\n[program.options]\n"));
            for (name, value) in &self.program.options {
                put(format_args!("{} = {}\n", key(name), quoted(value)));
            }
        }
        for device in &self.devices {
            put(format_args!("\n[[device]]\n"));
            for (key, name) in [("inputs", &device.inputs), ("expected", &device.expected)] {
                if let Some(name) = name {
                    put(format_args!("{key} = {}\n", quoted(name)));
                }
            }
        }
        out
    }
}

fn arrays(put: &mut impl FnMut(std::fmt::Arguments<'_>), key: &str, arrays: &[ManifestArray]) {
    if arrays.is_empty() {
        return;
    }
    put(format_args!("{key} = [\n"));
    for array in arrays {
        put(format_args!("  {{ shape = \"{}\"", array.shape));
        if array.donated {
            put(format_args!(", donated = true"));
        }
        if let Some(tolerance) = array.tolerance {
            // Debug notation always has a point or an exponent, as a TOML float needs.
            put(format_args!(
                ", relative = {:?}, absolute = {:?}",
                tolerance.relative, tolerance.absolute
            ));
        }
        put(format_args!(" }},\n"));
    }
    put(format_args!("]\n"));
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A key, which unlike a value has to stay on its line.
fn key(name: &str) -> String {
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c)); // writing to a string cannot fail
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
