import { access, readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type IppAttribute, numbersOf, stringsOf } from '../../drivers/ipp/message.ts';
import { enumeration, integer, keyword } from '../../src/ipp/values.ts';
import { codesOn, decode, look, qr, temporaryDirectory } from '../kit/printers/bench-printer.ts';
import { ANY, ippBench, never, PDF, pdfOf, ZPL } from '../kit/printers/ipp-bench.ts';

const refused = (statusName: string) => ({ name: 'IppStatusError', statusName });

describe('documents', () => {
  it('prints each page of a PDF as a picture of its own, in dots that are black or white', async () => {
    const { client, printed, reached, outDir } = await ippBench();
    const document = pdfOf(['page one', 'page two', 'page three']);
    const job = await client.printJob({ name: 'labels', format: PDF }, document, never);
    const labels = await printed(3);
    expect(await codesOn(labels)).toEqual([['page one'], ['page two'], ['page three']]);
    const picture = await look(labels[0]?.file ?? '');
    expect([picture.width, picture.height]).toEqual([400, 200]);
    expect(picture.ink?.slice(0, 2)).toEqual([40, 40]);
    expect(labels.map(({ number, jobId }) => [number, jobId])).toEqual([1, 2, 3].map((n) => [n, job.jobId]));
    // The document lies once, beside its first page.
    expect(labels.every((label) => label.rawFile === `${outDir}/000001.pdf`)).toBe(true);
    expect(await readFile(`${outDir}/000001.pdf`)).toEqual(document);
    await expect(access(`${outDir}/000002.pdf`)).rejects.toThrow('ENOENT');
    expect(await reached(job.jobId, 'completed')).toMatchObject({ printed: 3 });
    const attributes = await client.getJobAttributes(job.jobId, never);
    expect(numbersOf(attributes, 'job-impressions-completed')).toEqual([3]);
    expect(stringsOf(attributes, 'job-name')).toEqual(['labels']);
    expect(stringsOf(attributes, 'job-state-reasons')).toEqual(['job-completed-successfully']);
  });

  it('prints ZPL as the ZPL printer does: quantities, serial numbers, downloads, stored formats', async () => {
    const { client, printed } = await ippBench();
    const serial = '^XA^PQ2^FO40,20^BY2^BCN,60,N,N^SN01,1,Y^FS^XZ';
    const document = `~DGR:DOT.GRF,8,1,FFFFFFFFFFFFFFFF^XA^DFR:A^FS^FO40,20^BQN,2,5^FN1^FS^XZ^XA^XFR:A^FS^FN1^FDQA,stored^FS^XZ${serial}^XA^FO16,8^XGR:DOT.GRF^FS^XZ`;
    await client.printJob({ format: ZPL }, Buffer.from(document), never);
    const labels = await printed(4);
    expect(labels.flatMap((label) => label.faults)).toEqual([]);
    const codes = await codesOn(labels);
    expect(codes).toEqual([['stored'], ['01'], ['02'], []]);
    expect((await look(labels[3]?.file ?? '')).ink).toEqual([16, 8, 23, 15]);
    expect(labels[0]?.rawFile).toMatch(/000001\.zpl$/);
  });

  it('finds out what application/octet-stream is, and says what it cannot print', async () => {
    const { client, printed, printer } = await ippBench();
    await client.printJob({ format: ANY }, pdfOf(['a pdf']), never);
    await client.printJob({ format: ANY }, Buffer.from(`\r\n${qr('some zpl')}`), never);
    const labels = await printed(2);
    expect(await codesOn(labels)).toEqual([['a pdf'], ['some zpl']]);
    await expect(client.printJob({ format: ANY }, Buffer.from('hello'), never)).rejects.toMatchObject(
      refused('client-error-document-format-not-supported'),
    );
    await expect(client.printJob({ format: 'image/jpeg' }, Buffer.from('x'), never)).rejects.toMatchObject(
      refused('client-error-document-format-not-supported'),
    );
    expect(printer.odometer).toBe(2);
  });

  it('aborts a job whose PDF is broken, or breaks half way, and prints the next', async () => {
    const { client, reached, printed } = await ippBench();
    const broken = await client.printJob({ format: PDF }, Buffer.from('%PDF-1.7 and no more'), never);
    expect((await reached(broken.jobId, 'aborted')).reasons).toContain('document-format-error');
    const good = await client.printJob({ format: PDF }, pdfOf(['good']), never);
    await reached(good.jobId, 'completed');
    expect(await decode((await printed(1))[0]?.file ?? '')).toEqual(['good']);
  });

  it('makes so many copies of all pages, one set after the other', async () => {
    const { client, printed, reached } = await ippBench();
    const job = { format: PDF, attributes: [integer('copies', 2)] };
    const { jobId } = await client.printJob(job, pdfOf(['a', 'b'], { bcid: 'qrcode' }), never);
    const labels = await printed(4);
    expect(await codesOn(labels)).toEqual([['a'], ['b'], ['a'], ['b']]);
    expect((await reached(jobId, 'completed')).printed).toBe(4);
    expect(numbersOf(await client.getJobAttributes(jobId, never), 'copies')).toEqual([2]);
  });

  it('prints on the roll that the job names, in its own size unless it is told to fit, and turned', async () => {
    const { client, printed } = await ippBench({ rolls: [{ width: 101.6, height: 152.4 }] });
    const document = pdfOf(['roll']);
    const dimension = (name: string, value: number) => integer(name, value);
    const size: IppAttribute = {
      name: 'media-size',
      values: [
        { tag: 'collection', value: [dimension('x-dimension', 10160), dimension('y-dimension', 15240)] },
      ],
    };
    const mediaCol: IppAttribute = { name: 'media-col', values: [{ tag: 'collection', value: [size] }] };
    await client.printJob({ format: PDF, attributes: [mediaCol] }, document, never);
    const named = [keyword('media', 'na_index-4x6_4x6in'), keyword('print-scaling', 'fit')];
    await client.printJob({ format: PDF, attributes: named }, document, never);
    const turned = [keyword('media', 'na_index-4x6_4x6in'), enumeration('orientation-requested', 6)];
    await client.printJob({ format: PDF, attributes: turned }, document, never);
    const [own, fit, reverse] = await Promise.all((await printed(3)).map(({ file }) => look(file)));
    expect([own?.width, own?.height]).toEqual([812, 1218]);
    const width = (ink: [number, number, number, number] | undefined) => (ink ? ink[2] - ink[0] + 1 : 0);
    expect(own?.ink?.slice(0, 2)).toEqual([40, 40]);
    expect(width(fit?.ink) / width(own?.ink)).toBeCloseTo(812 / 400, 1);
    expect(width(reverse?.ink)).toBe(width(own?.ink));
    expect(reverse?.ink?.[0]).toBeGreaterThan(200);
  });

  it('ignores what it cannot do, unless fidelity is asked for, and names it', async () => {
    const { client } = await ippBench();
    const attributes = [keyword('sides', 'two-sided-long-edge'), keyword('staple-it', 'yes')];
    const format: IppAttribute = { name: 'document-format', values: [{ tag: 'mimeMediaType', value: ZPL }] };
    const answer = await client.request('Validate-Job', [format], never, attributes);
    expect(answer.code).toBe(1);
    const unsupported = answer.groups.find((group) => group.tag === 'unsupported');
    expect(unsupported?.attributes.map(({ name }) => name)).toEqual(['sides', 'staple-it']);
    const fidelity: IppAttribute = {
      name: 'ipp-attribute-fidelity',
      values: [{ tag: 'boolean', value: true }],
    };
    await expect(client.request('Validate-Job', [format, fidelity], never, attributes)).rejects.toMatchObject(
      refused('client-error-attributes-or-values-not-supported'),
    );
  });

  it('unpacks gzip, and no more of it than a document may be long', async () => {
    const { client, printed } = await ippBench({ documentLimit: 100_000 });
    const gzip = [keyword('compression', 'gzip')];
    const send = (document: Buffer) => client.request('Print-Job', gzip, never, [], document);
    await send(gzipSync(qr('packed')));
    expect(await decode((await printed(1))[0]?.file ?? '')).toEqual(['packed']);
    await expect(send(gzipSync(Buffer.alloc(10_000_000)))).rejects.toMatchObject(
      refused('client-error-request-entity-too-large'),
    );
    await expect(send(Buffer.from('^XA^XZ'))).rejects.toMatchObject(
      refused('client-error-compression-error'),
    );
  });
});

