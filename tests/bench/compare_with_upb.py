"""The other side of compare_with_upb.sh, and who leads: asks both in turn, and reports medians and ratios."""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation

ROOT = "xla.gpu.GpuExecutableProto"
RELEASED = pathlib.Path("tests/data/released")
LARGE = 1 << 20


def message_class(release):
    files = descriptor_pb2.FileDescriptorSet.FromString((RELEASED / f"{release}.fds").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    waiting = list(files.file)
    while waiting:  # a file comes after what it imports
        later = []
        for file in waiting:
            try:
                pool.Add(file)
            except Exception:
                later.append(file)
        if len(later) == len(waiting):
            raise SystemExit(f"{release}.fds: imports are missing: {[file.name for file in later]}")
        waiting = later
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(ROOT))


def peak(reset):
    if reset:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def parse(cls, data, count):
    start = time.perf_counter_ns()
    for _ in range(count):
        cls().ParseFromString(data)
    return time.perf_counter_ns() - start


def serialize(cls, data, count):
    message = cls.FromString(data)
    start = time.perf_counter_ns()
    for _ in range(count):
        message.SerializeToString(deterministic=True)
    return time.perf_counter_ns() - start


def lead(partner, rounds):
    if api_implementation.Type() != "upb":
        raise SystemExit(f"this protobuf is {api_implementation.Type()}, not upb")
    folder = pathlib.Path(tempfile.mkdtemp())
    ours = subprocess.Popen([partner, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    cases = []
    while line := ours.stdout.readline().rstrip("\n"):
        release, size, record_file, name = line.split("\t")
        data = (folder / f"{len(cases)}.binpb").read_bytes()
        cases.append((name, release, int(size), record_file == "true", data))
    classes = {release: message_class(release) for _, release, *_ in cases}

    def ask(operation, case, count):
        ours.stdin.write(f"{operation} {case} {count}\n")
        ours.stdin.flush()
        return int(ours.stdout.readline())

    times = {}
    for turn in range(rounds + 1):  # the first one warms up
        for case, (_, release, size, record_file, data) in enumerate(cases):
            count = 1 if size > LARGE else 50
            work = {
                "copy": lambda: ask("memcpy", case, count),
                "open": lambda: ask("open", case, count),
                "typed": lambda: ask("typed", case, count),
                "upb parse": lambda: parse(classes[release], data, count),
                "view": lambda: ask("view", case, count),
                "canonical": lambda: ask("canonical", case, count),
                "upb serialize": lambda: serialize(classes[release], data, count),
            }
            if record_file:
                work["riegeli"] = lambda: ask("riegeli", case, count)
            names = list(work)
            for name in names[turn % len(names):] + names[: turn % len(names)]:
                taken = work[name]() / count / 1000
                if turn:
                    times.setdefault((case, name), []).append(taken)

    median = {key: statistics.median(values) for key, values in times.items()}

    def ratio(case, ours, theirs):
        return median[case, ours] / median[case, theirs]

    print("microseconds, median of", rounds, "rounds; protobuf", __import__("google.protobuf").protobuf.__version__)
    head = ["open", "copy", "open/copy", "typed", "view", "upb", "typed/upb", "view/upb", "canon/upb", "riegeli"]
    print(f"{'':44}" + "".join(f"{title:>11}" for title in head))
    ratios = {title: [] for title in ("typed/upb", "view/upb", "canon/upb")}
    for case, (name, _, size, record_file, _) in enumerate(cases):
        row = [median[case, "open"], median[case, "copy"], ratio(case, "open", "copy"), median[case, "typed"],
               median[case, "view"], median[case, "upb parse"], ratio(case, "typed", "upb parse"),
               ratio(case, "view", "upb parse"), ratio(case, "canonical", "upb serialize")]
        if size <= LARGE:
            for title, value in zip(ratios, row[6:9]):
                ratios[title].append(value)
        if record_file:
            row.append(median[case, "riegeli"])
        if size > LARGE or len(cases) < 40:
            print(f"{name:44}" + "".join(f"{value:11.2f}" for value in row))
    for title, values in ratios.items():
        values.sort()
        print(f"real artifacts ({len(values)}): {title} median {statistics.median(values):.2f}, "
              f"{values[0]:.2f} to {values[-1]:.2f}")

    print("peak memory beyond the input, MiB")
    for case, (name, release, size, _, _) in enumerate(cases):
        if size <= LARGE:
            continue
        row = [int(subprocess.check_output([partner, "peak", operation, str(case)]))
               for operation in ("open", "typed", "view")]
        row.append(int(subprocess.check_output(
            [sys.executable, __file__, "peak", release, str(folder / f"{case}.binpb")])))
        titles = ("open", "typed", "view", "upb")
        print(f"{name:44}" + "".join(f"  {title} {value / 2**20:.1f}" for title, value in zip(titles, row)))


if __name__ == "__main__":
    if sys.argv[1] == "peak":
        cls, data = message_class(sys.argv[2]), pathlib.Path(sys.argv[3]).read_bytes()
        before = peak(True)
        message = cls.FromString(data)
        print(peak(False) - before)
    else:
        lead(sys.argv[1], int(sys.argv[2]))
