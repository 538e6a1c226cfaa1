/** Reports that are not understood: of a later version, or of a stranger. */
import { expect, test } from 'vitest';
import { readReport } from '../../src/contract/read-report.ts';
import { REPORT_BYTES } from '../../src/contract/report.ts';
import { describePrinter } from '../kit/service/harness.ts';

const state = (lists: object) => ({
  ...{ kind: 'agent', agentId: 'agent-one', name: 'x', version: '1', tenantId: null, online: true },
  ...{ at: '2026-11-29T20:00:00.000Z', printers: [], ...lists },
});

test('a report as long as it may be, of a version that knows another language in each format, is read', () => {
  const printer = describePrinter({});
  const [format] = printer.formats;
  const formats = [...Array(12).fill({ ...format, language: 'later' }), format];
  const printers: object[] = [];
  while (JSON.stringify(printers).length < REPORT_BYTES - 4_000) printers.push({ ...printer, formats });
  expect(readReport(state({ printers }))).toMatchObject({
    report: { printers: printers.map(() => ({ id: printer.id, formats: [format] })) },
    ignored: ['printers/formats/language: invalid_value'],
  });
});

test.each([
  ['printers', Array(5_000).fill({})],
  ['printers', Array(150).fill({ formats: Array(200).fill({}) })],
  ['unreached', Array(5_000).fill({})],
])('of a list of %s that are none not all is read', (list, entries) => {
  expect(readReport(state({ [list]: entries }))).toEqual({ issues: [`${list}: not understood`] });
});
