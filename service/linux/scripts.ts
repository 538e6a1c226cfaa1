/** The maintainer scripts, which dpkg runs when a package is installed, upgraded, removed or purged. */
import { processAt } from '../../src/cli/linux-service/in-use.ts';
import { CONFIGURATION, startedAsUser } from '../../src/cli/linux-service/unit.ts';
import { ENROLMENT, STATE, USER } from '../../src/contract/own-user.ts';

/** Where `platen service install` has its units; those of packages are elsewhere. */
const UNITS = '/etc/systemd/system';

export interface ServicePackage {
  /** The name of the systemd unit: `platen-agent`. */
  unit: string;
  /** The name of its configuration file in `/etc/platen`. */
  config: string;
  /** A key that the configuration must have before the service is started, unless it has enrolled; absent: it is started at once. */
  needs?: string;
}

/** Programs that run read which fonts there are when they start. Restarted, they finish labels under way first. */
export const FONTS_POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
  systemctl --system try-restart platen.service platen-agent.service >/dev/null 2>&1 || true
fi
`;

export function maintainerScripts({ unit, config, needs }: ServicePackage): Record<string, string> {
  const file = `${CONFIGURATION}/${config}`;
  const start = `deb-systemd-invoke start ${unit}.service || true`;
  const started =
    needs === undefined
      ? `    ${start}`
      : `    if grep -q '"${needs}"' ${file} || [ -e ${STATE}/${ENROLMENT} ]; then
      ${start}
    else
      echo "${unit}: platen agent enroll, or \\"${needs}\\" in ${file}, then: systemctl start ${unit}"
    fi`;
  const words = `platen ${unit === 'platen' ? 'up' : 'agent'} --config ${file} --data ${STATE}`;
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
  else
    echo "${unit}: systemd does not run here. Start it with what does, as its user:"
    echo "  ${startedAsUser(words)}"
  fi
fi
`,
    // Stops the service before its files are removed: it may need one of them to finish the labels under way. One that
    // the unit did not start may be the first process of a container, or somebody's watched folder: that is the person's to end.
    prerm: `#!/bin/sh
set -e
for exe in /proc/[0-9]*/exe; do
  [ "$exe" -ef /usr/lib/platen/current/bin/node ] || continue
  process=\${exe%/exe}
  ! grep -qs "/${unit}.service$" "$process/cgroup" || continue
  case "$(tr '\\0' ' ' 2>/dev/null < "$process/cmdline")" in
    *"/app/platen.js up "* | *"/app/platen.js agent "* | *"/app/platen.js server "* | \
      *"/app/platen.js watch "* | *"/app/platen.js virtual "* | *"/app/platen.js demo "*)
      echo "${unit}: process \${process#/proc/} runs it, and ${unit}.service did not start that: its files would vanish under it." >&2
      echo "  End it with what has started it (its labels come to their end first), then do this again." >&2
      exit 1
      ;;
  esac
done
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
  unit=$(grep -ls '^WorkingDirectory=${STATE}$' ${UNITS}/platen.service ${UNITS}/platen-agent.service | head -n 1)
  if [ -n "$unit" ]; then
    echo "${unit}: ${STATE} stays, since $unit runs on it."
    exit 0
  fi
  if command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper purge ${unit}.service >/dev/null || true
  fi
  # Agent and service share their state: it goes with the last of the two.
  if [ ! -e /usr/bin/platen ]; then
    process=$(${processAt(STATE)})
    if [ -n "$process" ]; then
      echo "${unit}: process $process has files open in ${STATE}: end it with what has started it, then purge again." >&2
      exit 1
    fi
    rm -rf ${STATE}
    rmdir ${CONFIGURATION} 2>/dev/null || true
  fi
fi
`,
  };
}
