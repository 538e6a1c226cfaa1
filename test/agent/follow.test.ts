/** Jobs that follow each other at a printer: what it has just said need not be asked again. */
import { expect, test } from 'vitest';
import { jobFor } from '../kit/agent/site.ts';
import { serialId, useSite } from '../kit/agent/use-site.ts';
import { answering, peer } from '../kit/wire/peer.ts';

const site = useSite();
const frame = (text: string) => `\x02${text}\x03\r\n`;

/** A printer that prints before it is asked, and tells what it was sent: labels and questions. */
async function printer(serial: string) {
  const got: string[] = [];
  let odometer = 1_000;
  const answer = (line: string): string => {
    if (line.startsWith('^XA')) {
      odometer += Number(/\^PQ(\d+)/.exec(line)?.[1] ?? 1);
      got.push('label');
    }
    if (line === '~HI') return frame('ZTC ZD421-203dpi ZPL,V84.20.18Z,8,8176KB,X');
    if (line === '~HS') {
      got.push('asked');
      const [first, second] = ['030,0,0,1218,000,0,0,0,000,0,0,0', '000,0,0,0,0,2,4,0,00000000,1,000'];
      return frame(first) + frame(second) + frame('1234,0');
    }
    if (line === '! U1 getvar "odometer.total_label_count"') return `"${odometer}"`;
    if (line === '! U1 getvar "device.unique_id"') return `"${serial}"`;
    return line.startsWith('!') ? '"?"' : '';
  };
  // A label ends its line in another way than a question.
  const answers = answering((lines) => lines.split('\n').map(answer).join(''));
  const device = await peer((socket) => {
    socket.on('data', (bytes) => {
      if (/~HS|getvar/.test(bytes.toString('latin1'))) got.push('wrote');
    });
    answers(socket);
  });
  return { device, got };
}

const config = { printer: { dpi: 203, width: 50, height: 25 } };

test('the next job begins on the answer that ended the last', async () => {
  const { device, got } = await printer('FOLLOW-1');
  await site.startAgent(device, { config });
  const jobs = Array.from({ length: 6 }, (_, n) => jobFor(serialId('FOLLOW-1'), [`job ${n}`]));
  await site.queues.enqueueMany(jobs);
  for (const { jobId } of jobs)
    expect(await site.reports.end(jobId)).toMatchObject({ status: 'printed', labels: { printed: 1 } });
  const [, ...between] = got.join(' ').split('label').slice(0, -1);
  expect(between).toHaveLength(5);
  // Once, by the job that wants to know what became of its label; and again where the machine took long for the next.
  const asked = between.map((questions) => questions.split('asked').length - 1);
  expect(asked).toContain(1);
  // Whoever asks how it is asks in the same write what it has counted, and waits once; a counter that was read too long ago,
  // or has moved, is asked for again.
  const wrote = between.map((questions) => questions.split('wrote').length - 1);
  expect(wrote[asked.indexOf(1)]).toBe(1);
});
