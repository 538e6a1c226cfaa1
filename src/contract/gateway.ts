/**
 * What an agent at another site and the service say to each other over one WebSocket: JSON text frames, both ways. Members
 * are added over time, and each side leaves out what it does not know. `docs/agent-protocol.md` says it to others.
 */
import { z } from 'zod';
import { addedPrinter } from './added-printer.ts';
import { givenText } from './given-text.ts';
import { ALONE, lane, MOST_LEASE, scope } from './lane.ts';
import { saying } from './reason.ts';
import { agentId, REPORT_BYTES } from './report.ts';

/** The WebSocket's subprotocol, and where it is. */
export const PROTOCOL = 'platen.agent.1';
export const GATEWAY_PATH = '/agent/v1/lanes';
export const ENROLL_PATH = '/agent/v1/enroll';

/** Bytes of one frame: of an agent that has not proved who it is, of one that has, and of the service. */
export const FRAME_BYTES = { unproven: 16 * 1024, agent: 1024 * 1024, service: 64 * 1024 * 1024 } as const;
/** Most entries in one frame, and most of an agent that have no answer yet. */
export const MOST_ENTRIES = 64;
/** Most lanes that an agent asks about, or listens to. */
export const MOST_LANES = 5_000;

/** 16 random bytes, in base64url. */
const nonce = z.string().regex(/^[\w-]{22}$/);
/** An Ed25519 signature (RFC 8032), and a public key, in base64url. */
export const signature = z.string().regex(/^[\w-]{86}$/);
export const publicKey = z.string().regex(/^[\w-]{43}$/);
/** Where the agent believes the service to be: what it signs is of no use elsewhere. */
export const origin = z
  .string()
  .max(300)
  .refine((text) => URL.canParse(text) && new URL(text).origin === text, {
    error: saying('service-address', {}),
  });

/** What is signed, line by line; no part has a line break. */
export function signedToJoin(of: {
  origin: string;
  agent: string;
  process: string;
  nonce: string;
  challenge: string;
  state?: string | undefined;
}): Buffer {
  return lines(PROTOCOL, 'join', of.origin, of.agent, of.process, of.nonce, of.challenge, of.state ?? '');
}

/** @param of the code as it is compared: `plainCode` */
export function signedToEnroll(of: {
  origin: string;
  agentId: string;
  publicKey: string;
  code: string;
}): Buffer {
  return lines(PROTOCOL, 'enroll', of.origin, of.agentId, of.publicKey, of.code);
}

function lines(...parts: string[]): Buffer {
  return Buffer.from(parts.join('\n'));
}

const count = z.int().min(0);
const i = z.int().min(1);
/**
 * What agents say at one moment is one command in the database. So an agent may say only what a column holds (of a text, see
 * `givenText`): else it would fail the command for all, and an end or a job that goes back is said again until it is answered.
 */
const nth = z.int32().min(1);
const term = givenText.min(1).max(100);
const queued = givenText.min(1).max(100);
const inHand = { lane, id: queued, delivery: nth, term };
/** A note is what an agent leaves for the next one: a few counts. */
const note = givenText.max(64 * 1024);

/** One thing that an agent wants of the lanes; each has its answer, under its number. */
const entry = z.discriminatedUnion('what', [
  z.object({ i, what: z.literal('ended'), ...inHand }),
  z.object({ i, what: z.literal('back'), ...inHand }),
  z.object({ i, what: z.literal('note'), ...inHand, order: nth, note }),
  z.object({
    i,
    what: z.literal('take'),
    lane,
    term,
    beside: z.array(queued).max(10),
    number: count,
    /** Where there is none now, a job may come with the ring that says so. */
    waits: z.literal(true).exactOptional(),
  }),
  /** A report, as JSON. */
  z.object({ i, what: z.literal('told'), report: z.string().max(REPORT_BYTES) }),
]);
export type FrameEntry = z.infer<typeof entry>;

const leaseMs = z.int().min(1);
const leaseAsk = z.object({
  lane,
  term,
  fresh: z.boolean(),
  reaches: z.boolean(),
  keeps: z
    .object({
      ms: z
        .number()
        .min(0)
        .max(MOST_LEASE * ALONE),
      question: count,
    })
    .optional(),
});

/** What the service has last given the agent to keep; its content is the service's own. */
const state = z.string().regex(/^[\w.-]{1,2000}$/);

const hello = z.object({
  kind: z.literal('hello'),
  agent: agentId,
  /** A new one at each start of the agent's process. */
  process: z.string().regex(/^[\w-]{8,64}$/),
  nonce,
  version: z.string().max(50),
  /** Left out by an agent that has none yet. */
  state: state.exactOptional(),
  /** For a service that was restored from a back-up which is older than the agent. */
  publicKey: publicKey.exactOptional(),
});
export type Hello = z.infer<typeof hello>;
export const unprovenFrame = z.discriminatedUnion('kind', [
  hello,
  z.object({ kind: z.literal('proof'), signature }),
]);

