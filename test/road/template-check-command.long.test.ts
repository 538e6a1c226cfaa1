/** `platen template check`: what it says, and the exit code. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const directory = useDirectory();

async function check(template: unknown, ...more: string[]) {
  const file = join(directory.path, 'template.json');
  await writeFile(file, JSON.stringify(template));
  return platen(['template', 'check', file, ...more]);
}

const text = { type: 'text', x: 1, y: 1, size: 3, text: 'Fixed' };
const label = { name: 'x', width: 30, height: 20, fields: [{ name: 'spare' }], elements: [text] };

test('warnings: told, and exit code 0', async () => {
  const { code, stdout, stderr } = await check(label);
  expect([code, stdout]).toEqual([0, '0 errors, 1 warnings\n']);
  expect(stderr).toBe('warning /fields/0: the field is not used (field-unused)\n');
});

test('errors: exit code 1, as JSON with pointers', async () => {
  const wide = { ...text, width: 2, text: '{{$record}} too long for this' };
  const wrong = { ...label, fields: [], elements: [wide, { ...text, text: '{{a | shout}}' }] };
  const { code, stdout } = await check(wrong, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject([
    { severity: 'error', code: 'template-invalid', pointer: '/elements/1' },
    { severity: 'warning', code: 'does-not-fit', pointer: '/elements/0' },
  ]);
});

test('what is no template is an error with a pointer too', async () => {
  const { code, stdout } = await check({ ...label, elements: [{ ...text, size: -1 }] }, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject([{ severity: 'error', pointer: '/elements/0/size' }]);
});

test('for one printer: its resolution and its media', async () => {
  const { stdout } = await check(
    { ...label, fields: [], dpi: 300 },
    '--dpi',
    '203',
    '--media',
    '50x25',
    '--json',
  );
  expect(JSON.parse(stdout)).toMatchObject([{ pointer: '/dpi' }, { pointer: '/width' }]);
  expect((await check(label, '--media', '50x25')).code).toBe(2);
});
