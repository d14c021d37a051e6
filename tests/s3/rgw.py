#!/usr/bin/env python3
"""A Ceph object gateway of one's own, on loopback and in memory.

    rgw.py COMMAND...    runs the command with one, and stops it afterwards

The command finds it by the variables that every S3 client knows, and a fresh
bucket in LKS_S3_URL. Several may run at once: ports and folders are their own.
Needs Debian's radosgw, ceph-mon, ceph-osd and ceph-common.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sigv4  # noqa: E402

START_SECONDS = 60
KEY, SECRET = "testkey", "testsecret"

CONFIG = """
[global]
fsid = {fsid}
mon_initial_members = a
mon_host = v2:127.0.0.1:{mon_port}/0
public_network = 127.0.0.0/8
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = {folder}/keyring
osd_pool_default_size = 1
osd_pool_default_min_size = 1
mon_allow_pool_size_one = true
osd_crush_chooseleaf_type = 0
osd_pool_default_pg_num = 8
osd_pool_default_pgp_num = 8
osd_pool_default_pg_autoscale_mode = off
mon_max_pg_per_osd = 1000
auth_allow_insecure_global_id_reclaim = false
log_file = {folder}/log/$name.log
run_dir = {folder}/run
admin_socket = {folder}/run/$name.asok
pid_file = {folder}/run/$name.pid
debug_ms = 0
osd_objectstore = memstore
memstore_device_bytes = {device_bytes}
osd_memory_target = 1073741824
[mon.a]
mon_data = {folder}/mon
[osd.0]
osd_data = {folder}/osd0
[client.rgw.a]
rgw_data = {folder}/rgw
rgw_frontends = beast endpoint=127.0.0.1:{rgw_port}
rgw_thread_pool_size = 128
# Buckets may be named in the host, too: bucket.localhost.
rgw_dns_name = localhost
# What is deleted is freed at once: it all lies in memory.
rgw_gc_obj_min_wait = 1
rgw_gc_processor_period = 2
rgw_gc_processor_max_time = 2
"""

# The disk is made of memory. Giving that back with each object that is removed
# makes a seventh of a PUT page faults, and unequally many from one to the next.
KEEP_MEMORY = {"MALLOC_ARENA_MAX": "1",
               "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
               "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}

KEYRINGS = [
    ("mon.", ["mon", "allow *"]),
    ("client.admin", ["mon", "allow *", "osd", "allow *", "mgr", "allow *"]),
    ("client.rgw.a", ["mon", "allow rw", "osd", "allow rwx"]),
    ("osd.0", ["mon", "allow profile osd", "osd", "allow *"]),
]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Gateway:
    """Use as a context: `with Gateway() as gateway: gateway.endpoint`."""

    def __init__(self, device_bytes=8 << 30):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lks-rgw-"))
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.processes = []
        self.device_bytes = device_bytes

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def tool(self, *command):
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=START_SECONDS,
            env={**os.environ, "CEPH_CONF": str(self.folder / "ceph.conf")})
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {result.stderr}")
        return result.stdout

    def spawn(self, *command, settings={}):
        log = open(self.folder / "log" / f"{command[0]}.out", "wb")
        self.processes.append(subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, **settings}))
        log.close()

    def start(self):
        folder, fsid, mon_port = self.folder, str(uuid.uuid4()), free_port()
        for name in ("mon", "osd0", "rgw", "run", "log"):
            (folder / name).mkdir()
        config = str(folder / "ceph.conf")
        pathlib.Path(config).write_text(CONFIG.format(
            folder=folder, fsid=fsid, mon_port=mon_port, rgw_port=self.port,
            device_bytes=self.device_bytes))
        keyring = str(folder / "keyring")
        for name, caps in KEYRINGS:
            create = ["--create-keyring"] if name == "mon." else []
            pairs = [word for i in range(0, len(caps), 2)
                     for word in ("--cap", caps[i], caps[i + 1])]
            self.tool("ceph-authtool", keyring, *create, "--gen-key", "-n",
                      name, *pairs)
        monmap = str(folder / "monmap")
        self.tool("monmaptool", "--create", "--fsid", fsid, "--addv", "a",
                  f"[v2:127.0.0.1:{mon_port}/0]", monmap)
        self.tool("ceph-mon", "-i", "a", "--mkfs", "--monmap", monmap,
                  "--keyring", keyring, "-c", config)
        self.spawn("ceph-mon", "-f", "-i", "a", "-c", config)
        osd = str(uuid.uuid4())
        self.tool("ceph", "-c", config, "osd", "new", osd, "0")
        self.tool("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd, "-c",
                  config)
        self.tool("ceph", "-c", config, "osd", "crush", "add", "osd.0", "1.0",
                  "root=default", "host=localhost")
        self.spawn("ceph-osd", "-f", "-i", "0", "-c", config,
                   settings=KEEP_MEMORY)
        self.spawn("radosgw", "-f", "-n", "client.rgw.a", "-c", config)
        self.wait()
        self.tool("radosgw-admin", "-n", "client.rgw.a", "-c", config, "user",
                  "create", "--uid=test", "--display-name=test",
                  f"--access-key={KEY}", f"--secret-key={SECRET}")

    def wait(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            for process in self.processes:
                if process.poll() is not None:
                    raise RuntimeError(f"{process.args[0]} ended: see "
                                       f"{self.folder}/log")
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1):
                    return
            except OSError:
                if time.monotonic() > deadline:
                    raise RuntimeError("the gateway does not answer") from None
                time.sleep(0.1)

    def make_bucket(self, name=None):
        name = name or f"b{uuid.uuid4().hex[:12]}"
        sigv4.request(self.endpoint, "PUT", f"/{name}", KEY, SECRET)
        return name

    def environment(self, endpoint=None):
        """Nothing of the machine's own accounts gets into a test."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("AWS_", "LAKESTREAM_"))
                and not name.lower().endswith("_proxy")}
        return {**kept, "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL_S3": endpoint or self.endpoint}

    def stop(self):
        for process in reversed(self.processes):
            process.kill()  # It has nothing to save.
        for process in self.processes:
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with Gateway() as gateway:
        bucket = gateway.make_bucket()
        environment = gateway.environment()
        environment["LKS_S3_URL"] = f"s3://{bucket}/run"
        result = subprocess.run(sys.argv[1:], env=environment)
    sys.exit(result.returncode)


if __name__ == "__main__":
    main()
