import { expect, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import type { Report } from '../../src/contract/report.ts';
import { ErrorLog } from '../../src/queue/queue-log.ts';
import { type InHand, type TurnAnswer, Turns } from '../../src/queue/turns.ts';
import { job, keepingLogger, printerId, report } from '../kit/queue/samples.ts';

const lane: Lane = printerId();
const inHand: InHand = { lane, id: 'job', delivery: 1, term: 'term.1' };

/** Turns at a server that answers as the test says. */
function turnsAt(turn: () => Promise<TurnAnswer>): Turns<Report> {
  const server = { turn, notes: async () => [], isAway: () => true };
  return new Turns<Report>(server, () => 1, new ErrorLog(keepingLogger()));
}

function sayAll(turns: Turns<Report>) {
  return Promise.allSettled([
    turns.ended(inHand),
    turns.handedBack(inHand),
    turns.take(lane, 'term.1', []),
    turns.publish('/agent', report(job(lane), 1)),
  ]);
}

const DROPPED = [
  { status: 'fulfilled', value: false },
  { status: 'fulfilled', value: false },
  { status: 'fulfilled', value: null },
  { status: 'rejected', reason: expect.objectContaining({ code: 'closed' }) },
];

test('what was not said when it closes, and what comes later, is answered', async () => {
  const turns = turnsAt(() => Promise.reject(new Error('not asked')));
  const said = sayAll(turns);
  turns.close();
  expect(await said).toEqual(DROPPED);
  expect(await sayAll(turns)).toEqual(DROPPED);
});

test('so is what a server that is away was told, and what it was being told', async () => {
  const away = new Error('away');
  const failing = Promise.withResolvers<TurnAnswer>();
  const tried = Promise.withResolvers<void>();
  const turns = turnsAt(() => {
    tried.resolve();
    return failing.promise;
  });
  const said = sayAll(turns);
  await tried.promise;
  turns.close();
  failing.reject(away);
  expect(await said).toEqual([...DROPPED.slice(0, 3), { status: 'rejected', reason: away }]);
});
