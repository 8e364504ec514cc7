"""`kubewright run examples/rediscluster/operator.py`"""

from kubewright import Operator

from .controller import RedisClusterController

operator = Operator("rediscluster-operator", controllers=[RedisClusterController()])
