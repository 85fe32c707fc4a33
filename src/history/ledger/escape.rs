//! Words of a line: whatever a name holds, it stays one word of one line.

use std::fmt::Write as _;

use super::stamp::shown;

/// The empty word.
const EMPTY: &str = "%-";

/// A name as a word; all that has a meaning in a ledger is written `%XX`.
pub(super) fn name(text: &str) -> String {
    escape(text, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'[' | b']' | b'-'))
}

/// A path or a value as the end of a word.
pub(super) fn value(text: &str) -> String {
    escape(text, |b| b.is_ascii_graphic() && b != b'%')
}

fn escape(text: &str, plain: impl Fn(u8) -> bool) -> String {
    if text.is_empty() {
        return EMPTY.to_owned();
    }
    let mut word = String::with_capacity(text.len());
    for byte in text.bytes() {
        if plain(byte) {
            word.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(word, "%{byte:02X}");
        }
    }
    word
}

/// The text that a word stands for; else why it stands for none.
pub(super) fn read(word: &str) -> Result<String, String> {
    if word == EMPTY {
        return Ok(String::new());
    }
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit = |b: u8| char::from(b).to_digit(16).filter(|_| !b.is_ascii_lowercase());
                let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
                    return Err(format!("`{}` has a broken %XX", shown(word)));
                };
                bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
                tail
            }
            (b'%', _) => return Err(format!("`{}` has a broken %XX", shown(word))),
            _ => {
                bytes.push(*first);
                tail
            }
        };
    }
    String::from_utf8(bytes).map_err(|_| format!("`{}` is not UTF-8", shown(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_one_word() {
        for text in
            ["", "a.B_1", "[a.b]", "x y", "a\nroot evil", "100%", "%-", "é", "a^1", "a/b,<c>", "\0"]
        {
            for word in [name(text), value(text)] {
                assert!(!word.is_empty() && word.bytes().all(|b| b.is_ascii_graphic()), "{word}");
                assert_eq!(read(&word).as_deref(), Ok(text));
            }
        }
        for broken in ["%", "%4", "%zz", "%ff", "%FF"] {
            assert!(read(broken).is_err(), "{broken}");
        }
    }
}
