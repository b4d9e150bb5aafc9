# What the scripts of this folder share. Each of them sources it.

set -euo pipefail

# Packages that are not the system's own are kept here, one folder a server.
installed=${TSMARK_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/tsmark/servers}/$(basename "$0")

fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# choose_version DEFAULT sets version to the one that TSMARK_VERSION_<NAME> asks for, or else to the default. It is
# empty for a package of Debian's, whose version do_default prints.
choose_version() {
	local variable
	variable=$(basename "$0")
	variable=TSMARK_VERSION_${variable^^}
	default=$1 version=${!variable:-$1}
}

# at_least VERSION says whether the chosen version, or Debian's, is that or a newer one.
at_least() {
	[ -z "$version" ] || [ "$(printf '%s\n' "$1" "$version" | sort -V | head -n 1)" = "$1" ]
}

# list_versions prints the default version, then the versions that can be chosen, one a line. A script whose
# versions are those of a Maven package or of a Go module names it in maven_package or go_module; another one has the
# functions do_versions and, if the list may not be whole, do_offers.
list_versions() {
	if [ -n "$default" ]; then
		echo "$default"
	else
		do_default
	fi
	if declare -F do_versions >/dev/null; then
		do_versions
	elif [ -n "${maven_package-}" ]; then
		maven_versions
	elif [ -n "${go_module-}" ]; then
		go_versions "$go_module"
	else
		echo "$default"
	fi
}

# offers_version says whether the registry has the chosen version: some have more than they list.
offers_version() {
	if declare -F do_offers >/dev/null; then
		do_offers
	elif [ -n "${maven_package-}" ]; then
		maven_get "$maven_package:$version:pom"
	elif [ -n "${go_module-}" ]; then
		go_offers "$go_module@v$version"
	else
		false
	fi
}

# debian_version PACKAGE prints the version that Debian packages.
debian_version() {
	apt-cache policy "$1" | sed -n 's/^ *Candidate: *\([0-9]*:\)\{0,1\}\([0-9.]*\).*/\2 (Debian)/p'
}

# maven_get GROUP:ARTIFACT:VERSION:TYPE downloads a package into Maven's local repository.
maven_get() {
	need_command mvn maven
	mvn -B -X -U -Dstyle.color=never org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get -Dtransitive=false "-Dartifact=$1"
}

