# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the tooling in repository rules, on a Python of this machine."""

PYTHON_VARIABLE = "PJRTWHEEL_PYTHON"
_NAMES = ["python3", "python3.11", "python3.12", "python3.13", "python3.14"]
_OLDEST = [3, 11]

def build_directory(ctx):
    """Returns the path of build/, which holds the tooling.

    Args:
        ctx: The repository context.
    """
    return ctx.path(Label("//build:BUILD.bazel")).dirname

# The program itself may have been found behind a shim. Any Python 3 can run this.
_DESCRIBE = "import json, sys; print(json.dumps({'version': sys.version_info[:3], 'executable': sys.executable}))"

def _describe(ctx, executable):
    done = ctx.execute([executable, "-I", "-c", _DESCRIBE])
    return json.decode(done.stdout) if done.return_code == 0 else None

def find_python(ctx):
    """Returns version and place of the interpreter to use.

    That is the one named in PJRTWHEEL_PYTHON, else the first on PATH that is new enough. Shims are seen through,
    because the interpreter itself is asked for its place.

    Args:
        ctx: The repository context.
    """
    named = ctx.os.environ.get(PYTHON_VARIABLE, "")
    places = [named] if named else [ctx.which(name) for name in _NAMES]
    for place in places:
        found = _describe(ctx, place) if place else None
        if found and found["version"][:2] >= _OLDEST:
            return found
    return fail(format_error(5, "\n".join([
        "{} is not a Python 3.11 or later".format(named) if named else "no Python 3.11 or later on PATH",
        "name one in the environment variable {}".format(PYTHON_VARIABLE),
    ])))

def format_error(status, text):
    """Returns the text of a failure in the form that `pjrtwheel.bazel` finds again in Bazel's output.

    Args:
        status: Exit status that the front end should end with.
        text: One to three lines: what, cause, remedy.
    """
    return "\npjrtwheel error {}\n{}\nend of error".format(status, text.strip())

def run_tool(ctx, module, arguments):
    """Runs `python -m pjrtwheel.<module>` and returns what it printed; a failure ends the repository rule.

    Args:
        ctx: The repository context.
        module: Module below `pjrtwheel` that can be run.
        arguments: Its command line.
    """
    python = find_python(ctx)
    done = ctx.execute(
        [python["executable"], "-s", "-B", "-m", "pjrtwheel." + module] + arguments,
        environment = {"PJRTWHEEL_MARKED": "1", "PYTHONPATH": str(build_directory(ctx)), "PYTHONSAFEPATH": "1"},
        timeout = 7200,  # the default of ten minutes is short for 300 MB over a slow line
    )
    if done.return_code != 0:
        fail("\n" + done.stderr)  # in the form of `format_error`, unless it is a bug
    return done.stdout
