#!/bin/bash
# device.sh answers what a first half hour on a machine with a GPU should: what is there, whether
# bytes and tolerances hold, and how fast decoding, kernels and conversions are. It needs bash, awk
# and the binaries of `make gpu gpu-device-test`: neither Go, nor the checkout, nor a network.
#
#   device.sh [options] [STEP...]
#
#   -b DIR    the binaries: bin of the checkout, or where this file is
#   -o DIR    the report, which must not exist: device-report
#   -p DIR    photographs to convert: JPEGs of 500x375 that gpu.test makes
#   -n N      how many, copied as often as it takes: 40000
#   -s DIR    scratch, in memory: /dev/shm
#   -t TIME   how long each benchmark runs, or 1x for once: 2s
#   -c LIST   the threads of benchmarks: 1,4,16
#   -r REGEX  the tests of the step conformance: all
#   -q        small batches in benchmarks, for the fake driver
#
# Steps, all by default: system, conformance, tolerance, reopen, decode, kernels, streams, convert,
# profile. A step that fails does not end the others; the exit status is 1 then. The report has
# report.json, report.md, whose tables are for docs/gpu.md, and what each step printed, STEP.log.
set -u

usage() {
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
binaries=$here/../bin out=device-report photos= count=40000 scratch=/dev/shm benchtime=2s threads=1,4,16 pattern= quick=
[ -x "$here/tfrec-cuda" ] && binaries=$here
while getopts :b:o:p:n:s:t:c:r:q option; do
	case $option in
	b) binaries=$OPTARG ;;
	o) out=$OPTARG ;;
	p) photos=$OPTARG ;;
	n) count=$OPTARG ;;
	s) scratch=$OPTARG ;;
	t) benchtime=$OPTARG ;;
	c) threads=$OPTARG ;;
	r) pattern=$OPTARG ;;
	q) quick=-test.short ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
all="system conformance tolerance reopen decode kernels streams convert profile"
for step; do
	case " $all " in *" $step "*) ;; *) usage ;; esac
done
case $count in '' | *[!0-9]* | 0) usage ;; esac

mkdir "$out" || exit 2 # the figures of two runs are not to be mixed
out=$(cd "$out" && pwd)
binaries=$(cd "$binaries" && pwd) || exit 2
work=$(mktemp -d "$scratch/tfrec-device.XXXXXX") || exit 2
watcher=
trap 'rm -rf "$work"; [ -z "$watcher" ] || kill "$watcher" 2>/dev/null' EXIT
trap 'exit 130' INT TERM HUP

# figure NAME VALUE UNIT notes a figure of the step.
figure() { printf '%s\t%s\t%s\t%s\n' "$step" "$1" "$2" "$3" >>"$work/figures"; }

# benchmark BINARY REGEX [FLAGS...] runs benchmarks and notes all that they report.
benchmark() {
	local log=$work/benchmark binary=$1 regex=$2
	shift 2
	"$binaries/$binary" -test.run '^$' -test.bench "$regex" -test.benchtime "$benchtime" -test.timeout 10m $quick -require-gpu "$@" >"$log" 2>&1
	local code=$?
	cat "$log"
	awk -v step="$step" 'BEGIN { OFS = "\t" } /^Benchmark.*\/op/ {
		sub(/^Benchmark/, "", $1)
		for (i = 3; i < NF; i += 2)
			if ($(i + 1) !~ /^(B|allocs)\/op$/) print step, $1, $i, $(i + 1)
	}' "$log" >>"$work/figures"
	[ $code -eq 0 ] && grep -q '^Benchmark.*/op' "$log" && return
	echo "failed: benchmarks of $binary: exit status $code"
	return 1
}

# tests BINARY [FLAGS...] runs tests and notes how many passed, failed and were skipped.
tests() {
	local log=$work/tests binary=$1
	shift
	"$binaries/$binary" -require-gpu -test.v -test.timeout 10m "$@" >"$log" 2>&1
	local code=$?
	cat "$log"
	for result in PASS FAIL SKIP; do
		figure "$binary" "$(grep -c "^--- $result: " "$log")" "$(echo $result | tr A-Z a-z)"
	done
	[ $code -eq 0 ] || echo "failed: $binary: exit status $code"
	return $code
}

