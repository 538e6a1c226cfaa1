/**
 * The functions of Windows by which services are set up and controlled, through koffi.
 *
 * Source: Microsoft, Services (winsvc.h); structures, constants and access rights as there.
 */
import { z } from 'zod';
import { callFailed, ServiceFault, WINDOWS_ERROR } from './service-fault.ts';

const OWN_PROCESS = 0x10;
const AUTO_START = 2;
const ERROR_NORMAL = 1;
const NO_CHANGE = 0xffff_ffff;
const CONTROL_STOP = 1;
/** SC_MANAGER_CONNECT | SC_MANAGER_CREATE_SERVICE. */
const MAY_CREATE = 0x1 | 0x2;
const MAY_CONNECT = 0x1;
/** SERVICE_QUERY_CONFIG | SERVICE_QUERY_STATUS, which everybody may; SERVICE_ALL_ACCESS. */
const LOOK = 0x1 | 0x4;
const ALL = 0xf01ff;
/** SERVICE_CONFIG_… */
const CONFIG = { description: 1, failureActions: 2, failureFlag: 4, sid: 5, preshutdown: 7 } as const;
const SC_ACTION_RESTART = 1;
const SID_UNRESTRICTED = 1;
/** SYNCHRONIZE. */
const MAY_WAIT = 0x10_0000;

const state = z.object({
  dwCurrentState: z.int(),
  dwWin32ExitCode: z.int(),
  dwServiceSpecificExitCode: z.int(),
  dwProcessId: z.int(),
});
type StateOfService = z.infer<typeof state>;

interface NewService {
  name: string;
  displayName: string;
  imagePath: string;
  account: string;
}

interface ServiceBehaviour {
  description: string;
  /** Delays before the restarts after crashes in a row, ms; the last one counts for all that follow. */
  restarts: readonly number[];
  /** Time without a crash after which a crash counts as the first again, s. */
  forgotten: number;
  /** How long Windows waits for it when it shuts down, ms. */
  shutdown: number;
}

type ServiceFunctions = Awaited<ReturnType<typeof load>>;
let loaded: Promise<ServiceFunctions> | undefined;

/** @throws ServiceFault where this is not Windows */
export async function serviceFunctions(): Promise<ServiceFunctions> {
  if (process.platform !== 'win32') throw new ServiceFault('call-failed', 'these services are for Windows');
  loaded ??= load();
  return await loaded;
}

