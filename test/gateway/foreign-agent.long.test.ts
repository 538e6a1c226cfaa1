/** docs/agent-protocol.md is enough to write an agent: one in Python, with Debian's libraries, prints a job. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { Programs } from '../kit/programs/programs.ts';
import { ServiceHarness } from '../kit/service/harness.ts';
import { NUMBERED } from '../kit/service/small-label.ts';

const PRINTER = 'serial-0a1b2c3d4e5f';

test.each([null, 'acme'])(
  'an agent in Python, whose scope is %s, prints a job',
  async (tenant) => {
    const service = await ServiceHarness.start({ redis: false });
    onTestFinished(() => service.stop());
    await service.tenant('acme');
    const asked = { name: 'Python', ...(tenant !== null && { tenant }) };
    const { url } = invitationMade.parse((await service.admin('POST', '/agents/invitations', asked)).body);
    const programs = new Programs();
    onTestFinished(() => programs.end());
    const agent = programs.start('/usr/bin/python3', [join(import.meta.dirname, 'foreign-agent.py'), url]);
    const printers = async () => JSON.stringify((await service.admin('GET', '/printers?tenant=acme')).body);
    await agent.until(async () => (await printers()).includes(PRINTER));
    const idT = await service.template('acme', NUMBERED);
    const body = { idT, printerId: PRINTER, numberCopies: 2, data: [{ n: 'one' }, { n: 'two' }] };
    expect((await service.admin('POST', '/tenants/acme/jobs', body)).status).toBe(201);
    expect(await agent.exited(90_000), agent.said()).toBe(0);
    const printed = agent
      .said()
      .match(/^label .*$/gm)
      ?.map((line) => z.object({ n: z.string() }).parse(JSON.parse(line.slice(6))).n);
    expect(printed).toEqual(['one', 'one', 'two', 'two']);
    const jobs = async () => JSON.stringify((await service.admin('GET', '/jobs?tenant=acme')).body);
    await expect.poll(jobs, { timeout: 60_000 }).toContain('"status":"printed"');
  },
  200_000,
);
