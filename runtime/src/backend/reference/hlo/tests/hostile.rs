//! Programs made to take all memory or time. Each has to stop soon, with an error that says why.

use super::case::{Case, case, check};
use crate::proto::xla::{DotDimensionNumbers, FftType, ShapeProto, Window, WindowDimension};

/// The larger of two.
const PICK: &str = "a f32[] parameter 0\n b f32[] parameter 1\n r f32[] maximum a b";

/// A terabyte, or a dimension of that size beside an empty one.
const HUGE: i64 = 1 << 40;

#[test]
fn too_much_memory() {
    let result = |dims: &'static [i64]| {
        move |p: &mut crate::proto::xla::HloInstructionProto| {
            if let Some(shape) = &mut p.shape {
                shape.dimensions = dims.to_vec();
            }
        }
    };
    check(&[
        case("broadcast(f32[] 1) = f32[] 1")
            .with(result(&[HUGE]))
            .fails("memory for values: 4398046511108 is over the limit of 1048576"),
        case("broadcast(u8[] 1) = u8[] 1")
            .with(result(&[HUGE, 1 << 10]))
            .fails("over the limit of 1048576"),
        case("broadcast(u8[] 1) = u8[] 1")
            .with(result(&[i64::MAX, i64::MAX]))
            .fails("expected a size that fits into memory"),
        case("broadcast(u8[] 1) = u8[] 1")
            .with(result(&[i64::MAX, 0]))
            .fails("expected a size that fits into memory"),
        case("broadcast(u8[] 1) = u8[] 1").with(result(&[-1])).fails("dimension is -1"),
        case("iota.0() = s32[1] 0")
            .with(|p| {
                p.shape = shape(&[HUGE]);
                p.dimensions = vec![0]
            })
            .fails("over the limit"),
        case("copy-start(s32[] 1) = s32[] 1 & s32[] 1 & u32[] 0")
            .with(|p| p.shape.as_mut().unwrap().tuple_shapes[2].dimensions = vec![HUGE])
            .fails("over the limit"),
        // Each of these is small, all of them together are not.
        case("call(f32[] 1) = f32[] 1")
            .calls("chain", &chain(20, true))
            .has("pick", PICK)
            .fails("over the limit of 1048576"),
        case("call(f32[] 1) = f32[] 1").calls("chain", &chain(21, false)).has("pick", PICK),
        case("fusion(f32[] 1) = f32[] 1")
            .calls(
                "outer",
                "x f32[] parameter 0\n y f32[] fusion x @chain\n r f32[] fusion y @chain",
            )
            .has("chain", &chain(21, false))
            .has("pick", PICK)
            .limits(|l| l.steps = 10_000_000),
    ]);
}

fn shape(dims: &[i64]) -> Option<ShapeProto> {
    Some(ShapeProto { dimensions: dims.to_vec(), ..super::text::shape("s32[]") })
}

/// Arrays of 128 KiB one after the other; they stay alive where the end needs all of them.
fn chain(length: usize, all: bool) -> String {
    let mut text = "x f32[] parameter 0\n b0 f32[32768] broadcast x\n".to_owned();
    for i in 1..length {
        text += &format!("b{i} f32[32768] negate b{}\n", i - 1);
    }
    let shapes = vec!["f32[32768]"; length].join(",");
    let names: Vec<String> = (0..length).map(|i| format!("b{i}")).collect();
    let (shapes, names) = if all {
        (shapes, names.join(" "))
    } else {
        ("f32[32768]".to_owned(), names[length - 1].clone())
    };
    text + &format!(
        "t ({shapes}) tuple {names}\n g f32[32768] get-tuple-element.0 t\n z f32[] constant 0\n r f32[] reduce.0 g z @pick"
    )
}

#[test]
fn empty_beside_huge() {
    let huge = HUGE as usize;
    let fft = |p: &mut crate::proto::xla::HloInstructionProto| {
        p.set_fft_type(FftType::Fft);
        p.fft_length = vec![HUGE];
    };
    let outer = DotDimensionNumbers {
        lhs_contracting_dimensions: vec![1],
        rhs_contracting_dimensions: vec![1],
        ..DotDimensionNumbers::default()
    };
    let wide = WindowDimension {
        size: 1 << 62,
        stride: 1,
        window_dilation: 1,
        base_dilation: 1,
        ..WindowDimension::default()
    };
    let wide = Window { dimensions: vec![WindowDimension { padding_low: 1 << 62, ..wide }; 2] };
    check(&[
        case(&format!("sort.0(s32[{huge},0]) = s32[{huge},0]")).combines("compare.LT", "s32"),
        case(&format!("sort.1(s32[{huge},0]) = s32[{huge},0]")).combines("compare.LT", "s32"),
        case(&format!("sort.0(s32[0,{huge}]) = s32[0,{huge}]")).combines("compare.LT", "s32"),
        case(&format!("fft(c64[0,{huge}]) = c64[0,{huge}]")).with(fft),
        case(&format!("reverse.0(s32[{huge},0]) = s32[{huge},0]")),
        case(&format!("transpose.1,0(s32[{huge},0]) = s32[0,{huge}]")),
        case(&format!("reduce.0(s32[{huge},0], s32[] 0) = s32[0]")).combines("add", "s32"),
        case(&format!("reduce.1(s32[{huge},0], s32[] 0) = s32[] 0"))
            .combines("add", "s32")
            .fails(&format!("expected dimensions [{huge}]")),
        case(&format!("reduce.0,1(s32[{huge},0], s32[] 3) = s32[] 3")).combines("add", "s32"),
        case(&format!("dot(s32[{huge},0], s32[{huge},0]) = s32[] 0"))
            .with(move |p| p.dot_dimension_numbers = Some(outer.clone()))
            .fails("expected dimensions"),
        case(&format!("concatenate.1(s32[{huge},0], s32[{huge},0]) = s32[{huge},0]")),
        case("reduce-window(s32[1,1] 1, s32[] 0) = s32[1,1] 1")
            .with(move |p| p.window = Some(wide.clone()))
            .combines("add", "s32")
            .fails("expected dimensions"),
        case("convert(u8[2] 1 2) = c128[1] 1").fails("expected dimensions [2]"),
    ]);
}

