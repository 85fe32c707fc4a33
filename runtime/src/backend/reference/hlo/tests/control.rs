//! Calls, loops, branches, tuples.

use super::case::{Case, case, check};

#[test]
fn table() {
    check(&cases());
}

/// Counts up to ten, and adds up what it counted.
const BODY: &str = "p (s32[],s32[]) parameter 0
    n s32[] get-tuple-element.0 p
    sum s32[] get-tuple-element.1 p
    one s32[] constant 1
    next s32[] add n one
    total s32[] add sum n
    r (s32[],s32[]) tuple next total";
const CONDITION: &str = "p (s32[],s32[]) parameter 0
    n s32[] get-tuple-element.0 p
    ten s32[] constant 10
    r pred[] compare.LT n ten";

pub(super) fn cases() -> Vec<Case> {
    let branches = |text: &str| {
        let negate = "x s32[] parameter 0\n r s32[] negate x";
        let same = "x s32[] parameter 0\n r s32[] copy x";
        let double = "x s32[] parameter 0\n r s32[] add x x";
        let (two, case) =
            (text.contains("pred"), case(text).calls("negate", negate).calls("same", same));
        if two { case } else { case.calls("double", double) }
    };
    let wrong = |text: &str| branches(text);
    vec![
        case("call(s32[2] 1 2) = s32[2] -1 -2").calls("f", "x s32[2] parameter 0\n r s32[2] negate x"),
        case("fusion(s32[] 3, s32[] 4) = s32[] 7").combines("add", "s32"),
        case("fusion(s32[] 3, s32[] 4) = s32[] 7 & s32[] -1").calls(
            "f",
            "a s32[] parameter 0\n b s32[] parameter 1\n s s32[] add a b\n d s32[] subtract a b\n r (s32[],s32[]) tuple s d",
        ),
        // What nothing reads is not evaluated, not even when it is not supported.
        case("fusion(s32[] 3, s32[] 4) = s32[] 3")
            .calls("f", "a s32[] parameter 0\n b s32[] parameter 1\n x s32[] rng a b\n r s32[] copy a"),
        case("fusion(s32[] 3) = s32[] 3").combines("add", "s32").fails("computation \"add_s32\": arguments is 1, expected 2"),
        case("fusion(f32[] 3, s32[] 4) = s32[] 7")
            .combines("add", "s32")
            .fails("parameter \"a\" in \"add_s32\": result is f32[]{}, expected s32[]{}"),
        case("call(s32[] 3) = s32[] 3").fails("called computations is 0, expected more than 0"),
        case("call(s32[] 3) = f32[] 3")
            .calls("f", "x s32[] parameter 0\n r s32[] copy x")
            .fails("call \"op\" in \"main\": result is s32[]{}, expected f32[]{}"),
        case("while(s32[] 0 & s32[] 0) = s32[] 10 & s32[] 45").calls("body", BODY).calls("condition", CONDITION),
        case("while(s32[] 10 & s32[] 3) = s32[] 10 & s32[] 3").calls("body", BODY).calls("condition", CONDITION),
        case("while(s32[] 0 & s32[] 0) = s32[] 10 & s32[] 45")
            .calls("body", BODY)
            .calls("condition", CONDITION)
            .limits(|l| l.iterations = 9)
            .fails("while \"op\" in \"main\": iterations: 10 is over the limit of 9"),
        case("while(s32[] 0) = s32[] 1")
            .calls("body", "x s32[] parameter 0\n r f32[] convert x")
            .calls("condition", "x s32[] parameter 0\n z s32[] constant 5\n r pred[] compare.LT x z")
            .fails("parameter \"x\" in \"condition\": result is f32[]{}, expected s32[]{}"),
        case("while(s32[] 0) = s32[] 1")
            .calls("body", "x s32[] parameter 0\n r s32[] copy x")
            .calls("condition", "x s32[] parameter 0\n r s32[] copy x")
            .fails("predicate is s32[]{}, expected pred[]"),
        // A predicate takes the first branch when true, an index out of range the last.
        branches("conditional(pred[] 1, s32[] 5, s32[] 7) = s32[] -5"),
        branches("conditional(pred[] 0, s32[] 5, s32[] 7) = s32[] 7"),
        branches("conditional(s32[] 0, s32[] 5, s32[] 7, s32[] 9) = s32[] -5"),
        branches("conditional(s32[] 1, s32[] 5, s32[] 7, s32[] 9) = s32[] 7"),
        branches("conditional(s32[] 2, s32[] 5, s32[] 7, s32[] 9) = s32[] 18"),
        branches("conditional(s32[] 3, s32[] 5, s32[] 7, s32[] 9) = s32[] 18"),
        branches("conditional(s32[] -1, s32[] 5, s32[] 7, s32[] 9) = s32[] 18"),
        wrong("conditional(s32[] 0, s32[] 5, s32[] 7) = s32[] 5")
            .fails("operands is 3, expected an index and one for each of 3 branches"),
        wrong("conditional(s32[1] 0, s32[] 5, s32[] 7, s32[] 9) = s32[] 5").fails("operand 0 is s32[1]{0}, expected a scalar"),
        case("tuple(s32[] 1, f32[2] 2 3) = s32[] 1 & f32[2] 2 3"),
        case("get-tuple-element.1(s32[] 1 & f32[2] 2 3) = f32[2] 2 3"),
        case("get-tuple-element.2(s32[] 1 & f32[2] 2 3) = f32[2] 2 3").fails("tuple_index is 2, expected below 2"),
        case("get-tuple-element.0(s32[] 1) = s32[] 1").fails("operand 0 is no tuple"),
        case("copy(f32[2] nan -0) = f32[2] NaN -0"),
        case("copy(s32[] 1 & s32[] 2) = s32[] 1 & s32[] 2"),
        case("copy-start(f32[2] 1 2) = f32[2] 1 2 & f32[2] 1 2 & u32[] 0"),
        case("copy-done(f32[2] 1 2 & f32[2] 1 2 & u32[] 0) = f32[2] 1 2"),
        case("opt-barrier(s32[] 1 & s32[] 2) = s32[] 1 & s32[] 2"),
        case("domain(s32[] 1) = s32[] 1"),
        case("add-dependency(s32[] 1, token) = s32[] 1"),
        case("after-all(token, token) = token"),
        case("after-all() = token"),
    ]
}
