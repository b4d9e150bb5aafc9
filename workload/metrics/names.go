package metrics

import (
	"strconv"

	"github.com/tsmark/tsmark/internal/splitmix"
)

// services are names of deployments. Further deployments have a number behind the name.
var services = [...]string{
	"frontend", "checkout", "cart", "payment", "catalog", "search", "shipping", "email", "currency", "recommendation",
	"ads", "auth", "session", "inventory", "pricing", "orders", "notification", "media", "review", "billing",
}

var namespaces = [...]string{"shop", "payments", "platform", "data"}

// Purposes of random bits in names.
const (
	forReplicaSet = 16 + iota
	forPod
	forFiller
)

// The second bytes of addresses.
const (
	nodeAddresses = 0
	kubeAddresses = 64
	podAddresses  = 128
)

func namespaceOf(deployment uint32) string { return namespaces[deployment%uint32(len(namespaces))] }

func appendDeployment(dst []byte, deployment uint32) []byte {
	dst = append(dst, services[deployment%uint32(len(services))]...)
	if n := deployment / uint32(len(services)); n > 0 {
		dst = appendNumber(append(dst, '-'), n+1)
	}
	return dst
}

func appendNumber(dst []byte, n uint32) []byte { return strconv.AppendUint(dst, uint64(n), 10) }

func appendNode(dst []byte, node uint32) []byte { return appendNumber(append(dst, "node-"...), node) }

func appendAddress(dst []byte, first, number uint32) []byte {
	dst = appendNumber(append(dst, "10."...), first+number>>16&63)
	dst = appendNumber(append(dst, '.'), number>>8&255)
	return appendNumber(append(dst, '.'), number&255)
}

// appendRandom appends characters as Kubernetes has them in generated names.
func appendRandom(dst []byte, x uint64, n int) []byte {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	for range n {
		dst = append(dst, alphabet[x%uint64(len(alphabet))])
		x /= uint64(len(alphabet))
	}
	return dst
}

// appendUID appends a UUID whose first digits are unique to a number.
func appendUID(dst []byte, number uint32, x uint64) []byte {
	const digits = "0123456789abcdef"
	first := uint64(number * 0x9E3779B1) // an odd factor keeps numbers distinct
	y := splitmix.Mix(x + splitmix.Golden)
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dst = append(dst, '-')
		}
		if i == 8 {
			first = x
		} else if i == 20 {
			first = y
		}
		dst = append(dst, digits[first&15])
		first >>= 4
	}
	return dst
}

// A pod is named after its ReplicaSet, and that after its deployment. A rollout makes a ReplicaSet.
func (d *Dataset) appendReplicaSet(dst []byte, pod uint32) []byte {
	deployment := d.deploymentOf(pod % d.counts[app])
	x := splitmix.Mix(d.random(deployment, forReplicaSet) + uint64(pod/d.counts[app])*splitmix.Golden)
	return appendRandom(append(appendDeployment(dst, deployment), '-'), x, 9)
}

func (d *Dataset) appendPod(dst []byte, pod uint32) []byte {
	return appendRandom(append(d.appendReplicaSet(dst, pod), '-'), d.random(pod, forPod), 5)
}

// targetOf returns the target, by its number among those of its job, that reports the series of an
// entity; of an app it returns the pod.
func (d *Dataset) targetOf(p *part, owner uint32) uint32 {
	switch p.entity {
	case ofPod:
		return d.reporter(p.job, owner%d.counts[app], d.counts[app])
	case ofNode:
		return d.reporter(p.job, owner, d.nodes)
	case ofDeployment:
		return d.reporter(p.job, owner, d.deployments)
	}
	return owner
}

