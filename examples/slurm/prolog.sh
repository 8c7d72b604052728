#!/bin/sh
# For the Prolog of slurm.conf: takes a node out of service whose memory has no room for a stage, since an earlier job, or
# somebody else, has left too much in it. Slurm queues the job again, and `sinfo -R` shows the node; `ls -l /dev/shm` on the
# node shows what lies there.
least_mib=${FOREBAY_LEAST_MIB:-32} # set it to what your jobs stage on a node
free_mib=$(df -Pm /dev/shm | awk 'NR == 2 { print $4 }')
[ "${free_mib:-0}" -ge "$least_mib" ] && exit 0
echo "/dev/shm has ${free_mib:-no} MiB free, and jobs with Forebay need $least_mib" >&2
exit 1
