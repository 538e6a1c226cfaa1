/** The licences and notices that the makers of the packages require to be passed on with them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesIn } from './bundle.ts';
import type { NpmPackage } from './packages.ts';

export function licences(packages: readonly NpmPackage[]): string {
  const texts = new Map<string, string[]>();
  for (const { locked, directory } of packages) {
    const files = entriesIn(
      directory,
      '{LICEN[CS]E,LICEN[CS]E[.-_]*,licen[cs]e,licen[cs]e.*,NOTICE*,COPYING*}',
    );
    const name = locked.replace(/^.*node_modules\//, '');
    const text = files.map((file) => readFileSync(join(directory, file), 'utf8').trim()).join('\n\n');
    texts.set(text, [...(texts.get(text) ?? []), name]);
  }
  return [...texts]
    .map(
      ([text, names]) =>
        `==== ${names.join(', ')} ====\n\n${text === '' ? 'See its entry in the bill of materials.' : text}\n`,
    )
    .join('\n');
}
