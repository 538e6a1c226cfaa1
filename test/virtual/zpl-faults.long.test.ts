import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bench, Client, codesOn, decode, look, qr } from '../kit/printers/bench-printer.ts';

describe('faults', () => {
  it('stops reading when the buffer is full, and another client can still ask', async () => {
    const { printer, printed } = await bench({ bufferSize: 64 * 1024 });
    printer.set({ 'media-empty': true });
    const client = new Client(printer.port);
    const comment = `^FX${'x'.repeat(1000)}`;
    const count = 8000;
    const accepted = () => client.socket.bytesWritten - client.socket.writableLength;
    for (let index = 0; index < count; index++) client.send(`^XA${comment}^FO0,0^GB9,9,9^FS^XZ`);
    let received = 0;
    printer.on('received', (bytes) => {
      received += bytes.length;
    });
    const other = new Client(printer.port);
    while (!printer.state().bufferFull) await once(printer, 'status');
    expect((await other.status())[0]?.[5]).toBe('1');
    const state = printer.state();
    expect(state.formats).toBeGreaterThan(50);
    expect(state.formats).toBeLessThan(80);
    expect(accepted()).toBeLessThan(count * 1000);
    printer.set({ 'media-empty': false, paused: true });
    client.send('~JA');
    expect(received).toBeLessThan(1024 * 1024);
    expect((await other.status())[0]?.[5]).toBe('1');
    other.send('~JA');
    printer.set({ paused: false });
    await printed(20);
  });

  it('reads nothing while it is stalled', async () => {
    const { printer, printed, labels } = await bench();
    const client = new Client(printer.port);
    await client.status();
    printer.stall();
    let received = 0;
    printer.on('received', (bytes) => {
      received += bytes.length;
    });
    await new Promise((resolve) => client.socket.write(qr('x'), resolve));
    await once(new Client(printer.port).socket, 'connect');
    expect([received, labels.length]).toEqual([0, 0]);
    printer.resume();
    await printed(1);
  });

  it('cuts a connection after so many bytes, and forgets the format cut off', async () => {
    const { printer, printed, labels } = await bench();
    const format = qr('whole');
    printer.dropConnectionAfter(format.length + 10);
    const client = new Client(printer.port);
    client.send(format + qr('cut off'));
    await client.closed();
    await printed(1);
    const again = new Client(printer.port);
    again.send(`^FO0,0^GB9,9,9^FS^XZ${qr('next')}`);
    await printed(2);
    expect(await codesOn(labels)).toEqual([['whole'], ['next']]);
  });

  it('loses what it had not printed when the power goes', async () => {
    const { printer, printed, labels } = await bench({ speed: 10 });
    const client = new Client(printer.port);
    client.send(`${qr('out')}`);
    await printed(1);
    client.send(qr('lost', '^PQ5'));
    expect((await client.status())[1]?.[8]).toBe('00000005');
    const { port } = printer;
    await printer.powerOff();
    const refused = new Client(port);
    const [error] = await once(refused.socket, 'error').catch((cause: unknown) => [cause]);
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    await printer.powerOn();
    expect(printer.port).toBe(port);
    new Client(port).send(qr('new'));
    await printed(2);
    expect(await codesOn(labels)).toEqual([['out'], ['new']]);
    expect(labels.map((label) => label.number)).toEqual([1, 2]);
  });

  it('starts the label under the head again when the media ran out', async () => {
    const { printer, printed } = await bench({ speed: 20 });
    const client = new Client(printer.port);
    client.send(qr('x', '^PQ2'));
    await client.status();
    printer.set({ 'media-empty': true });
    expect((await client.status())[1]?.[8]).toBe('00000002');
    expect(printer.odometer).toBe(0);
    printer.set({ 'media-empty': false });
    expect((await printed(2)).map((label) => label.number)).toEqual([1, 2]);
  });

  it('cancels everything with ~JA and restarts with ~JR', async () => {
    const { printer, printed, labels } = await bench();
    const client = new Client(printer.port);
    printer.set({ paused: true });
    client.send(`${qr('a', '^PQ9')}${qr('b')}${qr('c')}`);
    expect((await client.status())[0]?.[4]).toBe('002');
    client.send('~JA');
    expect((await client.status())[0]?.[4]).toBe('000');
    client.send(qr('d'));
    client.send('~PS');
    await printed(1);
    expect(await decode(labels[0]?.file ?? '')).toEqual(['d']);
    client.send('~JR');
    await client.closed();
    await printer.powerOn();
    expect(await new Client(printer.port).getvar('odometer.total_label_count')).toBe('"1"');
  });

  it('crosses out a label that cannot be drawn, says why, and prints the next', async () => {
    const { printer, printed, outDir } = await bench();
    const faults: string[] = [];
    printer.on('status', (status) => {
      if (status.fault) faults.push(status.fault);
    });
    new Client(printer.port).send(`^XA^FO9,9^BQN,2,5^FDQ^FS^XZ${qr('good')}`);
    const [bad, good] = await printed(2);
    expect(bad?.faults).toHaveLength(1);
    expect(await readFile(join(outDir, '000001.error.txt'), 'utf8')).toContain('invalid qr barcode');
    expect(faults[0]).toContain('label 1');
    const picture = await look(bad?.file ?? '');
    expect([picture.black(0, 0), picture.black(200, 100), picture.black(399, 199)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(await decode(good?.file ?? '')).toEqual(['good']);
  });

  it('prints on after garbage and after a format over the limit', async () => {
    const { printer, printed, labels } = await bench({ formatLimit: 10_000 });
    const client = new Client(printer.port);
    const noise = Buffer.from(
      Array.from({ length: 100_000 }, (_, index) => (index * 7919 + (index >> 3)) % 94),
    );
    client.send(noise);
    client.send(`^XA^FX${'x'.repeat(50_000)}^FO0,0^GB9,9,9^FS^XZ${qr('good')}`);
    await printed(1);
    expect(await decode(labels[0]?.file ?? '')).toEqual(['good']);
  });

  it('stops with an error when it cannot write, and prints the label when told to go on', async () => {
    const { printer, printed, outDir } = await bench();
    const theirs = join(outDir, '000001.png');
    await writeFile(theirs, 'somebody else’s');
    new Client(printer.port).send(qr('x'));
    let fault: string | undefined;
    while (!fault) [{ fault }] = await once(printer, 'status');
    expect(fault).toContain('000001.png is there already');
    expect(printer.state()).toMatchObject({ paused: true, odometer: 0, remaining: 1 });
    await rm(theirs);
    printer.set({ paused: false });
    await printed(1);
  });
});
