import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type IppAttribute, numbersOf, stringsOf } from '../../drivers/ipp/message.ts';
import { keyword } from '../../src/ipp/values.ts';
import { decode, qr } from '../kit/printers/bench-printer.ts';
import { ippBench, never, PDF, pdfOf, ZPL } from '../kit/printers/ipp-bench.ts';

const refused = (statusName: string) => ({ name: 'IppStatusError', statusName });

describe('faults', () => {
  it('says why it does not print, and goes on where it stopped', async () => {
    const { client, printer, printed, reached } = await ippBench();
    printer.set({ 'media-empty': true, 'cover-open': true, 'marker-supply-empty': true });
    const asked = ['printer-state', 'printer-state-reasons', 'queued-job-count'];
    const { jobId } = await client.printJob({ format: PDF }, pdfOf(['a', 'b']), never);
    const state = await client.getPrinterAttributes(never, asked);
    expect(numbersOf(state, 'printer-state')).toEqual([5]);
    expect(numbersOf(state, 'queued-job-count')).toEqual([1]);
    expect(stringsOf(state, 'printer-state-reasons')).toEqual([
      'media-empty-error',
      'marker-supply-empty-error',
      'cover-open-error',
    ]);
    printer.set({ 'media-empty': false, 'cover-open': false, 'marker-supply-empty': false });
    await reached(jobId, 'completed');
    expect((await printed(2)).map(({ number }) => number)).toEqual([1, 2]);
    const after = await client.getPrinterAttributes(never, asked);
    expect(stringsOf(after, 'printer-state-reasons')).toEqual(['none']);
  });

  it('stops in the middle of a job', async () => {
    const { client, printer, printed, reached, labels } = await ippBench({ speed: 20 });
    const { jobId } = await client.printJob({ format: ZPL }, Buffer.from(qr('x', '^PQ3')), never);
    await printed(1);
    printer.set({ 'media-empty': true });
    const job = await client.getJob(jobId, never);
    expect(job).toMatchObject({ state: 'processing-stopped', reasons: ['printer-stopped'] });
    expect(labels).toHaveLength(1);
    printer.set({ 'media-empty': false });
    await reached(jobId, 'completed');
    expect(labels).toHaveLength(3);
  });

  it('is busy, accepts no jobs, or refuses a format, when told to', async () => {
    const { client, printer, labels } = await ippBench();
    const print = () => client.printJob({ format: PDF }, pdfOf(['x']), never);
    printer.misbehave({ busy: true });
    await expect(print()).rejects.toMatchObject({ ...refused('server-error-busy'), retrySafe: true });
    printer.misbehave({ busy: false, notAccepting: true });
    await expect(print()).rejects.toMatchObject(refused('server-error-not-accepting-jobs'));
    printer.misbehave({ notAccepting: false, refusedFormats: [PDF] });
    await expect(print()).rejects.toMatchObject(refused('client-error-document-format-not-supported'));
    const formats = await client.getPrinterAttributes(never, ['document-format-supported']);
    expect(stringsOf(formats, 'document-format-supported')).toContain(PDF);
    expect([printer.jobs(), labels]).toEqual([[], []]);
  });

  it('aborts a job half way', async () => {
    const { client, printer, reached, labels } = await ippBench();
    printer.abortJobAfter(2);
    const { jobId } = await client.printJob({ format: PDF }, pdfOf(['a', 'b', 'c']), never);
    expect(await reached(jobId, 'aborted')).toMatchObject({ printed: 2, reasons: ['aborted-by-system'] });
    const next = await client.printJob({ format: PDF }, pdfOf(['d', 'e', 'f']), never);
    await reached(next.jobId, 'completed');
    expect(labels).toHaveLength(5);
  });

  it('prints, and answers only when it is let', async () => {
    const { client, printer, printed } = await ippBench();
    printer.holdReplies('Print-Job');
    const held = once(printer, 'held');
    let answered = false;
    const job = client.printJob({ format: ZPL }, Buffer.from(qr('x')), never).finally(() => {
      answered = true;
    });
    expect(await held).toEqual(['Print-Job']);
    await printed(1);
    // Whoever asks something else gets an answer.
    await client.getPrinterAttributes(never, ['printer-state']);
    expect(answered).toBe(false);
    printer.releaseReplies();
    expect((await job).jobId).toBe(1);
  });

  it('breaks off an answer: the job is there, and can be found', async () => {
    const { client, printer, printed } = await ippBench();
    printer.cutReply(20, 'Print-Job');
    await expect(
      client.printJob({ name: 'lost answer', format: ZPL }, Buffer.from(qr('x')), never),
    ).rejects.toMatchObject({ name: 'TransportError', code: 'connection-lost' });
    await printed(1);
    const asked: IppAttribute = {
      name: 'requested-attributes',
      values: [{ tag: 'keyword', value: 'job-name' }],
    };
    const jobs = await client.request('Get-Jobs', [keyword('which-jobs', 'all'), asked], never);
    const found = jobs.groups.filter((group) => group.tag === 'job').map((group) => group.attributes);
    expect(found.map((attributes) => stringsOf(attributes, 'job-name'))).toEqual([['lost answer']]);
  });

  it('loses the connection in the middle of a document, and aborts the job', async () => {
    const { client, printer, reached, labels } = await ippBench();
    printer.dropConnectionAfter(5000);
    const document = Buffer.from(qr('x').padEnd(100_000));
    await expect(client.printJob({ format: ZPL }, document, never)).rejects.toMatchObject({
      name: 'TransportError',
    });
    const job = await reached(1, 'aborted');
    expect(job.reasons).toContain('submission-interrupted');
    expect([labels, printer.odometer]).toEqual([[], 0]);
  });

  it('loses its jobs when the power goes, and gives no job ID twice', async () => {
    const { client, printer, printed, labels } = await ippBench({ speed: 10 });
    const { jobId } = await client.printJob({ format: ZPL }, Buffer.from(qr('x', '^PQ5')), never);
    await printed(1);
    const { port } = printer;
    await printer.powerOff();
    await expect(client.getJob(jobId, never)).rejects.toMatchObject({ code: 'device-unreachable' });
    await printer.powerOn();
    expect(printer.port).toBe(port);
    await expect(client.getJob(jobId, never)).rejects.toMatchObject(refused('client-error-not-found'));
    const lost = labels.length;
    const next = await client.printJob({ format: ZPL }, Buffer.from(qr('new')), never);
    expect(next.jobId).toBeGreaterThan(jobId);
    const label = (await printed(lost + 1)).at(-1);
    expect(await decode(label?.file ?? '')).toEqual(['new']);
    expect(label?.number).toBe(lost + 1);
  });

  it('stops with an error when it cannot write, and prints the label when told to go on', async () => {
    const { client, printer, printed, outDir } = await ippBench();
    const theirs = `${outDir}/000001.png`;
    await writeFile(theirs, 'somebody else’s');
    await client.printJob({ format: ZPL }, Buffer.from(qr('x')), never);
    let fault: string | undefined;
    while (!fault) [{ fault }] = await once(printer, 'status');
    expect(fault).toContain('000001.png is there already');
    expect(printer.state()).toMatchObject({ state: 'stopped', odometer: 0, jobs: 1 });
    await rm(theirs);
    printer.set({ paused: false });
    await printed(1);
  });
});
