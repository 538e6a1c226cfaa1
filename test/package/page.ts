/** What a page of the documentation tells its reader to do. */
import { readFileSync } from 'node:fs';

/** The commands of a section, in their order, without what is said beside them. */
export function commandsOf(page: string, section: string): string[] {
  return linesOf(page, section)
    .filter((line) => line.startsWith('    '))
    .map((line) => line.replace(/ {2,}#.*$/, '').trim());
}

/** What a section shows between fences. */
export function blockOf(page: string, section: string): string {
  const lines = linesOf(page, section);
  const begin = lines.findIndex((line) => line.startsWith('```'));
  return lines.slice(begin + 1, lines.indexOf('```', begin + 1)).join('\n');
}

function linesOf(page: string, section: string): string[] {
  const lines = readFileSync(page, 'utf8').split('\n');
  const begin = lines.indexOf(`## ${section}`);
  if (begin < 0) throw new Error(`${page} has no section "${section}"`);
  const end = lines.findIndex((line, at) => at > begin && line.startsWith('## '));
  return lines.slice(begin + 1, end < 0 ? undefined : end);
}
