#!/bin/bash
# Creates or updates the two jobs in a region, runs all tasks, and finalizes the set.
#
#   run.sh REGION
set -euo pipefail

region=$1
cd "$(dirname "$0")"
for step in convert finalize; do
	gcloud run jobs replace "$step.yaml" --region "$region"
	gcloud run jobs execute "tfrec-$step" --region "$region" --wait
done
