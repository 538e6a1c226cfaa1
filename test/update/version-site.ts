/** Versions side by side, as a machine has them, with an agent that `launch` runs; and archives of others. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packArchive } from '../../service/package/archive.ts';
import { layOut, settle } from '../../service/package/layout.ts';
import { readStatus } from '../../src/agent/status-file.ts';
import { Home } from '../../src/cli/update/home.ts';
import type { Step } from '../../src/cli/update/steps.ts';
import { DockPrinter } from '../kit/printers/dock-printer.ts';
import { processFile } from '../kit/programs/built.ts';
import { type Program, Programs } from '../kit/programs/programs.ts';
import { type OpenBackend, onRedis } from '../kit/servers/backends.ts';
import { PlatenUp } from '../kit/service/platen.ts';
import type { UpdateProcessOptions } from './update-process.ts';

const ROOT = join(import.meta.dirname, '../..');
const TIME = new Date('2026-11-01T12:00:00Z');
const UPDATE = processFile('test/update/update-process.ts');
/** What its agents find out of order in `agent`: a version like the others, until it is to run. */
export type Fault = 'ends at once' | 'does nothing';

export const FIRST = '1.0.0';

export class VersionSite {
  readonly directory = mkdtempSync(join(tmpdir(), 'platen-versions-'));
  readonly dataDir = join(this.directory, 'state');
  readonly config = join(this.directory, 'agent.json');
  readonly #keys = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  readonly #programs = new Programs();
  readonly #printer = new DockPrinter(this.directory, 4);
  #backend: OpenBackend | undefined;
  #service: PlatenUp | undefined;
  #launcher: Program | undefined;
  #template = '';

  get home(): Home {
    return new Home(join(this.directory, 'home'));
  }

  get service(): PlatenUp {
    if (this.#service === undefined) throw new Error('not started');
    return this.#service;
  }

  get publicKey(): string {
    return this.#keys.publicKey;
  }

  async start(): Promise<void> {
    const home = join(this.directory, 'home');
    mkdirSync(home);
    await layOut({ root: ROOT, edition: 'agent', version: FIRST, into: join(home, FIRST) });
    cpSync(join(ROOT, 'service/package/launch'), join(home, FIRST, 'bin/launch'));
    writeFileSync(join(home, FIRST, 'update-key.pem'), this.publicKey);
    // Node alone is two thirds of a version, and is packed, hashed and unpacked here for each of many updates.
    const node = join(home, FIRST, 'bin/node');
    rmSync(node);
    writeFileSync(node, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`);
    settle(join(home, FIRST), TIME);
    cpSync(join(home, FIRST, 'bin/launch'), join(home, 'launch'));
    symlinkSync(FIRST, join(home, 'current'));
    this.#backend = await onRedis().open({ migrated: true });
    await this.#printer.start();
    const { databaseUrl = '', redisUrl = '', prefix } = this.#backend;
    this.#service = await PlatenUp.start({
      dataDir: join(this.directory, 'service'),
      args: ['--virtual', '0'],
      env: { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, PLATEN_QUEUE_PREFIX: prefix },
    });
    const agent = {
      redisUrl,
      queuePrefix: prefix,
      printers: [{ uri: `socket://127.0.0.1:${this.#printer.port}`, name: 'dock' }],
    };
    writeFileSync(this.config, JSON.stringify(agent), { mode: 0o600 });
    const element = { type: 'text', x: 2, y: 2, width: 40, height: 8, size: 5, text: 'still here' };
    const template = { name: 'x', width: 50, height: 25, elements: [element] };
    this.#template = (await this.service.admin.importTemplate('default', template)).id;
    await this.launch();
  }

  async stop(): Promise<void> {
    await this.#programs.end();
    await this.#service?.stop();
    await this.#printer.stop();
    await this.#backend?.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Runs the current version, and whichever is current when that has ended, instead of what ran before. */
  async launch(more: NodeJS.ProcessEnv = {}): Promise<void> {
    await this.#launcher?.end();
    const args = ['run', 'agent', '--config', this.config, '--data', this.dataDir];
    const { REDIS_URL: _redis, DATABASE_URL: _database, ...env } = process.env;
    const variables = { ...env, ...more, PLATEN_DATA: this.dataDir };
    this.#launcher = this.#programs.start(join(this.home.directory, 'launch'), args, { env: variables });
    await this.works(this.home.current);
  }

  /** An archive and its manifest of a version like the first. @returns the manifest's file */
  make(version: string, fault?: Fault): string {
    const stage = mkdtempSync(join(this.directory, 'stage-'));
    // Nothing of it is written to, so that its files may be the same.
    execFileSync('cp', ['-al', this.home.path(FIRST), join(stage, version)]);
    const metadata = join(stage, version, 'package.json');
    rmSync(metadata);
    writeFileSync(metadata, JSON.stringify({ name: 'platen-agent', version, type: 'module' }));
    if (fault !== undefined) {
      const program = join(stage, version, 'bin/platen');
      const does = fault === 'ends at once' ? 'exit 1' : 'exec sleep 600';
      const real = join(stage, version, 'bin/real');
      cpSync(program, real);
      rmSync(program);
      writeFileSync(
        program,
        `#!/bin/sh\n[ "$1" = agent ] && ${does}\nexec "$(dirname "$(readlink -f "$0")")/real" "$@"\n`,
      );
      for (const file of [program, real]) chmodSync(file, 0o755);
    }
    return this.#pack(stage, version);
  }

  /** An archive that nobody gets to unpack. */
  makeEmpty(version: string, signingKey?: string, name?: string): string {
    const stage = mkdtempSync(join(this.directory, 'stage-'));
    mkdirSync(join(stage, version));
    writeFileSync(join(stage, version, 'package.json'), randomBytes(10_000));
    return this.#pack(stage, version, signingKey, name);
  }

  #pack(stage: string, version: string, signingKey = this.#keys.privateKey, name = 'platen-agent'): string {
    const out = join(this.directory, 'archives');
    mkdirSync(out, { recursive: true });
    const build = { out, version, time: TIME, signingKey, level: 1 };
    const [, manifest = ''] = packArchive(stage, name, build);
    rmSync(stage, { recursive: true });
    return join(out, manifest);
  }

  /** @param within what is put before the program: see `Programs` */
  update(
    source: string,
    killAt: Step | null,
    { patienceMs = 60_000, again = false, within = [] as readonly string[] } = {},
  ): Program {
    const options: UpdateProcessOptions = {
      home: this.home.directory,
      source,
      publicKey: this.publicKey,
      dataDir: this.dataDir,
      config: this.config,
      patienceMs,
      killAt,
      again,
    };
    return this.#programs.start(process.execPath, [UPDATE, JSON.stringify(options)], { within });
  }

  /** The version that runs now, as it says itself; null: none does, or it has not reported yet. */
  get running(): string | null {
    const status = readStatus(this.dataDir);
    return status === null || status.told.at === null ? null : status.report.version;
  }

  /** Waits until one of these runs. @returns which */
  async works(...versions: string[]): Promise<string> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const { running } = this;
      if (running !== null && versions.includes(running)) return running;
      if (Date.now() > deadline) throw new Error(`none of ${versions.join(', ')} runs, but ${running}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async post(copies: number): Promise<string> {
    await this.service.printerOnline('dock');
    return await this.service.admin.print('default', {
      idT: this.#template,
      printer: 'dock',
      numberCopies: copies,
    });
  }

  get printed(): number {
    return this.#printer.printed;
  }
}
