/** Wherever a job or a printer is shown, amber waits for somebody and red went wrong; and what went wrong can print on. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { usePages } from '../kit/browser/use-console.ts';
import { useDeliveries } from '../kit/service/deliveries.ts';
import { jobReport } from '../kit/service/job-report.ts';
import { SignedIn } from '../kit/service/signed-in.ts';
import { useService, useTenant } from '../kit/service/use-service.ts';

const service = useService();
const acme = useTenant(service);
const deliveries = useDeliveries(service);
const newPage = usePages();
let page: Page;
beforeAll(async () => {
  page = await newPage({ width: 1_440, height: 900 });
  const [name = '', value = ''] = (await SignedIn.as(service, 'acme', 'operator')).cookie.split('=');
  await page.context().addCookies([{ name, value, url: service.url }]);
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const row = (value: string) => page.locator('tbody tr', { hasText: value });

async function show(address: string): Promise<void> {
  await page.goto(`${service.url}/console/#/${address}`);
  await page.locator('main .badge').first().waitFor();
}

/** Makes a job of ten labels, of which an agent reports this. @returns its ID */
async function told(value: string, changes: object): Promise<string> {
  const id = await acme.newJob({ numberCopies: 10, data: [{ sku: value, name: 'x' }] });
  await deliveries.of(id);
  await service.report(jobReport(id, { seq: 3, labels: { sent: 4, printed: 4 }, ...changes }));
  return id;
}

const FAILED = {
  status: 'failed',
  error: { code: 'printer-aborted', message: 'canceled at the printer' },
};
const DOUBT = { labels: { sent: 6, printed: 4 }, uncertain: { from: 4, to: 6 } };
const HELD = { ...DOUBT, status: 'held', error: { code: 'outcome-unknown', message: 'power failed' } };

test.each([
  ['went wrong', FAILED, 'bad', 'bad'],
  ['somebody decides', HELD, 'warn', 'warn'],
  ['stopped, in doubt', { ...DOUBT, status: 'canceled' }, 'warn', 'warn'],
  ['out of labels', { reasons: ['media-empty'] }, 'warn', 'warn'],
  ['prints', {}, 'busy', ''],
  ['all out', { status: 'printed', labels: { sent: 10, printed: 10 } }, 'good', ''],
])('a job that %s', async (value, changes, badge, note) => {
  const id = await told(value, changes);
  const tones = (class_: string) => class_.split(' ').filter((one) => /^(?:bad|warn|busy|good)$/.test(one));
  const wanted = (tone: string) => (tone === '' ? [] : [tone]);
  await show('jobs');
  const inList = await row(value).locator('.badge').getAttribute('class');
  await show(`jobs/${id}`);
  const next = page.getByRole('region', { name: 'What happens next' });
  const atHead = await page.locator('.page-head .badge').getAttribute('class');
  const said = await next.locator('.note').first().getAttribute('class');
  expect([inList, atHead, said].map((one) => tones(one ?? ''))).toEqual([
    ...[badge, badge, note].map(wanted),
  ]);
});

test('a printer that waits for somebody is amber', async () => {
  await service.agent([{ state: 'stopped', reasons: ['media-empty', 'cover-open'] }]);
  await show('printers');
  await page.getByText('out of labels and cover open').waitFor();
  expect(await page.locator('main .badge').getAttribute('class')).toBe('badge warn');
  await service.agent([{}]);
});

test('what failed prints on from where it ended, alone and with others', async () => {
  const ids = [await told('alone', FAILED), await told('with others', FAILED)];
  const [alone = '', other = ''] = ids;
  await show(`jobs/${alone}`);
  await page.getByText('canceled at the printer').first().waitFor();
  await button('Print on').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It goes on with label 5: 6 labels will be printed.').waitFor();
  await dialog.getByRole('button', { name: 'Print on' }).click();
  await page.getByText('The job goes on.').waitFor();
  expect(await deliveries.of(alone, 1)).toMatchObject({ resume: { round: 1, from: 4 } });

  await show('jobs?status=failed');
  await row('with others').getByRole('checkbox').check();
  await button('Print on …').click();
  await dialog.getByText('1 job goes on: 6 labels will be printed.').waitFor();
  await dialog.getByRole('button', { name: 'Print on' }).click();
  await page.getByText('Done for 1 job.').waitFor();
  expect(await deliveries.of(other, 1)).toMatchObject({ resume: { round: 1, from: 4 } });
});
