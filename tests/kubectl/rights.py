"""What people type who ask and say what somebody may: roles, accounts, tokens, and doing things as somebody else."""

from __future__ import annotations

from .session import Command, kubectl

_ROBOT = "--as=system:serviceaccount:NAMESPACE:robot"

RIGHTS: tuple[Command, ...] = (
    kubectl("auth whoami", private=True),
    kubectl("auth whoami --as=jane --as-group=readers"),
    kubectl("auth whoami --as=jane -o yaml"),
    kubectl("auth can-i get pods"),
    kubectl("auth can-i '*' '*'"),
    kubectl("auth can-i get pods --as=jane"),
    kubectl("auth can-i get nonsense"),
    kubectl("auth can-i get /healthz --as=jane"),
    kubectl("auth can-i get /logs --as=jane"),
    kubectl("auth can-i --list --as=jane"),
    kubectl("auth can-i --list --as=jane --as-group=system:masters"),
    kubectl("create serviceaccount robot"),
    kubectl("create role reader --verb=get,list,watch --resource=pods,configmaps,deployments.apps/scale"),
    kubectl("create role one --verb=update --resource=configmaps --resource-name=conf"),
    kubectl("create rolebinding reader --role=reader --serviceaccount=NAMESPACE:robot"),
    kubectl("create rolebinding one --role=one --serviceaccount=NAMESPACE:robot --user=jane"),
    kubectl("describe role reader"),
    kubectl("describe rolebinding one"),
    kubectl("get role,rolebinding -o wide"),
    kubectl(f"auth can-i list pods {_ROBOT}"),
    kubectl(f"auth can-i list pods --all-namespaces {_ROBOT}"),
    kubectl(f"auth can-i get pods --subresource=log {_ROBOT}"),
    kubectl(f"auth can-i update configmaps/conf {_ROBOT}"),
    kubectl(f"auth can-i update configmaps/other {_ROBOT}"),
    kubectl(f"auth can-i --list {_ROBOT}"),
    kubectl(f"get pods {_ROBOT}"),
    kubectl(f"get secrets {_ROBOT}"),
    kubectl(f"get nodes {_ROBOT}"),
    kubectl(f"get pods --all-namespaces {_ROBOT}"),
    kubectl(f"create configmap conf {_ROBOT}"),
    kubectl("create configmap conf --from-literal=a=b"),
    kubectl(f"label configmap conf x=y {_ROBOT}"),
    kubectl(f"create role more --verb=delete --resource=pods {_ROBOT}"),
    kubectl("get configmap conf --as=jane"),
    kubectl("get configmap conf --as=jane --as-group=system:masters"),
    kubectl("get configmap conf --as-group=system:masters"),
    kubectl(f"get configmap conf {_ROBOT} --as-uid=1"),
    kubectl("create token robot", private=True),
    kubectl("create token robot --duration=1s"),
    kubectl("create token none"),
    kubectl("create token robot --bound-object-kind=Secret --bound-object-name=none"),
    kubectl("create clusterrole GROUP --verb=get --resource=nodes --aggregation-rule=a=b"),
    kubectl("create clusterrole GROUP --verb=get --resource=nodes --non-resource-url=/metrics"),
    kubectl("get clusterrole GROUP -o yaml"),
    kubectl("create clusterrolebinding GROUP --clusterrole=GROUP --group=readers"),
    kubectl("auth can-i get nodes --as=jane --as-group=readers"),
    kubectl("auth can-i get /metrics --as=jane --as-group=readers"),
    kubectl(
        "auth reconcile -f -",
        stdin="""
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
""",
    ),
    kubectl("get role reader -o 'jsonpath={.rules[*].resources}'"),
    kubectl('patch rolebinding one -p \'{"roleRef":{"name":"reader"}}\''),
    kubectl("get clusterrole view edit admin cluster-admin -o name"),
    kubectl("describe clusterrole system:node-problem-detector"),
    kubectl("delete clusterrole,clusterrolebinding GROUP"),
)
