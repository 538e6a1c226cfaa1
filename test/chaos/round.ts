/**
 * One round: labels are printed while faults come and go; then everything is mended, and every job has to
 * end. The jobs are compared with the paper. Then the held ones are decided by the paper, as a person would,
 * and all are compared again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceRefusal } from '../../src/cli/refusal.ts';
import type { JobView } from '../../src/contract/job.ts';
import { hasEnded } from '../../src/contract/job-life.ts';
import type { Fault } from './fault-plan.ts';
import type { PlatenProcess } from './platen-process.ts';
import { labelId, type PostedJob } from './posted-jobs.ts';
import type { Random } from './random.ts';
import type { ChaosSite, SitePrinter } from './site.ts';
import { counted, describe, judgeJob, judgeOrder, judgePaper, type Violation } from './verdict.ts';

/** Without any progress for this long, a mended site is stuck, ms. */
const STUCK_MS = 120_000;
/**
 * The same where an agent's directory was rolled back: with it the report of a job's end may be gone that the queue knows, and the
 * service holds the job ten minutes later.
 */
const REPORT_LOST_MS = 720_000;
/** While a printer has this many jobs that have not ended, no more are posted to it. */
const MOST_OPEN = 3;
/** Between two jobs of a printer that says nothing, ms. */
const MUTE_PAUSE_MS = 3_000;
/** Between two looks at the jobs, ms. */
const LOOK_MS = 300;
/** Longest that a job which has ended is still being canceled, ms. */
const MOMENT_MS = 30_000;
const NEVER = new AbortController().signal;

/** Does it; a job that is still being canceled is asked for again, as the service says. */
async function asked(decide: () => Promise<unknown>): Promise<void> {
  for (const late = AbortSignal.timeout(MOMENT_MS); ; await pause(LOOK_MS)) {
    try {
      await decide();
      return;
    } catch (error) {
      const again = error instanceof ServiceRefusal && error.code === 'job-not-held';
      if (!again || late.aborted) throw error;
    }
  }
}

export class Round {
  readonly #site: ChaosSite;
  readonly #random: Random;
  readonly #firstJob: number;
  readonly #say: (text: string) => void;
  readonly #jobs: PostedJob[] = [];
  /** Jobs that ended otherwise than printed, at least for a time: their order is not judged. */
  readonly #touched = new Set<PostedJob>();
  /** Held jobs that a person resumed at the first label missing on the paper; no fault came after that. */
  readonly #released = new Set<PostedJob>();
  readonly #papersBefore: number[];
  readonly violations: Violation[] = [];
  faults = 0;
  held = 0;
  /** Jobs that were posted at a fixed rate, answered or not. */
  asked = 0;

  constructor(site: ChaosSite, random: Random, firstJob: number, say: (text: string) => void) {
    this.#site = site;
    this.#random = random;
    this.#firstJob = firstJob;
    this.#say = say;
    this.#papersBefore = site.printers.map(({ printer }) => printer.paper.length);
  }

  get jobs(): number {
    return this.#jobs.length;
  }

  get labels(): number {
    return this.#jobs.reduce((sum, { records, copies }) => sum + records * copies, 0);
  }

