/**
 * The agent for Windows as it is used, in Wine: installed by the archive and by the installer, printing through the
 * spooler, stopped in the middle of a job, updated, removed. What Wine cannot show is in docs/install-windows.md.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openEncoder } from '../../drivers/languages/index.ts';
import { archive, layOutWindows } from '../../service/package/windows.ts';
import { makeInstaller } from '../../service/windows/installer.ts';
import { agentView, invitationMade } from '../../src/contract/agent-view.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import type { Bitmap } from '../../src/render/image/bitmap.ts';
import { planDocuments } from '../../src/rendering/chunk-plan.ts';
import { encodeDocument } from '../../src/rendering/encode-plan.ts';
import { Directories, expected, jobFor, openSite, QUICK, type Site, TestPrinter } from '../kit/agent/site.ts';
import { differingDots, dotsOf, drawZpl } from '../kit/judges/judges.ts';
import { type Cupsd, startCupsd } from '../kit/programs/cupsd.ts';
import { WinePrefix } from '../kit/programs/wine-prefix.ts';
import { onRedis } from '../kit/servers/backends.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { smallLabel } from '../kit/service/small-label.ts';
import { type DocumentSink, startDocumentSink } from '../kit/wire/document-sink.ts';

// Each command starts Node in Wine, which takes ten seconds and more beside other work.
vi.setConfig({ testTimeout: 600_000 });

const root = join(import.meta.dirname, '../..');
const time = new Date('2026-11-01T12:00:00Z');
const out = mkdtempSync(join(tmpdir(), 'platen-windows-'));
const directories = new Directories();
/** Labels a second. */
const SPEED = 4;
const printer = new TestPrinter(directories, { speed: SPEED });
/** A job that is not over in the 10 s that an agent goes on with it when it is told to stop. */
const LONG = 25 * SPEED;

const SERVICE = 'platen-agent';
const INSTALLED = 'C:\\Program Files\\Platen';
const HOME = 'C:\\ProgramData\\Platen';
const SERVICES = 'HKLM\\System\\CurrentControlSet\\Services';
const ENVIRONMENT = 'HKLM\\System\\CurrentControlSet\\Control\\Session Manager\\Environment';

/** Drawn, and not left to the printer's own fonts: what the native parts make on Windows is the same. */
const DRAWN = template.parse(
  smallLabel(
    'Drawn',
    ['n'],
    [
      { type: 'text', x: 2, y: 2, width: 40, height: 8, text: 'Sample {{n}}', size: 5 },
      { type: 'barcode', symbology: 'code128', value: 'S-0042', x: 4, y: 12, height: 10, module: 0.25 },
    ],
  ),
);

let wine: WinePrefix;
let cups: Cupsd;
let device: DocumentSink;
let site: Site;

const serviceStatus = z.object({ installed: z.boolean(), state: z.string(), exitCode: z.int() });

beforeAll(async () => {
  const stage = join(out, 'stage');
  [cups, device, site] = await Promise.all([startCupsd(), startDocumentSink(), openSite(onRedis())]);
  [wine] = await Promise.all([
    WinePrefix.start({ CUPS_SERVER: `127.0.0.1:${cups.port}` }),
    layOutWindows({ root, version: '0.9.0', time }, stage),
    printer.start(),
    cups.addQueue('labels', device.uri),
  ]);
  await archive(stage, join(out, 'agent.zip'), 'platen-agent-0.9.0', time);
  makeInstaller({ stage, file: join(wine.drive, 'agent-0.9.0.msi'), version: '0.9.0', time });
  const metadata = join(stage, 'package.json');
  writeFileSync(metadata, readFileSync(metadata, 'utf8').replace('0.9.0', '0.9.1'));
  makeInstaller({ stage, file: join(wine.drive, 'agent-0.9.1.msi'), version: '0.9.1', time });
}, 600_000);

afterAll(async () => {
  await wine?.stop();
  await site?.close();
  await printer.stop();
  await device?.stop();
  await cups?.stop();
  directories.remove();
  rmSync(out, { recursive: true, force: true });
}, 60_000);

/** On this machine's side. */
function onDrive(path: string): string {
  return join(wine.drive, path.replace('C:\\', '').replaceAll('\\', '/'));
}

async function platen(directory: string, ...words: string[]): Promise<string> {
  return await wine.run([`${directory}\\bin\\node.exe`, `${directory}\\app\\platen.js`, ...words]);
}

async function status(directory = INSTALLED): Promise<z.infer<typeof serviceStatus>> {
  return serviceStatus.parse(JSON.parse(await platen(directory, 'service', 'status', '--json')));
}

async function installMsi(version: string): Promise<void> {
  await wine.run(['msiexec', '/i', `C:\\agent-${version}.msi`, '/qn']);
}

