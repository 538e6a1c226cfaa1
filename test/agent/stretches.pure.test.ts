/** An agent says all its printers in reports that are short enough to be read. */
import { expect, test } from 'vitest';
import { stretchesOf } from '../../src/agent/reports/stretches.ts';
import type { PrinterDescription } from '../../src/contract/printer.ts';
import { type AgentStateReport, REPORT_BYTES, report } from '../../src/contract/report.ts';

const format = (name: string) =>
  ({ id: name, name, language: 'zpl', dpi: 203, width: 101.6, height: 152.4 }) as const;

function printer(n: number, formats = [format('4x6')]): PrinterDescription {
  const id = `serial-${((n * 7_919) % 100_000).toString(16).padStart(12, '0')}`;
  const uri = `socket://10.0.0.${n % 250}:9100`;
  return { id, name: `Drucker ß ${n}`, evidence: 'serial', uri, state: 'idle', reasons: [], formats };
}

function stateOf(
  printers: PrinterDescription[],
  unreached?: AgentStateReport['unreached'],
): AgentStateReport {
  const who = { agentId: 'agent-of-test', name: 'dock', version: '1', tenantId: null };
  const at = '2026-11-21T10:00:00.000Z';
  return { kind: 'agent', ...who, at, online: true, printers, ...(unreached && { unreached }) };
}

const bytes = (value: object) => Buffer.byteLength(JSON.stringify(value));

test('few printers are one report, as it is', () => {
  const state = stateOf([printer(2), printer(1)], [{ uri: 'socket://10.0.0.9', why: 'timeout' }]);
  expect(stretchesOf(state)).toEqual([state]);
  expect(stretchesOf(stateOf([]))).toEqual([stateOf([])]);
});

test('thousands are several, whose stretches meet and leave out nothing', () => {
  const printers = Array.from({ length: 2_000 }, (_, n) => printer(n, [format('4x6'), format('2x1')]));
  const parts = stretchesOf(stateOf(printers));
  expect(parts.length).toBeGreaterThan(5);
  for (const part of parts) {
    expect(bytes(part)).toBeLessThan(REPORT_BYTES);
    expect(report.parse(part)).toEqual(part);
    const { after = '', upTo = '~' } = part.stretch ?? {};
    expect(part.printers.every(({ id }) => id > after && id <= upTo)).toBe(true);
  }
  expect(parts.map(({ stretch }) => stretch?.after)).toEqual([
    undefined,
    ...parts.slice(0, -1).map(({ stretch }) => stretch?.upTo),
  ]);
  expect(parts.at(-1)?.stretch?.upTo).toBeUndefined();
  expect(new Set(parts.flatMap((part) => part.printers))).toEqual(new Set(printers));
});

test('what has no room is left out from the end: formats of one printer, and addresses that were never reached', () => {
  const formats = Array.from({ length: 200 }, (_, n) => format(`${n} ${'ß'.repeat(190)}`));
  const unreached = Array.from({ length: 5_000 }, (_, n) => ({ uri: `socket://${n}`, why: 'ß'.repeat(500) }));
  const parts = stretchesOf(stateOf([printer(1, formats), printer(2, formats), printer(3)], unreached));
  for (const part of parts) expect(bytes(part)).toBeLessThan(REPORT_BYTES);
  expect(parts.flatMap((part) => part.printers.map(({ id }) => id)).toSorted()).toEqual(
    [1, 2, 3].map((n) => printer(n).id).toSorted(),
  );
  expect(parts[0]?.printers[0]?.formats.slice(0, 20)).toEqual(formats.slice(0, 20));
  expect(parts[0]?.unreached?.slice(0, 20)).toEqual(unreached.slice(0, 20));
  expect(parts[1]?.unreached).toBeUndefined();
});
