/** A package's bill of materials, as CycloneDX 1.6: npm packages with version, licence and locked hash. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { NpmPackage } from './packages.ts';

const metadataFile = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
  description: z.string().optional(),
});

export interface Contents {
  name: string;
  version: string;
  time: Date;
  packages: readonly NpmPackage[];
}

export function softwareBill({ name, version, time, packages }: Contents): string {
  const components = packages.map(({ locked, directory, integrity }) => {
    const metadata = metadataFile.parse(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')));
    const purl = `pkg:npm/${metadata.name.replace('@', '%40')}@${metadata.version}`;
    return {
      type: 'library',
      'bom-ref': locked,
      name: metadata.name,
      version: metadata.version,
      purl,
      ...(metadata.description && { description: metadata.description }),
      ...(metadata.license && { licenses: [licenceOf(metadata.license)] }),
      ...hashOf(integrity),
    };
  });
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: time.toISOString(),
      component: { type: 'application', 'bom-ref': name, name, version },
    },
    components,
    dependencies: [{ ref: name, dependsOn: packages.map(({ locked }) => locked) }],
  };
  return `${JSON.stringify({ ...content, serialNumber: `urn:uuid:${nameUuid(JSON.stringify(content))}` }, null, 2)}\n`;
}

function licenceOf(text: string): object {
  return /\s|SEE LICENSE/.test(text) ? { expression: text } : { license: { id: text } };
}

function hashOf(integrity: string): object {
  if (!integrity.startsWith('sha512-')) return {};
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] };
}

/** A UUID that is the same for the same content (RFC 9562, version 8). */
function nameUuid(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
