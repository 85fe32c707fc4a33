//! Windows: pooling, running sums, and the gradient of pooling.

use super::case::{Case, case, check};
use crate::proto::xla::{Window, WindowDimension};

#[test]
fn table() {
    check(&cases());
}

/// A window dimension that does nothing special.
fn plain(size: i64) -> WindowDimension {
    WindowDimension {
        size,
        stride: 1,
        window_dilation: 1,
        base_dilation: 1,
        ..WindowDimension::default()
    }
}

fn window(text: &str, dimensions: &[WindowDimension]) -> Case {
    let window = Window { dimensions: dimensions.to_vec() };
    case(text).with(move |p| p.window = Some(window.clone()))
}

fn sum(text: &str, dimensions: &[WindowDimension]) -> Case {
    window(text, dimensions).combines("add", "s32")
}

pub(super) fn cases() -> Vec<Case> {
    let both = "a s32[] parameter 0\n b s32[] parameter 1\n c s32[] parameter 2\n d s32[] parameter 3\n s s32[] add a c\n m s32[] maximum b d\n r (s32[],s32[]) tuple s m";
    let mut cases = vec![
        sum("reduce-window(s32[4] 1 2 3 4, s32[] 0) = s32[3] 3 5 7", &[plain(2)]),
        sum("reduce-window(s32[4] 1 2 3 4, s32[] 100) = s32[3] 103 105 107", &[plain(2)]),
        sum(
            "reduce-window(s32[5] 1 2 3 4 5, s32[] 0) = s32[2] 3 7",
            &[WindowDimension { stride: 2, ..plain(2) }],
        ),
        sum(
            "reduce-window(s32[3] 1 2 3, s32[] 0) = s32[3] 3 6 5",
            &[WindowDimension { padding_low: 1, padding_high: 1, ..plain(3) }],
        ),
        // A running sum.
        sum(
            "reduce-window(s32[4] 1 2 3 4, s32[] 0) = s32[4] 1 3 6 10",
            &[WindowDimension { padding_low: 3, ..plain(4) }],
        ),
        sum(
            "reduce-window(s32[5] 1 2 3 4 5, s32[] 0) = s32[3] 4 6 8",
            &[WindowDimension { window_dilation: 2, ..plain(2) }],
        ),
        // Base dilation: 1 _ 2 _ 3.
        sum(
            "reduce-window(s32[3] 1 2 3, s32[] 0) = s32[4] 1 2 2 3",
            &[WindowDimension { base_dilation: 2, ..plain(2) }],
        ),
        sum(
            "reduce-window(s32[3] 1 2 3, s32[] 0) = s32[1] 5",
            &[WindowDimension { padding_low: -1, ..plain(2) }],
        ),
        sum("reduce-window(s32[2,2] 1 2 3 4, s32[] 0) = s32[1,2] 4 6", &[plain(2), plain(1)]),
        sum("reduce-window(s32[2] 1 2, s32[] 0) = s32[0]", &[plain(3)]),
        sum(
            "reduce-window(s32[0], s32[] 7) = s32[1] 7",
            &[WindowDimension { padding_low: 1, ..plain(1) }],
        ),
        sum("reduce-window(s32[] 5, s32[] 1) = s32[] 6", &[]),
        window(
            "reduce-window(f32[4] 1 5 nan 2, f32[] -inf) = f32[2] 5 NaN",
            &[WindowDimension { stride: 2, ..plain(2) }],
        )
        .combines("maximum", "f32"),
        window(
            "reduce-window(s32[3] 1 2 3, s32[3] 5 4 6, s32[] 0, s32[] 0) = s32[2] 3 5 & s32[2] 5 6",
            &[plain(2)],
        )
        .calls("both", both),
        sum("reduce-window(s32[4] 1 2 3 4, s32[] 0) = s32[4] 1 2 3 4", &[plain(2)])
            .fails("result is s32[4]{0}, expected dimensions [3]"),
        sum("reduce-window(s32[4] 1 2 3 4, s32[] 0) = s32[4] 1 2 3 4", &[])
            .fails("window.dimensions is 0, expected 1"),
        sum("reduce-window(s32[4] 1 2 3 4, s32[] 0) = s32[4] 1 2 3 4", &[plain(i64::MAX)])
            .fails("result is s32[4]{0}, expected dimensions [0]"),
    ];
    let bad = [
        plain(0),
        plain(-1),
        plain(i64::MIN),
        WindowDimension { stride: 0, ..plain(2) },
        WindowDimension { base_dilation: 0, ..plain(2) },
        WindowDimension { window_dilation: -1, ..plain(2) },
        WindowDimension { window_dilation: i64::MAX, ..plain(3) },
        WindowDimension { base_dilation: i64::MAX, ..plain(3) },
        WindowDimension { padding_low: i64::MAX, ..plain(1) },
    ];
    for dimension in bad {
        let case = sum("reduce-window(s32[4] 1 2 3 4, s32[] 0) = s32[3] 3 5 7", &[dimension]);
        cases.push(case.fails("window.dimensions[0]"));
    }
    cases.extend(select_and_scatter());
    cases
}

fn select_and_scatter() -> Vec<Case> {
    let scatter = |text: &str, dimension: WindowDimension| {
        window(text, &[dimension]).combines("compare.GE", "s32").combines("add", "s32")
    };
    let text = "select-and-scatter(s32[4] 1 5 2 4, s32[2] 10 20, s32[] 0) = s32[4] 0 10 0 20";
    let overlapping = "select-and-scatter(s32[3] 1 5 2, s32[2] 10 20, s32[] 1) = s32[3] 1 31 1";
    let equal = "select-and-scatter(s32[2] 3 3, s32[1] 10, s32[] 0) = s32[2] 10 0";
    let padded = "select-and-scatter(s32[2] 1 -5, s32[2] 10 20, s32[] 0) = s32[2] 10 20";
    vec![
        scatter(text, WindowDimension { stride: 2, ..plain(2) }),
        // Two windows that choose the same element.
        scatter(overlapping, plain(2)),
        // The first of equals, as GE keeps what it has.
        scatter(equal, plain(2)),
        // Padding is never chosen.
        scatter(padded, WindowDimension { stride: 2, padding_low: 1, padding_high: 1, ..plain(2) }),
        scatter("select-and-scatter(s32[0], s32[0], s32[] 0) = s32[0]", plain(1)),
        scatter(
            "select-and-scatter(s32[4] 1 5 2 4, s32[4] 1 2 3 4, s32[] 0) = s32[4] 0 10 0 20",
            plain(2),
        )
        .fails("operand 1 is s32[4]{0}, expected s32[3]{0}"),
    ]
}
