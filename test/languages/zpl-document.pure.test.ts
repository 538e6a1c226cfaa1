/** ZPL documents at ZPL printers: sent as they came, under the rules of raw templates; what is refused, by name. */
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openZpl } from '../../drivers/languages/zpl/encode.ts';
import { documentTemplate } from '../../src/contract/document-template.ts';
import { JobFaultError } from '../../src/contract/fault.ts';
import type { QueuedJob } from '../../src/contract/queued-job.ts';
import type { Reason } from '../../src/contract/reason.ts';
import { documentPages } from '../../src/render/document/document.ts';
import { programKind } from '../../src/render/document/document-file.ts';
import { PictureFault } from '../../src/render/image/picture-fault.ts';
import { jobFor } from '../kit/judges/judges.ts';

const base64 = (zpl: string) => Buffer.from(zpl, 'latin1').toString('base64');

function jobOf(records: readonly string[], more: Partial<QueuedJob> = {}, page: object = {}): QueuedJob {
  const source = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }], page };
  return {
    ...jobFor(
      documentTemplate.parse(source),
      records.map((document) => ({ document })),
    ),
    ...more,
  };
}

/** The labels of a document, as a ZPL printer gets them; each with what stands before it. */
async function sent(zpl: string, labels = 1, more: Partial<QueuedJob> = {}, copies = 1) {
  const pages = Array.from({ length: labels }, (_, at) =>
    at === 0 ? `${base64(zpl)}#page=1` : `#page=${at + 1}&record=0`,
  );
  const encoder = await openZpl(jobOf(pages, more));
  encoder.begin();
  const made: string[] = [];
  for (const at of pages.keys()) made.push(Buffer.from(await encoder.label(at, copies)).toString('latin1'));
  return { made, end: Buffer.from(encoder.end()).toString('latin1') };
}

function reasonOf(reason: Reason | undefined): string {
  return reason?.why === undefined ? (reason?.code ?? '') : reasonOf(reason.why);
}

async function refusal(zpl: string, printerCommands = false): Promise<string> {
  try {
    await documentPages(base64(zpl), { printerCommands });
    await sent(zpl, 1, printerCommands ? { printerCommands } : {});
  } catch (error) {
    if (error instanceof PictureFault) return reasonOf(error.said);
    if (error instanceof JobFaultError) return reasonOf(error.fault.reason);
    throw error;
  }
  return 'taken';
}

describe('a label is sent byte for byte', () => {
  test.each([
    ['plain', '^XA^PW406^LL203^FO20,20^A0N,30,30^FDone^FS^XZ'],
    [
      'with lines, blanks, lower case and its own ^PQ',
      '^xa\r\n ^fo20,20\n^A0,30 ^FD a {{b}} c ^FS\r\n^PQ1,0,1,Y^XZ\r\n',
    ],
    ['in a code page', '^XA^CI27^FO20,20^A0,30^FDcaf\xe9 \x80^FS^XZ'],
    ['in UTF-8', '^XA^CI28^FO20,20^A0,30^FD\xc3\xa9\xe4\xb8\xad^FS^XZ'],
    ['with remapped characters', '^XA^CI0,21,36^FO20,20^A0,30^FD$^FS^XZ'],
  ])('%s', async (_, zpl) => {
    const { made, end } = await sent(zpl);
    expect(made[0]?.endsWith(zpl)).toBe(true);
    const before = made[0]?.slice(0, -zpl.length);
    expect(before).toMatch(/^\^XA\^MUD.*\^XZ$/);
    expect(before).not.toMatch(/\^F[DO]|\^PQ/);
    expect(end).toMatch(/^\^XA\^MUD.*\^XZ$/);
  });

  test('as ZebraDesigner writes it: what sets the printer up is left out without the permission', async () => {
    const designer =
      '\x10CT~~CD,~CC^~CT~\r\n^XA~TA000~JSN^LT0^MNW^MTT^PON^PMN^LH0,0^JMA^PR6,6~SD15^JUS^LRN^CI0^XZ\r\n';
    const label = '^XA\r\n^PW812\r\n^LL1218\r\n^FO40,40^A0N,30,30^FDone^FS\r\n^PQ1,0,1,Y^XZ\r\n';
    expect(programKind(base64(designer + label))).toBe('zpl');
    const without = (await sent(designer + label)).made[0] ?? '';
    expect(without.endsWith(label)).toBe(true);
    expect(without).not.toMatch(/~|\^(?:MN|MT|PR|JU)/);
    const allowed = (await sent(designer + label, 1, { printerCommands: true })).made[0] ?? '';
    expect(allowed.endsWith(label)).toBe(true);
    for (const command of ['~TA000', '^MNW', '^MTT', '^PR6,6', '~SD15', '^JUS'])
      expect(allowed).toContain(command);
  });

  test('but for a binary graphic, which goes in hexadecimal, whatever its data spells', async () => {
    const zpl = '^XA^FO9,9^GFB,12,12,2,^XZ~JA\0\xff^GFB,^FS^XZ^XA^FDtwo^FS^XZ';
    expect(await documentPages(base64(zpl), {})).toEqual([1, 1]);
    const { made } = await sent(zpl, 2);
    const hex = Buffer.from('^XZ~JA\0\xff^GFB', 'latin1').toString('hex').toUpperCase();
    expect(made[0]?.endsWith(`^XA^FO9,9^GFA,12,12,2,${hex},^FS^XZ`)).toBe(true);
    expect(made[1]?.endsWith('^XA^FDtwo^FS^XZ')).toBe(true);
  });

  test('but for ^PQ where copies are asked for, and for what it pauses', async () => {
    const zpl = '^XA^FO20,20^A0,30^FDone^FS^PQ1,0,2,N^XZ';
    expect((await sent(zpl, 1, {}, 5)).made[0]).toContain('^XA^FO20,20^A0,30^FDone^FS^PQ5,0,2,N^XZ');
    expect((await sent('^XA^FDone^FS^PQ1,1,1^XZ')).made[0]).toContain('^XA^FDone^FS^PQ1,1,1,Y^XZ');
  });
});

