"""A private Slurm for one test run: a controller and one node with pretend GPUs.

Everything lies in a temporary folder and listens on free ports of the loopback interface.
Without cgroups and accounting database, limits are allocated but not enforced.
"""

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo")
GPUS, CPUS, MEMORY_MB = 4, 32, 64000
START_SECONDS = 60
ANSWER_SECONDS = 10
STOP_SECONDS = 15
NULL_DEVICE = (1, 3)

SLURM_CONF = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
MailProg=/bin/true
# Finished jobs stay visible to squeue and scontrol for the whole test run.
MinJobAge=3600
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
KillWait=2
JobRequeue=0
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
# The node may claim more than this machine has.
SlurmdParameters=config_overrides
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} \
Gres=gpu:{gpus} State=UNKNOWN
PartitionName=main Nodes=node Default=YES DefaultTime=00:05:00 MaxTime=1-00:00:00 State=UP
"""


class ClusterError(Exception):
    """A daemon did not start; the message ends with its log."""


@dataclass(frozen=True)
class Job:
    """One job as `scontrol show job` tells it: field names and their texts."""

    fields: dict[str, str]

    @property
    def rule(self) -> str:
        """The rule and wildcards the plugin wrote into the job's comment."""
        return self.fields["Comment"].removeprefix("rule_").replace("_wildcards_", " ")

    @property
    def state(self) -> str:
        """COMPLETED, FAILED, RUNNING, …"""
        return self.fields["JobState"]

    @property
    def memory_mb(self) -> int:
        """Memory the job asks for, in MB, for all of its CPUs."""
        return int(self.fields["MinMemoryNode"].removesuffix("M"))

    @property
    def request(self) -> tuple[int, int, str]:
        """CPUs, memory in MB and wall time, as hours:minutes:seconds, the job asks for."""
        return int(self.fields["NumCPUs"]), self.memory_mb, self.fields["TimeLimit"]

    @property
    def gpu_requests(self) -> dict[str, str]:
        """Every field in which the job asks for a GPU; two of them would ask twice."""
        return {
            name: text
            for name, text in self.fields.items()
            if name.startswith("TresPer") and "gpu" in text
        }


