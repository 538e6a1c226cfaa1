/**
 * Programs from the distribution that the tests and the benchmark drive: the one list of them, and the one place that
 * installs them. It does so before there are workers, since only one process at a time can have dpkg's lock.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';

/** Debian package → what it brings that we use: programs on the path, and files (patterns). It is there when all are. */
export type Packages = Readonly<Record<string, readonly string[]>>;

export const SERVERS: Packages = {
  'redis-server': ['redis-server'],
  // Without it PostgreSQL comes from npm, as for Platen itself.
  postgresql: ['/usr/lib/postgresql/*/bin/initdb'],
};

/** Print systems of others, and what they need. */
export const PEERS: Packages = {
  cups: ['cupsd', 'ppdc', '/usr/sbin/cupsfilter', '/usr/lib/cups/filter/rastertolabel'],
  'cups-client': ['lpadmin', 'lp', 'lpoptions', 'lpstat', 'cancel'],
  'cups-ipp-utils': ['ippeveprinter', 'ippeveps', 'ipptool'],
  ghostscript: ['gs'],
  // ippeveprinter wants a bus to announce itself on, though it need not.
  dbus: ['dbus-daemon'],
  // Peers that discovery is tested against.
  'cups-filters': ['/usr/share/ppd/cupsfilters', '/usr/lib/cups/filter/gstoraster'],
  'avahi-daemon': ['avahi-daemon'],
  'avahi-utils': ['avahi-publish', 'avahi-browse'],
  lprint: ['lprint'],
  iproute2: ['ip'],
  snmpd: ['snmpd'],
  socat: ['socat'],
};

/** The Windows spooler, and what makes and opens packages for Windows. */
const WINDOWS: Packages = {
  wine64: ['/usr/lib/wine/wine64'],
  wixl: ['wixl'],
  msitools: ['msibuild', 'msiinfo'],
  unzip: ['unzip'],
};

/** Debian machines of their own, and what judges packages for them. */
const MACHINES: Packages = { mmdebstrap: ['mmdebstrap'], lintian: ['lintian'], skopeo: ['skopeo'] };

/** Redis, a browser and small tools. */
const SMALL: Packages = {
  'redis-server': ['redis-server'],
  // The README's requests are made with it.
  curl: ['curl'],
  // Certificates.
  openssl: ['openssl'],
  // Records system calls, and makes a disk fail.
  strace: ['strace'],
  // A pseudo-terminal, which stands for a USB printer.
  socat: ['socat'],
  // They judge what we print.
  'poppler-utils': ['pdftoppm', 'pdfinfo', 'pdftotext', 'pdffonts', 'pdfimages', 'pdftocairo'],
  zint: ['zint'],
  'tesseract-ocr': ['tesseract'],
  'tesseract-ocr-eng': [languageFile('eng')],
  // Tests look at the console in a real browser.
  chromium: ['chromium'],
};

/** Labels in these scripts are read by tesseract; `hb-view` is another eye on what fonts make of a text. */
const SCRIPTS: Packages = {
  'tesseract-ocr-ell': [languageFile('ell')],
  'tesseract-ocr-rus': [languageFile('rus')],
  'tesseract-ocr-jpn': [languageFile('jpn')],
  'tesseract-ocr-heb': [languageFile('heb')],
  'tesseract-ocr-ara': [languageFile('ara')],
  'tesseract-ocr-hin': [languageFile('hin')],
  'tesseract-ocr-tha': [languageFile('tha')],
  'tesseract-ocr-kor': [languageFile('kor')],
  'tesseract-ocr-chi-sim': [languageFile('chi_sim')],
  'libharfbuzz-bin': ['hb-view'],
};

/** What watches services, and other languages' compilers: their users are ours. */
const INTEGRATORS: Packages = {
  prometheus: ['prometheus', 'promtool'],
  python3: ['python3'],
  'default-jdk-headless': ['javac', 'java'],
  'mono-mcs': ['mcs', 'mono'],
  'libmono-system-net-http4.0-cil': ['/usr/lib/mono/4.5/System.Net.Http.dll'],
  'python3-aiosmtpd': ['aiosmtpd'],
  // Shared folders.
  samba: ['smbd'],
  smbclient: ['smbclient'],
};

