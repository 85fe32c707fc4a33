//! Arithmetic of floats.

use super::case::{Case, case, check};

#[test]
fn table() {
    check(&cases());
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = arithmetic();
    cases.extend(rounding());
    cases.extend(functions());
    cases
}

fn arithmetic() -> Vec<Case> {
    vec![
        case("add(f32[4] 1 inf inf nan, f32[4] 2 1 -inf 1) = f32[4] 3 inf NaN NaN"),
        case("add(f64[1] 0.1, f64[1] 0.2) = f64[1] 0.30000000000000004"),
        case("subtract(f32[3] 1 0 -0, f32[3] 2 0 0) = f32[3] -1 0 -0"),
        case("multiply(f32[3] 3e38 0 -0, f32[3] 10 inf 5) = f32[3] inf NaN -0"),
        case(
            "divide(f32[6] 1 -1 0 1 6 inf, f32[6] 0 0 0 -0 4 inf) = f32[6] inf -inf NaN -inf 1.5 NaN",
        ),
        // The remainder has the sign of the dividend.
        case("remainder(f32[4] 5.5 -5.5 5.5 -5.5, f32[4] 2 2 -2 -2) = f32[4] 1.5 -1.5 1.5 -1.5"),
        case("remainder(f32[5] 1 inf 3 -0 nan, f32[5] 0 1 inf 1 1) = f32[5] NaN NaN 3 -0 NaN"),
        // A NaN wins, and +0 is above -0.
        case(
            "maximum(f32[6] nan 1 -0 0 -inf 2, f32[6] 1 nan 0 -0 inf 1) = f32[6] NaN NaN 0 0 inf 2",
        ),
        case(
            "minimum(f32[6] nan 1 -0 0 -inf 2, f32[6] 1 nan 0 -0 inf 1) = f32[6] NaN NaN -0 -0 -inf 1",
        ),
        case("maximum(bf16[2] nan -0, bf16[2] 1 0) = bf16[2] NaN 0"),
        case("minimum(f64[2] nan -0, f64[2] 1 0) = f64[2] NaN -0"),
        case(
            "power(f32[7] 2 0 -8 0 -2 1 nan, f32[7] 0.5 0 0.33333 -1 3 nan 0) = f32[7] 1.4142135 1 NaN inf -8 1 1",
        ),
        case("power(f64[2] 10 4, f64[2] 2 -0.5) = f64[2] 100 0.5"),
        case(
            "atan2(f32[6] 0 -0 1 0 0 -1, f32[6] -1 -1 0 0 -0 -1) = f32[6] 3.1415927 -3.1415927 1.5707964 0 3.1415927 -2.3561945",
        ),
        case("abs(f32[4] -1 -0 -inf nan) = f32[4] 1 0 inf NaN"),
        case("negate(f32[3] 1 0 -inf) = f32[3] -1 -0 inf"),
        case("sign(f32[6] nan -0 0 -3 inf 0.5) = f32[6] NaN -0 0 -1 1 1"),
        case("sign(bf16[3] -0 -3 nan) = bf16[3] -0 -1 NaN"),
        case("ceil(f32[4] 1.2 -1.2 -0.5 nan) = f32[4] 2 -1 -0 NaN"),
        case("floor(f32[4] 1.2 -1.2 -0.5 inf) = f32[4] 1 -2 -1 inf"),
        case(
            "round-nearest-afz(f32[7] 0.5 -0.5 1.5 2.5 -2.5 0.49999997 8388609) = f32[7] 1 -1 2 3 -3 0 8388609",
        ),
        case(
            "round-nearest-even(f32[7] 0.5 -0.5 1.5 2.5 -2.5 -3.5 nan) = f32[7] 0 -0 2 2 -2 -4 NaN",
        ),
        case("round-nearest-afz(f64[2] 0.49999999999999994 2.5) = f64[2] 0 3"),
        case("round-nearest-even(f64[2] 0.5 2.5) = f64[2] 0 2"),
    ]
}

