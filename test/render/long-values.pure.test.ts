/** Values within their limit that a template asks for thousands of times: a fault with a name, and no gigabytes. */
import { expect, test } from 'vitest';
import { JobFaultError } from '../../src/contract/fault.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import { rawZplTemplate } from '../../src/contract/template.ts';
import { createRecordCheck } from '../../src/render/check.ts';
import { compileRawZpl } from '../../src/zpl/raw/template.ts';
import { design, jobFor } from '../kit/judges/judges.ts';

const LONG = 'x'.repeat(LIMITS.valueLength);

function fault(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (error instanceof JobFaultError) return error.fault;
    throw error;
  }
  return undefined;
}

async function designed(text: string, value: string) {
  const template = design(50, 25, [
    { type: 'text', x: 1, y: 1, width: 40, height: 10, size: 3, text, overflow: 'clip' },
  ]);
  const check = await createRecordCheck(template, {
    dpi: 203,
    orientation: 'portrait',
    job: jobFor(template, [{}]),
  });
  return fault(() => check({ v: value }, 0));
}

const raw = (source: string) =>
  compileRawZpl(rawZplTemplate.parse({ name: 'Raw', language: 'zpl', source: `^XA${source}^XZ` }));

test('a designed text', async () => {
  expect(await designed('{{v}}{{v}}', LONG)).toBeUndefined();
  const found = await designed('{{v}}'.repeat(6_000), LONG);
  expect(found).toMatchObject({ code: 'value-invalid', element: '/elements/0', record: 0 });
  expect(found?.message).toContain(`longer than ${LIMITS.filledText} characters`);
  // As many lines as characters.
  expect(await designed('{{v}}{{v}}', '\n'.repeat(LIMITS.valueLength))).toBeUndefined();
});

test('raw ZPL', () => {
  const few = raw('^FD{{v}}^FS'.repeat(200));
  expect(few.fill({ v: LONG }, 1).length).toBeGreaterThan(200 * LIMITS.valueLength);
  const many = raw('^FD{{v}}^FS'.repeat(300));
  for (const use of [() => many.fill({ v: LONG }, 1, 4), () => many.check({ v: LONG }, 4)]) {
    const found = fault(use);
    expect(found).toMatchObject({ code: 'value-invalid', element: '/source', record: 4 });
    expect(found?.message).toContain(`more than ${LIMITS.filledSource} characters`);
  }
});

test('a field of raw ZPL with more placeholders than a call has arguments', () => {
  const count = 400_000;
  expect(raw(`^FD${'{{v}}'.repeat(count)}^FS`).fill({ v: 'ab' }, 1)).toContain(`^FD${'ab'.repeat(count)}^FS`);
});