/** Proxies between an agent at another site and its service, and another language's client of that protocol. */
const SITES: Packages = {
  'nginx-light': ['/usr/sbin/nginx'],
  haproxy: ['haproxy'],
  // The one that can read TLS, too.
  'squid-openssl': ['squid', '/usr/lib/squid/basic_ncsa_auth', '/usr/lib/squid/security_file_certgen'],
  'python3-websockets': ['/usr/lib/python3/dist-packages/websockets'],
  'python3-cryptography': ['/usr/lib/python3/dist-packages/cryptography'],
};

/** Clocks of processes that are wrong, and jump. */
export const CLOCKS: Packages = { libfaketime: ['/usr/lib/*/faketime/libfaketime.so.1'] };

/** By the projects of `vitest.config.ts`: a run installs what the projects need that it was told to run. */
export const NEEDED_BY: Readonly<Record<string, Packages>> = {
  servers: SMALL,
  long: {
    ...SMALL,
    ...SERVERS,
    pgbouncer: ['pgbouncer'],
    ...PEERS,
    ...SCRIPTS,
    ...WINDOWS,
    ...MACHINES,
    ...INTEGRATORS,
    ...SITES,
    ...CLOCKS,
  },
};

function languageFile(language: string): string {
  return `/usr/share/tesseract-ocr/*/tessdata/${language}.traineddata`;
}

/** How long another process may hold a lock, s: a fresh machine installs its updates by itself. */
const LOCKED_S = 300;
const LIMIT_MS = 1_200_000;

/** Of these packages those that are not there. */
export function missingOf(packages: Packages): Packages {
  return Object.fromEntries(Object.entries(packages).filter(([, parts]) => !isThere(parts)));
}

/** What these packages bring: names of programs and files, without their directories. */
export function programsIn(packages: Packages): string[] {
  return Object.values(packages).flatMap((parts) => parts.map((part) => basename(part)));
}

/** Whether this user may install packages on this machine. */
export function mayInstall(): boolean {
  return process.getuid?.() === 0 && onPath('apt-get') !== undefined;
}

/** The command that brings packages, for a person. */
export function commandFor(packages: Packages): string {
  return `sudo apt-get ${installWords(packages).join(' ')}`;
}

function installWords(packages: Packages): string[] {
  return ['install', '-y', '--no-install-recommends', ...Object.keys(packages)];
}

/** Installs what is missing when it may (root, apt). @throws Error saying what to install, when it may not */
export function installMissing(packages: Packages): void {
  const missing = missingOf(packages);
  const names = Object.keys(missing).join(', ');
  if (names === '') return;
  if (!mayInstall())
    throw new Error(`This needs ${names} (Debian's names). Install them: ${commandFor(missing)}`);
  const install = installWords(missing);
  process.stderr.write(`Installing ${names} …\n`);
  // Debian's packages start servers and make clusters of their own; these two files keep them from it.
  const policy = '/usr/sbin/policy-rc.d';
  const cluster = '/etc/postgresql-common/createcluster.d/platen-tests.conf';
  const ours = [policy, cluster].filter((file) => !existsSync(file));
  try {
    for (const file of ours) {
      mkdirSync(dirname(file), { recursive: true });
      const says = file === policy ? '#!/bin/sh\nexit 101\n' : 'create_main_cluster = false\n';
      writeFileSync(file, says, { mode: 0o755 });
    }
    try {
      apt(install);
    } catch {
      // No package lists yet, or old ones.
      apt(['update']);
      apt(install);
    }
  } finally {
    for (const file of ours) rmSync(file, { force: true });
  }
}

function apt(words: readonly string[]): void {
  const options = ['-o', `DPkg::Lock::Timeout=${LOCKED_S}`, ...words];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  for (const deadline = performance.now() + LOCKED_S * 1_000; ; ) {
    const { status, stderr } = spawnSync('apt-get', options, {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      timeout: LIMIT_MS,
    });
    if (status === 0) return;
    // The option is about dpkg's lock alone: for those of the lists and of the archives apt does not wait.
    if (!/lists\/lock|archives\/lock/.test(stderr) || performance.now() > deadline) {
      throw new Error(`apt-get ${words.join(' ')} failed:\n${stderr}`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  }
}

function isThere(parts: readonly string[]): boolean {
  return parts.every((part) =>
    part.startsWith('/') ? globSync(part).length > 0 : onPath(part) !== undefined,
  );
}

export function onPath(command: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .concat('/usr/bin', '/usr/sbin')
    .map((directory) => join(directory, command))
    .find((file) => existsSync(file));
}
