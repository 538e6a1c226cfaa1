/** The Debian packages: made by `dpkg-deb`, installed without a network. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { SETTINGS } from '../../src/cli/linux-service/install.ts';
import { CONFIGURATION, unitText } from '../../src/cli/linux-service/unit.ts';
import { STATE } from '../../src/contract/own-user.ts';
import { FONTS_POSTINST, maintainerScripts, type ServicePackage } from '../linux/scripts.ts';
import { treeOf } from './bundle.ts';
import { type Edition, layOut, layOutCjkFonts, settle } from './layout.ts';
import { licences } from './licences.ts';
import { manual } from './manual.ts';
import type { NpmPackage } from './packages.ts';
import { softwareBill } from './sbom.ts';
import { inStage, writeAll } from './stage.ts';

/** What every package of a build has in common. */
export interface Build {
  root: string;
  out: string;
  version: string;
  /** The modification time of everything in the package. */
  time: Date;
  /** Compression level, 1 to 9. */
  level?: number;
}

const HOME = 'usr/lib/platen';
const MAINTAINER = 'Platen maintainers <maintainers@platen.invalid>';
/** As Debian and OCI call the processors. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export function architectureOf(arch: string): string {
  return ARCHITECTURES[arch] ?? arch;
}

interface Control {
  name: string;
  architecture: string;
  summary: string;
  /** Lines of at most 79 characters. */
  description: readonly string[];
  relations: readonly string[];
  section: string;
}

export async function agentDeb(build: Build): Promise<string[]> {
  return await programDeb(build, 'agent', {
    control: {
      name: 'platen-agent',
      summary: 'print agent that drives label printers',
      description: [
        'Runs next to the printers: takes jobs from the queue of a Platen service,',
        'renders the labels, and drives the printers until they are really out.',
      ],
      relations: ['Conflicts: platen', 'Replaces: platen'],
    },
    service: { unit: 'platen-agent', config: 'agent.json', needs: 'redisUrl' },
    command: `/usr/bin/platen agent --config ${CONFIGURATION}/agent.json --data ${STATE}`,
    settings: SETTINGS.agent,
  });
}

export async function serviceDeb(build: Build): Promise<string[]> {
  return await programDeb(build, 'platen', {
    control: {
      name: 'platen',
      summary: 'label print service, with the agent that drives the printers',
      description: [
        'Takes print jobs over HTTP, keeps them in a PostgreSQL of its own or in yours,',
        'renders the labels, and drives the printers until they are really out.',
      ],
      relations: ['Conflicts: platen-agent', 'Replaces: platen-agent', 'Provides: platen-agent'],
    },
    service: { unit: 'platen', config: 'platen.json' },
    command: `/usr/bin/platen up --config ${CONFIGURATION}/platen.json --data ${STATE}`,
    settings: SETTINGS.up,
  });
}

export async function cjkFontsDeb(build: Build): Promise<string[]> {
  const { root } = build;
  return await inStage(async (stage) => {
    const name = 'platen-fonts-cjk';
    const packages = await layOutCjkFonts(root, join(stage, HOME));
    writeAll(stage, {
      ...documents(name, build, packages),
      ...overrides(name, [RESTARTED]),
      'DEBIAN/postinst': FONTS_POSTINST,
    });
    const control = {
      name,
      architecture: 'all',
      section: 'fonts',
      summary: 'Chinese, Japanese and Korean fonts for labels',
      description: ['Labels of Platen with characters of these scripts need them; other labels', 'do not.'],
      relations: ['Enhances: platen, platen-agent'],
    };
    return [pack(stage, build, control), bill(build, name, packages)];
  });
}

interface Program {
  control: Omit<Control, 'architecture' | 'section'>;
  service: ServicePackage;
  command: string;
  /** The configuration that a new installation begins with. */
  settings: object;
}

async function programDeb(build: Build, edition: Edition, program: Program): Promise<string[]> {
  const { root, version } = build;
  const { name, relations } = program.control;
  const { unit, config } = program.service;
  return await inStage(async (stage) => {
    const packages = await layOut({ root, edition, version, into: join(stage, HOME, version) });
    symlinkSync(version, join(stage, HOME, 'current'));
    mkdirSync(join(stage, 'usr/bin'), { recursive: true });
    symlinkSync('../lib/platen/current/bin/platen', join(stage, 'usr/bin/platen'));
    const complete = (shell: string) =>
      execFileSync(join(stage, HOME, version, 'bin/node'), [
        join(stage, HOME, version, 'app/platen.js'),
        'completion',
        shell,
      ]);
    writeAll(stage, {
      ...documents(name, build, packages),
      [`lib/systemd/system/${unit}.service`]: unitText({
        description: program.control.summary.replace(/^./, (letter) => letter.toUpperCase()),
        command: program.command,
      }),
      [`etc/platen/${config}`]: `${JSON.stringify(program.settings, null, 2)}\n`,
      'usr/share/bash-completion/completions/platen': complete('bash'),
      'usr/share/zsh/vendor-completions/_platen': complete('zsh'),
      'usr/share/fish/vendor_completions.d/platen.fish': complete('fish'),
      'usr/share/man/man1/platen.1.gz': gzipSync(manual(version, build.time), { level: 9 }),
      ...overrides(name, edition === 'platen' ? [LINKED, FONTS, DATABASE] : [LINKED, FONTS]),
      'DEBIAN/conffiles': `/etc/platen/${config}\n`,
      ...Object.fromEntries(
        Object.entries(maintainerScripts(program.service)).map(([script, text]) => [
          `DEBIAN/${script}`,
          text,
        ]),
      ),
    });
    const control = {
      ...program.control,
      architecture: architectureOf(process.arch),
      section: 'net',
      relations: [
        'Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1, passwd, init-system-helpers (>= 1.54)',
        'Suggests: platen-fonts-cjk',
        ...relations,
      ],
    };
    return [pack(stage, build, control), bill(build, name, packages)];
  });
}

