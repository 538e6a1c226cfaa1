/** What the makers of the packages want to be handed on with them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesIn } from './bundle.ts';

/** @param packages directories, from the root */
export function licences(root: string, packages: readonly string[]): string {
  const texts = new Map<string, string[]>();
  for (const directory of packages) {
    const files = entriesIn(
      join(root, directory),
      '{LICEN[CS]E,LICEN[CS]E[.-_]*,licen[cs]e,licen[cs]e.*,NOTICE*,COPYING*}',
    );
    const name = directory.replace(/^.*node_modules\//, '');
    const text = files.map((file) => readFileSync(join(root, directory, file), 'utf8').trim()).join('\n\n');
    texts.set(text, [...(texts.get(text) ?? []), name]);
  }
  return [...texts]
    .map(
      ([text, names]) =>
        `==== ${names.join(', ')} ====\n\n${text === '' ? 'See its entry in the bill of materials.' : text}\n`,
    )
    .join('\n');
}
