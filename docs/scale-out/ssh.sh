#!/usr/bin/env bash
# Runs an experiment with an agent on each of some hosts, over SSH:
#
#	ssh.sh --allow questdb@db1 experiment.yaml [--FLAG …] -- host-1 host-2 user@host-3
#
# The agents connect only to the databases that --allow names; repeat it for several.
# The hosts need tsmark of this version in their PATH, and a key that needs no password.
# No port is opened: agents come back to this machine through the tunnel of their SSH
# connection, and nothing but commands and results passes it; rows and queries go from
# each host to the database itself. Agents end with the run; one whose connection was cut
# stops what it does, and ends with the next line that it has nobody to tell.
set -euo pipefail

allowed='' run=()
while [ $# -gt 1 ] && [ "$1" = --allow ]; do
	allowed+=" --allow '$2'"
	shift 2
done
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	run+=("$1")
	shift
done
if [ ${#run[@]} -eq 0 ] || [ $# -lt 2 ]; then
	echo "usage: $0 [--allow DRIVER@HOST]… experiment.yaml [--FLAG …] -- HOST…" >&2
	exit 2
fi
shift
port=${TSMARK_AGENTS_PORT:-4222}

token=$(mktemp) # for its owner alone
tunnels=()
finish() {
	rm -f "$token"
	[ ${#tunnels[@]} -eq 0 ] || kill "${tunnels[@]}" 2>/dev/null || true
}
trap finish EXIT
od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$token"

for host in "$@"; do
	# The token comes by standard input, so that it is in no list of processes. The agent
	# waits until the coordinator is there, and ends with the run.
	ssh -o BatchMode=yes -o ExitOnForwardFailure=yes -o ServerAliveInterval=5 -R "127.0.0.1:$port:127.0.0.1:$port" "$host" \
		"tsmark agent --join nats://127.0.0.1:$port --token @/dev/stdin --name ${host##*@} --once$allowed" <"$token" >&2 &
	tunnels+=($!)
done

tsmark run "${run[@]}" --agents $# --agents-listen "127.0.0.1:$port" --agents-token "@$token"
