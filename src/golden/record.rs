//! Recording a golden: from an artifact and its arrays, or from a folder of a recording harness.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use prost::bytes::Bytes;
use serde::Deserialize;

use super::draft::{Draft, Signature};
use super::fill::fill;
use super::manifest::{
    Device, FILE_NAME, Manifest, ManifestArray, Producer, Program, Target, Tolerance,
};
use super::shape::ArrayShape;
use crate::error::{Error, ErrorKind};
use crate::execute::Opener;

/// The device of outputs that were computed here.
const HERE: &str = "aotgate reference backend";

/// Larger files are not recorded.
const MAX_FILE: u64 = 1 << 30;
/// Nor are longer manifests; a real one has half a kilobyte.
const MAX_MANIFEST: u64 = 1 << 20;

/// What the person who records says; the rest is read off the artifact.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Release date of the compiler.
    pub emitted_at: NaiveDate,
    /// The compiler; from the folder or the set's name where it is not given.
    pub producer: Option<Producer>,
    /// Device that computed the expected outputs.
    pub device: Option<String>,
    /// Files with the inputs of each device.
    pub inputs: Vec<PathBuf>,
    /// Files with the expected outputs of each device.
    pub expected: Vec<PathBuf>,
    /// Anything worth knowing.
    pub note: Option<String>,
    /// How far outputs may be off, where the defaults do not do.
    pub tolerance: Option<Tolerance>,
    /// Compute the outputs here, from inputs made from this seed where none are given.
    pub execute: Option<u64>,
}

/// `meta.json` of a recording harness.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    #[serde(rename = "name")]
    _name: Option<String>,
    jaxlib: Option<String>,
    device: Option<String>,
    replicas: Option<u32>,
    partitions: Option<u32>,
    /// NumPy type and sizes of each array.
    inputs: Option<Vec<(String, Vec<u64>)>>,
    outputs: Option<Vec<(String, Vec<u64>)>>,
    #[serde(default)]
    options: BTreeMap<String, serde_json::Value>,
}

