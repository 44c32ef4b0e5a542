package beam

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/protobuf/proto"
)

// TestNoCredentialTravels looks for what the environment holds in all that a runner
// is told.
func TestNoCredentialTravels(t *testing.T) {
	const secret = "wJalrXUtnFEMIK7MDENGbPxRfiCY"
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"} {
		t.Setenv(name, secret)
	}
	initialise()
	fn := &shardMaker{Args: []string{"convert", "images", "--", "s3://pictures/flowers", "out"}, Dir: t.TempDir(), Plan: "p"}
	edges, _, err := pipeline(fn, []int{0, 1, 2}).Build()
	if err != nil {
		t.Fatal(err)
	}
	marshalled, err := graphx.Marshal(edges, &graphx.Options{Environment: &pipepb.Environment{}})
	if err != nil {
		t.Fatal(err)
	}
	told, err := proto.Marshal(marshalled)
	if err != nil {
		t.Fatal(err)
	}
	sdk.PipelineOptions.LoadOptionsFromFlags(nil)
	options, err := json.Marshal(sdk.PipelineOptions.Export())
	if err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 || bytes.Contains(told, []byte(secret)) || bytes.Contains(options, []byte(secret)) {
		t.Errorf("%d bytes of pipeline and the options %s hold a credential, or nothing", len(told), options)
	}
}

// TestWorkersSayWhatTheyMiss has workers join what they cannot.
func TestWorkersSayWhatTheyMiss(t *testing.T) {
	dir := t.TempDir()
	photos, out := filepath.Join(demo(t), "photos"), filepath.Join(dir, "out")
	fn := &shardMaker{Args: []string{"convert", "images", "--", photos, out}, Dir: dir, Plan: "another"}
	t.Chdir(dir)
	if err := fn.Setup(t.Context()); err == nil || !strings.Contains(err.Error(), "no plan of a conversion") {
		t.Errorf("without a plan: %v", err)
	}
}
