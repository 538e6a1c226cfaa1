/** A D-Bus of a test's own, which programs take for the system's: the test decides whether Avahi is on it. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from './programs.ts';

/** @returns the environment in which a program uses it */
export async function startBus(programs: Programs, directory: string): Promise<NodeJS.ProcessEnv> {
  const socket = join(directory, 'bus');
  const configuration = join(directory, 'dbus.conf');
  writeFileSync(
    configuration,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy></busconfig>
`,
  );
  const bus = programs.start('dbus-daemon', [`--config-file=${configuration}`, '--nofork', '--nopidfile']);
  await bus.until(() => existsSync(socket));
  return { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${socket}` };
}
