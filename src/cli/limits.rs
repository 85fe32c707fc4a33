//! Options that cap what an artifact may ask for.

use std::time::Duration;

use aotgate_runtime::program::Limits;
use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// Bytes of a device's buffers, and again of the values while it computes; K, M and G stand for powers of 1024
    /// [default: 2G].
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_memory: Option<u64>,
    /// Elements that a device computes [default: 10000000000].
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// Iterations of one loop [default: 1000000].
    #[arg(long, value_name = "N")]
    max_iterations: Option<u64>,
    /// Thunks of the program [default: 100000].
    #[arg(long, value_name = "N")]
    max_thunks: Option<usize>,
    /// Bytes that the artifact may have once unpacked [default: 256M].
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(super) max_unpacked: Option<u64>,
    /// How long a device waits for the others at a collective [default: 20].
    #[arg(long, value_name = "SECONDS")]
    rendezvous_timeout: Option<u32>,
    /// How long a device may take [default: 60].
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u32>,
}

impl LimitArgs {
    /// The defaults with what was given.
    pub(super) fn limits(&self) -> Limits {
        let default = Limits::default();
        let seconds = |given: Option<u32>| given.map(|seconds| Duration::from_secs(seconds.into()));
        Limits {
            memory: self.max_memory.unwrap_or(default.memory),
            steps: self.max_steps.unwrap_or(default.steps),
            iterations: self.max_iterations.unwrap_or(default.iterations),
            devices: default.devices,
            thunks: self.max_thunks.unwrap_or(default.thunks),
            rendezvous: seconds(self.rendezvous_timeout).unwrap_or(default.rendezvous),
            time: seconds(self.timeout).unwrap_or(default.time),
        }
    }
}

/// A number of bytes on the command line.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "B" => 1,
        "K" | "k" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1_u64 << 30,
        other => return Err(format!("no unit is called `{other}`; use K, M or G")),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a number such as 512M".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bytes() {
        for (text, value) in
            [("0", 0), ("17", 17), ("4K", 4096), ("2MiB", 2 << 20), ("3G", 3 << 30)]
        {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        for text in ["", "G", "1.5G", "-1", "4T", "1K1", "99999999999G", "é"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
