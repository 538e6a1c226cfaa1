import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultSyntax, type ZplEvent, ZplStream } from '../../src/zpl/stream.ts';

function parse(chunks: readonly Uint8Array[], limit = 1 << 20): { events: ZplEvent[]; stream: ZplStream } {
  const events: ZplEvent[] = [];
  const stream = new ZplStream(defaultSyntax(), limit, (event) => events.push(event));
  for (const chunk of chunks) stream.push(chunk);
  return { events, stream };
}

/** Formats as their commands, control commands and SGD lines, readable. */
function readable(events: readonly ZplEvent[]): string[] {
  return events.map((event) => {
    if (event.kind === 'format') {
      return event.format.commands
        .map((command) => `${command.name}:${command.params.toString('latin1')}`)
        .join('|');
    }
    if (event.kind === 'control') return `~${event.name}:${event.params.toString('latin1')}`;
    if (event.kind === 'sgd') return `${event.verb} ${event.variable}=${event.value}`;
    return 'discarded';
  });
}

function parsed(text: string): string[] {
  return readable(parse([Buffer.from(text, 'latin1')]).events);
}

const BINARY = Buffer.from('^XZ~HS^XA~JR^FS!', 'latin1');

/** Everything that could be cut in the wrong place. */
const EVERYTHING = Buffer.concat([
  Buffer.from('noise ^XZ ~HS! U1 getvar "device.unique_id"\r\n^XA^FO10,20^A0N,30^FDa~HSb_5E^FS', 'latin1'),
  Buffer.from(`^GFB,${BINARY.length},16,1,`, 'latin1'),
  BINARY,
  Buffer.from('^FS^PQ2^XZ\r\n~HQES~DGR:A.GRF,8,1,FF\r\n00^XA^CC/\r\n/FD^x/FS/CC^^XZ', 'latin1'),
  Buffer.from(`~DYE:B,B,G,${BINARY.length},1,`, 'latin1'),
  BINARY,
  Buffer.from('! U1 setvar "device.pause" "~HS ^XA"\r\n~CT+^XA^FD~x+HS^FS^XZ+CT~~HI', 'latin1'),
]);

describe('framing', () => {
  it('finds formats, control commands and SGD lines in one stream', () => {
    const binary = BINARY.toString('latin1');
    expect(readable(parse([EVERYTHING]).events)).toEqual([
      '~HS:',
      'getvar device.unique_id=',
      '~HS:',
      `FO:10,20|A0:N,30|FD:ab_5E|FS:|GF:B,16,16,1,${binary}|FS:|PQ:2`,
      '~HQ:ES',
      '~DG:R:A.GRF,8,1,FF00',
      'FD:^x|FS:',
      `~DY:E:B,B,G,16,1,${binary}`,
      'setvar device.pause=~HS ^XA',
      '~HS:',
      'FD:~x|FS:',
      '~HI:',
    ]);
  });

  it('is the same wherever the stream is cut', () => {
    const whole = readable(parse([EVERYTHING]).events);
    for (let at = 1; at < EVERYTHING.length; at++) {
      const { events } = parse([EVERYTHING.subarray(0, at), EVERYTHING.subarray(at)]);
      expect(readable(events)).toEqual(whole);
    }
    fc.assert(
      fc.property(fc.array(fc.nat(EVERYTHING.length), { maxLength: 40 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), EVERYTHING.length];
        const chunks = at.slice(1).map((end, index) => EVERYTHING.subarray(at[index], end));
        expect(readable(parse(chunks).events)).toEqual(whole);
      }),
    );
  });

  it('keeps the bytes of a format as they came', () => {
    const format = '^XA^FD\xe9~HS^FS\r\n^XZ';
    const [status, event] = parse([Buffer.from(format, 'latin1')]).events;
    expect(status?.kind).toBe('control');
    expect(event?.kind === 'format' && event.format.raw.toString('latin1')).toBe(format);
  });

  it('gives a control command out with its last byte', () => {
    const { events } = parse([Buffer.from('^XA^FDab~HS')]);
    expect(readable(events)).toEqual(['~HS:']);
  });

  it('swallows an unknown control command, so that an unescaped ~ in data shows', () => {
    expect(parsed('^XA^FD10~5 kg^FS^XZ')).toEqual(['~5 :', 'FD:10kg|FS:']);
  });

  it('replaces a changed delimiter in parameters, not in data', () => {
    expect(parsed('^XA^CD;^FO1;2^FDa;b^FS^XZ')).toEqual(['FO:1,2|FD:a;b|FS:']);
  });

  it('ends an SGD command at the line or at a space, and leaves other lines alone', () => {
    expect(parsed('! U1 getvar "a" ! U1 do "b" "c"\n!^XA^FDx^FS^XZ! U1 nonsense\n~HS')).toEqual([
      'getvar a=',
      'do b=c',
      'FD:x|FS:',
      '~HS:',
    ]);
  });
});

describe('limits', () => {
  it('discards a format over the limit to its end, and takes the next', () => {
    const { events, stream } = parse(
      [Buffer.from(`^XA^FD${'x'.repeat(5000)}^FS^XZ^XA^FDok^FS^XZ`, 'latin1')],
      1000,
    );
    expect(readable(events)).toEqual(['discarded', 'FD:ok|FS:']);
    expect(stream.held).toBe(0);
  });

  it('does not look for commands in binary data that it discards', () => {
    const binary = '^XZ^XA^FDwrong^FS^XZ'.repeat(200);
    const { events } = parse(
      [Buffer.from(`^XA^GFB,${binary.length},${binary.length},1,${binary}^FS^XZ^XA^FDok^FS^XZ`, 'latin1')],
      1000,
    );
    expect(readable(events)).toEqual(['discarded', 'FD:ok|FS:']);
  });

  it('holds no more than the limit, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 300 }),
            fc
              .constantFrom('^XA', '^XZ', '~DGA,', '~DY', '^GFB,9999,', '! U1 ', '^CC', '~CT', '"')
              .map((text) => new Uint8Array(Buffer.from(text))),
          ),
          { maxLength: 60 },
        ),
        (chunks) => {
          const { stream, events } = parse(chunks, 500);
          expect(stream.held).toBeLessThanOrEqual(1000);
          for (const event of events) {
            if (event.kind === 'format') expect(event.format.raw.length).toBeLessThanOrEqual(500);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
