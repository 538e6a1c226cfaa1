import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import * as replies from '../../drivers/languages/zpl/replies.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const frame = (text: string) => `\x02${text}\x03\r\n`;

// As the ZPL II Programming Guide and printers in the field give them.
const HOST_STATUS =
  frame('030,0,0,1245,000,0,0,0,000,0,0,0') + frame('000,0,0,0,0,2,4,0,00000000,1,000') + frame('1234,0');
const HOST_IDENTIFICATION = frame('ZTC ZD421-203dpi ZPL,V84.20.18Z,8,8176KB,X');
const ERROR_STATUS = frame(
  '\r\n  PRINTER STATUS\r\n   ERRORS:         1 00000000 00010005\r\n   WARNINGS:       1 00000000 00000008\r\n',
);
const SERIAL_NUMBER = frame('\r\n  SERIAL NUMBER\r\n  41A06440023\r\n');
const VALUES = '"41A06440023"\r\n"?"\r\n"203"';

test('~HS: each field at its place', () => {
  expect(replies.parseHostStatus(bytes(HOST_STATUS))).toEqual({
    mediaOut: false,
    paused: false,
    labelLength: 1245,
    formatsInBuffer: 0,
    bufferFull: false,
    partialFormat: false,
    underTemperature: false,
    overTemperature: false,
    headUp: false,
    ribbonOut: false,
    labelWaiting: false,
    labelsRemaining: 0,
  });
  const busy =
    frame('030,1,1,0812,007,1,0,1,000,0,1,1') + frame('000,0,1,1,0,1,4,1,00000123,1,000') + frame('1234,0');
  expect(replies.parseHostStatus(bytes(busy))).toEqual({
    mediaOut: true,
    paused: true,
    labelLength: 812,
    formatsInBuffer: 7,
    bufferFull: true,
    partialFormat: true,
    underTemperature: true,
    overTemperature: true,
    headUp: true,
    ribbonOut: true,
    labelWaiting: true,
    labelsRemaining: 123,
  });
});

test('~HS: the last of several answers counts, whatever stands around them', () => {
  const later = HOST_STATUS.replace('1245,000', '1245,042');
  const reply = `ALERT: PAPER LOW\r\n${HOST_IDENTIFICATION}${HOST_STATUS}"?"${later}`;
  expect(replies.parseHostStatus(bytes(reply)).formatsInBuffer).toBe(42);
});

test('~HI: model, firmware, dots per mm', () => {
  expect(replies.parseHostIdentification(bytes(HOST_IDENTIFICATION))).toEqual({
    model: 'ZTC ZD421-203dpi ZPL',
    firmware: 'V84.20.18Z',
    dpmm: 8,
  });
  expect(replies.parseHostIdentification(bytes(frame('Clone,1.0,7,8MB'))).dpmm).toBeUndefined();
});

test('~HQES: errors and warnings', () => {
  const none = {
    mediaOut: false,
    ribbonOut: false,
    headOpen: false,
    paused: false,
    other: false,
    mediaLow: false,
  };
  const status = (errors: string, warnings = '0 00000000 00000000') =>
    replies.parseErrorStatus(
      bytes(frame(`\r\nPRINTER STATUS\r\nERRORS: ${errors}\r\nWARNINGS: ${warnings}\r\n`)),
    );
  expect(replies.parseErrorStatus(bytes(ERROR_STATUS))).toEqual({
    ...none,
    mediaOut: true,
    headOpen: true,
    paused: true,
    mediaLow: true,
  });
  expect(status('0 00000000 00000000')).toEqual(none);
  expect(status('1 00000000 00000002')).toEqual({ ...none, ribbonOut: true });
  expect(status('1 00000000 00000008')).toEqual({ ...none, other: true });
  expect(status('1 00000001 00000000')).toEqual({ ...none, other: true });
  expect(status('1 00000000 00000000')).toEqual({ ...none, other: true });
});

test('~HQSN and getvar', () => {
  expect(replies.parseSerialNumber(bytes(SERIAL_NUMBER))).toBe('41A06440023');
  expect(replies.parseSerialNumber(bytes(frame('\r\n  SERIAL NUMBER\r\n\r\n')))).toBeNull();
  expect(replies.parseValues(bytes(VALUES), 3)).toEqual(['41A06440023', null, '203']);
  expect(replies.parseValues(Buffer.from('"Drucker Süd"'), 1)).toEqual(['Drucker Süd']);
  expect(replies.wholeNumber('203')).toBe(203);
  expect(replies.wholeNumber('203 dpi')).toBeNull();
  expect(replies.wholeNumber(null)).toBeNull();
});