function configure(): void {
  const { redisUrl, prefix } = site.queueOptions;
  const config = {
    redisUrl,
    queuePrefix: prefix,
    name: 'dock',
    confirmation: 'transport',
    renderThreads: 1,
    timings: { ...QUICK, confirm: 10_000 },
    printers: [{ uri: `socket://127.0.0.1:${printer.port}`, name: 'slow', confirmation: 'device' }],
    discovery: { winspool: true, fingerprints: [{ match: 'labels', languages: ['zpl'] }] },
  };
  mkdirSync(onDrive(HOME), { recursive: true });
  writeFileSync(onDrive(`${HOME}\\agent.json`), JSON.stringify(config));
}

/** The ID of a printer, once the agent says that it is there. @param since ISO: what it said before does not count */
async function printerId(name: string, since = ''): Promise<string> {
  const report = await site.reports.agent(
    ({ printers }) => printers.some((one) => one.name === name && one.state === 'idle'),
    since,
  );
  return report.printers.find((one) => one.name === name)?.id ?? '';
}

/** What the drivers make of it here. */
async function bytesOf(job: QueuedJob): Promise<Buffer> {
  const total = job.records.length * job.copies;
  const labels = { copies: job.copies, from: 0, upTo: total, copiesDiffer: false };
  const encoder = await openEncoder(job);
  const parts = [];
  for (const plan of planDocuments(labels, total, 1)) parts.push(await encodeDocument(encoder, plan));
  return Buffer.concat(parts);
}

/** Its labels as dots of a 203 dpi printer: Node for Windows packs graphics otherwise. */
async function dots(zpl: Buffer): Promise<Bitmap[]> {
  const labels = zpl.toString('latin1').split(/(?<=\^XZ)/);
  return await Promise.all(labels.map(async (label) => await dotsOf(await drawZpl(label, 400, 200))));
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(180_000);
  while (!(await condition())) {
    if (deadline.aborted) throw new Error(`not within three minutes: ${what}`);
    await pause(50);
  }
}

/** Takes longer than a stop waits for it, and has some labels out. */
async function slowJob(): Promise<QueuedJob> {
  printer.labels.length = 0;
  const job = jobFor(await printerId('slow'), LONG);
  await site.queues.enqueue(job);
  await printer.printed(3);
  return job;
}

async function printedOnce(job: QueuedJob): Promise<void> {
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: LONG } });
  expect(printer.labels).toEqual(expected(job));
}

test('unpacked from the archive: installed, started, stopped and removed by its own command', async () => {
  const unpacked = 'C:\\Platen 2\\platen-agent-0.9.0';
  execFileSync('unzip', ['-q', join(out, 'agent.zip'), '-d', onDrive('C:\\Platen 2')]);
  const batch = `${unpacked}\\bin\\platen.cmd`;
  expect(await wine.run(['cmd', '/c', batch, '--version'])).toContain('0.9.0');
  expect(await platen(unpacked, 'service', 'install')).toContain(`set "redisUrl" in ${HOME}\\agent.json`);
  expect(await status(unpacked)).toMatchObject({ state: 'stopped' });
  configure();
  await platen(unpacked, 'service', 'start');
  expect(await status(unpacked)).toMatchObject({ state: 'running' });
  const registered = await wine.run(['reg', 'query', `${SERVICES}\\${SERVICE}`, '/v', 'ImagePath']);
  expect(registered).toContain(
    `"${unpacked}\\bin\\node.exe" "--max-semi-space-size=2" "${unpacked}\\app\\platen.js" service run "${HOME}"`,
  );
  await platen(unpacked, 'service', 'stop');
  expect(await status(unpacked)).toMatchObject({ state: 'stopped', exitCode: 0 });
  expect(await platen(unpacked, 'service', 'uninstall')).toContain(`${HOME} stays`);
  await expect(status(unpacked)).rejects.toThrow(`There is no service ${SERVICE}`);
  expect(existsSync(onDrive(`${HOME}\\data\\agent.db`))).toBe(true);
});

test('a configuration that cannot be used: said in the log, and not started again', async () => {
  const unpacked = 'C:\\Platen 2\\platen-agent-0.9.0';
  configure();
  const file = onDrive(`${HOME}\\agent.json`);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"printers"', '"printer"'));
  try {
    await expect(platen(unpacked, 'service', 'install')).rejects.toThrow(
      `${SERVICE} has ended with 2: "platen config check" says what is wrong`,
    );
    expect(await status(unpacked)).toMatchObject({ state: 'stopped', exitCode: 2 });
    const log = readFileSync(onDrive(`${HOME}\\logs\\agent.log`), 'utf8');
    await expect(platen(unpacked, 'doctor')).rejects.toThrow(
      `→ platen service start; the end of ${HOME}\\logs\\agent.log says why.`,
    );
    expect(log).toContain('unknown key \\"printer\\"; did you mean \\"printers\\"?');
  } finally {
    await platen(unpacked, 'service', 'uninstall');
    configure();
  }
});