#[test]
fn too_much_work() {
    let forever = "x s32[] parameter 0\n r pred[] constant 1";
    let same = "x s32[] parameter 0\n r s32[] copy x";
    let endless = "x s32[] parameter 0\n r s32[] while x @same @forever";
    let steps = "is over the limit of 1000000";
    let deep = |levels: usize, calls: usize| {
        let mut case = case("call(s32[] 1) = s32[] 1").calls("level0", &level(1, calls));
        for at in 1..levels {
            case = case.has(&format!("level{at}"), &level(at + 1, calls));
        }
        case.has(&format!("level{levels}"), same)
    };
    check(&[
        case("fusion(s32[] 1) = s32[] 1").calls("endless", endless).has("same", same).has("forever", forever).fails("iterations: 1001 is over the limit of 1000"),
        case("while(s32[] 1) = s32[] 1").calls("endless", endless).calls("forever", forever).has("same", same).limits(|l| l.iterations = u64::MAX).fails(steps),
        // Each loop is within its limit, the nest is not.
        case("while(s32[] 0) = s32[] 0")
            .calls("inner", "x s32[] parameter 0\n y s32[] while x @count @below\n z s32[] constant 0\n r s32[] multiply y z")
            .calls("forever", forever)
            .has("count", "x s32[] parameter 0\n o s32[] constant 1\n r s32[] add x o")
            .has("below", "x s32[] parameter 0\n o s32[] constant 900\n r pred[] compare.LT x o")
            .fails(steps),
        deep(60, 1),
        deep(60, 2).fails(steps),
        deep(70, 1).fails("depth of calls is"),
        // A combiner's instructions count, each time that it is called.
        case("reduce.0(s32[20000] ..1, s32[] 0) = s32[] 0").calls("long", &long(200)).fails(steps),
        case("sort.0(s32[2000] ..1) = s32[2000] ..1").calls("long", &(long(200) + "\n p pred[] compare.LT r b")).fails(steps),
        // So do the instructions that nothing reads.
        case("while(s32[] 1) = s32[] 1")
            .calls("dead", &("x s32[] parameter 0\n".to_owned() + &(0..2000).map(|i| format!("d{i} s32[] rng x\n")).collect::<String>() + "r s32[] copy x"))
            .calls("forever", forever)
            .fails(steps),
        case("reduce.0(s32[2000] ..1, s32[] 0) = s32[] 2001")
            .calls("slow", "a s32[] parameter 0\n b s32[] parameter 1\n r s32[] while a @same @forever")
            .has("same", same)
            .has("forever", forever)
            .fails("iterations: 1001 is over the limit of 1000"),
    ]);
}

/// Calls the next level some times.
fn level(next: usize, calls: usize) -> String {
    let mut text = "y0 s32[] parameter 0\n".to_owned();
    for call in 1..=calls {
        text += &format!("y{call} s32[] call y{} @level{next}\n", call - 1);
    }
    text
}

/// A sum of two numbers with detours.
fn long(length: usize) -> String {
    let mut text = "a s32[] parameter 0\n b s32[] parameter 1\n x0 s32[] add a b\n".to_owned();
    for i in 1..length {
        text += &format!("x{i} s32[] negate x{}\n", i - 1);
    }
    text + &format!("r s32[] negate x{}", length - 1)
}

#[test]
fn large_tuples_cost_no_copies() {
    // Taking each element out of a tuple of all of them; copying the tuple each time would be quadratic.
    const COUNT: usize = 5_000;
    let mut text = "x s32[] parameter 0\n".to_owned();
    let names = vec!["x"; COUNT].join(" ");
    text += &format!("t ({}) tuple {names}\n", vec!["s32[]"; COUNT].join(","));
    for i in 0..COUNT {
        text += &format!("g{i} s32[] get-tuple-element.{i} t\n");
    }
    text += &format!("a ({}) tuple ", vec!["s32[]"; COUNT].join(","));
    text += &(0..COUNT).map(|i| format!("g{i} ")).collect::<String>();
    text += "\n r s32[] get-tuple-element.7 a";
    check(&[case("call(s32[] 5) = s32[] 5").calls("wide", &text)]);
}

#[test]
fn loops_reuse_memory() {
    // A hundred rounds that make 128 KiB twice each.
    let body = "p (s32[],f32[32768]) parameter 0
        n s32[] get-tuple-element.0 p
        x f32[32768] get-tuple-element.1 p
        one s32[] constant 1
        next s32[] add n one
        y f32[32768] negate x
        z f32[32768] negate y
        r (s32[],f32[32768]) tuple next z";
    let condition = "p (s32[],f32[32768]) parameter 0
        n s32[] get-tuple-element.0 p
        end s32[] constant 100
        r pred[] compare.LT n end";
    let case: Case = case("while(s32[] 0 & f32[32768] ..1) = s32[] 100 & f32[32768] ..1")
        .calls("body", body)
        .calls("condition", condition)
        .limits(|l| l.steps = 10_000_000);
    check(&[case]);
}
