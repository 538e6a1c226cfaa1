/**
 * What this agent has sent to printers. There is one row for each job, and it is durable before anything is sent.
 *
 * `intent` is committed before the first byte of the labels that it covers. So after a crash, no label from `intent` on can
 * have reached the printer. `printed` is what the printer itself has confirmed. So no label before it needs to be sent again.
 * The labels between the two are uncertain: the odometer tells which of them are out, unless another job of ours has used the
 * printer since. A final report is committed together with the job's end. It stays until it is published, and is published
 * again if the queue loses it.
 *
 * A write does not wait for the disk: one wait (`journal-file.ts`) covers what the jobs of all printers have written by then.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { z } from 'zod';
import { queueId } from '../contract/queued-job.ts';
import { type JobReport, jobReport } from '../contract/report.ts';
import type { PublishedReport } from '../queue/index.ts';
import { pagesOf } from './job/page-count.ts';
import { JournalFile, notSynced } from './journal-file.ts';
import { type PrinterDocument, printerDocument } from './printer/link.ts';

/** Labels are counted from 0. `base`, `intent`, `sent` and `printed` name the first label that they do not include. */
export interface JournalEntry {
  /** What the job is called in its lane. */
  queueId: string;
  printerId: string;
  delivery: number;
  total: number;
  /**
   * How many labels were done with when `odometer` was read; `odometer`: null if the printer has none. `base` is greater than
   * `printed` only at a queue that confirms nothing: then it counts labels that the queue has delivered.
   */
  base: number;
  odometer: number | null;
  intent: number;
  sent: number;
  printed: number;
  document?: PrinterDocument | undefined;
}

const count = z.int().min(0);
const row = z.object({
  job_id: z.string(),
  printer_id: z.string(),
  delivery: z.int(),
  total: count,
  base: count,
  odometer: z.int().nullable(),
  intent: count,
  sent: count,
  printed: count,
  document: z.string().nullable(),
  final_report: z.string().nullable(),
});

const behindRow = z.object({ labels: count.nullable() });

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL: the disk has not taken the write. */
const NOT_TAKEN = new Set([8, 10, 13]);

/** How long after its publication the file may still call a report unpublished, ms, if nothing else is written meanwhile. */
const OUT_MS = 200;

/** The text of each report, because it is needed twice: when the report is written, and when it has been published. */
const spelt = new WeakMap<JobReport, string>();

/** The report as JSON: always the same text, however its object was built. */
function text(report: JobReport): string {
  const known = spelt.get(report);
  if (known !== undefined) return known;
  const json = JSON.stringify(jobReport.parse(report));
  spelt.set(report, json);
  return json;
}

/** Reports that are read at a time. */
const PAGE = 100;
const unpublishedRows = z.array(z.object({ unpublished: z.string(), updated_at: z.int(), number: z.int() }));

/** A report to be published, and its place in the order of such reports. */
export interface UnpublishedReport {
  report: JobReport;
  updatedAt: number;
  number: number;
}

export interface JournalOutcome {
  entry: JournalEntry;
  /** The report of the job's outcome; null: the job has none yet. */
  final: JobReport | null;
}

