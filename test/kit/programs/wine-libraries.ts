/**
 * What Debian's Wine 8 lacks of Windows for the programs that we ship, put into a prefix:
 *
 * - `bcryptprimitives.dll`, random bytes for the drawing library: a library that passes its one function on.
 * - Node 24 reserves memory with `VirtualAlloc2` where there is such a function, in a way that Wine 8 does not know, and
 *   does without where there is none. So this prefix's kernelbase.dll has it under another name.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WINE_LIBRARIES = '/usr/lib/x86_64-linux-gnu/wine/x86_64-windows';

/**
 * @param prefix where something has been run already
 * @returns their names: Wine has to be told to take them from there
 */
export function addLibraries(prefix: string): string[] {
  const system = join(prefix, 'drive_c/windows/system32');
  writeFileSync(join(system, 'kernelbase.dll'), withoutPlaceholders());
  const library = forwardingLibrary('bcryptprimitives.dll', 'ProcessPrng', 'advapi32.SystemFunction036');
  writeFileSync(join(system, 'bcryptprimitives.dll'), library);
  return ['kernelbase', 'bcryptprimitives'];
}

function withoutPlaceholders(): Buffer {
  const library = readFileSync(join(WINE_LIBRARIES, 'kernelbase.dll'));
  // A library with this mark is looked for among Wine's own.
  library.fill(0, 0x40, 0x40 + 'Wine builtin DLL'.length);
  const name = library.indexOf('\0VirtualAlloc2\0');
  if (name < 0) throw new Error(`${WINE_LIBRARIES}/kernelbase.dll has no VirtualAlloc2`);
  // This name keeps the order of names, by which functions are found.
  library.write('VirtualAlloc1', name + 1);
  return library;
}

const HEADERS = 0x200;
const SECTION = 0x1000;

/**
 * A library of 1 KB with one function, which is another library's.
 * Source: Microsoft, PE Format: headers, the export directory table, forwarder RVAs.
 */
function forwardingLibrary(name: string, exported: string, target: string): Buffer {
  const file = Buffer.alloc(HEADERS + 0x200);
  file.write('MZ', 0);
  file.writeUInt32LE(0x80, 0x3c);
  file.write('PE\0\0', 0x80);
  const coff = 0x84;
  file.writeUInt16LE(0x8664, coff);
  file.writeUInt16LE(1, coff + 2);
  file.writeUInt16LE(240, coff + 16);
  // EXECUTABLE_IMAGE, LARGE_ADDRESS_AWARE, DLL.
  file.writeUInt16LE(0x2022, coff + 18);
  const optional = coff + 20;
  file.writeUInt16LE(0x20b, optional);
  file.writeUInt32LE(0x200, optional + 8);
  file.writeBigUInt64LE(0x1_8000_0000n, optional + 24);
  file.writeUInt32LE(SECTION, optional + 32);
  file.writeUInt32LE(0x200, optional + 36);
  // Of the system, and of the subsystem: 6.0.
  file.writeUInt16LE(6, optional + 40);
  file.writeUInt16LE(6, optional + 48);
  file.writeUInt32LE(2 * SECTION, optional + 56);
  file.writeUInt32LE(HEADERS, optional + 60);
  // WINDOWS_CUI.
  file.writeUInt16LE(3, optional + 68);
  for (const at of [72, 80, 88, 96]) file.writeBigUInt64LE(0x10_0000n, optional + at);
  file.writeUInt32LE(16, optional + 108);
  file.writeUInt32LE(SECTION, optional + 112);
  file.writeUInt32LE(0x200, optional + 116);
  const section = optional + 240;
  file.write('.edata', section);
  for (const [at, value] of [
    [8, 0x200],
    [12, SECTION],
    [16, 0x200],
    [20, HEADERS],
    // INITIALIZED_DATA, READ.
    [36, 0x4000_0040],
  ] as const)
    file.writeUInt32LE(value, section + at);

  const texts = { name: 0x80, exported: 0xa0, target: 0xc0 };
  const tables = { functions: 0x40, names: 0x48, ordinals: 0x50 };
  const data = file.subarray(HEADERS);
  data.writeUInt32LE(SECTION + texts.name, 12);
  data.writeUInt32LE(1, 16);
  data.writeUInt32LE(1, 20);
  data.writeUInt32LE(1, 24);
  data.writeUInt32LE(SECTION + tables.functions, 28);
  data.writeUInt32LE(SECTION + tables.names, 32);
  data.writeUInt32LE(SECTION + tables.ordinals, 36);
  data.writeUInt32LE(SECTION + texts.target, tables.functions);
  data.writeUInt32LE(SECTION + texts.exported, tables.names);
  data.write(`${name}\0`, texts.name);
  data.write(`${exported}\0`, texts.exported);
  data.write(`${target}\0`, texts.target);
  return file;
}
