//! What fields are called in a text.

use crate::descriptor::{Field, Message, Scalar, Type};

/// The field that a name without brackets stands for. A group goes by the name of its type as well.
pub(super) fn find<'a>(ty: &'a Message, name: &str) -> Option<&'a Field> {
    ty.field_named(name).or_else(|| {
        let field = ty.field_named(&name.to_ascii_lowercase())?;
        (group_name(ty, field) == Some(name)).then_some(field)
    })
}

/// The type's simple name of a field that was declared as a group, or could have been.
pub(super) fn group_name<'a>(ty: &Message, field: &'a Field) -> Option<&'a str> {
    let Type::Message(name) = &field.ty else { return None };
    let simple = name.strip_prefix(&*ty.name)?.strip_prefix('.')?;
    (field.delimited && simple.to_ascii_lowercase() == *field.name).then_some(simple)
}

/// Type URL and value of `google.protobuf.Any`.
pub(super) fn any_fields(ty: &Message) -> Option<(&Field, &Field)> {
    let typed = |number, scalar| ty.field(number).filter(|f| f.ty == Type::Scalar(scalar));
    (&*ty.name == "google.protobuf.Any")
        .then(|| typed(1, Scalar::String).zip(typed(2, Scalar::Bytes)))
        .flatten()
}

/// The field of a similar name.
pub(super) fn similar(ty: &Message, name: &str) -> Option<String> {
    // Comparing takes the product of both lengths.
    const COMPARED: usize = 100;
    if name.len() > COMPARED {
        return None;
    }
    let close =
        |field: &&Field| strsim::damerau_levenshtein(&field.name, name) <= 1 + name.len() / 5;
    ty.fields.iter().find(close).map(|field| field.name.to_string())
}
