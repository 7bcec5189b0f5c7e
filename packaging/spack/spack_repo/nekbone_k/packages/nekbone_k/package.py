# SPDX-License-Identifier: BSD-3-Clause
# How Spack 1.0 or newer builds nekbone-k:
#
#     spack repo add packaging/spack/spack_repo/nekbone_k
#     spack install nekbone-k
#
# Spack builds the tip of branch `main` of this checkout.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class NekboneK(CMakePackage, CudaPackage, ROCmPackage):
    """Spectral-element mini-app on Kokkos and MPI. It measures and verifies the exchange
    strategies of its gather-scatter, and selects the fastest one."""

    git = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 6))

    license("BSD-3-Clause")

    version("main", branch="main")

    every_order = tuple(str(order) for order in range(1, 16))

    variant("openmp", default=True, description="Threads on the host by OpenMP")
    variant("hdf5", default=True, description="Checkpoints and fields of flows, by parallel HDF5")
    variant("nccl", default=False, description="The strategy nccl, by NCCL", when="+cuda")
    variant("nccl", default=False, description="The strategy nccl, by RCCL", when="+rocm")
    variant("nvshmem", default=False, description="The strategy nvshmem, by NVSHMEM", when="+cuda")
    variant(
        "library",
        default=True,
        description="The gather-scatter as a shared library for other programs",
        when="~cuda ~rocm",
    )
    variant("tests", default=False, description="Build the tests, which ctest runs")
    variant(
        "orders",
        default=",".join(every_order),
        values=every_order,
        multi=True,
        description="Polynomial orders whose kernels are compiled",
    )

    generator("ninja")

    depends_on("c", type="build", when="+hdf5")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("cmake@3.31:", type="build", when="+cuda")
    depends_on("mpi@3.1:")
    depends_on("fmt@9:")
    depends_on("yaml-cpp")
    depends_on("nlohmann-json")
    depends_on("cli11")
    depends_on("hdf5@1.10: +mpi", when="+hdf5")
    depends_on("nccl", when="+nccl +cuda")
    depends_on("rccl", when="+nccl +rocm")
    depends_on("nvshmem@3:", when="+nvshmem")
    with when("+tests"):
        depends_on("googletest +gmock")
        depends_on("python@3.9:", type=("build", "test"))
        depends_on("py-jsonschema", type=("build", "test"))

    # CMake needs the same version of both. The package of Kokkos Kernels sees to that.
    depends_on("kokkos@4.5:5 cxxstd=20")
    depends_on("kokkos-kernels@4.5:5")
    depends_on("kokkos +openmp", when="+openmp")
    depends_on("kokkos +serial", when="~openmp")
    depends_on("kokkos +pic", when="+library")  # goes into the shared library
    depends_on("kokkos +cuda +cmake_lang ~wrapper", when="+cuda")
    depends_on("kokkos +rocm", when="+rocm")
    depends_on("kokkos-kernels +cuda", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"cuda_arch={arch}")
        depends_on(f"kokkos-kernels cuda_arch={arch}", when=f"cuda_arch={arch}")
        depends_on(f"nccl cuda_arch={arch}", when=f"+nccl cuda_arch={arch}")
        depends_on(f"nvshmem cuda_arch={arch}", when=f"+nvshmem cuda_arch={arch}")
    for target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos amdgpu_target={target}", when=f"amdgpu_target={target}")
        depends_on(f"rccl amdgpu_target={target}", when=f"+nccl +rocm amdgpu_target={target}")

    conflicts("+cuda", when="+rocm", msg="a build supports one kind of GPU; choose +cuda or +rocm")
    conflicts("cuda_arch=none", when="+cuda", msg="Kokkos needs the GPU architecture; add e.g. cuda_arch=90")
    conflicts("^cuda@:11", when="+cuda", msg="C++20 needs CUDA 12 or newer")

    @property
    def backend(self):
        """The value of NEKBONE_K_BACKEND."""
        for variant_name, backend in (("cuda", "cuda"), ("rocm", "hip"), ("openmp", "openmp")):
            if self.spec.satisfies(f"+{variant_name}"):
                return backend
        return "serial"

    def cmake_args(self):
        spec = self.spec
        orders = sorted(spec.variants["orders"].value, key=int)
        args = [
            self.define("NEKBONE_K_BACKEND", self.backend),
            self.define("NEKBONE_K_ORDERS", list(orders)),
            self.define("NEKBONE_K_LIBRARY", spec.satisfies("+library")),
            self.define_from_variant("NEKBONE_K_HDF5", "hdf5"),
            self.define("NEKBONE_K_NCCL", spec.satisfies("+nccl")),
            self.define("NEKBONE_K_NVSHMEM", spec.satisfies("+nvshmem")),
            self.define_from_variant("NEKBONE_K_TESTS", "tests"),
            self.define("NEKBONE_K_BENCH", False),
            self.define("CMAKE_UNITY_BUILD", True),  # as in CMakePresets.json
        ]
        if spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", spec.variants["cuda_arch"].value))
        if spec.satisfies("+rocm"):
            args.append(self.define("CMAKE_CXX_COMPILER", spec["hip"].hipcc))
        if spec.satisfies("+nccl"):
            name = "nccl" if spec.satisfies("+cuda") else "rccl"
            args.append(self.define("NCCL_ROOT", spec[name].prefix))
        if spec.satisfies("+nvshmem"):
            args.append(self.define("NVSHMEM_ROOT", spec["nvshmem"].prefix))
        return args

    def test_strategies(self):
        """The installed program lists its strategies."""
        program = which(self.prefix.bin.join("nekbone-k"), required=True)
        assert "device-pairwise" in program("--list-strategies", output=str.split)
