"""The benchmark's operator on kopf. Run: kopf run --quiet --standalone --all-namespaces kopf_operator.py

kopf has no cache to read from and no way to write other objects: a handler is given the object, and children are
written with aiohttp, which kopf brings along. With BENCH_CHILDREN=1 the children are applied, but nothing watches them:
kopf does not know owners.
"""

import base64
import os
import ssl
import tempfile

import aiohttp
import kopf
import yaml

CHILDREN = os.environ.get("BENCH_CHILDREN") == "1"


def set_status(spec, patch):
    patch.status["revision"] = spec["revision"]
    patch.status["summary"] = f"{len(spec.get('settings', {}))} settings"


if CHILDREN:

    def kubeconfig():
        with open(os.environ["KUBECONFIG"]) as file:
            return yaml.safe_load(file)

    @kopf.on.startup()
    async def connect(memo, **_):
        config = kubeconfig()
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        headers = {"Content-Type": "application/apply-patch+yaml"}
        if "token" in user:
            headers["Authorization"] = f"Bearer {user['token']}"
        else:
            with tempfile.NamedTemporaryFile() as pair:
                pair.write(base64.b64decode(user["client-certificate-data"]))
                pair.write(base64.b64decode(user["client-key-data"]))
                pair.flush()
                context.load_cert_chain(pair.name)
        connector = aiohttp.TCPConnector(ssl=context, limit=16)
        memo.session = aiohttp.ClientSession(cluster["server"], headers=headers, connector=connector)

    @kopf.on.cleanup()
    async def disconnect(memo, **_):
        await memo.session.close()

    @kopf.on.create("bench.example.com", "v1", "widgets")
    @kopf.on.update("bench.example.com", "v1", "widgets")
    async def reconcile(name, namespace, spec, body, patch, memo, **_):
        child = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace},
            "data": {"revision": str(spec["revision"])},
        }
        kopf.append_owner_reference(child, owner=body)
        path = f"/api/v1/namespaces/{namespace}/configmaps/{name}?fieldManager=bench-kopf&force=true"
        async with memo.session.patch(
            path, json=child, headers={"Content-Type": "application/apply-patch+yaml"}
        ) as answer:
            answer.raise_for_status()
        set_status(spec, patch)

else:

    @kopf.on.create("bench.example.com", "v1", "widgets")
    @kopf.on.update("bench.example.com", "v1", "widgets")
    async def reconcile(spec, patch, **_):
        set_status(spec, patch)