async function load() {
  const { default: koffi } = await import('koffi');
  const advapi = koffi.load('advapi32.dll');
  const kernel = koffi.load('kernel32.dll');
  type Native = (...args: unknown[]) => unknown;
  const native = (of: typeof advapi, result: string, name: string, ...parameters: string[]): Native =>
    of.func(`${result} __stdcall ${name}(${parameters.join(', ')})`);
  const numbers = (...fields: string[]) => Object.fromEntries(fields.map((field) => [field, 'uint32_t']));

  const status = numbers(
    ...['dwServiceType', 'dwCurrentState', 'dwControlsAccepted', 'dwWin32ExitCode'],
    ...['dwServiceSpecificExitCode', 'dwCheckPoint', 'dwWaitHint'],
  );
  koffi.struct('SERVICE_CONTROL_STATUS', status);
  const processStatus = koffi.struct('SERVICE_STATUS_PROCESS', {
    ...status,
    ...numbers('dwProcessId', 'dwServiceFlags'),
  });
  const actionType = koffi.struct('SC_ACTION', { Type: 'int', Delay: 'uint32_t' });
  const settings = {
    [CONFIG.description]: koffi.struct('SERVICE_DESCRIPTIONW', { text: 'str16' }),
    [CONFIG.failureActions]: koffi.struct('SERVICE_FAILURE_ACTIONSW', {
      dwResetPeriod: 'uint32_t',
      lpRebootMsg: 'str16',
      lpCommand: 'str16',
      cActions: 'uint32_t',
      lpsaActions: koffi.pointer(actionType),
    }),
    [CONFIG.failureFlag]: koffi.struct('SERVICE_FAILURE_ACTIONS_FLAG', { on: 'int' }),
    [CONFIG.sid]: koffi.struct('SERVICE_SID_INFO', { type: 'uint32_t' }),
    [CONFIG.preshutdown]: koffi.struct('SERVICE_PRESHUTDOWN_INFO', { timeout: 'uint32_t' }),
  } as const;

  const lastError = native(kernel, 'uint32_t', 'GetLastError');
  const openManager = native(
    advapi,
    'void *',
    'OpenSCManagerW',
    'str16 machine',
    'str16 database',
    'uint32_t access',
  );
  const openService = native(
    advapi,
    'void *',
    'OpenServiceW',
    'void *manager',
    'str16 name',
    'uint32_t access',
  );
  const closeHandle = native(advapi, 'bool', 'CloseServiceHandle', 'void *handle');
  const texts = [
    'str16 path',
    'str16 group',
    'void *tag',
    'str16 dependencies',
    'str16 account',
    'str16 password',
  ];
  const kinds = ['uint32_t type', 'uint32_t start', 'uint32_t error'];
  const createService = native(
    advapi,
    'void *',
    'CreateServiceW',
    ...['void *manager', 'str16 name', 'str16 display', 'uint32_t access', ...kinds, ...texts],
  );
  const changeConfig = native(
    advapi,
    'bool',
    'ChangeServiceConfigW',
    ...['void *service', ...kinds, ...texts, 'str16 display'],
  );
  const changeConfig2 = native(
    advapi,
    'bool',
    'ChangeServiceConfig2W',
    'void *service',
    'uint32_t level',
    'void *info',
  );
  const query = native(
    advapi,
    'bool',
    'QueryServiceStatusEx',
    ...['void *service', 'int level', '_Out_ uint8_t *buffer', 'uint32_t size', '_Out_ uint32_t *needed'],
  );
  const start = native(advapi, 'bool', 'StartServiceW', 'void *service', 'uint32_t count', 'void *words');
  const control = native(
    advapi,
    'bool',
    'ControlService',
    ...['void *service', 'uint32_t control', '_Out_ SERVICE_CONTROL_STATUS *status'],
  );
  const remove = native(advapi, 'bool', 'DeleteService', 'void *service');
  const openProcess = native(
    kernel,
    'void *',
    'OpenProcess',
    'uint32_t access',
    'bool inherit',
    'uint32_t pid',
  );
  const waitFor = native(kernel, 'uint32_t', 'WaitForSingleObject', 'void *handle', 'uint32_t ms');
  const closeProcess = native(kernel, 'bool', 'CloseHandle', 'void *handle');

  const errorNumber = () => z.int().parse(lastError());
  /** @param allowed error numbers that are no failure: the result is false */
  const required = (name: string, result: unknown, allowed: readonly number[] = []): boolean => {
    if (result !== false && result !== null) return true;
    const code = errorNumber();
    if (allowed.includes(code)) return false;
    throw callFailed(name, code);
  };
  /** @returns whether this Windows knows such a setting */
  const set = (service: unknown, level: keyof typeof settings, value: object): boolean => {
    const info = koffi.as(value, koffi.pointer(settings[level]));
    return required('ChangeServiceConfig2W', changeConfig2(service, level, info), [
      WINDOWS_ERROR.invalidLevel,
    ]);
  };

  /** Calls `use` with a handle of the service manager, which is closed afterwards. */
  const managed = <T>(access: number, use: (manager: unknown) => T): T => {
    const manager = openManager(null, null, access);
    required('OpenSCManagerW', manager);
    try {
      return use(manager);
    } finally {
      closeHandle(manager);
    }
  };
  return {
    /** Calls `use` with a handle of the service; null: there is no such service. */
    withService: async <T>(
      name: string,
      access: 'look' | 'change',
      use: (service: unknown) => T | Promise<T>,
    ): Promise<T | null> => {
      const service = managed(MAY_CONNECT, (manager) => {
        const opened = openService(manager, name, access === 'look' ? LOOK : ALL);
        return required('OpenServiceW', opened, [WINDOWS_ERROR.serviceDoesNotExist]) ? opened : null;
      });
      if (service === null) return null;
      try {
        return await use(service);
      } finally {
        closeHandle(service);
      }
    },
    create: ({ name, displayName, imagePath, account }: NewService): void => {
      managed(MAY_CREATE, (manager) => {
        const kind = [ALL, OWN_PROCESS, AUTO_START, ERROR_NORMAL];
        const made = createService(
          manager,
          name,
          displayName,
          ...kind,
          imagePath,
          null,
          null,
          null,
          account,
          null,
        );
        required('CreateServiceW', made);
        closeHandle(made);
      });
    },
    /** Changes name and command; the account, and the way the service is started, stay. */
    change: (service: unknown, { displayName, imagePath }: NewService): void => {
      const kind = [NO_CHANGE, NO_CHANGE, NO_CHANGE];
      const changed = changeConfig(service, ...kind, imagePath, null, null, null, null, null, displayName);
      required('ChangeServiceConfigW', changed);
    },
    /** @returns the settings that this Windows does not know, in words */
    behave: (
      service: unknown,
      { description, restarts, forgotten, shutdown }: ServiceBehaviour,
    ): string[] => {
      const failures = {
        dwResetPeriod: forgotten,
        lpRebootMsg: null,
        lpCommand: null,
        cActions: restarts.length,
        lpsaActions: restarts.map((Delay) => ({ Type: SC_ACTION_RESTART, Delay })),
      };
      const known = {
        'a description': set(service, CONFIG.description, { text: description }),
        'a restart after a crash': set(service, CONFIG.failureActions, failures),
        // A service that ends with an error of its own (an unusable configuration) is not restarted.
        'which ends are crashes': set(service, CONFIG.failureFlag, { on: 0 }),
        'an identity of the service': set(service, CONFIG.sid, { type: SID_UNRESTRICTED }),
        'time to end at shutdown': set(service, CONFIG.preshutdown, { timeout: shutdown }),
      };
      return Object.entries(known).flatMap(([setting, taken]) => (taken ? [] : [setting]));
    },
    state: (service: unknown): StateOfService => {
      const buffer = Buffer.alloc(koffi.sizeof(processStatus));
      required('QueryServiceStatusEx', query(service, 0, buffer, buffer.length, [0]));
      return state.parse(koffi.decode(buffer, processStatus));
    },
    start: (service: unknown): void => {
      required('StartServiceW', start(service, 0, null), [WINDOWS_ERROR.serviceAlreadyRunning]);
    },
    stop: (service: unknown): void => {
      required('ControlService', control(service, CONTROL_STOP, {}), [WINDOWS_ERROR.serviceNotActive]);
    },
    remove: (service: unknown): void => {
      required('DeleteService', remove(service));
    },
    /** `within` waits for the process to end, ms; false: it still runs. null: there is none, or no access. */
    processEnded: (pid: number): { within(ms: number): boolean; close(): void } | null => {
      const handle = openProcess(MAY_WAIT, false, pid);
      if (handle === null) return null;
      return {
        within: (ms) => waitFor(handle, ms) === 0,
        close: () => void closeProcess(handle),
      };
    },
  };
}