// appendTarget appends a label of a target, by its number among those of its job; of an app it is that of
// the pod. A kubelet has no pod, and others no node.
func (d *Dataset) appendTarget(dst []byte, key string, j job, target uint32) ([]byte, bool) {
	switch j {
	case app:
		deployment := d.deploymentOf(target % d.counts[app])
		switch key {
		case "job":
			return appendDeployment(dst, deployment), true
		case "instance":
			return append(appendAddress(dst, podAddresses, target), ":8080"...), true
		case "namespace":
			return append(dst, namespaceOf(deployment)...), true
		case "pod":
			return d.appendPod(dst, target), true
		}
	case node:
		switch key {
		case "job":
			return append(dst, "node-exporter"...), true
		case "instance":
			return append(appendAddress(dst, nodeAddresses, target), ":9100"...), true
		case "namespace":
			return append(dst, "monitoring"...), true
		case "pod":
			return appendRandom(append(dst, "node-exporter-"...), splitmix.Mix(d.random(target, forPod)), 5), true
		}
	case kube:
		switch key {
		case "job":
			return append(dst, "kube-state-metrics"...), true
		case "instance":
			return append(appendAddress(dst, kubeAddresses, target), ":8080"...), true
		case "namespace":
			return append(dst, "monitoring"...), true
		case "pod":
			return appendNumber(append(dst, "kube-state-metrics-"...), target), true
		}
	case kubelet:
		switch key {
		case "job":
			return append(dst, "kubelet"...), true
		case "instance":
			return append(appendAddress(dst, nodeAddresses, target), ":10250"...), true
		case "namespace":
			return append(dst, "kube-system"...), true
		case "node":
			return appendNode(dst, target), true
		}
	}
	return dst, false
}

// appendEntity appends a label of an entity that a target reports.
func (d *Dataset) appendEntity(dst []byte, key string, e entity, number uint32) ([]byte, bool) {
	switch e {
	case ofNode:
		return appendNode(dst, number), true
	case ofDeployment:
		if key == "namespace" {
			return append(dst, namespaceOf(number)...), true
		}
		return appendDeployment(dst, number), true
	}
	slot := number % d.counts[app]
	deployment := d.deploymentOf(slot)
	switch key {
	case "namespace", "pod":
		return d.appendTarget(dst, key, app, number)
	case "uid":
		return appendUID(dst, number, d.random(number, forPod)), true
	case "node":
		return appendNode(dst, d.nodeOf(slot)), true
	case "host_ip":
		return appendAddress(dst, nodeAddresses, d.nodeOf(slot)), true
	case "pod_ip":
		return appendAddress(dst, podAddresses, number), true
	case "created_by_kind", "owner_kind":
		return append(dst, "ReplicaSet"...), true
	case "created_by_name", "owner_name":
		return d.appendReplicaSet(dst, number), true
	case "container", "label_app":
		return appendDeployment(dst, deployment), true
	case "label_version":
		return appendNumber(append(dst, "1.4"...), number/d.counts[app]), true
	case "image":
		return appendNumber(append(appendDeployment(dst, deployment), ":1.4"...), number/d.counts[app]), true
	}
	return dst, false
}

// fillerNamespaces are those of pods that are not applications.
var fillerNamespaces = [...]string{"batch", "logging", "ingress", "kube-system"}

// appendFiller appends a label of a pod of no deployment. Kubelets and kube-state-metrics report the
// same pods, as far as they report as many.
func (d *Dataset) appendFiller(dst []byte, key string, number uint32) ([]byte, bool) {
	x := d.random(number, forFiller)
	unique := number | 1<<31 // no number of an application pod
	at := number / d.growth[kubelet] % d.nodes
	switch key {
	case "namespace":
		return append(dst, fillerNamespaces[number%uint32(len(fillerNamespaces))]...), true
	case "pod":
		return appendRandom(append(appendNumber(append(dst, "task-"...), number), '-'), x, 5), true
	case "uid":
		return appendUID(dst, unique, x), true
	case "node":
		return appendNode(dst, at), true
	case "host_ip":
		return appendAddress(dst, nodeAddresses, at), true
	case "pod_ip":
		return appendAddress(dst, podAddresses+64, number), true
	case "created_by_kind", "owner_kind":
		return append(dst, "Job"...), true
	case "created_by_name", "owner_name", "label_app":
		return appendNumber(append(dst, "task-"...), number), true
	case "container":
		return append(dst, "task"...), true
	case "label_version":
		return append(dst, "1.0"...), true
	case "image":
		return append(dst, "task:1.0"...), true
	}
	return dst, false
}
