# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What XLA wants its user's WORKSPACE to load and call, in order.

A step can load only from repositories that an earlier step has declared; hence so many. The order is that of JAX's own
WORKSPACE, and for bazel_features that of XLA's. CUDA's repositories are declared in every build: XLA's packages load
from them, whatever is built; so are those that packages of JAX load from.
"""

_ML = "@rules_ml_toolchain//"

def _workspace(number):
    symbol = "xla_workspace{}".format(number)
    return struct(loads = {"@xla//:workspace{}.bzl".format(number): [symbol]}, calls = [symbol + "()"])

def _ml(path, symbol, arguments = ""):
    return struct(loads = {_ML + path: [symbol]}, calls = ["{}({})".format(symbol, arguments)])

_TOOLCHAINS = ["linux_{}_linux_{}{}".format(*triple) for triple in [
    ("x86_64", "x86_64", ""),
    ("x86_64", "x86_64", "_cuda"),
    ("x86_64", "x86_64", "_sycl"),
    ("x86_64", "x86_64", "_rocm"),
    ("x86_64", "aarch64", ""),
    ("aarch64", "aarch64", ""),
    ("aarch64", "aarch64", "_cuda"),
]]

# Lock files by version of Python, which runs tools; the plugin library knows nothing of it. XLA's own has no more than its
# tools need, JAX's have what makes wheels.
XLA_LOCKS = {"3.12": "@xla//:requirements_lock_3_12.txt"}
JAX_LOCKS = {
    version: "@jax//build:requirements_lock_{}.txt".format(version.replace(".", "_"))
    for version in ["3.12", "3.13", "3.14"]
}
LOCKS = "<the lock files>"

_PYTHON_ARGUMENTS = """
        default_python_version = "3.12",
        requirements = {},
    """.format(LOCKS)

_CUDA = struct(
    loads = {
        "@cuda_redist_json//:distributions.bzl": ["CUDA_REDISTRIBUTIONS", "CUDNN_REDISTRIBUTIONS"],
        _ML + "gpu/cuda:cuda_redist_init_repositories.bzl": [
            "cuda_redist_init_repositories",
            "cudnn_redist_init_repository",
        ],
        _ML + "gpu/cuda:cuda_redist_versions.bzl": ["REDIST_VERSIONS_TO_BUILD_TEMPLATES"],
        "@xla//third_party/cccl:workspace.bzl": ["CCCL_3_2_0_DIST_DICT", "CCCL_GITHUB_VERSIONS_TO_BUILD_TEMPLATES"],
    },
    calls = [
        """cuda_redist_init_repositories(
        cuda_redistributions = dict(CUDA_REDISTRIBUTIONS, **CCCL_3_2_0_DIST_DICT),
        redist_versions_to_build_templates = dict(
            REDIST_VERSIONS_TO_BUILD_TEMPLATES,
            **CCCL_GITHUB_VERSIONS_TO_BUILD_TEMPLATES
        ),
    )""",
        "cudnn_redist_init_repository(cudnn_redistributions = CUDNN_REDISTRIBUTIONS)",
    ],
)

_NVSHMEM = struct(
    loads = {
        "@nvshmem_redist_json//:distributions.bzl": ["NVSHMEM_REDISTRIBUTIONS"],
        _ML + "gpu/nvshmem:nvshmem_redist_init_repository.bzl": ["nvshmem_redist_init_repository"],
    },
    calls = ["nvshmem_redist_init_repository(nvshmem_redistributions = NVSHMEM_REDISTRIBUTIONS)"],
)

# For wheels and tests of JAX's own, which nobody builds here: its packages load from them all the same.
_JAX = struct(
    loads = {
        "@jax//:test_shard_count.bzl": ["test_shard_count_repository"],
        "@jax//jaxlib:jax_python_wheel.bzl": ["jax_python_wheel_repository"],
        "@jax//third_party/external_deps:workspace.bzl": ["external_deps_repository"],
        "@jax//third_party/flatbuffers:workspace.bzl": ["repo"],
        "@xla//third_party/py:python_wheel.bzl": [
            "nvidia_wheel_versions_repository",
            "python_wheel_version_suffix_repository",
        ],
    },
    calls = [
        "repo()",
        'external_deps_repository(name = "rocm_external_test_deps")',
        'external_deps_repository(name = "rocm_prebuilt_test_deps")',
        'test_shard_count_repository(name = "test_shard_count")',
        """jax_python_wheel_repository(
        name = "jax_wheel",
        version_key = "_version",
        version_source = "@jax//jax:version.py",
    )""",
        """nvidia_wheel_versions_repository(
        name = "nvidia_wheel_versions",
        versions_source = "@jax//build:nvidia-requirements.txt",
    )""",
        'python_wheel_version_suffix_repository(name = "jax_wheel_version_suffix")',
    ],
)

# Each step has `loads` (label to symbols) and `calls` (expressions).
STEPS = [
    _workspace(4),
    _workspace(3),
    struct(loads = {"@bazel_features//:deps.bzl": ["bazel_features_deps"]}, calls = ["bazel_features_deps()"]),
    struct(
        loads = {_ML + "cc/deps:cc_toolchain_deps.bzl": ["cc_toolchain_deps"]},
        calls = ["cc_toolchain_deps()"] +
                ['native.register_toolchains("@rules_ml_toolchain//cc:{}")'.format(name) for name in _TOOLCHAINS],
    ),
    struct(
        loads = {"@xla//third_party/py:python_init_rules.bzl": ["python_init_rules"]},
        calls = ["python_init_rules()"],
    ),
    _ml("py:python_init_repositories.bzl", "python_init_repositories", _PYTHON_ARGUMENTS),
    _ml("py:python_register_toolchain.bzl", "python_register_toolchain"),
    _ml("py:python_init_pip.bzl", "python_init_pip"),
    struct(loads = {"@pypi//:requirements.bzl": ["install_deps"]}, calls = ["install_deps()"]),
    _workspace(2),
    _workspace(1),
    _workspace(0),
    _JAX,
    _ml("gpu/cuda:cuda_json_init_repository.bzl", "cuda_json_init_repository"),
    _CUDA,
    _ml("gpu/cuda:cuda_configure.bzl", "cuda_configure", 'name = "local_config_cuda"'),
    _ml("gpu/nccl:nccl_redist_init_repository.bzl", "nccl_redist_init_repository"),
    _ml("gpu/nccl:nccl_configure.bzl", "nccl_configure", 'name = "local_config_nccl"'),
    _ml("gpu/nvshmem:nvshmem_json_init_repository.bzl", "nvshmem_json_init_repository"),
    _NVSHMEM,
]
