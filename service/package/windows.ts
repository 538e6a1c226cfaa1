/** The agent for Windows, made on Linux: an archive to unpack anywhere, and an installer of the same files. */
import { createWriteStream, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { makeInstaller } from '../windows/installer.ts';
import { treeOf } from './bundle.ts';
import type { Build } from './debian.ts';
import { layOut, settle } from './layout.ts';
import { licences } from './licences.ts';
import type { NpmPackage } from './packages.ts';
import { softwareBill } from './sbom.ts';
import { inStage, writeAll } from './stage.ts';

const PLATFORM = 'win32-x64';
const NAME = 'platen-agent';

/** @returns the files' names: archive, bill of materials */
export async function windowsPackage(build: Build): Promise<string[]> {
  const { out, version, time } = build;
  return await inStage(async (stage) => {
    const packages = await layOutWindows(build, stage);
    const base = baseName(version);
    await archive(stage, join(out, `${base}.zip`), `${NAME}-${version}`, time);
    const bill = softwareBill({ name: `${NAME}-windows`, version, time, packages });
    writeFileSync(join(out, `${base}.cdx.json`), bill);
    return [`${base}.zip`, `${base}.cdx.json`];
  });
}

/** @returns the name of the file, which installs what the archive has */
export async function windowsInstaller(build: Build): Promise<string[]> {
  const { out, version, time } = build;
  return await inStage(async (stage) => {
    await layOutWindows(build, stage);
    const name = `${baseName(version)}.msi`;
    makeInstaller({ stage, file: join(out, name), version, time });
    return [name];
  });
}

function baseName(version: string): string {
  return `${NAME}_${version}_windows-x64`;
}

/** Lays out the files of archive and installer. @param into an existing directory */
export async function layOutWindows(
  { root, version, time }: Omit<Build, 'out'>,
  into: string,
): Promise<NpmPackage[]> {
  const packages = await layOut({ root, edition: 'agent', version, into, platform: PLATFORM });
  writeAll(into, {
    'LICENCE.txt': 'Platen\r\nCopyright: its authors. All rights reserved.\r\n',
    'third-party.txt': licences(packages),
  });
  settle(into, time);
  return packages;
}

/** Zips the stage as one directory, so that versions can lie beside each other. */
export async function archive(stage: string, file: string, directory: string, time: Date): Promise<void> {
  // A ZIP file holds local times. The shift makes them those of UTC on every machine.
  const mtime = new Date(time.getTime() + time.getTimezoneOffset() * 60_000);
  const options = { mtime, mode: 0o100644, forceDosTimestamp: true, compressionLevel: 6 };
  const zip = new ZipFile();
  for (const path of treeOf(stage)) {
    if (lstatSync(join(stage, path)).isFile())
      zip.addFile(join(stage, path), `${directory}/${path}`, options);
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));
}
