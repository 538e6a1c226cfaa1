/**
 * `npm run demo`: everything that an integrator does, once: a token over HTTP, a validation, jobs with
 * several records and copies, and labels out of virtual printers. Leaves pictures, and nothing running.
 */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { type IntegrationCreated, validationResult } from '../contract/admin.ts';
import type { JobView } from '../contract/job.ts';
import type { PrintRequestInput } from '../contract/print-request.ts';
import { createLogger } from '../log.ts';
import { consoleLine } from './console.ts';
import { explain } from './explain.ts';
import { CommandFailure } from './failure.ts';
import { Installation, type VirtualPrinterSpec } from './installation.ts';
import { followJob, jobLine } from './job-progress.ts';
import { printLine } from './output.ts';
import { importSamples, type Sample, tokenForm } from './samples.ts';
import { stopped, untilToldToStop } from './stop-signal.ts';

const TENANT = 'demo';
const DEMO_TIMEOUT_MS = 120_000;

/** What the demo prints; its virtual printers are loaded with the labels that these templates are made for. */
const PRINT_RUNS: Record<string, { printer: string; records: number; copies: number }> = {
  'shipping-4x6': { printer: 'shipping', records: 2, copies: 2 },
  'shelf-50x25': { printer: 'shelf', records: 3, copies: 1 },
  'tube-datamatrix': { printer: 'tube', records: 3, copies: 1 },
};

/** `platen demo` */
export function demoCommand(): Command {
  return new Command('demo')
    .description('print sample labels on virtual printers, from token to picture, and stop')
    .option('--out <dir>', 'where the pictures go; the folder is made anew', 'demo-labels')
    .option('--stay', 'go on until it is told to stop, to be looked at in the console')
    .action(async ({ out, stay }: { out: string; stay?: true }) => {
      const logger = createLogger({ level: process.env['LOG_LEVEL'] ?? 'warn' });
      await makeAnew(out);
      const dataDir = await mkdtemp(join(tmpdir(), 'platen-demo-'));
      const installation = new Installation({
        dataDir,
        printedDir: out,
        host: '127.0.0.1',
        port: 0,
        virtualPrinters: Object.entries(PRINT_RUNS).map(([key, run]) => ({
          ...mediaOf(key),
          name: run.printer,
        })),
        agent: {},
        logger,
      });
      const toldToStop = untilToldToStop(logger);
      const signal = AbortSignal.any([toldToStop, AbortSignal.timeout(DEMO_TIMEOUT_MS)]);
      try {
        await demo(installation, out, signal);
        if (stay) {
          printLine(consoleLine(await installation.client.signInLink({ tenant: TENANT })));
          await stopped(toldToStop);
        } else {
          printLine('To look around in the console: npm run demo -- --stay, or for good: npm start');
        }
      } finally {
        await installation.stop();
        await rm(dataDir, { recursive: true, force: true });
      }
    });
}

/** @throws CommandFailure where it cannot be made, as in a checkout that can only be read */
async function makeAnew(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true });
  } catch (error) {
    throw new CommandFailure(
      `The folder for the pictures cannot be made (${explain(error)}): name another one, such as --out /tmp/demo-labels`,
    );
  }
}

/** The media that fits a sample, mm. */
function mediaOf(key: string): Omit<VirtualPrinterSpec, 'name'> {
  const media = { dpi: 203, speed: 6 } as const;
  if (key === 'shelf-50x25') return { ...media, width: 50, height: 25 };
  if (key === 'tube-datamatrix') return { ...media, width: 38, height: 19 };
  return { ...media, width: 101.6, height: 152.4 };
}

async function demo(installation: Installation, out: string, signal: AbortSignal): Promise<void> {
  const { url } = await installation.start(signal);
  printLine(`Service, agent and ${Object.keys(PRINT_RUNS).length} virtual printers run at ${url}.`);

  const { client } = installation;
  await client.createTenant({ id: TENANT, name: 'Demo' });
  const account = await client.createIntegration(TENANT, { name: 'demo' });
  const samples = await importSamples(client, TENANT);
  printLine(`Tenant "${TENANT}" has an integration and ${samples.length} templates.`);

  const caller = await Caller.withToken(account, signal);
  printLine('Got an access token.\n');

  for (const sample of samples) {
    const run = PRINT_RUNS[sample.key];
    if (run === undefined) continue;
    const job = await printSample(installation, caller, sample, run, signal);
    if (job.status !== 'printed') throw new CommandFailure(`The demo's job did not print: ${jobLine(job)}`);
    const pictures = (await readdir(join(out, run.printer))).filter((file) => file.endsWith('.png')).sort();
    for (const picture of pictures)
      printLine(`  ${relative(process.cwd(), join(out, run.printer, picture))}`);
    printLine();
  }
  printLine(`All labels are printed. The pictures are in ${out}/.`);
}

/** Validates, posts and follows one job: requests by the public routes, progress by the internal ones. */
async function printSample(
  installation: Installation,
  caller: Caller,
  sample: Sample,
  run: { printer: string; records: number; copies: number },
  signal: AbortSignal,
): Promise<JobView> {
  const request: PrintRequestInput = {
    idT: sample.id,
    printer: run.printer,
    numberCopies: run.copies,
    data: sample.records.slice(0, run.records),
  };
  const { labels, warnings } = validationResult.parse(await caller.post('/v2/jobs/validate', request));
  printLine(`${sample.name}: ${labels} labels, ${warnings.length} warnings`);
  const [jobId] = z.tuple([z.string()]).parse(await caller.post('/v2/jobs', request, `demo-${sample.key}`));
  return await followJob(installation.client, jobId, (job) => printLine(`  ${jobLine(job)}`), signal);
}

/** An integrator's side of the interface. */
class Caller {
  readonly #account: IntegrationCreated;
  readonly #token: string;
  readonly #signal: AbortSignal;

  private constructor(account: IntegrationCreated, token: string, signal: AbortSignal) {
    this.#account = account;
    this.#token = token;
    this.#signal = signal;
  }

  static async withToken(account: IntegrationCreated, signal: AbortSignal): Promise<Caller> {
    const response = await fetch(account.tokenUrl, { method: 'POST', body: tokenForm(account), signal });
    const { access_token } = z.object({ access_token: z.string() }).parse(await response.json());
    return new Caller(account, access_token, signal);
  }

  async post(path: string, body: unknown, idempotencyKey?: string): Promise<unknown> {
    const response = await fetch(new URL(path, this.#account.printEndpoint), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/json',
        'x-tenant': this.#account.tenant,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(body),
      signal: this.#signal,
    });
    const answer: unknown = await response.json();
    if (!response.ok)
      throw new CommandFailure(`POST ${path}: status ${response.status}, ${JSON.stringify(answer)}`);
    return answer;
  }
}
