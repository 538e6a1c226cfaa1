/**
 * The steps of an update. Until `link` nothing that runs is touched. From then on the trial is noted in
 * `pending`, so that whatever runs next (`launch` before a start, or another update) ends it: wherever the
 * update is killed, the machine works with one version or the other.
 */
import { execFile } from 'node:child_process';
import type { KeyObject } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type AgentStatus, readStatus } from '../../agent/status-file.ts';
import { explain } from '../explain.ts';
import { beside, bringArchive, bringManifest } from './bring.ts';
import type { Home, Trial } from './home.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { type Supervisor, supervisorOf } from './supervisor.ts';
import { unpack } from './unpack.ts';
import { UpdateError } from './update-error.ts';
import { isOlder } from './version-order.ts';

const run = promisify(execFile);

export const STEPS = [
  'unfinished',
  'manifest',
  'archive',
  'unpack',
  'check',
  'place',
  'trial',
  'link',
  'restart',
  'watch',
  'keep',
  'back-link',
  'back-restart',
] as const;
export type Step = (typeof STEPS)[number];

interface UpdateOptions {
  home: Home;
  /** File or address of the signed manifest. */
  source: string;
  key: KeyObject;
  /** The data directory of the agent, with its journal and its status. */
  dataDir: string;
  /** `agent.json` or `platen.json`, which the new version has to understand; null: there is none. */
  config: string | null;
  allowOlder: boolean;
  /** Also take a version that did not come up before. */
  again: boolean;
  /** How long the new version has to come up, ms. */
  patienceMs: number;
  /**
   * Whether lanes and database can be reached from here; if not, the new version cannot prove itself.
   * @param env the environment that the program runs in
   */
  networkIsThere: (env: NodeJS.ProcessEnv) => Promise<boolean>;
  /** Called before each step. */
  onStep: (step: Step, says: string) => void;
}

interface Updated {
  from: string;
  to: string;
  /** `unchanged`: it was the current one. `kept-unproven`: nothing ran, or only the network was missing. */
  result: 'updated' | 'unchanged' | 'kept-unproven';
}

/** @throws UpdateError; after `did-not-come-up` the previous version runs again */
export async function update(options: UpdateOptions): Promise<Updated> {
  const { home, onStep } = options;
  using _lock = home.lock();
  home.tidy();
  await finish(options);
  onStep('manifest', `looks at ${options.source}`);
  const manifest = readManifest(await bringManifest(options.source), options.key);
  const { version } = manifest;
  const from = home.current;
  if (version === from) return { from, to: version, result: 'unchanged' };
  fits(manifest, options);
  await install(manifest, options);
  onStep('trial', `${version} is on trial`);
  home.begin({ from, to: version });
  return await tryOut(from, version, options);
}

/** @throws UpdateError */
function fits({ name, platform, version }: Manifest, { home, allowOlder, again }: UpdateOptions): void {
  const [ours, here] = [home.packageName(), `${process.platform}-${process.arch}`];
  if (name !== ours || platform !== here) {
    throw new UpdateError('not-for-us', `it is ${name} for ${platform}, and this is ${ours} on ${here}`);
  }
  if (isOlder(version, home.current) && !allowOlder) {
    throw new UpdateError(
      'older-version',
      `${version} is older than ${home.current}: --allow-older goes back to it`,
    );
  }
  if (home.bad.includes(version) && !again) {
    throw new UpdateError(
      'tried-before',
      `${version} was tried here and did not come up: --again tries it once more`,
    );
  }
}

/** Bytes that an update leaves free: journal and notes go on being written. */
const SPARE = 32 * 1024 ** 2;

/** Puts the version beside the others; it is not current yet. @throws UpdateError */
async function install(manifest: Manifest, { home, source, config, onStep }: UpdateOptions): Promise<void> {
  const { version, archive } = manifest;
  const [brought, fresh] = [join(home.notes, `${archive}.part`), join(home.notes, 'unpacked.new')];
  home.needs(manifest.size + manifest.unpacked + SPARE);
  try {
    onStep('archive', `brings ${archive}, ${Math.ceil(manifest.size / 1024 ** 2)} MB`);
    await bringArchive(beside(source, archive), manifest, brought);
    onStep('unpack', 'unpacks it');
    const unpacked = await unpack(brought, manifest, fresh);
    onStep('check', 'asks it whether it works here');
    await check(unpacked, version, config);
    onStep('place', `puts it beside ${home.current}`);
    // A leftover of an update that was killed or failed; the running version never lies here.
    rmSync(home.path(version), { recursive: true, force: true });
    renameSync(unpacked, home.path(version));
    await run('sync', ['-f', home.directory]).catch(() => undefined);
  } finally {
    rmSync(brought, { force: true });
    rmSync(fresh, { recursive: true, force: true });
  }
}

