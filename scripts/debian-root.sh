# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that need a clean Debian root: check-deb, check-fresh. Needs root and debootstrap.
#
#   make_debian_root SUITE ROOT    a minimal root of that suite in the folder ROOT, with apt set up as on this machine
#   in_debian_root ROOT COMMAND…   runs a command there, in a mount and process space of its own

debian_mirror() {
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb \(\[[^]]*\] \)\?\(http[^ ]*debian\/\?\) .*/\2/p'
    sed -n 's/^URIs: \(.*debian\/\?\)$/\1/p' /etc/apt/sources.list.d/*.sources 2>/dev/null
    echo http://deb.debian.org/debian; } | head -1
}

# Whatever ends, nothing stays mounted or running.
in_debian_root() {
  unshare --mount --pid --fork --kill-child bash -ec '
    root=$1; shift
    mount --make-rprivate /
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/dev/shm"
    for device in null zero random urandom; do mount --bind "/dev/$device" "$root/dev/$device"; done
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$@"' inside "$@"
}

make_debian_root() {
  local suite=$1 root=$2
  chmod 755 "$root"  # it is everybody's there
  debootstrap --variant=minbase "$suite" "$root" "$(debian_mirror)" >"$root.log" 2>&1 || { tail -5 "$root.log" >&2; return 1; }
  rm -f "$root.log"
  # Debian's own sources only, reached as this machine reaches them.
  cp -r /etc/apt/apt.conf.d /etc/apt/trusted.gpg.d "$root/etc/apt/"
  [ ! -d /etc/apt/keyrings ] || cp -r /etc/apt/keyrings "$root/etc/apt/"
  echo "deb $(debian_mirror) $suite main" >"$root/etc/apt/sources.list"
  cp /etc/resolv.conf "$root/etc/"
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  # So are the registries of packages, where this machine knows certificates of its own.
  mkdir -p "$root/usr/local/share"
  cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
  [ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
  for device in null zero random urandom; do touch "$root/dev/$device"; done
  mkdir -p "$root/dev/shm" "$root/dev/pts"
  ln -sf pts/ptmx "$root/dev/ptmx"
  in_debian_root "$root" apt-get -q update
}
