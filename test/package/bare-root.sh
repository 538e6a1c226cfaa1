#!/bin/sh
# A command in a fresh Debian that has git and npm and nothing else, on a clone of this commit; without one, `npm test`:
#   sudo test/package/bare-root.sh [--user] [COMMAND…]      --user: as an ordinary user
# A quarter of an hour. The machine's ways to the network go with it: apt's settings, npm's, and the certificates.
set -eu
user=root
if [ "${1:-}" = --user ]; then user=somebody; shift; fi
[ $# -gt 0 ] || set -- npm test
checkout=$(cd "$(dirname "$0")/../.." && pwd -P)
directory=$(mktemp -d /var/tmp/platen-bare-XXXXXX)
root=$directory/root
trap 'rm -rf --one-file-system "$directory"' EXIT
trap 'exit 130' INT TERM

. /etc/os-release
mmdebstrap --quiet --variant=apt --include=git,npm,ca-certificates,util-linux --dpkgopt=force-unsafe-io "$VERSION_CODENAME" "$root"
cp -a /etc/apt/. "$root/etc/apt/"
for file in "${NODE_EXTRA_CA_CERTS:-}" "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt; do
  [ ! -f "$file" ] || install -D -m 644 "$file" "$root$file"
done
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
chroot "$root" useradd --create-home somebody
for home in root home/somebody; do [ ! -f "$HOME/.npmrc" ] || cp "$HOME/.npmrc" "$root/$home/"; done
[ ! -f /etc/npmrc ] || cp /etc/npmrc "$root/etc/"
git clone --quiet "file://$checkout" "$root/home/somebody/platen"
git -C "$root/home/somebody/platen" checkout --quiet "$(git -C "$checkout" rev-parse HEAD)"
chroot "$root" chown -R "$user" /home/somebody/platen
chroot "$root" chown -R somebody /home/somebody/.npmrc 2>/dev/null || true

unshare --mount --pid --fork --kill-child sh -eu -c '
  mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys"
  root=$1 user=$2
  shift 2
  exec chroot "$root" runuser -u "$user" -- sh -c "cd /home/somebody/platen && HOME=\$(getent passwd \"\$(id -un)\" | cut -d: -f6) exec \"\$@\"" sh "$@"
' sh "$root" "$user" "$@"