describe('jobs', () => {
  it('takes a job and then its document, one and no more', async () => {
    const { client, printed, reached } = await ippBench();
    const jobId = await client.createJob({ name: 'two steps' }, never);
    const { state, reasons } = await client.getJob(jobId, never);
    expect([state, reasons]).toEqual(['pending', ['job-data-insufficient']]);
    await client.sendDocument(jobId, ANY, Buffer.from(qr('x')), never);
    await printed(1);
    await reached(jobId, 'completed');
    await expect(client.sendDocument(jobId, ANY, Buffer.from(qr('y')), never)).rejects.toMatchObject(
      refused('client-error-not-possible'),
    );
    await expect(client.getJob(jobId + 1, never)).rejects.toMatchObject(refused('client-error-not-found'));
  });

  it('aborts a job whose document never comes', async () => {
    const { client, reached } = await ippBench({ documentWait: 1 });
    const jobId = await client.createJob({ name: 'forgotten' }, never);
    expect((await reached(jobId, 'aborted')).reasons).toEqual(['aborted-by-system']);
  });

  it('prints one job at a time, the others wait their turn', async () => {
    const { client, printer, printed } = await ippBench();
    printer.set({ 'media-empty': true });
    const jobs = [];
    for (const text of ['1', '2', '3']) {
      jobs.push(await client.printJob({ format: ZPL }, Buffer.from(qr(text)), never));
    }
    const attributes = await client.getJobAttributes(jobs[2]?.jobId ?? 0, never);
    expect(numbersOf(attributes, 'number-of-intervening-jobs')).toEqual([2]);
    expect(printer.state()).toMatchObject({ state: 'stopped', jobs: 3, odometer: 0 });
    printer.set({ 'media-empty': false });
    const labels = await printed(3);
    expect(await codesOn(labels)).toEqual([['1'], ['2'], ['3']]);
  });

  it('cancels a job that waits at once, and one that prints after the label under the head', async () => {
    const { client, printer, printed, reached, labels } = await ippBench();
    const long = await client.printJob({ format: ZPL }, Buffer.from(qr('long', '^PQ99999')), never);
    const waiting = await client.printJob({ format: ZPL }, Buffer.from(qr('waiting')), never);
    await printed(1);
    await client.cancelJob(waiting.jobId, never);
    expect((await client.getJob(waiting.jobId, never)).state).toBe('canceled');
    await client.cancelJob(long.jobId, never);
    const job = await reached(long.jobId, 'canceled');
    expect(job).toMatchObject({ reasons: ['job-canceled-by-user'], printed: labels.length });
    expect(labels.length).toBeLessThan(99_999);
    expect(printer.odometer).toBe(labels.length);
    await expect(client.cancelJob(long.jobId, never)).rejects.toMatchObject(
      refused('client-error-not-possible'),
    );
    await client.printJob({ format: ZPL }, Buffer.from(qr('next')), never);
    const last = (await printed(job.printed + 1)).at(-1);
    expect(await decode(last?.file ?? '')).toEqual(['next']);
  });

  it('cancels a job that waits for media', async () => {
    const { client, printer, reached } = await ippBench();
    const { jobId } = await client.printJob({ format: ZPL }, Buffer.from(qr('x', '^PQ9999')), never);
    await reached(jobId, 'processing');
    printer.set({ 'media-empty': true });
    await reached(jobId, 'processing-stopped');
    await client.cancelJob(jobId, never);
    await reached(jobId, 'canceled');
  });

  it('holds and releases jobs, and pauses', async () => {
    const { client, printed, reached, labels } = await ippBench();
    const hold = { format: ZPL, attributes: [keyword('job-hold-until', 'indefinite')] };
    const held = await client.printJob(hold, Buffer.from(qr('held')), never);
    expect(held.state).toBe('pending-held');
    await client.printJob({ format: ZPL }, Buffer.from(qr('free')), never);
    await printed(1);
    expect(await decode(labels[0]?.file ?? '')).toEqual(['free']);
    await client.request('Pause-Printer', [], never);
    await client.request('Release-Job', [integer('job-id', held.jobId)], never);
    const state = await client.getPrinterAttributes(never, ['printer-state', 'printer-state-reasons']);
    expect([numbersOf(state, 'printer-state'), stringsOf(state, 'printer-state-reasons')]).toEqual([
      [5],
      ['paused'],
    ]);
    await client.request('Resume-Printer', [], never);
    await reached(held.jobId, 'completed');
  });

  it('lists ended jobs by when they ended, and forgets first the one that ended first', async () => {
    const { client } = await ippBench({ history: 2 });
    const hold = { format: ZPL, attributes: [keyword('job-hold-until', 'indefinite')] };
    const ids: number[] = [];
    for (const text of ['1', '2', '3']) {
      ids.push((await client.printJob(hold, Buffer.from(qr(text)), never)).jobId);
    }
    const listed = async (which: string) => {
      const { groups } = await client.request('Get-Jobs', [keyword('which-jobs', which)], never);
      return groups.flatMap(({ attributes }) => numbersOf(attributes, 'job-id'));
    };
    const [first = 0, second = 0, third = 0] = ids;
    await client.cancelJob(second, never);
    await client.cancelJob(first, never);
    expect(await listed('completed')).toEqual([first, second]);
    expect(await listed('not-completed')).toEqual([third]);
    expect(await listed('all')).toEqual(ids);
    await client.cancelJob(third, never);
    expect(await listed('completed')).toEqual([third, first]);
  });

  it('counts the jobs that print before one: none that is held, and the one under the head', async () => {
    const { client, printer, reached } = await ippBench();
    const ahead = async (id: number) =>
      numbersOf(await client.getJobAttributes(id, never), 'number-of-intervening-jobs');
    const hold = { format: ZPL, attributes: [keyword('job-hold-until', 'indefinite')] };
    const held = await client.printJob(hold, Buffer.from(qr('held')), never);
    const printing = await client.printJob({ format: ZPL }, Buffer.from(qr('now', '^PQ9999')), never);
    await reached(printing.jobId, 'processing');
    printer.set({ 'media-empty': true });
    await reached(printing.jobId, 'processing-stopped');
    const next = await client.printJob({ format: ZPL }, Buffer.from(qr('next')), never);
    expect(await ahead(printing.jobId)).toEqual([0]);
    expect(await ahead(next.jobId)).toEqual([1]);
    await client.request('Release-Job', [integer('job-id', held.jobId)], never);
    expect(await ahead(printing.jobId)).toEqual([0]);
    expect(await ahead(held.jobId)).toEqual([1]);
    expect(await ahead(next.jobId)).toEqual([2]);
  });

  it('remembers so many jobs, and takes so many bytes', async () => {
    const { client, printer, reached } = await ippBench({ history: 2, documentLimit: 1000, spool: 1500 });
    const ids: number[] = [];
    for (const text of ['1', '2', '3']) {
      const { jobId } = await client.printJob({ format: ZPL }, Buffer.from(qr(text)), never);
      ids.push(jobId);
      await reached(jobId, 'completed');
    }
    expect(printer.jobs().map(({ id }) => id)).toEqual(ids.slice(1));
    const large = Buffer.from(qr('x').padEnd(1001));
    await expect(client.printJob({ format: ZPL }, large, never)).rejects.toMatchObject(
      refused('client-error-request-entity-too-large'),
    );
    printer.set({ paused: true });
    const half = Buffer.from(qr('x').padEnd(800));
    await client.printJob({ format: ZPL }, half, never);
    await expect(client.printJob({ format: ZPL }, half, never)).rejects.toMatchObject({
      ...refused('server-error-temporary-error'),
      retrySafe: true,
    });
  });
});

