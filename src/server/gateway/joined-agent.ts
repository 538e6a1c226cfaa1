/** The session of an agent that has joined: what it says of its lanes, in its scope alone, and the answers. */
import { setTimeout as wait } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { AddedPrinter } from '../../contract/added-printer.ts';
import {
  type AgentFrame,
  type Answer,
  agentFrame,
  type FrameEntry,
  type Goodbye,
  MOST_ENTRIES,
  MOST_LANES,
  readFrame,
  type ServiceFrame,
} from '../../contract/gateway.ts';
import { type Lane, printerOf, type Scope, scopeOf } from '../../contract/lane.ts';
import type { AgentStateReport } from '../../contract/report.ts';
import { type AgentLanes, type ErrorLogger, fenceOf, isMark, type reportParser } from '../../queue/index.ts';
import { isModest } from '../json-body.ts';
import type { Standing } from './enrolments.ts';
import { FrameRate } from './frame-rate.ts';
import type { Heartbeats } from './heartbeats.ts';
import { KeptTurns } from './kept-turns.ts';
import type { OwnPrinters } from './own-printers.ts';
import type { ReportRate } from './report-rate.ts';
import { Takes } from './takes.ts';

/** A question about all lanes that an agent may have is shorter than this. A text that takes `JSON.parse` long is not. */
const RICHEST = { values: 60_000, holders: 12_000 };
/** Bytes that may wait to be taken by the agent before it is asked what else it wants. */
const MOST_UNSENT = 8 * 1024 * 1024;
/** ms for which what the database last said of the agent counts. */
const CONFIRMED_FOR = 5_000;
/** ms of work on one frame after which others have their turn. */
const STRETCH = 5;
/** A job is taken in the place of an agent that was heard so lately, ms, and that no more bytes are on their way to. */
const THERE = { ms: 15_000, unsent: 64 * 1024 };

interface Parts {
  socket: WebSocket;
  agentId: string;
  process: string;
  session: string;
  scope: Scope;
  /** What people call it. */
  name: string;
  lanes: AgentLanes;
  printers: OwnPrinters;
  /**
   * The agent has finished, and may become another tenant's.
   * @param asked the service has told it to, in this session
   */
  onMoved: (asked: boolean) => void;
  /** The agent keeps the state that it was given; undefined: it was given none. */
  stored: (() => Promise<void>) | undefined;
  parse: ReturnType<typeof reportParser>;
  /** These two are of all agents of this instance. */
  heartbeats: Heartbeats;
  reportRate: ReportRate;
  errors: ErrorLogger;
}

export class JoinedAgent {
  readonly agentId: string;
  readonly process: string;
  /** Of this connection, unlike any other. */
  readonly session: string;
  /** When it was last heard (`performance.now`). */
  heardAt = performance.now();
  /** When the database last said that it may go on. */
  #confirmedAt = performance.now();
  readonly #parts: Parts;
  readonly #scope: Scope;
  #name: string;
  readonly #socket: WebSocket;
  readonly #lanes: AgentLanes;
  readonly #printers: OwnPrinters;
  #stored: Parts['stored'];
  readonly #errors: ErrorLogger;
  readonly #over = new AbortController();
  readonly #turns = new KeptTurns();
  readonly #takes = new Takes((of) => this.#turns.of(this.#lanes, of, this.#over.signal));
  readonly #asked = new Set<Lane>();
  readonly #listening = new Map<Lane, () => void>();
  /** Frames that have come and are not worked on yet. Even a paused socket still delivers the rest of one TCP chunk. */
  readonly #came: Buffer[] = [];
  readonly #answers: Answer[] = [];
  /** What it was last told of printers that people have added, as JSON. */
  #driven: string | undefined;
  /** Pings of the service that the agent has not answered yet. */
  #pings = 0;
  /** Whose it was last told to be. */
  #told: Scope | undefined;
  #working = false;
  #unanswered = 0;
  #unsent = 0;
  #room = Promise.withResolvers<void>();
  readonly #rate = new FrameRate(performance.now());

