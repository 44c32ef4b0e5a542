//go:build linux && amd64 && !static

package main

import "testing"

func TestContracted(t *testing.T) {
	for line, bad := range map[string]bool{
		"\tfma.rn.f32 \t%f1, %f2, %f3, %f4;\n": true,
		"\tfma.rn.f64 %fd1, %fd2, %fd3, %fd4;": true,
		"@%p1 mad.rn.f32 %f1, %f2, %f3, %f4;":  true,
		"\tadd.ftz.f32 %f1, %f2, %f3;":         true,
		"\tmul.rn.ftz.f32 %f1, %f2, %f3;":      true,
		"\tdiv.approx.f32 %f1, %f2, %f3;":      true,
		"\tdiv.rn.f32 %f1, %f2, %f3;":          false,
		"\tadd.rn.f64 %fd1, %fd2, %fd3;":       false,
		"\tmad.lo.s32 %r1, %r2, %r3, %r4;":     false,
		"\tmad.wide.u32 %rd1, %r2, 4, %rd3;":   false,
	} {
		if err := contracted([]byte(".version 8.2\n" + line)); (err != nil) != bad {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestSpilled(t *testing.T) {
	const good = "ptxas info    : Function properties for tfrec_weigh\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
	if err := spilled([]byte(good)); err != nil {
		t.Error(err)
	}
	err := spilled([]byte(good + "ptxas info    : Function properties for tfrec_hue\n    80 bytes stack frame, 0 bytes spill stores, 120 bytes spill loads\n"))
	if want := "tfrec_hue: 120 bytes spill loads"; err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

func TestResident(t *testing.T) {
	for n, want := range map[int]int{20: 2048, 32: 2048, 33: 1536, 40: 1536, 41: 1280, 48: 1280, 56: 1024, 64: 1024, 255: 256} {
		if got := resident(n); got != want {
			t.Errorf("%d registers: %d threads; want %d", n, got, want)
		}
	}
}