/// Drafts a golden from an artifact, or from a folder with `executable.bin`, `inputs[.<d>].npz`, `outputs[.<d>].npz`
/// and `meta.json`; a folder of a store has `golden.toml`, which says as much. `opener` is what the store's readers open
/// artifacts with.
///
/// # Errors
/// Files that cannot be read, and what [`Draft::validate`] refuses.
pub fn draft(source: &Path, set: &str, given: &Given, opener: &Opener) -> Result<Draft, Error> {
    let folder = source.is_dir();
    let earlier = earlier(source)?;
    let name = earlier.as_ref().map_or("executable.bin", |earlier| &*earlier.artifact);
    let artifact = if folder { source.join(name) } else { source.to_owned() };
    let bytes = read(&artifact)?;
    let signature = Signature::of(&artifact.display().to_string(), &bytes, opener)?;
    let meta = if folder { meta(&source.join("meta.json"))? } else { Meta::default() };
    let count = signature.replicas.saturating_mul(signature.partitions) as usize;
    let of_stem = |stem: &str| -> Vec<PathBuf> {
        let names = (0..count).map(|at| format!("{stem}.{at}.npz"));
        let per_device: Vec<PathBuf> = names.map(|name| source.join(name)).collect();
        if per_device.iter().all(|path| path.is_file()) {
            return per_device;
        }
        let one = source.join(format!("{stem}.npz"));
        if one.is_file() { vec![one] } else { Vec::new() }
    };
    // A harness writes `outputs`, a store has `expected`.
    let files = |given: &[PathBuf], stems: &[&str], of: fn(&Device) -> &Option<String>| {
        if !given.is_empty() || !folder {
            return given.to_vec();
        }
        if let Some(earlier) = &earlier {
            let names = earlier.devices.iter().filter_map(|device| of(device).as_ref());
            return names.map(|name| source.join(name)).collect();
        }
        let found = stems.iter().map(|stem| of_stem(stem)).find(|files| !files.is_empty());
        found.unwrap_or_default()
    };
    let mut contents = BTreeMap::new();
    let parameters = arrays(&signature.inputs, meta.inputs.as_deref())?;
    // A harness writes an empty archive for a program without parameters.
    let named = if parameters.is_empty() && given.inputs.is_empty() {
        Vec::new()
    } else {
        files(&given.inputs, &["inputs"], |device| &device.inputs)
    };
    let mut inputs = take(&named, "inputs", count, &mut contents)?;
    let outputs = files(&given.expected, &["outputs", "expected"], |device| &device.expected);
    let mut expected = take(&outputs, "expected", count, &mut contents)?;
    let name = file_name(&artifact)?;
    if contents.insert(name.clone(), bytes).is_some() {
        return Err(ErrorKind::Usage {
            message: format!("the artifact is called {name}, like the arrays beside it"),
            help: "give the artifact another name, such as executable.bin".to_owned(),
        }
        .into());
    }
    if let Some(seed) = given.execute {
        if !expected.is_empty() {
            return Err(ErrorKind::Usage {
                message: "there are expected outputs already, so none are to be computed"
                    .to_owned(),
                help: "leave out `--execute`, or name an artifact without outputs".to_owned(),
            }
            .into());
        }
        let computed = fill(&name, &inputs, seed, &mut contents, opener)?;
        inputs = computed.inputs;
        expected = computed.expected;
    }
    let mut outputs = arrays(&signature.outputs, meta.outputs.as_deref())?;
    let kept = earlier.as_ref().map(|earlier| &earlier.program.outputs[..]).unwrap_or_default();
    for (at, output) in outputs.iter_mut().enumerate() {
        let kept = kept.get(at).and_then(|output| output.tolerance);
        output.tolerance = given.tolerance.or(kept);
    }
    let here = given.execute.map(|_| HERE.to_owned());
    let mut options: BTreeMap<String, String> =
        meta.options.iter().map(|(name, value)| (name.clone(), plain(value))).collect();
    let mut note = given.note.clone();
    let mut device = given.device.clone().or(here).or(meta.device.clone());
    let mut producer = producer(set, given, &meta);
    if let Some(earlier) = earlier {
        options.extend(earlier.program.options);
        note = note.or(earlier.note);
        device = device.or(earlier.target.device);
        producer = producer.or(Ok(earlier.producer));
    }
    let manifest = Manifest {
        artifact: name,
        emitted_at: given.emitted_at,
        producer: producer?,
        target: Target {
            architecture: signature.architecture.clone().unwrap_or_else(|| "unknown".to_owned()),
            device,
        },
        program: Program {
            replicas: meta.replicas.unwrap_or(signature.replicas),
            partitions: meta.partitions.unwrap_or(signature.partitions),
            options,
            inputs: parameters,
            outputs,
        },
        devices: devices(count, inputs, expected),
        cannot_run: signature.cannot_run,
        note,
    };
    let draft = Draft { manifest, files: contents };
    draft.validate(opener)?;
    Ok(draft)
}

impl Draft {
    /// Writes the golden to `<store>/<set>/<program>/`, its manifest last.
    ///
    /// # Errors
    /// Names that are none, a golden that is there already (unless `replace`), links on the way, output errors.
    pub fn write(
        &self,
        store: &Path,
        set: &str,
        program: &str,
        replace: bool,
    ) -> Result<PathBuf, Error> {
        let dir = store.join(plain_name(set)?).join(plain_name(program)?);
        for place in [store, &store.join(set), &dir] {
            if place.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
                let path = place.display().to_string();
                return Err(ErrorKind::NotADirectory { path, what: "a file or a link" }.into());
            }
        }
        if dir.is_dir() && !replace {
            return Err(ErrorKind::Golden {
                path: dir.display().to_string(),
                what: "there is a golden already".to_owned(),
                help: "goldens are evidence and stay as they are; record under another set or program, or replace it with `--force`".to_owned(),
            }
            .into());
        }
        let manifest = Bytes::from(self.rendered()?);
        let last = [(FILE_NAME, &manifest)];
        let files = self.files.iter().map(|(name, bytes)| (&**name, bytes));
        put(&dir, files.chain(last))?;
        Ok(dir)
    }

    /// The manifest's text, read again: what cannot be read as it was meant is not written.
    fn rendered(&self) -> Result<String, Error> {
        let text = self.manifest.to_toml();
        let odd = |what: String| -> Error {
            let help = "this is a defect unless the arguments are odd; please report it".to_owned();
            ErrorKind::Golden { path: FILE_NAME.to_owned(), what, help }.into()
        };
        if text.len() as u64 > MAX_MANIFEST {
            return Err(odd(format!("{} bytes are more than a manifest has", text.len())));
        }
        let again = Manifest::parse(FILE_NAME, &text)?;
        if again != self.manifest {
            return Err(odd("it does not read back as what was to be written".to_owned()));
        }
        match again.files().into_iter().find(|name| !self.files.contains_key(*name)) {
            Some(name) => Err(odd(format!("it names {name}, which is not there"))),
            None => Ok(text),
        }
    }
}

