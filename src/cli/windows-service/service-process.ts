/**
 * Makes this process a Windows service: it connects to the service manager that started it, is told when to
 * stop, and reports that it is still ending until it has ended.
 *
 * The call that connects the two returns when the service has stopped, so it has a thread of libuv's for itself.
 * Windows calls back on threads of its own, which wait until Node's thread is free to handle the call.
 *
 * Source: Microsoft, Services: Service Control Handler Function, SERVICE_STATUS, Preshutdown.
 */
import { z } from 'zod';
import { callFailed, ServiceFault, WINDOWS_ERROR } from './service-fault.ts';

/** SERVICE_WIN32_OWN_PROCESS. */
const OWN_PROCESS = 0x10;
/** SERVICE_START_PENDING, … */
const STATE = { stopped: 1, startPending: 2, stopPending: 3, running: 4 } as const;
/** SERVICE_CONTROL_… */
const CONTROL = { stop: 1, interrogate: 4, shutdown: 5, preshutdown: 0xf } as const;
/** SERVICE_ACCEPT_STOP, _SHUTDOWN, _PRESHUTDOWN. */
const ACCEPTS = 0x1 | 0x4 | 0x100;
const NO_ERROR = 0;
const ERROR_CALL_NOT_IMPLEMENTED = 120;
/** Interval of reports while it starts or stops, and how long the manager may wait for the next one, ms. */
const STEP_MS = 1_000;
const PATIENCE_MS = 10_000;

type StopReason = 'stop' | 'shutdown';

export interface ServiceProcess {
  /** Reports that the service works, and can be stopped from now on. */
  running(): void;
  /**
   * Reports that the service has ended; nothing is reported after that.
   * @param exitCode 0, or what `services.msc` and `sc query` show as the service's own error
   */
  stopped(exitCode: number): Promise<void>;
}

/**
 * Answers the service manager that has started this process.
 * @param onStop called once, when the service is to stop or Windows shuts down
 * @throws ServiceFault `not-a-service` where no service manager has started it
 */
export async function serviceProcess(
  name: string,
  onStop: (reason: StopReason) => void,
): Promise<ServiceProcess> {
  const api = await load();
  const { promise: started, resolve: start } = Promise.withResolvers<unknown>();
  let state: number = STATE.startPending;
  let checkPoint = 0;
  let pending: NodeJS.Timeout | undefined;
  let handle: unknown = null;

  const say = (exitCode = 0) => {
    const isPending = state === STATE.startPending || state === STATE.stopPending;
    const done = api.setStatus(handle, {
      dwServiceType: OWN_PROCESS,
      dwCurrentState: state,
      dwControlsAccepted: state === STATE.running ? ACCEPTS : 0,
      dwWin32ExitCode: exitCode === 0 ? NO_ERROR : WINDOWS_ERROR.serviceSpecific,
      dwServiceSpecificExitCode: exitCode,
      dwCheckPoint: isPending ? ++checkPoint : 0,
      dwWaitHint: isPending ? PATIENCE_MS : 0,
    });
    if (done !== true) throw callFailed('SetServiceStatus', api.lastError());
  };
  const go = (to: number, exitCode?: number) => {
    state = to;
    checkPoint = 0;
    clearInterval(pending);
    if (to === STATE.startPending || to === STATE.stopPending) pending = setInterval(say, STEP_MS).unref();
    say(exitCode);
  };
  const stop = (reason: StopReason) => {
    if (state !== STATE.running) return;
    go(STATE.stopPending);
    onStop(reason);
  };
  const handler = api.handler((control) => {
    if (control === CONTROL.stop) stop('stop');
    else if (control === CONTROL.shutdown || control === CONTROL.preshutdown) stop('shutdown');
    else if (control !== CONTROL.interrogate) return ERROR_CALL_NOT_IMPLEMENTED;
    return NO_ERROR;
  });
  // The service's main function may return: the service counts as stopped only once it reports that.
  const ended = api.dispatch(name, () => start(null));
  const refused = ended.then((done) => {
    if (!done) throw new ServiceFault('not-a-service', 'only the service manager of Windows can start this');
    throw new ServiceFault('call-failed', 'the service manager of Windows ended the service');
  });
  refused.catch(() => undefined);
  await Promise.race([started, refused]);
  handle = api.registerHandler(name, handler, null);
  if (handle === null) throw callFailed('RegisterServiceCtrlHandlerExW', api.lastError());
  go(STATE.startPending);
  return {
    running: () => {
      if (state === STATE.startPending) go(STATE.running);
    },
    stopped: async (exitCode) => {
      go(STATE.stopped, exitCode);
      await ended;
    },
  };
}

async function load() {
  const { default: koffi } = await import('koffi');
  const advapi = koffi.load('advapi32.dll');
  const lastError = koffi.load('kernel32.dll').func('uint32_t __stdcall GetLastError()');
  const mainType = koffi.proto('void __stdcall ServiceMain(uint32_t count, void *words)');
  const handlerType = koffi.proto(
    'uint32_t __stdcall ServiceHandler(uint32_t control, uint32_t type, void *data, void *context)',
  );
  koffi.struct('SERVICE_TABLE_ENTRYW', { lpServiceName: 'str16', lpServiceProc: 'ServiceMain *' });
  const numbers = [
    ...['dwServiceType', 'dwCurrentState', 'dwControlsAccepted', 'dwWin32ExitCode'],
    ...['dwServiceSpecificExitCode', 'dwCheckPoint', 'dwWaitHint'],
  ];
  koffi.struct('SERVICE_STATUS', Object.fromEntries(numbers.map((field) => [field, 'uint32_t'])));
  const dispatch = advapi.func(
    'bool __stdcall StartServiceCtrlDispatcherW(const SERVICE_TABLE_ENTRYW *table)',
  );
  const registerHandler: (...args: unknown[]) => unknown = advapi.func(
    'void *__stdcall RegisterServiceCtrlHandlerExW(str16 name, ServiceHandler *handler, void *context)',
  );
  const setStatus: (handle: unknown, status: Readonly<Record<string, number>>) => unknown = advapi.func(
    'bool __stdcall SetServiceStatus(void *handle, const SERVICE_STATUS *status)',
  );
  return {
    registerHandler,
    setStatus,
    lastError: () => z.int().parse(lastError()),
    handler: (handle: (control: number) => number) =>
      koffi.register((control: number) => handle(control), koffi.pointer(handlerType)),
    /** Resolves when the service has stopped; with false where there is no service manager. */
    dispatch: async (name: string, main: () => void) => {
      const registered = koffi.register(main, koffi.pointer(mainType));
      const table = [
        { lpServiceName: name, lpServiceProc: registered },
        { lpServiceName: null, lpServiceProc: null },
      ];
      return await new Promise<boolean>((resolve, reject) => {
        dispatch.async(table, (error: unknown, result: unknown) => {
          if (error) reject(error);
          else resolve(result === true);
        });
      });
    },
  };
}
