package cluster

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	df "google.golang.org/api/dataflow/v1b3"
	"google.golang.org/api/googleapi"
)

// dataflow is a stand-in for Dataflow and for the server that gives out tokens.
type dataflow struct {
	t *testing.T
	// run is called when the driver asks for the state of its job, which is answered with the result.
	run func(job *df.Job) (state string)
	job *df.Job
}

// ServeHTTP answers what drivers ask.
func (d *dataflow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const jobs = "/v1b3/projects/PROJECT/locations/europe-west4/jobs"
	var answer any
	switch r.Method + " " + r.URL.Path {
	case "POST /token":
		answer = map[string]any{"access_token": "token", "token_type": "Bearer", "expires_in": 3600}
	case "POST " + jobs:
		if r.Header.Get("Authorization") != "Bearer token" {
			d.t.Errorf("the driver sends the token %q", r.Header.Get("Authorization"))
		}
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		d.job = &df.Job{}
		if err := decoder.Decode(d.job); err != nil {
			d.t.Errorf("the job: %v", err)
		}
		answer = &df.Job{Id: "job-1"}
	case "GET " + jobs + "/job-1":
		answer = &df.Job{Id: "job-1", CurrentState: d.run(d.job)}
	case "GET " + jobs + "/job-1/metrics":
		answer = &df.JobMetrics{}
	case "GET " + jobs + "/job-1/messages":
		if got := r.URL.Query().Get("minimumImportance"); got != "JOB_MESSAGE_ERROR" {
			d.t.Errorf("the driver asks for messages of importance %s", got)
		}
		answer = &df.ListJobMessagesResponse{JobMessages: []*df.JobMessage{
			{MessageText: "Error message from worker: a bundle failed"},
			{MessageText: "Error message from worker: process bundle failed:\n\tcaused by:\nphotos/a.jpg: permission denied\n"},
		}}
	default:
		d.t.Errorf("unexpected %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

// account writes the key of a service account, whose tokens come from a server.
func account(t *testing.T, server string) (path string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "PROJECT", "client_email": "tfrec@PROJECT.iam.gserviceaccount.com", "private_key_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})), "token_uri": server + "/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// driver returns the driver, with the arguments of the example.
func (d *dataflow) driver(s gcs) (cmd *exec.Cmd, out *bytes.Buffer) {
	d.t.Helper()
	server := httptest.NewServer(d)
	d.t.Cleanup(server.Close)
	args := cloudRun(d.t, "dataflow/convert.yaml").Template.Spec.Containers[0].Args
	args = append(slices.Clone(args), "--dataflow_endpoint="+server.URL+"/")
	return container(d.t, program(d.t, "TFREC_BEAM"), s, &proxy{}, []string{"GOOGLE_APPLICATION_CREDENTIALS=" + account(d.t, server.URL)}, args)
}

// staged returns an object that the driver has staged, by its URL.
func (d *dataflow) staged(s gcs, at string) []byte {
	d.t.Helper()
	bucket, name, ok := strings.Cut(strings.TrimPrefix(at, "gs://"), "/")
	if !ok || bucket != "staging" {
		d.t.Fatalf("staged in %q", at)
	}
	return s.do(d.t, bucket, http.MethodGet, "/"+url.PathEscape(name)+"?alt=media")
}

// TestDataflowFromBucketToBucket has an array task make the shards, in the place of Dataflow's
// workers.
func TestDataflowFromBucketToBucket(t *testing.T) {
	s := newGCS(t)
	d := &dataflow{t: t}
	d.run = func(job *df.Job) string {
		worker := job.Environment.WorkerPools[0].Packages[0]
		program := read(t, program(t, "TFREC_BEAM"))
		if sum := sha256.Sum256(program); worker.Sha256 != hex.EncodeToString(sum[:]) || !bytes.Equal(d.staged(s, worker.Location), program) {
			t.Errorf("%s is not the driver's program", worker.Location)
		}
		var options struct{ Options struct{ PipelineURL string } }
		if err := json.Unmarshal(googleapi.RawMessage(job.Environment.SdkPipelineOptions), &options); err != nil {
			t.Error(err)
		}
		if model := d.staged(s, options.Options.PipelineURL); !bytes.Contains(model, []byte("shardMaker")) {
			t.Errorf("a pipeline of %d bytes, which makes no shards", len(model))
		}
		args := cloudRun(t, "dataflow/convert.yaml").Template.Spec.Containers[0].Args
		args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.Contains(arg, "=") })
		run(t, s, nil, append(args, "--task", "0", "--tasks", "1"))
		return "JOB_STATE_DONE"
	}
	if cmd, out := d.driver(s); cmd.Run() != nil {
		t.Fatalf("%s\n%s", cmd.ProcessState, out)
	}
	dir := t.TempDir()
	if out, err := exec.Command(tfrec(t), "convert", "images", photos, dir, "--name", "photos", "--resize", "224", "--shards", "256").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	same(t, withoutState(s.set(t)), withoutState(filesBelow(t, dir)))
}

// TestDataflowFails has jobs end without the shards.
func TestDataflowFails(t *testing.T) {
	s := newGCS(t)
	for state, want := range map[string]string{
		"JOB_STATE_FAILED":    "the runner gave up: photos/a.jpg: permission denied",
		"JOB_STATE_CANCELLED": "40 of 40 shards",
	} {
		d := &dataflow{t: t, run: func(*df.Job) string { return state }}
		cmd, out := d.driver(s)
		if err := cmd.Run(); err == nil || !strings.Contains(out.String(), want) || strings.Contains(out.String(), "caused by") {
			t.Errorf("%s: %v\n%s", state, err, out)
		}
	}
}

// TestDataflowInterrupted has the driver interrupted while the job runs: it ends, and the job does not.
func TestDataflowInterrupted(t *testing.T) {
	gone := make(chan struct{})
	d := &dataflow{t: t}
	cmd, out := d.driver(newGCS(t))
	d.run = func(*df.Job) string {
		cmd.Process.Signal(os.Interrupt)
		<-gone
		return "JOB_STATE_RUNNING"
	}
	cmd.Run() // its code says as much
	close(gone)
	if cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("%s\n%s", cmd.ProcessState, out)
	}
}
