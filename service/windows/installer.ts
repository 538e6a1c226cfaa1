/**
 * Makes the installer for Windows by wixl (msitools): the files, the directory on the PATH, and the service.
 * The installed program itself sets up and removes the service, so that an unpacked archive can do the same.
 *
 * Source: Microsoft, Windows Installer: Custom Action Type 18, InstallExecuteSequence, Upgrade Table.
 */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { v5 as nameUuid } from 'uuid';
import { treeOf } from '../package/bundle.ts';

/** The same for all versions: it tells Windows that one version replaces another. */
const UPGRADE_CODE = 'E1C75F0E-6D0C-4D5B-8F1E-5A1F2B8A7C11';
const MAKER = 'Platen';
const TITLE = 'Platen print agent';

/** Times in the cabinet are local times. */
const UTC = { ...process.env, TZ: 'UTC' };

export interface Installer {
  /** Holds the files to install, with the times that they are to have. */
  stage: string;
  file: string;
  version: string;
  time: Date;
}

/** What makes it, by the packages of Debian that have them. */
export const INSTALLER_PROGRAMS = { wixl: ['wixl'], msitools: ['msibuild', 'msiinfo'] };

/** @throws Error where its programs are missing or fail */
export function makeInstaller({ stage, file, version, time }: Installer): void {
  const work = mkdtempSync(join(tmpdir(), 'platen-installer-'));
  try {
    const source = join(work, 'agent.wxs');
    const product = nameUuid(`${version} of ${time.toISOString()}`, UPGRADE_CODE).toUpperCase();
    writeFileSync(source, installerText(stage, version, product));
    execFileSync('wixl', ['--arch', 'x64', '--output', file, source], {
      cwd: stage,
      env: UTC,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    setTables(file, work, [
      { table: 'CustomAction', added: SERVICE_ACTIONS.map(actionRow) },
      {
        table: 'InstallExecuteSequence',
        // The old version is removed in the transaction that installs the new one.
        changed: [[/^RemoveExistingProducts\t\t.*/m, 'RemoveExistingProducts\t\t1501']],
        added: [
          ...SERVICE_ACTIONS.map(({ name, when, at }) => `${name}\t${when}\t${at}`),
          'RemoveEnvironmentStrings\t\t3300',
          'WriteEnvironmentStrings\t\t5200',
        ],
      },
      // Another build of the same version replaces the installed one too.
      { table: 'Upgrade', changed: [[/\t1\t\tWIX_UPGRADE_DETECTED/, '\t513\t\tWIX_UPGRADE_DETECTED']] },
      // From the command line to what runs as the system, and into no log.
      {
        table: 'Property',
        changed: [[/^(SecureCustomProperties\t.*)$/m, `$1;${INVITATION}`]],
        added: [`MsiHiddenProperties\t${INVITATION}`],
      },
      { table: 'Environment', begins: PATH_TABLE, added: [PATH_ROW] },
      {
        table: '_SummaryInformation',
        // wixl makes a new identity each time, and uses the current time.
        changed: [
          [/^9\t.*/m, `9\t{${product}}`],
          [/^12\t.*/m, `12\t${dateOf(time)}`],
          [/^13\t.*/m, `13\t${dateOf(time)}`],
        ],
      },
    ]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function installerText(stage: string, version: string, product: string): string {
  const files = treeOf(stage).filter((path) => lstatSync(join(stage, path)).isFile());
  const components = files.map((path) => `C_${idOf(path)}`);
  return `<?xml version="1.0" encoding="utf-8"?>
<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
  <Product Id="${product}" UpgradeCode="${UPGRADE_CODE}" Name="${TITLE}" Version="${numbersOf(version)}"
      Manufacturer="${MAKER}" Language="1033">
    <Package InstallerVersion="500" Compressed="yes" InstallScope="perMachine"
        Description="${TITLE} ${version}" Manufacturer="${MAKER}" />
    <MajorUpgrade DowngradeErrorMessage="A newer version of ${TITLE} is installed." />
    <Media Id="1" Cabinet="agent.cab" EmbedCab="yes" />
    <Property Id="ARPNOMODIFY" Value="1" />
    <Property Id="MSIRESTARTMANAGERCONTROL" Value="Disable" />
    <Directory Id="TARGETDIR" Name="SourceDir">
      <Directory Id="ProgramFiles64Folder">
        <Directory Id="INSTALLDIR" Name="Platen">
${tree(stage, '', 5)}
        </Directory>
      </Directory>
    </Directory>
    <Feature Id="Agent" Title="${TITLE}" Level="1">
${components.map((id) => `      <ComponentRef Id="${id}" />`).join('\n')}
    </Feature>
  </Product>
</Wix>
`;
}

interface ServiceAction {
  name: string;
  /** The subcommand of `platen service`. */
  does: string;
  /** Its sequence number: files are removed at 3500 and installed at 4000; the end is at 6600. */
  at: number;
  when: string;
  /** Runs only if a later action fails, to undo the action beside it. */
  undoes?: true;
  /** What it is called with is in no log. */
  secret?: true;
}

/** The property that may have the invitation of an agent at another site. */
const INVITATION = 'INVITATION';

const GOES = 'REMOVE="ALL" AND NOT UPGRADINGPRODUCTCODE';
const COMES = 'NOT REMOVE="ALL"';

/**
 * Sets up the service by the installed program. An installation or update whose agent does not come up is
 * rolled back; after an update the previous version then runs again.
 */
const SERVICE_ACTIONS: readonly ServiceAction[] = [
  { name: 'RunAgain', does: 'install', at: 1_890, when: 'REMOVE="ALL"', undoes: true },
  { name: 'StopService', does: 'stop', at: 1_891, when: 'UPGRADINGPRODUCTCODE' },
  { name: 'RemoveService', does: 'uninstall', at: 1_892, when: GOES },
  { name: 'RemoveAgain', does: 'uninstall', at: 5_890, when: `${COMES} AND NOT Installed`, undoes: true },
  {
    ...{ name: 'InstallService', does: `install --enroll "[${INVITATION}]"`, at: 5_891, when: COMES },
    secret: true,
  },
];

/** Runs an installed program (18), deferred and as the system (0x400 + 0x800), and in a rollback (0x100). */
const PROGRAM = 0x12 | 0x400 | 0x800;
const WAY_BACK = 0x100;
const HIDES_TARGET = 0x2000;
/** Ignores the exit code: an action that cannot be undone does not keep the others from being undone. */
const WHATEVER_IT_SAYS = 0x40;

function actionRow({ name, does, undoes, secret }: ServiceAction): string {
  const type = PROGRAM | (undoes ? WAY_BACK | WHATEVER_IT_SAYS : 0) | (secret ? HIDES_TARGET : 0);
  const target = `"[INSTALLDIR]app\\platen.js" service ${does}`;
  return [name, type, `F_${idOf('bin/node.exe')}`, target, ''].join('\t');
}

/** Appends the program's directory to the PATH of all users, and removes it with the program. */
const PATH_TABLE = `Environment\tName\tValue\tComponent_
s72\tl255\tL255\ts72
Environment\tEnvironment
`;
const PATH_ROW = `Path\t=-*PATH\t[~];[INSTALLDIR]bin\tC_${idOf('bin/platen.cmd')}`;

interface TableChange {
  table: string;
  /** For a table that wixl does not make: names, types and key of its columns. */
  begins?: string;
  changed?: readonly (readonly [RegExp, string])[];
  added?: readonly string[];
}

/** Sets what wixl cannot express. Tables are exported and imported as text with tabs. */
function setTables(file: string, work: string, changes: readonly TableChange[]): void {
  const imports = changes.flatMap(({ table, begins, changed = [], added = [] }) => {
    const now = begins ?? execFileSync('msiinfo', ['export', file, table], { encoding: 'utf8' });
    let text = now.replaceAll('\r', '');
    for (const [row, other] of changed) {
      if (!row.test(text)) throw new Error(`${table} has no ${row.source}`);
      text = text.replace(row, other);
    }
    const place = join(work, `${table}.idt`);
    writeFileSync(place, [text, ...added.map((row) => `${row}\n`)].join('').replaceAll('\n', '\r\n'));
    return ['-i', place];
  });
  execFileSync('msibuild', [file, ...imports], { env: UTC, stdio: ['ignore', 'ignore', 'inherit'] });
}

function dateOf(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ').replaceAll('-', '/');
}

/** What is in a directory of the stage, and below it. */
function tree(stage: string, directory: string, depth: number): string {
  const indent = '  '.repeat(depth);
  const here = treeOf(stage).filter(
    (path) =>
      dirname(`/${path}`) === `/${directory}`.replace(/\/$/, '') || (directory === '' && !path.includes('/')),
  );
  return here
    .map((path) => {
      const id = idOf(path);
      if (lstatSync(join(stage, path)).isDirectory()) {
        return `${indent}<Directory Id="D_${id}" Name="${basename(path)}">\n${tree(stage, path, depth + 1)}\n${indent}</Directory>`;
      }
      return `${indent}<Component Id="C_${id}" Guid="${nameUuid(path, UPGRADE_CODE)}" Win64="yes"><File Id="F_${id}" Name="${basename(path)}" Source="${path}" KeyPath="yes" /></Component>`;
    })
    .join('\n');
}

/** Windows Installer's identifiers are short, and of letters, digits, dots and underscores. */
function idOf(path: string): string {
  return nameUuid(path, UPGRADE_CODE).replaceAll('-', '');
}

/** Windows Installer compares three numbers, and nothing after them. */
function numbersOf(version: string): string {
  const [numbers = ''] = /^\d+\.\d+\.\d+/.exec(version) ?? [];
  if (numbers === '') throw new Error(`${version} does not begin with three numbers`);
  return numbers;
}
