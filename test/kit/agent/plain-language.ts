/** A language for tests: a label says its record's `n`; some records misbehave. Runs on the agent's render threads. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabelEncoder, Language } from '../../../drivers/languages/language.ts';
import { zpl } from '../../../drivers/languages/zpl/language.ts';
import { JobFaultError } from '../../../src/contract/fault.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';

async function open(job: QueuedJob): Promise<LabelEncoder> {
  return {
    begin: () => new Uint8Array(),
    label: async (index, copies) => {
      const n = String(job.records[index]?.['n']);
      if (n === 'bad') throw new JobFaultError('value-invalid', 'bad', { element: '/elements/0' });
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

export const LANGUAGES = { zpl: { ...zpl, encoder: async () => open } satisfies Language };