system() {
	uname -srm
	grep -m 1 '^model name' /proc/cpuinfo
	grep '^MemTotal' /proc/meminfo
	figure "this machine" "$(getconf _NPROCESSORS_ONLN)" cores
	figure "this machine" "$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" "MiB of memory"
	if command -v nvidia-smi >/dev/null 2>&1; then
		nvidia-smi
		nvidia-smi -q -d CLOCK,POWER
	else
		echo "no nvidia-smi"
	fi
	"$binaries/tfrec-cuda" version
	"$binaries/tfrec-cuda" gpu
	"$binaries/tfrec-cuda" gpu --json >"$work/json" && mv "$work/json" "$work/gpu.json" || return 1
	cat "$work/gpu.json"
	grep -q '"nvjpeg"' "$work/gpu.json" || {
		echo "there is no GPU that nvJPEG decodes on"
		return 1
	}
}

conformance() {
	local code=0 binary
	for binary in gpu-cuda.test gpu-nvjpeg.test gpu.test; do
		tests "$binary" ${pattern:+-test.run "$pattern"} || code=1
	done
	return $code
}

# levels notes how far pixels are apart, by what the log of tests says: of planes, by nvJPEG's
# backend, and of what was made of them.
levels() {
	awk -v step="$step" '
		function note(name, apart, mean) {
			if (!(name in most)) { names[++n] = name; most[name] = worst[name] = 0 }
			if (apart > most[name]) most[name] = apart
			if (mean > worst[name]) worst[name] = mean
		}
		/ levels apart, [0-9.]+ on average$/ {
			sub(/:$/, "", $(NF - 6))
			note("planes, " $(NF - 6), $(NF - 5), $(NF - 2))
		}
		/ levels apart at most, [0-9.]+ on average in the worst image$/ {
			match($0, /: [0-9]+ levels/)
			numbers = substr($0, RSTART + 2)
			name = substr($0, 1, RSTART - 1)
			sub(/^[^:]*:[0-9]+: /, "", name)
			split(numbers, word, " ")
			note(name, word[1], word[6])
		}
		END {
			OFS = "\t"
			for (i = 1; i <= n; i++) {
				print step, names[i], most[names[i]], "levels at most"
				print step, names[i], worst[names[i]], "levels on average, of the worst image"
			}
		}' "$1" >>"$work/figures"
}

tolerance() {
	local code=0
	"$binaries/gpu.test" -require-gpu -test.v -test.timeout 10m -test.run '^(TestNVJPEGBesideTurbo|TestDecodedImages|TestPixelsDoNotDependOnTheBatch)$' >"$work/tests" 2>&1 || code=1
	cat "$work/tests"
	levels "$work/tests"
	return $code
}

reopen() { tests gpu.test -test.run '^TestReopen$'; }

decode() { benchmark gpu.test '^BenchmarkDecode$' -test.cpu "$threads"; }

kernels() {
	local code=0
	benchmark gpu.test '^BenchmarkKernels$' || code=1
	benchmark gpu.test '^BenchmarkRender$' -test.cpu "$threads" || code=1
	return $code
}

streams() { benchmark gpu.test '^Benchmark(Streams|Images)$'; }

# photographs copies photographs to the scratch directory, as often as it takes.
photographs() {
	local from=$photos n=0 copy=0
	if [ -z "$from" ]; then
		from=$work/some
		"$binaries/gpu.test" -test.run '^TestWritePictures$' -write-pictures "$from" -write-count "$((count < 2000 ? count : 2000))" || return 1
	fi
	local each need free
	each=$(find "$from" -type f -iname '*.jp*g' | wc -l)
	if [ "$each" -eq 0 ]; then
		echo "$from has no JPEG"
		return 1
	fi
	# The copies, and as much again for what is made of them.
	need=$(($(du -sk "$from" | cut -f 1) * count / each + count * 250))
	free=$(df -Pk "$work" | awk 'NR == 2 { print $4 }')
	if [ "$free" -lt "$need" ]; then
		echo "$scratch has $free KiB of the $need that $count photographs and their records take: give a smaller -n, or another -s"
		return 1
	fi
	mkdir "$work/photos"
	while [ $n -lt "$count" ]; do
		cp -r "$from" "$work/photos/copy$copy" || return 1
		n=$((n + each)) copy=$((copy + 1))
	done
	find "$work/photos" -type f -iname '*.jp*g' | sort | tail -n $((n - count)) | tr '\n' '\0' | xargs -0 -r rm -f --
}

