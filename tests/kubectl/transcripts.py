"""What people type. Each transcript runs in a namespace of its own and is whole by itself."""

from __future__ import annotations

from . import rights, running
from .session import Command, kubectl

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "nginx:1", ports: [{containerPort: 80, name: http}], env: [{name: A, value: "1"}]}
"""
CHANGED = DEPLOYMENT.replace("nginx:1", "nginx:2").replace("replicas: 2", "replicas: 3").replace('"1"', '"2"')
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
"""
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {a: '1', b: '2'}\n"
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [things]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A widget.
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [size]
            properties:
              size: {type: integer, minimum: 0, maximum: 10, description: How large it is.}
              color: {type: string, enum: [red, green], default: red}
            x-kubernetes-validations: [{rule: "self.size != 7", message: seven is taken}]
          status: {type: object, properties: {size: {type: integer}}}
"""
WIDGET = "apiVersion: GROUP/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: SIZE}\n"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {run: p}}
spec: {containers: [{name: c, image: busybox, command: [sleep, "60"]}]}
"""

READING: tuple[Command, ...] = (
    kubectl("create -f -", CONFIG),
    kubectl("get cm conf"),
    kubectl("get cm conf -o wide"),
    kubectl("get cm conf -o yaml"),
    kubectl("get cm conf -o json"),
    kubectl("get cm conf -o name"),
    kubectl("get cm conf -o 'jsonpath={.data.a}'"),
    kubectl("get cm conf -o 'go-template={{.data.b}}'"),
    kubectl("get cm conf -o 'custom-columns=N:.metadata.name,A:.data.a'"),
    kubectl("get cm,secret,pod"),
    kubectl("get cm --no-headers --field-selector metadata.name=conf"),
    kubectl("get cm -l nothing=here"),
    kubectl("get cm missing"),
    kubectl("get nonsense"),
    kubectl("get cm conf --show-labels --sort-by .metadata.name"),
    kubectl("describe cm conf"),
    kubectl("delete cm conf"),
    kubectl("delete cm conf"),
    kubectl("delete cm conf --ignore-not-found"),
)

APPLYING: tuple[Command, ...] = (
    kubectl("apply -f -", DEPLOYMENT + "---" + SERVICE),
    kubectl("apply -f -", DEPLOYMENT),
    kubectl("diff -f -", DEPLOYMENT),
    kubectl("diff -f -", CHANGED),
    kubectl("apply -f -", CHANGED),
    kubectl("apply -f - --dry-run=server", DEPLOYMENT),
    kubectl("get deployment web -o 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}'"),
    kubectl("get deployment web -o yaml"),
    kubectl("get service web -o yaml"),
    kubectl("apply view-last-applied deployment/web"),
    kubectl("apply -f -", DEPLOYMENT.replace("replicas: 2", "replicsa: 2")),
    kubectl("apply -f -", DEPLOYMENT.replace("replicas: 2", "replicas: many")),
    kubectl("apply -f -", DEPLOYMENT.replace("matchLabels: {app: web}", "matchLabels: {app: other}")),
    kubectl("delete -f -", DEPLOYMENT + "---" + SERVICE),
    kubectl("apply -f -", "apiVersion: later.example.com/v1\nkind: Later\nmetadata: {name: l}\n"),
)

