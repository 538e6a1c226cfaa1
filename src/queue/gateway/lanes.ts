/**
 * The lanes as an agent at another site sees them. The agent sends numbered entries, and the service answers each. The entries
 * of one tick share a frame. If the connection is cut, the agent sends again what must arrive (a job has ended, or goes back);
 * all else fails, and the caller asks again.
 */
import type { AddedPrinter } from '../../contract/added-printer.ts';
import {
  type AgentFrame,
  type Answer,
  type FrameEntry,
  MOST_ENTRIES,
  readFrame,
  type ServiceFrame,
  type TakenJobFrame,
} from '../../contract/gateway.ts';
import type { Lane, Scope } from '../../contract/lane.ts';
import type { QueuedJob } from '../../contract/queued-job.ts';
import { template as templateSchema } from '../../contract/template.ts';
import { hashOf } from '../../contract/template-hash.ts';
import { Bell, type BellHandler } from '../bell.ts';
import { keptTemplates } from '../kept-templates.ts';
import type { AgentLanes } from '../lane-store.ts';
import { MARKED, type StoredAnswer } from '../lease.ts';
import { QueueError } from '../queue-error.ts';
import type { ErrorLogger, QueueLogger } from '../queue-log.ts';
import { fenceOf, type JobQuestion, type LaneTurns, type TakenJob } from '../turns.ts';
import { BroughtJobs } from './brought-jobs.ts';
import { GatewayConnection, type JoiningAgent, RETRY, type RetryLimits } from './connection.ts';

/** Entries and their answers, without their numbers. */
type Unnumbered<T> = T extends { i: number } ? Omit<T, 'i'> : never;
type UnnumberedEntry = Unnumbered<FrameEntry>;
type UnnumberedAnswer = Unnumbered<Answer>;

interface Pending {
  /** Undefined: it was sent in a frame of its own, and is not sent again after a cut. */
  said: UnnumberedEntry | undefined;
  settle: PromiseWithResolvers<UnnumberedAnswer>;
}

type LeaseFrame = Extract<AgentFrame, { kind: 'lease' }>;
type Brought = NonNullable<Extract<ServiceFrame, { kind: 'ring' }>['brought']>;

interface GatewayOptions {
  agent: JoiningAgent;
  logger: QueueLogger;
  errors: ErrorLogger;
  retry?: Partial<RetryLimits> | undefined;
  /** Called each time that the agent has joined, so that the caller can repeat what has failed. */
  onJoined?: (() => void) | undefined;
  /** Called with all printers that people have added for the agent, each time that the service sends the list. */
  onPrinters?: ((printers: readonly AddedPrinter[]) => void) | undefined;
  moves?: MoveHandler | undefined;
}

/** What the agent does when the service gives it to another tenant. */
export interface MoveHandler {
  /** Finishes what is in hand. False: not all of it could be reported; the service asks again over the next connection. */
  leave(): Promise<boolean>;
  /** Starts anew for the tenant that has the agent now. This may be the old tenant, if the move did not happen. */
  moved(to: Scope): void;
}

export class GatewayLanes implements AgentLanes {
  readonly #connection: GatewayConnection;
  readonly #onJoined: GatewayOptions['onJoined'];
  readonly #onPrinters: GatewayOptions['onPrinters'];
  readonly #moves: MoveHandler | undefined;
  readonly #bell = new GatewayBell(() => this.#listenSoon());
  readonly #templates = keptTemplates();
  readonly #unsaid = new Map<number, Pending>();
  readonly #unanswered = new Map<number, Pending>();
  readonly #leases = new Map<number, PromiseWithResolvers<StoredAnswer[]>>();
  readonly #brought = new BroughtJobs();
  /** When (`performance.now`) each message without an answer was sent, by its number, the oldest first. */
  readonly #saidAt = new Map<number, number>();
  /** As `RetryLimits.again`. */
  readonly #again: number;
  #listenedAt = 0;
  #number = 0;
  #sending = false;
  #listening = false;
  #revoked = false;
  /** The agent has finished all that was in hand, so that another tenant can have it. */
  #hasLeft = false;

