package cluster

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("no shellcheck: the scripts are not checked")
	}
	scripts, err := filepath.Glob("*/*.sh")
	if err != nil || len(scripts) < 3 {
		t.Fatal(scripts, err)
	}
	if out, err := exec.Command("shellcheck", append(scripts, "slurm.sbatch")...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
