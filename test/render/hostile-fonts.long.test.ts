/** Hostile fonts, in the process, on the agent's render threads: a label or a fault, and the threads go on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { standardDrivers } from '../../src/agent/drivers.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import type { LanguageId } from '../../src/contract/format.ts';
import { designedTemplate } from '../../src/contract/template.ts';
import { RenderPool } from '../../src/rendering/render-pool.ts';
import { logger } from '../kit/agent/site.ts';
import { jobFor } from '../kit/judges/judges.ts';
import { INCONSOLATA, OCR_B } from '../kit/judges/sample-fonts.ts';

const SEED = 20_261_121;
const FILES = 400;
/** Longest time for one label, which is far from what counts as stuck, ms. */
const STUCK_MS = 10_000;

let pool: RenderPool;
beforeAll(() => {
  pool = new RenderPool({
    threads: 1,
    languagesModule: standardDrivers.languagesModule,
    stuckMs: STUCK_MS,
    logger,
  });
});
afterAll(() => pool.stop());

/** Numerical Recipes' generator: the same fonts in every run. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Bytes changed where they hurt: in the directory, at the start of a table, anywhere in one; some are cut off. */
function broken(font: Buffer, next: (below: number) => number): Buffer {
  const file = Buffer.from(font);
  const tables = font.readUInt16BE(4);
  for (let change = next(20); change >= 0; change--) {
    const entry = 12 + 16 * next(tables);
    const [offset, length] = [font.readUInt32BE(entry + 8), font.readUInt32BE(entry + 12)];
    const place = [next(12 + 16 * tables), offset + next(Math.min(64, length)), offset + next(length)][
      next(3)
    ];
    file[Math.min(file.length - 1, place ?? 0)] = next(4) === 0 ? 0xff : next(256);
  }
  return next(8) === 0 ? file.subarray(0, next(file.length)) : file;
}

async function outcome(file: Buffer, language: LanguageId): Promise<string> {
  const template = designedTemplate.parse({
    name: 'Hostile',
    width: 50,
    height: 20,
    fonts: [{ name: 'Brand', data: file.toString('base64') }],
    elements: [{ type: 'text', x: 2, y: 2, size: 2, font: 'Brand', text: 'Hamburg fi 0123 ÄÖ' }],
  });
  const job = jobFor(template, [{}], { language });
  const session = pool.open(job, { from: 0, maxCopies: 1, documents: language === 'pdf' });
  try {
    const chunk = await session.peek(new AbortController().signal);
    return chunk === null ? 'nothing' : 'label';
  } catch (error) {
    // A thread that crashed, or that was stuck, is no fault of the job.
    if (!(error instanceof JobFaultError)) throw error;
    expect(['template-invalid', 'does-not-fit', 'value-invalid']).toContain(error.fault.code);
    return error.fault.code;
  } finally {
    session.close();
  }
}

test.each([
  ['OCR-B', OCR_B, 'zpl'],
  ['OCR-B', OCR_B, 'pdf'],
  ['Inconsolata', INCONSOLATA, 'zpl'],
  ['Inconsolata', INCONSOLATA, 'pdf'],
] as const)(
  '%s, broken in many ways',
  async (_, font, language) => {
    const next = random(SEED);
    const counts = new Map<string, number>();
    for (let number = 0; number < FILES; number++) {
      const found = await outcome(broken(font, next), language);
      counts.set(found, (counts.get(found) ?? 0) + 1);
    }
    // Both have to come about, or nothing was tried.
    expect(counts.get('label')).toBeGreaterThan(FILES / 10);
    expect(counts.get('template-invalid')).toBeGreaterThan(FILES / 10);
    expect(counts.has('nothing')).toBe(false);
    expect(await outcome(font, language)).toBe('label');
  },
  120_000,
);