export class Journal {
  readonly #db: DatabaseSync;
  readonly #sync: JournalFile;
  readonly #get: StatementSync;
  readonly #since: StatementSync;
  readonly #behind: StatementSync;
  readonly #settleBehind: StatementSync;
  readonly #sentSince: StatementSync;
  readonly #underWay: StatementSync;
  readonly #put: StatementSync;
  readonly #unpublished: StatementSync;
  readonly #published: StatementSync;
  readonly #told: StatementSync;
  readonly #tellAgain: StatementSync;
  readonly #prune: StatementSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  /** Reports that are published, but that the file still calls unpublished. */
  #out: Record<'queueId' | 'report' | 'stream' | 'at', string | null>[] = [];
  #saying: NodeJS.Timeout | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#sync = new JournalFile(db.location());
    this.#get = db.prepare('SELECT * FROM jobs WHERE job_id = ?');
    // Finds a later job that makes this job's odometer useless. It began at a higher count, or at the same count with labels
    // about to be sent, or without a count. The one job that began where this job's labels end does no such thing.
    this.#since = db.prepare(`
      SELECT 1 FROM jobs AS mine JOIN jobs AS other
        ON other.printer_id = mine.printer_id AND other.job_id <> mine.job_id AND other.updated_at >= mine.updated_at
      WHERE mine.job_id = :id AND other.intent > 0 AND other.odometer IS NOT :end AND (other.odometer IS NULL OR other.odometer > mine.odometer
        OR (other.odometer = mine.odometer AND other.intent > other.base))
      LIMIT 1`);
    this.#behind = db.prepare(`
      SELECT max(intent - base) AS labels FROM jobs
      WHERE printer_id = :printerId AND job_id <> :id AND odometer = :end AND intent > base`);
    // In a row, the job behind is not on sheets: the printer counts its labels.
    const out = 'max(printed, base + min(:counted, intent - base))';
    this.#settleBehind = db.prepare(`
      UPDATE jobs SET base = ${out}, intent = ${out}, sent = ${out}, printed = ${out}, odometer = :odometer, document = NULL,
        updated_at = :now
      WHERE printer_id = :printerId AND job_id <> :id AND odometer = :end AND intent > base AND final_report IS NULL`);
    this.#sentSince = db.prepare(`
      SELECT 1 FROM jobs WHERE printer_id = :printerId AND job_id <> :queueId AND intent > 0
        AND (odometer > :odometer OR (odometer = :odometer AND intent > base)) LIMIT 1`);
    // The jobs of a printer come in order. So if another job was printed since, this one has been settled elsewhere.
    this.#underWay = db.prepare(`
      SELECT 1 FROM jobs AS mine
      WHERE printer_id = ? AND final_report IS NULL AND intent > printed AND NOT EXISTS (
        SELECT 1 FROM jobs AS other WHERE other.printer_id = mine.printer_id AND other.job_id <> mine.job_id
          AND other.intent > 0 AND other.updated_at > mine.updated_at)
      LIMIT 1`);
    this.#put = db.prepare(`
      INSERT INTO jobs (job_id, printer_id, delivery, total, base, odometer, intent, sent, printed, document,
        final_report, unpublished, updated_at)
      VALUES (:queueId, :printerId, :delivery, :total, :base, :odometer, :intent, :sent, :printed, :document,
        :final, :unpublished, :now)
      ON CONFLICT (job_id) DO UPDATE SET
        printer_id = excluded.printer_id, delivery = excluded.delivery, total = excluded.total,
        base = excluded.base, odometer = excluded.odometer, intent = excluded.intent, sent = excluded.sent,
        printed = excluded.printed, document = excluded.document,
        final_report = excluded.final_report, unpublished = excluded.unpublished,
        updated_at = excluded.updated_at`);
    this.#unpublished = db.prepare(`
      SELECT unpublished, updated_at, rowid AS number FROM jobs
      WHERE unpublished IS NOT NULL AND (updated_at, rowid) > (?, ?) ORDER BY updated_at, rowid LIMIT ${PAGE}`);
    this.#published = db.prepare(`
      UPDATE jobs SET unpublished = NULL, told_in = :stream, told_at = :at
      WHERE job_id = :queueId AND unpublished = :report`);
    const lost = 'told_in = ? AND told_at > ? AND final_report IS NOT NULL';
    this.#told = db.prepare(`SELECT 1 FROM jobs WHERE ${lost} LIMIT 1`);
    this.#tellAgain = db.prepare(
      `UPDATE jobs SET unpublished = final_report, told_in = NULL, told_at = NULL WHERE ${lost}`,
    );
    this.#prune = db.prepare(
      `DELETE FROM jobs
       WHERE (final_report IS NOT NULL OR intent = printed) AND unpublished IS NULL AND updated_at < ?`,
    );
    this.#begin = db.prepare('BEGIN');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
  }

  /**
   * The job's entry, by the job's ID in the queue. The odometer is left out if the printer has since counted labels of jobs
   * other than this one and the one job behind it.
   * @param perPage how many labels the printer counts as one
   */
  look(id: string, perPage = 1): JournalOutcome | null {
    const found = this.#get.get(id);
    if (found === undefined) return null;
    const parsed = row.parse(found);
    const uncertain = parsed.final_report === null && parsed.intent > parsed.printed;
    const { odometer } = parsed;
    const end = odometer === null ? null : odometer + pagesOf(parsed.intent - parsed.base, perPage);
    const spoilt = uncertain && this.#since.get({ id, end }) !== undefined;
    return {
      entry: {
        queueId: parsed.job_id,
        printerId: parsed.printer_id,
        delivery: parsed.delivery,
        total: parsed.total,
        base: parsed.base,
        odometer: spoilt ? null : parsed.odometer,
        intent: parsed.intent,
        sent: parsed.sent,
        printed: parsed.printed,
        ...(parsed.document === null ? {} : { document: printerDocument.parse(JSON.parse(parsed.document)) }),
      },
      final: parsed.final_report === null ? null : jobReport.parse(JSON.parse(parsed.final_report)),
    };
  }

  /**
   * How many labels of the job behind this one were sent, at most, before anybody knew what became of this job's labels. The
   * job behind is the one whose count begins where this one's ends.
   * @param perPage how many labels of this job the printer counts as one
   */
  behind({ queueId: id, printerId, odometer, intent, base }: JournalEntry, perPage: number): number {
    const end = odometer === null ? null : odometer + pagesOf(intent - base, perPage);
    return behindRow.parse(this.#behind.get({ id, end, printerId })).labels ?? 0;
  }

  /**
   * The counter of the printer at rest has settled a job: writes down what it tells of the job behind, with the first job's
   * entry, in one commit. Writes nothing if there is no job behind.
   * @param before the first job's entry before that reading, and `settled` the one after it. Without an odometer: all that is
   *   known of that reading is that labels of the first job were still missing, and so were all of the job behind
   * @throws JournalError
   */
  settleBehind(before: JournalEntry, settled: JournalEntry, perPage: number): void {
    const { queueId: id, printerId, base, intent } = before;
    const { odometer } = settled;
    if (before.odometer === null || this.behind(before, perPage) === 0) return;
    const end = before.odometer + pagesOf(intent - base, perPage);
    const counted = Math.max(0, (odometer ?? end) - end);
    const settle = { id, printerId, end, counted, odometer };
    this.#store(settled, null, null, () => this.#settleBehind.run({ ...settle, now: Date.now() }));
  }

  /** Whether this agent has sent other jobs to the printer since the printer's counter showed the odometer of this entry. */
  hasSentSince({ queueId: id, printerId, odometer }: JournalEntry): boolean {
    return this.#sentSince.get({ queueId: id, printerId, odometer }) !== undefined;
  }

  /** Whether a job has labels at the printer, and nobody knows yet what became of them. */
  underWay(printerId: string): boolean {
    return this.#underWay.get(printerId) !== undefined;
  }

  /** Drops an unpublished report of the job, because the job has gone on since. @throws JournalError */
  write(entry: JournalEntry): void {
    this.#store(entry, null, null);
  }

  /** Writes the job's outcome and the duty to report it, in one commit. @throws JournalError */
  finish(entry: JournalEntry, final: JobReport): void {
    const written = text(final);
    this.#store(entry, written, written);
  }

  /** The job went back to its lane. Writes where it stands and the duty to report that, in one commit. @throws JournalError */
  handBack(entry: JournalEntry, handedBack: JobReport): void {
    this.#store(entry, null, text(handedBack));
  }

  /** Resolves when all that has been written by now is durable. @throws JournalError */
  committed(): Promise<void> {
    return this.#sync.done();
  }

  /** To be called once nobody writes or waits for the disk any more. */
  close(): Promise<void> {
    this.#sayOut();
    clearTimeout(this.#saying);
    return this.#sync.close();
  }

  /** The oldest reports that have not been published, a page at a time. @param after the last report of the page before */
  unpublished(after?: UnpublishedReport): UnpublishedReport[] {
    this.#sayOut();
    return unpublishedRows
      .parse(this.#unpublished.all(after?.updatedAt ?? -1, after?.number ?? -1))
      .map(({ unpublished, updated_at: updatedAt, number }) => ({
        report: jobReport.parse(JSON.parse(unpublished)),
        updatedAt,
        number,
      }));
  }

  /**
   * Ends the duty to publish this report, unless a newer report has taken its place. This is written together with the next
   * write, and becomes durable with that write. A commit of its own would slow each job down, and it does no harm if the report
   * is published twice.
   */
  published(report: JobReport, place: PublishedReport | null): void {
    const { stream = null, at = null } = place ?? {};
    const name = queueId(report.jobId, report.round ?? 0);
    this.#out.push({ queueId: name, report: text(report), stream, at });
    this.#saying ??= setTimeout(() => this.#sayOut(), OUT_MS).unref();
  }

  /**
   * Writes which reports are published. If the disk does not take this, it goes with a later write. If the agent is started
   * again before that, it publishes these reports again.
   */
  #sayOut(): void {
    try {
      if (this.#out.length > 0) this.#unsynced(() => undefined);
    } catch {
      this.#saying = undefined;
    }
  }

  /**
   * Makes it a duty again to publish the final reports that the queue has lost. The place of a newer report shows which these
   * are. Returns how many.
   */
  lost({ stream, before }: PublishedReport): number {
    if (this.#out.some((out) => out.stream === stream && (out.at ?? '') > before)) this.#sayOut();
    if (this.#told.get(stream, before) === undefined) return 0;
    let lost = 0;
    this.#unsynced(() => {
      lost = Number(this.#tellAgain.run(stream, before).changes);
    });
    return lost;
  }

  /**
   * Forgets jobs that were last written before `before` (ms since the epoch), if nothing of them is left to report: finished
   * jobs, and jobs without uncertain labels. Returns how many.
   */
  prune(before: number): number {
    this.#sayOut();
    return Number(this.#prune.run(before).changes);
  }

  /** Forgets all jobs, durably. */
  forget(): void {
    this.#db.exec('DELETE FROM jobs');
  }

  /** @param also what is written in the same commit */
  #store(entry: JournalEntry, final: string | null, unpublished: string | null, also?: () => void): void {
    const { document: made, ...counts } = entry;
    const document = made === undefined ? null : JSON.stringify(made);
    try {
      this.#unsynced(() => {
        this.#put.run({ ...counts, document, final, unpublished, now: Date.now() });
        also?.();
      }, also !== undefined);
    } catch (error) {
      const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
      throw NOT_TAKEN.has(code) ? notSynced(String(this.#db.location()), error) : error;
    }
    this.#sync.written();
  }

  /**
   * Writes, without waiting for the disk: with `NORMAL`, SQLite does not sync its log at a commit.
   * @param several more than one statement
   */
  #unsynced(write: () => void, several = false): void {
    this.#db.exec('PRAGMA synchronous = NORMAL');
    try {
      if (this.#out.length === 0 && !several) write();
      else this.#withOut(write);
    } finally {
      this.#db.exec('PRAGMA synchronous = FULL');
    }
  }

  /** Writes, and in the same commit says which reports are published. */
  #withOut(write: () => void): void {
    this.#begin.run();
    try {
      for (const out of this.#out) this.#published.run(out);
      write();
      this.#commit.run();
    } catch (error) {
      if (this.#db.isTransaction) this.#rollback.run();
      throw error;
    }
    this.#out = [];
    clearTimeout(this.#saying);
    this.#saying = undefined;
  }
}