test('by the installer: it runs, and prints through the spooler, byte for byte', async () => {
  await installMsi('0.9.0');
  expect(await status()).toMatchObject({ state: 'running' });
  expect(await wine.run(['reg', 'query', ENVIRONMENT, '/v', 'PATH'])).toContain(`${INSTALLED}\\bin`);
  const raw = jobFor(await printerId('labels'), ['1', '2', '3']);
  // Without a word of where things are: it is the installed one that it looks at.
  const examined = (await platen(INSTALLED, 'doctor')).split('\r\n').join('\n');
  expect(examined).toContain(`configuration: ${HOME}\\agent.json is in order`);
  expect(examined).toContain(`ok       ${SERVICE}: runs\n`);
  expect(examined).toMatch(/^ok +agent: dock \(.*, runs and reports$/m);
  await site.queues.enqueue(raw);
  expect(await site.reports.end(raw.jobId)).toMatchObject({ status: 'printed', labels: { printed: 3 } });
  expect(await device.document(0)).toEqual(await bytesOf(raw));
  const drawn = { ...jobFor(raw.printerId, ['é 1', 'Ω 2']), template: DRAWN };
  await site.queues.enqueue(drawn);
  await site.reports.end(drawn.jobId);
  const [wanted, found] = await Promise.all([dots(await bytesOf(drawn)), dots(await device.document(1))]);
  expect(found.map((label, at) => differingDots(label, wanted[at] ?? label))).toEqual([0, 0]);
  expect(wanted.length).toBe(2);
});

test('stopped in the middle of a job by Windows, and started: no label is lost or doubled', async () => {
  const job = await slowJob();
  await wine.run(['sc', 'stop', SERVICE]);
  // It may have stopped before Node has started to ask for it.
  expect((await status()).state).toMatch(/^stopp(ing|ed)$/);
  await until('it has stopped', async () => (await status()).state === 'stopped');
  expect(await status()).toMatchObject({ exitCode: 0 });
  const out = printer.labels.length;
  expect(await site.reports.job(job.jobId, ({ status }) => status === 'queued')).toMatchObject({
    labels: { printed: out },
  });
  expect(out).toBeLessThan(LONG);
  await wine.run(['net', 'start', SERVICE]);
  await printedOnce(job);
});

test('updated in the middle of a job: the next version goes on with it, and is the same agent', async () => {
  const before = await site.reports.agent(({ printers }) => printers.length === 2);
  const job = await slowJob();
  // With labels in it, of which only the next version will see what becomes of them.
  printer.set({ paused: true });
  await installMsi('0.9.1');
  printer.set({ paused: false });
  expect(await platen(INSTALLED, '--version')).toContain('0.9.1');
  expect(await status()).toMatchObject({ state: 'running' });
  await printedOnce(job);
  const after = await site.reports.agent(
    ({ version, printers }) => version === '0.9.1' && printers.length === 2,
  );
  expect(after).toMatchObject({ agentId: before.agentId, name: 'dock' });
  expect(after.printers.map(({ id }) => id).sort()).toEqual(before.printers.map(({ id }) => id).sort());
});

test('removed: the program and the service are gone, what it kept is there', async () => {
  await wine.run(['msiexec', '/x', 'C:\\agent-0.9.1.msi', '/qn']);
  expect(existsSync(onDrive(INSTALLED))).toBe(false);
  expect(await wine.run(['reg', 'query', ENVIRONMENT, '/v', 'PATH'])).not.toContain('Platen\\bin');
  await expect(wine.run(['reg', 'query', `${SERVICES}\\${SERVICE}`])).rejects.toThrow('ended with 1');
  expect(readdirSync(onDrive(HOME)).sort()).toEqual(['agent.json', 'data', 'logs']);
  expect(existsSync(onDrive(`${HOME}\\data\\agent.db`))).toBe(true);
});

test('installed with an invitation: it enrols, and is at its service without a word more', async () => {
  const service = await ServiceHarness.start({ redis: false });
  try {
    await service.tenant('acme');
    const asked = { name: 'Dock Hamburg', tenant: 'acme' };
    const { url } = invitationMade.parse((await service.admin('POST', '/agents/invitations', asked)).body);
    rmSync(onDrive(HOME), { recursive: true });
    await wine.run(['msiexec', '/i', 'C:\\agent-0.9.1.msi', '/qn', `INVITATION=${url}`]);
    expect(await status()).toMatchObject({ state: 'running' });
    await until('it is connected', async () => {
      const agents = z.array(agentView).parse((await service.admin('GET', '/agents')).body);
      return agents.some(
        ({ name, tenant, version, enrolled }) =>
          [name, tenant, version, enrolled?.connectedSince != null].join() === 'Dock Hamburg,acme,0.9.1,true',
      );
    });
    await wine.run(['msiexec', '/x', 'C:\\agent-0.9.1.msi', '/qn']);
  } finally {
    await service.stop();
  }
});
