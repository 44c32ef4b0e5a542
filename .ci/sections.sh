# Sections of a run, for .ci/run and .ci/nightly, which source this file.

# Packages are compiled once, for tests and programs and for clones at any path. go vet checks each
# module in a target of its own, so go test skips it.
GOFLAGS="$(go env GOFLAGS) -trimpath -vet=off"
export GOFLAGS

started=$SECONDS
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# processor sets REPLY to the processor time in seconds that the commands of
# this shell, the script's or a subshell, took so far.
processor() {
	local stat
	read -r -a stat <"/proc/$BASHPID/stat"
	REPLY=$(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}

# section NAME COMMAND... runs a command and prints its verdict with the time it took. The run goes
# on if it fails.
section() {
	local name=$1 begun=$SECONDS busy verdict=ok
	processor
	busy=$REPLY
	shift
	printf '\n==== %s: %s\n' "$name" "$*"
	if ! "$@"; then
		echo "$name" >>"$logs/failed"
		verdict=FAILED
	fi
	processor
	printf '==== %s: %s, %d s, %d s of processor time\n' "$name" "$verdict" $((SECONDS - begun)) $((REPLY - busy)) |
		tee -a "$logs/verdicts"
}

# install PACKAGE... installs packages of Debian. Without root or a mirror the run goes on: each target
# reports what it misses.
install() {
	[ $# -gt 0 ] || return 0
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >/dev/null ||
			echo "could not install $*: going on without"
	else
		echo "no $*, and not root on Debian: going on without"
	fi
}

# finish prints the verdicts again, and fails if a section did.
finish() {
	printf '\n'
	[ ! -e "$logs/verdicts" ] || cat "$logs/verdicts"
	if [ -s "$logs/failed" ]; then
		printf '==== FAILED: %s (%d s in all)\n' "$(paste -s -d ' ' "$logs/failed")" $((SECONDS - started))
		return 1
	fi
	printf '==== all passed, %d s\n' $((SECONDS - started))
}
