/**
 * Languages for tests: a label holds its record's `n`, and some values of `n` misbehave. In `zpl` a bad
 * record shows only when its label is made; `tspl` and `epl` have a check that finds it before, `epl`'s takes time. Runs on
 * the agent's render threads.
 */
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { epl } from '../../../drivers/languages/epl/language.ts';
import type { LabelEncoder, Language } from '../../../drivers/languages/language.ts';
import { tspl } from '../../../drivers/languages/tspl/language.ts';
import { zpl } from '../../../drivers/languages/zpl/language.ts';
import { JobFaultError } from '../../../src/contract/fault.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';

function refuseBad(n: string): void {
  if (n === 'bad')
    throw new JobFaultError('value-invalid', 'bad', {
      element: '/elements/0',
      field: 'n',
      reason: undefined,
    });
}

async function open(job: QueuedJob): Promise<LabelEncoder> {
  return {
    begin: () => new Uint8Array(),
    label: async (index, copies) => {
      const n = String(job.records[index]?.['n']);
      refuseBad(n);
      if (n === 'exit') process.exit(3);
      for (; n === 'hang'; );
      if (n === 'slow') await sleep(40);
      if (n === 'throw') throw new TypeError('the secret value');
      // Some bulk, so that a connection can be cut in the middle of a label.
      const filler = '^FXfiller'.repeat(50);
      return Buffer.from(`^XA${filler}^FO10,10^A0N,60,60^FDlabel ${n}^FS^PQ${copies}^XZ\n`);
    },
    end: () => new Uint8Array(),
  };
}

async function openLooking(job: QueuedJob): Promise<LabelEncoder> {
  const check = (record: number) => refuseBad(String(job.records[record]?.['n']));
  return { ...(await open(job)), check };
}

async function openDrawing(job: QueuedJob): Promise<LabelEncoder> {
  const check = async (record: number) => {
    await sleep(1);
    refuseBad(String(job.records[record]?.['n']));
  };
  return { ...(await open(job)), check };
}

export const LANGUAGES = {
  zpl: { ...zpl, encoder: async () => open },
  tspl: { ...tspl, encoder: async () => openLooking },
  epl: { ...epl, encoder: async () => openDrawing },
} satisfies Record<string, Language>;

// A thread whose process is killed would leave nothing compiled for the next one.
flushCompileCache();
