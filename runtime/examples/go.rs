use aotgate_runtime::{artifact::Artifact, backend::{HostArray, run}, program::{Limits, Program}};
fn main() {
    let (mut ok, mut bad, mut skip) = (0, 0, 0);
    for dir in std::env::args().skip(1) {
        let name = dir.trim_start_matches("/work/shared/goldens/").to_string();
        let bytes = std::fs::read(format!("{dir}/executable.bin")).unwrap();
        let t = std::time::Instant::now();
        let limits = Limits { memory: 4 << 30, ..Limits::default() };
        let a = Artifact::read(bytes).unwrap();
        let program = match Program::new(a.decode().unwrap(), &limits) { Ok(p) => p, Err(e) => { println!("{name}: INVALID {e}"); bad += 1; continue } };
        let shapes: Vec<_> = program.parameters.iter().flat_map(|p| p.leaves()).cloned().collect();
        let npy = format!("/tmp/npy/{name}");
        let inputs: Result<Vec<Vec<_>>, _> = (0..program.devices()).map(|d| shapes.iter().enumerate().map(|(i, s)| HostArray::new(s, &std::fs::read(format!("{npy}/inputs.{d}.{i}")).unwrap_or_default())).collect()).collect();
        let inputs = match inputs { Ok(p) => p, Err(e) => { println!("{name}: INPUT {e}"); bad += 1; continue } };
        let r = match run(&program, &inputs, &limits) { Ok(r) => r, Err(e) if e.is_unsupported() => { println!("{name}: SKIP {e}"); skip += 1; continue } Err(e) => { println!("{name}: ERROR {e}"); bad += 1; continue } };
        let mut worst = 0.0_f64; let mut exact = true; let mut n = 0; let mut mism = 0;
        for d in 0..program.devices() { for (i, o) in r.outputs[d].iter().enumerate() {
            let want = std::fs::read(format!("{npy}/outputs.{d}.{i}")).unwrap();
            let want = HostArray::new(&o.shape(), &want).unwrap();
            if want.bytes() != o.bytes() { exact = false; }
            let (a, b) = (o.f64s(), want.f64s()); let top = b.iter().filter(|x| x.is_finite()).fold(1e-30_f64, |m, x| m.max(x.abs()));
            for (x, y) in a.iter().zip(&b) { n += 1; if x == y || (x.is_nan() && y.is_nan()) { continue } mism += 1; let e = (x - y).abs() / top; if !(e <= worst) { worst = e } }
        } }
        for w in &program.warnings { println!("{name}: WARNING {w}") } println!("{name}: {} worst {worst:.3e} mismatching {mism}/{n} {:?}", if exact { "EXACT" } else if worst < 2e-3 { "CLOSE" } else { "DIFF" }, t.elapsed());
        if exact || worst < 2e-3 { ok += 1 } else { bad += 1 }
    }
    println!("ok {ok} bad {bad} skip {skip}");
}
