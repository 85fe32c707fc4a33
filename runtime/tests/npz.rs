//! Archives of arrays: as NumPy writes them, damaged, and hostile.
#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

use std::io::Write as _;
use std::path::Path;

use aotgate_runtime::npz::{self, Element, Limits};
use rawzip::{CompressionMethod, ZipArchiveWriter};

/// One `.npy` file.
fn npy(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn archive(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for (name, content) in members {
        let file = archive.new_file(*name).compression_method(method);
        let (mut entry, config) = file.start().expect("started");
        let output = if method == CompressionMethod::DEFLATE {
            let encoder =
                flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::best());
            let mut writer = config.wrap(encoder);
            writer.write_all(content).expect("written");
            let (encoder, output) = writer.finish().expect("finished");
            encoder.finish().expect("flushed");
            output
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).expect("written");
            writer.finish().expect("finished").1
        };
        entry.finish(output).expect("ended");
    }
    archive.finish().expect("closed")
}

fn stored(members: &[(&str, &[u8])]) -> Vec<u8> {
    archive(members, CompressionMethod::STORE)
}

fn error(bytes: Vec<u8>) -> String {
    npz::read(bytes).expect_err("refused").to_string()
}

#[test]
fn arrays_are_read_stored_and_deflated() {
    let scalar = npy("<f4", "False", "()", &1.5_f32.to_le_bytes());
    let vector = npy("|u1", "False", "(3,)", &[1, 2, 3]);
    let empty = npy("<c16", "False", "(0, 4)", &[]);
    // With one size over 1 the orders are the same.
    let column = npy("<i2", "True", "(2, 1)", &[1, 0, 2, 0]);
    let members: Vec<(&str, &[u8])> =
        vec![("1.npy", &vector), ("0.npy", &scalar), ("2.npy", &empty), ("3.npy", &column)];
    for method in [CompressionMethod::STORE, CompressionMethod::DEFLATE] {
        let arrays = npz::read(archive(&members, method)).expect("read");
        let arrays = npz::numbered(arrays).expect("numbered");
        let seen: Vec<_> =
            arrays.iter().map(|a| (a.element.descr(), a.shape.clone(), a.data.to_vec())).collect();
        let expected = [
            ("<f4".to_owned(), vec![], 1.5_f32.to_le_bytes().to_vec()),
            ("|u1".to_owned(), vec![3], vec![1, 2, 3]),
            ("<c16".to_owned(), vec![0, 4], vec![]),
            ("<i2".to_owned(), vec![2, 1], vec![1, 0, 2, 0]),
        ];
        assert_eq!(seen, expected);
    }
    assert_eq!(npz::numbered(npz::read(stored(&[])).expect("read")).expect("none"), []);
}

#[test]
fn stored_arrays_share_the_memory_of_the_file() {
    let file =
        prost::bytes::Bytes::from(stored(&[("0.npy", &npy("|u1", "False", "(4,)", b"abcd"))]));
    let arrays = npz::read(file.clone()).expect("read");
    let inside = file.as_ptr_range();
    assert!(inside.contains(&arrays["0"].data.as_ptr()));
    assert_eq!(arrays["0"].element, Element::Unsigned(1));
}

