// Package deployment tests examples of the documents that other programs read: those of
// docs/scale-out, and the dashboards of docs/grafana.
package deployment

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/unit"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const examples = "../../docs/scale-out/"

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(examples + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// manifests are the objects of kubernetes.yaml.
type manifests struct {
	jobs     map[string]*batch.Job
	services []*core.Service
	secrets  map[string]*core.Secret
	maps     map[string]*core.ConfigMap
	claims   map[string]*core.PersistentVolumeClaim
	policies []*networking.NetworkPolicy
}

// parse reads a file as strictly as kubectl does with --validate: unknown and repeated
// fields are errors, and so is a required one that is missing.
func parse(text []byte) (*manifests, error) {
	m := &manifests{jobs: map[string]*batch.Job{}, secrets: map[string]*core.Secret{}, maps: map[string]*core.ConfigMap{}, claims: map[string]*core.PersistentVolumeClaim{}}
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var what meta.TypeMeta
		if err := yaml.Unmarshal(document, &what); err != nil {
			return nil, err
		}
		var object meta.Object
		switch what.APIVersion + " " + what.Kind {
		case "batch/v1 Job":
			object = &batch.Job{}
		case "v1 Service":
			object = &core.Service{}
		case "v1 Secret":
			object = &core.Secret{}
		case "v1 ConfigMap":
			object = &core.ConfigMap{}
		case "v1 PersistentVolumeClaim":
			object = &core.PersistentVolumeClaim{}
		case "networking.k8s.io/v1 NetworkPolicy":
			object = &networking.NetworkPolicy{}
		default:
			return nil, fmt.Errorf("%s %s is unknown", what.APIVersion, what.Kind)
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return nil, fmt.Errorf("%s: %w", what.Kind, err)
		}
		name := object.GetName()
		if missing := findMissing(reflect.ValueOf(object).Elem(), what.Kind+" "+name); missing != "" || name == "" {
			return nil, fmt.Errorf("%s of %s is missing", missing, what.Kind)
		}
		switch o := object.(type) {
		case *batch.Job:
			m.jobs[name] = o
		case *core.Service:
			m.services = append(m.services, o)
		case *core.Secret:
			m.secrets[name] = o
		case *core.ConfigMap:
			m.maps[name] = o
		case *core.PersistentVolumeClaim:
			m.claims[name] = o
		case *networking.NetworkPolicy:
			m.policies = append(m.policies, o)
		}
	}
	return m, nil
}

// findMissing returns the first field that must be there and is not: one that the types would
// write even if it were empty.
func findMissing(v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return findMissing(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if missing := findMissing(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); missing != "" {
				return missing
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if !v.Type().Field(i).IsExported() || name == "-" {
				continue
			}
			if name != "" && options == "" && v.Field(i).IsZero() {
				return path + "." + name
			}
			if missing := findMissing(v.Field(i), path+"."+name); missing != "" {
				return missing
			}
		}
	}
	return ""
}

// The manifests are objects that Kubernetes takes, and they fit each other.
func TestKubernetes(t *testing.T) {
	text := read(t, "kubernetes.yaml")
	m, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	coordinator, agents := m.jobs["tsmark-coordinator"], m.jobs["tsmark-agents"]
	if len(m.jobs) != 2 || coordinator == nil || agents == nil || len(m.services) != 1 || len(m.policies) != 1 {
		t.Fatalf("%d jobs, %d services, %d policies", len(m.jobs), len(m.services), len(m.policies))
	}
	for name, job := range m.jobs {
		pod := &job.Spec.Template.Spec
		if pod.RestartPolicy != core.RestartPolicyNever && pod.RestartPolicy != core.RestartPolicyOnFailure {
			t.Errorf("%s: a job cannot have the restart policy %q", name, pod.RestartPolicy)
		}
		mounted := map[string]bool{}
		for _, v := range pod.Volumes {
			mounted[v.Name] = true
			switch {
			case v.Secret != nil && m.secrets[v.Secret.SecretName] == nil, v.ConfigMap != nil && m.maps[v.ConfigMap.Name] == nil,
				v.PersistentVolumeClaim != nil && m.claims[v.PersistentVolumeClaim.ClaimName] == nil:
				t.Errorf("%s: volume %s is of something that is not here", name, v.Name)
			}
		}
		for _, c := range pod.Containers {
			if c.Image == "" {
				t.Errorf("%s: no image", name)
			}
			for _, mount := range c.VolumeMounts {
				if !mounted[mount.Name] {
					t.Errorf("%s: there is no volume %s", name, mount.Name)
				}
			}
		}
	}
	serves, offers := m.services[0], coordinator.Spec.Template.Spec.Containers[0].Ports[0]
	if !selects(serves.Spec.Selector, coordinator) || selects(serves.Spec.Selector, agents) || serves.Spec.Ports[0].TargetPort.StrVal != offers.Name {
		t.Error("the service leads elsewhere than to the coordinator")
	}
	policy := m.policies[0].Spec
	if !selects(policy.PodSelector.MatchLabels, coordinator) || !selects(policy.Ingress[0].From[0].PodSelector.MatchLabels, agents) {
		t.Error("the policy keeps agents from the coordinator")
	}
	spec := agents.Spec
	if spec.CompletionMode == nil || *spec.CompletionMode != batch.IndexedCompletion || *spec.Completions != *spec.Parallelism {
		t.Error("agents are not an indexed job, or do not run all at once")
	}
	args := coordinator.Spec.Template.Spec.Containers[0].Args
	if n := args[slices.Index(args, "--agents")+1]; n != strconv.Itoa(int(*spec.Completions)) {
		t.Errorf("the coordinator waits for %s agents, and there are %d", n, *spec.Completions)
	}
	join := spec.Template.Spec.Containers[0].Args
	if want := fmt.Sprintf("nats://%s:%d", serves.Name, serves.Spec.Ports[0].Port); !slices.Contains(join, want) {
		t.Errorf("agents join elsewhere than at %s: %s", want, join)
	}
	if allowed := join[slices.Index(join, "--allow")+1]; !strings.HasPrefix(allowed, "questdb@") || !strings.Contains(m.maps["tsmark-experiment"].Data["experiment.yaml"], "options: {host: "+strings.TrimPrefix(allowed, "questdb@")+"}") {
		t.Errorf("agents allow %s, which is not the experiment's target", allowed)
	}
	for name, limits := range spec.Template.Spec.Containers[0].Resources.Limits {
		if requested := spec.Template.Spec.Containers[0].Resources.Requests[name]; requested.Cmp(limits) != 0 {
			t.Errorf("agents ask for %s of %s and may have %s", requested.String(), name, limits.String())
		}
	}
	if token := m.secrets["tsmark-token"].StringData["token"]; len(token) >= 16 {
		t.Errorf("tsmark would take the token %q, which everybody can read", token)
	}

	for name, broken := range map[string][2]string{
		"an unknown field":        {"backoffLimit: 0", "backofLimit: 0"},
		"a field of another type": {"completions: 4", "completions: four"},
		"no name":                 {"- name: tsmark\n", "- stdin: true\n"},
		"a repeated field":        {"completions: 4", "completions: 4\n  completions: 5"},
		"an unknown kind":         {"kind: NetworkPolicy", "kind: NetworkPolicies"},
	} {
		if _, err := parse(bytes.Replace(text, []byte(broken[0]), []byte(broken[1]), 1)); err == nil {
			t.Errorf("%s is not noticed", name)
		}
	}
}

