/** The pictures of the samples in the documentation are what the samples render to, and all of them are shown. */
import { access, readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { expect, test } from 'vitest';
import { platen } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PICTURES = join('docs', 'pictures');
const SAMPLES = (await readdir(join(ROOT, 'templates')))
  .filter((file) => file.endsWith('.json') && !file.endsWith('.records.json'))
  .map((file) => file.slice(0, -'.json'.length));

const directory = useDirectory();

/** A sheet is shown with its records: one label alone would leave it empty. Typed in the root of the clone, where tests run. */
function command(sample: string, out: string): string[] {
  const template = join('templates', sample);
  const data = sample.startsWith('address-sheet') ? ['--data', `${template}.records.json`] : [];
  return ['render', `${template}.json`, ...data, '--at', '2026-11-22T12:00:00Z', '--out', out];
}

test.each(SAMPLES)('%s', async (sample) => {
  const out = join(directory.path, `${sample}.png`);
  const shown = join(PICTURES, `${sample}.png`);
  const { code, stderr } = await platen(command(sample, out));
  expect([code, stderr]).toEqual([0, '']);
  const same = (await readFile(out)).equals(await readFile(join(ROOT, shown)));
  expect(same, `to make it anew: platen ${command(sample, shown).join(' ')}`).toBe(true);
});

test('each is shown, and what is shown is there', async () => {
  const pages = ['README.md', ...(await readdir(join(ROOT, 'docs'))).filter((file) => file.endsWith('.md'))];
  const shown = await Promise.all(
    pages.map(async (file) => {
      const page = file === 'README.md' ? file : join('docs', file);
      const text = await readFile(join(ROOT, page), 'utf8');
      const links = [...text.matchAll(/<img src="([^"]+)"|!\[[^\]]*\]\(([^)]+\.(?:png|webp))\)/g)];
      return links.map(([, tag, link = tag ?? '']) => ({ page, picture: join(page, '..', link) }));
    }),
  );
  for (const { picture } of shown.flat()) await access(join(ROOT, picture));
  const files = await readdir(join(ROOT, PICTURES), { recursive: true });
  const pictures = files.filter((file) => extname(file) !== '').map((file) => join(PICTURES, file));
  expect(pictures.filter((one) => !shown.flat().some(({ picture }) => picture === one))).toEqual([]);
  const ofSamples = shown.flat().filter(({ page }) => page === join('docs', 'templates.md'));
  // Beside the samples: documents, which are drawn from somebody else's file.
  const expected = [...SAMPLES, 'carrier-label', 'carrier-page'];
  expect(ofSamples.map(({ picture }) => picture).sort()).toEqual(
    expected.map((name) => join(PICTURES, `${name}.png`)).sort(),
  );
});
