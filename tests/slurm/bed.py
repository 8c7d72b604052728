"""A Slurm cluster of a few slurmd on this machine, with a munged of its own, all below one directory."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("unshare", "slurmctld", "slurmd", "munged", "sbatch", "srun", "scancel", "squeue")
PORT = 27200


def why_not():
    """Why there can be no cluster here, or None."""
    if os.geteuid() != 0:
        return "needs root"
    path = os.environ["PATH"] + ":/usr/sbin"
    missing = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    return f"no {', '.join(missing)} (slurm-wlm, munge)" if missing else None


CONFIGURATION = """
ClusterName=forebay
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={munge}/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd-%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
PrologFlags=Alloc
"""


class Bed:
    def __init__(self, directory, nodes=2, prolog=None, epilog=None):
        """prolog, epilog: programs that each node runs before and after a job."""
        self.directory, self.nodes, self.processes, self.daemons = Path(directory), nodes, [], []
        self.programs = "".join(f"{key}={path}\n" for key, path in (("Prolog", prolog), ("Epilog", epilog)) if path)
        self.environment = dict(os.environ, SLURM_CONF=str(self.directory / "slurm.conf"), PATH=os.environ["PATH"] + ":/usr/sbin")

    def up(self):
        os.chmod(self.directory, 0o755)
        self.start_munge()
        host = socket.gethostname()
        text = CONFIGURATION.format(host=host, port=PORT, munge=self.directory / "munge", directory=self.directory)
        for i in range(1, self.nodes + 1):
            (self.directory / f"spool-n{i}").mkdir()
            text += f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={PORT + i} CPUs=4 RealMemory=500 State=UNKNOWN\n"
        text += f"PartitionName=all Nodes=n[1-{self.nodes}] Default=YES MaxTime=INFINITE State=UP\n"
        (self.directory / "state").mkdir()
        (self.directory / "slurm.conf").write_text(text + self.programs)
        self.start("slurmctld", "-D")
        for i in range(1, self.nodes + 1):
            # Each has a host name and a /dev/shm of its own, as nodes have.
            self.start("unshare", "--mount", "--uts", "sh", "-c",
                       f"hostname n{i} && mount -t tmpfs -o size=64m none /dev/shm && exec slurmd -D -N n{i}")  # fmt: skip
            self.daemons.append(self.processes[-1])
        end = time.monotonic() + 40
        while self.call("sinfo", "-h", "-o", "%t %D").split() != ["idle", str(self.nodes)]:
            if time.monotonic() > end:
                raise RuntimeError("the nodes do not come up: " + self.call("sinfo"))
            time.sleep(0.3)

    def start_munge(self):
        munge = self.directory / "munge"
        munge.mkdir()
        (munge / "key").write_bytes(os.urandom(1024))
        os.chmod(munge / "key", 0o400)
        for path in (munge, munge / "key"):
            shutil.chown(path, "munge", "munge")
        self.start("setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups", "munged", "--foreground", "--force",
                   f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid", f"--seed-file={munge}/seed",
                   f"--log-file={munge}/log")  # fmt: skip
        end = time.monotonic() + 20
        while not (munge / "socket").exists():
            if time.monotonic() > end:
                raise RuntimeError("munged does not start: " + (self.directory / "setpriv-0.out").read_text())
            time.sleep(0.05)

    def start(self, *words):
        with open(self.directory / f"{words[0]}-{len(self.processes)}.out", "wb") as log:
            self.processes.append(
                subprocess.Popen(words, stdout=log, stderr=log, env=self.environment, stdin=subprocess.DEVNULL))

    def memory(self, node):
        """What lies in the memory of node 1, 2, ..., by name."""
        return sorted(os.listdir(f"/proc/{self.daemons[node - 1].pid}/root/dev/shm"))

    def call(self, *words, **more):
        done = subprocess.run(words, capture_output=True, text=True, env=dict(self.environment, **more), timeout=60)
        return done.stdout if done.returncode == 0 else done.stdout + done.stderr

    def down(self):
        self.call("scancel", "--full", "-u", "root")
        end = time.monotonic() + 15
        while self.call("squeue", "-h").strip() and time.monotonic() < end:
            time.sleep(0.3)
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
