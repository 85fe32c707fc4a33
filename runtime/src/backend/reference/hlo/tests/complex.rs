//! Complex numbers, and the transforms that make them.

use super::case::{Case, case, check};
use crate::proto::xla::FftType;

#[test]
fn table() {
    check(&cases());
}

pub(super) fn cases() -> Vec<Case> {
    let near = |text: &str| case(text).near(3e-7);
    let mut cases = vec![
        case("complex(f32[2] 1 -0, f32[2] 2 inf) = c64[2] 1:2 -0:inf"),
        case("complex(f64[1] 1, f64[1] 2) = c128[1] 1:2"),
        case("complex(f32[1] 1, f32[2] 1 2) = c64[1] 1").fails("operand 1 is f32[2]{0}"),
        case("complex(s32[1] 1, s32[1] 1) = c64[1] 1").fails("f32 or f64"),
        case("real(c64[2] 1:2 3:4) = f32[2] 1 3"),
        case("imag(c64[2] 1:2 3:4) = f32[2] 2 4"),
        case("real(c128[1] 1:2) = f64[1] 1"),
        case("real(f32[1] 5) = f32[1] 5"),
        case("imag(f32[1] 5) = f32[1] 0"),
        case("abs(c64[3] 3:4 3e30:4e30 0) = f32[3] 5 5e30 0"),
        case("abs(c128[1] -5:12) = f64[1] 13"),
        case("negate(c64[1] 1:-2) = c64[1] -1:2"),
        case("sign(c64[2] 3:4 0) = c64[2] 0.6:0.8 0:0"),
        case("add(c64[1] 1:2, c64[1] 3:4) = c64[1] 4:6"),
        case("subtract(c64[1] 1:2, c64[1] 3:4) = c64[1] -2:-2"),
        case("multiply(c64[1] 1:2, c64[1] 3:4) = c64[1] -5:10"),
        case(
            "divide(c64[3] -5:10 1e30:1e30 1e-30:0, c64[3] 3:4 1e30:1e30 1e-30:0) = c64[3] 1:2 1:0 1:0",
        ),
        near("divide(c128[1] 1:0, c128[1] 0:2) = c128[1] 0:-0.5"),
        near("power(c64[4] 0 0 0:1 2, c64[4] 0 2 0 3) = c64[4] 1:0 0:0 1:0 8:0"),
        near("exponential(c64[2] 0 1:1) = c64[2] 1:0 1.4686939:2.2873552"),
        near("exponential-minus-one(c64[2] 0 1e-10) = c64[2] 0:0 1e-10:0"),
        near("log(c64[2] -1 0:1) = c64[2] 0:3.1415927 0:1.5707964"),
        near("log-plus-one(c64[3] 0 1e-10:1e-10 -2) = c64[3] 0:0 1e-10:1e-10 0:3.1415927"),
        near("logistic(c64[1] 0) = c64[1] 0.5:0"),
        near("sqrt(c64[2] -4 0:2) = c64[2] 0:2 1:1"),
        near("rsqrt(c64[1] 4) = c64[1] 0.5:-0"),
        near("cbrt(c64[1] 8) = c64[1] 2:0"),
        near("sine(c64[1] 1:1) = c64[1] 1.2984576:0.6349639"),
        near("cosine(c64[1] 1:1) = c64[1] 0.8337300:-0.9888977"),
        near("tan(c64[1] 1:1) = c64[1] 0.27175257:1.0839233"),
        near("sinh(c64[1] 1:1) = c64[1] 0.6349639:1.2984576"),
        near("cosh(c64[1] 1:1) = c64[1] 0.8337300:0.9888977"),
        near("tanh(c64[1] 1:1) = c64[1] 1.0839233:0.27175257"),
        near("call(c64[1] 1, c64[1] -1) = f32[1] 2.3561945").calls(
            "angle",
            "y c64[1] parameter 0\n x c64[1] parameter 1\n a c64[1] atan2 y x\n r f32[1] real a",
        ),
        case("maximum(c64[1] 1, c64[1] 1) = c64[1] 1").fails("not supported: maximum of C64"),
    ];
    cases.extend(transforms());
    cases
}

fn transforms() -> Vec<Case> {
    let fft = |text: &str, kind: FftType, lengths: &[i64]| {
        let lengths = lengths.to_vec();
        case(text).near(1e-6).with(move |p| {
            p.set_fft_type(kind);
            p.fft_length.clone_from(&lengths);
        })
    };
    use FftType::{Fft, Ifft, Irfft, Rfft};
    vec![
        fft("fft(c64[4] 1 0 0 0) = c64[4] 1:0 1:0 1:0 1:0", Fft, &[4]),
        fft("fft(c64[4] 1 1 1 1) = c64[4] 1:0 0:0 0:0 0:0", Ifft, &[4]),
        fft("fft(c64[2,2] 1 2 3 4) = c64[2,2] 10:0 -2:0 -4:0 0:0", Fft, &[2, 2]),
        fft("fft(c64[2,2] 1 2 3 4) = c64[2,2] 3:0 -1:0 7:0 -1:0", Fft, &[2]),
        fft("fft(f32[4] 1 2 3 4) = c64[3] 10:0 -2:2 -2:0", Rfft, &[4]),
        fft("fft(c64[3] 10 -2:2 -2) = f32[4] 1 2 3 4", Irfft, &[4]),
        fft("fft(c64[2] 6 -1.5:0.8660254) = f32[3] 1 2 3", Irfft, &[3]),
        fft("fft(f64[2] 1 2) = c128[2] 3:0 -1:0", Rfft, &[2]),
        fft("fft(c64[0,4]) = c64[0,4]", Fft, &[4]),
        fft("fft(c64[1] 5:1) = c64[1] 5:1", Fft, &[1]),
        fft("fft(c64[4] 1 0 0 0) = c64[4] 1 1 1 1", Fft, &[3])
            .fails("operand is c64[4]{0}, expected minor dimensions [3]"),
        fft("fft(c64[4] 1 0 0 0) = c64[4] 1 1 1 1", Fft, &[])
            .fails("fft_length is 0, expected 1 to 1 dimensions"),
        fft("fft(c64[4] 1 0 0 0) = c64[4] 1 1 1 1", Fft, &[2, 2]).fails("fft_length is 2"),
        fft("fft(c64[4] 1 0 0 0) = c64[4] 1 1 1 1", Fft, &[-4])
            .fails("fft_length is -4, expected 0 or more"),
        fft("fft(c64[4] 1 0 0 0) = f32[4] 1 1 1 1", Fft, &[4]).fails("types of FFT"),
        fft("fft(c64[4] 1 0 0 0) = c64[4] 1 1 1 1", Fft, &[i64::MAX]).fails("minor dimensions"),
    ]
}
