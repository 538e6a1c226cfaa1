/**
 * The files that pages have sent with their templates, for their next pictures. They are kept in this process alone, in
 * bounds: whoever names a file that is not there any more sends it again.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { fileName, mapFiles, NAMED_FILE } from '../../contract/template-files.ts';
import { ProblemError } from '../problems.ts';

/** Characters that all files may have, and those of one tenant: a few times what one template can carry. */
const MOST = 64 * 1024 * 1024;
const MOST_OF_TENANT = 16 * 1024 * 1024;

type Files = LRUCache<string, string>;

export class SentFiles {
  /** By tenant: a name means nothing outside of the tenant that it was given to. */
  readonly #tenants = new LRUCache<string, Files>({ max: MOST / MOST_OF_TENANT });

  /** The template with its files in place of their names. @throws ProblemError `file-unknown` */
  whole(tenantId: string, template: unknown): unknown {
    const files = this.#tenants.get(tenantId);
    return mapFiles(template, (data, pointer) => {
      if (!data.includes(':') || !fileName.safeParse(data).success) return data;
      const file = files?.get(data);
      if (file === undefined) {
        throw new ProblemError(
          'file-unknown',
          `${pointer} names a file that is not kept: send the file itself`,
        );
      }
      return file;
    });
  }

  /** Keeps the large files that came as themselves. @returns their names, by JSON pointer */
  keep(tenantId: string, template: unknown): Record<string, string> {
    const names: Record<string, string> = {};
    mapFiles(template, (data, pointer) => {
      if (data.length < NAMED_FILE) return data;
      const name = `sha256:${createHash('sha256').update(data).digest('hex')}`;
      this.#of(tenantId).set(name, data);
      names[pointer] = name;
      return data;
    });
    return names;
  }

  #of(tenantId: string): Files {
    const files =
      this.#tenants.get(tenantId) ??
      new LRUCache({ maxSize: MOST_OF_TENANT, sizeCalculation: ({ length }: string) => length });
    this.#tenants.set(tenantId, files);
    return files;
  }
}
