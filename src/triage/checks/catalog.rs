//! The page of all checks: `policy/CHECKS.md`.

use std::fmt::Write;

use super::{ALL, Check, page};

/// All checks as one Markdown page: a table, then the page of each.
pub fn markdown() -> String {
    let mut text = String::from(
        "# Checks\n\n\
         <!-- Generated from src/triage/checks; `AOTGATE_BLESS=1 cargo test --test checks` rewrites it. -->\n\n\
         The step is the triage question that a check answers. A level of *by triage* means: error for\n\
         `breaks-*`; for `needs-rollout` error where compilers emit the construct, note where they are known\n\
         not to, else warning; warning for `needs-attestation`; note for `safe`. The policy may set the level\n\
         of any check: `[checks]` with `id = \"error\"`, `\"warning\"`, `\"note\"` or `\"off\"`.\n\n\
         | check | step | level | surface | flags |\n|---|---|---|---|---|\n",
    );
    for (check, _) in ALL {
        let page = page(check.id).unwrap_or_default();
        let title = page.lines().next().unwrap_or_default().trim_end_matches('.');
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| [`{id}`](#{id}) | {} | {} | {} | {title} |",
            step(check),
            level(check),
            check.surface.name(),
            id = check.id,
        );
    }
    for (check, _) in ALL {
        let page = page(check.id).unwrap_or_default().replace("\n## ", "\n### ");
        let _ = write!(
            text,
            "\n## {}\n\nStep {}, level {}, surface {}.\n\n{page}\n",
            check.id,
            step(check),
            level(check),
            check.surface.name(),
        );
    }
    text
}

fn step(check: &Check) -> &'static str {
    check.step.map_or("-", crate::finding::Step::name)
}

fn level(check: &Check) -> &'static str {
    check.level.map_or("by triage", crate::finding::Level::name)
}
