/** Prints a test label when a person asks for it: it says where it comes from, and holds nobody's data. */
import { hostname } from 'node:os';
import type { AdminClient } from '../admin-client.ts';
import { explain } from '../explain.ts';
import { followJob, nextStep } from '../job-progress.ts';
import { type Finding, failed, ok } from './finding.ts';
import type { Subject } from './subject.ts';

const WAIT_MS = 60_000;

export async function testLabel({ client }: Subject, printer: string): Promise<Finding> {
  const check = 'test label';
  if (client === null) {
    const advice = 'Run this where the service is, or name it with --url.';
    return failed(check, 'jobs go through the service, and none is known here', advice);
  }
  try {
    return await printed(client, printer);
  } catch (error) {
    return failed(check, explain(error), 'See the printers above; "platen jobs" shows what waits.');
  }
}

async function printed(client: AdminClient, name: string): Promise<Finding> {
  const check = 'test label';
  const found = (await client.printers()).filter((one) => one.name === name || one.id === name);
  const [printer, ...others] = found;
  if (printer === undefined) return failed(check, `no printer is called "${name}"`, 'See "platen printers".');
  if (others.length > 0) {
    const ids = found.map(({ id }) => id).join(', ');
    return failed(check, `several printers are called "${name}"`, `Give an ID, one of ${ids}`);
  }
  const [size] = printer.formats;
  const { width, height } = size ?? { width: 40, height: 20 };
  const tenant = printer.tenant ?? 'default';
  const line = (text: string, at: number, height: number) => ({
    type: 'text',
    x: 1,
    y: at,
    width: width - 2,
    height,
    size: height * 0.7,
    overflow: 'shrink',
    text,
  });
  const step = Math.min(6, (height - 2) / 3);
  const template = await client.importTemplate(tenant, {
    name: `Test label ${new Date().toISOString()}`,
    width,
    height,
    elements: [
      line('Platen test label', 1, step),
      line(printer.name, 1 + step, step),
      line(`${hostname()} ${new Date().toISOString().slice(0, 16)}Z`, 1 + 2 * step, step),
    ],
  });
  try {
    const id = await client.print(tenant, { idT: template.id, printerId: printer.id });
    const job = await followJob(client, id, () => {}, AbortSignal.timeout(WAIT_MS));
    if (job.status === 'printed') return ok(check, `${printer.name} has printed it, job ${id}`);
    return failed(
      check,
      `job ${id} is ${job.status}${job.error === null ? '' : `: ${job.error.message}`}`,
      nextStep(job).trim() || 'See the job.',
    );
  } finally {
    await client.deleteTemplate(tenant, template.id).catch(() => undefined);
  }
}
