//! Locations: relative URIs, lines, columns in code points, snippets.

use serde_json::{Value, json};

use crate::finding::{Side, SourceLocation};
use crate::report::excerpt::Excerpt;
use crate::report::group;
use crate::report::text::{line, put};

/// A result's own place.
pub(super) fn location(place: &SourceLocation, construct: &str) -> Value {
    let mut value = physical(place);
    if let Some(object) = value.as_object_mut() {
        object.insert(
            "logicalLocations".to_owned(),
            json!([{ "fullyQualifiedName": line(construct), "kind": "member" }]),
        );
    }
    value
}

/// A further place, with what stands there as its message.
pub(super) fn related(place: &SourceLocation, id: usize) -> Value {
    let mut value = physical(place);
    let side = match place.side {
        Side::Base => "in base",
        Side::Head => "in head",
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("id".to_owned(), json!(id));
        object.insert(
            "message".to_owned(),
            json!({ "text": format!("{side}: {}", line(&place.label)) }),
        );
    }
    value
}

fn physical(place: &SourceLocation) -> Value {
    let mut physical = json!({
        "artifactLocation": { "uri": uri(&place.location.file), "uriBaseId": "%SRCROOT%" },
    });
    if let (Some(region), Some(object)) = (region(place), physical.as_object_mut()) {
        object.insert("region".to_owned(), region);
    }
    json!({ "physicalLocation": physical })
}

/// Lines are known without sources; columns and the snippet need them.
fn region(place: &SourceLocation) -> Option<Value> {
    let location = &place.location;
    if location.line == 0 {
        return None;
    }
    let end_line = group::end_line(location);
    let mut region = json!({ "startLine": location.line, "endLine": end_line });
    let object = region.as_object_mut()?;
    if let Some(excerpt) = Excerpt::new(place, 0) {
        object.insert("snippet".to_owned(), json!({ "text": excerpt.text() }));
        let (from, length) = (excerpt.span().offset(), excerpt.span().len());
        if end_line == location.line
            && let (Some(before), Some(marked)) =
                (excerpt.text().get(..from), excerpt.text().get(from..from + length))
        {
            let start = before.chars().count() + 1;
            object.insert("startColumn".to_owned(), json!(start));
            object.insert("endColumn".to_owned(), json!(start + marked.chars().count()));
        }
    }
    Some(region)
}

/// A path as a relative URI reference.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.trim_start_matches('/').bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            byte => put(&mut out, format_args!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn uris() {
        assert_eq!(uri("xla/a b.proto"), "xla/a%20b.proto");
        assert_eq!(uri("/ä:%"), "%C3%A4%3A%25");
    }
}
