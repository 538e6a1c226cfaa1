/** ZPL documents that records bring: the service makes a label of each format, for a ZPL printer and for another. */
import { expect, test } from 'vitest';
import { codeOf } from '../kit/service/harness.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const CARRIER = { name: 'Carrier', language: 'document', fields: [{ name: 'document' }] };
const service = useService({ redis: false });
const acme = useTenant(service, { quota: 10, template: CARRIER, scope: ['jobs:enqueue', 'labels:render'] });

const base64 = (zpl: string) => Buffer.from(zpl, 'latin1').toString('base64');
const label = (text: string, more = '') => `^XA^FO20,20^A0N,60,60^FD${text}^FS${more}^XZ\n`;
const three = base64(`\x10CT~~CD,~CC^~CT~${label('one')}${label('two', '^PQ2')}`);
const quota = async () => (await service.admin('GET', '/tenants/acme')).body;

test('each format is a label, as often as ^PQ says: of the job, the quota and the pictures', async () => {
  const data = [{ document: three }];
  expect((await acme.validate({ data })).body).toMatchObject({ valid: true, labels: 3 });
  const id = await acme.newJob({ data, numberCopies: 2 });
  expect((await service.admin('GET', `/jobs/${id}`)).body).toMatchObject({ labels: { total: 6 } });
  expect(await quota()).toMatchObject({ quota: { labels: 10, used: 6 } });
  const pictures: string[] = [];
  for (const at of [0, 1, 2, 4]) {
    pictures.push((await service.picture(`/jobs/${id}/labels/${at}.png`)).toString('base64'));
  }
  expect(pictures[1]).toBe(pictures[0]);
  expect(pictures[3]).toBe(pictures[2]);
  expect(pictures[2]).not.toBe(pictures[0]);
  const before = await quota();
  expect(codeOf(await acme.enqueue({ data, numberCopies: 2 }))).toBe('quota-exceeded');
  expect(await quota()).toEqual(before);
});

test.each([
  ['~JA, which acts at once', `~JA${label('x')}`, 'zpl-at-once'],
  ['a format that others have stored', '^XA^XFE:PAYROLL.ZPL^FN1^FDx^FS^XZ', 'zpl-recalls-other'],
  ['10,000 formats', label('x').repeat(10_000), 'zpl-labels-many'],
  ['a saved configuration', label('x', '^JUS'), 'zpl-for-all'],
])('%s is refused with its field, and nothing is taken from the quota', async (_, zpl, code) => {
  const before = await quota();
  const answer = await acme.enqueue({ data: [{ document: base64(zpl) }] });
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'data-unprintable', errors: [{ pointer: '/data/0/document' }] },
  });
  expect(JSON.stringify(answer.body)).toContain(`"${code}"`);
  expect(await quota()).toEqual(before);
});

test('what is for pictures is refused where a ZPL printer draws the label, and taken for a picture', async () => {
  const page = { region: 'ink', turn: 90 };
  const idT = await service.template('acme', { ...CARRIER, name: 'Turned', width: 100, height: 50, page });
  const data = [{ document: base64(label('one')) }];
  expect(await acme.validate({ idT, data })).toMatchObject({
    status: 400,
    body: {
      errors: [{ reason: { code: 'document-own', values: { member: 'page.region', language: 'ZPL' } } }],
    },
  });
  const { token } = acme;
  for (const [language, status] of [
    ['png', 200],
    ['pdf', 200],
    ['zpl', 400],
  ] as const) {
    const answer = await service.call('/v2/labels', { token, tenant: 'acme', body: { idT, data, language } });
    expect([language, answer.status]).toEqual([language, status]);
  }
});
