package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"
)

// definition decodes a job definition strictly: what Amazon's client makes of it must say the same
// as the file.
func definition(t *testing.T, path string) *batch.RegisterJobDefinitionInput {
	t.Helper()
	text := read(t, path)
	var input batch.RegisterJobDefinitionInput
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&input); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var sent []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	client := batch.New(batch.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{}})
	if _, err := client.RegisterJobDefinition(t.Context(), &input); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var got, want any
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: Amazon's client sends %s", path, sent)
	}
	return &input
}

// oneOf checks a value that Amazon's types have as a string.
func oneOf[T ~string](t *testing.T, path string, value T, values []T) {
	t.Helper()
	if !slices.Contains(values, value) {
		t.Errorf("%s: %q is not one of %q", path, value, values)
	}
}

func TestAWSBatchDefinitions(t *testing.T) {
	for _, path := range []string{"aws-batch/convert.json", "aws-batch/finalize.json"} {
		d := definition(t, path)
		oneOf(t, path, d.Type, d.Type.Values())
		for _, capability := range d.PlatformCapabilities {
			oneOf(t, path, capability, capability.Values())
		}
		for _, r := range d.ContainerProperties.ResourceRequirements {
			oneOf(t, path, r.Type, r.Type.Values())
		}
		rules := d.RetryStrategy.EvaluateOnExit
		if attempts := *d.RetryStrategy.Attempts; attempts < 1 || attempts > 10 || len(rules) > 5 {
			t.Errorf("%s: %d attempts and %d rules, but 10 and 5 are allowed", path, attempts, len(rules))
		}
		for _, rule := range rules {
			oneOf(t, path, rule.Action, rule.Action.Values())
		}
		// The first rule that matches decides.
		if aws.ToString(rules[0].OnStatusReason) != "Host EC2*" || rules[0].Action != types.RetryActionRetry {
			t.Errorf("%s: the first rule does not retry when the machine is taken away", path)
		}
		if aws.ToString(rules[1].OnExitCode) != "2" || rules[1].Action != types.RetryActionExit {
			t.Errorf("%s: wrong usage is not final", path)
		}
	}
}

// options returns the options of a call of the command aws, by their names.
func options(t *testing.T, words []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for i := 0; i < len(words); i += 2 {
		name, ok := strings.CutPrefix(words[i], "--")
		if !ok || i+1 == len(words) {
			t.Fatalf("%q: want pairs of an option and a value", words)
		}
		all[name] = words[i+1]
	}
	return all
}

// pairs reads A=B,C=D, the short form of a map in options of aws.
func pairs(t *testing.T, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			t.Fatalf("%q: want NAME=VALUE,...", text)
		}
		all[name] = value
	}
	return all
}

// command returns the words of a definition with the parameters of a job.
func command(t *testing.T, d *batch.RegisterJobDefinitionInput, parameters string) []string {
	t.Helper()
	values := pairs(t, parameters)
	words := slices.Clone(d.ContainerProperties.Command)
	for i, word := range words {
		if name, ok := strings.CutPrefix(word, "Ref::"); ok {
			if words[i], ok = values[name]; !ok {
				t.Fatalf("%s: no parameter %s in %q", *d.JobDefinitionName, name, parameters)
			}
		}
	}
	return words
}

func TestAWSBatchFromBucketToBucket(t *testing.T) {
	var files []string
	var jobs []map[string]string
	for _, call := range capture(t, "aws", "aws-batch/submit.sh", "queue", "s3://raw/photos", "s3://sets/photos", fmt.Sprint(tasks)) {
		given := options(t, call[2:])
		var input reflect.Type
		switch fmt.Sprint(call[:2]) {
		case "[batch register-job-definition]":
			files = append(files, filepath.Join("aws-batch", strings.TrimPrefix(given["cli-input-json"], "file://")))
			continue
		case "[batch submit-job]":
			jobs, input = append(jobs, given), reflect.TypeFor[batch.SubmitJobInput]()
		default:
			t.Fatalf("unexpected aws %q", call)
		}
		for name := range given {
			field := strings.ReplaceAll(name, "-", "")
			_, ok := input.FieldByNameFunc(func(f string) bool { return strings.EqualFold(f, field) })
			if !ok && name != "query" && name != "output" {
				t.Errorf("submit-job has no option --%s", name)
			}
		}
	}
	if len(files) != 2 || len(jobs) != 2 {
		t.Fatalf("%d definitions and %d jobs, want two of each", len(files), len(jobs))
	}
	if got := jobs[1]["depends-on"]; got != "jobId=id-submit-job" {
		t.Errorf("finalize depends on %q", got)
	}
	if got := jobs[0]["array-properties"]; got != fmt.Sprint("size=", tasks) {
		t.Errorf("array properties %q", got)
	}
	convert, finalize := definition(t, files[0]), definition(t, files[1])

	// The keys come from the role of the job, by the server that Batch has on each machine.
	const key, secret = "ROLE-KEY", "ROLE-SECRET"
	role := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]string{"AccessKeyId": key, "SecretAccessKey": secret, "Expiration": "2100-01-01T00:00:00Z"})
	}))
	defer role.Close()
	env := []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + role.URL + "/role"}
	for _, v := range convert.ContainerProperties.Environment {
		env = append(env, *v.Name+"="+*v.Value)
	}
	job{
		convert:  withTasks(t, command(t, convert, jobs[0]["parameters"]), tasks),
		finalize: command(t, finalize, jobs[1]["parameters"]),
		env:      env,
		index: func(task int) []string {
			return []string{fmt.Sprint("AWS_BATCH_JOB_ARRAY_INDEX=", task), fmt.Sprint("AWS_BATCH_JOB_ARRAY_SIZE=", tasks)}
		},
	}.runOn(t, newS3(t, key, secret))
}
