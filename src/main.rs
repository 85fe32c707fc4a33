//! The `aotgate` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use aotgate::cli::{Cli, Status};
use clap::Parser as _;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(Status::Passed) => ExitCode::SUCCESS,
        Ok(Status::Blocked) => ExitCode::from(1),
        Ok(Status::CouldNotJudge) => ExitCode::from(2),
        Err(report) => {
            aotgate::cli::report_error(&report);
            ExitCode::from(2)
        }
    }
}
