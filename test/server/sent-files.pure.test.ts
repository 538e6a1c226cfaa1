/** Files that pages have sent with their templates: kept by tenant, within bounds. */
import { expect, test } from 'vitest';
import { SentFiles } from '../../src/server/templates/sent-files.ts';

const label = (data: string) => ({ fonts: [{ name: 'own', data }] });
const NAME = '/fonts/0/data';
const MB = 1024 * 1024;

test('a tenant that sends much loses its own files, and no other tenant’s', () => {
  const files = new SentFiles();
  const one = files.keep('one', label('A'.repeat(MB)));
  const others = ['B', 'C', 'D'].map(
    (letter) => files.keep('many', label(letter.repeat(7 * MB)))[NAME] ?? '',
  );
  expect(files.whole('one', label(one[NAME] ?? ''))).toEqual(label('A'.repeat(MB)));
  expect(() => files.whole('many', label(others[0] ?? ''))).toThrow('send the file itself');
  expect(files.whole('many', label(others[2] ?? ''))).toEqual(label('D'.repeat(7 * MB)));
  expect(() => files.whole('many', label(one[NAME] ?? ''))).toThrow('send the file itself');
});

test('small files stay in the template, and what fits no schema is left as it is', () => {
  const files = new SentFiles();
  expect(files.keep('one', label('A'.repeat(100)))).toEqual({});
  for (const odd of [null, 3, 'x', [], { fonts: 3 }, { fonts: [null, { data: 4 }], images: {} }]) {
    expect(files.whole('one', odd)).toEqual(odd);
    expect(files.keep('one', odd)).toEqual({});
  }
});
