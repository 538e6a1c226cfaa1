/** Whatever an agent at another site says: nothing of another tenant changes, and nothing of it is told. */
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Enrolment } from '../../src/cli/enrolment.ts';
import type { AgentFrame, Hello } from '../../src/contract/gateway.ts';
import { type Lane, laneOf } from '../../src/contract/lane.ts';
import type { Report } from '../../src/contract/report.ts';
import { describePrinter, jobIdOf } from '../kit/service/harness.ts';
import { useEnrolments } from '../kit/service/use-enrolments.ts';
import { useService } from '../kit/service/use-service.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import { useRawAgents } from '../kit/wire/use-raw-agents.ts';

const service = useService({ redis: false });
const { enrolled } = useEnrolments(service);
const open = useRawAgents();
const [OWN_PRINTER, PRINTER] = ['serial-0a1b2c3d4e5f', 'serial-0f1e2d3c4b5a'];
const OWN = laneOf({ scope: 'acme', printerId: OWN_PRINTER });
const FOREIGN = laneOf({ scope: 'other', printerId: PRINTER });
const SHARED = laneOf({ scope: null, printerId: PRINTER });
const LENGTH = { contended: 15_000, alone: 60_000 };
/** Of somebody else's agent, which nobody else should ever see: here it is known. */
const PROCESS = 'process-of-others';
const TERM = `${PROCESS}.1`;
const secret = 'a label of others';

let place: Enrolment;
let others: Enrolment;
let victim: RawAgent;
let stateOfOthers = '';
/** What each agent was last given to keep. */
const kept = new Map<string, string>();
/** What the other tenant's agent has in hand. */
let hand: { id: string; delivery: number };
let reported = 0;

beforeAll(async () => {
  for (const tenant of ['acme', 'other']) await service.tenant(tenant);
  [place, others] = [await enrolled({ tenant: 'acme' }), await enrolled({ tenant: 'other' })];
  victim = await RawAgent.join(others, { process: PROCESS });
  stateOfOthers = String((await victim.next('welcome'))['state']);
  await reports(others, victim, PRINTER);
  await lease(victim, FOREIGN, TERM);
  const idT = await service.template('other');
  const accepted = await service.admin('POST', '/tenants/other/jobs', {
    ...{ idT, printerId: PRINTER },
    data: [{ sku: secret, name: secret }],
  });
  expect(accepted.status, accepted.text).toBe(201);
  const take = { i: 1, what: 'take', lane: FOREIGN, term: TERM, beside: [], number: 1 };
  victim.say({ kind: 'say', entries: [take] });
  const answered = z.object({ job: z.object({ id: z.string(), delivery: z.int() }) });
  const { answers } = z.object({ answers: z.array(answered) }).parse(await victim.next('answers'));
  hand = answers[0]?.job ?? expect.fail('no job');
  expect(hand.id).toBe(jobIdOf(accepted));
  (await joined(place)).say({ kind: 'stored' });
  const sql = 'SELECT FROM platen.enrolled_agents WHERE id = $1 AND pending IS NULL';
  const isKept = async () => (await service.pool.query(sql, [place.agentId])).rowCount === 1;
  await vi.waitUntil(isKept, { timeout: 30_000 });
  const note = { i: 1, what: 'note', lane: FOREIGN, ...hand, term: TERM, order: 1, note: 'of others' };
  victim.say({ kind: 'say', entries: [note] });
  expect(await victim.next('answers')).toMatchObject({ answers: [{ ok: true }] });
});
afterAll(() => victim?.socket.terminate());

async function joined(of: Enrolment, process = 'the-only-process'): Promise<RawAgent> {
  const state = kept.get(of.agentId);
  const agent = await RawAgent.join(of, {
    ...{ process, publicKey: publicKeyOf(of) },
    ...(state !== undefined && { state }),
  });
  open.push(agent);
  kept.set(of.agentId, String((await agent.next('welcome'))['state']));
  return agent;
}

function publicKeyOf({ privateKey }: Enrolment): string {
  return createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '';
}

function stateOf({ agentId, scope }: Enrolment, ids: readonly string[], version = '1'): object {
  return {
    ...{ kind: 'agent', agentId, name: 'Dock', version, at: new Date().toISOString(), online: true },
    ...{ tenantId: scope, printers: ids.map((id) => describePrinter({ id })) },
  };
}

/** What an agent was told, but for what each is told unasked: that it is over, and the printers that people have added. */
function toldTo(agent: RawAgent) {
  return agent.said.filter(({ kind }) => kind !== 'bye' && kind !== 'printers');
}

