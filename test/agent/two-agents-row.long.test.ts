/**
 * Two agents want one printer, and jobs follow each other there all the same. The one that prints dies with labels of two
 * jobs under way: the other goes on with both, and every label is out once.
 */
import type { ChildProcess } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { CrashPoint } from '../kit/agent/agent-process.ts';
import { keepNotes } from '../kit/agent/kept-notes.ts';
import { expected, jobFor } from '../kit/agent/site.ts';
import { ONE, OTHER, PATIENT, SHORT, startWanted, useTwoAgents } from '../kit/agent/two-agents-site.ts';
import { kill, killedItself } from '../kit/agent/use-site.ts';
import { agentBackends } from '../kit/queue/over-gateway.ts';

// The embedded database is the same PostgreSQL.
const tried = agentBackends().filter(({ embedded }) => !embedded);

describe.each(tried)('on $name', (backend) => {
  const two = useTwoAgents(backend, 2);
  const { site } = two;

  const single = (...names: string[]) => names.map((name) => jobFor(two.printerId, [name]));

  /** Labels of two jobs are in the printer. */
  const bothUnderWay = () => expect.poll(() => two.printer.waiting, { interval: 5 }).toBeGreaterThan(1);

  /** On a busy machine a kill takes longer than a label: none comes out before it is done. */
  async function killInPause(agent: ChildProcess): Promise<void> {
    two.printer.set({ paused: true });
    await kill(agent);
    two.printer.set({ paused: false });
  }

  test.runIf(backend.kind === 'redis')('the printer has the next label before one is out', async () => {
    using notes = keepNotes(site.queues);
    await startWanted(two, () => two.startAgent(ONE, SHORT));
    await two.startOther(PATIENT);
    const jobs = single('a', 'b', 'c', 'd');
    const waiting: boolean[] = [];
    two.printer.on('label', () => waiting.push(two.printer.waiting > 0));
    await site.queues.enqueue(...jobs);
    await site.printedBy(two.printer, jobs);
    expect(waiting.at(-1)).toBe(false);
    expect(waiting.filter((more) => more).length).toBeGreaterThan(1);
    // Of the two in the middle, one at least was sent behind another: on a busy machine it need not be each.
    const said = jobs.flatMap(({ jobId }) => Object.keys(Object(notes.of(jobId)).underWay ?? {}));
    expect(said).toContain('ahead');
    expect(said).toContain('behind');
  });

  test('it is killed with both under way: the other goes on with both', async () => {
    const one = await startWanted(two, () => two.startProcess(ONE, SHORT));
    await two.startOther(PATIENT);
    const jobs = single('a', 'b', 'c');
    await site.queues.enqueue(...jobs);
    await bothUnderWay();
    await killInPause(one);
    await site.printedBy(two.printer, jobs);
    expect(two.senders).toEqual([ONE, OTHER]);
  });

  test('and the printer loses what it had', async () => {
    const one = await startWanted(two, () => two.startProcess(ONE, SHORT));
    await two.startOther(PATIENT);
    const jobs = [jobFor(two.printerId, ['a1', 'a2']), ...single('b', 'c')];
    await site.queues.enqueue(...jobs);
    await two.printer.printed(1);
    await bothUnderWay();
    await killInPause(one);
    await two.printer.powerOff();
    await two.printer.powerOn();
    await site.printedBy(two.printer, jobs);
    expect(two.senders).toEqual([ONE, OTHER]);
  });

  const points: readonly (readonly [CrashPoint, readonly number[]])[] = [
    ['picked up', [2]],
    ['before the note', [2, 3]],
    ['after the note', [2, 3]],
    ['before bytes', [2]],
    ['inside bytes', [2]],
    ['after bytes', [2, 3]],
    ['before the report of the outcome', [1]],
    ['after the report of the outcome', [1]],
    ['before done', [1, 2]],
  ];
  const cases = points.flatMap(([point, times]) => times.map((nth) => ({ point, nth })));
  // What is between the agent and its queue is tried on one of them.
  const some = backend.kind === 'redis' ? cases : cases.filter((_, at) => at % 4 === 1);
  test.each(some)('killed: $point, time $nth', async (crash) => {
    const one = await startWanted(two, () => two.startProcess(ONE, SHORT, { crash }));
    await two.startOther(PATIENT);
    const jobs = single('a', 'b', 'c', 'd');
    await site.queues.enqueue(...jobs);
    await killedItself(one);
    await site.printedBy(two.printer, jobs);
  });

  test.runIf(backend.kind === 'redis')(
    'each is killed again and again, at moments that nobody chose',
    async () => {
      const dataDirs = new Map([ONE, OTHER].map((id) => [id, site.directories.make()]));
      const start = async (id: string) =>
        await two.startProcess(id, SHORT, { dataDir: dataDirs.get(id) ?? '' });
      const children = new Map<string, ChildProcess>();
      children.set(ONE, await startWanted(two, () => start(ONE)));
      children.set(OTHER, await start(OTHER));
      const jobs = Array.from({ length: 24 }, (_, n) =>
        jobFor(two.printerId, [`job ${n}`, ...(n % 3 ? [] : [`more of ${n}`])]),
      );
      await site.queues.enqueue(...jobs);
      let [serving, waiting] = [ONE, OTHER];
      for (const count of [3, 8, 15, 22]) {
        await two.printer.printed(count);
        const child = children.get(serving);
        if (child !== undefined) await kill(child);
        // The other one has it, and has printed, before this one comes again.
        await two.servedBy(waiting);
        await two.printer.printed(count + 2);
        children.set(serving, await start(serving));
        [serving, waiting] = [waiting, serving];
      }
      const ends = await Promise.all(jobs.map(({ jobId }) => site.reports.end(jobId)));
      const held = ends.filter(({ status }) => status !== 'printed');
      // At most one for each kill: an agent that did not know yet that the other has come again.
      expect(held.length).toBeLessThanOrEqual(4);
      for (const end of held)
        expect(end).toMatchObject({ status: 'held', error: { reason: { code: 'pages-miscounted' } } });
      const paper = [...two.printer.labels];
      for (const [at, job] of jobs.entries()) {
        const labels = expected(job);
        const { status, uncertain = { from: 0, to: 0 } } = ends[at] ?? expect.fail();
        const next = labels.findIndex((label, n) => paper[n] !== label);
        const out = next < 0 ? labels.length : next;
        if (status === 'printed') expect(out).toBe(labels.length);
        else expect(out >= uncertain.from && out <= uncertain.to).toBe(true);
        paper.splice(0, out);
      }
      expect(paper).toEqual([]);
    },
  );
});