  constructor({ agent, logger, errors, retry, onJoined, onPrinters, moves }: GatewayOptions) {
    this.#onJoined = onJoined;
    this.#onPrinters = onPrinters;
    this.#moves = moves;
    const retries = { ...RETRY, ...retry };
    this.#again = retries.again;
    this.#connection = new GatewayConnection(agent, {
      ...{ logger, errors, retry: retries },
      listener: {
        joined: () => this.#joined(agent.scope),
        said: (frame) => this.#heard(frame),
        waitsSince: () => this.#saidAt.values().next().value,
        moved: (to) => this.#moves?.moved(to),
        lost: (revoked) => this.#lost(revoked),
      },
    });
  }

  readonly leases: AgentLanes['leases'] = {
    ask: (_agentId, asks, length) => {
      // A revoked agent has no lease, so whatever it has in hand ends.
      if (this.#revoked) {
        const none = { granted: null, wanted: true, canceled: [] };
        return Promise.resolve(asks.map(({ lane }) => ({ lane, ...none })));
      }
      return this.#lease([...asks], length);
    },
    giveBack: async (_agentId, lane, term) => {
      const i = ++this.#number;
      const settle = Promise.withResolvers<UnnumberedAnswer>();
      if (!this.#connection.send({ kind: 'giveBack', i, lane, term })) throw this.#connection.gone();
      this.#saidAt.set(i, performance.now());
      this.#unanswered.set(i, { said: undefined, settle });
      okOf(await settle.promise);
    },
  };

  async publish(report: Parameters<AgentLanes['publish']>[0]): Promise<null> {
    // If the answer is not `ok`, the service cannot read the report. To send it again would not help.
    okOf(await this.#say({ what: 'told', report: JSON.stringify(report) }));
    return null;
  }

  turnsOf(_lane: Lane, over: AbortSignal): LaneTurns {
    return {
      ended: async (of) => isTrue(await this.#say({ what: 'ended', ...fenceOf(of) }, over)),
      handedBack: async (of) => isTrue(await this.#say({ what: 'back', ...fenceOf(of) }, over)),
      note: async (of, order, note) => okOf(await this.#say({ what: 'note', ...fenceOf(of), order, note })),
      take: (ask) => this.#take(ask),
      forget: (lane, term) => this.#forget(lane, term),
    };
  }

  listen(lane: Lane, ring: BellHandler): () => void {
    return this.#bell.listen(lane, ring);
  }

  answers(): boolean {
    return this.#connection.joined || this.#revoked;
  }

  async ping(): Promise<void> {
    await this.#lease([], { contended: 1_000, alone: 1_000 });
  }

  async close(): Promise<void> {
    await this.#connection.close();
    this.#lost(false);
    for (const { settle } of this.#unsaid.values()) settle.resolve({ ok: false });
    this.#unsaid.clear();
  }

  #lease(asks: LeaseFrame['asks'], length: LeaseFrame['length']): Promise<StoredAnswer[]> {
    const i = ++this.#number;
    if (!this.#connection.send({ kind: 'lease', i, asks, length }))
      return Promise.reject(this.#connection.gone());
    const settle = Promise.withResolvers<StoredAnswer[]>();
    this.#leases.set(i, settle);
    this.#saidAt.set(i, performance.now());
    if (performance.now() - this.#listenedAt > this.#again) this.#listenNow();
    return settle.promise;
  }

  async #take(question: JobQuestion): Promise<TakenJob | null> {
    const brought = this.#brought.take(question);
    if (brought !== undefined) return brought;
    const { lane, term, beside, number } = question;
    this.#unask(lane, term);
    const answer = await this.#say({ what: 'take', lane, term, beside: [...beside], number, waits: true });
    if (!('job' in answer)) throw failureOf(answer);
    if (answer.job !== null) return this.#taken(lane, term, answer.job);
    this.#brought.none(question);
    return null;
  }

  #taken(lane: Lane, term: string, { id, delivery, json, template, ofRow, note }: TakenJobFrame): TakenJob {
    const its = template === undefined ? undefined : this.#template(template);
    return { lane, id, delivery, term, json, template: its, ofRow, note };
  }

  /** Drops a question that has not been sent. One that has been sent may still bring a job. */
  #unask(lane: Lane, term: string): void {
    for (const [i, { said, settle }] of this.#unsaid) {
      if (said?.what !== 'take' || said.lane !== lane || said.term !== term) continue;
      this.#unsaid.delete(i);
      settle.resolve({ job: null });
    }
  }

  #forget(lane: Lane, term: string): void {
    this.#unask(lane, term);
    const brought = this.#brought.forget(lane, term);
    if (brought !== undefined) this.#handBack(brought);
  }

  #bring(lane: Lane, { term, number, job }: Brought): void {
    const taken = this.#taken(lane, term, job);
    if (this.#brought.bring({ lane, term, number }, taken)) this.#handBack(taken);
  }

  /** Nobody here wants the job any more. */
  #handBack(taken: TakenJob): void {
    void this.#say({ what: 'back', ...fenceOf(taken) });
  }

  #template(json: string): QueuedJob['template'] | undefined {
    const hash = hashOf(json);
    const known = this.#templates.get(hash);
    if (known !== undefined) return known;
    const read = readFrame(templateSchema, json);
    if (read !== undefined) this.#templates.set(hash, read, { size: json.length });
    return read;
  }

  #say(said: UnnumberedEntry, over?: AbortSignal): Promise<UnnumberedAnswer> {
    const settle = Promise.withResolvers<UnnumberedAnswer>();
    if (!isKept(said) && !this.#connection.joined) {
      settle.reject(this.#connection.gone());
      return settle.promise;
    }
    const i = ++this.#number;
    const pending = { said, settle };
    this.#unsaid.set(i, pending);
    const giveUp = () => {
      this.#unsaid.delete(i);
      this.#unanswered.delete(i);
      this.#saidAt.delete(i);
      settle.resolve({ ok: false });
    };
    if (over?.aborted) giveUp();
    else over?.addEventListener('abort', giveUp, { once: true });
    this.#sendSoon();
    const done = () => over?.removeEventListener('abort', giveUp);
    settle.promise.then(done, done);
    return settle.promise;
  }

  #sendSoon(): void {
    if (this.#sending) return;
    this.#sending = true;
    // A job's end, its report and the question for the next job are said in one tick, and go in one frame.
    setImmediate(() => {
      this.#sending = false;
      while (this.#unsaid.size > 0 && this.#connection.joined) {
        const now = [...this.#unsaid].slice(0, MOST_ENTRIES);
        for (const [i, pending] of now) {
          this.#unsaid.delete(i);
          this.#unanswered.set(i, pending);
          this.#saidAt.set(i, performance.now());
        }
        this.#connection.send({
          kind: 'say',
          entries: now.flatMap(([i, { said }]) => (said === undefined ? [] : [{ ...said, i }])),
        });
      }
    });
  }

  #listenSoon(): void {
    if (this.#listening) return;
    this.#listening = true;
    setImmediate(() => {
      this.#listening = false;
      this.#listenNow();
    });
  }

  #listenNow(): void {
    this.#listenedAt = performance.now();
    this.#connection.send({ kind: 'listen', lanes: this.#bell.lanes });
  }

  #joined(scope: Scope): void {
    this.#revoked = false;
    // The agent has left, but has joined for its old tenant: the move was withdrawn, the new tenant is gone, or the move is
    // still to come. If it is still to come, the service asks again.
    if (this.#hasLeft) this.#moves?.moved(scope);
    this.#listenNow();
    this.#sendSoon();
    // Rings before this moment were not heard.
    this.#bell.ringAll();
    this.#onJoined?.();
  }

  #lost(revoked: boolean): void {
    const gone = this.#connection.gone();
    for (const { reject } of this.#leases.values()) reject(gone);
    this.#leases.clear();
    this.#saidAt.clear();
    for (const [i, pending] of [...this.#unanswered, ...this.#unsaid]) {
      if (isKept(pending.said)) this.#unsaid.set(i, pending);
      else {
        this.#unsaid.delete(i);
        pending.settle.reject(gone);
      }
    }
    this.#unanswered.clear();
    if (!revoked) return;
    this.#revoked = true;
    for (const lane of this.#bell.lanes) this.#bell.ring(lane, MARKED);
  }

  #heard(frame: ServiceFrame): void {
    if (frame.kind === 'ring') {
      if (frame.brought !== undefined) this.#bring(frame.lane, frame.brought);
      this.#bell.ring(frame.lane, frame.what);
    } else if (frame.kind === 'printers') this.#onPrinters?.(frame.printers);
    else if (frame.kind === 'move') void this.#leave();
    else if (frame.kind === 'leased') {
      this.#saidAt.delete(frame.i);
      this.#leases.get(frame.i)?.resolve(frame.answers);
      this.#leases.delete(frame.i);
    } else if (frame.kind === 'answers') for (const answer of frame.answers) this.#answered(answer);
  }

  async #leave(): Promise<void> {
    if ((await this.#moves?.leave()) !== true) return;
    this.#hasLeft = true;
    this.#connection.send({ kind: 'moved' });
  }

  #answered({ i, ...answer }: Answer): void {
    this.#saidAt.delete(i);
    const lease = this.#leases.get(i);
    if (lease !== undefined && 'failed' in answer) {
      this.#leases.delete(i);
      lease.reject(failureOf(answer));
    }
    const pending = this.#unanswered.get(i);
    if (pending === undefined) return;
    this.#unanswered.delete(i);
    pending.settle.resolve(answer);
  }
}

class GatewayBell extends Bell {
  readonly #changed: () => void;
  readonly #lanes = new Set<Lane>();

  constructor(changed: () => void) {
    super();
    this.#changed = changed;
  }

  get lanes(): Lane[] {
    return [...this.#lanes];
  }

  protected override begin(lane: Lane): void {
    this.#lanes.add(lane);
    this.#changed();
  }

  protected override end(lane: Lane): void {
    this.#lanes.delete(lane);
    this.#changed();
  }
}

/** Whether it is sent until it is answered, over as many connections as that takes. */
function isKept(said: UnnumberedEntry | undefined): boolean {
  return said?.what === 'ended' || said?.what === 'back';
}

function failureOf(answer: UnnumberedAnswer): QueueError {
  const { failed, refused } = 'failed' in answer ? answer : { failed: 'an answer to something else' };
  return new QueueError(refused === true ? 'refused' : 'unavailable', failed);
}

function isTrue(answer: UnnumberedAnswer): boolean {
  return 'ok' in answer && answer.ok;
}

/** @throws QueueError `unavailable`, `refused` */
function okOf(answer: UnnumberedAnswer): boolean {
  if ('ok' in answer) return answer.ok;
  throw failureOf(answer);
}