/** Reports a printer, and resolves when all that was reported until then is in the service's tables. */
async function reports(of: Enrolment, agent: RawAgent, printer: string): Promise<void> {
  const version = String(++reported);
  const report = JSON.stringify(stateOf(of, [printer], version));
  agent.say({ kind: 'say', entries: [{ i: 900, what: 'told', report }] });
  expect(await agent.next('answers')).toMatchObject({ answers: [{ i: 900, ok: true }] });
  const sql = 'SELECT version FROM platen.agents WHERE id = $1';
  await vi.waitFor(
    async () => expect((await service.pool.query(sql, [of.agentId])).rows).toEqual([{ version }]),
    { timeout: 30_000 },
  );
}

async function lease(agent: RawAgent, lane: Lane, term: string): Promise<void> {
  agent.say({
    ...{ kind: 'lease', i: 901, length: LENGTH },
    asks: [{ lane, term, fresh: true, reaches: true }],
  });
  expect(await agent.next('leased')).toMatchObject({ answers: [{ lane, granted: 60_000 }] });
}

/** All that the service has of the other tenant, and of its agent. */
async function ofOthers(): Promise<unknown> {
  const { rows } = await service.pool.query(
    `SELECT (SELECT json_agg(j ORDER BY queue_id) FROM lanes.job j WHERE lane = $1) AS queued,
       (SELECT json_agg(l) FROM lanes.lease l WHERE lane = $1) AS lease,
       (SELECT json_agg(j ORDER BY id) FROM platen.jobs j WHERE tenant_id = 'other') AS jobs,
       (SELECT json_agg(a) FROM platen.agents a WHERE id = $2) AS agent,
       (SELECT json_agg(p ORDER BY printer_id) FROM platen.agent_printers p WHERE agent_id = $2) AS printers,
       (SELECT json_agg(b ORDER BY printer_id) FROM platen.brought_printers b WHERE agent_id = $2) AS brought`,
    [FOREIGN, others.agentId],
  );
  return rows;
}

const entry = (what: string, of: object) => () => ({
  kind: 'say',
  entries: [{ i: 1, what, lane: FOREIGN, ...hand, term: TERM, ...of }],
});
const told = (report: () => object) => () => ({
  kind: 'say',
  entries: [{ i: 1, what: 'told', report: JSON.stringify(report()) }],
});
const jobReport = (more: () => object) =>
  told(() => ({
    ...{ kind: 'job', jobId: hand.id, agentId: place.agentId, printerId: OWN_PRINTER, delivery: 9, seq: 0 },
    ...{ at: new Date().toISOString(), status: 'printed', labels: { sent: 1, printed: 1 }, reasons: [] },
    ...more(),
  }));
const ask = (of: object) => () => ({
  ...{ kind: 'lease', i: 1, length: LENGTH },
  asks: [{ lane: FOREIGN, term: 'process.1', fresh: true, reaches: true, ...of }],
});

const given = (of: Lane) => () => ({ kind: 'giveBack', i: 1, lane: of, term: TERM });

const refused = { kind: 'answers', answers: [{ i: 1, refused: true }] };
const no = { kind: 'answers', answers: [{ i: 1, ok: false }] };
/** The service has it: whether it counts, is another question. */
const heard = { kind: 'answers', answers: [{ i: 1, ok: true }] };
const nothing = { kind: 'answers', answers: [{ i: 1, job: null }] };
const take = { beside: [], number: 1 };
const note = { order: 2, note: 'of a thief' };
const OWN_TERM = { lane: OWN, term: 'process.1' };

/** What it says, and the answer; undefined: none. */
type Row = readonly [string, () => object, { kind: string; answers?: unknown } | undefined];

type Entry = Extract<AgentFrame, { kind: 'say' }>['entries'][number];
/** All that an agent may say once it has joined: an entry by its `what`, a report and any other frame by its kind. */
type Said = { [F in Exclude<AgentFrame, { kind: 'say' }> as F['kind']]: F } & {
  [E in Exclude<Entry, { what: 'told' }> as E['what']]: E;
} & { [R in Report as R['kind']]: R };
/** Members that name nothing that could be somebody else's. */
type Bare =
  | (
      | 'kind'
      | 'what'
      | 'i'
      | 'delivery'
      | 'order'
      | 'note'
      | 'number'
      | 'length'
      | 'name'
      | 'version'
      | 'at'
      | 'seq'
    )
  | ('online' | 'stretch' | 'unreached' | 'wentBack' | 'counts' | 'round' | 'status' | 'labels' | 'reasons')
  | ('error' | 'uncertain');
type Naming<F> = Exclude<keyof F, Bare>;
/** A new frame, or a new member of one, is an error of types until it has a row here. */
type Rows = {
  [K in keyof Said]: {
    [M in [Naming<Said[K]>] extends [never] ? 'itself' : Naming<Said[K]>]: readonly Row[];
  };
};