/** What lintian says of a package that is as it is meant to be. */
interface Override {
  reason: string;
  tags: readonly string[];
}

const LINKED: Override = {
  reason: 'Node and the native parts are those that their makers built, linked with their libraries.',
  tags: ['embedded-library', 'unstripped-binary-or-object', 'hardening-no-pie'],
};
const FONTS: Override = {
  reason: 'PDF pages are drawn with the fonts that pdf.js was tried with, on every machine alike.',
  tags: ['duplicate-font-file'],
};
const DATABASE: Override = {
  reason: 'PostgreSQL is as its makers built it, too.',
  tags: ['library-not-linked-against-libc', 'shared-library-lacks-prerequisites'],
};
const RESTARTED: Override = {
  reason: 'deb-systemd-invoke has no try-restart: a service that a person has stopped stays stopped.',
  tags: ['maintainer-script-calls-systemctl'],
};

function overrides(name: string, all: readonly Override[]): Record<string, string> {
  const lines = all.flatMap(({ reason, tags }) => [`# ${reason}`, ...tags.map((tag) => `${name}: ${tag}`)]);
  return { [`usr/share/lintian/overrides/${name}`]: `${lines.join('\n')}\n` };
}

function documents(name: string, { version, time }: Build, packages: readonly NpmPackage[]) {
  const changes = `platen (${version}) stable; urgency=medium\n\n  * See the history of the sources.\n\n -- ${MAINTAINER}  ${mailDate(time)}\n`;
  return {
    [`usr/share/doc/${name}/copyright`]:
      `Platen\nCopyright (c) ${time.getUTCFullYear()} its authors. All rights reserved.\n\n` +
      'The packages that it is made of have their own licences: see third-party.txt.gz.\n',
    [`usr/share/doc/${name}/third-party.txt.gz`]: gzipSync(licences(packages), { level: 9 }),
    [`usr/share/doc/${name}/changelog.gz`]: gzipSync(changes, { level: 9 }),
  };
}

/** RFC 5322, as changelogs have it. */
function mailDate(time: Date): string {
  return time.toUTCString().replace('GMT', '+0000');
}

function bill({ out, version, time }: Build, name: string, packages: readonly NpmPackage[]): string {
  const file = `${name}_${version}.cdx.json`;
  writeFileSync(join(out, file), softwareBill({ name, version, time, packages }));
  return file;
}

/** @returns the package's file name */
export function pack(
  stage: string,
  { out, version, time, level = 6 }: Omit<Build, 'root'>,
  control: Control,
): string {
  const files = treeOf(stage).filter((path) => !path.startsWith('DEBIAN/') && path !== 'DEBIAN');
  const plain = files.filter((path) => lstatSync(join(stage, path)).isFile());
  const size = plain.reduce((sum, path) => sum + Math.ceil(statSync(join(stage, path)).size / 1024), 0);
  const sums = plain.map(
    (path) =>
      `${createHash('md5')
        .update(readFileSync(join(stage, path)))
        .digest('hex')}  ${path}\n`,
  );
  const lines = [
    `Package: ${control.name}`,
    `Version: ${version}`,
    `Architecture: ${control.architecture}`,
    `Maintainer: ${MAINTAINER}`,
    `Installed-Size: ${size}`,
    ...control.relations,
    `Section: ${control.section}`,
    'Priority: optional',
    `Description: ${control.summary}`,
    ...control.description.map((line) => ` ${line}`),
  ];
  writeAll(stage, { 'DEBIAN/control': `${lines.join('\n')}\n`, 'DEBIAN/md5sums': sums.join('') });
  settle(stage, time);
  const file = `${control.name}_${version}_${control.architecture}.deb`;
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(time.getTime() / 1000) };
  const args = ['--root-owner-group', '-Zgzip', `-z${level}`, '--build', stage, join(out, file)];
  execFileSync('dpkg-deb', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return basename(file);
}
