//! What a file is that is no artifact, as far as its first bytes tell.

use crate::artifact::rope::Rope;
use crate::artifact::wire;

/// Bytes that are looked at.
const HEAD: usize = 512;

const USUAL: &str = "pass the bytes of `executable.serialize()`, a split-proto file, a serialized GpuExecutableProto, or a text golden; check that the file is complete and not compressed";

/// What `bytes` are, and what to do about it.
pub(super) fn guess(bytes: &Rope) -> (String, &'static str) {
    let head = bytes.slice(0..bytes.len().min(HEAD)).unwrap_or_default().to_bytes();
    let lower = head.trim_ascii_start().to_ascii_lowercase();
    let is = |magic: &[u8]| head.starts_with(magic);
    let (what, help) = if head.is_empty() {
        ("an empty file", "whatever wrote or fetched it has failed; make the artifact again")
    } else if is(b"\x7fELF") && head.get(18..20) == Some(&[190, 0]) {
        ("a cubin", "that is the code of one kernel; pass the artifact that it came from")
    } else if is(b"\x7fELF") {
        (
            "an ELF file",
            "the schema inside a released binary is what `aotgate snapshot FILE` and `diff` read; an artifact is what `executable.serialize()` returns",
        )
    } else if lower.starts_with(b"<!doctype html") || lower.starts_with(b"<html") {
        ("an HTML page", "a download gave an error page instead of the file; fetch it again")
    } else if lower.starts_with(b"<?xml") || lower.starts_with(b"<error") {
        ("an XML document", "a download gave an error document instead of the file; fetch it again")
    } else if is(b"version https://git-lfs") {
        ("a Git LFS pointer", "run `git lfs pull` to get the file itself")
    } else if is(b"\x1f\x8b") {
        ("gzip data", "unpack it first: `gunzip -c FILE | aotgate artifact inspect -`")
    } else if is(b"\x28\xb5\x2f\xfd") {
        ("Zstandard data", "unpack it first: `zstd -dc FILE | aotgate artifact inspect -`")
    } else if is(b"PK\x03\x04") {
        ("a ZIP archive (a wheel, or .npz arrays)", "pass the artifact beside or inside it")
    } else if is(b"\x93NUMPY") {
        ("a NumPy array", "pass the artifact that the array belongs to")
    } else if is(b"ML\xefR") {
        ("MLIR bytecode", "that is the program before compilation; pass the compiled executable")
    } else if is(b"\xef\xbb\xbf") {
        (
            "text with a byte order mark in front",
            "save it as UTF-8 without the byte order mark, which the text format does not have",
        )
    } else if lower.starts_with(b"hlomodule") {
        (
            "HLO text",
            "that is the program before or during compilation; pass the compiled executable",
        )
    } else if is(b"\x80") && matches!(head.get(1), Some(2..=5)) {
        ("a Python pickle", "pass the bytes of `executable.serialize()` without pickling them")
    } else if matches!(lower.first(), Some(b'{' | b'[')) {
        ("JSON", USUAL)
    } else {
        return (wire::preview(bytes), USUAL);
    };
    (format!("{what} ({})", wire::preview(bytes)), help)
}
