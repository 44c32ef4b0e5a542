#!/bin/bash
# An array job of AWS Batch. Needs: the aws command with rights to submit jobs, a
# job queue, an image with tfrec as its entry point, and an EFS file system with
# the images in /photos.
#
#   efs.sh QUEUE IMAGE EFS_ID
set -euo pipefail

queue=$1 image=$2 efs=$3
tasks=64

define() { # NAME VCPUS MEMORY
	aws batch register-job-definition --job-definition-name "$1" --type container \
		--retry-strategy attempts=2 --container-properties "{
		\"image\": \"$image\",
		\"resourceRequirements\": [{\"type\": \"VCPU\", \"value\": \"$2\"}, {\"type\": \"MEMORY\", \"value\": \"$3\"}],
		\"volumes\": [{\"name\": \"data\", \"efsVolumeConfiguration\": {\"fileSystemId\": \"$efs\"}}],
		\"mountPoints\": [{\"sourceVolume\": \"data\", \"containerPath\": \"/data\"}]
	}" --query jobDefinitionArn --output text
}

command() { # WORD...: the overrides that run these words
	local words
	words=$(printf '"%s",' "$@")
	printf '{"command": [%s]}' "${words%,}"
}

convert=$(aws batch submit-job --job-name tfrec-convert --job-queue "$queue" \
	--job-definition "$(define tfrec-convert 4 4096)" --array-properties "size=$tasks" \
	--container-overrides "$(command convert images /data/photos /data/out --resize 224 --shards 256 --workers 4 --task auto --tasks "$tasks")" \
	--query jobId --output text)
aws batch submit-job --job-name tfrec-finalize --job-queue "$queue" \
	--job-definition "$(define tfrec-finalize 1 2048)" --depends-on "jobId=$convert" \
	--container-overrides "$(command finalize /data/out)"