const FRAMES: Rows = {
  ended: {
    lane: [
      ["the end of another tenant's job", entry('ended', {}), refused],
      ['the end of a job at a shared lane', entry('ended', { lane: SHARED }), refused],
    ],
    id: [["the end of another tenant's job, as if it were at an own printer", entry('ended', OWN_TERM), no]],
    term: [["the end of another tenant's job, in others' term", entry('ended', { lane: OWN }), no]],
  },
  back: {
    lane: [["another tenant's job, handed back", entry('back', {}), refused]],
    id: [["another tenant's job, handed back to an own printer", entry('back', OWN_TERM), no]],
    term: [["another tenant's job, handed back in others' term", entry('back', { lane: OWN }), no]],
  },
  note: {
    lane: [["a note to another tenant's job", entry('note', note), refused]],
    id: [["a note to another tenant's job at an own printer", entry('note', { ...OWN_TERM, ...note }), no]],
    term: [["a note to another tenant's job in others' term", entry('note', { lane: OWN, ...note }), no]],
  },
  take: {
    lane: [
      ["a take at another tenant's lane", entry('take', take), refused],
      ['a take at a shared lane', entry('take', { lane: SHARED, ...take }), refused],
    ],
    term: [["a take at an own printer under others' term", entry('take', { lane: OWN, ...take }), nothing]],
    beside: [
      [
        "a take beside another tenant's job",
        () => entry('take', { ...OWN_TERM, ...take, beside: [hand.id] })(),
        nothing,
      ],
    ],
    waits: [["a take that waits for another tenant's job", entry('take', { ...take, waits: true }), refused]],
  },
  lease: {
    asks: [
      ["another tenant's lease", ask({}), { kind: 'leased', answers: [] }],
      ["another tenant's lease, in its agent's term", ask({ term: TERM }), { kind: 'leased', answers: [] }],
      ["a shared printer's lease", ask({ lane: SHARED }), { kind: 'leased', answers: [] }],
      [
        'the lease of a printer that it has not reported',
        ask({ lane: laneOf({ scope: 'acme', printerId: 'serial-00000000beef' }) }),
        { kind: 'leased', answers: [{ granted: null }] },
      ],
    ],
  },
  giveBack: {
    lane: [["another tenant's lease, given back", given(FOREIGN), refused]],
    term: [["an own lease, given back in others' term", given(OWN), heard]],
  },
  listen: {
    lanes: [
      ['who listens to lanes of others', () => ({ kind: 'listen', lanes: [FOREIGN, SHARED] }), undefined],
    ],
  },
  stored: { itself: [['a state kept that was not given', () => ({ kind: 'stored' }), undefined]] },
  moved: { itself: [['a move that nobody asked for', () => ({ kind: 'moved' }), { kind: 'bye' }]] },
  agent: {
    agentId: [
      [
        "a report in another agent's name",
        told(() => stateOf({ ...place, agentId: others.agentId }, [])),
        no,
      ],
      ["a report in others' name and scope", told(() => stateOf(others, [PRINTER])), no],
    ],
    tenantId: [
      [
        'a report of itself in another scope',
        told(() => stateOf({ ...place, scope: 'other' }, [PRINTER])),
        no,
      ],
      ['a report of itself for every tenant', told(() => stateOf({ ...place, scope: null }, [PRINTER])), no],
    ],
    printers: [["a report of another tenant's printer", told(() => stateOf(place, [PRINTER])), heard]],
  },
  job: {
    jobId: [["a report of another tenant's job", jobReport(() => ({})), heard]],
    printerId: [
      ["a report of another tenant's job at its printer", jobReport(() => ({ printerId: PRINTER })), heard],
    ],
    agentId: [
      [
        "a report of another tenant's job in its agent's name",
        jobReport(() => ({ agentId: others.agentId, printerId: PRINTER })),
        no,
      ],
    ],
  },
};
const ROWS: readonly Row[] = Object.values<Record<string, readonly Row[]>>(FRAMES).flatMap((members) =>
  Object.values(members).flat(),
);

test.each(ROWS)('%s changes nothing there, and tells nothing', async (_, frame, answer) => {
  const agent = await joined(place);
  await reports(place, agent, OWN_PRINTER);
  const before = await ofOthers();
  expect(before).toMatchObject([{ queued: [{ queue_id: hand.id }], jobs: [{ id: hand.id }] }]);
  agent.say({ kind: 'listen', lanes: [FOREIGN, SHARED] });
  agent.say({ ...frame() });
  const said = answer && (await agent.next(answer.kind));
  if (answer !== undefined) expect(said).toMatchObject(answer);
  await service.queues.markHeld(SHARED, true);
  await reports(place, answer?.kind === 'bye' ? await joined(place) : agent, OWN_PRINTER);
  expect(await ofOthers()).toEqual(before);
  expect(agent.said.filter(({ kind }) => kind === 'ring')).toEqual([]);
  expect(JSON.stringify([said, agent.said])).not.toContain(secret);
});

