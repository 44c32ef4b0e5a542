#!/bin/bash
# Submits an array job that converts images from bucket to bucket, and the job that finalizes the
# set after it.
#
#   submit.sh QUEUE SRC OUT [TASKS]
set -euo pipefail

queue=$1 src=$2 out=$3
tasks=${4:-64}
cd "$(dirname "$0")"

register() { # FILE
	aws batch register-job-definition --cli-input-json "file://$1" --query jobDefinitionArn --output text
}

convert=$(register convert.json)
finalize=$(register finalize.json)
job=$(aws batch submit-job --job-name tfrec-convert --job-queue "$queue" --job-definition "$convert" \
	--array-properties "size=$tasks" --parameters "src=$src,out=$out,tasks=$tasks" --query jobId --output text)
aws batch submit-job --job-name tfrec-finalize --job-queue "$queue" --job-definition "$finalize" \
	--depends-on "jobId=$job" --parameters "out=$out"
