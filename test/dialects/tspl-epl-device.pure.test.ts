/** How TSPL and EPL2 printers say how they are. */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { TransportError } from '../../drivers/connection.ts';
import { eplDevice, parseStatus as parseEpl } from '../../drivers/languages/epl/device.ts';
import type { DeviceDialect } from '../../drivers/languages/language.ts';
import { parseStatus as parseTspl, tsplDevice } from '../../drivers/languages/tspl/device.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import { peer } from '../kit/wire/peer.ts';

const never = new AbortController().signal;
const unknown = { labelsPending: null, odometer: null };

/** Asks a device that gives these bytes once it has heard the whole question. */
async function asked(dialect: DeviceDialect, question: string, answer: Uint8Array) {
  let heard = '';
  const device = await peer((socket) => {
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
      if (heard === question) socket.write(answer);
    });
    socket.resume();
  });
  const connection = await standardTransports.open(device.uri, never, { query: 500 });
  onTestFinished(() => connection.close());
  return await dialect.status(connection, never);
}

test.each([
  [0x00, 'idle', []],
  [0x20, 'processing', []],
  [0x01, 'stopped', ['cover-open']],
  [0x02, 'stopped', ['media-jam']],
  [0x05, 'stopped', ['cover-open', 'media-empty']],
  [0x08, 'stopped', ['marker-supply-empty']],
  [0x10, 'stopped', ['paused']],
  [0x30, 'stopped', ['paused']],
  [0x41, 'stopped', ['cover-open']],
  [0x80, 'stopped', ['other']],
])('TSPL: %i', async (byte, state, reasons) => {
  const status = await asked(tsplDevice, '\x1b!?', Uint8Array.of(byte));
  expect(status).toEqual({ state, reasons, ...unknown });
});

test.each([
  ['00', 'unknown', []],
  ['07', 'stopped', ['media-empty']],
  ['11', 'stopped', ['cover-open']],
  ['12', 'stopped', ['paused']],
  ['07,11', 'stopped', ['media-empty', 'cover-open']],
  // A command of the past that was not understood.
  ['01', 'unknown', []],
])('EPL2: %s', async (codes, state, reasons) => {
  const status = await asked(eplDevice, '^ee\r\n', Buffer.from(`${codes}\r\n`));
  expect(status).toEqual({ state, reasons, ...unknown });
});

test('a device that says nothing, or something else', async () => {
  const silence = new Uint8Array();
  await expect(asked(tsplDevice, '\x1b!?', silence)).rejects.toMatchObject({ code: 'query-timeout' });
  await expect(asked(eplDevice, '^ee\r\n', silence)).rejects.toMatchObject({ code: 'query-timeout' });
  const page = Buffer.from('HTTP/1.1 400 Bad Request\r\n');
  await expect(asked(eplDevice, '^ee\r\n', page)).rejects.toMatchObject({ code: 'reply-invalid' });
  await expect(asked(tsplDevice, '\x1b!?', page)).rejects.toMatchObject({ code: 'reply-invalid' });
});

test('any answer is a status or an error of ours', () => {
  for (const parse of [parseTspl, parseEpl]) {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (reply) => {
        try {
          expect(parse(reply)).toMatchObject(unknown);
        } catch (error) {
          expect(error).toBeInstanceOf(TransportError);
        }
      }),
      { numRuns: 2_000 },
    );
  }
});