/// Each operation rounds to the type once.
fn rounding() -> Vec<Case> {
    vec![
        case("add(bf16[3] 1 1 256, bf16[3] 0.00390625 0.01171875 1) = bf16[3] 1 1.015625 256"),
        case("add(f16[4] 2048 2050 65504 65504, f16[4] 1 1 15 16) = f16[4] 2048 2052 65504 inf"),
        case("multiply(f16[1] 0.00006103515625, f16[1] 0.0009765625) = f16[1] 0.000000059604645"),
        case("divide(bf16[1] 1, bf16[1] 3) = bf16[1] 0.33398438"),
        case("add(f8e4m3fn[2] 448 16, f8e4m3fn[2] 448 1) = f8e4m3fn[2] NaN 16"),
        case("add(f8e5m2[2] 57344 1, f8e5m2[2] 57344 0.125) = f8e5m2[2] inf 1"),
        case("add(f8e4m3fnuz[1] 240, f8e4m3fnuz[1] 240) = f8e4m3fnuz[1] NaN"),
        case("add(f8e5m2fnuz[1] 57344, f8e5m2fnuz[1] 57344) = f8e5m2fnuz[1] NaN"),
        case("add(f8e4m3b11fnuz[1] 30, f8e4m3b11fnuz[1] 30) = f8e4m3b11fnuz[1] NaN"),
        case("add(f8e4m3[1] 240, f8e4m3[1] 240) = f8e4m3[1] inf"),
        case("add(f8e3m4[1] 15.5, f8e3m4[1] 1) = f8e3m4[1] inf"),
        case("add(f4e2m1fn[2] 6 1.5, f4e2m1fn[2] 6 1) = f4e2m1fn[2] 6 2"),
        case("exponential(f16[2] 1 12) = f16[2] 2.71875 inf"),
        case("exponential(bf16[1] 1) = bf16[1] 2.71875"),
        case("tanh(bf16[2] 0.5 100) = bf16[2] 0.46289063 1"),
        case("rsqrt(f16[1] 3) = f16[1] 0.57714844"),
    ]
}

fn functions() -> Vec<Case> {
    let near = |text: &str| case(text).near(3e-7);
    vec![
        near("exponential(f32[5] 0 1 -inf inf nan) = f32[5] 1 2.7182817 0 inf NaN"),
        case("exponential(f64[1] 1) = f64[1] 2.718281828459045"),
        near("exponential-minus-one(f32[4] 0 1e-10 -inf -0) = f32[4] 0 1e-10 -1 -0"),
        near("log(f32[5] 1 0 -1 inf 10) = f32[5] 0 -inf NaN inf 2.3025851"),
        near("log-plus-one(f32[4] 0 1e-10 -1 -2) = f32[4] 0 1e-10 -inf NaN"),
        near("logistic(f32[6] 0 -inf inf nan -10 100) = f32[6] 0.5 0 1 NaN 0.000045397868 1"),
        case("logistic(f16[2] 0 -20) = f16[2] 0.5 0"),
        near("sqrt(f32[4] 4 -1 -0 inf) = f32[4] 2 NaN -0 inf"),
        near("rsqrt(f32[4] 4 0 -0 inf) = f32[4] 0.5 inf -inf 0"),
        near("cbrt(f32[4] 27 -8 -0 -inf) = f32[4] 3 -2 -0 -inf"),
        near("erf(f32[5] 0 1 -1 -inf nan) = f32[5] 0 0.8427008 -0.8427008 -1 NaN"),
        case("erf(f64[1] 1) = f64[1] 0.8427007929497149").near(1e-15),
        near("sine(f32[3] 0 1 inf) = f32[3] 0 0.84147098 NaN"),
        near("cosine(f32[3] 0 1 -inf) = f32[3] 1 0.54030231 NaN"),
        near("tan(f32[3] 0 1 -0) = f32[3] 0 1.5574077 -0"),
        near("asin(f32[3] 1 -1 2) = f32[3] 1.5707964 -1.5707964 NaN"),
        near("acos(f32[3] 1 -1 2) = f32[3] 0 3.1415927 NaN"),
        near("sinh(f32[3] 0 1 -inf) = f32[3] 0 1.1752012 -inf"),
        near("cosh(f32[3] 0 1 -inf) = f32[3] 1 1.5430807 inf"),
        near("tanh(f32[4] 0 1 -inf 1e-10) = f32[4] 0 0.76159418 -1 1e-10"),
        near("asinh(f32[4] 0 1 -inf 1e-6) = f32[4] 0 0.88137358 -inf 1e-6"),
        near("acosh(f32[4] 1 2 inf 0.5) = f32[4] 0 1.316958 inf NaN"),
        near("atanh(f32[4] 0 0.5 1 1e-6) = f32[4] 0 0.54930615 inf 1e-6"),
    ]
}
