/** What becomes of jobs and printers is told to a system by a webhook, and to people in a chat. */
import { expect, test } from 'vitest';
import { barriers } from '../kit/browser/browser.ts';
import { useConsole } from '../kit/browser/use-console.ts';

const site = useConsole();

/** Somebody’s page of such receivers, where the dialog for a new one is open; `press`: a button of a dialog. */
async function opened(receivers: string, button: string) {
  const page = await site.signedIn();
  const dialog = page.getByRole('dialog');
  await site.show(page, receivers);
  await page.getByRole('button', { name: button }).first().click();
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
  return { page, dialog, press };
}

test('a webhook is made, shows its secret once, is tested, rotated and deleted', async () => {
  const { page, dialog, press } = await opened('webhooks', 'New webhook …');
  await dialog.getByRole('textbox').fill('http://127.0.0.1/new');
  await press('Create');
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('textbox').fill('https://127.0.0.1/new');
  await press('Create');
  const secret = dialog.getByText(/^whsec_/);
  const first = await secret.textContent();
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
  expect(await secret.textContent()).toBe(first);
  expect(await barriers(page)).toEqual([]);
  await press('I have kept it');
  await page.getByRole('link', { name: 'https://127.0.0.1/new' }).click();
  await page.getByRole('heading', { name: '127.0.0.1', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Send a test …' }).click();
  await press('Send');
  await page.getByText('the address is not a public one').waitFor();
  await page.getByRole('button', { name: 'More: Test' }).click();
  await page.getByRole('menuitem', { name: 'Send again …' }).click();
  await press('Send');
  await page.getByText('One message is sent again').waitFor();
  const menu = page.getByRole('button', { name: 'More: https://127.0.0.1/new' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'New secret …' }).click();
  await press('New secret');
  await secret.waitFor();
  expect(await secret.textContent()).not.toBe(first);
  await press('I have kept it');
  await menu.click();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await press('Delete');
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'https://127.0.0.1/new' }).waitFor({ state: 'detached' });
  await page.context().close();
});

test('somebody is told in a chat what needs somebody: made, tested, and told no more', async () => {
  const { page, dialog, press } = await opened('alerts', 'Tell somebody …');
  await dialog.getByLabel('Mail address').fill('hall@example.com');
  await press('Create');
  await dialog.getByText('this service sends no mail').waitFor();
  await dialog.getByLabel('How').selectOption({ label: 'Slack or Mattermost' });
  await dialog.getByLabel('Address that the chat gave out').fill('https://[::1]/services/a-secret');
  // Only these two are chosen, whatever other kinds there are.
  const chosen = ['A printer needs somebody', 'Jobs wait for a decision'];
  const kinds = dialog.getByRole('group', { name: 'What' }).locator('label');
  for (const name of await kinds.allInnerTexts())
    await dialog.getByLabel(name, { exact: true }).setChecked(chosen.includes(name));
  await dialog.getByLabel('Minutes that it has to last').fill('10');
  await dialog.getByLabel('Quiet hours').check();
  await dialog.getByLabel('From').fill('21:30');
  expect(await barriers(page)).toEqual([]);
  await press('Create');
  const row = page.getByRole('row', { name: /\[::1\].*Slack/ });
  for (const words of [
    'A printer needs somebody and Jobs wait for a decision',
    '10 minutes',
    'Quiet from 21:30 to 06:00',
  ])
    await row.getByText(words).waitFor();
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: '[::1]', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Send a test …' }).click();
  await press('Send');
  await page.getByText('the address is not a public one').waitFor();
  // The rest of the address is a secret.
  expect(await page.content()).not.toContain('a-secret');
  await page.getByRole('button', { name: 'More: [::1]' }).click();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await dialog.getByRole('heading', { name: 'Tell them no more?' }).waitFor();
  await press('Delete');
  await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
  await row.waitFor({ state: 'detached' });
  await page.context().close();
});
