/** An agent that is revoked in the middle of a job, at another of two instances than the one that it is connected to. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { enrollAgent } from '../../src/cli/enrolment.ts';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { type AgentQueue, openGateway } from '../../src/queue/index.ts';
import { startDockAgent } from '../kit/agent/dock-agent.ts';
import { Directories, logger, QUICK, TestPrinter } from '../kit/agent/site.ts';
import { serialId } from '../kit/agent/use-site.ts';
import { type OpenBackend, onServer } from '../kit/servers/backends.ts';
import { jobIdOf, ServiceHarness } from '../kit/service/harness.ts';
import { NUMBERED } from '../kit/service/small-label.ts';
import { type Senders, Tap } from '../kit/wire/tap.ts';

/** The property itself: how soon a revoked agent is cut off, wherever it is connected, ms. */
const CUT_OFF = 5_000;
/** Labels that an agent sends beyond what is certainly out. */
const WINDOW = 4;
/** ms; alone on its printer it has four of them. */
const LEASE = 2_500;
const LABELS = 60;

const directories = new Directories();
let backend: OpenBackend;
let one: ServiceHarness;
let other: ServiceHarness;
let running = new AsyncDisposableStack();

beforeAll(async () => {
  backend = await onServer().open({ migrated: true });
  one = await ServiceHarness.start({ backend });
  other = await ServiceHarness.start({ backend });
  await one.tenant('acme');
});
afterEach(async () => {
  await running.disposeAsync();
  running = new AsyncDisposableStack();
});
afterAll(async () => {
  await one?.stop();
  await other?.stop();
  await backend?.close();
  directories.remove();
});

/** An agent that enrols with an instance, stays connected to that one, and reaches the printer by a way of its own. */
async function startAgent(
  at: ServiceHarness,
  name: string,
  printer: TestPrinter,
  senders: Senders,
): Promise<{ agentId: string; queue: AgentQueue }> {
  const asked = { name, tenant: 'acme' };
  const { code } = invitationMade.parse((await at.admin('POST', '/agents/invitations', asked)).body);
  const dataDir = directories.make();
  const enrolment = await enrollAgent(`${new URL(at.url).origin}#${code}`, dataDir);
  const tap = new Tap(name, printer.port, senders);
  await tap.open();
  running.defer(() => tap.stop());
  const retry = { first: 20, most: 100, refused: 100 };
  const queue = await openGateway({ agent: { ...enrolment, version: '0' }, logger, retry });
  running.defer(() => queue.close({ timeoutMs: 0 }));
  const agent = await startDockAgent(
    enrolment,
    queue,
    { uri: tap.uri },
    { dataDir, window: { labels: WINDOW, bytes: 65_536 }, timings: { ...QUICK, lease: LEASE } },
  );
  running.defer(() => agent.stop({ graceMs: 0 }));
  return { agentId: enrolment.agentId, queue };
}

test('it prints no further label than what its printer has, and another agent prints the rest, each once', async () => {
  const serial = randomUUID();
  const printer = new TestPrinter(directories, { serial, speed: 5 });
  await printer.start();
  running.defer(() => printer.stop());
  const senders: Senders = [];
  const first = await startAgent(one, 'first', printer, senders);
  const printers = async () => (await other.admin('GET', '/printers?tenant=acme')).text;
  await expect
    .poll(printers, { timeout: 60_000 })
    .toMatch(new RegExp(`"id":"${serialId(serial)}"[^{]*"idle"`));
  const idT = await other.template('acme', NUMBERED);
  const data = Array.from({ length: LABELS }, (_, n) => ({ n: String(n) }));
  const accepted = await other.admin('POST', '/tenants/acme/jobs', { idT, printer: 'Dock', data });
  expect(accepted.status, accepted.text).toBe(201);
  await printer.printed(3);

  expect((await other.admin('POST', `/agents/${first.agentId}/revoke`)).status).toBe(204);
  const says = () => first.queue.ping().then(String, ({ message }: Error) => message);
  await expect.poll(says, { timeout: CUT_OFF, interval: 50 }).toContain('the service has revoked this agent');
  const out = printer.labels.length;
  expect(out).toBeLessThan(LABELS - 2 * WINDOW);

  // Not before the lease of the first has ended: until then that one could have printed the job to its end.
  await startAgent(other, 'second', printer, senders);
  await expect.poll(() => senders, { timeout: 60_000, interval: 10 }).toContain('second');
  // The label that was being printed, those that waited behind it, and one that was on its way.
  expect(printer.labels.length).toBeLessThanOrEqual(out + WINDOW + 1);
  const job = async () => (await one.admin('GET', `/jobs/${jobIdOf(accepted)}`)).text;
  await expect.poll(job, { timeout: 120_000 }).toContain('"status":"printed"');
  expect(printer.labels).toEqual(data.map(({ n }) => n));
  expect(senders).toEqual(['first', 'second']);
}, 300_000);
