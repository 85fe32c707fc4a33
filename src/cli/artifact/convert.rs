//! `aotgate artifact convert`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use aotgate_runtime::artifact::diff::Diff;
use aotgate_runtime::artifact::{
    Artifact, Compression, Container, ContainerRules, Encoding, EnvelopeForm, Form,
};
use clap::{Args, ValueEnum};

use super::{ArtifactContext, Input};
use crate::cli::files::Files;
use crate::cli::{Status, output};
use crate::error::{Error, ErrorKind};
use crate::triage::policy::closest;
use crate::view;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Containers for --to, with what XLA's split-proto-cli calls them:
  plain           serialized GpuExecutableProto (unpack --output_format=binary)
  split           split GpuExecutableProto (pack --proto_type=xla.gpu.GpuExecutableProto)
  outer-plain     serialized ExecutableAndOptionsProto around a split executable (unpack, of an AOT binary)
  outer-split     split ExecutableAndOptionsProto around a split executable: its AOT binary (pack-aot); also `aot`
  text            HumanReadableAotExecutable in text format (unpack-aot)
  release:X       what that jaxlib release writes, envelope included

Examples:
  aotgate artifact convert executable.bin --to release:0.10.1 -o old.bin
  aotgate artifact convert executable.bin --to split --drop options,envelope -o executable.riegeli
  aotgate artifact convert aot.riegeli --to outer-plain -o -

Only the container changes. The result is read back and compared before it is written.")]
pub(in crate::cli) struct ConvertArgs {
    /// An artifact; `-` is standard input. `-o` names the result.
    file: PathBuf,
    /// The container to write.
    #[arg(long, value_name = "CONTAINER")]
    to: Target,
    /// How records of a split proto are stored; a release has its own way [default: none].
    #[arg(long, value_enum)]
    compression: Option<Stored>,
    /// Layers that may be lost where the container has no place for them.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LAYER")]
    drop: Vec<Dropped>,
    /// Replace a file that exists.
    #[arg(long)]
    force: bool,
}

impl ConvertArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        // With `--force` it may take its own artifact's place, which is read whole before.
        let read = (!self.force).then_some(&self.file);
        Files::default().reads(read).forced(self.force)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stored {
    /// As they are.
    None,
    /// Compressed by Snappy, as compilers do it.
    Snappy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dropped {
    /// Compile options and the client's name.
    Options,
    /// The IFRT envelope's metadata.
    Envelope,
}

#[derive(Debug, Clone, Copy)]
enum Target {
    Plain,
    Split,
    OuterPlain,
    OuterSplit,
    Text,
    Release(&'static ContainerRules),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const NAMES: [&str; 5] = ["plain", "split", "outer-plain", "outer-split", "text"];
        let releases = || ContainerRules::RELEASES.map(|rules| rules.release).join(", ");
        if let Some(release) = text.strip_prefix("release:") {
            return ContainerRules::of(release).map(Target::Release).ok_or_else(|| {
                format!(
                    "the containers of release {release} are not known; known are {}",
                    releases()
                )
            });
        }
        Ok(match text {
            "plain" => Target::Plain,
            "split" => Target::Split,
            "outer-plain" => Target::OuterPlain,
            "outer-split" | "aot" => Target::OuterSplit,
            "text" | "textproto" | "pbtxt" => Target::Text,
            other => {
                let close = closest(other, NAMES.into_iter());
                let hint = close.map_or(String::new(), |name| format!("did you mean {name}? "));
                let names = NAMES.join(", ");
                return Err(format!("{hint}one of {names}, or release:X with X of {}", releases()));
            }
        })
    }
}

impl Target {
    /// The containers; `None` for text.
    fn form(self, compression: Option<Stored>) -> Option<Form> {
        let split = Encoding::Split(match compression {
            None | Some(Stored::None) => Compression::None,
            Some(Stored::Snappy) => Compression::Snappy,
        });
        let form = |outer, executable| Some(Form { envelope: None, outer, executable });
        match self {
            Target::Plain => form(None, Encoding::Plain),
            Target::Split => form(None, split),
            Target::OuterPlain => form(Some(Encoding::Plain), split),
            Target::OuterSplit => form(Some(split), split),
            Target::Text => None,
            Target::Release(rules) => {
                let mut form = rules.writes;
                if compression.is_some() {
                    form.outer =
                        form.outer.map(|own| if own == Encoding::Plain { own } else { split });
                    form.executable = split;
                }
                Some(form)
            }
        }
    }
}

pub(super) fn run(context: &ArtifactContext<'_>, args: &ConvertArgs) -> miette::Result<Status> {
    let Some(path) = &context.output else {
        return Err(Error::from(ErrorKind::Usage {
            message: "`artifact convert` needs a file to write".to_owned(),
            help: "name it with `-o FILE`; `-o -` is standard output".to_owned(),
        })
        .into());
    };
    let standard = path == Path::new("-");
    if !standard && !args.force {
        output::check_absent(path)?;
    }
    let input = Input::read(&args.file)?;
    let artifact = input.open(context)?;
    let (written, again) = match args.to.form(args.compression) {
        Some(form) => {
            let kept = (form.outer.is_some(), form.envelope.is_some());
            refuse_loss(&input, &artifact, kept, &args.drop)?;
            let written = artifact.write(&form).map_err(|error| input.error(error))?;
            let again = Artifact::read_with(written.clone(), &context.limits)
                .map_err(|error| input.error(error))?;
            (written, again)
        }
        None => {
            refuse_loss(&input, &artifact, (true, false), &args.drop)?;
            text(context, &input, &artifact)?
        }
    };
    verify(&input, &artifact, &again, &args.drop)?;
    if standard {
        output::write_bytes_to_standard(&written)?;
    } else if args.force {
        output::replace_bytes(path, &written)?;
    } else {
        output::write_new_bytes(path, &written)?;
    }
    note(path, &written, &again, args.to);
    Ok(Status::Passed)
}

/// The artifact as text, and as it reads back.
fn text(
    context: &ArtifactContext<'_>,
    input: &Input,
    artifact: &Artifact,
) -> Result<(Vec<u8>, Artifact), Error> {
    let contract = context.text_contract()?;
    let printed = view::print_artifact(artifact, &contract)?;
    if let Some(first) = printed.left_out.first() {
        let more = match printed.left_out.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        return Err(ErrorKind::Convert {
            path: input.name.clone(),
            message: format!(
                "text has no way to write {} ({}), first at {}{more}",
                first.construct, first.what, first.first
            ),
            help: "name the schema of the artifact's own time with `--schema`".to_owned(),
        }
        .into());
    }
    let written = printed.text.into_bytes();
    let again = view::open(written.clone(), &contract)?;
    Ok((written, again))
}

/// An error where a layer of the artifact has no place in the container and nobody agreed.
fn refuse_loss(
    input: &Input,
    artifact: &Artifact,
    (outer, envelope): (bool, bool),
    agreed: &[Dropped],
) -> Result<(), Error> {
    let layers = [
        (Dropped::Options, artifact.outer().is_some() && !outer),
        (Dropped::Envelope, artifact.envelope().is_some() && !envelope),
    ];
    let lost: Vec<Dropped> = layers
        .into_iter()
        .filter(|(layer, is)| *is && !agreed.contains(layer))
        .map(|l| l.0)
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    let describe = |layer: &Dropped| match layer {
        Dropped::Options => "the compile options and the client's name",
        Dropped::Envelope => "the IFRT envelope's metadata",
    };
    let name = |layer: &Dropped| match layer {
        Dropped::Options => "options",
        Dropped::Envelope => "envelope",
    };
    let words = |of: fn(&Dropped) -> &'static str, between: &str| {
        lost.iter().map(of).collect::<Vec<_>>().join(between)
    };
    Err(ErrorKind::Convert {
        path: input.name.clone(),
        message: format!("the container has no place for {}", words(describe, " and ")),
        help: format!(
            "pass `--drop {}` if they may be lost, or choose a container that keeps them",
            words(name, ",")
        ),
    }
    .into())
}