describe('several labels', () => {
  test('are a label each, as often as ^PQ says', async () => {
    const zpl = '^XA^FDone^FS^XZ\n^XA^FDtwo^FS^PQ3^XZ^XA^FDthree^FS^XZ';
    expect(await documentPages(base64(zpl), {})).toEqual([1, 3, 1]);
    const { made } = await sent(zpl, 3);
    expect(made[0]?.endsWith('^XA^FDone^FS^XZ\n')).toBe(true);
    expect(made[1]?.endsWith('^XA^FDtwo^FS^PQ1^XZ')).toBe(true);
    expect(made[2]?.endsWith('^XA^FDthree^FS^XZ')).toBe(true);
  });

  test('begin with what those before them have set, also when they are sent alone', async () => {
    const zpl = '^XA^CF0,40^MUM^LH1,2^FDone^FS^XZ^XA^CF,50^MUD^PW300^BY3^FDtwo^FS^XZ^XA^BY,2^FDthree^FS^XZ';
    const { made } = await sent(zpl, 3);
    expect(made[1]).toContain('^CF0,40^MUM^LH1,2^XZ^XA^CF,50');
    expect(made[2]).toContain('^MUM^CF0,50^LH1,2^MUD^PW300^BY3^XZ^XA^BY,2');
    const alone = await openZpl(jobOf([`${base64(zpl)}#page=3`]));
    expect(Buffer.from(await alone.label(0, 1)).toString('latin1')).toBe(made[2]);
  });

  test('share a download, which gets a name of the job’s own and is deleted after it', async () => {
    const label = '^XA^FO0,0^XGR:LOGO.GRF,1,1^FS^XZ';
    const { made, end } = await sent(`~DGR:LOGO.GRF,1,1,80${label}${label}`, 2);
    const [, name] = /^~DG(R:G\w{7}\.GRF),1,1,80\^XA/.exec(made[0] ?? '') ?? [];
    expect(made[0]).toContain(`^XG${name},1,1`);
    expect(made[1]).not.toContain('~DG');
    expect(made[1]).toContain(`^XG${name},1,1`);
    expect(end).toContain(`^ID${name}^FS`);
    expect(made.join('')).not.toContain('LOGO');
  });

  test('of a stored format are filled in, and nothing is stored', async () => {
    const zpl = '^XA^DFR:A.ZPL^FS^FO9,9^FN1^FS^XZ^XA^XFR:A.ZPL^FN1^FDone^FS^XZ^XA^XFR:A.ZPL^FN1^FDtwo^FS^XZ';
    const { made } = await sent(zpl, 2);
    expect(made.map((label) => /\^FO9,9.*$/.exec(label)?.[0])).toEqual([
      expect.stringContaining('^FDone'),
      expect.stringContaining('^FDtwo'),
    ]);
    expect(made.join('')).not.toMatch(/\^[DX]F/);
  });
});

