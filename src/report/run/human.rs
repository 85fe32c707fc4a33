//! Text for people: one line per output, a second one where it differs.

use super::{Outcome, Report};
use crate::report::human::Style;
use crate::report::output::{difference, largest};
use crate::report::text::{clip, count, line, put};

/// The run as text.
pub fn render(report: &Report<'_>, style: &Style) -> String {
    let mut out = String::new();
    let name = report.program.filter(|name| !name.is_empty()).unwrap_or(report.artifact);
    let devices = count(report.devices.unwrap_or(0), "device");
    put(&mut out, format_args!("{} on {devices}, {} backend\n", clip(name, 80), report.backend));
    if let Some(seed) = report.seed {
        put(&mut out, format_args!("inputs made from seed {seed}\n"));
    }
    let mut device = None;
    for output in report.outputs {
        if report.devices != Some(1) && device != Some(output.device) {
            put(&mut out, format_args!("device {}\n", output.device));
        }
        device = Some(output.device);
        let comparison = output.comparison.as_ref();
        let word = comparison.map_or("", |c| if c.is_equal() { "equal    " } else { "DIFFERS  " });
        let how = comparison.map_or_else(String::new, |comparison| {
            format!("  largest error {} ({})", largest(comparison), comparison.rule)
        });
        let shape = line(&output.shape);
        put(
            &mut out,
            format_args!("  {:>3}  {word}{shape}  {}{how}\n", output.index, output.digest),
        );
        if let Some(comparison) = comparison.filter(|comparison| !comparison.is_equal()) {
            put(&mut out, format_args!("       {}\n", difference(comparison)));
        }
    }
    let compared = report.outputs.iter().filter_map(|output| output.comparison.as_ref());
    let (compared, equal) = compared.fold((0, 0), |(compared, equal), comparison| {
        (compared + 1, equal + usize::from(comparison.is_equal()))
    });
    let outputs = count(compared, "output");
    match report.outcome {
        Outcome::Equal => {
            let word = style.paint("1;32", "EQUAL");
            put(&mut out, format_args!("{word}  {outputs} within tolerance\n"));
        }
        Outcome::Differs => {
            let word = style.paint("1;31", "DIFFERS");
            put(&mut out, format_args!("{word}  {} of {outputs}\n", compared - equal));
        }
        Outcome::Ran => out.push_str("RAN  nothing to compare with\n"),
        Outcome::NotSupported | Outcome::Failed => {}
    }
    out
}