const CHECK_MS = 60_000;

/** @throws UpdateError `check-failed`: it does not start, load its native parts, or take the configuration */
async function check(directory: string, version: string, config: string | null): Promise<void> {
  const limits = { timeout: CHECK_MS, cwd: join(directory, 'app') };
  const program = join(directory, 'bin/platen');
  try {
    const { stdout } = await run(program, ['--version'], limits);
    if (stdout.trim() !== version) throw new Error(`it says that it is ${stdout.trim().slice(0, 50)}`);
    const load = "await import('@napi-rs/canvas'); await import('koffi')";
    await run(join(directory, 'bin/node'), ['--input-type=module', '-e', load], limits);
    if (config !== null && existsSync(config)) await run(program, ['config', 'check', config], limits);
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new UpdateError('check-failed', `${version} cannot work here: ${said || explain(error)}`, {
      cause: error,
    });
  }
}

async function tryOut(from: string, to: string, options: UpdateOptions): Promise<Updated> {
  const { home, onStep } = options;
  const supervisor = await supervisorOf(home);
  onStep('link', `current is ${to}`);
  const before = readStatus(options.dataDir);
  home.pointTo(to);
  onStep(
    'restart',
    supervisor === null ? 'nothing runs it: it starts with the next start' : `tells ${supervisor.name}`,
  );
  await supervisor?.restart();
  onStep('watch', 'waits until it works');
  const verdict = supervisor === null ? 'not-running' : await cameUp(supervisor, to, before, options);
  if (verdict === 'no') return await goBack({ from, to }, supervisor, options);
  return keep(from, to, verdict === 'yes', options);
}

function keep(from: string, to: string, isProven: boolean, { home, onStep }: UpdateOptions): Updated {
  onStep('keep', isProven ? `${to} works` : `${to} is current, and has not shown yet that it works`);
  home.markGood(to);
  if (isProven) home.end();
  home.keepOnly([from, to]);
  placeLauncher(home, to);
  return { from, to, result: isProven ? 'updated' : 'kept-unproven' };
}

/** @throws UpdateError `did-not-come-up`, always */
async function goBack(
  { from, to }: Trial,
  supervisor: Supervisor | null,
  { home, onStep }: UpdateOptions,
): Promise<never> {
  onStep('back-link', `${to} does not come up: ${from} is current again`);
  home.markBad(to);
  home.pointTo(from);
  onStep('back-restart', `starts ${from}`);
  await supervisor?.restart();
  home.end();
  throw new UpdateError(
    'did-not-come-up',
    `${to} did not come up; ${from} runs again, and ${to} is not tried any more`,
  );
}

type Verdict = 'yes' | 'no' | 'not-running';

/**
 * The new agent itself must say that its journal is open and that the queue has taken its report.
 * @param before what an agent said before the restart: this machine's clock may be set meanwhile
 */
async function cameUp(
  supervisor: Supervisor,
  version: string,
  before: AgentStatus | null,
  options: UpdateOptions,
): Promise<Verdict> {
  const { home, dataDir, patienceMs, networkIsThere } = options;
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    const status = readStatus(dataDir);
    const isNew = status?.report.version === version && status.startedAt !== before?.startedAt;
    if (isNew && status.told.at !== null) return 'yes';
    const state = await supervisor.state();
    if (home.current !== version || state === 'given-up') return 'no';
    if (state === 'stopped') return 'not-running';
    await pause(200);
  }
  // Without the network no version can prove itself, so this one stays, still on trial.
  return (await networkIsThere(await supervisor.environment())) ? 'no' : 'not-running';
}

/** Ends the trial that a killed update has left. */
async function finish(options: UpdateOptions): Promise<void> {
  const { home, onStep } = options;
  const { trial } = home;
  if (trial === null) return;
  onStep('unfinished', `an update from ${trial.from} to ${trial.to} was not ended`);
  if (home.current !== trial.to) return home.end();
  const supervisor = await supervisorOf(home);
  if (supervisor === null) return home.end();
  // The previous version may still be running.
  if (readStatus(options.dataDir)?.report.version !== trial.to) await supervisor.restart();
  const verdict = await cameUp(supervisor, trial.to, null, options);
  if (verdict === 'no') await goBack(trial, supervisor, options).catch(() => undefined);
  else if (verdict === 'yes') home.end();
}

/** Replaces the script beside the versions by that of the version that was kept. */
function placeLauncher(home: Home, version: string): void {
  const source = join(home.path(version), 'bin/launch');
  if (!existsSync(source)) return;
  const next = join(home.notes, 'launch.new');
  // Power that fails between the two must not leave an empty file: nothing would start any more.
  writeFileSync(next, readFileSync(source), { flush: true });
  chmodSync(next, 0o755);
  renameSync(next, join(home.directory, 'launch'));
}
