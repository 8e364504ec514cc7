"""RedisCluster: an operator of the size that people really write."""
