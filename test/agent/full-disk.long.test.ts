/** Disks that fill, really: nothing is lost or doubled, the job says what it waits for, and goes on once there is room. */
import { expect, test } from 'vitest';
import { readStatus } from '../../src/agent/status-file.ts';
import { disk as roomOnDisk } from '../../src/cli/doctor/machine.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { MAY_MOUNT, SmallDisk } from '../kit/servers/small-disk.ts';

const site = useSite();

test.runIf(MAY_MOUNT)('the disk of the journal: no label is sent meanwhile', async () => {
  const disk = site.running(new SmallDisk(2));
  const { printer, printerId } = await site.startServedPrinter(
    { serial: 'FULL-JOURNAL', speed: 20 },
    { dataDir: `${disk.path}/data` },
  );
  disk.fill();
  const jobs = [jobFor(printerId, 5), jobFor(printerId, 40)] as const;
  await site.queues.enqueue(jobs[0]);
  await site.reports.job(jobs[0].jobId, ({ reasons }) => reasons.includes('agent-disk'));
  expect(printer.labels).toEqual([]);
  disk.makeRoom();
  expect(await site.reports.end(jobs[0].jobId)).toMatchObject({ status: 'printed', labels: { printed: 5 } });
  await site.queues.enqueue(jobs[1]);
  await printer.printed(8);
  disk.fill();
  await site.reports.job(jobs[1].jobId, ({ reasons }) => reasons.includes('agent-disk'));
  disk.makeRoom();
  expect(await site.reports.end(jobs[1].jobId)).toMatchObject({ status: 'printed', labels: { printed: 40 } });
  expect(printer.labels).toEqual(jobs.flatMap(expected));
});

test.runIf(MAY_MOUNT)('the disk of an agent without a job: the service is told, and its doctor', async () => {
  const disk = site.running(new SmallDisk(2));
  const printer = await site.startPrinter({ serial: 'FULL-IDLE' });
  const dataDir = `${disk.path}/data`;
  await site.startAgent(printer, { dataDir, config: { timings: { heartbeat: 100 } } });
  const told = (isFull: boolean, since: string) =>
    site.reports.agent(
      ({ printers }) =>
        printers.length > 0 && printers.every(({ reasons }) => reasons.includes('agent-disk') === isFull),
      since,
    );
  // A file that is just then being replaced gives its page back, and the next one has room for ever.
  const filling = setInterval(() => disk.fill(), 20);
  await told(true, '').finally(() => clearInterval(filling));
  expect(await roomOnDisk({ dataDir })).toMatchObject([{ check: 'disk', result: 'failed' }]);
  expect(readStatus(dataDir)).not.toBeNull();
  disk.makeRoom();
  await told(false, new Date().toISOString());
});

test.runIf(MAY_MOUNT).for(['startPrinter', 'startIppPrinter'] as const)(
  "the disk of a virtual printer's labels: it pauses until there is room, %s",
  async (start) => {
    const disk = site.running(new SmallDisk(1));
    const printer = await site[start]({ serial: `FULL-${start}`, outDir: `${disk.path}/printed` });
    const { printerId } = await site.startAgent(printer);
    disk.fill();
    const job = await site.enqueue(jobFor(printerId, 10));
    await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('paused'));
    expect(printer.labels).toEqual([]);
    disk.makeRoom();
    await site.printedBy(printer, job);
  },
);
