//! Shapes as HLO text writes them: `f32[8,128]{1,0}`.

use crate::proto::xla::{PrimitiveType, ShapeProto};

/// Parts of tuples that are written out, all levels together.
const MOST: usize = 64;

/// A shape in HLO's text form; what is too long ends in `...`.
pub(crate) fn shape_text(shape: &ShapeProto) -> String {
    let mut text = String::new();
    let mut left = MOST;
    write(shape, &mut text, &mut left);
    text
}

fn write(shape: &ShapeProto, text: &mut String, left: &mut usize) {
    let Some(rest) = left.checked_sub(1) else {
        text.push_str("...");
        return;
    };
    *left = rest;
    if shape.element_type() == PrimitiveType::Tuple {
        text.push('(');
        for (index, part) in shape.tuple_shapes.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            write(part, text, left);
            if *left == 0 {
                break;
            }
        }
        text.push(')');
        return;
    }
    text.push_str(&type_name(shape.element_type));
    if matches!(shape.element_type(), PrimitiveType::Token | PrimitiveType::OpaqueType) {
        return;
    }
    let dimension = |(index, size): (usize, &i64)| {
        let dynamic = shape.is_dynamic_dimension.get(index).copied().unwrap_or(false);
        if dynamic { format!("<={size}") } else { size.to_string() }
    };
    let dimensions: Vec<_> =
        shape.dimensions.iter().take(MOST).enumerate().map(dimension).collect();
    text.push_str(&format!("[{}]", dimensions.join(",")));
    if let Some(layout) = &shape.layout
        && !layout.minor_to_major.is_empty()
    {
        let order: Vec<_> = layout.minor_to_major.iter().take(MOST).map(i64::to_string).collect();
        text.push_str(&format!("{{{}}}", order.join(",")));
    }
}

fn type_name(number: i32) -> String {
    match PrimitiveType::try_from(number) {
        Ok(known) => known.as_str_name().trim_end_matches("_TYPE").to_ascii_lowercase(),
        Err(_) => format!("type{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::xla::LayoutProto;

    #[test]
    fn shapes_read_like_hlo() {
        let layout = LayoutProto { minor_to_major: vec![1, 0], ..Default::default() };
        let array = ShapeProto {
            element_type: PrimitiveType::Bf16.into(),
            dimensions: vec![8, 128],
            is_dynamic_dimension: vec![true, false],
            layout: Some(Box::new(layout)),
            ..Default::default()
        };
        assert_eq!(shape_text(&array), "bf16[<=8,128]{1,0}");
        let token = ShapeProto { element_type: PrimitiveType::Token.into(), ..Default::default() };
        let scalar = ShapeProto { element_type: PrimitiveType::F32.into(), ..Default::default() };
        let future = ShapeProto { element_type: 99, ..Default::default() };
        let tuple = ShapeProto {
            element_type: PrimitiveType::Tuple.into(),
            tuple_shapes: vec![array, token, scalar, future],
            ..Default::default()
        };
        assert_eq!(shape_text(&tuple), "(bf16[<=8,128]{1,0}, token, f32[], type99[])");
        let wide = ShapeProto {
            element_type: PrimitiveType::Tuple.into(),
            tuple_shapes: vec![tuple; 1000],
            ..Default::default()
        };
        assert!(shape_text(&wide).len() < 2000);
    }
}
