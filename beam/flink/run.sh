#!/bin/sh
# Runs tfrec-beam on Apache Flink, in one process here, and compares what comes of
# it with what tfrec makes: a conversion of photographs, and a shuffle of its
# records. Needs Java 17 or newer and Maven, which fetches Beam's job server for
# Flink into JARS once (some 150 MB).
#
#   run.sh TFREC TFREC-BEAM PHOTOS JARS
set -eu

if [ $# -ne 4 ]; then
	echo "usage: run.sh TFREC TFREC-BEAM PHOTOS JARS" >&2
	exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
tfrec=$1 beam=$2 photos=$3 jars=$4

for tool in java mvn; do
	if ! command -v "$tool" >/dev/null 2>&1; then
		echo "run.sh: no $tool here: install Java 17 and Maven (on Debian: apt-get install openjdk-17-jre-headless maven)" >&2
		exit 1
	fi
done
java=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = //p')
case $java in
1[7-9] | [2-9][0-9]) ;;
*)
	echo "run.sh: java is ${java:-of no version that it tells}: want 17 or newer" >&2
	exit 1
	;;
esac

# The stamp is the pom that the jars are of, and is written last.
if ! cmp -s "$here/pom.xml" "$jars/pom.xml"; then
	echo "run.sh: fetching the job server into $jars"
	rm -rf "$jars"
	mkdir -p "$jars"
	mvn -B -q -ntp -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(cd "$jars" && pwd)" >"$jars/maven.log" 2>&1 || {
		cat "$jars/maven.log" >&2
		echo "run.sh: Maven could not fetch the job server" >&2
		exit 1
	}
	cp "$here/pom.xml" "$jars/pom.xml"
fi

work=$(mktemp -d)
server=
finish() {
	status=$?
	trap - EXIT INT TERM HUP
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			sleep 0.5
			kill -0 "$server" 2>/dev/null || break
		done
		kill -9 "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	if [ "$status" -ne 0 ] && [ -f "$work/server.log" ]; then
		echo "run.sh: the last lines of the job server:" >&2
		tail -n 30 "$work/server.log" >&2
	fi
	rm -rf "$work"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

java -Xmx1g -cp "$jars/*" org.apache.beam.runners.flink.FlinkJobServerDriver \
	--job-host=127.0.0.1 --job-port=0 --artifact-port=0 --expansion-port=0 \
	--flink-master='[local]' --artifacts-dir="$work/artifacts" >"$work/server.log" 2>&1 &
server=$!
port=
waited=0
while [ -z "$port" ]; do
	if ! kill -0 "$server" 2>/dev/null; then
		echo "run.sh: the job server has ended before it was ready" >&2
		exit 1
	fi
	if [ "$waited" -ge 600 ]; then
		echo "run.sh: the job server was not ready in five minutes" >&2
		exit 1
	fi
	sleep 0.5
	waited=$((waited + 1))
	port=$(sed -n 's/.*JobService started on [^ ]*:\([0-9][0-9]*\).*/\1/p' "$work/server.log")
done

# on_flink runs tfrec-beam's verb on the job server. A job that hangs is ended.
on_flink() {
	timeout 1200 "$beam" --quiet "$@" --runner=flink --endpoint="127.0.0.1:$port" --environment_type=LOOPBACK --parallelism=2
}

# same compares two sets, all but the state of their machines.
same() {
	diff -r -x .tfrec "$1" "$2"
}

"$tfrec" --quiet convert images "$photos" "$work/local" --resize 64 --shards 3 --seed 7 --name photos
on_flink convert images "$photos" "$work/flink" --resize 64 --shards 3 --seed 7 --name photos
same "$work/local" "$work/flink"
echo "run.sh: Flink and tfrec convert to the same bytes"

"$tfrec" --quiet reshard "$work/local" "$work/shuffled" --shuffle --seed 11 --shards 4
on_flink reshard "$work/local" "$work/shuffled-by-flink" --shuffle --seed 11 --shards 4
same "$work/shuffled" "$work/shuffled-by-flink"
"$tfrec" --quiet verify "$work/shuffled-by-flink" >/dev/null
echo "run.sh: Flink and tfrec shuffle to the same bytes"
