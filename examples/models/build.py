"""Compiles mlp.mlir with its sources embedded, to mlp.cpu.g3.vmfb. See README.md."""

import os

from iree.compiler.api import Output, Session, Source

# Locations in the module name the file as it is opened here, so: relative to the project's own folder.
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SOURCE = "examples/models/mlp.mlir"
MODULE = "examples/models/mlp.cpu.g3.vmfb"

session = Session()
session.set_flags(
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
    "--iree-hal-executable-debug-level=3",
)
invocation = session.invocation()
invocation.enable_console_diagnostics()
if not invocation.parse_source(Source.open_file(session, SOURCE)) or not invocation.execute():
    raise SystemExit(f"{SOURCE} does not compile")
output = Output.open_file(MODULE)
invocation.output_vm_bytecode(output)
output.keep()
