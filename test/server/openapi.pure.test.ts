/** The document that describes the external interface, as generators of clients read it. */
import { expect, test } from 'vitest';
import { serverConfig } from '../../src/server/config.ts';
import { openApiDocument } from '../../src/server/openapi.ts';

test.each(['3.1.0', '3.0.3'] as const)('%s: each count says where it begins: none is negative', (version) => {
  const found: [string, unknown][] = [];
  const look = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('type' in value && [value.type].flat().includes('integer'))
      found.push([place, 'minimum' in value ? value.minimum : undefined]);
    for (const [key, inner] of Object.entries(value)) look(inner, `${place}/${key}`);
  };
  look(openApiDocument(serverConfig.parse({}), 'https://platen.example', version), '');
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter(([, minimum]) => typeof minimum !== 'number' || minimum < 0)).toEqual([]);
});
