#!/bin/sh
# Prints the instructions per pixel that an emulated arm64 executes to decode, resize and encode
# photographs, in the tests of package fit built without assembly, and in those built with it:
#
#	pixels.sh PLUGIN PLAIN-TESTS TESTS
set -eu
plugin=$1
cd "$(dirname "$0")/../../../codec/fit"

run() { # TESTS STEP TIMES
	GOGC=off GOMAXPROCS=1 qemu-aarch64 -plugin "$plugin" "$1" -test.run '^$' -test.bench "Planes/go/$2\$" -test.benchtime "$3x" 2>&1
}

# Run once and five times, a benchmark differs by four iterations: what precedes them cancels out.
per_pixel() { # TESTS STEP
	{ run "$1" "$2" 1 && run "$1" "$2" 5; } | awk '
		/ in all$/ { before = all; all = $1 }
		/ pixels\/op/ { for (i = 2; i <= NF; i++) if ($i == "pixels/op") pixels = $(i - 1) }
		END { if (!pixels || !before) exit 1; printf "%.1f", (all - before) / 4 / pixels }'
}

for step in planes/decode planes/render planes/encode rgb/decode rgb/render rgb/encode; do
	plain=$(per_pixel "$2" "$step")
	neon=$(per_pixel "$3" "$step")
	printf '%-14s %6.1f instructions per pixel in plain Go, %5.1f with NEON\n' "$step" "$plain" "$neon"
done
