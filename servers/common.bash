# What the scripts of this folder share. Each of them sources it.

set -euo pipefail

# Packages that are not the system's own are kept here, one folder a server.
installed=${TSMARK_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/tsmark/servers}/$(basename "$0")

fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# need_apt PACKAGE… installs packages of Debian and its kin that are missing.
need_apt() {
	local missing=() package
	for package in "$@"; do
		dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return
	[ "$(id -u)" -eq 0 ] || fail "${missing[*]} must be installed first; as root: apt-get install ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	# The lists may be older than the packages that the mirrors still have.
	apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1 ||
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }
}

# unpack_apt PACKAGE unpacks a package of Debian's into $installed, without its
# scripts: no service is started, no user made, and it takes no root.
unpack_apt() {
	local folder
	folder=$(mktemp -d)
	(cd "$folder" && { apt-get download -qq "$1" >/dev/null 2>&1 || { apt-get update -qq && apt-get download -qq "$1" >/dev/null; }; })
	mkdir -p "$installed"
	dpkg -x "$folder"/*.deb "$installed"
	rm -r "$folder"
}

# need_command NAME PACKAGE installs a package for a command that is missing.
need_command() {
	command -v "$1" >/dev/null || need_apt "$2"
}

# module_around MODULE prints a folder with a module of its own around a Go module, its
# path @ its version: it has the lines of the original's go.mod that hold for a main
# module alone.
module_around() {
	local original folder
	need_command go golang-go
	folder=$(mktemp -d)
	original=$(cd "$folder" && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	[ -n "$original" ] || fail "the module $1 cannot be downloaded"
	{
		echo "module server"
		sed -n '/^go /p; /^exclude ($/,/^)/p; /^exclude [^(]/p; /^replace ($/,/^)/p; /^replace [^(]/p' "$original/go.mod"
		echo "require ${1/@/ }"
	} >"$folder/go.mod"
	echo "$folder"
}

# build_go MODULE PACKAGE BINARY FLAGS [TAGS] builds a package of a Go module.
build_go() {
	local folder
	folder=$(module_around "$1")
	(cd "$folder" && CGO_ENABLED=0 GOFLAGS=-mod=mod nice go build -o "$3.new" -tags "${5-}" -ldflags "-s -w $4" "$2")
	mv "$3.new" "$3"
	rm -r "$folder"
}

# build_influxd MODULE BINARY VERSION builds the server of a Go module of InfluxDB. The
# engine of Flux is a library in Rust, which InfluxData's pkg-config builds. Its authors
# have their compiler refuse what it warns of, and newer compilers warn of more: so the
# wrapper of those packages, unlike RUSTFLAGS, reaches what is built to build.
build_influxd() {
	local folder
	command -v cargo >/dev/null || fail "InfluxDB's Flux needs Rust, 1.72 or newer, to be built; install it from https://rustup.rs"
	command -v cc >/dev/null || need_apt gcc libc6-dev
	need_command pkg-config pkg-config
	folder=$(module_around "$1")
	printf '#!/bin/sh\nexec "$@" --cap-lints warn\n' >"$folder/lenient"
	chmod +x "$folder/lenient"
	(
		cd "$folder"
		export GOFLAGS=-mod=mod RUSTC_WORKSPACE_WRAPPER=$folder/lenient PKG_CONFIG=$folder/pkg-config
		if command -v rustup >/dev/null; then # the compiler that is here, and not the one that the library names
			RUSTUP_TOOLCHAIN=$(rustup default | cut -d' ' -f1)
			export RUSTUP_TOOLCHAIN
		fi
		nice go build -o "$folder/pkg-config" github.com/influxdata/pkg-config
		CGO_ENABLED=1 nice go build -o "$2.new" -tags sqlite_foreign_keys,sqlite_json -ldflags "-s -w -X main.version=$3" "${1%@*}/cmd/influxd"
	)
	mv "$2.new" "$2"
	rm -r "$folder"
}

# install_python PACKAGE… installs Python's packages, and none that they ask for, into
# $installed, once.
install_python() {
	[ -e "$installed/complete" ] && return
	need_command python3 python3
	# Debian has the module apart.
	python3 -c 'import ensurepip' 2>/dev/null || need_apt python3-venv
	python3 -m venv "$installed"
	"$installed/bin/pip" install --quiet --disable-pip-version-check --no-deps "$@" >/dev/null
	touch "$installed/complete"
}

# set_java START MOST sets the array java to the command of a server in Java with heaps that start at, and grow
# to, these sizes, and with a compiler that is quick and produces slow code: for tests, never for figures. With
# TSMARK_HEAP=SIZE, the heap has that size and Java its own settings.
# shellcheck disable=SC2034 # the caller uses the array
set_java() {
	java=(java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "-Xms$1" "-Xmx$2")
	[ -z "${TSMARK_HEAP-}" ] || java=(java "-Xms$TSMARK_HEAP" "-Xmx$TSMARK_HEAP")
}

# build_loopback builds $installed/loopback.so of preload/loopback.c: preloaded, it
# has a program listen on 127.0.0.1 that would on all addresses.
build_loopback() {
	local source new
	source=$(dirname "$0")/preload/loopback.c
	[ "$installed/loopback.so" -nt "$source" ] && return
	command -v cc >/dev/null || need_apt gcc libc6-dev
	mkdir -p "$installed"
	new=$(mktemp "$installed/loopback.XXXXXX")
	cc -shared -fPIC -O2 -Wall -o "$new" "$source" -ldl
	mv "$new" "$installed/loopback.so"
}

# Where Debian has PostgreSQL's programs.
postgres_bin=/usr/lib/postgresql/15/bin

# as_postgres COMMAND runs a command as another user where this one is root, as
# whom PostgreSQL refuses to run.
as_postgres() {
	if [ "$(id -u)" -eq 0 ]; then
		set -- setpriv --reuid=postgres --regid=postgres --init-groups "$@"
	fi
	"$@"
}

# reachable DIR lets the user postgres pass through the folders that lead to it,
# which mktemp makes for their owner alone.
reachable() {
	local folder=$1
	chown postgres: "$folder"
	while folder=$(dirname "$folder") && [ "$folder" != / ]; do
		[ "$(stat -c %a "$folder" | tail -c 2)" -ge 5 ] || chmod o+x "$folder"
	done
}

# exec_postgres DIR PORT USER [OPTION…] becomes PostgreSQL's server, whose
# superuser has the password of the file password.
exec_postgres() {
	local dir port=$2 user=$3 data file
	dir=$(realpath "$1") data=$dir/data file=$dir/password
	# A copy that the other user can read, wherever the scripts are.
	cp "$(dirname "$0")/password" "$file"
	shift 3
	cd /
	[ "$(id -u)" -ne 0 ] || reachable "$dir"
	if [ ! -e "$data" ]; then
		# Renamed when whole: a kill in between leaves no half a cluster.
		chmod o+r "$file"
		rm -rf "$data.new"
		as_postgres "$postgres_bin/initdb" -D "$data.new" -U "$user" --pwfile="$file" --auth=scram-sha-256 \
			--encoding=UTF8 --locale=C.UTF-8 >/dev/null
		mv "$data.new" "$data"
	fi
	set -- "$postgres_bin/postgres" -D "$data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= "$@"
	[ "$(id -u)" -ne 0 ] || set -- setpriv --reuid=postgres --regid=postgres --init-groups "$@"
	exec "$@"
}

# read_settings DIR [NAME…] reads the lines NAME=VALUE of the file DIR/settings into the array settings.
# It refuses the names that the script itself sets: addresses, ports and folders.
read_settings() {
	local line name
	settings=()
	[ -e "$1/settings" ] || return 0
	while IFS= read -r line; do
		for name in "${@:2}"; do
			[ "${line%%=*}" != "$name" ] || fail "server.$name: the script sets it; leave it out"
		done
		settings+=("$line")
	done <"$1/settings"
}

# know_settings fails at a setting whose name is not one of the lines of standard input.
know_settings() {
	local line name known near
	known=$(cat)
	for line in "${settings[@]}"; do
		name=${line%%=*}
		grep -qxF -- "$name" <<<"$known" && continue
		near=$(grep -E -- "(^|\\.)${name//./\\.}\$" <<<"$known" | head -1 || true)
		fail "server.$name: the server has no such setting${near:+; did you mean $near?}"
	done
}

# override_settings FILE SEPARATOR writes settings into a file of lines, in place of lines that set them.
override_settings() {
	local line name
	for line in "${settings[@]}"; do
		name=${line%%=*}
		sed -i "/^[[:space:]]*${name//./\\.}[[:space:]]*[=:]/d" "$1"
		echo "$name$2${line#*=}" >>"$1"
	done
}

# alone runs a command while nobody else does for this server: two that install it at
# once would write the same files.
alone() {
	local lock
	if ! command -v flock >/dev/null; then
		"$@"
		return
	fi
	mkdir -p "$(dirname "$installed")"
	exec {lock}>"$installed.lock"
	flock "$lock"
	"$@"
	exec {lock}>&-
}

# verb "$@" runs what the script was called for.
verb() {
	case ${1-} in
	install | exec | ready) ;;
	*) fail "usage: $0 install | exec DIR PORT | ready DIR PORT" ;;
	esac
	if [ "$1" != install ]; then
		[ $# -eq 3 ] || fail "usage: $0 $1 DIR PORT"
		[ -d "$2" ] || fail "there is no folder $2"
	fi
	local name=$1
	shift
	declare -F "do_$name" >/dev/null || fail "has no function do_$name: see servers/questdb"
	case $name in
	install) alone do_install ;;
	exec)
		[ ! -s "$1/settings" ] || grep -q '^	*read_settings ' "$0" || fail "server settings: this script passes none on; leave them out"
		alone do_install
		do_exec "$@"
		;;
	ready) do_ready "$@" ;;
	esac
}
