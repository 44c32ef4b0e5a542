#!/bin/sh
# Runs tfrec-beam on Apache Flink or Apache Spark on this machine, and compares what
# comes of it with what tfrec makes: a conversion of photographs (not with flink, the
# shortest), and a shuffle of its records. Needs Java 17 or newer and Maven, which fetches the runner
# and Beam's job server into JARS once (150 MB for Flink, 300 MB for Spark).
#
#   run.sh flink TFREC TFREC-BEAM PHOTOS JARS           Flink in the job server's process
#   run.sh flink-cluster TFREC TFREC-BEAM PHOTOS JARS   two task managers, with workers as processes and from a
#                                                       pool, one of which is killed in the middle of a job
#   run.sh spark TFREC TFREC-BEAM PHOTOS JARS           Spark in the job server's process
set -eu

usage() {
	echo "usage: run.sh flink|flink-cluster|spark TFREC TFREC-BEAM PHOTOS JARS" >&2
	exit 2
}
[ $# -eq 5 ] || usage
runner=$1 tfrec=$2 beam=$3 photos=$4 jars=$5
here=$(cd "$(dirname "$0")" && pwd)
case $runner in
flink | flink-cluster) pom=$here/flink.xml kind=flink ;;
spark) pom=$here/spark.xml kind=spark ;;
*) usage ;;
esac
beam=$(cd "$(dirname "$beam")" && pwd)/$(basename "$beam")

"$here/jars.sh" "$pom" "$jars"

work=$(mktemp -d)
launched=""
finish() {
	status=$?
	trap - EXIT INT TERM HUP
	# The last first: workers, job servers, what they run on.
	for id in $launched; do
		kill "$id" 2>/dev/null || true
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			kill -0 "$id" 2>/dev/null || break
			sleep 0.5
		done
		kill -9 "$id" 2>/dev/null || true
		wait "$id" 2>/dev/null || true
	done
	if [ "$status" -ne 0 ]; then
		for log in "$work"/*.log; do
			[ -f "$log" ] || continue
			echo "run.sh: the last lines of $(basename "$log"):" >&2
			tail -n 30 "$log" >&2
		done
	fi
	rm -rf "$work"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# launch NAME COMMAND... runs a command beside this one, until the end.
launch() {
	name=$1
	shift
	"$@" >"$work/$name.log" 2>&1 &
	last=$!
	launched="$last $launched"
}

# await PATTERN prints the first \(group\) that the last launched command's log has.
await() {
	found=
	waited=0
	while [ -z "$found" ]; do
		if ! kill -0 "$last" 2>/dev/null; then
			echo "run.sh: $name has ended before it was ready" >&2
			return 1
		fi
		if [ "$waited" -ge 600 ]; then
			echo "run.sh: $name was not ready in five minutes" >&2
			return 1
		fi
		sleep 0.5
		waited=$((waited + 1))
		found=$(sed -n "s/.*$1.*/\\1/p" "$work/$name.log" | head -n 1)
	done
	echo "$found"
}

# job_server CLASS ARGUMENT... starts one, and sets port.
job_server() {
	class=$1
	shift
	# shellcheck disable=SC2086 # $opens is several words
	launch job-server java -Xmx1g $opens -cp "$jars/*" "$class" \
		--job-host=127.0.0.1 --job-port=0 --artifact-port=0 --expansion-port=0 --artifacts-dir="$work/artifacts" "$@"
	port=$(await 'JobService started on [^ ]*:\([0-9][0-9]*\)')
}

# flink_cluster starts a job manager and two task managers, and sets flink and parents.
flink_cluster() {
	mkdir "$work/conf"
	cat >"$work/conf/flink-conf.yaml" <<-END
		jobmanager.rpc.address: 127.0.0.1
		jobmanager.rpc.port: 0
		rest.address: 127.0.0.1
		rest.bind-address: 127.0.0.1
		rest.bind-port: 0
		taskmanager.host: 127.0.0.1
		taskmanager.numberOfTaskSlots: 2
		taskmanager.cpu.cores: 2
		taskmanager.memory.framework.heap.size: 128m
		taskmanager.memory.framework.off-heap.size: 128m
		taskmanager.memory.jvm-metaspace.size: 256m
		taskmanager.memory.jvm-overhead.min: 192m
		taskmanager.memory.jvm-overhead.max: 192m
		taskmanager.memory.task.heap.size: 256m
		taskmanager.memory.task.off-heap.size: 64m
		taskmanager.memory.network.min: 64m
		taskmanager.memory.network.max: 64m
		taskmanager.memory.managed.size: 128m
		classloader.resolve-order: parent-first
		io.tmp.dirs: $work
	END
	# shellcheck disable=SC2086 # $opens is several words
	launch job-manager java -Xmx512m $opens -cp "$jars/*" org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir "$work/conf"
	flink=$(await 'Rest endpoint listening at \([0-9.:]*\)')
	rpc=$(await 'tcp:\/\/flink@127\.0\.0\.1:\([0-9]*\)')
	parents=
	for n in 1 2; do
		# shellcheck disable=SC2086 # $opens is several words
		launch "task-manager-$n" java -Xmx768m $opens -cp "$jars/*" org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$work/conf" -D "jobmanager.rpc.port=$rpc"
		await '\(Successful registration at resource manager\)' >/dev/null
		parents="$parents $last"
	done
}