test('an answer is complete at its last byte and not before', () => {
  for (const [complete, reply] of [
    [replies.framesArrived(3), HOST_STATUS.trimEnd()],
    [replies.framesArrived(1), HOST_IDENTIFICATION.trimEnd()],
    [replies.valuesArrived(3), VALUES],
  ] as const) {
    for (let cut = 0; cut < reply.length; cut++) expect(complete(bytes(reply.slice(0, cut)))).toBe(false);
    expect(complete(bytes(reply))).toBe(true);
  }
});

test.each<[string, (reply: Buffer) => unknown, string]>([
  ['nothing', replies.parseHostStatus, ''],
  ['a web page', replies.parseHostStatus, '<html>'],
  ['strings in the wrong order', replies.parseHostStatus, HOST_STATUS.split('\r\n').reverse().join('\r\n')],
  ['a flag that is none', replies.parseHostStatus, HOST_STATUS.replace('030,0', '030,2')],
  ['a negative count', replies.parseHostStatus, HOST_STATUS.replace('1245,000', '1245,-01')],
  ['a count beyond all sense', replies.parseHostStatus, HOST_STATUS.replace('00000000', '9'.repeat(30))],
  [
    'a field missing',
    replies.parseHostStatus,
    HOST_STATUS.replace(',1234', '').replace('000,0,0,0,0,2', '000,0,0,0,2'),
  ],
  ['a model with control characters', replies.parseHostIdentification, frame('a\x07b,1,8,1KB')],
  ['a model without end', replies.parseHostIdentification, frame(`${'x'.repeat(10_000)},1,8,1KB`)],
  ['no flags', replies.parseErrorStatus, frame('PRINTER STATUS')],
  ['half a value', (reply) => replies.parseValues(reply, 1), '"half'],
])('refused: %s', (_, parse, reply) => {
  expect(() => parse(bytes(reply))).toThrow(expect.objectContaining({ code: 'reply-invalid' }));
});

/** Real answers, changed: bytes replaced, cut out, doubled, put in. */
const mutated = fc
  .tuple(
    fc.constantFrom(HOST_STATUS, HOST_IDENTIFICATION, ERROR_STATUS, SERIAL_NUMBER, VALUES),
    fc.array(fc.record({ at: fc.nat(400), remove: fc.nat(30), insert: fc.uint8Array({ maxLength: 12 }) }), {
      maxLength: 6,
    }),
  )
  .map(([valid, changes]) => {
    let reply = bytes(valid);
    for (const { at, remove, insert } of changes) {
      reply = Buffer.concat([reply.subarray(0, at), insert, reply.subarray(at + remove)]);
    }
    return reply;
  });

test('whatever arrives: an answer or reply-invalid, nothing else, and at once', () => {
  const cases = Number(process.env['REPLY_FUZZ'] ?? 3_000);
  const parsers: ((reply: Uint8Array) => unknown)[] = [
    replies.parseHostStatus,
    replies.parseHostIdentification,
    replies.parseErrorStatus,
    replies.parseSerialNumber,
    (reply) => replies.parseValues(reply, 3),
  ];
  const tally = { answered: 0, refused: 0 };
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 600 }), mutated), (reply) => {
      replies.framesArrived(3)(reply);
      replies.valuesArrived(3)(reply);
      for (const parse of parsers) {
        try {
          parse(reply);
          tally.answered++;
        } catch (error) {
          if (!(error instanceof TransportError) || error.code !== 'reply-invalid') throw error;
          tally.refused++;
        }
      }
    }),
    { seed: 20261121, numRuns: cases },
  );
  // Both happen, or the test would show nothing.
  expect(tally.answered).toBeGreaterThan(cases / 20);
  expect(tally.refused).toBeGreaterThan(cases / 20);
});

test('64 KB of anything is parsed in no time that grows with its square', () => {
  for (const unit of ['\x02', '\x02,', '"', 'ERRORS: 1 ', '\x02ERRORS:\t\t\t', '\x02\x03']) {
    const reply = bytes(unit.repeat(65_536 / unit.length));
    for (const parse of [
      replies.parseHostStatus,
      replies.parseHostIdentification,
      replies.parseErrorStatus,
      replies.parseSerialNumber,
    ]) {
      expect(() => parse(reply)).toThrow(TransportError);
    }
  }
});
