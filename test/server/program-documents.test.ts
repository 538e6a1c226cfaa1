/** EPL2 and TSPL2 documents that records bring: labels for printers of that language, and for no others. */
import { expect, test } from 'vitest';
import { codeOf, FORMAT_203, PRINTER, pointersOf } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const EPL = 'serial-eeeeeeeeeeee';
const TSPL = 'serial-cccccccccccc';
const CARRIER = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }] };
const service = useService({ redis: false });
const acme = useTenant(service, {
  quota: 20,
  template: CARRIER,
  scope: ['jobs:enqueue', 'labels:render'],
  printers: [
    {},
    ...(
      [
        ['epl', EPL],
        ['tspl', TSPL],
      ] as const
    ).map(([language, id]) => ({
      id,
      name: language,
      formats: [{ ...FORMAT_203, id: language, name: language, language }],
    })),
  ],
});

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');
const label = (text: string, times = 1) => `N\r\nA20,20,0,4,1,1,N,"${text}"\r\nP${times}\r\n`;
const quota = async () => (await service.admin('GET', '/tenants/acme')).body;
const allow = (allowed: boolean) => service.admin('PUT', '/tenants/acme/printer-commands', { allowed });

test('each is a label, as often as it says: of the job and the quota', async () => {
  const data = [{ document: base64(`q812\r\n${label('one')}${label('two', 2)}`) }];
  expect((await acme.validate({ data, printerId: EPL })).body).toMatchObject({ valid: true, labels: 3 });
  const id = await acme.newJob({ data, printerId: EPL, numberCopies: 2 });
  expect((await service.admin('GET', `/jobs/${id}`)).body).toMatchObject({ labels: { total: 6 } });
  expect(await quota()).toMatchObject({ quota: { labels: 20, used: 6 } });
  // Nobody but the printer draws it.
  const picture = await service.admin('GET', `/jobs/${id}/labels/0.png`);
  expect(codeOf(picture)).toBe('label-undrawable');
  expect(picture.text).toContain('EPL2');
});

test.each([
  [PRINTER, 'EPL2', label('one'), 'PDF, PNG, JPEG, PWG raster, ZPL'],
  [TSPL, 'EPL2', label('one'), 'PDF, PNG, JPEG, PWG raster, ZPL, TSPL2'],
  [EPL, 'TSPL2', 'CLS\r\nTEXT 1,1,"3",0,1,1,"one"\r\nPRINT 1\r\n', 'PDF, PNG, JPEG, PWG raster, ZPL, EPL2'],
])(
  'at another printer it is refused, with what that takes: %s, %s',
  async (printerId, language, text, taken) => {
    const before = await quota();
    const answer = await acme.enqueue({ printerId, data: [{ document: base64(text) }] });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: 'data-unprintable',
        errors: [
          { pointer: '/data/0/document', reason: { code: 'document-language', values: { language, taken } } },
        ],
      },
    });
    expect(await quota()).toEqual(before);
  },
);

test('as a picture or a PDF without a job it is refused', async () => {
  const { token, idT } = acme;
  const data = [{ document: base64(label('one')) }];
  for (const language of ['png', 'pdf', 'zpl']) {
    const answer = await service.call('/v2/labels', { token, tenant: 'acme', body: { idT, data, language } });
    expect([language, answer.status]).toEqual([language, 400]);
    expect(answer.text).toContain('document-language');
  }
});

test('what is for all that use the printer needs the permission, which its job then carries', async () => {
  const body = { printerId: EPL, data: [{ document: base64(`q812\r\nY96,N,8,1\r\n${label('one')}`) }] };
  const refused = await acme.enqueue(body);
  expect([refused.status, codeOf(refused), pointersOf(refused)]).toEqual([
    400,
    'data-unprintable',
    ['/data/0/document'],
  ]);
  expect(refused.text).toMatch(/line 2: Y is for all that use the printer: it changes the printer's ports/);
  await allow(true);
  const id = await acme.newJob(body);
  const { rows } = await service.pool.query('SELECT payload FROM platen.jobs WHERE id = $1', [id]);
  expect(rows[0].payload).toMatchObject({ printerCommands: true });
  await allow(false);
});

test('what a document is may be said by its record, of a template with a second field', async () => {
  const fields = [{ name: 'document' }, { name: 'kind', default: 'epl' }];
  const idT = await service.template('acme', { ...CARRIER, name: 'Said', fields });
  const document = base64('A20,20,0,4,1,1,N,"one"\r\nP2\r\n');
  expect((await acme.validate({ idT, data: [{ document }], printerId: EPL })).body).toMatchObject({
    labels: 2,
  });
  expect(codeOf(await acme.validate({ data: [{ document }], printerId: EPL }))).toBe('data-unprintable');
  const wrong = await acme.validate({ idT, data: [{ document, kind: 'pdf' }], printerId: EPL });
  expect(wrong.text).toContain('document-not-said');
});
