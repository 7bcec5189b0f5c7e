#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of the container's recipe without a container program, in a chroot that debootstrap makes.

    packaging/run_container_recipe.py [NAME=VALUE...]      arguments of the build, e.g. ORDERS="1;3;5"

Each stage gets a Debian of its own in a temporary folder and runs its instructions there; the last one then runs the
image's command. Installs debootstrap if it is missing. Exits with 77 (skipped) without root or debootstrap.
"""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTAINERFILE = ROOT / "packaging/container/Containerfile"
# How the host reaches packages, so that apt and pip work in the chroot.
FROM_HOST = ["etc/resolv.conf", "etc/hosts", "etc/apt/sources.list", "etc/apt/sources.list.d", "etc/apt/apt.conf.d",
             "etc/pip.conf"]
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
CERTIFICATES_OF_HOST = "/etc/certificates-of-host.crt"
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
               "DEBIAN_FRONTEND": "noninteractive"}


class CannotRun(Exception):
    """This machine lacks something."""


def instructions(text):
    """The instructions of a Containerfile: (name, rest in one line)."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [tuple(line.strip().split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def make_debian(folder):
    """Unpacks a minimal Debian 12 into the folder."""
    made = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", folder], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        raise CannotRun(f"debootstrap failed: {(made.stdout + made.stderr).strip().splitlines()[-1:]}")
    # As in Debian's own image: dpkg need not wait for the disk after each file.
    (folder / "etc/dpkg/dpkg.cfg.d/speed").write_text("force-unsafe-io\n", encoding="utf-8")
    for name in FROM_HOST:
        source, target = pathlib.Path("/", name), folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.exists():
            shutil.copyfile(source, target)
    if CERTIFICATES.exists():
        shutil.copyfile(CERTIFICATES, folder / CERTIFICATES_OF_HOST[1:])
        ENVIRONMENT.update(PIP_CERT=CERTIFICATES_OF_HOST, SSL_CERT_FILE=CERTIFICATES_OF_HOST)


@contextlib.contextmanager
def mounted(folder):
    """The folder with /proc, /dev and /sys, as a container has them."""
    targets = []
    try:
        for name in ("proc", "dev", "sys"):
            bound = subprocess.run(["mount", "--rbind", "--make-rslave", f"/{name}", folder / name],
                                   capture_output=True, text=True, check=False)
            if bound.returncode != 0:
                raise CannotRun(f"mount failed: {bound.stderr.strip()}")
            targets.append(folder / name)
        yield
    finally:
        for target in reversed(targets):
            subprocess.run(["umount", "--recursive", "--lazy", target], check=False)


class Stage:
    """One FROM of the recipe: its folder, and what later instructions use."""

    def __init__(self, folder, arguments):
        self.folder, self.arguments = folder, arguments
        self.environment, self.user, self.cwd = dict(ENVIRONMENT), "0", "/"

    def run(self, command):
        ids = f"{self.user}:{self.user}"
        print(f"    {shlex.join(command)[:110]}", flush=True)
        inside = ["sh", "-c", 'cd "$0" && exec "$@"', self.cwd, *command]
        subprocess.run(["chroot", f"--userspec={ids}", self.folder, *inside], check=True,
                       env=self.environment | self.arguments)

    def copy(self, rest, stages):
        words = rest.split()
        source = ROOT
        if words[0].startswith("--from="):
            source = stages[words.pop(0).removeprefix("--from=")].folder
        origin, target = words
        place = self.folder / pathlib.PurePosixPath(self.cwd, target).relative_to("/")
        subprocess.run(["cp", "--archive", source / origin.lstrip("/"), place], check=True)

    def home(self):
        """The home folder of the user, by number."""
        lines = (self.folder / "etc/passwd").read_text(encoding="utf-8").splitlines()
        return next((fields[5] for fields in (line.split(":") for line in lines) if fields[2] == self.user), "/")

    def expanded(self, text):
        return re.sub(r"\$(\w+)", lambda found: self.environment.get(found[1], ""), text)

    def set_environment(self, rest):
        for word in shlex.split(rest):
            name, value = word.split("=", 1)
            self.environment[name] = self.expanded(value)

    def set_cwd(self, rest):
        self.cwd = rest
        (self.folder / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)


def run_recipe(work, given):
    debian = work / "debian"
    make_debian(debian)
    stages, command = {}, []
    with contextlib.ExitStack() as mounts:
        for word, rest in instructions(CONTAINERFILE.read_text(encoding="utf-8")):
            if word == "FROM":
                name = rest.split(" AS ")[-1] if " AS " in rest else "image"
                folder = work / name
                subprocess.run(["cp", "--archive", "--reflink=auto", debian, folder], check=True)
                mounts.enter_context(mounted(folder))
                stage = stages[name] = Stage(folder, {})
                print(f"  {name}", flush=True)
            elif word == "ARG":
                argument, _, default = rest.partition("=")
                stage.arguments[argument] = given.get(argument, default)
            elif word == "RUN":
                stage.run(["sh", "-c", rest])
            elif word == "COPY":
                stage.copy(rest, stages)
            elif word == "ENV":
                stage.set_environment(rest)
            elif word == "WORKDIR":
                stage.set_cwd(rest)
            elif word == "USER":
                stage.user = rest
                stage.environment["HOME"] = stage.home()
            elif word == "CMD":
                command = shlex.split(rest.strip("[]").replace(",", " "))
            else:
                sys.exit(f"packaging/run_container_recipe.py does not know the instruction {word}")
        stage.run(command)


def main(words):
    given = dict(word.partition("=")[::2] for word in words)
    known = [rest.partition("=")[0] for word, rest in instructions(CONTAINERFILE.read_text(encoding="utf-8"))
             if word == "ARG"]
    for word in words:
        if "=" not in word or word.partition("=")[0] not in known:
            sys.exit(f"'{word}' is no argument of the recipe; allowed: {', '.join(f'{name}=VALUE' for name in known)}")
    if os.geteuid() != 0:
        raise CannotRun("it needs root")
    if not shutil.which("debootstrap"):
        subprocess.run([ROOT / "ci/apt.sh", "debootstrap"], check=False)
    if not shutil.which("debootstrap"):
        raise CannotRun("debootstrap is missing")
    work = tempfile.mkdtemp(prefix="nekbone-k-container-")
    try:
        run_recipe(pathlib.Path(work), given)
    except subprocess.CalledProcessError as failed:
        sys.exit(f"failed with {failed.returncode}: {shlex.join(map(str, failed.cmd))}")
    finally:
        # Do not delete files of a mount that could not be unmounted.
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except CannotRun as reason:
        print(f"not checked: {reason}")
        sys.exit(77)