/// Puts files into a directory, the last one last, and takes away those that only it had. The new ones are whole before
/// anything old goes.
fn put<'f>(dir: &Path, files: impl Iterator<Item = (&'f str, &'f Bytes)>) -> Result<(), Error> {
    let io = |path: &Path, error| Error::from(ErrorKind::Io { path: path.to_owned(), error });
    std::fs::create_dir_all(dir).map_err(|error| io(dir, error))?;
    let mut written = Vec::new();
    for (name, bytes) in files {
        let new = dir.join(format!(".{name}.{}.new", std::process::id()));
        // A link of that name is replaced, not followed.
        let _ = std::fs::remove_file(&new);
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&new);
        let done = file.and_then(|mut file| file.write_all(bytes));
        written.push((dir.join(name), new));
        if let Err(error) = done {
            for (_, new) in &written {
                let _ = std::fs::remove_file(new);
            }
            return Err(io(dir, error));
        }
    }
    for (path, new) in &written {
        std::fs::rename(new, path).map_err(|error| io(path, error))?;
    }
    for entry in std::fs::read_dir(dir).map_err(|error| io(dir, error))? {
        let path = entry.map_err(|error| io(dir, error))?.path();
        let kept = written.iter().any(|(new, _)| *new == path);
        if !kept && path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            std::fs::remove_file(&path).map_err(|error| io(&path, error))?;
        }
    }
    Ok(())
}

/// Reads one file per device (or one for the only device) under the names that it gets in the store.
fn take(
    paths: &[PathBuf],
    stem: &str,
    devices: usize,
    contents: &mut BTreeMap<String, Bytes>,
) -> Result<Vec<String>, Error> {
    if !paths.is_empty() && paths.len() != devices {
        let message = format!("{} files of {stem} for {devices} devices", paths.len());
        let help = format!("give --{stem} once per device, in their order");
        return Err(ErrorKind::Usage { message, help }.into());
    }
    let mut names = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let name = if devices == 1 { format!("{stem}.npz") } else { format!("{stem}.{at}.npz") };
        contents.insert(name.clone(), read(path)?);
        names.push(name);
    }
    Ok(names)
}

fn devices(count: usize, inputs: Vec<String>, expected: Vec<String>) -> Vec<Device> {
    if inputs.is_empty() && expected.is_empty() {
        return Vec::new();
    }
    let (mut inputs, mut expected) = (inputs.into_iter(), expected.into_iter());
    (0..count).map(|_| Device { inputs: inputs.next(), expected: expected.next() }).collect()
}

/// What the program says and, where it says nothing, what the folder does. Validation compares the two.
fn arrays(
    own: &Option<Vec<ManifestArray>>,
    meta: Option<&[(String, Vec<u64>)]>,
) -> Result<Vec<ManifestArray>, Error> {
    let Some(meta) = meta else { return Ok(own.clone().unwrap_or_default()) };
    let donated = |at: usize| own.as_ref().and_then(|own| own.get(at)).is_some_and(|a| a.donated);
    meta.iter()
        .enumerate()
        .map(|(at, (numpy, dimensions))| {
            let element = element(numpy).ok_or_else(|| ErrorKind::Golden {
                path: "meta.json".to_owned(),
                what: format!("no element type is called {numpy:?}"),
                help: "write the name that NumPy or ml_dtypes has for it".to_owned(),
            })?;
            let shape = ArrayShape { element, dimensions: dimensions.clone() };
            Ok(ManifestArray { shape, donated: donated(at), tolerance: None })
        })
        .collect()
}