@dataclass(frozen=True)
class SlurmCluster:
    """A running private Slurm in a folder."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Variables under which Slurm's commands talk to this cluster."""
        outer = {name: text for name, text in os.environ.items() if not name.startswith("SLURM_")}
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return outer | {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def ask(self, *command: str) -> str:
        """Run one of Slurm's commands and return what it prints; no answer is an empty text."""
        try:
            done = subprocess.run(
                command, env=self.environment, check=False, capture_output=True, text=True,
                timeout=ANSWER_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ""
        return done.stdout if done.returncode == 0 else ""

    def jobs(self) -> list[Job]:
        """Return all jobs so far, in the sequence of their submission."""
        lines = self.ask("scontrol", "show", "job", "--oneliner").splitlines()
        jobs = [
            Job(dict(word.split("=", 1) for word in line.split() if "=" in word)) for line in lines
        ]
        return sorted((job for job in jobs if "JobId" in job.fields),
                      key=lambda job: int(job.fields["JobId"]))  # fmt: skip


def missing_requirement() -> str | None:
    """Return why no private Slurm can run here, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "starting Slurm daemons needs root on Linux"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return (
            f"{', '.join(missing)} not installed "
            "(Debian: apt-get install slurmctld slurmd slurm-client munge)"
        )
    return None


@contextmanager
def running_cluster() -> Iterator[SlurmCluster]:
    """Start a private Slurm and stop its jobs and daemons at the end, whatever happens.

    Raises:
        ClusterError: a daemon ended, or the node was not ready in time.
    """
    # Not pytest's own folder: munge refuses one that others cannot enter, and a socket's path
    # must be short.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = SlurmCluster(folder)
    daemons: dict[str, subprocess.Popen[bytes]] = {}
    try:
        _write_files(folder)
        for name, command in _commands(folder).items():
            daemons[name] = _started(name, command, cluster)
        _await_idle_node(cluster, daemons)
        yield cluster
    finally:
        if "slurmctld" in daemons and daemons["slurmctld"].poll() is None:
            _cancel_jobs(cluster)
        for daemon in reversed(daemons.values()):
            _stop(daemon)
        shutil.rmtree(folder, ignore_errors=True)


def _write_files(folder: Path) -> None:
    folder.chmod(0o755)
    for name in ("bin", "controller", "node", "devices"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    # Slurm sets CUDA_VISIBLE_DEVICES only where the devices are character devices.
    for number in range(GPUS):
        os.mknod(folder / f"devices/gpu{number}", stat.S_IFCHR | 0o666, os.makedev(*NULL_DEVICE))
    devices = f"Name=gpu File={folder}/devices/gpu[0-{GPUS - 1}]"
    (folder / "gres.conf").write_text(f"AutoDetect=off\n{devices}\n")
    (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
    controller_port, node_port = _free_ports(2)
    text = SLURM_CONF.format(
        host=socket.gethostname().split(".")[0], folder=folder, cpus=CPUS, memory=MEMORY_MB,
        gpus=GPUS, controller_port=controller_port, node_port=node_port,
    )  # fmt: skip
    (folder / "slurm.conf").write_text(text)
    # The plugin's job step drops every variable named SLURM_ before it calls srun.
    wrapper = folder / "bin/srun"
    wrapper.write_text(
        f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n'
    )
    wrapper.chmod(0o755)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for entry in sockets:
        entry.bind(("127.0.0.1", 0))
    ports = [entry.getsockname()[1] for entry in sockets]
    for entry in sockets:
        entry.close()
    return ports


def _commands(folder: Path) -> dict[str, list[str]]:
    """Return the daemons in the sequence of their start, each in the foreground."""
    munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "seed")]
    return {
        "munged": ["munged", "--foreground", f"--socket={folder}/munge.socket", *munge],
        "slurmctld": ["slurmctld", "-D", "-f", f"{folder}/slurm.conf"],
        "slurmd": ["slurmd", "-D", "-N", "node", "-f", f"{folder}/slurm.conf"],
    }


def _started(name: str, command: list[str], cluster: SlurmCluster) -> "subprocess.Popen[bytes]":
    # A test run that is killed takes its daemons with it.
    bound = ["setpriv", "--pdeathsig", "TERM", *command]
    with (cluster.folder / f"{name}.log").open("wb") as log:
        daemon = subprocess.Popen(
            bound, env=cluster.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    if name == "munged":
        deadline = time.monotonic() + START_SECONDS
        while not (cluster.folder / "munge.socket").exists():
            _check_alive(cluster.folder, {name: daemon}, deadline)
            time.sleep(0.1)
    return daemon


def _await_idle_node(cluster: SlurmCluster, daemons: "dict[str, subprocess.Popen[bytes]]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while cluster.ask("sinfo", "--noheader", "--Node", "--format=%T").strip() != "idle":
        _check_alive(cluster.folder, daemons, deadline)
        time.sleep(0.2)


def _check_alive(
    folder: Path, daemons: "dict[str, subprocess.Popen[bytes]]", deadline: float
) -> None:
    ended = [name for name, daemon in daemons.items() if daemon.poll() is not None]
    if not ended and time.monotonic() < deadline:
        return
    logs = "\n".join((folder / f"{name}.log").read_text()[-2000:] for name in ended or daemons)
    problem = f"{ended} ended" if ended else f"not ready after {START_SECONDS} s"
    raise ClusterError(f"private Slurm: {problem}\n{logs}")


def _cancel_jobs(cluster: SlurmCluster) -> None:
    cluster.ask("scancel", "--user=root")
    deadline = time.monotonic() + STOP_SECONDS
    while cluster.ask("squeue", "--noheader") and time.monotonic() < deadline:
        time.sleep(0.2)


def _stop(daemon: "subprocess.Popen[bytes]") -> None:
    daemon.terminate()
    try:
        daemon.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