  constructor(parts: Parts) {
    const { socket } = parts;
    [this.#parts, this.#errors] = [parts, parts.errors];
    [this.agentId, this.process, this.session] = [parts.agentId, parts.process, parts.session];
    [this.#scope, this.#name, this.#stored] = [parts.scope, parts.name, parts.stored];
    [this.#socket, this.#lanes, this.#printers] = [socket, parts.lanes, parts.printers];
    const signed = () => (this.#rate.mayPing(performance.now()) ? this.#heard() : this.drop());
    socket.on('ping', signed);
    socket.on('pong', () => {
      // Whoever has a copy of its key can have the agent asked without end, and must not have it cut off for its answers.
      if (this.#pings === 0) return signed();
      this.#pings -= 1;
      this.#heard();
    });
    socket.on('close', () => this.#end());
  }

  /**
   * The database says that the agent may go on.
   * @param at when it was asked
   */
  async confirm(at: number, { name, decided, moves, movesTo }: Omit<Standing, 'session'>): Promise<void> {
    this.#name = name;
    if (moves && this.#told !== movesTo) this.send({ kind: 'move', scope: movesTo });
    this.#told = moves ? movesTo : undefined;
    await this.#printers.decided(decided);
    this.#confirmedAt = Math.max(this.#confirmedAt, at);
  }

  /** A frame as it came. */
  take(data: Buffer): void {
    this.#heard();
    if (this.#over.signal.aborted) return;
    this.#came.push(data);
    if (this.#working) this.#socket.pause();
    else void this.#work();
  }

  send(frame: ServiceFrame): void {
    if (this.#over.signal.aborted) return;
    const text = JSON.stringify(frame);
    this.#unsent += text.length;
    this.#socket.send(text, () => {
      this.#unsent -= text.length;
      this.#room.resolve();
    });
  }

  /** @param printers all that people have added for it */
  drive(printers: readonly AddedPrinter[]): void {
    const json = JSON.stringify(printers);
    if (json === this.#driven) return;
    this.#driven = json;
    this.send({ kind: 'printers', printers: [...printers] });
  }

  /** Ends the session, with the reason. */
  bye(code: Goodbye, retryAfterMs?: number): void {
    this.send({ kind: 'bye', code, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    this.#end();
    this.#socket.close(1_008, code);
  }

  /** Ends the session without a word: the agent is not there any more. */
  drop(): void {
    this.#end();
    this.#socket.terminate();
  }

  /** Whether the agent answers within `ms`. */
  async answers(ms: number): Promise<boolean> {
    const before = this.heardAt;
    const answered = Promise.withResolvers<void>();
    this.#socket.once('pong', answered.resolve);
    this.#pings += 1;
    this.#socket.ping();
    await Promise.race([answered.promise, wait(ms, undefined, { ref: false })]);
    this.#socket.off('pong', answered.resolve);
    return this.heardAt > before;
  }

  #heard(): void {
    this.heardAt = performance.now();
  }

  #end(): void {
    this.#over.abort();
    this.#came.length = 0;
    for (const silence of this.#listening.values()) silence();
    this.#listening.clear();
    this.#room.resolve();
  }

  async #work(): Promise<void> {
    this.#working = true;
    for (let data = this.#came.shift(); data !== undefined; data = this.#came.shift()) {
      const frame = isModest(data, RICHEST) ? readFrame(agentFrame, data) : undefined;
      if (frame === undefined) {
        this.bye('frame-wrong');
        break;
      }
      await this.#mayGoOn(frame, data.length);
      if (this.#over.signal.aborted) break;
      if (frame.kind === 'say') await this.#entries(frame.entries);
      else this.#frame(frame);
    }
    this.#working = false;
    if (!this.#over.signal.aborted) this.#socket.resume();
  }

  async #mayGoOn(frame: AgentFrame, bytes: number): Promise<void> {
    while (this.#unanswered >= MOST_ENTRIES || this.#unsent > MOST_UNSENT) {
      if (this.#over.signal.aborted) return;
      this.#room = Promise.withResolvers();
      await this.#room.promise;
    }
    const late = this.#rate.late(frame, bytes, performance.now());
    if (late > 0) await this.#pause(late);
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#over.signal, ref: false }).catch(() => undefined);
  }

  /** What is said in one tick goes to the queue in one command, so there is a pause only where reading takes long. */
  async #entries(entries: readonly FrameEntry[]): Promise<void> {
    let since = performance.now();
    for (const entry of entries) {
      this.#answer(entry.i, this.#entry(entry));
      const now = performance.now();
      if (now - since < STRETCH) continue;
      await this.#pause(this.#rate.worked(now - since, now));
      if (this.#over.signal.aborted) return;
      since = performance.now();
    }
  }

  #frame(frame: Exclude<AgentFrame, { kind: 'say' }>): void {
    if (frame.kind === 'listen') this.#listen(frame.lanes);
    else if (frame.kind === 'stored') this.#keeps();
    else if (frame.kind === 'moved') this.#parts.onMoved(this.#told !== undefined);
    else if (frame.kind === 'lease') void this.#lease(frame);
    else this.#answer(frame.i, this.#giveBack(frame));
  }

  async #giveBack({ lane, term }: Extract<AgentFrame, { kind: 'giveBack' }>): Promise<Said> {
    if (!this.#own(lane)) return FOREIGN;
    this.#takes.forget(lane);
    await this.#lanes.leases.giveBack(this.agentId, lane, term);
    return { ok: true };
  }

  #keeps(): void {
    this.#stored?.().catch((error: unknown) =>
      this.#errors.report('an agent keeps its state, and is not known to', error),
    );
    this.#stored = undefined;
  }

  #own(lane: Lane): boolean {
    return scopeOf(lane) === this.#scope;
  }

  #answer(i: number, what: Promise<Said>): void {
    this.#unanswered += 1;
    what
      .catch((error: unknown) => this.#failed(error))
      .then((said) => {
        this.#unanswered -= 1;
        this.#say({ i, ...said });
        this.#room.resolve();
      });
  }

  /** An agent is a stranger: what a database says of itself is for the log alone. */
  #failed(error: unknown): Said {
    this.#errors.report('what an agent asked for has failed', error, { agentId: this.agentId });
    return { failed: 'the service cannot do it now' };
  }

  /** What is answered in one tick goes in one frame. */
  #say(answer: Answer): void {
    this.#answers.push(answer);
    if (this.#answers.length > 1) return;
    setImmediate(() => this.send({ kind: 'answers', answers: this.#answers.splice(0) }));
  }

  async #entry(entry: FrameEntry): Promise<Said> {
    if (entry.what === 'told') return { ok: await this.#publish(entry.report) };
    if (!this.#own(entry.lane)) return FOREIGN;
    const turns = this.#turns.of(this.#lanes, entry, this.#over.signal);
    switch (entry.what) {
      case 'ended':
        return { ok: await turns.ended(fenceOf(entry)) };
      case 'back':
        return { ok: await turns.handedBack(fenceOf(entry)) };
      case 'note':
        return { ok: await turns.note(fenceOf(entry), entry.order, entry.note) };
      case 'take':
        if (!this.#isConfirmed) {
          return { failed: 'the database does not say whether this agent was revoked' };
        }
        // The lease of a printer that a person has refused meanwhile may last for a while.
        return { job: this.#printers.serves(printerOf(entry.lane)) ? await this.#takes.take(entry) : null };
    }
  }

  get #isConfirmed(): boolean {
    return performance.now() - this.#confirmedAt <= CONFIRMED_FOR;
  }

  /** False: the report is not this agent's, or cannot be read, and is left out. */
  async #publish(json: string): Promise<boolean> {
    const read = this.#parts.parse(json);
    if ('issues' in read) {
      const reason = new Error(read.issues.join(', '));
      this.#errors.report('unreadable payload set aside', reason, { agentId: this.agentId });
      return false;
    }
    const report = read.value;
    const scope = report.kind === 'agent' ? report.tenantId : this.#scope;
    if (report.agentId !== this.agentId || scope !== this.#scope) {
      this.#errors.report('report left out', new Error("in another agent's name"), { agentId: this.agentId });
      return false;
    }
    const late = this.#parts.reportRate.late(report, performance.now());
    if (late > 0) await wait(late, undefined, { ref: false });
    if (report.kind === 'job') await this.#printers.found(report.printerId);
    await this.#lanes.publish(report.kind === 'agent' ? await this.#served(report) : report, this.#scope);
    return true;
  }

  /**
   * The report without the printers that the agent does not serve: nobody is shown them as its own, or prints there. It has
   * the name that people gave the agent here.
   */
  async #served(report: AgentStateReport): Promise<AgentStateReport> {
    const { printers } = report;
    await this.#printers.told(printers);
    const served = {
      ...report,
      name: this.#name,
      printers: printers.filter(({ id }) => this.#printers.serves(id)),
    };
    await this.#parts.heartbeats.gather(this, served);
    return served;
  }

  async #lease({ i, asks, length }: Extract<AgentFrame, { kind: 'lease' }>): Promise<void> {
    try {
      const own = new Map(asks.map((ask) => [ask.lane, ask]));
      const notServed: LeaseAnswers = [];
      for (const lane of own.keys()) {
        const known = this.#asked.has(lane) || this.#asked.size < MOST_LANES;
        if (this.#own(lane) && known && this.#printers.serves(printerOf(lane))) {
          this.#asked.add(lane);
          continue;
        }
        own.delete(lane);
        if (this.#own(lane)) notServed.push({ lane, granted: null, wanted: true, canceled: [] });
      }
      if (own.size === 0) await this.#lanes.ping();
      const answers =
        own.size === 0 ? [] : await this.#lanes.leases.ask(this.agentId, [...own.values()], length);
      this.send({ kind: 'leased', i, answers: [...answers, ...notServed] });
    } catch (error) {
      this.#say({ i, ...this.#failed(error) });
    }
  }

  #listen(lanes: readonly Lane[]): void {
    const wanted = new Set(lanes.filter((lane) => this.#own(lane)));
    for (const [lane, silence] of this.#listening) {
      if (wanted.has(lane)) continue;
      silence();
      this.#listening.delete(lane);
      this.#takes.forget(lane);
    }
    for (const lane of wanted) {
      if (this.#listening.has(lane)) continue;
      const silence = this.#lanes.listen(lane, (what) => void this.#rung(lane, what));
      this.#listening.set(lane, silence);
    }
  }

  /** Never rejects. */
  async #rung(lane: Lane, what: string | null): Promise<void> {
    // A ring for a mark tells the agent more than that a job waits.
    if (what !== null && isMark(what)) this.#takes.forget(lane);
    if (!this.#printers.serves(printerOf(lane))) return;
    const isThere =
      this.#isConfirmed && performance.now() - this.heardAt < THERE.ms && this.#unsent < THERE.unsent;
    const brought = isThere && what !== null ? await this.#takes.rung(lane).catch(() => null) : null;
    if (brought !== undefined) this.send({ kind: 'ring', lane, what, ...(brought && { brought }) });
  }
}

type LeaseAnswers = Extract<ServiceFrame, { kind: 'leased' }>['answers'];
/** An answer without its number. */
type Said = Answer extends infer One ? (One extends { i: number } ? Omit<One, 'i'> : never) : never;
const FOREIGN: Said = { failed: "the lane is not one of this agent's", refused: true };