CHANGING: tuple[Command, ...] = (
    kubectl("apply -f -", DEPLOYMENT),
    kubectl("scale deployment web --replicas 4"),
    kubectl("label deployment web tier=front"),
    kubectl("label deployment web tier=back"),
    kubectl("label deployment web tier=back --overwrite"),
    kubectl("label deployment web tier-"),
    kubectl("annotate deployment web note='some text'"),
    kubectl('patch deployment web -p \'{"spec":{"paused":true}}\''),
    kubectl('patch deployment web --type merge -p \'{"spec":{"paused":null}}\''),
    kubectl('patch deployment web --type json -p \'[{"op":"replace","path":"/spec/replicas","value":1}]\''),
    kubectl('patch deployment web --subresource status -p \'{"status":{"replicas":1}}\''),
    kubectl('patch deployment web --type json -p \'[{"op":"test","path":"/spec/replicas","value":9}]\''),
    kubectl("set image deployment/web web=nginx:3"),
    kubectl("set env deployment/web B=2"),
    kubectl("set resources deployment web --limits=cpu=200m,memory=512Mi"),
    kubectl("edit deployment web", editor="sed -i s/nginx:3/nginx:4/"),
    kubectl("edit deployment web", editor="true"),
    kubectl("get deployment web -o yaml"),
    kubectl("rollout history deployment web", private=True),
    kubectl("rollout pause deployment web"),
    kubectl("rollout resume deployment web"),
    kubectl("rollout restart deployment web"),
    kubectl("replace -f -", DEPLOYMENT),
    kubectl("delete deployment web --cascade=orphan --wait=false"),
)

CREATING: tuple[Command, ...] = (
    kubectl("create configmap made --from-literal=k=v"),
    kubectl("create secret generic hidden --from-literal=k=v"),
    kubectl("create deployment made --image=nginx --replicas=2"),
    kubectl("create service clusterip made --tcp=80:8080"),
    kubectl("create serviceaccount made"),
    kubectl("create role made --verb=get --resource=pods"),
    kubectl("create rolebinding made --role=made --serviceaccount=default:made"),
    kubectl("create job made --image=busybox -- true"),
    kubectl("create cronjob made --image=busybox --schedule='*/5 * * * *' -- true"),
    kubectl("create quota made --hard=pods=5"),
    kubectl("create poddisruptionbudget made --selector=app=x --min-available=1"),
    kubectl("create ingress made --rule=a.example.com/*=made:80"),
    kubectl("create configmap made"),
    kubectl("get configmap/made secret/hidden deployment/made serviceaccount/made -o yaml"),
    kubectl("get service/made role/made rolebinding/made resourcequota/made pdb/made ingress/made -o yaml"),
    kubectl("get job/made cronjob/made -o yaml", private=True),
    kubectl("get deployment,service,sa,role,rolebinding,cronjob,quota,pdb,ingress", private=True),
    kubectl("run runner --image=busybox --restart=Never -- sleep 5", private=True),
    kubectl("get pod runner -o 'jsonpath={.spec.containers[0].args}'"),
    kubectl("delete deployment,service,role,rolebinding,job,cronjob,quota,pdb,ingress made"),
)

CUSTOM: tuple[Command, ...] = (
    kubectl("apply -f -", CRD),
    kubectl("wait --for condition=established crd/widgets.GROUP --timeout=30s"),
    kubectl("get crd widgets.GROUP -o 'jsonpath={.status.storedVersions}'"),
    kubectl("apply -f -", WIDGET.replace("SIZE", "3")),
    kubectl("get widgets.GROUP"),
    kubectl("get widgets.GROUP w -o wide"),
    kubectl("get widgets.GROUP w -o yaml"),
    kubectl("apply -f -", WIDGET.replace("SIZE", "11")),
    kubectl("apply -f -", WIDGET.replace("SIZE", "7")),
    kubectl("apply -f -", WIDGET.replace("SIZE", "'x'")),
    kubectl("apply -f -", WIDGET.replace("size: SIZE", "size: 1, colour: red")),
    kubectl("scale widgets.GROUP w --replicas 5"),
    kubectl("get widgets.GROUP w -o 'jsonpath={.spec.size} {.metadata.generation}'"),
    kubectl('patch widgets.GROUP w --subresource status --type merge -p \'{"status":{"size":5}}\''),
    kubectl("wait --for 'jsonpath={.status.size}=5' widgets.GROUP/w --timeout=30s"),
    kubectl("wait --for 'jsonpath={.status.size}=6' widgets.GROUP/w --timeout=1s"),
    kubectl("edit widgets.GROUP w", editor="sed -i s/color:.red/color:\\ green/"),
    kubectl("describe widgets.GROUP w"),
    # Late: the real server publishes a new schema after a second or two.
    kubectl("explain widget.spec --api-version=GROUP/v1"),
    kubectl("explain widget --recursive --api-version=GROUP/v1"),
    kubectl("delete widgets.GROUP w"),
    kubectl("wait --for delete widgets.GROUP/w --timeout=30s"),
    kubectl("delete crd widgets.GROUP"),
)

