//! Base64 as C++ protobuf reads and writes it: both alphabets, padding or none, stray bits ignored.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn sextet(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    }))
}

pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    // Padding counts only where it fills a group of four up.
    let text = match text.len().is_multiple_of(4) {
        true => text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text),
        false => text,
    };
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        if group.len() == 1 {
            return None;
        }
        let mut bits = 0;
        for &byte in group {
            bits = bits << 6 | sextet(byte)?;
        }
        bits <<= 6 * (4 - group.len());
        out.extend(bits.to_be_bytes().iter().skip(1).take(group.len() - 1));
    }
    Some(out)
}

pub(super) fn encode(bytes: &[u8], out: &mut String) {
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let index = (bits >> (18 - 6 * at)) & 63;
            let digit = ALPHABET.get(index as usize).copied().unwrap_or_default();
            out.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
}
