# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame on one machine without a scheduler, by mpirun. Clusters have settings of their own."""

site_configuration = {
    "systems": [
        {
            "name": "here",
            "descr": "this machine",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "all",
                    "scheduler": "local",
                    "launcher": "mpirun",
                    "environs": ["default"],
                    "max_jobs": 1,
                }
            ],
        }
    ],
    "environments": [{"name": "default"}],
}