describe('what it says of itself', () => {
  it('is the same printer after a restart: UUID, serial number, numbering of labels and jobs', async () => {
    const outDir = await temporaryDirectory();
    const seen: unknown[] = [];
    for (const round of [1, 2]) {
      const { client, printer, printed } = await ippBench({ outDir });
      const { jobId } = await client.printJob({ format: ZPL }, Buffer.from(qr('x')), never);
      const [label] = await printed(1);
      expect([jobId, label?.number]).toEqual([round, round]);
      const attributes = await client.getPrinterAttributes(never);
      seen.push([stringsOf(attributes, 'printer-uuid'), stringsOf(attributes, 'printer-device-id')]);
      expect(numbersOf(attributes, 'printer-impressions-completed')).toEqual([round]);
      await printer.stop();
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(JSON.stringify(seen[0])).toMatch(
      /urn:uuid:[0-9a-f-]{36}.*MFG:Platen;MDL:Virtual Label Printer;CMD:ZPL,PDF;/,
    );
  });

  it('gives what is asked for: by name, by group, and the media database only by its name', async () => {
    const { client } = await ippBench({ rolls: [{ width: 101.6, height: 152.4 }] });
    const names = async (...asked: string[]) =>
      (await client.getPrinterAttributes(never, asked)).map(({ name }) => name);
    expect(await names('printer-name')).toEqual(['printer-name']);
    expect(await names('job-template')).toContain('copies-supported');
    expect(await names('job-template')).not.toContain('printer-name');
    expect(await names('all')).not.toContain('media-col-database');
    const [database] = await client.getPrinterAttributes(never, ['media-col-database']);
    expect(database?.values).toHaveLength(2);
    const media = await client.getPrinterAttributes(never, ['media-supported', 'media-default']);
    expect(stringsOf(media, 'media-supported')).toEqual(['custom_50x25mm_50x25mm', 'na_index-4x6_4x6in']);
  });
});
