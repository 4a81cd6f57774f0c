#!/bin/sh
# Is a deployment to an environment running or waiting in GitHub Actions?
# usage: deploy-queue.sh ENVIRONMENT      0 free, 1 busy, 2 cannot tell
for state in in_progress queued waiting; do
	run=$(gh run list --workflow "deploy-$1.yml" --status "$state" --limit 1 \
		--json url --jq '.[].url') || exit 2
	if [ -n "$run" ]; then
		echo "a deployment to $1 is $state: $run"
		exit 1
	fi
done
echo "no deployment to $1 is running or waiting"
