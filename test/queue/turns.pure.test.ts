import { expect, test } from 'vitest';
import type { Lane } from '../../src/contract/lane.ts';
import type { Report } from '../../src/contract/report.ts';
import { ErrorLogger } from '../../src/queue/queue-log.ts';
import {
  type LaneDelivery,
  type TakenJob,
  type Turn,
  type TurnAnswer,
  Turns,
} from '../../src/queue/turns.ts';
import { job, keepingLogger, printerId, report } from '../kit/queue/samples.ts';

const lane: Lane = printerId();
const inHand: LaneDelivery = { lane, id: 'job', delivery: 1, term: 'term.1' };

/** Turns at a server that answers as the test says. */
function turnsAt(turn: (told: Turn<Report>) => Promise<TurnAnswer>): Turns<Report> {
  const server = { turn, notes: async () => [], isAway: () => true };
  return new Turns<Report>(server, new ErrorLogger(keepingLogger()));
}

function sayAll(turns: Turns<Report>) {
  return Promise.allSettled([
    turns.ended(inHand),
    turns.handedBack(inHand),
    turns.take({ lane, term: 'term.1', beside: [], number: 1 }),
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

test('the questions of two agents for one lane go in one turn, each with its own number', async () => {
  const told: Turn<Report>[] = [];
  const turns = turnsAt(async (turn) => {
    told.push(turn);
    return { ended: [], back: [], taken: turn.take.map(() => null) };
  });
  const questions = ['one.1', 'other.1'].map((term, at) => ({ lane, term, beside: [], number: 7 - at }));
  await Promise.all(questions.map((question) => turns.take(question)));
  expect(told.map(({ take }) => take)).toEqual([questions]);
});

test('an agent withdraws its own question, and not that of another agent for the same lane', async () => {
  const turns = turnsAt(async ({ take }) => ({
    ended: [],
    back: [],
    taken: take.map(({ term }) => taken(term)),
  }));
  const asked = ['one.1', 'other.1'].map((term) => turns.take({ lane, term, beside: [], number: 1 }));
  turns.forget(lane, 'one.1');
  expect(await Promise.all(asked)).toEqual([null, taken('other.1')]);
});

test('whoever asked while the server was away is told so, to ask again', async () => {
  const turns = turnsAt(() => Promise.reject(new Error('away')));
  await expect(turns.take({ lane, term: 'term.1', beside: [], number: 1 })).rejects.toThrow('away');
  turns.close();
});

test('notes that come in one tick go in one command', async () => {
  const commands: string[][] = [];
  const server = {
    turn: async () => ({ ended: [], back: [], taken: [] }),
    notes: async (notes: readonly { note: string }[]) => {
      commands.push(notes.map(({ note }) => note));
      return notes.map(() => true);
    },
    isAway: () => true,
  };
  const turns = new Turns<Report>(server, new ErrorLogger(keepingLogger()));
  const stored = ['first', 'second'].map((id) => turns.note({ ...inHand, id }, 1, id));
  expect(await Promise.all(stored)).toEqual([true, true]);
  expect(commands).toEqual([['first', 'second']]);
});

function taken(term: string): TakenJob {
  return { ...inHand, term, json: '', template: undefined, ofRow: true, note: null };
}
