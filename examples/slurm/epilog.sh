#!/bin/sh
# For the Epilog of slurm.conf: removes what a job has left in the memory of this node. Sets that lie there are lost with it;
# the job's script has drained them before, or they are not wanted any more.
[ -n "${SLURM_JOB_ID:-}" ] || exit 0
rm -rf "/dev/shm/forebay-$SLURM_JOB_ID" "/dev/shm/forebay-$SLURM_JOB_ID-${SLURMD_NODENAME:-none}"
exit 0
