/** A printer with jobs of its own that counts something else than labels, or says for ever that a job waits. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { decodeIpp } from '../../drivers/ipp/decode.ts';
import { encodeIpp } from '../../drivers/ipp/encode.ts';
import type { IppAttribute } from '../../drivers/ipp/message.ts';
import { OPERATIONS } from '../../drivers/ipp/names.ts';
import type { TestIppPrinter } from '../kit/agent/ipp-site.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { useSite } from '../kit/agent/use-site.ts';
import { listeningForTest } from '../kit/wire/listening.ts';

const site = useSite();

/** Stands before the printer, and changes what it says of its jobs. */
async function liarBefore(printer: TestIppPrinter) {
  const liar = { uri: '', says: (_attribute: IppAttribute): void => undefined };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const asked = Buffer.concat(parts);
    const url = printer.uri.replace('ipp:', 'http:');
    const headers = { 'content-type': 'application/ipp' };
    const answer = await fetch(url, { method: 'POST', headers, body: asked });
    let body = Buffer.from(await answer.arrayBuffer());
    if (decodeIpp(asked).code === OPERATIONS['Get-Job-Attributes']) {
      const said = decodeIpp(body);
      for (const { attributes } of said.groups) for (const one of attributes) liar.says(one);
      body = Buffer.from(encodeIpp(said));
    }
    response.writeHead(answer.status, headers).end(body);
  });
  liar.uri = `ipp://127.0.0.1:${await listeningForTest(server)}/ipp/print`;
  return liar;
}

/** Each label counts as so many. */
function countsEach(times: number) {
  return ({ name, values: [value] }: IppAttribute) => {
    if (name === 'job-impressions-completed' && value?.tag === 'integer') value.value *= times;
  };
}

test('what it counts is not believed any more once it has counted a whole document wrong', async () => {
  const printer = await site.startIppPrinter();
  const liar = await liarBefore(printer);
  const { printerId } = await site.startAgent(liar);
  liar.says = countsEach(3);
  expect(await site.print(jobFor(printerId, 4))).toMatchObject({ status: 'printed' });
  printer.abortJobAfter(2);
  const job = jobFor(printerId, 8);
  expect(await site.print(job)).toMatchObject({
    status: 'held',
    labels: { printed: 0 },
    uncertain: { from: 0, to: 8 },
  });
});

test('completed with errors: what it counted is out, and nothing else; held where nobody knows that it counts', async () => {
  const printer = await site.startIppPrinter({ speed: 20 });
  const liar = await liarBefore(printer);
  const { printerId } = await site.startAgent(liar);
  liar.says = ({ name, values: [value] }) => {
    if (name === 'job-state' && value?.tag === 'enum' && value.value === 8) value.value = 9;
    if (name === 'job-state-reasons' && value?.tag === 'keyword' && value.value === 'aborted-by-system')
      value.value = 'job-completed-with-errors';
  };
  printer.abortJobAfter(3);
  expect(await site.print(jobFor(printerId, 8))).toMatchObject({
    status: 'held',
    error: { code: 'outcome-unknown' },
    uncertain: { to: 8 },
  });
  expect(await site.print(jobFor(printerId, 2))).toMatchObject({ status: 'printed' });
  printer.abortJobAfter(3);
  expect(await site.print(jobFor(printerId, 8))).toMatchObject({
    status: 'failed',
    labels: { printed: 3 },
    error: { code: 'printer-aborted' },
  });
});

test('more than there are tells nothing of how many are out', async () => {
  const printer = await site.startIppPrinter({ speed: 20 });
  const liar = await liarBefore(printer);
  const { printerId } = await site.startAgent(liar);
  liar.says = countsEach(100);
  const job = jobFor(printerId, 8);
  expect(await site.print(job)).toMatchObject({ status: 'printed', labels: { printed: 8 } });
  const before = site.reports.of(job.jobId).filter(({ status }) => status === 'printing');
  expect(before.map(({ labels }) => labels.printed).filter((printed) => printed > 0)).toEqual([]);
});

test('a job that waits in it says why, and goes on', async () => {
  const printer = await site.startIppPrinter();
  const liar = await liarBefore(printer);
  const { printerId } = await site.startAgent(liar);
  let state = 3;
  liar.says = ({ name, values: [value] }) => {
    if (state !== 0 && name === 'job-state' && value?.tag === 'enum') value.value = state;
  };
  const job = await site.enqueue(jobFor(printerId, 2));
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('busy'));
  state = 4;
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('paused'));
  state = 77;
  await site.reports.job(job.jobId, ({ reasons }) => reasons.includes('other'));
  state = 0;
  expect(await site.reports.end(job.jobId)).toMatchObject({ status: 'printed' });
  expect(printer.labels).toEqual(expected(job));
});