/// XLA's name of a type of NumPy or `ml_dtypes`.
fn element(numpy: &str) -> Option<String> {
    let name = match numpy {
        "bool" => "pred".to_owned(),
        "bfloat16" => "bf16".to_owned(),
        _ if numpy.starts_with("float8_") || numpy.starts_with("float4_") => {
            format!("f{}", numpy.trim_start_matches("float").replace('_', ""))
        }
        _ => ["uint", "int", "float", "complex"].iter().find_map(|kind| {
            let bits = numpy.strip_prefix(kind)?;
            let kind = if *kind == "int" { "s" } else { kind.get(..1)? };
            Some(format!("{kind}{bits}"))
        })?,
    };
    let known = ArrayShape { element: name, dimensions: Vec::new() };
    (!known.stored_as().is_empty()).then_some(known.element)
}

fn producer(set: &str, given: &Given, meta: &Meta) -> Result<Producer, Error> {
    if let Some(producer) = &given.producer {
        return Ok(producer.clone());
    }
    if let Some(version) = &meta.jaxlib {
        return Ok(Producer { name: "jaxlib".to_owned(), version: version.clone() });
    }
    match set.rsplit_once('-') {
        Some((name, version)) if !name.is_empty() && !version.is_empty() => {
            Ok(Producer { name: name.to_owned(), version: version.to_owned() })
        }
        _ => Err(ErrorKind::Usage {
            message: format!("the set's name '{set}' does not say which compiler made it"),
            help: "pass `--producer NAME VERSION`, or call the set NAME-VERSION".to_owned(),
        }
        .into()),
    }
}

/// The manifest of a folder that is a golden of a store itself: what nobody says anew stays as it was.
fn earlier(source: &Path) -> Result<Option<Manifest>, Error> {
    let path = source.join(FILE_NAME);
    if !path.is_file() {
        return Ok(None);
    }
    let shown = path.display().to_string();
    let text = String::from_utf8(read(&path)?.to_vec()).map_err(|_| {
        let help = "save the file as UTF-8".to_owned();
        ErrorKind::Golden { path: shown.clone(), what: "not UTF-8 text".to_owned(), help }
    })?;
    Manifest::parse(&shown, &text).map(Some)
}

fn meta(path: &Path) -> Result<Meta, Error> {
    if !path.is_file() {
        return Ok(Meta::default());
    }
    serde_json::from_slice(&read(path)?).map_err(|error| {
        ErrorKind::Golden {
            path: path.display().to_string(),
            what: error.to_string(),
            help: "see golden/README.md for what the file holds".to_owned(),
        }
        .into()
    })
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn read(path: &Path) -> Result<Bytes, Error> {
    let io = |error| Error::from(ErrorKind::Io { path: path.to_owned(), error });
    let metadata = std::fs::metadata(path).map_err(io)?;
    let shown = path.display().to_string();
    if !metadata.is_file() {
        return Err(ErrorKind::NotAFile { path: shown, what: "something else" }.into());
    }
    if metadata.len() > MAX_FILE {
        let (bytes, limit) = (metadata.len() as usize, MAX_FILE as usize);
        return Err(ErrorKind::FileTooLarge { path: shown, bytes, limit }.into());
    }
    std::fs::read(path).map(Bytes::from).map_err(io)
}

fn file_name(path: &Path) -> Result<String, Error> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    plain_name(name).map(str::to_owned)
}

/// A name that is safe as a directory or file on every system.
fn plain_name(name: &str) -> Result<&str, Error> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(allowed) || name == FILE_NAME {
        return Err(ErrorKind::Usage {
            message: format!("'{name}' is no name for a golden's file or directory"),
            help: "use letters, digits, `.`, `_`, `-` and `+`, and no dot in front".to_owned(),
        }
        .into());
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_numpy_have_names_in_hlo() {
        for (numpy, hlo) in [
            ("bool", "pred"),
            ("bfloat16", "bf16"),
            ("float8_e4m3fn", "f8e4m3fn"),
            ("float16", "f16"),
            ("int4", "s4"),
            ("uint64", "u64"),
            ("complex128", "c128"),
        ] {
            assert_eq!(element(numpy).as_deref(), Some(hlo), "{numpy}");
        }
        for odd in ["object", "str", "float", "int7", ""] {
            assert_eq!(element(odd), None, "{odd}");
        }
    }
}
