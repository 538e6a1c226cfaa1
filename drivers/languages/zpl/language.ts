/** ZPL II: designed templates as display lists, raw ZPL templates as they stand. */
import { setImmediate } from 'node:timers/promises';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';
import type { DesignedTemplate } from '../../../src/contract/template.ts';
import type { Item } from '../../../src/render/display-list.ts';
import { compileLabel } from '../../../src/render/label-layout.ts';
import type { LabelEncoder, Language } from '../language.ts';
import { formatEnd, formatStart, itemFields } from './designed.ts';

const NOTHING = new Uint8Array();

export const zpl: Language = {
  id: 'zpl',
  mediaType: 'application/vnd.zebra-zpl',
  open: async (job) => openDesigned(job, job.template as DesignedTemplate),
};

async function openDesigned(job: QueuedJob, template: DesignedTemplate): Promise<LabelEncoder> {
  const label = await compileLabel(template, { dpi: job.format.dpi, orientation: job.orientation });
  const fixed = new Map<Item, string>();
  for (const item of label.fixed) fixed.set(item, itemFields(item, label.sheet).zpl);
  const start = formatStart(label.sheet);

  return {
    begin: () => NOTHING,
    label: async (index, copies) => {
      const list = label.layout(job.records[index] ?? {}, index);
      let text = start;
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
      return Buffer.from(text + formatEnd(copies), 'utf8');
    },
    end: () => NOTHING,
  };
}
