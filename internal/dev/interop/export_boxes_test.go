//go:build interop

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// pycocotools, and plain readers of XML and YOLO's texts, find in the exports the boxes, classes,
// masks and keypoints that TensorFlow wrote into records, and again after a conversion of the COCO
// export, from which the Object Detection API decodes the same keypoints.
func TestExportedBoxesAreRead(t *testing.T) {
	dir := t.TempDir()
	boxes := func(args ...string) string {
		c := exec.Command(*python, append([]string{"-B", "export_boxes.py"}, args...)...)
		c.Stderr = os.Stderr
		got, err := c.Output()
		if err != nil {
			t.Fatalf("export_boxes.py %s: %v", args[0], err)
		}
		return string(got)
	}
	set := filepath.Join(dir, "set")
	if err := os.Mkdir(set, 0o755); err != nil {
		t.Fatal(err)
	}
	want := boxes("write", set, "120")
	read := []string{"read", set}
	for _, format := range []string{"coco", "voc", "yolo"} {
		out := filepath.Join(dir, format)
		runTfrec(t, "export", set, out, "--format", format)
		read = append(read, out)
	}
	if got := boxes(read...); got != want || want == "0 boxes\n" {
		t.Errorf("%.2000s, want %s", got, want)
	}

	// COCO to a set and back.
	coco, again, back := read[2], filepath.Join(dir, "again"), filepath.Join(dir, "back")
	runTfrec(t, "convert", "images", coco, again, "--name", "d", "--instance-masks",
		"--annotations", "train="+filepath.Join(coco, "annotations/instances_train.json"), "--annotations", "val="+filepath.Join(coco, "annotations/instances_val.json"))
	if got := boxes("decode", set, again); got != want {
		t.Errorf("%.2000s, want %s", got, want)
	}
	runTfrec(t, "export", again, back, "--format", "coco")
	if got := boxes("equal", coco, back); got != want {
		t.Errorf("%.2000s, want %s", got, want)
	}
}
