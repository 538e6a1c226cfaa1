/**
 * ZPL II: designed templates from their display lists, raw ZPL templates as they stand.
 *
 * What does not depend on a record is made when the job is opened. A label that the printer draws itself is then
 * a matter of joining strings; only one with graphics of text lets the event loop turn (see `raster.ts`).
 */
import { setImmediate } from 'node:timers/promises';
import { JobFaultError } from '../../../src/contract/fault.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { DesignedTemplate, RawZplTemplate } from '../../../src/contract/template.ts';
import type { Item } from '../../../src/render/display-list.ts';
import { compileLabel } from '../../../src/render/label-layout.ts';
import { compileRawZpl } from '../../../src/render/raw-zpl.ts';
import type { LabelEncoder, Language } from '../language.ts';
import { BLANK, formatEnd, formatStart, itemFields } from './designed.ts';

const NOTHING = new Uint8Array();

export const zpl: Language = {
  id: 'zpl',
  mediaType: 'application/vnd.zebra-zpl',
  open: async (job) =>
    job.template.language === 'zpl' ? openRaw(job, job.template) : openDesigned(job, job.template),
};

async function openDesigned(job: QueuedJob, template: DesignedTemplate): Promise<LabelEncoder> {
  const label = await compileLabel(template, { dpi: job.format.dpi, orientation: job.orientation });
  const fixed = new Map<Item, string>(label.fixed.map((item) => [item, itemFields(item, label.sheet).zpl]));
  const start = formatStart(label.sheet);

  return encoder(async (index, copies) => {
    const list = label.layout(job.records[index] ?? {}, index);
    let text = '';
    let canvas = false;
    for (const item of list.items) {
      const known = fixed.get(item);
      if (known !== undefined) {
        text += known;
        continue;
      }
      const fields = itemFields(item, list);
      text += fields.zpl;
      canvas ||= fields.canvas;
    }
    if (canvas) await setImmediate();
    return start + (text || BLANK) + formatEnd(copies);
  });
}

/** @throws JobFaultError `language-unsupported` in landscape: a raw template says itself how it lies */
function openRaw(job: QueuedJob, template: RawZplTemplate): LabelEncoder {
  if (job.orientation === 'landscape') {
    throw new JobFaultError(
      'language-unsupported',
      'A raw ZPL template has its own orientation and cannot be printed in landscape',
    );
  }
  const raw = compileRawZpl(template);
  return encoder(async (index, copies) => raw.fill(job.records[index] ?? {}, copies, index));
}

function encoder(format: (record: number, copies: number) => Promise<string>): LabelEncoder {
  return {
    begin: () => NOTHING,
    label: async (record, copies) => Buffer.from(await format(record, copies), 'utf8'),
    end: () => NOTHING,
  };
}
