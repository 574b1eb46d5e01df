//! What `trace_model` does and says, whatever the provider.

mod common;

use std::time::{Duration, Instant};

use common::{Run, data};

const ON_X86_64_LINUX: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));
const DONE: &str = "all 59000 results are what plain Rust computes\n";

fn trace_model(arguments: &[&str]) -> Run {
    common::run(env!("CARGO_BIN_EXE_trace_model"), arguments, &[])
}

#[test]
fn the_model_runs_and_its_results_are_right() {
    let run = trace_model(&[]);
    if ON_X86_64_LINUX {
        assert_eq!((run.code, run.out.as_str()), (Some(0), &*format!("ran 3 kernels once; {DONE}")));
    } else {
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
        assert!(run.err.starts_with("trace_model: mlp_net_linked is for x86_64; this host is "), "{run:?}");
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn batches_threads_and_repetitions_are_as_asked() {
    let run = trace_model(&["--threads", "3", "--workgroups", "--repeat", "4"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), &*format!("ran 3 kernels 4 times; {DONE}")));

    let run = trace_model(&["--batch", "1"]);
    assert_eq!(run.out, "ran 3 kernels once; all 59 results are what plain Rust computes\n");

    let run = trace_model(&["--seconds", "0"]);
    assert_eq!(run.out, format!("ran 3 kernels once; {DONE}"));

    let started = Instant::now();
    let run = trace_model(&["--seconds", "0.2", "--batch", "1"]);
    assert!(started.elapsed() >= Duration::from_millis(200), "{run:?}");
    assert!(run.out.ends_with("all 59 results are what plain Rust computes\n"), "{run:?}");
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_same_kernels_run_from_another_file() {
    let run = trace_model(&[&data("mlp.cpu.g2.vmfb")]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), &*format!("ran 3 kernels once; {DONE}")));
    assert!(run.err.contains("the module carries no source texts to show"), "{run:?}");
}

#[test]
fn a_module_can_be_listed() {
    let run = trace_model(&["--list"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    for line in [
        "mlp_net_linked (iree-cpu for x86_64)",
        "  kernel 1: infer_dispatch_1_matmul_Dx10x48_f32 at examples/models/mlp.mlir:10",
        "    2.translated  mlp_net_infer_dispatch_1_embedded_elf_x86_64.2.translated.mlir:21",
        "  kernel 2: rowsum_dispatch_0_reduction_Dx10_f32 at examples/models/mlp.mlir:34",
        "    0.source      mlp_net_rowsum_dispatch_0_embedded_elf_x86_64.0.source.mlir:8",
    ] {
        assert!(run.out.lines().any(|l| l == line), "{line} is not in {}", run.out);
    }
    let texts = run.out.lines().filter(|line| line.ends_with(".mlir")).count();
    assert_eq!(texts, 9, "{}", run.out);
    assert!(!run.out.contains("not run"), "{}", run.out);
}

#[test]
fn other_modules_are_listed_with_the_reason() {
    let run = trace_model(&[&data("scale.cpu.g0.vmfb")]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(
        run.out.contains("  kernel 0: scale_dispatch_0_elementwise_1024_f32 at unknown place\n"),
        "{run:?}"
    );
    assert!(run.out.contains("  no source texts\nnote: compile at debug level 3"), "{run:?}");
    if ON_X86_64_LINUX {
        assert!(run.out.contains("\nnot run: its kernels are not those of this example"), "{run:?}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn other_architectures_are_named() {
    let run = trace_model(&[&data("mlp.cpu-arm64.g3.vmfb")]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.contains("\nmlp_net_linked (iree-cpu for arm_64)\n"), "{run:?}");
    assert!(run.out.ends_with("\nnot run: mlp_net_linked is for arm_64; this host is x86_64\n"), "{run:?}");
}

#[test]
fn other_devices_are_named() {
    let run = trace_model(&[&data("scale.cuda-sm80.g3.vmfb")]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    for lines in [
        "\nimage 0 (iree-cuda)\n  kernel 0: scale_dispatch_0_elementwise_1024_f32 at src/scale.mlir:2\n",
        "\n    2.translated  module_scale_dispatch_0_cuda_nvptx_fb.2.translated.mlir:9\n",
        "\n  3 source texts, 11071 bytes:\n",
        "\nnot run: image 0 is of format iree-cuda; only iree-cpu can be run here\n",
    ] {
        assert!(run.out.contains(lines), "{lines:?} is not in {}", run.out);
    }

    let run = trace_model(&[&data("mlp.vmvx.g3.vmfb")]);
    assert!(run.out.contains("compiler embeds no sources at any debug level\nnot run: "), "{run:?}");
}

#[test]
fn files_that_are_no_modules_fail_in_one_line() {
    let readme = data("README.md");
    let run = trace_model(&[&readme]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    let expected = format!("trace_model: {readme}: at offset 0x0: unknown contents, beginning 23 20 54");
    assert!(run.err.starts_with(&expected), "{run:?}");
    assert_eq!(run.err.lines().count(), 1);

    let run = trace_model(&["no-such-file.vmfb"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.starts_with("trace_model: no-such-file.vmfb: No such file"), "{run:?}");
}

#[test]
fn wrong_arguments_are_refused() {
    for arguments in
        [["--batch", "0"], ["--threads", "0"], ["--repeat", "0"], ["--seconds", "-1"], ["--seconds", "soon"]]
    {
        let run = trace_model(&arguments);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains(arguments[0]), "{run:?}");
    }
    assert_eq!(trace_model(&["--repeat", "2", "--seconds", "1"]).code, Some(2));
}

#[test]
#[cfg(unix)]
fn a_reader_that_leaves_early_is_no_failure() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_trace_model"))
        .arg("--list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert!(output.status.success());
}
