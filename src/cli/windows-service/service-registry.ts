/** Makes, changes, starts, stops and removes a Windows service, and asks for its state. */
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../failure.ts';
import { ServiceFault, WINDOWS_ERROR } from './service-fault.ts';
import { serviceFunctions } from './service-functions.ts';

/** Delays after crashes: short, but restarts must not keep the machine busy. A crash-free day resets them. */
const RESTARTS_MS = [5_000, 5_000, 60_000];
const CRASHES_FORGOTTEN_S = 86_400;
/** An agent has a minute to end (`ending.ts`). */
const STOP_MS = 75_000;
const START_MS = 60_000;
const LOOK_AGAIN_MS = 100;

/** SERVICE_STOPPED, …, by their numbers. */
const STATES = [
  'unknown',
  'stopped',
  'starting',
  'stopping',
  'running',
  'resuming',
  'pausing',
  'paused',
] as const;
type ServiceState = (typeof STATES)[number];

interface ServiceStatus {
  state: ServiceState;
  /** 0 while it does not run. */
  pid: number;
  /** What it ended with the last time: its own code, or else Windows' error number; 0: nothing was wrong. */
  exitCode: number;
}

interface ServiceSettings {
  name: string;
  displayName: string;
  description: string;
  /** Program and arguments, absolute. */
  command: readonly string[];
}

/**
 * A command as Windows takes it apart again, each path in quotation marks: without them `C:\Program.exe` would be
 * tried first.
 */
export function imagePath(command: readonly string[]): string {
  const wrong = command.find((word) => /["\r\n\0]|\\$/.test(word) || word === '');
  if (wrong !== undefined)
    throw new TypeError(`${JSON.stringify(wrong)} cannot stand in a service's command`);
  return command.map((word) => (/^[\w-]+$/.test(word) ? word : `"${word}"`)).join(' ');
}

interface Installed {
  made: boolean;
  /** Settings that this Windows does not know, in words. */
  unknown: readonly string[];
}

/**
 * Makes the service: started with Windows, again after a crash, and as an account of its own that has no
 * password and few rights. An existing service keeps its account and way of starting, which somebody may have
 * set.
 * @throws ServiceFault
 */
export async function installService(settings: ServiceSettings): Promise<Installed> {
  const functions = await serviceFunctions();
  const { name, displayName, description, command } = settings;
  const service = { name, displayName, imagePath: imagePath(command), account: `NT SERVICE\\${name}` };
  const behaviour = {
    description,
    restarts: RESTARTS_MS,
    forgotten: CRASHES_FORGOTTEN_S,
    shutdown: STOP_MS,
  };
  const changed = await functions.withService(name, 'change', (handle) => {
    functions.change(handle, service);
    return functions.behave(handle, behaviour);
  });
  if (changed !== null) return { made: false, unknown: changed };
  functions.create(service);
  const unknown = await functions.withService(name, 'change', (handle) =>
    functions.behave(handle, behaviour),
  );
  if (unknown === null) throw new ServiceFault('not-installed', `${name} was removed as it was made`);
  return { made: true, unknown };
}

/** null: there is no such service. */
export async function serviceStatus(name: string): Promise<ServiceStatus | null> {
  const functions = await serviceFunctions();
  return await functions.withService(name, 'look', (service) => {
    const { dwCurrentState, dwWin32ExitCode, dwServiceSpecificExitCode, dwProcessId } =
      functions.state(service);
    const codes: Readonly<Record<number, number>> = {
      [WINDOWS_ERROR.serviceSpecific]: dwServiceSpecificExitCode,
      [WINDOWS_ERROR.serviceNeverStarted]: 0,
    };
    const exitCode = codes[dwWin32ExitCode] ?? dwWin32ExitCode;
    return { state: STATES[dwCurrentState] ?? 'unknown', pid: dwProcessId, exitCode };
  });
}

/** Starts it and waits until it works. @throws ServiceFault `not-installed`, `state-not-reached` */
export async function startService(name: string): Promise<void> {
  const functions = await serviceFunctions();
  await functions.withService(name, 'change', (service) => functions.start(service));
  await reached(name, 'running', START_MS);
}

/**
 * Stops the service, and waits until labels under way and its process have ended, so that its files can be
 * replaced. Does nothing where the service is stopped already, or does not exist.
 * @throws ServiceFault `state-not-reached`
 */
export async function stopService(name: string): Promise<void> {
  const functions = await serviceFunctions();
  const { pid = 0, state } = (await serviceStatus(name)) ?? {};
  if (state === undefined || state === 'stopped') return;
  const ended = functions.processEnded(pid);
  try {
    await functions.withService(name, 'change', (service) => functions.stop(service));
    await reached(name, 'stopped', STOP_MS);
    if (ended?.within(STOP_MS) === false) {
      throw new ServiceFault(
        'state-not-reached',
        `${name} has stopped, but its process ${pid} has not ended`,
      );
    }
  } finally {
    ended?.close();
  }
}

/** Stops and removes the service. @returns whether there was one */
export async function removeService(name: string): Promise<boolean> {
  const functions = await serviceFunctions();
  await stopService(name);
  const removed = await functions.withService(name, 'change', (service) => {
    functions.remove(service);
    return true;
  });
  return removed ?? false;
}

async function reached(name: string, wanted: ServiceState, ms: number): Promise<void> {
  const deadline = AbortSignal.timeout(ms);
  for (;;) {
    const status = await serviceStatus(name);
    if (status === null) throw new ServiceFault('not-installed', `There is no service ${name}`);
    const { state, exitCode } = status;
    if (state === wanted) return;
    if (wanted === 'running' && state === 'stopped') {
      const why = exitCode === EXIT.usage ? ': "platen config check" says what is wrong' : '';
      throw new ServiceFault('state-not-reached', `${name} has ended with ${exitCode}${why}`);
    }
    if (deadline.aborted) {
      throw new ServiceFault('state-not-reached', `${name} is not ${wanted} after ${ms / 1_000} s: ${state}`);
    }
    await pause(LOOK_AGAIN_MS);
  }
}
