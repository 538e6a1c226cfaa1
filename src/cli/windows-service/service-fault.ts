/** Errors at the service manager of Windows. */
import { defineFaults } from '../../contract/define-faults.ts';

export class ServiceFault extends defineFaults('ServiceFault', {
  /** A function of Windows failed. */
  'call-failed': {},
  /** Only administrators may do this. */
  'not-allowed': {},
  /** The process was not started by the service manager. */
  'not-a-service': {},
  'not-installed': {},
  /** The service did not reach the state it was told to reach. */
  'state-not-reached': {},
  /** The data directory has a link in it, so that no secrets can be kept there. */
  'data-not-safe': {},
}) {}

/** Windows' error numbers (winerror.h) that mean something here. */
export const WINDOWS_ERROR = {
  accessDenied: 5,
  invalidLevel: 124,
  serviceAlreadyRunning: 1056,
  serviceDoesNotExist: 1060,
  serviceNotActive: 1062,
  notStartedByManager: 1063,
  serviceSpecific: 1066,
  serviceNeverStarted: 1077,
} as const;

/** @param name of the function @param code from GetLastError, or the function's result */
export function callFailed(name: string, code: number): ServiceFault {
  if (code === WINDOWS_ERROR.accessDenied) {
    return new ServiceFault('not-allowed', `Windows refused ${name}: run this as administrator`);
  }
  return new ServiceFault('call-failed', `${name} of Windows failed with error ${code}`);
}