#[test]
fn what_is_wrong_is_named() {
    let good = npy("<f4", "False", "(2,)", &[0; 8]);
    for (name, content, why) in [
        ("0.npy", npy(">f4", "False", "(2,)", &[0; 8]), "expected little-endian numbers"),
        ("0.npy", npy("|O", "False", "(2,)", &[0; 8]), "expected little-endian numbers"),
        ("0.npy", npy("<f4", "True", "(2, 2)", &[0; 16]), "expected C order, found Fortran order"),
        ("0.npy", npy("<f4", "False", "(3,)", &[0; 8]), "expected 12 bytes, found 8 bytes"),
        ("0.npy", npy("<f4", "False", "(2,)", &[0; 9]), "expected 8 bytes, found 9 bytes"),
        (
            "0.npy",
            npy("<f8", "False", "(4294967296, 4294967296)", &[]),
            "expected a size that fits",
        ),
        ("0.npy", b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "expected version 1, 2 or 3"),
        ("0.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec(), "expected a dictionary"),
        ("0.npy", b"PK".to_vec(), "expected the magic of a .npy file"),
        ("0.txt", good.clone(), "expected a name that ends in .npy"),
        (".npy", good.clone(), "expected a name that ends in .npy"),
    ] {
        let message = error(stored(&[(name, &content)]));
        assert!(message.contains(why), "{message} should contain {why}");
        assert!(message.contains(name), "{message} should name {name}");
    }
    assert!(error(stored(&[("0.npy", &good), ("0.npy", &good)])).contains("every name once"));
    assert!(error(b"no zip at all".to_vec()).contains("expected a zip archive"));
    assert!(error(archive(&[("0.npy", &good)], CompressionMethod::ZSTD)).contains("not supported"));
    let gap = npz::read(stored(&[("0.npy", &good), ("2.npy", &good)])).expect("read");
    let message = npz::numbered(gap).expect_err("a gap").to_string();
    assert!(
        message.contains("arrays named 0 to 1") && message.contains("no 1, but 2"),
        "{message}"
    );

    let mut damaged = stored(&[("0.npy", &good)]);
    let at = damaged.windows(6).position(|w| w == b"\x93NUMPY").expect("inside") + good.len() - 1;
    damaged[at] ^= 1;
    assert!(error(damaged).contains("expected intact data"));
}

#[test]
fn bombs_and_crowds_are_refused() {
    let bomb = npy("|u1", "False", "(1000000,)", &vec![0; 1_000_000]);
    let small = archive(&[("0.npy", &bomb)], CompressionMethod::DEFLATE);
    assert!(small.len() < 10_000);
    let limits = Limits { arrays: 100_000, ..Limits::default() };
    let refused = npz::read_with(small.clone(), &limits).expect_err("too large");
    assert!(refused.is_limit(), "{refused}");
    // A size that lies is found out before the rest is unpacked.
    let mut lying = small.clone();
    let size = u32::try_from(bomb.len()).expect("fits").to_le_bytes();
    let places: Vec<usize> =
        (0..lying.len() - 4).filter(|at| lying[*at..*at + 4] == size).collect();
    for at in places {
        lying[at..at + 4].copy_from_slice(&500_u32.to_le_bytes());
    }
    assert!(npz::read_with(lying, &limits).is_err());
    let limits = Limits { members: 2, ..Limits::default() };
    let array = npy("|u1", "False", "()", &[0]);
    let three = stored(&[("0.npy", &array), ("1.npy", &array), ("2.npy", &array)]);
    assert!(npz::read_with(three, &limits).expect_err("too many").is_limit());
    let limits = Limits { input: 10, ..Limits::default() };
    assert!(npz::read_with(small, &limits).expect_err("too large").is_limit());
}

#[test]
fn no_input_makes_it_panic() {
    let array = npy("<f4", "False", "(2, 3)", &[7; 24]);
    let members: Vec<(&str, &[u8])> = vec![("0.npy", &array), ("1.npy", &array)];
    for method in [CompressionMethod::STORE, CompressionMethod::DEFLATE] {
        let good = archive(&members, method);
        for at in 0..good.len() {
            let _ = npz::read(good[..at].to_vec());
            for flip in [1, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                let _ = npz::read(bad);
            }
        }
    }
}

#[test]
fn committed_arrays_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/jaxlib-0.11.2");
    let file = std::fs::read(root.join("empty_and_scalar/inputs.npz")).expect("committed");
    let arrays = npz::numbered(npz::read(file).expect("read")).expect("numbered");
    let shapes: Vec<_> =
        arrays.iter().map(|array| (array.shape.clone(), array.data.len())).collect();
    assert_eq!(shapes, [(vec![0, 4], 0), (vec![], 4)]);
}