# watch runs a command for some images, 15 minutes at most, and notes its time, its CPU time, its
# peak memory and that of the GPU. $off is the time without a GPU.
watch() {
	local name=$1 images=$2 peak=0 now command code
	shift 2
	if command -v nvidia-smi >/dev/null 2>&1; then
		nvidia-smi --query-gpu=memory.used,utilization.gpu --format=csv,noheader,nounits -lms 250 >"$work/smi" 2>&1 &
		watcher=$!
	fi
	TIMEFORMAT='%R %U %S'
	rm -f "$work/pid"
	{ time timeout 900 bash -c 'echo $$ >"$0" && exec "$@"' "$work/pid" "$@" 2>&1; } 2>"$work/time" &
	command=$!
	# The high-water mark that the kernel keeps, as long as the process is there.
	while kill -0 $command 2>/dev/null; do
		now=$(awk '/^VmHWM:/ { print $2 }' "/proc/$(cat "$work/pid" 2>/dev/null)/status" 2>/dev/null)
		[ "${now:-0}" -gt "$peak" ] && peak=$now
		sleep 0.1
	done
	wait $command
	code=$?
	if [ -n "$watcher" ]; then
		kill "$watcher" 2>/dev/null
		wait "$watcher" 2>/dev/null
		watcher=
		figure "$name" "$(awk -F, '$1 + 0 > most { most = $1 + 0 } END { print most + 0 }' "$work/smi")" "MiB of the GPU at most"
		figure "$name" "$(awk -F, 'NF > 1 { sum += $2; n++ } END { printf "%.0f", n ? sum / n : 0 }' "$work/smi")" "% GPU busy"
	fi
	[ $code -eq 0 ] || return $code
	set -- $(tail -n 1 "$work/time")
	figure "$name" "$1" s
	figure "$name" "$(awk -v n="$images" -v s="$1" 'BEGIN { printf "%.0f", n / s }')" images/s
	[ -n "$off" ] || off=$1
	figure "$name" "$(awk -v off="$off" -v s="$1" 'BEGIN { printf "%.2f", off / s }')" "times --gpu off"
	figure "$name" "$(awk -v n="$images" -v s="$2" -v k="$3" 'BEGIN { printf "%.3f", 1000 * (s + k) / n }')" "CPU ms/image"
	figure "$name" $((peak / 1024)) "MiB at most"
}

heavy="random_resized_crop:224|rotate:15|color_jitter:0.4,0.4,0.4,0.1|random_erasing"

# convert makes sets of the photographs. Those of --gpu on must have the bytes of --gpu off.
convert() {
	local code=0 policy gpu copies off
	photographs || return 1
	for policy in light heavy; do
		local flags=(--resize 224)
		copies=1 off=
		[ $policy = heavy ] && flags=(--augment "$heavy" --copies 4) copies=4
		for gpu in off on "on --gpu-decode"; do
			local set=$work/set-${gpu%% *}
			[ "$gpu" = "on --gpu-decode" ] && set=$work/set-decoded
			local name="$policy policy, --gpu $gpu"
			echo "== $name"
			watch "$name" $((count * copies)) "$binaries/tfrec-cuda" convert images "$work/photos" "$set" \
				"${flags[@]}" --encode raw --shards 16 --name photos --quiet=false --json --gpu $gpu || {
				echo "failed: $name"
				code=1
				off=${off:-0}
				continue
			}
			"$binaries/tfrec-cuda" verify "$set" --quiet || code=1
		done
		[ ! -e "$work/set-off/manifest.json" ] || [ ! -e "$work/set-on/manifest.json" ] || diff -rq --exclude=.tfrec "$work/set-off" "$work/set-on" || {
			echo "failed: the sets of $policy --gpu off and on are not the same"
			code=1
		}
		rm -rf "$work"/set-*
	done
	rm -rf "$work/photos" "$work/some"
	return $code
}