# maven_versions prints the versions of $maven_package, whose list Maven leaves in its local repository while it looks
# for the newest one.
maven_versions() {
	local output lists
	output=$(maven_get "$maven_package:RELEASE:pom") || true # the newest may be incomplete
	lists=$(sed -n 's/^\[DEBUG\] Using local repository at //p' <<<"$output" | head -n 1)/$(tr .: // <<<"${maven_package%:*}")/${maven_package#*:}
	grep -oh '<version>[^<]*' "$lists"/maven-metadata-*.xml 2>/dev/null | sed 's/<version>//' | sort -u ||
		fail "Maven cannot list the versions of $maven_package: $(grep -m 1 '^\[ERROR\]' <<<"$output")"
}

# go_versions MODULE prints the versions of a Go module.
go_versions() {
	need_command go golang-go
	(cd / && GOFLAGS=-mod=mod go list -m -versions "$1") | tr ' ' '\n' | sed -n 's/^v\([0-9]\)/\1/p'
}

# go_offers MODULE@VERSION says whether a version of a Go module can be had.
go_offers() {
	need_command go golang-go
	(cd / && GOFLAGS=-mod=mod go list -m "$1")
}

# npm_versions PACKAGE prints the versions of an npm package.
npm_versions() {
	need_command npm npm
	npm view "$1" versions --json | sed -n 's/^[^"]*"\([0-9][^"]*\)".*/\1/p'
}

# pip_versions PACKAGE prints the versions of a Python package.
pip_versions() {
	local pip=$installed/pip
	make_python "$pip"
	"$pip/bin/pip" index versions --disable-pip-version-check "$1" 2>/dev/null | sed -n 's/^Available versions: //p' | tr -d ' ' | tr ',' '\n'
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
	local problem original folder
	need_command go golang-go
	folder=$(mktemp -d)
	problem=$(cd "$folder" && go mod download "$1" 2>&1) || fail "downloading a module: ${problem#go: }"
	original=$(cd "$folder" && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	{
		echo "module server"
		sed -n '/^go /p; /^exclude ($/,/^)/p; /^exclude [^(]/p; /^replace ($/,/^)/p; /^replace [^(]/p' "$original/go.mod"
		echo "require ${1/@/ }"
		# Programs with an older one crash: it does not know the maps of Go 1.24.
		! grep -q modern-go/reflect2 "$original/go.sum" || echo "require github.com/modern-go/reflect2 v1.0.2"
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

# make_python FOLDER makes a folder for Python's packages, once.
make_python() {
	[ -x "$1/bin/pip" ] && return
	need_command python3 python3
	# Debian has the module apart.
	python3 -c 'import ensurepip' 2>/dev/null || need_apt python3-venv
	python3 -m venv "$1"
}

# install_python FOLDER PACKAGE… installs Python's packages, and none that they ask for, into a folder, once.
install_python() {
	[ -e "$1/complete" ] && return
	make_python "$1"
	"$1/bin/pip" install --quiet --disable-pip-version-check --no-deps "${@:2}" >/dev/null
	touch "$1/complete"
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

# set_postgres_user sets the array as_user to a command that runs another as the user postgres, or as nobody where
# there is none, if this one is root, as whom PostgreSQL refuses to run.
set_postgres_user() {
	as_user=()
	[ "$(id -u)" -eq 0 ] || return 0
	postgres_user=postgres
	id postgres >/dev/null 2>&1 || postgres_user=nobody
	as_user=(setpriv --reuid="$postgres_user" --regid="$(id -g "$postgres_user")" --clear-groups)
}

# postgres_ready DIR PORT says whether the server takes connections.
postgres_ready() {
	[ "$(sed -n '8s/ *$//p' "$1/data/postmaster.pid" 2>/dev/null)" = ready ] && (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null
}

# reachable DIR lets that user pass through the folders that lead to it, which mktemp makes for their owner alone.
reachable() {
	local folder=$1
	while folder=$(dirname "$folder") && [ "$folder" != / ]; do
		[ "$(stat -c %a "$folder" | tail -c 2)" -ge 5 ] || chmod o+x "$folder"
	done
}

# exec_postgres DIR PORT USER [OPTION…] becomes PostgreSQL's server, whose
# superuser has the password of the file password.
exec_postgres() {
	local dir port=$2 user=$3 data file as_user
	dir=$(realpath "$1") data=$dir/data file=$dir/password
	# A copy that the other user can read, wherever the scripts are.
	cp "$(dirname "$0")/password" "$file"
	shift 3
	cd /
	set_postgres_user
	if [ ${#as_user[@]} -gt 0 ]; then
		chown "$postgres_user:" "$dir"
		reachable "$dir"
		reachable "$postgres_bin"
	fi
	if [ ! -e "$data" ]; then
		# Renamed when whole: a kill in between leaves no half a cluster.
		chmod o+r "$file"
		rm -rf "$data.new"
		"${as_user[@]}" "$postgres_bin/initdb" -D "$data.new" -U "$user" --pwfile="$file" --auth=scram-sha-256 \
			--encoding=UTF8 --locale=C.UTF-8 >/dev/null
		mv "$data.new" "$data"
	fi
	set -- "$postgres_bin/postgres" -D "$data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= "$@"
	exec "${as_user[@]}" "$@"
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

# alone runs a command while nobody else does for this version of the server: two that install it at
# once would write the same files.
alone() {
	local lock
	if ! command -v flock >/dev/null; then
		"$@"
		return
	fi
	mkdir -p "$(dirname "$installed")"
	exec {lock}>"$installed${version:+@$version}.lock"
	flock "$lock"
	"$@"
	exec {lock}>&-
}

# verb "$@" runs what the script was called for.
verb() {
	case ${1-} in
	versions)
		list_versions
		return
		;;
	offers)
		offers_version
		return
		;;
	install | exec | ready) ;;
	*) fail "usage: $0 install | exec DIR PORT | ready DIR PORT | versions | offers" ;;
	esac
	[ "$version" = "$default" ] || declare -F do_versions >/dev/null || [ -n "${maven_package-}${go_module-}" ] || fail "there is only $default, and no version $version"
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
