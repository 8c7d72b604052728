"""Nodes of their own network, as namespaces on one switch. No traffic leaves the machine. Needs root."""

import os
import shutil
import subprocess


class Unavailable(Exception):
    pass


def _ip(*words):
    done = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"ip {' '.join(map(str, words))}: {done.stderr.strip()}")


class Nodes:
    """`count` nodes; node i is reached by the commands that start with prefix(i)."""

    def __init__(self, count):
        if os.geteuid() != 0 or not shutil.which("ip"):
            raise Unavailable("nodes as network namespaces need root and iproute2")
        self._name = f"fb{os.getpid() % 100000}"
        self._switch = f"{self._name}s"
        self._made = []
        try:
            self._add(self._switch)
            _ip("-n", self._switch, "link", "add", "br0", "type", "bridge")
            _ip("-n", self._switch, "link", "set", "br0", "up")
            for node in range(count):
                self._connect(node)
        except Unavailable:
            self.remove()
            raise

    def _add(self, name):
        _ip("netns", "add", name)
        self._made.append(name)

    def _connect(self, node):
        name = self._node(node)
        self._add(name)
        _ip("link", "add", "e0", "netns", name, "type", "veth", "peer", "name", f"p{node}", "netns", self._switch)
        _ip("-n", name, "addr", "add", f"10.87.0.{node + 1}/24", "dev", "e0")
        _ip("-n", name, "link", "set", "e0", "up")
        _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", self._switch, "link", "set", f"p{node}", "master", "br0", "up")

    def _node(self, node):
        return f"{self._name}n{node}"

    def prefix(self, node):
        return ("ip", "netns", "exec", self._node(node))

    def switch_prefix(self):
        """Commands that start so see whatever passes between nodes."""
        return ("ip", "netns", "exec", self._switch)

    def cut(self, node):
        """From now on nothing reaches the node, and nobody is told."""
        _ip("-n", self._switch, "link", "set", f"p{node}", "down")

    def heal(self, node):
        _ip("-n", self._switch, "link", "set", f"p{node}", "up")

    def remove(self):
        for name in reversed(self._made):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self._made.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()