/** What an agent says once it has joined. */
export const agentFrame = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('say'), entries: z.array(entry).min(1).max(MOST_ENTRIES) }),
  z.object({
    /** Without a lane it asks only whether the lanes answer. */
    kind: z.literal('lease'),
    i,
    asks: z.array(leaseAsk).max(MOST_LANES),
    length: z.object({ contended: leaseMs.max(MOST_LEASE), alone: leaseMs.max(MOST_LEASE * ALONE) }),
  }),
  z.object({ kind: z.literal('giveBack'), i, lane, term }),
  /** It has kept the state that came with the welcome, and shows it the next time. */
  z.object({ kind: z.literal('stored') }),
  /** It has finished what it had, and told it: it may be another tenant's now. */
  z.object({ kind: z.literal('moved') }),
  /** Which lanes' rings it wants to hear; all others it does not. */
  z.object({ kind: z.literal('listen'), lanes: z.array(lane).max(MOST_LANES) }),
]);
export type AgentFrame = z.infer<typeof agentFrame>;

/** Why the service ends a connection; what people are told of it is in `GOODBYES`. */
export const GOODBYES = {
  revoked: 'the service has revoked this agent',
  unknown: 'the service does not know this agent',
  'proof-wrong': 'the service does not take this agent for who it says it is',
  stale: 'it shows an old state: was its data directory copied, or one of the two restored from a back-up?',
  taken: 'another process of the same agent is connected: was its data directory copied?',
  'too-old': 'the service speaks another version of the protocol',
  'frame-wrong': 'the service did not understand the agent',
  'too-many': 'the service has no room for another agent',
  restart: 'the service restarts',
} as const;
export type Goodbye = keyof typeof GOODBYES;

/** For people. A newer service may have other reasons. */
export function goodbyeWords(code: string): string {
  return Object.entries(GOODBYES).find(([known]) => known === code)?.[1] ?? `the service says "${code}"`;
}

const takenJob = z.object({
  id: queued,
  delivery: z.int().min(1),
  json: z.string(),
  /** The template, as JSON; left out: `json` contains it. */
  template: z.string().exactOptional(),
  ofRow: z.boolean(),
  note: z.string().nullable(),
});
export type TakenJobFrame = z.infer<typeof takenJob>;
/**
 * `ok`: whether what was said counts; `job`: what was taken, null: nothing; `failed`: the service could not do it now, or
 * (`refused`) never will.
 */
const answer = z.union([
  z.object({ i, ok: z.boolean() }),
  z.object({ i, job: takenJob.nullable() }),
  z.object({ i, failed: z.string().max(1_000), refused: z.boolean().exactOptional() }),
]);
export type Answer = z.infer<typeof answer>;

const leaseAnswer = z.object({
  lane,
  granted: z.number().nullable(),
  wanted: z.boolean(),
  canceled: z.array(z.string()),
});

/** What the service says. A kind that an agent does not know says nothing to it. */
export const serviceFrame = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('challenge'), nonce }),
  z.object({
    kind: z.literal('welcome'),
    scope,
    name: z.string(),
    state: state.exactOptional(),
    /** What the agent has written down before counts no more: another one may have gone on from there. */
    journalLost: z.literal(true).exactOptional(),
  }),
  z.object({ kind: z.literal('answers'), answers: z.array(answer) }),
  z.object({ kind: z.literal('leased'), i, answers: z.array(leaseAnswer) }),
  /** It is to be another tenant's: it takes no job any more, tells all that it has to tell, and says `moved`. */
  z.object({ kind: z.literal('move'), scope }),
  /** All that people have added for the agent, once it has joined and whenever that changes. */
  z.object({ kind: z.literal('printers'), printers: z.array(addedPrinter.strip()).max(1_000) }),
  z.object({
    kind: z.literal('ring'),
    lane,
    what: z.string().nullable(),
    /** The job, where a question with this number waits for one: as if it had been asked again. */
    brought: z.object({ term, number: count, job: takenJob }).exactOptional(),
  }),
  z.object({
    kind: z.literal('bye'),
    code: z.string().max(50),
    /** Not to come again before; left out: as the agent likes. */
    retryAfterMs: z.int().min(0).max(3_600_000).exactOptional(),
  }),
]);
export type ServiceFrame = z.infer<typeof serviceFrame>;

/** A frame as it came, or JSON within one; undefined: it is none of these. */
export function readFrame<T>(schema: z.ZodType<T>, data: Buffer | string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(String(data))).data;
  } catch {
    return undefined;
  }
}