LOOKING_ABOUT: tuple[Command, ...] = (
    kubectl("explain deployment.spec.strategy"),
    kubectl("explain pod.spec.containers.livenessProbe.httpGet"),
    kubectl("explain nonsense"),
    kubectl("explain pods.nonsense"),
    kubectl("api-resources --api-group=apps"),
    kubectl("api-resources --namespaced=false --api-group=rbac.authorization.k8s.io -o wide"),
    kubectl("get ns default -o 'jsonpath={.status.phase}'"),
    kubectl("get --raw /healthz"),
    kubectl("get --raw /apis/apps"),
    kubectl("get --raw /nonsense"),
)

PODS: tuple[Command, ...] = (
    kubectl("apply -f -", POD, private=True),
    kubectl("get pod p"),
    kubectl("get pod p -o wide"),
    kubectl("label pod p more=labels"),
    kubectl('patch pod p -p \'{"spec":{"containers":[{"name":"c","image":"busybox:2"}]}}\''),
    # The real server's refusal quotes the difference of two Go structs.
    kubectl('patch pod p -p \'{"spec":{"nodeName":"x"}}\'', private=True),
    kubectl("get pod p -o 'jsonpath={.spec.containers[0].image} {.status.phase} {.status.qosClass}'"),
    kubectl("delete pod p --grace-period=0 --force"),
    kubectl("get pod p"),
)

SERVER_SIDE: tuple[Command, ...] = (
    kubectl("apply --server-side -f -", DEPLOYMENT),
    kubectl("apply --server-side -f -", DEPLOYMENT),
    kubectl("get deployment web -o yaml --show-managed-fields"),
    kubectl("apply --server-side --field-manager other -f -", CHANGED),
    kubectl("apply --server-side --field-manager other --force-conflicts -f -", CHANGED),
    kubectl("get deployment web -o yaml --show-managed-fields"),
    kubectl("diff --server-side --field-manager other -f -", CHANGED),
    kubectl("diff --server-side --field-manager other -f -", CHANGED.replace("replicas: 3", "replicas: 1")),
    kubectl("apply --server-side --field-manager other -f -", CHANGED.replace("replicas: 3", "replsica: 3")),
    kubectl("apply -f -", CONFIG),
    kubectl("apply --server-side -f -", CONFIG),
    kubectl("get cm conf -o yaml --show-managed-fields"),
    kubectl("scale deployment web --replicas 7"),
    kubectl("label deployment web new=label"),
    kubectl("get deployment web -o yaml --show-managed-fields"),
)

TRANSCRIPTS = {
    "reading": READING,
    "applying": APPLYING,
    "server-side": SERVER_SIDE,
    "changing": CHANGING,
    "creating": CREATING,
    "custom-kinds": CUSTOM,
    "looking-about": LOOKING_ABOUT,
    "pods": PODS,
    "rolling": running.ROLLING,
    "nodes": running.NODES,
    "streams": running.STREAMS,
    "of-itself": running.OF_ITSELF,
    "rights": rights.RIGHTS,
}


def for_group(commands: tuple[Command, ...], group: str) -> tuple[Command, ...]:
    """The commands with an API group of their own in the place of `GROUP`."""
    return tuple(
        Command(
            tuple(word.replace("GROUP", group) for word in each.arguments),
            each.stdin.replace("GROUP", group),
            each.editor,
            each.is_private,
        )
        for each in commands
    )