func selects(selector map[string]string, job *batch.Job) bool {
	for key, value := range selector {
		if job.Spec.Template.Labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

// The units are ones that systemd reads, whose programs have whole paths and whose
// tokens are credentials.
func TestSystemd(t *testing.T) {
	for _, name := range []string{"tsmark-agent.service", "tsmark-run@.service"} {
		options, err := unit.DeserializeOptions(bytes.NewReader(read(t, name)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found := map[string][]string{}
		for _, o := range options {
			found[o.Section+"."+o.Name] = append(found[o.Section+"."+o.Name], o.Value)
		}
		if start := found["Service.ExecStart"]; len(start) != 1 || !filepath.IsAbs(strings.Fields(start[0])[0]) || !strings.Contains(start[0], "@${CREDENTIALS_DIRECTORY}/token") {
			t.Errorf("%s starts %q", name, start)
		}
		for option, values := range found {
			if len(values) > 1 && option != "Service.Environment" {
				t.Errorf("%s has %s %d times", name, option, len(values))
			}
			if section, _, _ := strings.Cut(option, "."); !slices.Contains([]string{"Unit", "Service", "Install"}, section) {
				t.Errorf("%s has a section %s", name, section)
			}
		}
		if len(found["Unit.Description"]) != 1 || len(found["Service.LoadCredential"]) != 1 {
			t.Errorf("%s has no description or no credential", name)
		}
	}
}

// The script starts an agent on each host, with a tunnel and a token that both sides
// have, and ends them when the run ends.
func TestSSH(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		// Runs its last argument, the command for the host, on this machine.
		"ssh":    "echo \"ssh $*\" >>\"$LOG\"; exec bash -c \"${*: -1}\"",
		"tsmark": "case $1 in agent) token=$(cat \"${5#@}\");; run) sleep 0.5; token=$(cat \"${*: -1}\" 2>/dev/null || cat \"$(echo \"${*: -1}\" | cut -c2-)\");; esac; echo \"tsmark $* ($token)\" >>\"$LOG\"; [ $1 = run ] || exec sleep 600",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "log")
	cmd := exec.CommandContext(t.Context(), "bash", examples+"ssh.sh", "--allow", "questdb@db1", "--allow", "griddb@https://db2/x?y", "my.yaml", "--repeats", "3", "--", "one", "user@two")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "LOG="+log, "TMPDIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for line := range strings.Lines(string(text)) {
		if before, token, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ")"), "("); ok && strings.HasPrefix(before, "tsmark ") {
			tokens = append(tokens, token)
		}
	}
	slices.Sort(tokens)
	if len(tokens) != 3 || len(slices.Compact(tokens)) != 1 || len(tokens[0]) != 32 {
		t.Errorf("tokens %q in\n%s", tokens, text)
	}
	for _, want := range []string{"-R 127.0.0.1:4222:127.0.0.1:4222 user@two", "--name one --once --allow questdb@db1 --allow griddb@https://db2/x?y", "--name two --once --allow", "tsmark run my.yaml --repeats 3 --agents 2"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tmp.*")); len(left) > 0 {
		t.Errorf("%s is left behind", left)
	}
	if err := exec.CommandContext(t.Context(), "bash", examples+"ssh.sh", "my.yaml").Run(); err == nil {
		t.Error("an empty list of hosts is not reported")
	}
}