# profile is by the GPU's own events, and by nsys where that is installed.
profile() {
	local code=0
	benchmark gpu.test '^BenchmarkPhases$' || code=1
	if command -v nsys >/dev/null 2>&1; then
		nsys profile -t cuda --stats=true -o "$out/render" \
			"$binaries/gpu.test" -test.run '^$' -test.bench '^BenchmarkRender$/^heavy$/^gpu$' -test.benchtime "$benchtime" $quick -require-gpu || code=1
	else
		echo "no nsys: the phases above are by CUDA's events"
	fi
	return $code
}

failed=
: >"$work/figures"
: >"$work/steps"
echo '{}' >"$work/gpu.json"
for step in ${*:-$all}; do
	echo "$step ..."
	began=$(date +%s)
	"$step" >"$out/$step.log" 2>&1
	code=$?
	reason=
	if [ $code -ne 0 ]; then
		failed="$failed $step"
		reason=$(grep -aE '^ *--- FAIL|^failed: |^panic: |^fatal' "$out/$step.log" | head -n 1)
		reason=${reason:-$(grep -av '^ *$' "$out/$step.log" | tail -n 1)}
		echo "  failed: $reason"
	fi
	printf '%s\t%s\t%s\t%s\n' "$step" "$code" $(($(date +%s) - began)) "${reason//$'\t'/ }" >>"$work/steps"
done

# report.json: what is there, the steps, and the figures.
awk -F '\t' -v machine="$(uname -srm)" -v cpu="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" -v at="$(date -u +%Y-%m-%dT%H:%M:%SZ)" -v photographs="$count" '
	function text(s) {
		gsub(/[\001-\037]/, " ", s)
		gsub(/\\/, "\\\\", s)
		gsub(/"/, "\\\"", s)
		return "\"" s "\""
	}
	FILENAME ~ /gpu.json$/ { gpu = gpu $0 "\n"; next }
	FILENAME ~ /steps$/ {
		steps = steps (steps == "" ? "" : ",") "\n    {\"step\": " text($1) ", \"ok\": " ($2 == 0 ? "true" : "false") ", \"exit\": " $2 ", \"seconds\": " $3
		steps = steps ($4 == "" ? "" : ", \"reason\": " text($4)) ", \"log\": " text($1 ".log") "}"
		next
	}
	{ figures = figures (figures == "" ? "" : ",") "\n    {\"step\": " text($1) ", \"name\": " text($2) ", \"value\": " $3 + 0 ", \"unit\": " text($4) "}" }
	END {
		sub(/\n+$/, "", gpu)
		printf "{\n  \"time\": %s,\n  \"machine\": %s,\n  \"cpu\": %s,\n  \"photographs\": %d,\n", text(at), text(machine), text(cpu), photographs
		printf "  \"gpu\": %s,\n  \"steps\": [%s\n  ],\n  \"figures\": [%s\n  ]\n}\n", gpu, steps, figures
	}' "$work/gpu.json" "$work/steps" "$work/figures" >"$out/report.json"

# report.md: the steps, and a table for each that has figures: a row a name, a column a unit.
{
	printf '%s, %s; %s photographs\n\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' "$work/gpu.json" | head -n 1)" "$count"
	printf '| step | | seconds |\n|---|---|---|\n'
	awk -F '\t' '{ gsub(/\|/, "\\|", $4); print "| " $1 " | " ($2 == 0 ? "passed" : "**failed**: " $4) " | " $3 " |" }' "$work/steps"
	awk -F '\t' '
		function flush(i, j) {
			if (rows == 0) return
			printf "\n%s:\n\n| |", step
			for (j = 1; j <= units; j++) printf " %s |", unit[j]
			printf "\n|---|"
			for (j = 1; j <= units; j++) printf "---|"
			for (i = 1; i <= rows; i++) {
				printf "\n| %s |", row[i]
				for (j = 1; j <= units; j++) printf " %s |", cell[i, j]
			}
			printf "\n"
			rows = units = 0
			split("", at); split("", of); split("", cell)
		}
		$1 != step { flush(); step = $1 }
		{
			gsub(/\|/, "\\|", $2)
			if (!($2 in at)) { at[$2] = ++rows; row[rows] = $2 }
			if (!($4 in of)) { of[$4] = ++units; unit[units] = $4 }
			cell[at[$2], of[$4]] = $3
		}
		END { flush() }' "$work/figures"
} >"$out/report.md"

echo "$out/report.md, $out/report.json"
if [ -n "$failed" ]; then
	echo "failed:$failed" >&2
	exit 1
fi
