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
	"do_$name" "$@"
}
