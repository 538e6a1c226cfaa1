/**
 * Encodes labels in ZPL II: designed templates from their display lists, raw ZPL templates as they are.
 *
 * What does not depend on a record is made when the job is opened. After that, a label that the printer draws itself takes only
 * the joining of strings. Only a label that has text as graphics lets the event loop turn (see `raster.ts`).
 */
import { setImmediate } from 'node:timers/promises';
import type { DocumentTemplate } from '../../../src/contract/document-template.ts';
import { dots } from '../../../src/contract/dots.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { DesignedTemplate, RawZplTemplate } from '../../../src/contract/template.ts';
import type { RecordCheck } from '../../../src/render/check.ts';
import type { DisplayList, Item } from '../../../src/render/display-list.ts';
import { compileDocument } from '../../../src/render/document/document.ts';
import { bringsProgram } from '../../../src/render/document/document-file.ts';
import { zplText } from '../../../src/render/document/zpl-pages.ts';
import { keptLabel } from '../../../src/render/output/kept-labels.ts';
import { deletionsOf } from '../../../src/zpl/raw/program.ts';
import { compileRawZpl } from '../../../src/zpl/raw/template.ts';
import { labelLength } from '../label-dots.ts';
import type { LabelEncoder, OpenEncoder } from '../language.ts';
import { requireOwnOrientation } from '../pages.ts';
import { BLANK, itemFields } from './designed.ts';
import { designedStart, rawEnd, rawStart } from './label-state.ts';
import { cuts, printerSettings, printQuantity } from './settings.ts';
import { storedFormat } from './stored.ts';

export const openZpl: OpenEncoder = async (job) => {
  const { template } = job;
  switch (template.language) {
    case 'zpl':
      return openRaw(job, template);
    case 'platen':
      return await openDesigned(job, template);
    case 'document':
      return openDocument(job, template);
  }
};

function openDocument(job: QueuedJob, template: DocumentTemplate): LabelEncoder {
  const { format, orientation, records } = job;
  const document = { dpi: format.dpi, orientation, media: format, records, job, language: format.language };
  const { media, layout, program } = compileDocument(template, document);
  const settings = designedStart(format, media);
  const start = rawStart(format, headOf(job));
  const stored = new Set<string>();
  /** The index of the record whose ZPL was sent last. */
  let sent: number | undefined;
  const once = {
    begin: () => {
      sent = undefined;
      return '';
    },
    end: () => (bringsProgram(template, records) ? rawEnd(format, deletionsOf(stored)) : ''),
  };
  return encoder(job, once, async (index, copies) => {
    const record = records[index] ?? {};
    const own = program(record, index, { copies, sent });
    if (own !== undefined) {
      // If a power cycle of the printer would go unnoticed, each label carries the document's downloads.
      sent = format.storedFormats === false ? undefined : own.holder;
      for (const name of own.objects) stored.add(name);
      return Buffer.from(zplText(own, start), 'latin1');
    }
    const { items } = await layout(record, index);
    const fields = items.map((item) => itemFields(item, media).zpl).join('') || BLANK;
    return `^XA${settings}${fields}${printQuantity(copies, format)}^XZ`;
  });
}

/** How much the printer has room for, dots. */
function headOf(job: QueuedJob): { width: number; height: number } {
  const { width, dpi } = job.format;
  return { width: dots(width, dpi), height: dots(labelLength(job), dpi) };
}

async function openDesigned(job: QueuedJob, template: DesignedTemplate): Promise<LabelEncoder> {
  const label = await keptLabel(template, { dpi: job.format.dpi, orientation: job.orientation, job });
  const fixed = new Map<Item, string>(label.fixed.map((item) => [item, itemFields(item, label.media).zpl]));
  const settings = designedStart(job.format, label.media);
  const stored = await storedFormat({ job, label, fixed, settings });

  const whole = (list: DisplayList): { zpl: string; canvas: boolean } => {
    let zpl = settings;
    let canvas = false;
    for (const item of list.items) {
      const known = fixed.get(item);
      if (known !== undefined) {
        zpl += known;
        continue;
      }
      const fields = itemFields(item, list);
      zpl += fields.zpl;
      canvas ||= fields.canvas;
    }
    return { zpl: zpl === settings ? zpl + BLANK : zpl, canvas };
  };

  const make: MakeLabel = async (index, copies, copy) => {
    const list = label.layout(job.records[index] ?? {}, index, copy);
    const recalled = stored?.recall(list);
    const { zpl, canvas } = recalled ?? whole(list);
    if (canvas) await setImmediate();
    // A format without ^PQ prints one label.
    const end =
      recalled !== undefined && copies === 1 && !cuts(job.format) ? '' : printQuantity(copies, job.format);
    return `^XA${zpl}${end}^XZ`;
  };
  const once = stored && { begin: () => stored.begin, end: () => stored.end };
  return encoder(job, once, make, label.check);
}

/** @throws JobFaultError `language-unsupported`: the job is in landscape, but a raw template sets its own orientation */
function openRaw(job: QueuedJob, template: RawZplTemplate): LabelEncoder {
  requireOwnOrientation(job);
  const { format } = job;
  const raw = compileRawZpl(template, job, { start: rawStart(format, headOf(job)) });
  // If a power cycle of the printer would go unnoticed, each label carries the template's downloads.
  const each = format.storedFormats === false ? raw.downloads : '';
  const once = {
    begin: () => (each === '' ? raw.downloads : ''),
    end: () => rawEnd(format, raw.deletions),
  };
  const make: MakeLabel = async (index, copies, copy) =>
    each + raw.fill(job.records[index] ?? {}, copies, index, copy);
  return encoder(job, once, make, raw.check);
}

type MakeLabel = (record: number, copies: number, copy?: number) => Promise<string | Uint8Array>;

/** @param once what is sent before the first label and after the last */
function encoder(
  { format, records }: QueuedJob,
  once: { begin(): string; end(): string } | undefined,
  text: MakeLabel,
  check?: RecordCheck,
): LabelEncoder {
  const settings = printerSettings(format);
  return {
    begin: () => Buffer.from(settings + (once?.begin() ?? '')),
    label: async (record, copies, copy) => Buffer.from(await text(record, copies, copy)),
    ...(check && { check: (record) => check(records[record] ?? {}, record) }),
    end: () => Buffer.from(once?.end() ?? ''),
  };
}
