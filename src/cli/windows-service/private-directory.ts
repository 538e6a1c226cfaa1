/**
 * Restricts what the service keeps to SYSTEM, administrators, and the service itself by its own identity,
 * which it has whatever account it runs as. Nobody else has access, however the disk above is set up.
 *
 * Anybody may make a directory in `%ProgramData%`, also one of this name before Platen does: so
 * administrators become the owner of what lies there, whoever made it.
 *
 * Source: Microsoft, SetNamedSecurityInfoW; Security Descriptor String Format; Service SIDs (S-1-5-80-…).
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { win32 } from 'node:path';
import { z } from 'zod';
import { callFailed, ServiceFault } from './service-fault.ts';

/** Rights of the service: FILE_GENERIC_READ | FILE_GENERIC_EXECUTE; and to change too, except the rights. */
export const READS = '0x1200a9';
export const WRITES = '0x1301bf';
const SE_FILE_OBJECT = 1;
/** OWNER_, DACL_, PROTECTED_DACL_SECURITY_INFORMATION. */
const OWNER_AND_ACCESS = 0x1 | 0x4 | 0x8000_0000;
const REVISION = 1;

/** The identity that Windows gives a service, from its name alone: `sc showsid` prints the same. */
export function serviceSid(name: string): string {
  const hash = createHash('sha1').update(Buffer.from(name.toUpperCase(), 'utf16le')).digest();
  return ['S-1-5-80', ...Array.from({ length: 5 }, (_, word) => hash.readUInt32LE(word * 4))].join('-');
}

/** In the Security Descriptor Definition Language; what is made in a directory later inherits the rights. */
export function accessText(service: string, rights: string, kind: 'directory' | 'file'): string {
  const below = kind === 'directory' ? 'OICI' : '';
  const whom = [
    ['FA', 'SY'],
    ['FA', 'BA'],
    [rights, serviceSid(service)],
  ];
  return `O:BAD:PAI${whom.map(([right, sid]) => `(A;${below};${right};;;${sid})`).join('')}`;
}

/**
 * Makes the directory where there is none, and keeps everybody else out of it and of what is in it.
 * @throws ServiceFault `data-not-safe` for links, which could lead to anything
 */
export async function makePrivate(directory: string, service: string, rights: string): Promise<void> {
  const set = await loadSetter();
  mkdirSync(directory, { recursive: true });
  const settle = (path: string) => {
    const entry = lstatSync(path);
    if (entry.isSymbolicLink()) {
      throw new ServiceFault('data-not-safe', `${path} is a link: remove it, or put it elsewhere`);
    }
    set(path, accessText(service, rights, entry.isDirectory() ? 'directory' : 'file'));
    if (entry.isDirectory()) for (const name of readdirSync(path)) settle(win32.join(path, name));
  };
  settle(directory);
}

async function loadSetter() {
  if (process.platform !== 'win32') throw new ServiceFault('call-failed', 'such rights are for Windows');
  const { default: koffi } = await import('koffi');
  const advapi = koffi.load('advapi32.dll');
  const kernel = koffi.load('kernel32.dll');
  type Native = (...args: unknown[]) => unknown;
  const lastError: Native = kernel.func('uint32_t __stdcall GetLastError()');
  const free: Native = kernel.func('void *__stdcall LocalFree(void *memory)');
  const parse: Native = advapi.func(
    'bool __stdcall ConvertStringSecurityDescriptorToSecurityDescriptorW(str16 text, uint32_t revision, _Out_ void **descriptor, void *size)',
  );
  const ownerOf: Native = advapi.func(
    'bool __stdcall GetSecurityDescriptorOwner(void *descriptor, _Out_ void **owner, _Out_ int *defaulted)',
  );
  const accessOf: Native = advapi.func(
    'bool __stdcall GetSecurityDescriptorDacl(void *descriptor, _Out_ int *present, _Out_ void **dacl, _Out_ int *defaulted)',
  );
  const setSecurity: Native = advapi.func(
    'uint32_t __stdcall SetNamedSecurityInfoW(str16 path, int type, uint32_t what, void *owner, void *group, void *dacl, void *sacl)',
  );
  const required = (name: string, result: unknown) => {
    if (result !== true) throw callFailed(name, z.int().parse(lastError()));
  };
  return (path: string, text: string): void => {
    const [descriptor, owner, dacl] = [[null], [null], [null]];
    required('ConvertStringSecurityDescriptorToSecurityDescriptorW', parse(text, REVISION, descriptor, null));
    try {
      required('GetSecurityDescriptorOwner', ownerOf(descriptor[0], owner, [0]));
      required('GetSecurityDescriptorDacl', accessOf(descriptor[0], [0], dacl, [0]));
      const code = setSecurity(path, SE_FILE_OBJECT, OWNER_AND_ACCESS, owner[0], null, dacl[0], null);
      if (code !== 0) throw callFailed(`SetNamedSecurityInfoW for ${path}`, z.int().parse(code));
    } finally {
      free(descriptor[0]);
    }
  };
}
