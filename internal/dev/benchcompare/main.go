// Command benchcompare times two builds of tfrec in turns, on the same data, and fails if the new
// one is slower. It is `make bench-compare OLD=... NEW=...`.
//
//	go run ./internal/dev/benchcompare -photos testdata/demo/photos old/tfrec new/tfrec
//
// Every job runs as a process of its own, first of one build, then of the other, for several pairs.
// A job has lost if the medians of both ratios, new to old, of CPU time (user and system, all
// threads) and of elapsed time, are above the limit. Such a job is measured again, with twice as
// many pairs; the loss counts only if it repeats. Two ratios, since another process on the machine
// changes elapsed time, and a processor whose clock varies changes CPU time.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
)

func main() {
	photos := flag.String("photos", "testdata/demo/photos", "`directory` of JPEG files")
	pairs := flag.Int("pairs", 5, "`number` of times that each build runs a job")
	limit := flag.Float64("limit", 0.05, "`share` of time that a job may lose")
	only := flag.String("run", "", "run the jobs whose names match this `regexp`; default: all")
	flag.Parse()
	if flag.NArg() != 2 || *pairs < 1 {
		fmt.Fprintln(os.Stderr, "usage: benchcompare [-photos DIR] [-pairs N] [-limit SHARE] [-run REGEXP] OLD NEW")
		os.Exit(2)
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchcompare: -run:", err)
		os.Exit(2)
	}
	lost, err := compare(flag.Arg(0), flag.Arg(1), *photos, match, rule{*pairs, *limit})
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchcompare:", err)
		os.Exit(1)
	}
	if len(lost) > 0 {
		fmt.Printf("slower by more than %g%%, twice: %q\n", 100**limit, lost)
		os.Exit(1)
	}
}

// compare runs the jobs whose names match, and returns the names of those that lost.
func compare(before, after, photos string, match *regexp.Regexp, r rule) (lost []string, err error) {
	dir, err := os.MkdirTemp("", "benchcompare")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	jobs, err := makeJobs(before, dir, photos, match)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%-24s %10s %10s %8s %8s\n", "job", "old CPU s", "new CPU s", "CPU", "elapsed")
	for _, j := range jobs {
		v, err := r.judge(func() (pair, error) {
			var p pair
			var err error
			if p.before, err = j.time(before); err != nil {
				return p, err
			}
			p.after, err = j.time(after)
			return p, err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", j.name, err)
		}
		fmt.Printf("%-24s %10.3f %10.3f %8.3f %8.3f%s\n", j.name, v.before, v.after, v.cpu, v.elapsed, v.remark())
		if v.lost {
			lost = append(lost, j.name)
		}
	}
	return lost, nil
}