test("what rings at another tenant's printer is not heard", async () => {
  const agent = await joined(place);
  agent.say({ kind: 'listen', lanes: [FOREIGN, SHARED, OWN] });
  await lease(victim, FOREIGN, TERM);
  for (const lane of [FOREIGN, SHARED, OWN]) await service.queues.markHeld(lane, true);
  expect(await agent.next('ring')).toMatchObject({ lane: OWN });
  expect(toldTo(agent)).toEqual([]);
  for (const lane of [FOREIGN, SHARED, OWN]) await service.queues.markHeld(lane, false);
});

/** What an agent may do at its own printer. */
const OWN_FRAMES: Readonly<Record<AgentFrame['kind'], object>> = {
  say: { entries: [{ i: 1, what: 'take', ...OWN_TERM, ...take }] },
  lease: { i: 2, length: LENGTH, asks: [{ lane: OWN, term: 'p.2', fresh: true, reaches: true }] },
  giveBack: { i: 3, ...OWN_TERM },
  listen: { lanes: [OWN] },
  stored: {},
  moved: {},
};
const ownFrames = Object.entries(OWN_FRAMES).map(([kind, members]) => ({ kind, ...members }));

async function leaseOf(lane: Lane): Promise<unknown> {
  return (await service.pool.query('SELECT * FROM lanes.lease WHERE lane = $1', [lane])).rows;
}

test.each([
  ['was revoked', (of: Enrolment) => service.admin('POST', `/agents/${of.agentId}/revoke`)],
  ['was replaced', (of: Enrolment) => joined(of)],
])('what comes from a session that %s has no answer, and changes nothing', async (_, end) => {
  const own = await enrolled({ tenant: 'acme' });
  const agent = await joined(own);
  const job = jobReport(() => ({ agentId: own.agentId }))();
  const [leaseBefore, before] = [await leaseOf(OWN), await ofOthers()];
  // What the service said meanwhile is not read yet, so the agent does not know.
  agent.socket.pause();
  await end(own);
  for (const frame of [...ownFrames, job, ...ROWS.map(([, made]) => made())]) agent.say({ ...frame });
  agent.socket.resume();
  await agent.closed;
  expect(toldTo(agent)).toEqual([]);
  expect([await leaseOf(OWN), await ofOthers()]).toEqual([leaseBefore, before]);
});

test.each([...ownFrames, { kind: 'welcome' }, { kind: 'proof', signature: 'A'.repeat(86) }])(
  'before the proof %j is no word of an agent',
  async (frame) => {
    const stranger = new RawAgent(place.origin);
    open.push(stranger);
    await new Promise((resolve) => stranger.socket.once('open', resolve));
    stranger.say({ ...frame });
    expect(await stranger.next('bye')).toMatchObject({ code: 'frame-wrong' });
  },
);

type Hail = readonly [
  joins: () => Promise<RawAgent>,
  answer: { kind: string; code?: string; scope?: string },
];
/** How somebody may say hello with what is another agent's, signed with a key of their own, and what comes of it. */
const HELLOS: Readonly<Record<Exclude<keyof Hello, Bare | 'nonce'>, Hail>> = {
  agent: [() => RawAgent.join({ ...place, agentId: others.agentId }), { kind: 'bye', code: 'proof-wrong' }],
  publicKey: [
    () => RawAgent.join({ ...place, agentId: others.agentId }, { ...own(), state: stateOfOthers }),
    { kind: 'bye', code: 'proof-wrong' },
  ],
  process: [
    () => RawAgent.join(place, { ...own(), process: PROCESS, state: kept.get(place.agentId) ?? '' }),
    { kind: 'welcome', scope: 'acme' },
  ],
  state: [() => RawAgent.join(place, { ...own(), state: stateOfOthers }), { kind: 'bye', code: 'stale' }],
};

const own = () => ({ publicKey: publicKeyOf(place) });

test.each(Object.entries(HELLOS))(
  "a hello with another agent's %s does nothing to that one",
  async (_, [joins, answer]) => {
    const before = await ofOthers();
    const agent = await joins();
    open.push(agent);
    expect(await agent.next(answer.kind)).toMatchObject(answer);
    expect(await ofOthers()).toEqual(before);
    expect(victim.socket.readyState).toBe(victim.socket.OPEN);
    await lease(victim, FOREIGN, TERM);
  },
);