test.each([
  ['page.region', { region: 'ink' }, {}],
  ['page.turn', { turn: 90 }, {}],
  ['page.fit', { fit: 'shrink' }, {}],
  ['orientation', {}, { orientation: 'landscape' }],
] as const)('%s is for pictures, and refused', async (member, page, more) => {
  const encoder = await openZpl(jobOf([`${base64('^XA^FDone^FS^XZ')}#page=1`], more, page));
  await expect(encoder.label(0, 1)).rejects.toMatchObject({
    fault: {
      code: 'value-invalid',
      field: 'document',
      reason: { code: 'document-own', values: { member, language: 'ZPL' } },
    },
  });
});

/** A square of `side` dots, black, packed. */
function z64(side: number): string {
  const bytes = Buffer.alloc((side * side) / 8, 0xff);
  const [total, row] = [bytes.length, side / 8];
  return `A,${total},${total},${row},:Z64:${deflateSync(bytes).toString('base64')}:0000`;
}
const LABEL = '^XA^FO20,20^FDone^FS^XZ';

test.each([
  ['a graphic that unpacks to 72 MB', `^XA^FO0,0^GF${z64(24_000)}^FS^XZ`, 'zpl-graphics-large'],
  ['a download that unpacks to 72 MB', `~DGR:A.GRF,${z64(24_000).slice(2)}${LABEL}`, 'zpl-graphics-large'],
  [
    'more downloads than can be named',
    `${'~DGR:A.GRF,1,1,80'.repeat(2_000).replaceAll(/R:A/g, () => `R:${Math.random().toString(36).slice(2, 9)}`)}${LABEL}`,
    'zpl-downloads-many',
  ],
  ['endless comments', `^XA${'^FXa'.repeat(400_000)}^FDone^FS^XZ`, 'zpl-commands-many'],
  ['10,000 formats', LABEL.repeat(10_000), 'zpl-labels-many'],
  ['a thousand million labels by ^PQ', '^XA^FDone^FS^PQ99999999^XZ', 'zpl-labels-many'],
  [
    'a stored format recalled again and again',
    `^XA^DFR:A.ZPL^FS${'^FO1,1^GB9,9,9^FS'.repeat(5_000)}^XZ${'^XA^XFR:A.ZPL^FS^XZ'.repeat(1_000)}`,
    'zpl-commands-many',
  ],
  ['a format that others have stored', '^XA^XFE:PAYROLL.ZPL^FN1^FDx^FS^XZ', 'zpl-recalls-other'],
  ['~JA', `~JA${LABEL}`, 'zpl-at-once'],
  ['~JA in data', '^XA^FO0,0^FDone~JA^FS^XZ', 'zpl-at-once'],
  ['^JUS in a label', '^XA^FDone^JUS^FS^XZ', 'does-configuration'],
  ['~DE', `~DER:A.DAT,4,1234${LABEL}`, 'does-not-draw'],
  ['^HH, which the printer answers', '^XA^FDone^FS^HH^XZ', 'zpl-answers'],
  ['numbers that the printer counts', '^XA^SN001,1,Y^FS^PQ3^XZ', 'zpl-counts'],
  ['binary data that is cut off', '^XA^GFB,9,9,1,\xff\xff^FS^XZ', 'zpl-binary'],
  ['binary data of another length than its field', '^XA^GFB,2,4,1,\xff\xff^FS^XZ', 'zpl-binary'],
  ['compressed data', '^XA^GFC,2,2,1,\xff\xff^FS^XZ', 'zpl-binary'],
  ['a changed prefix', `^CC!${LABEL}`, 'zpl-syntax'],
  ['an encoding of two bytes', '^XA^CI15^FDone^FS^XZ', 'zpl-encoding-bytes'],
  ['SGD', `! U1 setvar "a" "b"\n${LABEL}`, 'document-kind'],
  ['a label without an end', '^XA^FDone', 'zpl-no-end'],
  ['nothing to print', '^XA^FX^XZ^XA^MCY^XZ', 'zpl-no-label'],
])('%s is refused by name', async (_, zpl, reason) => {
  expect(await refusal(zpl)).toBe(reason);
});

test('what acts at once is refused with the permission for printer commands, too', async () => {
  expect(await refusal(`~JA${LABEL}`, true)).toBe('zpl-at-once');
  expect(await refusal('^XA^FDone^JUS^FS^XZ', true)).toBe('taken');
});