/// An error where what was written does not read as what was to be written.
fn verify(
    input: &Input,
    artifact: &Artifact,
    again: &Artifact,
    agreed: &[Dropped],
) -> Result<(), Error> {
    let failed = |message: &str, help: &str| -> Result<(), Error> {
        let (path, message) = (input.name.clone(), message.to_owned());
        Err(ErrorKind::Convert { path, message, help: help.to_owned() }.into())
    };
    let diff = Diff::new(artifact, again).map_err(|error| input.error(error))?;
    if !diff.same_executable || (again.outer().is_some() && !diff.same_options) {
        return failed(
            "what was written does not read back as the same artifact",
            "nothing was written; this is a defect, please report it with the artifact",
        );
    }
    // An ABI entry that is taken out or put in has to be one that the executable itself tells.
    if let (Some(before), Some(after)) = (artifact.envelope(), again.envelope())
        && before != after
        && !agreed.contains(&Dropped::Envelope)
    {
        let envelope = match before.abi_version() {
            Some(_) => EnvelopeForm::WithAbi,
            None => EnvelopeForm::WithoutAbi,
        };
        let executable = Encoding::Split(Compression::None);
        let form = Form { envelope: Some(envelope), outer: Some(Encoding::Plain), executable };
        let back = again.write(&form).and_then(Artifact::read);
        if !back.is_ok_and(|back| back.envelope() == Some(before)) {
            return failed(
                "the envelope's ABI entry says more than the executable and would be lost",
                "pass `--drop envelope` if it may be lost",
            );
        }
    }
    Ok(())
}

/// Says on standard error what was written, and what that does not promise.
fn note(path: &Path, written: &[u8], again: &Artifact, target: Target) {
    let layers: Vec<_> = again.layers().iter().map(|layer| layer.container.name()).collect();
    let name =
        if path == Path::new("-") { "standard output".into() } else { path.to_string_lossy() };
    let text = format!("wrote {name}: {} bytes, {}", written.len(), layers.join(" > "));
    output::note(&crate::report::text::line(&text));
    let Target::Release(rules) = target else { return };
    let lacks = |artifact: &Artifact| {
        artifact.decode().is_ok_and(|executable| {
            !executable.thunks.is_empty() && executable.buffer_allocations_debug_summary.is_empty()
        })
    };
    if rules.outer == Container::SplitOuter && lacks(again) {
        output::note(&format!(
            "note: loaders of {} also want buffer_allocations_debug_summary, which this executable lacks; only the container was changed",
            rules.release
        ));
    }
}
