/** What becomes of a job whose printer never answers, or whose agent or printer goes away in the middle: through a real queue to a virtual printer. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import { template } from '../../src/contract/template.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';

const site = useSite();

test('a printer that never answers: held after everything was sent, or printed where the operator says so', async () => {
  const silent = await site.startPrinter({ faults: { silent: true } });
  const held = await site.startAgent(silent);
  expect(held.printerId).toMatch(/^address-/);
  expect(held.description.state).toBe('unknown');
  const job = jobFor(held.printerId, 5);
  expect(await site.print(job)).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown' },
    uncertain: { from: 0, to: 5 },
  });
  await silent.printed(5);

  const trusted = await site.startPrinter({ faults: { silent: true } });
  const agent = await site.startAgent(trusted, { config: { printer: { confirmation: 'transport' } } });
  const trustedJob = jobFor(agent.printerId, 40);
  expect(await site.print(trustedJob)).toMatchObject({
    status: 'printed',
    labels: { printed: 40 },
  });
  await trusted.printed(40);
  expect(trusted.labels).toEqual(expected(trustedJob));
});

test('a printer that has never answered is not asked in the time of a job; when it answers, it is gone by', async () => {
  const printer = await site.startPrinter({ faults: { silent: true }, serial: 'MUTE-1' });
  let received = '';
  printer.on('received', (bytes) => {
    received += bytes.toString('latin1');
  });
  const { printerId } = await site.startAgent(printer);
  while (received.split('~HI').length < 4) await once(printer, 'received');
  received = '';
  const job = jobFor(printerId, 2);
  expect(await site.print(job)).toMatchObject({ status: 'held' });
  expect(received.slice(received.indexOf('~JX'), received.lastIndexOf('^XZ'))).not.toMatch(/~H|getvar/);

  printer.set({ silent: false });
  const id = serialId('MUTE-1');
  await site.reports.agent(({ printers }) => printers.some((one) => one.id === id));
  const next = jobFor(id, 2);
  expect(await site.print(next)).toMatchObject({ status: 'printed' });
});

test('a stop in the middle hands the job back; the next start goes on where it was', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  // A slow machine takes more than `QUICK` has for the last labels.
  const first = await site.startAgent(printer, { config: { timings: { confirm: 30_000 } } });
  const job = jobFor(first.printerId, 30, 2);
  const next = jobFor(first.printerId, ['next']);
  await site.queues.enqueue(job, next);
  await printer.printed(7);
  await first.agent.stop({ graceMs: 0 });
  const back = await site.reports.job(job.jobId, ({ status }) => status === 'queued');
  // Labels that the printer had were waited for; it stands exactly where the report says.
  expect(printer.labels).toEqual(expected(job).slice(0, back.labels.printed));
  expect(back.labels.printed).toBeLessThan(60);
  await site.reports.agent(({ agentId, online }) => agentId === back.agentId && !online);

  const second = await site.startAgent(printer, { dataDir: first.dataDir });
  expect(second.printerId).toBe(first.printerId);
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', delivery: 2 });
  expect(await site.reports.end(next.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual([...expected(job), 'next']);
});

test('a stop lets a job finish that can within the grace time', async () => {
  const { printer, agent, printerId } = await site.startServedPrinter({ speed: 20 });
  const job = await site.enqueue(jobFor(printerId, 20));
  await printer.printed(3);
  await agent.stop({ graceMs: 30_000 });
  await site.printedBy(printer, job);
});

test('another agent goes on after a clean hand-back', async () => {
  const printer = await site.startPrinter({ speed: 20 });
  const first = await site.startAgent(printer);
  const job = await site.enqueue(jobFor(first.printerId, 30));
  await printer.printed(5);
  await first.agent.stop({ graceMs: 0 });
  const second = await site.startAgent(printer);
  expect(second.agent.id).not.toBe(first.agent.id);
  await site.printedBy(printer, job);
});

test('a job that waits for its printer is handed back at once, untouched', async () => {
  const printer = await site.startPrinter();
  printer.set({ paused: true });
  const { agent, printerId, dataDir } = await site.startAgent(printer);
  const job = await site.enqueue(jobFor(printerId, 3));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('paused'));
  // Grace is for jobs that print: this one must not use it up.
  await agent.stop({ graceMs: 3_600_000 });
  expect(await site.reports.job(job.jobId, ({ status }) => status === 'queued')).toMatchObject({
    labels: { sent: 0, printed: 0 },
  });
  printer.set({ paused: false });
  await site.startAgent(printer, { dataDir });
  await site.printedBy(printer, job);
});

test('another printer takes the address in the middle of a job: it prints nothing of it', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 });
  const job = await site.enqueue(jobFor(printerId, 30));
  await printer.printed(4);
  await printer.powerOff();
  const impostor = await site.startPrinter({ port: printer.port });
  const found = await site.reports.agent(({ printers }) => printers.length === 2);
  expect(found.printers.find(({ id }) => id === printerId)?.reasons).toEqual(['offline']);
  await impostor.powerOff();
  await printer.powerOn();
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed' });
  expect(impostor.labels).toEqual([]);
  expect(printer.labels).toEqual(expected(job));
});

test('power lost in the middle of a batch with a stored format: it is stored again, every label once and good', async () => {
  const { printer, printerId } = await site.startServedPrinter({ speed: 20 }, { drivers: standardDrivers });
  const faults: string[] = [];
  printer.on('label', (label) => faults.push(...label.faults));
  const job: QueuedJob = {
    ...jobFor(printerId, 40),
    template: template.parse({
      name: 'Batch',
      width: 50,
      height: 25,
      fields: [{ name: 'n' }],
      elements: [
        { type: 'box', x: 1, y: 1, width: 48, height: 23 },
        { type: 'text', x: 3, y: 3, size: 4, text: 'label {{n}}' },
        { type: 'barcode', symbology: 'code128', x: 3, y: 10, height: 8, value: 'N{{n}}' },
      ],
    }),
  };
  await site.queues.enqueue(job);
  let stored = 0;
  printer.on('received', (bytes) => {
    stored += bytes.toString('latin1').split('^DFR:').length - 1;
  });
  // Once with labels in the printer's buffer, and once when it stands still.
  await printer.printed(9);
  await printer.powerOff();
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('offline'));
  await printer.powerOn();
  await printer.printed(20);
  await printer.powerOff();
  await printer.powerOn();
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed', labels: { printed: 40 } });
  expect(printer.labels).toEqual(expected(job));
  expect(faults).toEqual([]);
  expect(stored).toBe(3);
});
