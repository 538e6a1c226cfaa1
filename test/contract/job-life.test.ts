/** The life of a job: the table, its picture, and the page that an operator reads. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { JOB_FAULTS, type JobFaultCode } from '../../src/contract/fault.ts';
import {
  endedBy,
  hasEnded,
  JOB_CHANGES,
  JOB_STATES,
  JOB_STATUSES,
  mayBecome,
  statesBefore,
} from '../../src/contract/job-life.ts';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('docs/jobs.md', () => {
  test('has each state with its meaning, and each change with who makes it', async () => {
    const page = await read('docs/jobs.md');
    const states = JOB_STATUSES.map((status) => `| \`${status}\` | ${JOB_STATES[status].means} |`);
    const words = (list: readonly string[]) =>
      list.length === JOB_STATUSES.length ? 'any' : list.map((word) => `\`${word}\``).join(', ');
    const changes = JOB_CHANGES.map(
      ({ from, to, by, when }) => `| ${words(from)} | ${words(to)} | ${by} | ${when} |`,
    );
    const rows = page.split('\n').filter((line) => /^\| (`|any)/.test(line));
    expect(rows).toEqual([...states, ...changes]);
  });

  test('shows the picture that the source begins with', async () => {
    const [comment = ''] = (await read('src/contract/job-life.ts')).split('*/');
    const picture =
      comment
        .split('\n *\n')
        .at(-1)
        ?.replaceAll(/^ \* ?/gm, '')
        .trimEnd() ?? '';
    expect(picture).toContain('queued');
    expect(await read('docs/jobs.md')).toContain(picture);
  });
});

describe('the table', () => {
  test('every state is reached, and one that has not ended is left', () => {
    const causes = [...new Set(JOB_CHANGES.map(({ by }) => by))];
    for (const status of JOB_STATUSES.filter((one) => one !== 'queued')) {
      expect(
        causes.flatMap((by) => statesBefore(status, by)),
        status,
      ).not.toEqual([]);
    }
    for (const status of JOB_STATUSES.filter((one) => !hasEnded(one))) {
      expect(
        causes.some((by) => mayBecome(status, 'printed', by)),
        status,
      ).toBe(true);
    }
  });

  test('a printed job stays printed', () => {
    for (const { from } of JOB_CHANGES) expect(from).not.toContain('printed');
  });

  test('a printed or canceled job does not wait again', () => {
    for (const by of ['agent', 'late agent', 'person', 'service', 'restore'] as const) {
      for (const from of statesBefore('queued', by)) expect(['printed', 'canceled']).not.toContain(from);
    }
  });

  test('label data is kept for a while where a job is over, and no shorter anywhere', () => {
    for (const status of JOB_STATUSES) {
      const { data, phase } = JOB_STATES[status];
      expect(data, status).toBe(phase === 'over' ? 'kept for a while' : 'kept');
    }
  });
});

test.each(Object.keys(JOB_FAULTS) as JobFaultCode[])(
  'a job with labels under way is held for a person, whatever ended it: %s',
  (code) => {
    const error = { code, message: 'so it was' };
    expect(endedBy(error, { printed: 3, intent: 5 })).toEqual({
      status: 'held',
      error,
      uncertain: { from: 3, to: 5 },
    });
    expect(endedBy(error, { printed: 5, intent: 5 }).status).toBe(JOB_FAULTS[code].outcome);
  },
);