# on_runner runs tfrec-beam's verb on the job server. A job that hangs is ended.
on_runner() {
	timeout 1200 "$beam" --quiet "$@" --runner="$kind" --endpoint="127.0.0.1:$port" --parallelism="$parallelism" \
		--environment_type="$environment" --environment_config="$config"
}

# same compares two sets, all but the state of their machines.
same() {
	diff -r -x .tfrec "$1" "$2"
}

# converts NAME has the runner make what tfrec makes of photographs.
converts() {
	on_runner convert images "$photos" "$work/converted-$1" --resize 64 --shards 3 --seed 7 --name photos
	same "$work/local" "$work/converted-$1"
	echo "run.sh: $1: the same bytes as tfrec's conversion"
}

# shuffles NAME has the runner shuffle records as tfrec does.
shuffles() {
	on_runner reshard "$work/local" "$work/shuffled-$1" --shuffle --seed 11 --shards 4
	same "$work/shuffled" "$work/shuffled-$1"
	"$tfrec" --quiet verify "$work/shuffled-$1" >/dev/null
	echo "run.sh: $1: the same bytes as tfrec's shuffle"
}

# kill_a_worker NAME kills a worker in the middle of a job, which ends, and has the next
# job make the rest. Workers are children of the processes in $parents.
kill_a_worker() {
	out=$work/killed-$1
	convert() {
		on_runner convert images "$photos" "$out" --resize 256 --shards 48 --workers 1 --name photos
	}
	convert 2>"$work/killed.log" &
	job=$!
	while kill -0 "$job" 2>/dev/null && [ -z "$(find "$out/.tfrec/shards" -type f 2>/dev/null)" ]; do
		sleep 0.05
	done
	kill -9 "$(ps -A -o pid= -o ppid= | awk -v parents=" $parents " 'index(parents, " " $2 " ") { print $1; exit }')"
	if wait "$job"; then
		echo "run.sh: $1: the job ended well without a worker"
	elif grep 'the runner gave up: ' "$work/killed.log" >/dev/null && [ "$(wc -l <"$work/killed.log")" -eq 1 ]; then
		echo "run.sh: $1: a worker was killed: $(cat "$work/killed.log")"
		convert
	else
		cat "$work/killed.log" >&2
		echo "run.sh: $1: a worker was killed: want one line of error" >&2
		exit 1
	fi
	same "$work/many" "$out"
	echo "run.sh: $1: the same bytes after a worker was killed"
}

# damaged NAME has the runner shuffle a damaged shard: one line says which, and why.
damaged() {
	cp -r "$work/local" "$work/damaged-$1"
	for shard in "$work/damaged-$1"/*.tfrecord-00001-of-*[0-9]; do
		printf 'damage' | dd of="$shard" bs=1 seek=200 conv=notrunc 2>/dev/null
	done
	if on_runner reshard "$work/damaged-$1" "$work/shuffled-damaged-$1" --shuffle --seed 11 --shards 4 2>"$work/damaged.log" ||
		[ "$(wc -l <"$work/damaged.log")" -ne 1 ] || ! grep 'tfrecord-00001-of-.*checksum' "$work/damaged.log" >/dev/null; then
		cat "$work/damaged.log" >&2
		echo "run.sh: $1: a shard is damaged: want one line of error that names it" >&2
		exit 1
	fi
	echo "run.sh: $1: a shard is damaged: $(cat "$work/damaged.log")"
}

"$tfrec" --quiet convert images "$photos" "$work/local" --resize 64 --shards 3 --seed 7 --name photos
"$tfrec" --quiet reshard "$work/local" "$work/shuffled" --shuffle --seed 11 --shards 4

opens="" parallelism=2 environment=LOOPBACK config=""
case $runner in
flink)
	job_server org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master='[local]'
	shuffles flink # all that a conversion needs is in that, too
	damaged flink
	;;
spark)
	# What Spark's own scripts open of Java.
	for package in lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic; do
		opens="$opens --add-opens=java.base/java.$package=ALL-UNNAMED"
	done
	for package in sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
		opens="$opens --add-opens=java.base/$package=ALL-UNNAMED"
	done
	job_server org.apache.beam.runners.spark.SparkJobServerDriver --spark-master-url='local[2]'
	converts spark
	shuffles spark
	damaged spark
	;;
flink-cluster)
	flink_cluster
	job_server org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master="$flink"
	"$tfrec" --quiet convert images "$photos" "$work/many" --resize 256 --shards 48 --name photos
	parallelism=4

	environment=PROCESS config="{\"command\": \"$beam\"}"
	converts processes
	shuffles processes
	kill_a_worker processes

	launch pool "$beam" --worker_pool=127.0.0.1:0
	environment=EXTERNAL config=$(await 'workers are started by \([0-9.:]*\)') parents=$last
	converts pool
	shuffles pool
	damaged pool
	kill_a_worker pool
	;;
esac
