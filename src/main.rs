//! x
use aotgate::descriptor::*;
use aotgate::revision::*;
fn main() {
    let repo =
        Repository::discover(std::path::Path::new(&std::env::args().nth(1).unwrap())).unwrap();
    let spec = ContractSpec {
        roots: vec![
            RootSpec {
                message: "xla.gpu.GpuExecutableProto".into(),
                files: vec!["xla/service/gpu/gpu_executable.proto".into()],
            },
            RootSpec {
                message: "xla.gpu.ThunkProto".into(),
                files: vec!["xla/backends/gpu/runtime/thunk.proto".into()],
            },
        ],
        opaque: vec![OpaqueSpec {
            field: "".into(),
            message: "xla.gpu.GpuBackendConfig".into(),
            file: "xla/service/gpu/backend_configs.proto".into(),
        }],
        include: vec!["".into(), "third_party/tsl".into()],
        prefixes: vec![],
    };
    let mut cache = ParseCache::default();
    let mut f = |r: &str| {
        let rev = Revision::open(&r.parse().unwrap(), Some(&repo)).unwrap();
        rev.closure(&spec, &mut cache).unwrap().contract(&spec).unwrap()
    };
    for c in std::env::args().skip(2) {
        let base = f(&format!("{c}^"));
        let head = f(&c);
        let t = std::time::Instant::now();
        let ch = aotgate::change::compare(&base, &head);
        println!("{c} {:?}", t.elapsed());
        for c in ch {
            println!(
                "  {}{} {} {} {} {:?} {:?} -> {:?} {}/{} {:?}",
                if c.reach.wire { "W" } else { "-" },
                if c.reach.json { "J" } else { "-" },
                c.surface.name(),
                c.kind.name(),
                c.construct,
                c.number,
                c.before,
                c.after,
                c.wire.backward.name(),
                c.wire.forward.name(),
                c.detail
            );
        }
    }
}
