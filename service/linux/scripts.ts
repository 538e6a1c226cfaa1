/** The maintainer scripts, which dpkg runs when a package is installed, upgraded, removed or purged. */
import { CONFIGURATION } from '../../src/cli/linux-service/unit.ts';
import { STATE, USER } from '../../src/contract/own-user.ts';

export interface ServicePackage {
  /** The name of the systemd unit: `platen-agent`. */
  unit: string;
  /** The name of its configuration file in `/etc/platen`. */
  config: string;
  /** A key that the configuration must have before the service is started; absent: it is started at once. */
  needs?: string;
}

export function maintainerScripts({ unit, config, needs }: ServicePackage): Record<string, string> {
  const file = `${CONFIGURATION}/${config}`;
  const start = `deb-systemd-invoke start ${unit}.service || true`;
  const started =
    needs === undefined
      ? `    ${start}`
      : `    if grep -q '"${needs}"' ${file}; then
      ${start}
    else
      echo "${unit}: set \\"${needs}\\" in ${file}, then: systemctl start ${unit}"
    fi`;
  return {
    postinst: `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  if ! getent passwd ${USER} >/dev/null; then
    useradd --system --user-group --home-dir ${STATE} --no-create-home --shell /usr/sbin/nologin ${USER}
  fi
  install -d -o ${USER} -g ${USER} -m 0700 ${STATE}
  # It may hold passwords of queues and printers.
  if [ -z "$2" ]; then
    chown root:${USER} ${CONFIGURATION} ${file}
    chmod 0750 ${CONFIGURATION}
    chmod 0640 ${file}
  fi
  if command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper unmask ${unit}.service >/dev/null || true
    if deb-systemd-helper --quiet was-enabled ${unit}.service; then
      deb-systemd-helper enable ${unit}.service >/dev/null || true
    fi
    deb-systemd-helper update-state ${unit}.service >/dev/null || true
  fi
  if [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
${started}
  fi
fi
`,
    // Stops the service before its files are removed: it may need one of them to finish the labels under way.
    prerm: `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop ${unit}.service || true
fi
`,
    postrm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ]; then
  if command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper purge ${unit}.service >/dev/null || true
  fi
  # Agent and service share their state: it goes with the last of the two.
  if [ ! -e /usr/bin/platen ]; then
    rm -rf ${STATE}
    rmdir ${CONFIGURATION} 2>/dev/null || true
  fi
fi
`,
  };
}
