/** The agent's configuration, as the documentation shows it, is one that the agent takes. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { agentConfig } from '../../src/agent/config.ts';

/** The blocks of a page that are JSON, some with comments. */
async function examples(page: string): Promise<string[]> {
  const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```jsonc?\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.map((block) => block.replaceAll(/(^|\s)\/\/.*$/gm, '').trim());
}

test.each(['agent.md', 'printers.md'])('docs/%s', async (page) => {
  const found = await examples(page);
  expect(found).not.toEqual([]);
  for (const example of found) {
    const config: unknown = JSON.parse(example.startsWith('{') ? example : `{${example}}`);
    const parsed = agentConfig.safeParse(Object.assign({ dataDir: 'agent-data' }, config));
    expect(parsed.error?.issues ?? []).toEqual([]);
  }
});