  /** @param ms how long faults are made */
  async run(ms: number): Promise<void> {
    const site = this.#site;
    for (const agent of site.elsewhere) agent.rolledBack = false;
    const over = AbortSignal.timeout(ms);
    const posting =
      site.jobsPerSecond === undefined
        ? site.printers.map((one, index) => this.#post(one, index, over))
        : [this.#postInTurn(site.jobsPerSecond, over)];
    await this.#makeFaults(site.faults(site, this, this.#random), over);
    // A request is repeated until the service answers, so that one has to be there.
    await this.#mend();
    await Promise.all(posting);
    await this.#ended();
    this.#judge('as it ended', await this.#views());
    await this.#atRest();
    await this.#decide();
    await this.#atRest();
    const views = await this.#views();
    this.#judge('as it was decided', views);
    this.#judgeDecided(views);
    this.#judgeAll(views);
  }

  async #post({ id }: SitePrinter, printer: number, over: AbortSignal): Promise<void> {
    let number = this.#firstJob + printer * 10_000;
    while (!over.aborted) {
      if ((await this.#openAt(printer)) >= MOST_OPEN) {
        await pause(LOOK_MS);
        continue;
      }
      const small = this.#random.chance(0.4);
      const records = this.#random.between(1, small ? 3 : 40);
      const job = { number: number++, printer, records, copies: this.#random.pick([1, 1, 1, 2, 3]) };
      const jobId = await this.#site.poster.post(job, id, over);
      if (jobId !== undefined) this.#jobs.push({ ...job, id: jobId, acceptedAt: Date.now() });
      // A mute printer's jobs are held at once: without a pause a person would have hundreds to decide.
      if (this.#site.printers[printer]?.printer.options.mute) await pause(MUTE_PAUSE_MS);
    }
  }

  /** A job for each printer in turn, at a fixed rate; it waits for the answer of the printer's one before, and for no other's. */
  async #postInTurn(perSecond: number, over: AbortSignal): Promise<void> {
    const { printers, poster } = this.#site;
    const posts: Promise<void>[] = printers.map(() => Promise.resolve());
    for (let turn = 0; !over.aborted; turn++) {
      const [printer, number] = [turn % printers.length, this.#firstJob + turn];
      const job = { number, printer, records: this.#random.between(1, 5), copies: 1 };
      const before = posts[printer];
      const post = async () => {
        await before;
        const id = await poster.post(job, printers[printer]?.id ?? '', NEVER);
        if (id !== undefined) this.#jobs.push({ ...job, id, acceptedAt: Date.now() });
      };
      posts[printer] = post();
      this.asked++;
      await pause(1_000 / perSecond);
    }
    await Promise.all(posts);
  }

  async #openAt(printer: number): Promise<number> {
    const own = new Set(this.#jobs.filter((job) => job.printer === printer).map(({ id }) => id));
    const views = await this.#jobsOpen().catch(() => undefined);
    return views === undefined ? MOST_OPEN : views.filter(({ id }) => own.has(id)).length;
  }

  async #jobsOpen(): Promise<JobView[]> {
    const { admin } = this.#site;
    const lists = ['queued', 'printing'].map((status) => admin.jobs({ status, limit: 500 }));
    return (await Promise.all(lists)).flat();
  }

  /** A person cancels a job that prints, or any, whatever it is doing; where the service refuses that, the job goes on. */
  cancellation(): Fault {
    return {
      name: 'a person: cancels a job',
      weight: 4,
      begin: async () => {
        const recent = this.#jobs.slice(-2 * this.#site.printers.length).map(({ id }) => id);
        const open = this.#random.chance(0.5) ? await this.#jobsOpen().catch(() => []) : [];
        const printing = open.filter(({ id, status }) => status === 'printing' && recent.includes(id));
        const ids = printing.length > 0 ? printing.map(({ id }) => id) : recent;
        if (ids.length > 0) await this.#site.admin.cancelJob(this.#random.pick(ids)).catch(() => undefined);
        return async () => {};
      },
    };
  }

  async #makeFaults(faults: readonly Fault[], over: AbortSignal): Promise<void> {
    const running = new Map<string, Promise<void>>();
    while (!over.aborted) {
      const fault = this.#random.weighted(faults);
      if (!(fault.alone ? running.size > 0 : running.has(target(fault)))) {
        this.faults++;
        this.#say(fault.name);
        const one = fault.begin().then((end) => end());
        if (fault.alone) await one;
        running.set(
          target(fault),
          one.finally(() => running.delete(target(fault))),
        );
      }
      await pause(this.#random.between(100, this.#site.mostBetweenFaults));
    }
    await Promise.all(running.values());
  }

  async #mend(): Promise<void> {
    for (const database of this.#site.databases) await database.start();
    for (const { printer } of this.#site.printers) await printer.mend();
    for (const { line, clock } of this.#site.elsewhere) {
      line.mend();
      clock.set(0);
    }
    for (const running of this.#processes) running.launch();
    this.#say('mended');
  }

  /** Waits until no job is open; when nothing has changed for `STUCK_MS`, the open jobs are violations. */
  async #ended(): Promise<void> {
    const ids = new Set(this.#jobs.map(({ id }) => id));
    let last = '';
    let movedAt = Date.now();
    const stuckAfter = this.#site.elsewhere.some((agent) => agent.rolledBack) ? REPORT_LOST_MS : STUCK_MS;
    for (;;) {
      await this.#site.approve({ agentsToo: true }).catch(() => undefined);
      const open = (await this.#jobsOpen().catch(() => undefined))?.filter(({ id }) => ids.has(id));
      if (open?.length === 0) return;
      const now = JSON.stringify(open?.map((view) => [view.id, view.labels, view.status]));
      if (now !== last) movedAt = Date.now();
      last = now;
      if (Date.now() - movedAt > stuckAfter) {
        if (open === undefined) throw new Error(`The service does not answer. ${this.#falls().join('; ')}`);
        for (const view of open) this.#stuck(view);
        return;
      }
      await pause(LOOK_MS);
    }
  }

  #stuck(view: JobView): void {
    const job = this.#jobs.find(({ id }) => id === view.id);
    const site = this.#site.printers[job?.printer ?? -1];
    const printer = `${site?.name}: ${site?.printer.describe()}`;
    const text = `job ${job?.number} (${view.id}) stays ${view.status}, ${describe(view)}; ${printer}`;
    this.violations.push({ kind: 'stuck', text, ...(job !== undefined && { job }) });
  }

  async #views(): Promise<Map<PostedJob, JobView>> {
    const views = new Map<PostedJob, JobView>();
    for (const job of this.#jobs) views.set(job, await this.#site.admin.job(job.id));
    return views;
  }

  /** How long after a job was accepted its labels were out, ms, the soonest first; of jobs that nobody had to decide. */
  get delays(): number[] {
    const { printers } = this.#site;
    const outAt = printers.map(({ printer }) => new Map(printer.paper.map(({ ids, at }) => [ids[0], at])));
    const untouched = this.#jobs.filter((job) => !this.#touched.has(job));
    return untouched
      .flatMap((job) =>
        Array.from({ length: job.records }, (_, record) => {
          const at = outAt[job.printer]?.get(labelId(job, record));
          return at === undefined ? [] : [at - job.acceptedAt];
        }).flat(),
      )
      .sort((one, other) => one - other);
  }

  #judge(when: string, views: ReadonlyMap<PostedJob, JobView>): void {
    for (const [job, view] of views) {
      if (!hasEnded(view.status)) continue;
      const counts = counted(this.#site.printers[job.printer]?.printer.paper ?? []);
      const found = judgeJob(job, view, counts);
      this.violations.push(...found.map((one) => ({ ...one, text: `${when}: ${one.text}` })));
      if (view.status !== 'printed') this.#touched.add(job);
    }
  }

  /** Decides every held job by what is on the paper of the printer at rest, as a person would. */
  async #decide(): Promise<void> {
    for (const [job, view] of await this.#views()) {
      if (view.status !== 'held') continue;
      this.held++;
      this.#say(`held: ${this.#site.printers[job.printer]?.name}, job ${job.number}, ${describe(view)}`);
      const { admin, printers } = this.#site;
      const counts = counted(printers[job.printer]?.printer.paper ?? []);
      const total = job.records * job.copies;
      let out = 0;
      while (out < total && isThere(job, out, counts)) out++;
      const later = Array.from({ length: total - out }, (_, index) => out + index + 1);
      const gap = later.some((label) => label < total && isThere(job, label, counts));
      const decide = () => (gap ? admin.cancelJob(job.id) : admin.resumeJob(job.id, { from: out }));
      if (!gap) this.#released.add(job);
      await asked(decide).catch((error: unknown) => {
        const text = `job ${job.number} (${job.id}), held, cannot be decided from label ${out}: ${error}`;
        this.violations.push({ kind: 'stuck', text, job });
      });
    }
    await this.#ended();
  }

  /** Jobs resumed by the paper, with no fault since, have each label once, whatever the printer could say. */
  #judgeDecided(views: ReadonlyMap<PostedJob, JobView>): void {
    for (const job of this.#released) {
      const view = views.get(job);
      if (view === undefined) continue;
      const counts = counted(this.#site.printers[job.printer]?.printer.paper ?? []);
      const printed: JobView = { ...view, status: 'printed' };
      const found = judgeJob(job, printed, counts);
      this.violations.push(...found.map((one) => ({ ...one, text: `after a person decided: ${one.text}` })));
    }
  }

  /** Waits until nothing more comes out of any printer. */
  async #atRest(): Promise<void> {
    const signal = AbortSignal.timeout(STUCK_MS);
    while (!this.#site.printers.every(({ printer }) => printer.atRest))
      await pause(50, undefined, { signal });
  }

  #judgeAll(views: ReadonlyMap<PostedJob, JobView>): void {
    const { printers } = this.#site;
    for (const [index, { name, printer }] of printers.entries()) {
      const paper = printer.paper.slice(this.#papersBefore[index]);
      this.violations.push(...judgePaper(name, paper));
      const own = [...views.keys()].filter((job) => job.printer === index && !this.#touched.has(job));
      this.violations.push(...judgeOrder(name, own, paper));
    }
    for (const text of this.#falls()) this.violations.push({ kind: 'fallen', text });
  }

  get #processes(): readonly PlatenProcess[] {
    const { agents, services } = this.#site;
    return [...services, ...agents];
  }

  /** Takes the notes of processes that ended without being told to, or did not end when told to. */
  #falls(): string[] {
    return this.#processes.flatMap((running) => running.falls.splice(0));
  }
}

/** Whether a label of a job, counted from 0, is on the paper: the copies of a record are alike. */
function isThere(job: PostedJob, label: number, counts: ReadonlyMap<string, number>): boolean {
  const record = Math.floor(label / job.copies);
  return (counts.get(labelId(job, record)) ?? 0) > label % job.copies;
}

/** Only one fault with the same key may run at a time: by process, by database, or by printer and fault. */
function target({ name }: Fault): string {
  return name.includes(': ') ? name : name.replace(/^\w+ of /, '');
}
