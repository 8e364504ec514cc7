"""What people type who run things: rollouts, nodes, streams of Pods, and what the server says of itself.

On an API server alone: no controller makes Pods, no kubelet has them. `GROUP` is also the name of the test's Node.
"""

from __future__ import annotations

from .session import Command, kubectl

_NODE = """
apiVersion: v1
kind: Node
metadata: {name: GROUP, labels: {kubernetes.io/hostname: GROUP}}
spec: {podCIDR: 10.99.0.0/24}
"""
_ADDRESS = '{"status":{"addresses":[{"type":"InternalIP","address":"127.0.0.1"}]}}'
_WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1", ports: [{containerPort: 80, name: http}]}]}
"""
_POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {run: p}}
spec: {containers: [{name: c, image: busybox, command: [sleep, "60"]}, {name: d, image: busybox}]}
"""
_PLACED = _POD.replace("name: p,", "name: q,").replace("spec: {", "spec: {nodeName: GROUP, ")
_SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: db}]}}
"""

ROLLING: tuple[Command, ...] = (
    kubectl("apply -f -", _WEB),
    kubectl("rollout status deployment/web --timeout=1s"),
    kubectl("rollout history deployment/web"),
    kubectl("rollout undo deployment/web"),
    kubectl("rollout restart deployment/web"),
    kubectl("rollout pause deployment/web"),
    kubectl("rollout pause deployment/web"),
    kubectl("rollout restart deployment/web"),
    kubectl("rollout undo deployment/web"),
    kubectl("rollout resume deployment/web"),
    kubectl("rollout status deployment/none"),
    kubectl("apply -f -", _SET),
    kubectl("rollout history statefulset/db"),
    kubectl("rollout undo statefulset/db"),
    kubectl("rollout status statefulset/db --timeout=1s"),
    kubectl("rollout restart statefulset/db"),
    kubectl("scale deployment/web --replicas=3 --current-replicas=5"),
    kubectl("scale deployment/web statefulset/db --replicas=3"),
    kubectl("autoscale deployment/web --min=1 --max=5 --cpu-percent=80"),
    kubectl("get hpa web"),
    kubectl("get hpa web -o yaml"),
    kubectl("describe hpa web"),
    kubectl("autoscale deployment/web --max=5"),
    kubectl("expose deployment/web --port=80 --target-port=http --name=front"),
    kubectl("expose deployment/web --port=80"),
    kubectl("expose deployment/web --port=80"),
    kubectl("expose service/web --port=443 --type=NodePort --name=outside"),
    kubectl("expose statefulset/db"),
    kubectl("get service front -o yaml"),
    kubectl("get endpoints front"),
    kubectl("set image deployment/web web=nginx:9"),
    kubectl("set image deployment/web nobody=nginx:9"),
    kubectl("set image deployment,statefulset --all *=nginx:10"),
    kubectl("set serviceaccount deployment/web robot"),
    kubectl("set selector service/front app=other"),
    kubectl("set env deployment/web --list"),
    kubectl("get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image} {.metadata.generation}'"),
    kubectl("create cronjob every --image=busybox --schedule='*/5 * * * *' -- true"),
    kubectl("create job once --from=cronjob/every"),
    kubectl("create job once --from=cronjob/every"),
    kubectl("create job again --from=cronjob/none"),
    kubectl("get job once -o 'jsonpath={.metadata.ownerReferences[0].kind} {.metadata.annotations}'"),
    kubectl("wait --for condition=Available deployment/web --timeout=1s"),
    kubectl("wait --for 'jsonpath={.spec.replicas}=3' deployment/web --timeout=1s"),
    kubectl("wait --for condition=Complete job/once --timeout=1s"),
    kubectl("wait --for create job/once --timeout=1s"),
    kubectl("wait --for delete job/none --timeout=1s"),
    kubectl("delete deployment,statefulset,service,hpa,job,cronjob --all"),
)

NODES: tuple[Command, ...] = (
    kubectl("apply -f -", _NODE),
    kubectl("get node GROUP"),
    kubectl("get node GROUP -o wide"),
    kubectl("cordon GROUP"),
    kubectl("cordon GROUP"),
    kubectl("get node GROUP"),
    kubectl("uncordon GROUP"),
    kubectl("taint node GROUP key=value:NoSchedule"),
    kubectl("taint node GROUP key=other:NoSchedule"),
    kubectl("taint node GROUP key=other:NoSchedule --overwrite"),
    kubectl("taint node GROUP key=other:Sometimes"),
    kubectl("get node GROUP -o 'jsonpath={.spec.taints}'"),
    kubectl("taint node GROUP key-"),
    kubectl("taint node GROUP key-"),
    kubectl("label node GROUP disk=fast"),
    kubectl("describe node GROUP"),
    kubectl("apply -f -", _PLACED),
    kubectl("drain GROUP --timeout=2s"),
    kubectl("drain GROUP --force --dry-run=server"),
    kubectl("drain none"),
    kubectl("get node GROUP -o 'jsonpath={.spec.unschedulable}'"),
    kubectl("top node"),
    kubectl("top pod"),
    kubectl("top pod q"),
    kubectl("debug node/none --image=busybox --attach=false"),
    kubectl("delete pod q --grace-period=0 --force"),
    kubectl("delete node GROUP"),
)

STREAMS: tuple[Command, ...] = (
    kubectl("apply -f -", _POD),
    kubectl("logs p"),
    kubectl("logs p -c d"),
    kubectl("logs p -c none"),
    kubectl("logs p --all-containers"),
    kubectl("logs none"),
    kubectl("logs -l run=p --tail=5"),
    kubectl("logs deployment/none"),
    kubectl("exec p -- true"),
    kubectl("exec p -c none -- true"),
    kubectl("exec none -- true"),
    kubectl("attach p"),
    kubectl("port-forward p 18080:80"),
    kubectl("port-forward none 18080:80"),
    kubectl("cp p:/tmp/x x"),
    kubectl("debug p --image=busybox --attach=false --container=look"),
    kubectl("get pod p -o 'jsonpath={.spec.ephemeralContainers[*].name}'"),
    kubectl("debug none --image=busybox --attach=false"),
    kubectl("debug p --image=busybox --attach=false --copy-to=copied"),
    kubectl("get pod copied -o 'jsonpath={.spec.containers[*].name}'"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/pods/p/log"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/pods/p/proxy/"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/pods/none/proxy/"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/services/none/proxy/"),
    kubectl("get --raw /api/v1/nodes/none/proxy/"),
    # On a node of which nobody knows where it is, then on one where nobody listens.
    kubectl("apply -f -", _NODE),
    kubectl("apply -f -", _PLACED),
    kubectl("logs q -c c"),
    kubectl("exec q -c c -- true"),
    kubectl("port-forward q 18080:80"),
    kubectl("get --raw /api/v1/nodes/GROUP/proxy/"),
    kubectl(f"patch node GROUP --subresource status -p '{_ADDRESS}'"),
    kubectl("logs q -c c"),
    # The real server says it within a WebSocket, and so in other words.
    kubectl("exec q -c c -- true", private=True),
    kubectl("get --raw /api/v1/nodes/GROUP/proxy/"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/pods/q/exec?command=true&container=c"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/pods/q/log?container=c&tailLines=-1"),
    kubectl("expose pod q --port=80"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/services/q/proxy/"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/services/q:81/proxy/"),
    kubectl("get --raw /api/v1/namespaces/NAMESPACE/services/q:80/proxy/"),
    kubectl("delete node GROUP"),
    kubectl("logs q -c c"),
    kubectl("delete pod p q copied --grace-period=0 --force"),
)

OF_ITSELF: tuple[Command, ...] = (
    kubectl("version", private=True),
    kubectl("cluster-info"),
    kubectl("api-versions", private=True),
    kubectl("api-resources --api-group=batch -o wide"),
    kubectl("api-resources --verbs=list,create --namespaced --api-group=''"),
    kubectl("get --raw /version", private=True),
    kubectl("get --raw /livez"),
    kubectl("get --raw /readyz?verbose", private=True),
    kubectl("get --raw /api", private=True),
    kubectl("get --raw /apis/batch"),
    kubectl("get --raw /apis/batch/v1"),
    kubectl("get --raw /apis/nonsense"),
    kubectl("get --raw /api/v1/namespaces/none"),
    kubectl("get service kubernetes --namespace=default"),
    kubectl("get endpointslice kubernetes --namespace=default", private=True),
    kubectl("describe service kubernetes --namespace=default", private=True),
    kubectl("get priorityclass system-node-critical system-cluster-critical"),
    kubectl("get namespace default kube-system kube-public kube-node-lease"),
    kubectl("get apiservice v1. v1.apps v2.autoscaling v1.resource.k8s.io"),
    kubectl("describe apiservice v1.batch"),
    kubectl("config view --minify -o 'jsonpath={.clusters[0].cluster.server}'"),
)
